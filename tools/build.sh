#!/bin/bash
# tools/build.sh PRESET [--group GROUP]... [--target TARGET]... [--set VARIABLE=VALUE]...
# From nothing to a build of one CMake preset under build/PRESET: packages, configuration, compilation.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=$1
shift
groups=()
targets=()
settings=()
while [[ $# -gt 0 ]]; do
    case $1 in
    --group) groups+=("$2") ;;
    --target) targets+=(--target "$2") ;;
    --set) settings+=("-D$2") ;;
    *) echo "build: unknown option $1" >&2; exit 2 ;;
    esac
    shift 2
done

tools/setup.sh "${groups[@]}"

# Once with the tests, a build folder stays with them; the generator is chosen only for a new folder.
options=()
[[ -e build/$preset/CMakeCache.txt ]] || options=(-DDISTMAP_TESTS=OFF)
[[ -e build/$preset/CMakeCache.txt ]] || ! command -v ninja >/dev/null || options+=(-G Ninja)
[[ " ${groups[*]} " != *" test "* ]] || options+=(-DDISTMAP_TESTS=ON)
cmake --preset "$preset" "${options[@]}" "${settings[@]}" --log-level=WARNING
cmake --build --preset "$preset" --parallel "$(nproc)" "${targets[@]}"
