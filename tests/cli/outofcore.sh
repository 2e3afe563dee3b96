# edt --memory: the bits of a run in memory, within the memory that was said, also when it is killed and goes on.
# With DISTMAP_TEST_ALL more drawn cases, and runs of every image and format are killed; otherwise half of them, drawn.
source "$(dirname "$0")/checks.sh" "$@" || exit 1

seed=${DISTMAP_TEST_SEED:-$((RANDOM * 32768 + RANDOM))}
echo "seed $seed (DISTMAP_TEST_SEED repeats it)"
RANDOM=$seed

# Random bytes: JPEG data, from a drawn place on, over and over. Of any value there is about one in 256.
make_volume() { # file, descr, shape, bytes
    make_npy "$1" "$2" "$3" ''
    while tail -c +$((RANDOM % 9000 + 1000)) "$data/retina.jpg"; do :; done 2>/dev/null | head -c "$4" >>"$1"
}
none_left() { equal "$(ls -A "$1")" "$2"; } # folder, its names

# ---- Bits ----
# Drawn shapes of 1 to 4 axes; every format; what slabs, panels and borders could get wrong.
formats="npy tif nii"
"$distmap" --help | grep -q '^  hdf5' && formats+=" h5"
"$distmap" --help | grep -q '^  zarr' && formats+=" zarr"
odd() { echo $((RANDOM % $1 + 1)); }
rounds=8
[[ ${DISTMAP_TEST_ALL:-} ]] && rounds=24
for round in $(seq $rounds); do
    case $((round % 4)) in
    0) z=$((RANDOM % 3000 + 1)); shape="$z," count=$z ;;
    1) y=$(odd 500) x=$(odd 700); shape="$y, $x" count=$((y * x)) ;;
    2) z=$(odd 60) y=$(odd 90) x=$(odd 300)
       ((RANDOM % 2)) && z=$(odd 14) y=$(odd 14) x=$((RANDOM % 400 + 1100)) # several slabs: runs are at least a page
       shape="$z, $y, $x" count=$((z * y * x)) ;;
    3) t=$(odd 9) z=$(odd 20) y=$(odd 30) x=$(odd 100); shape="$t, $z, $y, $x" count=$((t * z * y * x)) ;;
    esac
    make_volume drawn.npy '|u1' "$shape" "$count"
    options=(--sites $((RANDOM % 256)))
    kind=$((RANDOM % 4))
    ((kind == 1)) && options=(--threshold $((RANDOM % 256)) --signed) && ((RANDOM % 2)) && options+=(--surface half)
    ((kind >= 2)) && make_labels drawn.npy "$shape" "$count" && options=(--labels) && ((RANDOM % 2)) && options+=(--sites none)
    [[ ${options[*]} == *half* ]] || ((RANDOM % 2)) || options+=(--metric squared)
    ((RANDOM % 3)) || options+=(--border)
    ((RANDOM % 3)) || options+=(--limit $((RANDOM % 20 + 1)))
    ((RANDOM % 4)) || options+=(--spacing 2)
    ((RANDOM % 4)) || options+=(--spacing 0.7)
    ((RANDOM % 4)) || options+=(--axes $((RANDOM % (round % 4 ? 2 : 1))))
    # The last one of two counts: an option given twice is an error.
    [[ $(grep -o -- --spacing <<<"${options[*]}" | wc -l) -lt 2 ]] || continue
    for format in $formats; do
        [[ $format == tif && $((round % 4)) == 0 ]] && continue
        rm -rf want
        mkdir want
        "$distmap" edt drawn.npy -o "want/d.$format" --index want/i.npy "${options[@]}" --quiet || continue
        run edt drawn.npy -o "out/d.$format" --index out/i.npy "${options[@]}" --memory 1G
        check "$shape ${options[*]} to $format: status" equal "$status" 0
        check "... the same bits, and nothing else is left" diff -r want out
    done
