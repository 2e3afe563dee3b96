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
lines <"$project/docs/command.md" >guide
lines <"$project/python/distmap/__init__.py" >package
for text in header manual guide package; do
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
    warns values "values.pgm: is read as a mask, but has more than two values \(1, 0, 2, ...\): say what they mean by --threshold" $subcommand values.pgm
done
warns values "values.npy: is read as a mask, but has more than two values \(0, 1, 2, ...\)" voronoi values.npy
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

warns threshold "--threshold: 300 is above every uint8 value: no element of mask.pgm reaches it" edt mask.pgm --threshold 300
run edt full.pgm -o out/d.npy --threshold -1
check "a threshold below the type" matches "$(cat stderr)" "--threshold: -1 is below every uint8 value: every element of full.pgm reaches it.*no site at all"
works "the type's largest value is within it" edt mask.pgm -o out/d.npy --threshold 255 --strict
for options in "300,1" "1,300"; do
    run compare mask.pgm mask.pgm --threshold $options --json --quiet
    check "compare --threshold $options" matches "$(tr -s ' \n' ' ' <stdout)" '"about": "threshold", "text": "--threshold: 300 .*"about": "no-site"'
done
run compare mask.pgm values.pgm --strict
check "compare: the second file" equal "$status $(grep -c 'values.pgm: is read as a mask' stderr)" "3 1"

if "$distmap" --help | grep -q zarr; then
    mkdir -p degrees.zarr
    printf '{"zarr_format": 2, "shape": [2, 3], "chunks": [2, 3], "dtype": "|u1", "compressor": null, "fill_value": 0, "order": "C", "filters": null}' >degrees.zarr/.zarray
    printf '{"spacing": [0.1, 0.1], "unit": "degree"}' >degrees.zarr/.zattrs
    printf '\1\1\1\1\0\1' >degrees.zarr/0.0
    warns geographic "degrees.zarr: its coordinates are longitudes and latitudes, so distances are in degrees" edt degrees.zarr
    works "a pitch given is one" edt degrees.zarr -o out/d.npy --spacing 30m --strict
    works "steps are steps" edt degrees.zarr -o out/d.npy --metric cityblock --strict
fi
# (MPI itself leaks.)
[[ ! -x $(dirname "$distmap")/distmap-mpi ]] || ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 refuses 2 "--distributed and --strict contradict" edt mask.pgm -o out/d.npy --distributed --strict


# ---- Elements without data ----

make_npy gaps.npy '|u1' '7,' '\0\1\1\xff\1\1\1'
gaps() { # what; values; then options
    works "$1" edt gaps.npy -o out/d.npy "${@:3}"
    check "$1: values" equal "$(npy_values out/d.npy f4)" "$2"
}
gaps "without a word 255 is an object" "0 1 2 3 4 5 6" --sites zero
gaps "no data: ignored" "0 1 2 255 4 5 6" --nodata-value 255 --strict
check "no data: said" matches "$(cat stderr)" "max 6, .*sites: zero, 1 of 7; no data: 255, 1 ignored"
gaps "no data: a site" "0 1 1 0 1 2 3" --nodata-value 255 --nodata site
check "no data: a site: said" matches "$(cat stderr)" "sites: zero, 2 of 7; no data: 255, 1 sites"
gaps "no data: an object" "0 1 2 3 4 5 6" --nodata-value 255 --nodata object
gaps "what is ignored has no distance to a site that it would be" "1 0 0 255 0 0 0" --nodata-value 255 --sites nonzero
gaps "--fill" "0 1 2 -1 4 5 6" --nodata-value 255 --fill -1 --sites zero
gaps "--fill nan" "0 1 2 nan 4 5 6" --nodata-value 255 --fill nan --sites zero
gaps "beyond the limit too" "0 1 2 -1 -1 -1 -1" --nodata-value 255 --fill -1 --limit 2 --quiet --sites zero
gaps "--fill alone" "0 1 2 -9999 -9999 -9999 -9999" --fill -9999 --limit 2 --quiet --sites zero
gaps "a value that no element has" "0 1 2 3 4 5 6" --nodata-value 77 --sites zero
check "a value that no element has: nothing is said" equal "$(grep -c 'no data' stderr)" 0
gaps "a threshold" "0 0 0 255 0 0 0" --nodata-value 255 --threshold 200 --quiet
works "the index of what is ignored" edt gaps.npy -o out/d.npy --nodata-value 255 --index out/i.npy --sites zero
check "the index of what is ignored is -1" equal "$(npy_values out/i.npy d4)" "0 0 0 -1 0 0 0"
works "integers that do not hold it" edt gaps.npy -o out/d.npy --nodata-value 255 --metric cityblock --dtype uint16 --fill 9 --sites zero
check "integers" equal "$(npy_values out/d.npy u2)" "0 1 2 9 4 5 6"
run edt gaps.npy -o out/d.npy --nodata-value -9999 --metric squared --sites zero --json --quiet
check "a value that the result does not hold: its largest says it" matches "$(tr -d ' \n' <stdout)" '"nodata":\{"value":-9999.0,"are":"ignored","count":0\},"fill":4294967295.0'
refuses 1 "--fill: uint32 cannot hold -1" edt gaps.npy -o out/d.npy --metric squared --fill -1 --sites zero
refuses 1 "--nodata: gaps.npy names no value for no data: give it by --nodata-value" edt gaps.npy -o out/d.npy --nodata site
refuses 2 "--nodata: 'none' is not one of ignore, site, object" edt gaps.npy -o out/d.npy --nodata none
refuses 2 "--fill: 'x' is not a number" edt gaps.npy -o out/d.npy --fill x
gaps "no data, signed" "-1 1 2 255 4 5 6" --nodata-value 255 --signed --sites zero
gaps "no data, negative inside" "1 -1 -2 255 -4 -5 -6" --nodata-value 255 --signed outside --sites zero
make_npy labels.npy '|u1' '9,' '\0\1\1\xff\1\2\2\xff\xff'
works "labels: no data" edt labels.npy -o out/d.npy --nodata-value 255 --labels --index out/i.npy
check "labels: to another label, and no gap is one" equal "$(npy_values out/d.npy f4) $(npy_values out/i.npy d4)" \
    "0 1 2 255 1 1 2 255 255 0 0 0 -1 5 4 4 -1 -1"
