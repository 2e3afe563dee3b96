#!/bin/bash
# tools/fuzz.sh BUILD_DIR SECONDS
# Runs every fuzz target of a build for that long, from its seed corpus (tests/fuzz/corpus, where it has one), and
# fails if any of them found something. What it found stays in BUILD_DIR/findings.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "$1")
seconds=$2

# libhdf5 crashes on some broken files and forgets memory (which is why a child process reads it). Its target goes on behind a crash, and what counts
# is what does not happen in libhdf5 itself: by the first place on the stack that is in it or in this project.
hdf5=(-fork=1 -ignore_crashes=1 -ignore_ooms=1 -ignore_timeouts=1 -malloc_limit_mb=0)
no_leaks=detect_leaks=0
is_ours() { # target, finding
    local said
    ! said=$(ASAN_OPTIONS=$no_leaks "$1" -timeout=20 "$2" 2>&1) || return 1
    ! grep -m1 -E '^ *#[0-9]+ .*(libhdf5|/src/|/tests/fuzz/)' <<<"$said" | grep -q libhdf5
}
any_of_ours() { # target; the findings in libhdf5 are removed
    local finding found=1
    for finding in "$build/findings/$(basename "$1")"-*; do
        [[ -e $finding ]] || continue
        if is_ours "$1" "$finding"; then
            echo "$finding"
            found=0
        else
            rm "$finding"
        fi
    done
    return $found
}

mapfile -t targets < <(find "$build" -type f -name 'fuzz_*' -executable | sort)
[[ ${#targets[@]} -gt 0 ]] || { echo "fuzz: no targets in $build" >&2; exit 1; }
mkdir -p "$build/findings"
failed=()
for target in "${targets[@]}"; do
    name=$(basename "$target")
    corpus=$build/corpus/$name # new inputs are kept here from run to run
    mkdir -p "$corpus"
    seeds=()
    [[ ! -d tests/fuzz/corpus/${name#fuzz_} ]] || seeds=("tests/fuzz/corpus/${name#fuzz_}")
    echo "== $name, $seconds s"
    log=$build/findings/$name.log
    options=(-max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -malloc_limit_mb=512
        -artifact_prefix="$build/findings/$name-")
    if [[ $name == *_hdf5 ]]; then
        ASAN_OPTIONS=$no_leaks "$target" "${options[@]}" "${hdf5[@]}" "$corpus" "${seeds[@]}" >"$log" 2>&1 || true
        if any_of_ours "$target"; then
            failed+=("$name")
        else
            grep '^#' "$log" | tail -n 1
        fi
    elif "$target" "${options[@]}" "$corpus" "${seeds[@]}" >"$log" 2>&1; then
        grep '^Done' "$log"
    else
        tail -n 40 "$log"
        failed+=("$name")
    fi
done
[[ ${#failed[@]} -eq 0 ]] || { echo "fuzz: findings in ${failed[*]}; see $build/findings" >&2; exit 1; }
echo "fuzz: ${#targets[@]} targets, nothing found"
