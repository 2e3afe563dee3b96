#!/bin/bash
# tools/fuzz.sh BUILD SECONDS [TARGET]...
# tools/fuzz.sh BUILD grow [TARGET]...
# Runs fuzz targets of a build (all by default) for that long each, JOBS of them at once, from what is in BUILD/corpus and in
# tests/fuzz/corpus; fails if any of them found something. What it found stays in BUILD/findings.
# `grow` brings from BUILD/corpus into the tree what reaches branches that nothing in the tree reaches: small inputs alone, as few as do.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "$1")
seconds=$2
mapfile -t targets < <(find "$build" -type f -name 'fuzz_*' -executable | sort)
[[ $# -eq 2 ]] || mapfile -t targets < <(for name in "${@:3}"; do find "$build" -type f -name "$name" -executable; done)
[[ ${#targets[@]} -gt 0 ]] || { echo "fuzz: no targets in $build" >&2; exit 1; }
mkdir -p "$build/findings"

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

# Runs one target. Its seeds in the tree are read, and new inputs are kept in the first folder from run to run.
run_target() { # target
    local target=$1 name corpus log
    name=$(basename "$target")
    corpus=$build/corpus/$name
    log=$build/findings/$name.log
    mkdir -p "$corpus"
    local folders=("$corpus")
    [[ ! -d tests/fuzz/corpus/${name#fuzz_} ]] || folders+=("tests/fuzz/corpus/${name#fuzz_}")
    local options=(-max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -malloc_limit_mb=512
        -artifact_prefix="$build/findings/$name-" -print_final_stats=1)
    if [[ $name == *_hdf5 ]]; then
        ASAN_OPTIONS=$no_leaks "$target" "${options[@]}" "${hdf5[@]}" "${folders[@]}" >"$log" 2>&1 || true
        ! any_of_ours "$target" || { echo "$name: found something"; return 1; }
        echo "$name: $(grep '^#' "$log" | tail -n 1)"
    elif "$target" "${options[@]}" "${folders[@]}" >"$log" 2>&1; then
        echo "$name: $(grep '^Done' "$log")"
    else
        tail -n 40 "$log"
        echo "$name: found something"
        return 1
    fi
}

# New inputs are named by their contents' hash, so that they are the same whoever finds them.
grow_target() { # target
    local target=$1 name small
    name=$(basename "$target")
    [[ -d $build/corpus/$name ]] || return 0
    small=$(mktemp -d)
    find "$build/corpus/$name" -type f -size -5 -exec cp -t "$small" {} +
    mkdir -p "tests/fuzz/corpus/${name#fuzz_}"
    ASAN_OPTIONS=$no_leaks "$target" -merge=1 -use_counters=0 -max_len=2048 -timeout=20 "tests/fuzz/corpus/${name#fuzz_}" "$small" \
        >"$build/findings/$name.log" 2>&1 || { tail -n 20 "$build/findings/$name.log"; rm -r "$small"; return 1; }
    rm -r "$small"
    echo "$name: $(find "tests/fuzz/corpus/${name#fuzz_}" -type f | wc -l) inputs"
}

job=run_target
[[ $seconds != grow ]] || job=grow_target
started=()
for target in "${targets[@]}"; do
    [[ $(jobs -rp | wc -l) -lt ${JOBS:-$(nproc)} ]] || wait -n || true
    $job "$target" &
    started+=($!)
done
failed=0
for process in "${started[@]}"; do
    wait "$process" || failed=1
done
[[ $failed == 0 ]] || { echo "fuzz: see $build/findings" >&2; exit 1; }
echo "fuzz: ${#targets[@]} targets, nothing found"
