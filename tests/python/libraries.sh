#!/bin/bash
# tests/python/libraries.sh PROJECT: the tests of the package beside libraries of arrays, by the Python that has them: $DISTMAP_ORACLES, or
# that of tools/oracles.sh. Status 77, skipped, where neither has.
set -euo pipefail
cd "$(dirname "$0")"
needed="array_api_strict, dask.array, hypothesis, jax, pytest, xarray"
for python in ${DISTMAP_ORACLES:-} "$1/build/oracles/bin/python"; do
    "$python" -c "import $needed" 2>/dev/null || continue
    exec "$python" -B -m pytest -q -p no:cacheprovider test_dask.py test_array_api.py
done
echo "SKIPPED: no Python with $needed; tools/oracles.sh installs them"
exit 77
