# edt --distributed: the bits of one process, by ranks that share one file; one rank's error is everyone's, said once.
#   distributed.sh COMMAND PROJECT MPIEXEC OPTION_FOR_THE_NUMBER
export TMPDIR=${TMPDIR:-/tmp} # not in /dev/shm, where a smaller one is put
source "$(dirname "$0")/over.sh" "$@" || exit 1
hdf5=0
"$distmap" --help | grep -q '^  hdf5' && hdf5=1

seed=${DISTMAP_TEST_SEED:-$((RANDOM * 32768 + RANDOM))}
echo "seed $seed (DISTMAP_TEST_SEED repeats it)"
RANDOM=$seed

odd() { echo $((RANDOM % $1 + 1)); }

# ---- Bits ----
# Files are compared as they are, packed ones too. Among the cases are more ranks than slices, and slices that are images by themselves.
endings=(npy npy)
((hdf5)) && endings=(npy h5)
for ranks in 1 2 3 5 7; do
    case $ranks in
    1) shape="$(odd 300)" axes=(0) ;;
    2) shape="$((RANDOM % 90 + 60)), $(odd 50), $((RANDOM % 100 + 50))" axes=(0 0,1,2) ;;
    3) shape="$((RANDOM % 100 + 100)), $(odd 20), $(odd 30)" axes=(1,2 2) ;;
    5) shape="$(odd 9), $(odd 9), $(odd 9), $(odd 30)" axes=(0,2,3 0,3) ;;
    7) shape="$(odd 6), $((RANDOM % 500 + 100))" axes=(0,1 0) ;;
    esac
    make_volume in.npy "${shape/%[0-9]/&,}" $((${shape//,/*}))
    options=(--sites $((RANDOM % 256)) --axes "${axes[RANDOM % ${#axes[@]}]}")
    ((RANDOM % 2)) && options+=(--metric squared)
    ((RANDOM % 3)) || options+=(--border)
    ((RANDOM % 3)) || options+=(--limit $((RANDOM % 20 + 1)))
    ((RANDOM % 3)) || options+=(--spacing 0.7)
    ((RANDOM % 3)) || options+=(--threads 3)
    kind=$((RANDOM % 4))
    ((kind == 1)) && options+=(--signed)
    ((kind == 2)) && options+=(--labels)
    parts=(ignore site object)
    ((kind)) && parts=(site site object) # labels and signed maps ignore in memory only
    ((RANDOM % 2)) && options+=(--nodata-value $((RANDOM % 256)) --nodata "${parts[RANDOM % 3]}")
    ((RANDOM % 2)) && options+=(--fill 12345678)
    map=${endings[RANDOM % 2]} index=${endings[RANDOM % 2]}
    rm -rf want
    mkdir want
    "$distmap" edt in.npy -o "want/d.$map" --index "want/i.$index" "${options[@]}" --quiet || exit 1
    over "$ranks" in.npy -o "out/d.$map" --index "out/i.$index" "${options[@]}" --json
    check "$ranks ranks, ($shape) ${options[*]} to $map and $index ($(tr '\n' ' ' <stderr)): status" equal "$status" 0
    check "... the same files, and no other" diff -r want out
    check "... told" grep -qE "^$ranks ranks?$" stderr
    check "... in JSON once" equal "$(grep '"ranks"' stdout)" "  \"ranks\": $ranks,"
done

# ---- Errors ----
make_volume in.npy '32, 25, 40' 32000
refuses 2 "--distributed and --memory contradict" edt in.npy -o out/d.npy --distributed --memory 1G
refuses 2 "--distributed and --preview contradict" edt in.npy -o out/d.npy --distributed --preview out/p.png
"$distmap" devices | grep -q '^cuda none' && over_fails 2 1 "device cuda: .*" in.npy -o out/d.npy --device cuda
refuses 2 "--distributed needs outputs that every process can write to" edt in.npy -o out/d.npy --index - --distributed
refuses 1 "/dev/zero: is not a regular file" edt /dev/zero -o out/d.npy --distributed
refuses 2 "distmap-mpi is started by 'distmap edt --distributed' only" edt in.npy -o out/d.npy --index --distributed
over_fails 3 2 "--distributed needs --metric euclidean .* other metrics are computed by one process only" \
    in.npy -o out/d.npy --metric cityblock
over_fails 3 1 ".*: in.npy names a value for no data, which labels can ignore in memory only.*" \
    in.npy -o out/d.npy --labels --nodata-value 1
over_fails 2 1 "out/d.tif: several processes cannot write one tiff file; .npy.* can" in.npy -o out/d.tif
over_fails 2 1 "none.npy: cannot open: No such file" none.npy -o out/d.npy
over_fails 2 1 "rank 0: none/d.npy: cannot create a file in folder none/" in.npy -o none/d.npy
with() { # ranks, a shell's line that the last of them says before; then arguments
    rm -rf "$out"
    mkdir "$out"
    "${mpiexec[@]}" $(($1 - 1)) "$distmap" edt "${@:3}" --distributed : "${mpiexec[1]}" 1 \
        bash -c "$2"$'\n''exec "$0" edt "$@" --distributed' "$distmap" "${@:3}" >stdout 2>stderr
    status=$?
}
with 3 'set -- "$@" --limit 3' in.npy -o out/d.npy
fails "another problem for rank 2" 1 "rank 2: problem.limit is 3 here and 0 on rank 0: .*"
with 3 'set -- in.npy -o out/e.npy' in.npy -o out/d.npy
fails "another output for rank 2" 1 "rank 2: this rank was started for in.npy, .* -o out/e.npy, rank 0 for in.npy, .* -o out/d.npy"
with 3 'set -- in.npy -o out/d.npy --metric cityblock' in.npy -o out/d.npy
fails "an option that rank 2 refuses" 2 "rank 2: --distributed needs --metric euclidean .*"

# No room on rank 1 alone, which must not write beyond 16 MB of a file (less, and MPI could not start).
make_volume large.npy '64, 256, 512' $((64 * 256 * 512))
with 2 'ulimit -f 16000' large.npy -o out/d.npy
fails "no room for rank 1" 1 "rank 1: out/d.npy: cannot write: File too large"

# A rank that is killed once there is a file: the job ends, and leaves nothing that could be taken for a result.
with 3 '(while [[ -z $(compgen -G "out/.distmap-*") ]]; do sleep 0.002; done; touch seen; kill -KILL $$) &' \
    large.npy -o "out/d.${endings[1]}" --index "out/i.${endings[1]}"
check "a rank that is killed: status $status" test "$status" -gt 0
check "a rank that is killed: there was a file" test -e seen
check "a rank that is killed: no file is left" equal "$(ls -A out)" ""

# A full disk, where this process may mount one: in a name space of its own.
for name in "${endings[@]}"; do
    unshare -m true 2>/dev/null || { echo "skip a full disk: no right to mount one" && break; }
    rm -rf "$out"
    mkdir "$out"
    unshare -m bash -c 'mount -t tmpfs -o size=3m tmpfs "$0" && "$@"; status=$?; ls -A "$0" >left; exit $status' "$out" \
        "${mpiexec[@]}" 2 "$distmap" edt large.npy -o "out/d.$name" --distributed >stdout 2>stderr
    status=$?
    fails "a full disk, $name" 1 "(rank [01]: )?out/d.$name: cannot write: No space left on device"
    check "a full disk, $name: nothing is left on it" equal "$(cat left)" ""
done

# Too little of the memory that ranks share: not all of them meet it, and none waits for one that does.
if unshare -m true 2>/dev/null; then
    rm -rf "$out"
    mkdir "$out"
    unshare -m bash -c 'mount -t tmpfs -o size=6m tmpfs /dev/shm && exec "$@"' - \
        "${mpiexec[@]}" 2 "$distmap" edt large.npy -o out/d.npy --distributed >stdout 2>stderr
    status=$?
    fails "too little shared memory" 1 "rank [01]: no shared memory for [0-9]* bytes of a panel: No space left .*"
fi

# ---- HDF5 ----
if ((hdf5)); then
    "$distmap" edt in.npy -o in.h5:/some/squared --metric squared --quiet
    "$distmap" edt in.npy -o in.h5:/some/lengths --quiet
    cp in.h5 want.h5
    cp in.h5 got.h5
    "$distmap" edt want.h5:/some/squared -o want.h5:/new/d --sites 3..9 --quiet || exit 1
    over 3 got.h5:/some/squared -o got.h5:/new/d --sites 3..9
    check "a dataset from and to one file: status" equal "$status" 0
    check "... the same file" cmp got.h5 want.h5
    over_fails 2 1 "in.h5:/some/none: there is no dataset /some/none in the file.*" in.h5:/some/none -o out/d.npy
    over_fails 2 1 "in.h5:/some/lengths: holds float32, which is not a mask.*" in.h5:/some/lengths -o out/d.npy
    over_fails 2 1 "rank 0: in.h5:/some/lengths: there is a /some/lengths already.*" in.npy -o in.h5:/some/lengths
    chmod 444 want.h5
    over_fails 2 1 "rank 0: want.h5:/more: is read-only.*" in.npy -o want.h5:/more
    check "no other file was left beside it" equal "$(ls -A | grep distmap-)" ""
fi

finish
