#!/bin/bash
# tools/bench_gpu.sh [OPTIONS of bench/gpu.py]
# Runs the GPU's bench with $PYTHON (default: python3) if that has CuPy; else in a virtual environment in build/, made
# on the first call with the packages pinned in bench/requirements-gpu.txt.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${PYTHON:-python3}
if ! "$python" -c 'import cupy, numpy' 2>/dev/null; then
    tools/setup.sh bench
    venv=build/bench-gpu-venv
    if ! cmp -s bench/requirements-gpu.txt "$venv/installed"; then
        "$python" -m venv "$venv"
        "$venv/bin/pip" install --quiet --disable-pip-version-check -r bench/requirements-gpu.txt
        cp bench/requirements-gpu.txt "$venv/installed"
    fi
    python=$venv/bin/python
fi
exec "$python" bench/gpu.py "$@"