done
make_volume drawn.npy '|u1' '30, 200, 300' 1800000
"$distmap" edt drawn.npy -o want.npy --sites 9 --quiet
"$distmap" edt drawn.npy -o - --sites 9 --quiet --memory 1G --scratch out >got.npy
check "to standard output" cmp got.npy want.npy
"$distmap" edt - -o got.npy --sites 9 --quiet --memory 1G <drawn.npy
check "from standard input" cmp got.npy want.npy

# ---- Memory ----
# Input and output have four times the limit each, and more. Private memory is capped, the peak is told by the kernel. A volume goes by
# way of squares, a plane by windows. The cap counts stacks of threads by what they may grow to: it is set to what they do.
small=48
make_volume volume.npy '<u4' '96, 512, 1024' $((96 * 512 * 1024 * 4))
make_volume plane.npy '<u4' '7100, 7200' $((7100 * 7200 * 4))
ln volume.npy labels.npy
ln volume.npy sides.npy
task() { # image
    case $1 in
    labels) echo --labels ;;
    sides) echo --signed --threshold 40000 ;;
    *) echo --sites 0..40000 ;;
    esac
}
sanitized=1
(ulimit -v 4000000 && "$distmap" --version) >/dev/null 2>&1 && sanitized=0 # sanitizers reserve more addresses, and use more memory
memory=${small}M
((sanitized)) && memory=2G
for image in volume plane labels sides; do
    ((sanitized)) && break
    rm -rf out
    mkdir out
    "$distmap" edt $image.npy -o want.npy $(task $image) --quiet || exit 1
    status=0
    (ulimit -s 1024 && ulimit -d $((small * 1024)) && "$distmap" edt $image.npy -o out/d.npy $(task $image) \
        --memory $memory --json --threads 2 >told.json 2>stderr) || status=$?
    check "$image of four times the limit: status ($(cat stderr))" equal "$status" 0
    check "$image of four times the limit: the same bits" cmp out/d.npy want.npy
    check "$image of four times the limit: nothing else is left" none_left out d.npy
    peak=$(sed -n 's/.*"peak": \([0-9]*\).*/\1/p' told.json)
    echo "$image: peak $peak bytes"
    check "$image of four times the limit: the peak is within it" test "$peak" -gt 0 -a "$peak" -le $((small << 20))
    refuses 1 "--memory: 8 MiB are too little for $image.npy: [0-9]* MiB are needed" edt $image.npy -o out/d.npy --memory 8M
done

# ---- Killed and gone on ----
lines() { grep -c "^$1 [0-9]" "out/.distmap-$2.state" 2>/dev/null; }
# Nice, so that who waits for a line sees it before the run has ended, also where other tests take the processors.
interrupt() { # output, what to wait for, how often, signal: starts a run, ends it there; then its exit status is $status
    nice -n 19 "$distmap" edt $image.npy -o "out/$1" $(task $image) --memory $memory --resume --quiet 2>stderr &
    local run=$!
    while [[ $(lines "$2" "$1") -lt $3 ]] && kill -0 $run 2>/dev/null; do sleep 0.01; done
    kill "-$4" $run 2>/dev/null
    wait $run
    status=$?
}
runs=("volume d.npy" "plane d.tif" "labels d.npy" "volume d.tif" "plane d.npy" "sides d.tif")
[[ ${DISTMAP_TEST_ALL:-} ]] || runs=("${runs[@]:RANDOM % 2 * 3:3}")
for run in "${runs[@]}"; do
    read -r image name <<<"$run"
    rm -rf out
    mkdir out
    "$distmap" edt $image.npy -o "want.${name#*.}" $(task $image) --quiet
    interrupt $name slab 3 KILL
    check "$run killed in the first pass" equal "$status" 137
    check "$run: no output yet" test ! -e out/$name
    slabs=$(lines slab $name)
    interrupt $name slab $((slabs + 2)) TERM
    check "$run ended in the first pass, which went on behind slab $slabs ($(cat stderr))" equal "$status" 143
    interrupt $name panel 2 KILL
    check "$run killed in the second pass" equal "$status" 137
    panels=$(lines panel $name)
    parts=$(sed -n 's/^slabs and panels \([0-9]*\).*/\1/p' out/.distmap-$name.state)
    check "$run: slabs are not done again" equal "$(lines slab $name)" "$parts"
    "$distmap" edt $image.npy -o out/$name $(task $image) --memory $memory --resume 2>stderr
    check "$run: ends: status" equal "$?" 0
    check "$run: told ($(cat stderr))" grep -q "resuming after $parts slabs and $panels panels" stderr
    check "$run: the same bits" cmp out/$name "want.${name#*.}"
    check "$run: nothing else is left" none_left out $name
