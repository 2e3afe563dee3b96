#!/bin/bash
# tools/fuzz.sh BUILD_DIR SECONDS
# Runs every fuzz target of a build for that long, from its seed corpus (tests/fuzz/corpus, where it has one), and
# fails if any of them found something. What it found stays in BUILD_DIR/findings.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "$1")
seconds=$2

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
    if "$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -malloc_limit_mb=512 \
        -artifact_prefix="$build/findings/$name-" "$corpus" "${seeds[@]}" >"$log" 2>&1; then
        grep '^Done' "$log"
    else
        tail -n 40 "$log"
        failed+=("$name")
    fi
done
[[ ${#failed[@]} -eq 0 ]] || { echo "fuzz: findings in ${failed[*]}; see $build/findings" >&2; exit 1; }
echo "fuzz: ${#targets[@]} targets, nothing found"