works "labels: no data is background" edt gaps.npy -o out/d.npy --nodata-value 255 --labels --nodata site
check "labels: values" equal "$(npy_values out/d.npy f4)" "0 1 1 0 1 2 3"
refuses 1 "--nodata object: labels.npy has 0 for no data, but 0 is the background of labels" \
    edt labels.npy -o out/d.npy --nodata-value 0 --nodata object --labels
for subcommand in "skeleton" "thickness" "morph --op erode --radius 1" "esf --rho 2 --steps 1"; do
    works "$subcommand: no data" $subcommand gaps.npy -o out/d.npy --nodata-value 255 --preview out/p.png
    check "$subcommand: no data: said" matches "$(cat stderr)" "; no data: 255, 1 ignored"
    works "$subcommand, no data being objects" $subcommand gaps.npy -o out/d.npy --nodata-value 255 --nodata object --sites zero
done
works "morph: no data" morph gaps.npy -o out/d.npy --nodata-value 255 --op erode --radius 1
check "morph: what is ignored erodes nothing" equal "$(npy_values out/d.npy u1)" "0 0 1 255 1 1 0"
refuses 1 "--dtype: bool has no value for no data, which gaps.npy has; use uint8" morph gaps.npy -o out/d.npy --nodata-value 255 --op erode --radius 1 --dtype bool
works "cvt: no data" cvt gaps.npy -o out/d.npy --nodata-value 255 --points 1 --labels out/l.npy
check "cvt: what has no data has no weight, and no point's number" matches "$(cat stderr) $(npy_values out/l.npy d4)" "1 elements of no weight for want of data.* 0 0 0 255 0 0 0"
refuses 1 "--fill: no element of gaps.npy is ignored" esf gaps.npy -o out/d.npy --fill 9 --rho 2 --steps 1
warns fill "out/d.npy: 1 elements have the distance 2, which also stands for none" edt gaps.npy --nodata-value 255 --fill 2 --sites zero
make_npy nan.npy '<f4' '4,' '\0\0\0\0\0\0\x80\x3f\0\0\xc0\x7f\0\0\x80\x3f'
works "NaN that means no data is no warning" edt nan.npy -o out/d.npy --nodata-value nan --strict
check "NaN that means no data" equal "$(npy_values out/d.npy f4)" "0 1 nan 3"
works "NaN that is a site" edt nan.npy -o out/d.npy --nodata-value nan --nodata site --strict
check "NaN that is a site" equal "$(npy_values out/d.npy f4)" "0 1 0 1"

make_npy spread.npy '|u1' '9,' '\0\5\0\xff\0\0\7\0\0'
make_npy meet.npy '|u1' '9,' '\0\5\0\xff\7\10\0\7\0'
works "voronoi: no data" voronoi spread.npy -o out/v.npy --nodata-value 255 --index out/i.npy
check "voronoi: what is ignored spreads nothing" equal "$(npy_values out/v.npy u1) $(npy_values out/i.npy d4)" \
    "5 5 5 255 7 7 7 7 7 1 1 1 -1 6 6 6 6 6"
