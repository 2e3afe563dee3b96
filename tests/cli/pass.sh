# distmap pass: shards of both passes give the bits of distmap edt, in any order, twice, at once, killed and begun again.
source "$(dirname "$0")/checks.sh" "$@" || exit 1

seed=${DISTMAP_TEST_SEED:-$((RANDOM * 32768 + RANDOM))}
echo "seed $seed (DISTMAP_TEST_SEED repeats it)"
RANDOM=$seed

make_volume() { # file, descr, shape, bytes: JPEG data, from a drawn place on, over and over
    make_npy "$1" "$2" "$3" ''
    while tail -c +$((RANDOM % 9000 + 1000)) "$data/retina.jpg"; do :; done 2>/dev/null | head -c "$4" >>"$1"
}
odd() { echo $((RANDOM % $1 + 1)); }
formats=npy
"$distmap" --help | grep -q '^  zarr' && formats+=" zarr"
python=
/usr/bin/python3 -c 'import numcodecs, numpy' 2>/dev/null && python=/usr/bin/python3

same() { # a result, the NPY that it should be
    local got=$1
    if [[ $got == *.zarr ]]; then
        [[ -n $python ]] || return 0
        got=$work/from_zarr.npy
        "$python" "$script_folder/zarr_to_npy.py" "$1" "$got" || return 1
    fi
    cmp "$got" "$2"
}
script_folder=$(dirname "$script")
all() { # shards, then arguments: all of a pass, in a drawn order
    local shards=$1 i
    shift
    for i in $(seq "$shards" | shuf --random-source=<(yes "$RANDOM")); do
        "$distmap" pass "$@" --shard "$i/$shards" --quiet || return 1
    done
}