done

rm -rf out
mkdir out
image=volume
"$distmap" edt $image.npy -o want.npy --sites 0..40000 --quiet
interrupt d.npy slab 2 KILL
refuses_to_go_on() { # pattern, arguments
    "$distmap" edt volume.npy -o out/d.npy --memory $memory --resume "${@:2}" 2>stderr
    check "another problem: status" equal "$?" 1
    check "another problem: ${1}" one_line "$1"
}
mv stderr "$work/stderr" 2>/dev/null
refuses_to_go_on "belongs to another run: 'sites .*' there, 'sites .*'" --sites 0..40001
refuses_to_go_on "belongs to another run: 'limit 0' there, 'limit 5'" --sites 0..40000 --limit 5
check "they leave what is there" test -e out/.distmap-d.npy.scratch
# Files that were damaged since: what is missing would read as zeros.
interrupt d.npy panel 2 KILL
cp out/.distmap-d.npy.part whole.part
truncate -s 5000 out/.distmap-d.npy.part
refuses_to_go_on "d.npy.part has 5000 of its [0-9]* bytes; run without --resume to start again" --sites 0..40000
cp whole.part out/.distmap-d.npy.part
truncate -s 100 out/.distmap-d.npy.scratch
refuses_to_go_on "d.npy.scratch has 100 of its [0-9]* bytes; run without --resume to start again" --sites 0..40000
# A run that was killed when its output had its name, or while it tidied up, holds nobody up.
for gone in part scratch; do
    rm -f out/d.npy out/.distmap-d.npy.*
    interrupt d.npy panel 2 KILL
    mv out/.distmap-d.npy.$gone out/d.npy
    "$distmap" edt volume.npy -o out/d.npy --sites 0..40000 --memory $memory --resume 2>stderr
    check "the $gone is gone: status" equal "$?" 0
    check "the $gone is gone: told" grep -q "files of the earlier run are missing; starting again" stderr
    check "the $gone is gone: the same bits" cmp out/d.npy want.npy
done
# Inputs that are others since, though they have their old size and time.
interrupt d.npy slab 2 KILL
cp -p volume.npy before.npy
cp before.npy volume.npy
touch -r before.npy volume.npy
refuses_to_go_on "belongs to another run: 'it is inode .*' there, 'it is inode .*'" --sites 0..40000
"$distmap" edt volume.npy -o store.zarr --sites 0..40000 --metric squared --quiet
folder() { "$distmap" edt store.zarr -o out/z.npy --sites 0..40 --memory $memory --resume "$@" 2>stderr; }
if [[ -d store.zarr ]]; then
    nice -n 19 "$distmap" edt store.zarr -o out/z.npy --sites 0..40 --memory $memory --resume --quiet 2>stderr &
    run=$!
    while [[ $(lines slab z.npy) -lt 2 ]] && kill -0 $run 2>/dev/null; do sleep 0.01; done
    kill -KILL $run
    wait $run
    chunk=$(find store.zarr -type f ! -name zarr.json | sort | tail -n 1)
    cp -p "$chunk" chunk
    cat chunk >"$chunk"
    touch -r chunk "$chunk"
    folder
    check "a chunk was changed: status" equal "$?" 1
    check "a chunk was changed: told" one_line "belongs to another run: 'it is .* digest .*' there, 'it is .* digest"
    rm -f out/.distmap-z.npy.*
    # Rows of chunks are read once: slabs are whole rows, where they fit.
    "$distmap" edt store.zarr -o rows.zarr --sites 0..40 --metric squared --chunks 32,64,1024 --quiet
    "$distmap" edt rows.zarr -o out/z.npy --labels --memory 2G 2>stderr
    check "slabs of whole rows of chunks ($(tail -n 1 stderr))" grep -q '^3 slabs' stderr
    "$distmap" edt rows.zarr -o want.labels.npy --labels --quiet
    check "... the same bits" cmp out/z.npy want.labels.npy
    rm -rf rows.zarr out/z.npy want.labels.npy
