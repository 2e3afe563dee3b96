#!/bin/bash
# tests/python/wheel.sh PYTHON ENDING...
# `pip install` of this tree into a fresh virtual environment, without the GPU part, which would take minutes; then the
# package, the README's example and files with these endings, with nothing but that environment on the PATH, as on a machine without a
# compiler.
# Status 77, skipped, where the package index cannot be reached.
set -euo pipefail
python=$1
shift
root=$(realpath "$(dirname "$0")/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

"$python" -m venv fresh
pip=(fresh/bin/pip --disable-pip-version-check --no-input)
if ! "${pip[@]}" download -q --no-deps -d index 'scikit-build-core>=0.10' >log 2>&1; then
    echo "wheel: SKIPPED: the package index cannot be reached: $(tail -n 1 log)"
    exit 77
fi
"${pip[@]}" wheel -q --no-deps -w . --config-settings=cmake.define.DISTMAP_CUDA=OFF \
    --config-settings=cmake.define.CMAKE_C_FLAGS_RELEASE=-O0 --config-settings=cmake.define.DISTMAP_HARDENED=OFF "$root" >log 2>&1 || { cat log; exit 1; }
wheel=$(ls distmap-*.whl)
[[ $wheel == distmap-*-cp311-abi3-*.whl ]] || { echo "wheel: $wheel is not for every Python from 3.11 on"; exit 1; }
"${pip[@]}" install -q "$wheel" >log 2>&1 || { cat log; exit 1; }

cat >check.py <<'PY'
import re, sys
import distmap, numpy
from distmap import _image
from distmap._library import library
assert _image.find().startswith(sys.prefix), _image.find()
array = numpy.arange(120, dtype=numpy.uint16).reshape(10, 12)
for ending in sys.argv[3:]:
    distmap.imwrite(f"file.{ending}", array)
    assert (distmap.imread(f"file.{ending}").array == array).all(), ending
assert library().path.startswith(sys.prefix), library().path
assert distmap.__version__ in sys.argv[2], (distmap.__version__, sys.argv[2])
blocks = re.findall(r"^```python\n(.*?)^```$", open(sys.argv[1]).read(), re.M | re.S)
assert blocks
for block in blocks:
    exec(compile(block, "README.md", "exec"), {})
PY
want=$(sed -n 's/.*#> *//p' "$root/README.md")
got=$(env -i PATH="$work/fresh/bin" "$work/fresh/bin/python" check.py "$root/README.md" "$wheel" "$@")
[[ $got == "$want" ]] || { printf 'wheel: the README prints\n%s\nnot\n%s\n' "$got" "$want"; exit 1; }
echo "wheel: $wheel ($(stat -c %s "$wheel") bytes) installs, the README's example runs, and files are written and read: $*"