# ---- Bits ----
rounds=$(awk -v scale="${DISTMAP_TEST_SCALE:-1}" 'BEGIN { n = int(24 * scale); print n < 6 ? 6 : n }')
for round in $(seq "$rounds"); do
    case $((round % 3)) in
    0) y=$(odd 200) x=$(odd 300); shape="$y, $x" axes=(x y) count=$((y * x)) ;;
    1) z=$(odd 40) y=$(odd 60) x=$(odd 100); shape="$z, $y, $x" axes=(y,x z) count=$((z * y * x)) ;;
    2) w=$(odd 7) z=$(odd 15) y=$(odd 20) x=$(odd 50); shape="$w, $z, $y, $x" axes=(z,y,x w) count=$((w * z * y * x)) ;;
    esac
    rm -rf run
    mkdir run
    make_volume run/drawn.npy '|u1' "$shape" "$count"
    first=(--sites $((RANDOM % 256))) last=()
    case $((RANDOM % 5)) in
    0) first=(--threshold $((RANDOM % 256)) --signed) && ((RANDOM % 2)) && first+=(--surface half) ;;
    1) first+=(--signed outside --nodata-value $((RANDOM % 256)) --nodata site) ;;
    2) make_labels run/drawn.npy "$shape" "$count" && first=(--labels) && ((RANDOM % 2)) && first+=(--sites none) ;;
    3) make_labels run/drawn.npy "$shape" "$count" && first=(--labels --nodata-value 2 --nodata object) ;;
    esac
    ((RANDOM % 3)) || first+=(--border)
    ((RANDOM % 3)) || first+=(--limit $((RANDOM % 20 + 1)))
    case $((RANDOM % 4)) in 0) first+=(--spacing 2) ;; 1) first+=(--spacing 0.7) ;; esac
    [[ ${first[*]} == *half* ]] || ((RANDOM % 2)) || last+=(--metric squared)
    "$distmap" edt run/drawn.npy -o run/want.npy --index run/wanti.npy "${first[@]}" "${last[@]}" --quiet
    for format in $formats; do
        chunks=()
        [[ $format == zarr ]] && ((RANDOM % 4)) && chunks=(--chunks $(odd 20))
        n=$(odd 9) m=$(odd 9) index=() index2=()
        ((RANDOM % 2)) && index=(--index "run/midi.$format") index2=(--index "run/outi.$format")
        all "$n" run/drawn.npy -o "run/mid.$format" --axis "${axes[0]}" "${first[@]}" "${index[@]}" "${chunks[@]}" &&
            all "$m" "run/mid.$format" -o "run/out.$format" --axis "${axes[1]}" "${last[@]}" "${index2[@]}"
        check "($shape) ${first[*]} ${last[*]} ${index[*]} ${chunks[*]}, $n and $m shards of $format: status" equal "$?" 0
        check "... the same bits" same "run/out.$format" run/want.npy
        [[ ${#index[@]} == 0 ]] || check "... the same sites" same "run/outi.$format" run/wanti.npy
        check "... no part is left" equal "$(find run -name '*.part' -o -name '.distmap*')" ""
    done
done
# The kinds of labels come from the input of the first pass, which must be what it was.
make_labels labels.npy '9, 40, 50' 18000
"$distmap" edt labels.npy -o want.npy --labels --quiet
all 2 labels.npy -o midl.npy --axis y,x --labels && all 2 midl.npy -o outl.npy --axis z
check "labels" cmp outl.npy want.npy
refuses 1 "--labels: belongs to the first pass, which made midl.npy" pass midl.npy -o out/d.npy --axis z --shard 1/1 --labels
refuses 1 "labels can ignore in memory only" pass labels.npy -o out/d.npy --axis y,x --labels --nodata-value 7 --shard 1/1
touch -d yesterday labels.npy
refuses 1 "labels.npy: has changed since the first pass of midl.npy" pass midl.npy -o out/d.npy --axis z --shard 1/1
# Slices that are problems of their own need one pass.
make_volume drawn.npy '|u1' '9, 40, 50' 18000
"$distmap" edt drawn.npy -o want.npy --axes y,x --sites 7 --quiet
all 4 drawn.npy -o one.npy --axes y,x --axis y,x --sites 7
check "slices by themselves: one pass" cmp one.npy want.npy
if "$distmap" --help | grep -q '^  hdf5'; then
    "$distmap" edt drawn.npy -o vol.h5:/a/mask --sites 7 --metric squared --quiet
    "$distmap" edt vol.h5:/a/mask -o want.npy --sites 1..9 --quiet
    all 3 vol.h5:/a/mask -o mid5.npy --axis 1,2 --sites 1..9 && all 2 mid5.npy -o out5.npy --axis 0
    check "a dataset as input" cmp out5.npy want.npy
fi

# ---- Many at once, killed, again ----
make_volume large.npy '<u2' '64, 512, 512' $((64 * 512 * 512 * 2))
"$distmap" edt large.npy -o want.npy --sites 0..300 --quiet
for format in $formats; do
    rm -rf run
    mkdir run
    first=(pass large.npy -o "run/mid.$format" --axis y,x --sites 0..300 --threads 1)
    [[ $format == zarr ]] && first+=(--chunks 4,64,64)
    "$distmap" "${first[@]}" --shard 1/3 --quiet
    "$distmap" "${first[@]}" --shard 2/3 2>stderr &
    killed=$!
    sleep 0.0$((RANDOM % 10))
    kill -KILL $killed 2>/dev/null
    wait $killed
    echo "killed: status $?"
    "$distmap" pass "run/mid.$format" -o run/out.npy --axis z --shard 1/1 2>stderr
    check "$format: the pass before has missing shards: status" equal "$?" 1
    check "$format: they are named" one_line "run/mid.$format: the first pass is not complete: 3 shards, [12] missing: (2, )?3$"
    check "$format: nothing is begun" test ! -e run/out.npy.pass
    for i in 1 2 3; do
        for twice in 1 2; do
            "$distmap" "${first[@]}" --shard $i/3 --quiet 2>"stderr.$i.$twice" || echo "$i: $?" >>failed &
        done
    done
    wait
    check "$format: all shards twice at once" test ! -e failed
    check "$format: the output has its name, and all else is gone" equal \
        "$(ls run)" "mid.$format"$'\n'"mid.$format.pass"
    before=$(find "run/mid.$format" -type f ! -name '.distmap-*' -exec cksum {} + | sort)
    rm "run/mid.$format.pass/shard-2" # as if it was never done, which costs nothing but time
    "$distmap" "${first[@]}" --shard 2/3 2>stderr
    check "$format: a whole output with a mark missing is left alone: status" equal "$?" 1
    check "$format: ... one line" one_line "exists already and is not overwritten"
    echo "flags 0 largest 0 bytes 0 0" >"run/mid.$format.pass/shard-2"
    run "${first[@]}" --shard 2/3
    check "$format: a shard that is done: status" equal "$status" 0
    check "$format: a shard that is done: told" grep -q "shard 2/3 is done already" stderr
    check "$format: a shard that is done changes nothing" equal \
        "$(find "run/mid.$format" -type f ! -name '.distmap-*' -exec cksum {} + | sort)" "$before"
    for i in 1 2 3 4 5; do
        for twice in 1 2; do
            "$distmap" pass "run/mid.$format" -o "run/out.$format" --axis z --shard $i/5 --quiet || touch failed &
        done
    done
    wait
    check "$format: the last pass twice at once" test ! -e failed
    check "$format: the same bits" same "run/out.$format" want.npy
done

# ---- A part that was cut between shards ----
rm -rf run
mkdir run
first=(pass large.npy -o run/mid.npy --index run/at.npy --axis y,x --sites 0..300)
"$distmap" "${first[@]}" --shard 1/3 --quiet
for part in run/mid.npy.part run/at.npy.part; do
    whole=$(stat -c %s $part)
    mv $part kept
    for left in 0 100 $((whole - 1)); do
        head -c "$left" kept >$part
        for again in 1 2; do
            refuses 1 "$part: has $left of its $whole bytes, but 1 shards are done; remove it" "${first[@]}" --shard 2/3
        done
        check "$part, $left bytes: nothing was added" equal "$(stat -c %s $part)" "$left"
    done
    mv kept $part
done
"$distmap" "${first[@]}" --shard 2/3 --quiet && "$distmap" "${first[@]}" --shard 3/3 --quiet
all 1 run/mid.npy -o run/out.npy --index run/nearest.npy --axis z
check "whole again: the same bits" cmp run/out.npy want.npy

# ---- Memory ----
rm -rf run
mkdir run
all 2 large.npy -o run/mid.npy --axis y,x --sites 0..300 --memory 40M && all 2 run/mid.npy -o run/out.npy --axis z --memory 40M
check "little memory: the same bits" cmp run/out.npy want.npy
refuses 1 "--memory: 33 MiB are too little for large.npy: 1 place along z need 3[4-9] MiB" \
    pass large.npy -o out/m.npy --axis y,x --shard 1/2 --memory 33M

# ---- What does not fit together ----
some=(pass drawn.npy --sites 7)
refuses 2 "pass: --axis AXES is missing" "${some[@]}" -o out/m.npy --shard 1/2
refuses 2 "pass: --shard I/N is missing" "${some[@]}" -o out/m.npy --axis y,x
refuses 2 "--shard: '3' is not I/N" "${some[@]}" -o out/m.npy --axis y,x --shard 3
refuses 2 "--shard: 3 is out of range, must be 1 to 2" "${some[@]}" -o out/m.npy --axis y,x --shard 3/2
refuses 2 "--shard: 0 is out of range, must be 1 to 2" "${some[@]}" -o out/m.npy --axis y,x --shard 0/2
refuses 2 "pass: '-' .a pipe. is not supported" pass - -o out/m.npy --axis y,x --shard 1/2
refuses 2 "--metric must be euclidean or squared" "${some[@]}" -o out/m.npy --axis y,x --shard 1/2 --metric cityblock
refuses 1 "the first pass of drawn.npy goes along y,x, all measured axes but z" "${some[@]}" -o out/m.npy --axis z --shard 1/2
refuses 1 "has no axis 'w'" "${some[@]}" -o out/m.npy --axis w --shard 1/2
refuses 1 "-o out/m.tif: several processes can write only .npy" "${some[@]}" -o out/m.tif --axis y,x --shard 1/2
refuses 1 "--chunks: out/m.npy has no chunks" "${some[@]}" -o out/m.npy --axis y,x --shard 1/2 --chunks 4
refuses 1 "--dtype: belongs to the last pass" "${some[@]}" -o out/m.npy --axis y,x --shard 1/2 --dtype float64
refuses 1 "none/m.npy: cannot use its folder" "${some[@]}" -o none/m.npy --axis y,x --shard 1/2
"$distmap" edt drawn.npy -o floats.npy --sites 7 --quiet
refuses 1 "floats.npy: holds float32, which is not a mask" pass floats.npy -o out/m.npy --axis y,x --shard 1/2
make_npy line.npy '|u1' '9,' '\1\0\1\1\1\1\1\1\1'
refuses 1 "two passes need two measured axes" pass line.npy -o out/m.npy --axis x --shard 1/2
make_npy empty.npy '|u1' '3, 0, 4' ''
refuses 1 "empty.npy: has no elements" pass empty.npy -o out/m.npy --axis y,x --shard 1/2
largest_file=10
run "${some[@]}" -o out/m.npy --axis y,x --shard 1/2
check "no room: status" equal "$status" 1
check "no room: one line" one_line "m.npy: cannot write: File too large"
largest_file=unlimited

rm -rf run
mkdir run
all 2 drawn.npy -o run/mid.npy --axis y,x --sites 7 --border
last() { "$distmap" pass run/mid.npy -o run/out.npy --axis z --shard 1/2 "$@" 2>stderr; }
last --border
check "options of the first pass in the last" one_line "--border: belongs to the first pass, which made run/mid.npy"
last --index run/i.npy
check "sites in the last pass alone" one_line "--index: must be in both passes or in neither; the first pass of run/mid.npy had none"
"$distmap" pass run/mid.npy -o run/out.npy --axis y --shard 1/2 2>stderr
check "the wrong axis" one_line "--axis: the last pass of run/mid.npy is along z, not y"
check "nothing was begun" test ! -e run/out.npy.pass
last
"$distmap" pass run/mid.npy -o run/out.npy --axis z --shard 1/3 2>stderr
check "another number of shards" one_line "run/out.npy.pass: belongs to another run, whose shards is 2, not 3"
"$distmap" pass run/mid.npy -o run/out.npy --axis z --shard 2/2 --metric squared 2>stderr
check "another metric" one_line "belongs to another run, whose squared is false, not true"
mv run/out.npy.part run/away
last
check "the part was taken away" one_line "records 1 shards as done, but there is no .*/run/out.npy.part"
mv run/away run/out.npy.part
touch run/mid.npy
"$distmap" pass run/mid.npy -o run/out.npy --axis z --shard 2/2 2>stderr
check "the input was written to meanwhile" one_line "run/mid.npy: is not the file that the first pass wrote: .*"
cp -r run/mid.npy.pass run/squares.npy.pass
head -c -1 run/mid.npy >run/squares.npy
printf 'x' >>run/squares.npy
"$distmap" pass run/squares.npy -o run/out2.npy --axis z --shard 1/2 2>stderr
check "other squares beside the plan" one_line "run/squares.npy: is not the file that the first pass wrote: "
rm -r run/squares.npy run/squares.npy.pass
cp drawn.npy run/there.npy
"$distmap" pass drawn.npy -o run/there.npy --axis y,x --shard 1/2 2>stderr
check "an output that is there" one_line "run/there.npy: exists already and is not overwritten"
cp drawn.npy run/other.npy
cp -r run/mid.npy.pass run/other.npy.pass
rm run/other.npy.pass/output
"$distmap" pass run/other.npy -o run/out2.npy --axis z --shard 1/2 2>stderr
check "a file that is not the plan's" one_line "run/other.npy: does not match the plan beside it"
echo '{"left": [0]}' >run/other.npy.pass/plan.json
"$distmap" pass run/other.npy -o run/out2.npy --axis z --shard 1/2 2>stderr
check "a plan that is none" one_line "run/other.npy.pass/plan.json: is not the plan of a pass"
if [[ $(id -u) == 0 ]] && command -v setpriv >/dev/null; then # somebody else, who may not write here
    cp "$distmap" run/distmap
    chmod 755 "$work" run
    setpriv --reuid=65534 --clear-groups run/distmap pass drawn.npy -o run/no.npy --axis y,x --shard 1/2 2>stderr
    check "a read-only folder" one_line "run/no.npy.pass: cannot make the folder: Permission denied"
fi

finish