works "voronoi: boundaries are no gaps" voronoi meet.npy -o out/v.npy --nodata-value 255 --boundaries --fill 99
check "voronoi: boundaries" equal "$(npy_values out/v.npy u1)" "5 5 5 99 0 8 0 7 7"
works "voronoi: components" voronoi spread.npy -o out/v.npy --nodata-value 255 --components --fill -1
check "voronoi: components" equal "$(npy_values out/v.npy d4)" "1 1 1 -1 2 2 2 2 2"
run voronoi spread.npy -o out/v.npy --nodata-value 255 --nodata site
check "voronoi: no data is a site: said" matches "$(cat stderr)" "out/v.npy: 2 elements have the label 255, which also stands for none"
check "voronoi: no data is a site" equal "$(npy_values out/v.npy u1)" "5 5 5 255 255 7 7 7 7"

make_npy a.npy '|u1' '8,' '\0\1\1\0\0\xff\1\0'
make_npy b.npy '|u1' '8,' '\0\1\1\0\0\1\1\0'
compared() { "$distmap" compare a.npy b.npy --json --quiet "$@" | tr -d ' \n' | grep -o '"elements":[^]]*\]'; }
check "compare: 255 is of the mask" equal "$(compared)" '"elements":[4,4]'
check "compare: what one ignores is in neither" equal "$(compared --nodata-value 255)" '"elements":[3,3]'
check "compare: no data is no site" equal "$(compared --nodata-value 255 --nodata object)" '"elements":[3,4]'
check "compare: no data, by a threshold" equal "$(compared --nodata-value 255 --threshold 1)" '"elements":[3,3]'
refuses 1 "--nodata: neither file names a value" compare a.npy b.npy --nodata site

# Out of core, of planes, volumes and batches: the same bytes, in place and in order.
python3 - <<'PY' || exit 1
import random, sys
seed = random.randrange(1 << 32)
print(f"seed {seed}", file=sys.stderr)
random.seed(seed)
for name, shape in (("plane", (900, 700)), ("volume", (60, 90, 110)), ("batch", (5, 300, 200))):
    count = 1
    for n in shape:
        count *= n
    data = bytes(random.choices((0, 1, 9), (1, 60, 9), k=count))
    header = str({"descr": "|u1", "fortran_order": False, "shape": shape})
    with open(f"{name}.npy", "wb") as file:
        file.write(b"\x93NUMPY\x01\x00\x76\x00" + header.ljust(117).encode() + b"\n" + data)
PY
for run in "plane " "volume " "batch --axes=2" "batch --axes=1,2" "volume --metric=squared" "volume --limit=1"; do
    name=${run%% *}.npy
    for nodata in "ignore" "site" "object" "ignore --fill=-2.5" "ignore --sites=nonzero"; do
        [[ $run != *squared* || $nodata != *fill* ]] || continue
        options="--nodata-value=9 --nodata=$nodata ${run#* }"
        "$distmap" edt $name -o want.npy --index wanti.npy $options --json --quiet >want.json 2>/dev/null
        "$distmap" edt $name -o got.npy --index goti.npy $options --memory 34M --json --quiet >got.json 2>/dev/null
        check "$name $options: out of core" cmp got.npy want.npy
        check "$name $options: out of core, sites" cmp goti.npy wanti.npy
        check "$name $options: out of core, what is said" equal "$(grep -E '"(max|count|fill)"' got.json)" "$(grep -E '"(max|count|fill)"' want.json)"
        rm want.npy wanti.npy got.npy goti.npy
    done
done
"$distmap" edt volume.npy -o want.nii --nodata-value 9 --quiet
"$distmap" edt volume.npy -o got.nii --nodata-value 9 --memory 34M --quiet
check "into NIfTI: out of core" cmp got.nii want.nii


# ---- Samples of pictures ----

