#!/bin/bash
# tools/check_gpu.sh BUILD [JOBS]
# What CTest runs on the emulation, on the GPU of this machine: the contracts, the whole corpus against the oracle, drawn
# problems up to 10^8 elements against the CPU; and some of it under compute-sanitizer, where that is installed. So many of these
# at once; one after another by default.
set -euo pipefail
build=$1 jobs=${2:-1}
[[ -x $build/tests/matrix/matrix_gpu ]] || { echo "check-gpu: $build has no GPU part: is the CUDA toolkit installed?" >&2; exit 1; }
export LD_LIBRARY_PATH=$build/src${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

"$build/distmap" devices
groups=$("$build/tests/matrix/matrix_gpu" 2>&1 | sed -n 's/.*groups: //p' || true) # without one it names them
operations='skeleton morphology comparison thickness cvt'
commands=()
later() {
    commands+=("$(printf '%q ' "$@")")
}
later "$build/tests/api/api_gpu_batches"
later "$build/tests/api/api_gpu_device"
later "$build/tests/api/api_gpu_execute"
later "$build/tests/api/api_gpu_phases"
later "$build/tests/api/api_gpu_samples"
later "$build/tests/api/api_gpu_several"
later "$build/tests/api/api_gpu_shared"
later "$build/tests/api/api_gpu_strength"
for group in $groups; do
    later "$build/tests/matrix/matrix_gpu" "$group"
done
for group in 2d 3d 4d dense sparse deep batches spacing limits dtypes strides volumes; do
    later "$build/tests/matrix/matrix_several_gpu" "$group"
done
for group in steps large rest; do
    later "$build/tests/matrix/strength_gpu" "$group"
done
for operation in $operations; do
    later "$build/tests/matrix/${operation}_gpu"
done
later "$build/tests/matrix/shapes_gpu"
later "$build/tests/matrix/shapes_gpu" 8 1 jumps
later "$build/tests/matrix/shapes_gpu" 8 1 rings
later "$build/tests/matrix/shapes_gpu" 40 1 holes
later "$build/tests/matrix/shapes_gpu" 40 1 pitches
later "$build/tests/matrix/shapes_gpu" 20 30000000 kinds
gpus=$("$build/distmap" devices | grep -c '^cuda:' || true)
if [[ $gpus -gt 1 ]]; then
    later "$build/tests/matrix/shapes_gpu" 20 100000000 any "$((gpus > 8 ? 8 : gpus))"
    later "$build/tests/matrix/shapes_gpu" 8 1 jumps 2
fi

# The package beside PyTorch and CuPy, by a Python that has them: $PYTHON, that of tools/frameworks.sh, the one on the PATH.
python=''
for candidate in ${PYTHON:-} build/frameworks/bin/python python3; do
    "$candidate" -c 'import hypothesis, pytest, torch' 2>/dev/null && python=$candidate && break
done
if [[ $python ]]; then
    place=$(realpath "$build")
    for tests in tests/python/test_gpu.py tests/frameworks; do
        later env PYTHONPATH="$PWD/python" DISTMAP_LIBRARY="$place/src/libdistmap.so.1" DISTMAP_BINDING="$place/python/_core.abi3.so" \
            "$python" -B -m pytest -q -p no:cacheprovider "$tests"
    done
else
    printf '\ncheck-gpu: no Python with PyTorch, pytest and hypothesis (make test-frameworks makes one): its tests are left out\n'
fi

if command -v compute-sanitizer >/dev/null; then
    for tool in memcheck racecheck; do
        for group in $groups; do
            later env DISTMAP_TEST_SCALE=0.02 compute-sanitizer --tool "$tool" --error-exitcode 9 \
                "$build/tests/matrix/matrix_gpu" "$group"
        done
        for group in steps rest; do
            later env DISTMAP_TEST_SCALE=0.05 compute-sanitizer --tool "$tool" --error-exitcode 9 \
                "$build/tests/matrix/strength_gpu" "$group"
        done
        for operation in $operations; do
            later env DISTMAP_TEST_SCALE=0.05 compute-sanitizer --tool "$tool" --error-exitcode 9 \
                "$build/tests/matrix/${operation}_gpu"
        done
    done
else
    printf '\ncheck-gpu: no compute-sanitizer on the PATH: left out\n'
fi

one() {
    local output status=0
    output=$(bash -c "$1" 2>&1) || status=$?
    printf '\n== %s\n%s\n' "$1" "$output"
    [[ $status == 0 ]] || { printf 'FAILED (%d): %s\n' "$status" "$1"; return 1; }
}
export -f one
printf '%s\0' "${commands[@]}" | xargs -0 -n 1 -P "$jobs" bash -c 'one "$1"' check-gpu ||
    { printf '\ncheck-gpu: some of %d failed\n' "${#commands[@]}"; exit 1; }
printf '\ncheck-gpu: all %d passed\n' "${#commands[@]}"