fi
rm -rf store.zarr before.npy chunk
interrupt d.npy panel 2 KILL
printf 'x\033[31m\x80\n' >out/.distmap-d.npy.state
refuses_to_go_on "belongs to another run: 'x\?\[31m\?' there, 'distmap" --sites 0..40000
flock out/.distmap-d.npy.state -c \
    "'$distmap' edt volume.npy -o out/d.npy --sites 0..40000 --memory $memory --quiet" 2>stderr
check "two runs at once: status" equal "$?" 1
check "two runs at once: one line" one_line "another run is writing"
"$distmap" edt volume.npy -o out/d.npy --sites 0..40000 --memory $memory --quiet
check "without --resume it begins anew" cmp out/d.npy want.npy
check "and leaves nothing" none_left out d.npy
rm -rf out
mkdir out
"$distmap" edt volume.npy -o out/d.npy --sites 0..40000 --memory $memory --quiet &
run=$!
while [[ $(lines slab d.npy) -lt 2 ]] && kill -0 $run 2>/dev/null; do sleep 0.01; done
kill -TERM $run
wait $run
check "ended without --resume: status" equal "$?" 143
check "ended without --resume: nothing is left" none_left out ""

# ---- Bad input ----
largest_file=100000
refuses 1 "no room for [0-9]* bytes of scratch: File too large" edt volume.npy -o out/d.npy --memory $memory
largest_file=unlimited
refuses 1 "none/.distmap-d.npy.state: cannot open" edt drawn.npy -o out/d.npy --memory 1G --scratch none
refuses 1 "none/" edt drawn.npy -o none/d.npy --memory 1G
refuses 1 "no format has this ending" edt drawn.npy -o out/d.xyz --memory 1G
refuses 2 "--memory: 'much' is not a size" edt drawn.npy -o out/d.npy --memory much
refuses 2 "--memory: '0' is not a size" edt drawn.npy -o out/d.npy --memory 0
refuses 2 "--memory: '4GB' is not a size" edt drawn.npy -o out/d.npy --memory 4GB
refuses 2 "--resume needs --memory" edt drawn.npy -o out/d.npy --resume
refuses 2 "--scratch needs --memory" edt drawn.npy -o out/d.npy --scratch out
refuses 1 "labels can ignore in memory only" edt drawn.npy -o out/d.npy --labels --nodata-value 7 --memory 1G
refuses 1 "signed maps can ignore in memory only" edt drawn.npy -o out/d.npy --signed --nodata-value 7 --memory 1G
refuses 2 "other metrics are computed" edt drawn.npy -o out/d.npy --metric cityblock --memory 1G
refuses 2 "--memory and --preview contradict" edt drawn.npy -o out/d.npy --preview out/p.png --memory 1G
refuses 2 "--memory and --method contradict" edt drawn.npy -o out/d.npy --method minplus/cpu --memory 1G
refuses 2 "--memory needs --device cpu" edt drawn.npy -o out/d.npy --device cuda --memory 1G
refuses 2 "--resume needs an output with a name" edt drawn.npy -o - --memory 1G --resume
refuses 2 "--resume needs an input that can be read again" edt - -o out/d.npy --memory 1G --resume

finish
