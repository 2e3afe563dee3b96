# edt --distributed --device cuda: the ranks of a machine take turns with its GPUs, or with those that are named. On the emulation,
# whose environment says what there is; the bits are those of the CPU.
#   distributed_gpu.sh COMMAND PROJECT MPIEXEC OPTION_FOR_THE_NUMBER
source "$(dirname "$0")/over.sh" "$@" || exit 1
gpus() { # how many there are, for all that follows
    export DISTMAP_EMULATION_DEVICES=$1
}
same() { # ranks, device; then arguments: the files of one rank on the CPU
    rm -rf want
    mkdir want
    "${mpiexec[@]}" 1 "$distmap" edt in.npy -o want/d.npy --index want/i.npy "${@:3}" --distributed --quiet || exit 1
    over "$1" in.npy -o out/d.npy --index out/i.npy --device "$2" "${@:3}" --json
    check "$1 ranks, $DISTMAP_EMULATION_DEVICES GPUs, --device ${*:2} ($(tr '\n' ' ' <stderr)): status" equal "$status" 0
    check "... the same files, and no other" diff -r want out
    check "... by a GPU" grep -q '"device": "cuda"' stdout
}

make_volume in.npy '9, 20, 33' $((9 * 20 * 33))
gpus 1
same 1 cuda --sites 7
same 3 cuda:0 --sites 7 --metric squared
same 2 cuda --sites 7 --axes 1,2
over_fails 2 1 "rank 1: .*ordinal is 1, must be 0 to 0" in.npy -o out/d.npy --device cuda:0,1
over_fails 3 1 ".*ordinal is 1, must be 0 to 0" in.npy -o out/d.npy --device cuda:1
gpus 2
same 3 cuda --sites 7 --border
same 3 cuda:1,0 --sites 7 --spacing 0.7
make_volume in.npy '40, 70' $((40 * 70))
same 3 cuda --sites 7 --limit 9
gpus 0
over_fails 2 1 "device cuda: the NVIDIA driver finds no GPU" in.npy -o out/d.npy --device cuda

finish
