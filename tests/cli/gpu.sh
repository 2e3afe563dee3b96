# The command and GPUs, on the emulation, whose environment says what there is.
source "$(dirname "$0")/checks.sh" "$@" || exit 1

printf 'P2\n4 3\n255\n 1 1 1 1\n 1 0 1 1\n 1 1 1 0\n' >mask.pgm
squared="2 1 2 4 1 0 1 1 2 1 1 0"

# edt_on WHAT PATTERN OPTIONS...: the map is right, and the line that the run gives matches.
edt_on() {
    local what=$1 pattern=$2
    shift 2
    works "$what" edt mask.pgm -o out/d.npy --metric squared "$@"
    check "$what: values" equal "$(npy_values out/d.npy u4)" "$squared"
    check "$what: report" matches "$(cat stderr)" "$pattern"
}
edt_on "--device cuda" "/cuda, sm_" --device cuda
edt_on "--device cuda:0" "/cuda, sm_" --device cuda:0
edt_on "--device auto" "/cuda, sm_" --device auto
edt_on "no --device" "/cuda, sm_"
edt_on "--device cpu" "/cpu, " --device cpu
edt_on "--method brute/cuda" "brute/cuda, sm_" --method brute/cuda
edt_on "--method brute/cpu" "brute/cpu, " --method brute/cpu
DISTMAP_EMULATION_DEVICES=2 edt_on "--device cuda:1" "/cuda, sm_" --device cuda:1
export DISTMAP_EMULATION_DEVICES=4
edt_on "--device cuda:0-3" "minplus/cuda, sm_" --device cuda:0-3
edt_on "--device cuda:2,0" "minplus/cuda, sm_" --device cuda:2,0
edt_on "--device cuda:3,0-1" "minplus/cuda, sm_" --device cuda:3,0-1 --method minplus/cuda
refuses 1 "ordinals\[2\] is 4, must be 0 to 3" edt mask.pgm -o out/d.npy --device cuda:2-4
refuses 1 "ordinals\[0\] and ordinals\[2\] are both 1" edt mask.pgm -o out/d.npy --device cuda:1,0-1
refuses 1 "no method accepts this problem over several GPUs" edt mask.pgm -o out/d.npy --device cuda:0-1 --border
refuses 1 "brute/cuda runs on one GPU" edt mask.pgm -o out/d.npy --device cuda:0,1 --method brute/cuda
refuses 2 "more than 16 GPUs" edt mask.pgm -o out/d.npy --device cuda:0-16
refuses 2 "'x' is not a whole number" edt mask.pgm -o out/d.npy --device cuda:0,x
refuses 2 "1 is out of range, must be 2 to" edt mask.pgm -o out/d.npy --device cuda:2-1
refuses 2 "an empty item" edt mask.pgm -o out/d.npy --device cuda:0,
refuses 2 "bench measures one GPU" bench --device cuda:0-1
refuses 2 "tune measures one GPU" tune --device cuda:0-1
unset DISTMAP_EMULATION_DEVICES
refuses 1 "ordinal is 1, must be 0 to 0" edt mask.pgm -o out/d.npy --device cuda:1
refuses 1 "brute/cpu runs on the device cpu, but this context is for cuda" edt mask.pgm -o out/d.npy --device cuda --method brute/cpu
refuses 1 "brute/cuda runs on the device cuda, but this context is for cpu" edt mask.pgm -o out/d.npy --device cpu --method brute/cuda

# The CPU steps in silently where the GPU was not asked for, and only there.
export DISTMAP_EMULATION_DEVICES=0
edt_on "auto without a GPU" "/cpu, " --device auto
refuses 1 "device cuda: the NVIDIA driver finds no GPU" edt mask.pgm -o out/d.npy --device cuda
refuses 1 "device cuda: the NVIDIA driver finds no GPU" edt mask.pgm -o out/d.npy --method brute/cuda
run devices
check "devices without a GPU" matches "$(tail -n 1 stdout)" "^cuda none: the NVIDIA driver finds no GPU"
unset DISTMAP_EMULATION_DEVICES
export DISTMAP_EMULATION_MEMORY=100
edt_on "auto with a small GPU" "/cpu, " --device auto
refuses 1 "the plan needs [0-9]+ bytes of device memory, .* but device cuda:0 has" edt mask.pgm -o out/d.npy --device cuda
unset DISTMAP_EMULATION_MEMORY
# After a fault nothing can be freed any more.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 DISTMAP_EMULATION_FAULT=1 \
    refuses 1 "this context is lost" edt mask.pgm -o out/d.npy --device cuda

