#!/bin/bash
# tools/bench.sh [OPTIONS of bench/peers.py]
# Runs the race in a virtual environment under build/, made on the first call; its packages are those pinned in
# bench/requirements*.txt.
set -euo pipefail
cd "$(dirname "$0")/.."

tools/setup.sh bench
venv=build/bench-venv
wanted=$(cat bench/requirements.txt bench/requirements-alone.txt)
if [[ $wanted != "$(cat "$venv/installed" 2>/dev/null)" ]]; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r bench/requirements.txt
    "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps -r bench/requirements-alone.txt
    echo "$wanted" >"$venv/installed"
fi
exec "$venv/bin/python" bench/peers.py "$@"
