# Tuned parameters: searched, stored, used, overridden; and whatever may be wrong with the cache.
source "$(dirname "$0")/checks.sh" "$@" || exit 1
cache=$XDG_CACHE_HOME/distmap
file=$cache/tuned.json
{
    printf 'P5 256 256 255\n'
    head -c 65536 "$data/retina.jpg"
} >image.pgm

flat() { tr -d ' \n' <"$1"; }
edt() { run edt image.pgm -o out/d.npy --json "$@"; }
uses() { # what, pattern in the report's parameters; then options: the run works, and nothing is said of the cache
    local what=$1 pattern=$2
    shift 2
    edt --quiet "$@"
    check "$what: status" equal "$status $(cat stderr)" "0 "
    check "$what: $pattern" matches "$(flat stdout)" "\"params\":\{[^}]*$pattern"
}
entry() { # number of axes, size class, tile: as `tune` makes them, of this device and version
    printf '{"device": "%s", "version": "%s", "method": "psds/cpu", "axes": %s, "size_class": %s, "params": {"tile": %s}}' \
        "$model" "$version" "$@"
}
store() { printf '{"format": 1, "entries": [%s]}' "$(IFS=,; echo "$*")" >"$file"; }

model=$("$distmap" devices | sed -n 's/^cpu  //p')
version=$("$distmap" --version | sed 's/.* //')
by_default='"tile":\{"value":768,"from":"default"\}'

# Without a cache there are the defaults, and reading makes no folder.
uses "no cache" "$by_default" --method psds/cpu
check "no cache: nor is one made" test ! -e "$XDG_CACHE_HOME"

# Searching. Where sites are few, erosions with sequential passes take a fraction of the time of those in two dimensions, the
# default.
run tune --method erosion/cpu --sizes 256 --densities 0.0001 --repeat 3 --seed 7 --json
check "tune: status" equal "$status" 0
check "tune: the report" matches "$(flat stdout)" "^\{\"file\":\"$file\",\"device\":.*,\"seed\":7,\"results\":\[\{"
check "tune: another kernel is faster" matches "$(flat stdout)" '"params":\{"kernel":"1d(-lz)?","tile":[0-9]+,"steps":[0-9]+\}'
check "tune: says so" matches "$(cat stderr)" "seed 7, .*stored in $file"
check "tune: alone in its folder" equal "$(ls -A "$cache")" tuned.json
found=$(flat stdout | grep -o '"params":{[^}]*}')
check "tune: stored" matches "$(flat "$file")" \
    "\"version\":\"$version\",\"method\":\"erosion/cpu\",\"axes\":2,\"size_class\":16,\"shape\":\[256,256\],\"params\""
check "tune: stored as told" grep -qF "$found" <<<"$(flat "$file")"
kernel=$(sed 's/.*"kernel":\("[^"]*"\).*/\1/' <<<"$found")
uses "tuned" "\"kernel\":\{\"value\":$kernel,\"from\":\"tuned\"\}" --method erosion/cpu
cp out/d.npy tuned.npy
uses "--no-tuned" '"kernel":\{"value":"2d","from":"default"\}' --method erosion/cpu --no-tuned
check "--no-tuned: the same map" cmp tuned.npy out/d.npy
uses "--param" '"kernel":\{"value":"2d","from":"given"\},"tile":\{"value":[0-9]+,"from":"tuned"\}' \
    --method erosion/cpu --param kernel=2d
uses "another method" "$by_default" --method psds/cpu
uses "no method" '' # the fastest, which has none
run voronoi image.pgm -o out/v.npy --json --quiet
check "voronoi tells its parameters" matches "$(flat stdout)" '"params":\{'
run bench --methods erosion/cpu --sizes 256 --densities 0.5 --patterns random --repeat 1 --json --quiet
check "bench uses it" matches "$(flat stdout)" "\"kernel\":\{\"value\":$kernel,\"from\":\"tuned\"\}"
run bench --methods erosion/cpu --sizes 256 --densities 0.5 --patterns random --repeat 1 --json --quiet --no-tuned
check "bench --no-tuned" matches "$(flat stdout)" '"kernel":\{"value":"2d","from":"default"\}'

