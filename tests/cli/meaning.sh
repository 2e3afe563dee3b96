# What elements mean, said and not guessed: sites and signs, warnings, elements without data, samples of pictures.
source "$(dirname "$0")/checks.sh" "$@" || exit 1

# ---- Sites by default, and signs ----

make_npy sides.npy '|u1' '5,' '\0\0\1\1\1'
signed() { # what; values; what is said to be positive; then options
    works "$1" edt sides.npy -o out/d.npy "${@:4}"
    check "$1: values" equal "$(npy_values out/d.npy f4)" "$2"
    check "$1: which side is positive" matches "$(cat stderr)" "; positive $3$"
}
signed "signed" "-2 -1 1 2 3" "inside the objects, negative outside" --signed
signed "signed inside" "-2 -1 1 2 3" "inside the objects, negative outside" --signed inside
signed "signed outside: negative inside" "2 1 -1 -2 -3" "outside the objects, negative inside" --signed outside
signed "signed=outside" "2 1 -1 -2 -3" "outside the objects, negative inside" --signed=outside
signed "the sites are the objects" "2 1 -1 -2 -3" "outside the objects, negative inside" --signed outside --sites nonzero
signed "the sites are the objects, inside" "-2 -1 1 2 3" "inside the objects, negative outside" --signed inside --sites nonzero
signed "the sites are the objects, off the sites" "2 1 -1 -2 -3" "outside the objects, negative inside" --signed --sites nonzero
signed "a threshold" "2 1 -1 -2 -3" "outside the objects, negative inside" --signed outside --threshold 1
refuses 2 "--signed=left: option does not take an argument" edt sides.npy -o out/d.npy --signed=left
refuses 2 "takes one input, but got" edt sides.npy -o out/d.npy --signed left
refuses 2 "--signed is given twice" edt sides.npy -o out/d.npy --signed --signed outside

lines() { tr -s ' ' | sed 's/^ *//; s/ *$//'; }
"$distmap" --help | sed -n '/^Sites by default/,/^$/{/^  /p}' | lines >table
check "the table of sites has a line for each" equal "$(wc -l <table)" 9
sed 's/^ \* *//' "$project/include/distmap.h" | lines >header
sed 's/\\-/-/g' "$project/docs/man/distmap.1" | lines >manual
lines <"$project/README.md" >readme
lines <"$project/python/distmap/__init__.py" >package
for text in header manual readme package; do
    check "the $text has the table" equal "$(grep -xFf table "$text")" "$(cat table)"
done
for subcommand in edt voronoi skeleton thickness morph compare esf pass; do
    check "$subcommand --help has it" equal "$("$distmap" $subcommand --help | lines | grep -xFf table)" "$(cat table)"
done

# ---- Warnings: said once, in --json, and status 3 with --strict ----

warns() { # about; pattern of the one line; then arguments, without an output: what is said, told to programs, and an error if asked
    local about=$1 pattern=$2
    shift 2
    run "$@" -o out/d.npy
    check "$about: $*: status" equal "$status" 0
    check "$about: $*: said once" equal "$(grep -cE "^distmap: .*$pattern" "$work/stderr") $(grep -c '^distmap:' "$work/stderr")" "1 1"
    run "$@" -o out/d.npy --json --quiet
    check "$about: $*: in --json" matches "$(tr -s ' \n' ' ' <"$work/stdout")" "\"warnings\": \[ \{ \"about\": \"$about\", \"text\": [^]]*$pattern"
    check "$about: $*: --quiet" equal "$(cat "$work/stderr")" ""
    refuses 3 "$pattern" "$@" -o out/d.npy --strict
    refuses 3 "$pattern" "$@" -o out/d.npy --strict --quiet --preview out/p.png
}
printf 'P5 3 2 255\n\1\1\1\1\0\2' >values.pgm
printf 'P5 3 2 255\n\1\1\1\1\0\1' >mask.pgm
printf 'P5 3 2 255\n\1\1\1\1\1\1' >full.pgm
make_npy values.npy '<f4' '4,' '\0\0\0\0\0\0\x80\x3f\0\0\0\x40\0\0\x80\x3f'
for subcommand in edt skeleton thickness "morph --op dilate --radius 1" "esf --rho 2 --steps 1"; do
    warns values "values.pgm: is taken for a mask, but has more than two values \(1, 0, 2, ...\): say what they are by --threshold" $subcommand values.pgm
done
warns values "values.npy: is taken for a mask, but has more than two values \(0, 1, 2, ...\)" voronoi values.npy
warns values "more than two values" edt values.npy
run edt "$data/coins.png" -o out/d.npy
check "a picture in grey is no mask, and has no zero" matches "$(cat stderr)" "coins.png: .*more than two values.*coins.png: there is no site at all.*no distance at all"
for options in "--sites zero" "--threshold 1" "--labels"; do
    works "no warning with $options" edt values.pgm -o out/d.npy $options --strict
done
works "no warning of a mask" edt mask.pgm -o out/d.npy --strict
works "nor of labels that spread" voronoi values.pgm -o out/d.npy --strict
run edt mask.pgm -o out/d.npy --json --strict --quiet
check "without a warning the list is empty" matches "$(tr -d ' \n' <stdout)" '"warnings":\[\]'

