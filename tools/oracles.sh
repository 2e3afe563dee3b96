#!/bin/bash
# Installs the libraries of tests/oracles/requirements.txt into a virtual environment, build/oracles, once for each list. Without a
# network there is none, and the tests that need it are skipped and say so.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=build/oracles
list=tests/oracles/requirements.txt
cmp -s "$list" "$venv/installed" && exit 0
python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$list" && cp "$list" "$venv/installed" ||
    echo "oracles: not installed: tests beside other programs' libraries are skipped" >&2