# Another method is added, the same one anew takes the place of the old.
run tune --method psds/cpu --sizes 256 --quick
check "a second method: a line on stdout" matches "$(cat stdout)" "^psds/cpu +256 x 256 +tile=[0-9]+ .* ms, [0-9.]+x"
check "a second method: both are there" equal "$(grep -c '"method"' "$file")" 2
run tune --method erosion/cpu --param kernel=1d --param steps=2 --sizes 250 --quick
check "held values are kept" matches "$(cat stdout)" "kernel=1d tile=[0-9]+ steps=2 "
check "the same size class: in its place" equal "$(grep -c '"method"' "$file")" 2
uses "held values are stored" '"kernel":\{"value":"1d","from":"tuned"\},.*"steps":\{"value":2,' --method erosion/cpu
run tune --method psds/cpu --sizes 64 --quick --quiet
check "another size class: beside it" equal "$(grep -c '"method"' "$file") $(cat stdout stderr)" "3 "

# Who stores waits for whoever has the folder locked, and then adds to what is there.
rm "$file"
exec 9<"$cache"
flock 9
"$distmap" tune --method psds/cpu --sizes 16 --quick --quiet 9<&- &
"$distmap" tune --method psds/cpu --sizes 64 --quick --quiet 9<&- &
sleep 1
check "locked: nothing is written" equal "$(ls -A "$cache")" ""
exec 9<&-
wait
check "unlocked: all is stored" equal "$(grep -c '"method"' "$file") $(ls -A "$cache")" "2 tuned.json"

# Which entry: as many axes, the nearest size, the smaller of two, not beyond 16 times.
tile() { echo "\"tile\":\{\"value\":$1,\"from\":\"tuned\"\}"; }
store "$(entry 2 17 102)" "$(entry 2 15 100)" "$(entry 2 18 103)" "$(entry 1 16 104)"
uses "the smaller of two as near" "$(tile 100)" --method psds/cpu
store "$(entry 2 14 100)" "$(entry 2 17 102)"
uses "the nearest" "$(tile 102)" --method psds/cpu
store "$(entry 2 12 100)"
uses "16 times as large" "$(tile 100)" --method psds/cpu
store "$(entry 2 21 101)" "$(entry 2 11 100)"
uses "beyond" "$by_default" --method psds/cpu
store "$(entry 2 16 100 | sed 's/"version": "/&x/')" "$(entry 2 16 101 | sed 's/"device": "/&x/')"
uses "another version, another device" "$by_default" --method psds/cpu
store "$(entry 2 16 100)" "$(entry 3 16 101)"
make_npy image.npy '|u1' '4, 128, 128' "$(printf '\\1%.0s' {1..65536})"
run edt image.npy -o out/d.npy --axes 1,2 --method psds/cpu --json --quiet
check "batches keep the defaults" matches "$(flat stdout)" "$by_default"

# A cache that is none: told once, in one line, and ignored.
broken() { # what is wrong, pattern
    edt --method psds/cpu --sites zero
    check "$1: status" equal "$status" 0
    check "$1: told in one line" equal "$(grep -c "^distmap: $file: .*$2.*; ignored$" stderr) $(grep -c ^distmap: stderr)" "1 1"
    check "$1: ignored" matches "$(flat stdout)" "$by_default"
}
echo '{"format": 1, "entr' >"$file"
broken "half a file" "no file of tuned values"
run bench --methods psds/cpu,erosion/cpu --sizes 16,32 --densities 0.5 --patterns random --repeat 1
check "bench: told once" equal "$status $(grep -c ignored stderr)" "0 1"
: >"$file"
broken "an empty file" "no file of tuned values"
echo '[1]' >"$file"
broken "other JSON" "no file of tuned values"
echo '{"format": 2, "entries": []}' >"$file"
broken "another format" "no file of tuned values"
for value in 1 4097 '"many"' 2.5 null '{}'; do
    store "$(entry 2 16 "$value")"
    broken "tile $value" "values that a method does not take"
