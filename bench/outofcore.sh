#!/bin/bash
# bench/outofcore.sh DISTMAP FOLDER [SIDE [MEMORY]]
# edt --memory against copying the same bytes through the same files, in one run: a cube of SIDE^3 random bytes (default 1024,
# of which one in 256 is a site) is
#     copied by dd:  mask to nowhere, zeros to a scratch file, that to a result (m + 4 + 4 + 4 bytes per element)
#     mapped:        by distmap edt --memory MEMORY (default an eighth of the mask), to NPY
# in turns, three times each. The best of each count. FOLDER needs room for 9 bytes per element. Before each turn what is not on
# the disk yet is written, and as root the system's cache is emptied; within a turn the cache takes what it has room for, for
# both alike: where the machine's memory holds all files, what is measured is copying into and out of the cache.
set -euo pipefail
distmap=$(realpath "$1")
side=${3:-1024}
elements=$((side * side * side))
memory=${4:-$((elements / 8))}
work=$(mktemp -d "$2/outofcore-XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"

printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': ($side, $side, $side), }" >mask.npy
head -c "$elements" /dev/urandom >>mask.npy

begin() {
    rm -f scratch result result.npy
    sync
    [[ ! -w /proc/sys/vm/drop_caches ]] || echo 3 >/proc/sys/vm/drop_caches
    started=$(date +%s%N)
}
took() { echo $((($(date +%s%N) - started) / 1000000)); } # ms
copy() {
    dd if=mask.npy of=/dev/null bs=8M status=none
    dd if=/dev/zero of=scratch bs=8M count=$((4 * elements)) iflag=count_bytes status=none
    dd if=scratch of=result bs=8M status=none
}

best_copy= best_map=
for turn in 1 2 3; do
    begin
    copy
    t=$(took)
    [[ -n $best_copy && $t -ge $best_copy ]] || best_copy=$t
    begin
    "$distmap" edt mask.npy -o result.npy --sites 7 --memory "$memory" --json --quiet >told.json
    m=$(took)
    [[ -n $best_map && $m -ge $best_map ]] || best_map=$m
    echo "turn $turn: copy $t ms, map $m ms"
done
peak=$(sed -n 's/.*"peak": \([0-9]*\).*/\1/p' told.json)
awk -v n="$elements" -v c="$best_copy" -v m="$best_map" -v peak="$peak" -v memory="$memory" -v cpu="$(nproc)" \
    -v ram="$(awk '/MemTotal/ {print $2 * 1024}' /proc/meminfo)" 'BEGIN {
    printf "%d elements, mask %.2f GB, scratch and result %.2f GB each; machine: %d processors, %.1f GB\n", n, n / 1e9, 4 * n / 1e9, cpu, ram / 1e9
    printf "copy %.2f s (%.2f GB/s), map %.2f s (%.2f GB/s of the same bytes): %.0f%% of the speed of copying\n", c / 1e3, 13 * n / c / 1e6, m / 1e3, 13 * n / m / 1e6, 100 * c / m
    printf "memory: %.0f MiB at most, limit %.0f MiB\n", peak / 1048576, memory / 1048576
}'