# From file to file, a real picture: both devices write the same bytes.
for options in "edt --threshold 120 --index out/i.npy" "edt --labels" "voronoi --threshold 120 --index out/i.npy"; do
    run $options "$data/coins.png" -o out/map.npy --device cpu
    mv out cpu
    works "$options --device cuda" $options "$data/coins.png" -o out/map.npy --device cuda
    for file in cpu/*; do
        check "$options: ${file#cpu/}" cmp "$file" "out/${file#cpu/}"
    done
    rm -r cpu
done

run devices
check "devices" matches "$(tr '\n' ' ' <stdout)" "cuda:0  CUDA emulation.* compute capability 9.0.* 227 KiB of shared memory to a block, minplus/cuda runs"
DISTMAP_EMULATION_SHARED=65535 run devices
check "devices: too little shared memory" matches "$(tail -n 1 stdout)" "63 KiB of shared memory .*minplus/cuda does not run: .*needs .* 64 KiB"
run devices --json
check "devices --json" matches "$(tr -d ' \n' <stdout)" '"name":"cuda:0","model":".*","capability":"9.0".*"shared_bytes":232448,"minplus_cuda":true'
for kib in 99 64; do
    DISTMAP_EMULATION_SHARED=$((kib << 10)) edt_on "$kib KiB of shared memory" "minplus/cuda, sm_"
    edt_on "--param shared=$kib" "minplus/cuda, sm_" --method minplus/cuda --param shared=$kib
done
run bench --device cuda --sizes 64 --densities 0.01 --patterns random --repeat 1
check "bench --device cuda" matches "$(cat stdout)" "^[a-z]+/cuda "

# The papers' tables: GPU and CPU cells, all of them right.
for suite in erosion man-edm pba esf; do
    run bench --suite $suite --device cuda --quick --json
    check "bench --suite $suite: status" equal "$status" 0
    timed=$(grep -c '"state": "timed"' stdout)
    check "bench --suite $suite: every cell is timed" equal \
        "$(grep -c '"state"' stdout) $(grep -c '"not_timed": 0' stdout) $(grep -c '"wrong": 0' stdout)" "$timed 1 1"
    check "bench --suite $suite: beside the production method" equal "$(grep -c '"production_wins"' stdout)" "$timed"
    check "bench --suite $suite: transfers stand apart" test "$(grep -c '"upload"' stdout)" -gt 20
done
refuses 2 "--suite: there is no suite 'magic'" bench --suite magic --device cuda

# Tuning, by the time of kernels: the GPU's name is what values are found by, and both devices have theirs.
run tune --method pba/cuda --sizes 40 --quick --param m3=2
check "tune pba/cuda" matches "$status $(cat stdout)" "^0 pba/cuda +40 x 40 +m1=[0-9]+ m2=[0-9]+ m3=2 variant=pba"
run tune --device cpu --sizes 40 --quick --json
check "tune --device cpu" matches "$(tr -d ' \n' <stdout)" '"results":\[\{.*"method":"[a-z]+/cpu"'
check "methods of the CPU alone" equal "$(grep -c /cuda stdout)" 0
check "both are stored" equal "$(grep -c '"device":"CUDA emulation 0"' "$XDG_CACHE_HOME/distmap/tuned.json")" 1
run edt "$data/coins.png" -o out/d.npy --threshold 120 --method pba/cuda --json --quiet
check "too large for what was tuned: defaults" equal "$(tr -d ' \n' <stdout | grep -o '"from":"[a-z]*"' | sort -u)" '"from":"default"'
run edt mask.pgm -o out/d.npy --method pba/cuda --json --quiet
check "too small too" equal "$(tr -d ' \n' <stdout | grep -o '"from":"[a-z]*"' | sort -u)" '"from":"default"'
run bench --device cuda --methods pba/cuda --sizes 40 --densities 0.01 --patterns random --repeat 1 --json --quiet
check "bench uses it" matches "$(tr -d ' \n' <stdout)" '"m3":\{"value":2,"from":"tuned"\}'

# Tuned values that need more memory than there is: the defaults step in, and it is told.
head -c 65536 "$data/retina.jpg" | cat <(printf 'P5 256 256 255\n') - >image.pgm
pba="edt image.pgm -o out/d.npy --method pba/cuda"
needs() { run $pba --no-tuned --json --quiet "$@" && grep -o '"scratch_bytes": *[0-9]*' stdout | grep -o '[0-9]*$'; }
small=$(needs) large=$(needs --param variant=pba)
printf '{"format": 1, "entries": [{"device": "CUDA emulation 0", "version": "%s", "method": "pba/cuda", "axes": 2,
    "size_class": 16, "params": {"variant": "pba"}}]}' "$("$distmap" --version | sed 's/.* //')" >"$XDG_CACHE_HOME/distmap/tuned.json"
run $pba --json
check "enough memory: tuned" matches "$(tr -d ' \n' <stdout)" '"variant":\{"value":"pba","from":"tuned"\}'
DISTMAP_EMULATION_MEMORY=$(((small + large) / 2)) run $pba --json
check "not enough: defaults" matches "$status $(tr -d ' \n' <stdout)" '^0 .*"variant":\{"value":"pba\+","from":"default"\}'
check "not enough: told" equal "$(grep -c '^distmap: the values tuned for pba/cuda are not used: .*memory' stderr)" 1
finish
