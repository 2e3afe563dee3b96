#!/bin/bash
# tools/frameworks.sh BUILD [SCRIPT]
# Runs tests/frameworks, or a script in Python, the package beside PyTorch and MONAI, which it first installs into build/frameworks (3 GB).
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "$1") venv=build/frameworks wanted=tests/frameworks/requirements.txt
if ! cmp -s "$wanted" "$venv/installed"; then
    python3 -m venv "$venv"
    "$venv/bin/pip" --quiet --disable-pip-version-check install -r "$wanted"
    cp "$wanted" "$venv/installed"
fi
export DISTMAP_LIBRARY=$build/src/libdistmap.so.1 DISTMAP_BINDING=$build/python/_core.abi3.so PYTHONPATH=$PWD/python
[[ $# == 1 ]] || exec "$venv/bin/python" -B "${@:2}"
exec "$venv/bin/python" -B -m pytest -q -p no:cacheprovider tests/frameworks
