#!/bin/bash
# tests/formats/run.sh NAME FOLDER CONVERT DISTMAP
# with_NAME.py with what requirements-NAME.txt asks for, installed into FOLDER/NAME once. Status 77, skipped, where the package index
# cannot be reached.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
name=$1 venv=$2/$1 requirements=$here/requirements-$1.txt
python=$(command -v "${PYTHON:-python3}")
if ! cmp -s "$requirements" "$venv/installed"; then
    rm -rf "$venv"
    mkdir -p "$2"
    "$python" -m venv "$venv"
    if ! "$venv/bin/pip" --disable-pip-version-check --no-input install -q -r "$requirements" >"$venv/log" 2>&1; then
        if "$venv/bin/pip" --disable-pip-version-check --no-input download -q --no-deps -d "$venv/try" packaging \
            >/dev/null 2>&1; then
            tail -n 5 "$venv/log" >&2
            exit 1
        fi
        echo "formats: SKIPPED: the package index cannot be reached: $(tail -n 1 "$venv/log")"
        exit 77
    fi
    cp "$requirements" "$venv/installed"
fi
exec "$venv/bin/python" -B "$here/with_$name.py" "${@:3}"