done
run bench --methods psds/cpu --sizes 256,300 --densities 0.5 --patterns random --repeat 1
check "bench: told once of values too" equal "$status $(grep -c ignored stderr)" "0 1"
store "$(entry 2 16 100 | sed 's/"tile"/"pile"/')"
broken "a parameter that is none" "values that a method does not take"
store 1 null '{"device": 1}' '[]' "$(entry '"2"' 16 100)"
uses "entries that are none" "$by_default" --method psds/cpu
rm "$file"
mkdir "$file"
broken "a folder" ""
rmdir "$file"
ln -s tuned.json "$file"
broken "a link to itself" "[Ss]ymbolic"
rm "$file"
echo rubbish >"$file"
run tune --method psds/cpu --sizes 200 --quick
check "tune: puts a good file in its place" equal "$status $(grep -c ignored stderr)" "0 1"
uses "and it is good" '"from":"tuned"' --method psds/cpu --sites nonzero

# Where nothing can be stored: said before anything is searched.
cannot() { refuses 1 "$@" tune --method psds/cpu --sizes 16 --quick --quiet; }
XDG_CACHE_HOME=/proc cannot "/proc/distmap/tuned.json: cannot write: "
XDG_CACHE_HOME=$work/image.pgm cannot "$work/image.pgm/distmap/tuned.json: cannot write: Not a directory"
rm "$file"
mkdir "$file"
cannot "$file: is a folder, not a file"
rmdir "$file"
XDG_CACHE_HOME=relative HOME= cannot "no folder for tuned values"
XDG_CACHE_HOME=relative HOME=$work/home run tune --method psds/cpu --sizes 16 --quick
check "without XDG_CACHE_HOME: below HOME" test -s home/.cache/distmap/tuned.json
store $(for i in {1..20}; do entry 2 $((i + 20)) 100 | tr -d ' '; echo; done)
before=$(cksum <"$file")
largest_file=1 cannot "$file: cannot write: File too large"
check "a full disk: the cache is as it was" equal "$(cksum <"$file") $(ls -A "$cache")" "$before tuned.json"

# Interrupted: what was there stays as it was.
store "$(entry 2 16 100)"
before=$(cksum <"$file")
timeout --preserve-status -s INT -k 20 1 "$distmap" tune --method erosion/cpu --sizes 2048 2>stderr
check "Ctrl-C: status" equal "$?" 130
check "Ctrl-C: the cache is as it was" equal "$(cksum <"$file") $(ls -A "$cache")" "$before tuned.json"

# Command lines that are wrong.
refuses 2 "--method: there is no method 'magic/cpu'" tune --method magic/cpu
refuses 2 "--method: brute/cpu has no parameters to tune" tune --method brute/cpu
refuses 2 "--param: psds/cpu has no parameter 'pile'" tune --method psds/cpu --param pile=3
refuses 2 "--param: tile is 1, must be 2 to 4096" tune --method psds/cpu --param tile=1
refuses 2 "--param: kernel is '3d'" tune --method erosion/cpu --param kernel=3d
refuses 2 "--param needs --method" tune --param tile=3
refuses 2 "tune takes no argument" tune image.pgm
refuses 2 "--sizes: 1 is" tune --sizes 1
refuses 2 "--volumes: 1 is" tune --volumes 1
refuses 1 "psds/cpu needs planes" tune --method psds/cpu --volumes 8 --quiet
refuses 1 "there is nothing to tune" tune --device cpu --volumes 8 --quiet

finish
