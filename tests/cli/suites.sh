# bench --suite: each paper's tables, small. Cells that a GPU is needed for are there and say so.
source "$(dirname "$0")/checks.sh" "$@" || exit 1

count() { grep -c "$1" "$work/stdout"; }

for suite in man-edm pba psds erosion esf; do
    production=minplus checked='[a-z]*/cpu'
    [[ $suite == esf ]] && production=esf checked='(esf/cpu( kernel=serial)?|residual)'
    run bench --suite $suite --quick --device cpu --seed 5 --json
    check "$suite: status" equal "$status" 0
    check "$suite: says which" equal "$(count "\"suite\": \"$suite\"") $(count '"quick": true') $(count '"seed": 5')" "1 1 1"
    timed=$(count '"state": "timed"') none=$(count '"state": "unsupported"')
    check "$suite: cells are counted" equal "$(count "\"timed\": $timed,\$") $(count "\"not_timed\": $none,\$")" "1 1"
    check "$suite: some cells of either kind" test "$timed" -gt 10 -a "$none" -gt 10
    check "$suite: none is wrong" equal "$(count '"wrong": 0')" 1
    check "$suite: what is not timed says why" equal "$(count '"reason": "needs a GPU')" "$none"
    check "$suite: the production method stands beside" equal \
        "$(count '"production_wins"') $(count "^        \"method\": \"$production/cpu\"")" "$timed $timed"
    check "$suite: results are checked" equal "$(grep -cE "\"checked_against\": \"$checked\"" stdout)" "$timed"
done

# Edge strengths: one solver gives what all others must give; at rest the residual is told, and is small enough.
run bench --suite esf --quick --device cpu --seed 5 --json
check "esf: 10 steps, 40 steps, at rest, each with and without a GPU" equal \
    "$(count '"steps": 10,') $(count '"steps": 40,') $(count '"steps": null')" "18 54 8"
check "esf: the production method is compared with the serial one, the others with that" equal \
    "$(count '"checked_against": "esf/cpu"') $(count '"checked_against": "esf/cpu kernel=serial"')" "8 32"
check "esf: at rest residuals are small enough" equal \
    "$(grep -A 2 '"tolerance": [0-9]' stdout | awk '$1 == "\"residual\":" && $2 > 0 && $2 <= 1.05e-5' | wc -l)" 4

# Cells by their names.
run bench --suite erosion --quick --device cpu --seed 5 --json --only "img2, 1D-LZ-CPU"
check "--only: two sizes of one row" equal "$(count '"row": "1D-LZ-CPU"') $(count '"table"')" "2 2"
run bench --suite erosion --quick --device cpu --seed 5 --json --only 512^2 --without CPU
check "--without: none of the CPU's" equal "$(count 'CPU"') $(count '"column": "1024^2')" "0 0"
check "--without: the others are there" test "$(count '"column": "512^2 img1"')" -gt 5
refuses 2 "--only needs --suite" bench --only PBA
refuses 2 "--without needs --suite" bench --without PBA

# After a warm-up, the median: of three runs at least, between the least and the most.
run bench --suite erosion --quick --device cpu --seed 5 --json --only Eggers
check "runs: three at least, warmed up" equal "$(grep -cE '"runs": ([3-9]|1[0-9]|20),' stdout) $(count '"warmed_up": true')" "12 12"
check "runs: the median lies between" equal "$(awk '/"seconds":/ {s = $2 + 0} /"least_seconds":/ {l = $2 + 0}
    /"most_seconds":/ {n += l <= s && s <= $2 + 0} END {print n}' stdout)" 12
check "a record says when it was made" equal "$(grep -cE '"date": "20[0-9-]+T[0-9:]+Z"' stdout)" 1

run bench --suite erosion --quick --seed 5 -o out/e.json
check "-o: status" equal "$status" 0
check "-o: JSON, whole" matches "$(tr -d ' \n' <out/e.json)" '^\{"suite":"erosion",.*"cells":\[.*\]\}$'
check "-o: the table is printed too" matches "$(cat stdout)" "Table 1 +512\^2 img1 +Eggers-CPU +[0-9.]+ ms.*minplus/cpu +[0-9.]+ ms: [0-9.]+ x"
check "-o: only that is left" equal "$(ls -A out)" "e.json"
run bench --suite man-edm --quick --threads 3 --json --quiet
check "--threads: one, two, all" equal "$(count '"row": "CPU"') $(count '"row": "CPU, 2 threads"') $(count '"row": "CPU, 3 threads"')" "16 2 2"
check "--quiet: nothing on stderr" equal "$(cat stderr)" ""

# Cut off, it leaves what it has, and says so.
rm -rf out && mkdir out
"$distmap" bench --suite pba -o out/part.json >stdout 2>stderr &
for ((i = 0; i < 600; i++)); do
    grep -q " x$" stdout && break # a cell was timed
    sleep 0.1
done
kill -TERM $!
wait $!
check "cut off: status" equal $? 143
check "cut off: the report says so" grep -q '"whole": *false' out/part.json
check "cut off: with the cells that were done" grep -q '"state": *"timed"' out/part.json
run bench --suite erosion --quick --json
check "not cut off: the report says so" equal "$(count '"whole": true')" 1

# The same sites wherever the figures come from: the seed decides.
for pattern in even points regions objects strapwork; do
    run bench --patterns $pattern --sizes 70 --densities 0.1 --methods minplus/cpu --repeat 1 --seed 3
    check "pattern $pattern" matches "$(cat stdout)" "^minplus/cpu +70 x 70 +$pattern"
    run bench --patterns $pattern --volumes 20 --densities 0.1 --methods minplus/cpu --repeat 1 --seed 3
    check "pattern $pattern in a volume" matches "$(cat stdout)" "^minplus/cpu +20 x 20 x 20 +$pattern"
done

refuses 2 "--suite: there is no suite 'magic'; there are man-edm, pba, psds, erosion, esf, cluster" bench --suite magic
refuses 2 "--quick needs --suite" bench --quick
refuses 2 "--suite chooses what is measured" bench --suite pba --sizes 64
refuses 2 "--suite chooses what is measured" bench --suite pba --methods pba/cuda
refuses 2 "--suite chooses what is measured" bench --suite psds --repeat 3
refuses 2 "--suite is given twice" bench --suite pba --suite psds
refuses 1 "out: is a folder, not a file" bench --suite erosion --quick -o out
refuses 1 "none/e.json: cannot create a file in folder none/: No such file or directory" bench --suite erosion --quick -o none/e.json
finish