python3 - <<'PY' || exit 1
import struct, zlib
def png(name, kind, depth, rows, palette=None, alpha=None):
    def chunk(tag, data):
        return struct.pack(">I", len(data)) + tag + data + struct.pack(">I", zlib.crc32(tag + data))
    width = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[kind] * depth // 8
    head = struct.pack(">IIBBBBB", len(rows[0]) // width, len(rows), depth, kind, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head)
    if palette:
        data += chunk(b"PLTE", bytes(sum(palette, ())))
    if alpha:
        data += chunk(b"tRNS", bytes(alpha))
    data += chunk(b"IDAT", zlib.compress(b"".join(b"\0" + bytes(row) for row in rows))) + chunk(b"IEND", b"")
    open(name, "wb").write(data)
png("labels.png", 3, 8, [[0, 1, 15, 15]], [(i, 2 * i, 255 - i) for i in range(16)])
png("clear.png", 3, 8, [[0, 1, 2, 1]], [(9, 9, 9), (0, 0, 255), (255, 255, 255)], [0, 100])
png("rgb.png", 2, 8, [[1, 2, 3, 40, 50, 60]])
png("rgba.png", 6, 8, [[1, 2, 3, 0, 40, 50, 60, 7]])
png("grey.png", 4, 8, [[100, 0, 200, 9]])
png("deep.png", 6, 16, [[0, 1, 1, 2, 3, 0, 4, 4]])
PY
printf 'P6 2 1 255\n\1\2\3\50\62\74' >rgb.ppm
printf 'P3 2 1 255\n1 2 3 40 50 60\n' >plain.ppm
printf 'P6 1 1 65535\n\0\1\1\2\3\0' >deep.ppm
sample() { # file, sample, values: what one sample of it is, by distances from all elements but those that are it
    local value=0
    for value in $3; do
        "$distmap" edt "$1" ${2:+--channel $2} -o d.npy --sites "$value" --metric squared --quiet 2>>"$work/trouble" || return 1
        [[ " $(npy_values d.npy u4) " == *" 0 "* ]] || { echo "     $1 $2: no $value"; return 1; }
    done
    equal "$("$distmap" info "$1" ${2:+--channel $2} | sed -n 's/^values *\(.*\), mean.*/\1/p')" \
        "$(tr ' ' '\n' <<<"$3" | sort -n | sed -n '1p;$p' | paste -sd' ' | sed 's/ / to /')"
}
check "labels by a palette are its indices" sample labels.png "" "0 1 15"
check "labels by a palette: indices spread" equal "$("$distmap" voronoi labels.png -o v.npy --quiet && npy_values v.npy u1)" "1 1 15 15"
check "labels by a palette: red" sample labels.png red "0 1 15"
check "labels by a palette: green" sample labels.png green "0 2 30"
check "labels by a palette: blue" sample labels.png blue "255 254 240"
check "labels by a palette: luma" sample labels.png luma "29 30 49"
check "labels by a palette: the sample is said" matches "$("$distmap" info labels.png)" "samples +index, luma, red, green, blue; this is index"
check "a palette with opacity: its opacity" sample clear.png alpha "0 100 255"
check "a palette with opacity: luma" sample clear.png luma "0 29 255"
check "a palette with opacity: red, whatever the opacity" sample clear.png red "9 0 255"
for file in rgb.png rgb.ppm plain.ppm rgba.png; do
    check "$file: red" sample $file red "1 40"
    check "$file: green" sample $file green "2 50"
    check "$file: blue" sample $file blue "3 60"
done
check "rgb.png: luma" sample rgb.png luma "2 48"
check "rgba.png: luma, 0 where it is transparent" sample rgba.png luma "0 48"
check "rgba.png: opacity" sample rgba.png alpha "0 7"
check "grey with opacity: grey" sample grey.png luma "0 200"
check "grey with opacity: opacity" sample grey.png alpha "0 9"
check "16 bits: red" sample deep.png red "1"
check "16 bits: opacity" sample deep.png alpha "1028"
check "16 bits: PPM" sample deep.ppm blue "768"
check "a JPEG: its channels differ" equal "$(for c in red green blue luma; do
    "$distmap" info "$data/retina.jpg" --channel $c | grep '^values'; done | sort -u | wc -l)" 4
for what in "rgb.png luma, red, green, blue" "rgba.png luma, red, green, blue, alpha" "grey.png luma, alpha" \
    "rgb.ppm luma, red, green, blue" "$data/retina.jpg luma, red, green, blue"; do
    file=${what%% *}
    for run in "edt" "edt --memory 1G" "cvt --points 3" "voronoi" "esf --rho 2 --steps 1"; do
        refuses 1 "${file##*/}: its elements have several samples: choose one by --channel \(${what#* }\)" ${run%% *} $file -o out/d.npy ${run#"${run%% *}"}
    done
    refuses 1 "several samples" compare $file $file
done
refuses 1 "rgb.png: its elements have no alpha; they have luma, red, green, blue" edt rgb.png -o out/d.npy --channel alpha
refuses 1 "mask.pgm: its elements have no red: they are numbers" edt mask.pgm -o out/d.npy --channel red
refuses 1 "--channel: rgb.png has no such axis; it has yx" edt rgb.png -o out/d.npy --channel 0
refuses 2 "--channel: 'purple' is not a number or one of luma, red, green, blue, alpha" edt rgb.png -o out/d.npy --channel purple
refuses 2 "--channel: -1 is out of range" edt rgb.png -o out/d.npy --channel=-1
works "the sample is said" edt rgb.png -o out/d.npy --channel red --threshold 9
check "the sample is said, in the line" matches "$(cat stderr)" "red, along y=1 x=2"
works "a picture in grey is its luma" edt mask.pgm -o out/d.npy --channel luma --strict

finish