# Any type, order and stride; and seen where there are only a few among many.
python3 - <<'PY' || exit 1
import array, random, sys
seed = random.randrange(1 << 32)
print(f"seed {seed}", file=sys.stderr)
random.seed(seed)
codes = {"|u1": "B", "|i1": "b", "<u2": "H", "<i2": "h", "<u4": "I", "<i4": "i", "<u8": "Q", "<i8": "q", "<f4": "f", "<f8": "d"}
for i, (descr, code) in enumerate(codes.items()):
    for many in (False, True):
        shape = [random.randint(60, 90) for _ in range(3)]
        count = shape[0] * shape[1] * shape[2]
        values = array.array(code, (random.choice((0, 7)) for _ in range(count)))
        values[0] = 0
        if many:
            values[random.randrange(1, count)] = 1
        fortran = random.random() < 0.5
        header = str({"descr": descr, "fortran_order": fortran, "shape": tuple(shape)})
        with open(f"drawn{i}{'many' if many else 'two'}.npy", "wb") as file:
            file.write(b"\x93NUMPY\x01\x00\x76\x00" + header.ljust(117).encode() + b"\n" + values.tobytes())
PY
for file in drawn*two.npy; do
    run edt $file -o out/d.npy --strict --limit 99
    check "$file has two values" equal "$status" 0
done
for file in drawn*many.npy; do
    refuses 3 "more than two values \([017.]+, [017.]+, [017.]+, ...\)" edt $file -o out/d.npy --strict --limit 99
    refuses 3 "more than two values" edt $file -o out/d.npy --strict --memory 48M
done

warns no-site "full.pgm: there is no site at all among its 6 elements; they get infinity" edt full.pgm
check "no site: no largest distance" equal "$("$distmap" edt full.pgm -o d.npy --json --quiet | tr -d ' \n' | grep -o '"max":[^,]*')" '"max":null'
run edt full.pgm -o out/d.npy
check "no site: no max 0" matches "$(cat stderr)" "out/d.npy: 2 x 3 float32, no distance at all, .*sites: zero, 0 of 6"
for metric in squared cityblock; do
    run edt full.pgm -o out/d.npy --metric $metric
    check "no site, $metric: no max 0" matches "$(cat stderr)" "no distance at all"
done
run edt full.pgm -o out/d.npy --memory 48M
check "no site, out of core" matches "$(cat stderr)" "no site at all among its 6 elements.*no distance at all, .*sites: zero, 0 of 6"
run edt full.pgm -o out/d.npy --signed outside
check "no site, signed" matches "$(cat stderr)" "no site at all.*no distance at all"
run edt mask.pgm -o out/d.npy --memory 48M
check "sites out of core are counted" matches "$(cat stderr)" "max 1.41421.*sites: zero, 1 of 6"
run voronoi mask.pgm -o out/d.npy
check "sites of voronoi are counted" matches "$(cat stderr)" "sites: not zero, 5 of 6"
make_npy zeros.npy '|u1' '2, 2' '\0\0\0\0'
works "all sites: a largest distance of 0" edt zeros.npy -o out/d.npy --strict
check "all sites: said" matches "$(cat stderr)" "float32, max 0, "
works "a limit is no warning" edt mask.pgm -o out/d.npy --limit 0.5 --strict --quiet
warns no-site "there is no site at all" voronoi zeros.npy
warns no-site "there is no background at all" thickness full.pgm
warns no-site "there is no background at all" skeleton full.pgm
warns no-site "there is no shape at all" esf zeros.npy --rho 2 --steps 1

warns threshold "--threshold: 300 is above all that uint8 can be: no element of mask.pgm is >= it" edt mask.pgm --threshold 300
run edt full.pgm -o out/d.npy --threshold -1
check "a threshold below the type" matches "$(cat stderr)" "--threshold: -1 is below all that uint8 can be: every element of full.pgm is >= it.*no site at all"
works "the type's largest value is within it" edt mask.pgm -o out/d.npy --threshold 255 --strict
for options in "300,1" "1,300"; do
    run compare mask.pgm mask.pgm --threshold $options --json --quiet
    check "compare --threshold $options" matches "$(tr -s ' \n' ' ' <stdout)" '"about": "threshold", "text": "--threshold: 300 .*"about": "no-site"'
done
run compare mask.pgm values.pgm --strict
check "compare: the second file" equal "$status $(grep -c 'values.pgm: is taken for a mask' stderr)" "3 1"

if "$distmap" --help | grep -q zarr; then
    mkdir -p degrees.zarr
    printf '{"zarr_format": 2, "shape": [2, 3], "chunks": [2, 3], "dtype": "|u1", "compressor": null, "fill_value": 0, "order": "C", "filters": null}' >degrees.zarr/.zarray
    printf '{"spacing": [0.1, 0.1], "unit": "degree"}' >degrees.zarr/.zattrs
    printf '\1\1\1\1\0\1' >degrees.zarr/0.0
    warns geographic "degrees.zarr: its coordinates are longitudes and latitudes: distances are in degrees" edt degrees.zarr
    works "a pitch given is one" edt degrees.zarr -o out/d.npy --spacing 30m --strict
    works "steps are steps" edt degrees.zarr -o out/d.npy --metric cityblock --strict
fi
refuses 2 "--distributed and --strict contradict" edt mask.pgm -o out/d.npy --distributed --strict

finish
