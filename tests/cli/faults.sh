# Allocations that fail, one of a run's after another: a run ends with its result, whole and right, or with one line and nothing left.
# faults.sh COMMAND PROJECT SHIM. Some are drawn of each run's; all with DISTMAP_TEST_ALL.
source "$(dirname "$0")/checks.sh" "$@" || exit 1
shim=$(realpath "$3")
each=${DISTMAP_TEST_EACH:-6}
seed=${DISTMAP_TEST_SEED:-$((RANDOM * 32768 + RANDOM))}
echo "seed $seed (DISTMAP_TEST_SEED repeats it)"
RANDOM=$seed

make_npy mask.npy '|u1' '4, 6, 5' ''
for i in $(seq 120); do printf "\\$(printf %o $((RANDOM % 4)))"; done >>mask.npy
# A mask, which all formats hold but those of pictures, who want two axes.
formats="npy tif nii nii.gz mha nrrd"
"$distmap" --help | grep -q '^  zarr' && formats+=" zarr ome.zarr"
"$distmap" --help | grep -q '^  hdf5' && formats+=" h5"

once() { # number; then the command's arguments: runs with that allocation failing, in an empty folder out/; CUDA's runtime is not for this
    rm -rf out
    mkdir out
    timeout 20 env LD_PRELOAD="$shim" DISTMAP_FAIL_AT="$1" "$distmap" "${@:2}" --device cpu >"$work/stdout" 2>"$work/stderr"
    status=$?
}

same() { # two results: files to the byte, or folders
    diff -r "$1" "$2" >/dev/null 2>&1
}

reads_same() { # libhdf5, without memory, may lay a file out in another way
    local x
    for x in out want; do "$distmap" edt "$x/a.$ending" -o "$x.npy" --sites 0 --quiet --device cpu || return 1; done
    cmp out.npy want.npy
}

left() { # whether there is what should not be: with $may_stay the result may, since what failed came behind it
    [[ $(ls -A out) ]] && ! { [[ $may_stay ]] && same out want; }
}

sweep() { # what; then arguments that write into out/
    local what=$1 total bad=0 ends=0 n
    shift
    rm -f "$work/count"
    DISTMAP_COUNT_TO=$work/count once 0 "$@"
    [[ $status == 0 ]] || { check "$what: runs ($(cat "$work/stderr"))" false; return; }
    rm -rf want
    mv out want
    total=$(($(od -An -td8 "$work/count"))) # of the process, or of a child that has more
    local numbers=()
    if [[ ${DISTMAP_TEST_ALL:-} ]]; then
        numbers=($(seq "$total"))
    else
        for ((n = 0; n < each; n++)); do numbers+=($(((RANDOM * 32768 + RANDOM) % total + 1))); done
    fi
    for n in "${numbers[@]}"; do
        once "$n" "$@"
        if [[ $status == 0 ]]; then
            same out want || { [[ $ending == h5 ]] && reads_same; } || { echo "     $what: allocation $n: status 0, another result"; bad=$((bad + 1)); }
        elif [[ $status -gt 3 ]]; then
            echo "     $what: allocation $n: status $status: $(head -c 200 "$work/stderr")"
            bad=$((bad + 1))
        elif [[ $(grep -c -e '^distmap: ' -e '^virtual memory exhausted' "$work/stderr") != 1 ]] || left; then
            echo "     $what: allocation $n: status $status, left '$(ls -A out)', said: $(head -c 300 "$work/stderr")"
            bad=$((bad + 1))
        fi
        ends=$((ends + 1))
    done
    check "$what: $ends of $total allocations failed" equal "$bad" 0
}

may_stay=

for ending in $formats; do
    # With pitches: a tag that found no memory is not to be missed.
    written=(morph mask.npy --op dilate --radius 3um --sites 3 --spacing 2um,3um,4um --quiet)
    sweep "written as $ending" "${written[@]}" -o "out/a.$ending"
    rm -rf "read.$ending"
    "$distmap" "${written[@]}" -o "read.$ending" 2>/dev/null || continue
    sweep "read from $ending" edt "read.$ending" -o out/a.npy --sites 0 --quiet
done
ending=
seeds=$data/../tests/fuzz/corpus/read_tiff
while read -r file options; do # a map's tags, tables, tiles, XML
    # shellcheck disable=SC2086
    sweep "read from $file" edt "$seeds/$file" -o out/a.npy --threshold 3 $options --quiet
done <<'END'
map.tif --channel 0
palette.tif --channel luma
rgba_contig_tiles.tif --channel luma
tiles_deflate_f4.tif
stack.ome.tif --channel 0 --time 0
END
sweep "a map from a map" edt "$seeds/map_rotated.tif" -o out/a.tif --threshold 3 --quiet
sweep "a picture in colour" edt "$data/horse.png" --channel luma -o out/a.npy --threshold 128 --preview out/p.png --quiet
sweep "out of core" edt mask.npy -o out/a.npy --sites 0 --memory 40M --quiet
may_stay=yes
sweep "told as JSON" edt mask.npy -o out/a.npy --sites 0 --json
finish
