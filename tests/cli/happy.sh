# Every subcommand on small images with known answers and on the real ones.
source "$(dirname "$0")/checks.sh" "$@" || exit 1

# A 3 x 4 image with one zero, at row 1, column 1.
printf 'P5 4 3 255\n\1\1\1\1\1\0\1\1\1\1\1\1' >mask.pgm
# And with one 2, at row 2, column 3.
printf 'P5 4 3 255\n\1\1\1\1\1\0\1\1\1\1\1\2' >values.pgm

works "edt" edt mask.pgm -o out/d.npy
check "edt: distances" equal "$(npy_values out/d.npy f4)" \
    "1.4142135 1 1.4142135 2.236068 1 0 1 2 1.4142135 1 1.4142135 2.236068"
check "edt: says what it did" matches "$(cat stderr)" "^out/d.npy: 3 x 4 float32, max 2.23607, [0-9.e-]+ ms \(.*/cpu, .*threads?\)[^(]*along y=3 x=4; pitch 1, by default; sites: zero, 1 of 12$"
check "edt: only the output is left" equal "$(ls -A out)" "d.npy"

works "edt float64" edt mask.pgm -o out/d.npy --dtype float64 --quiet
check "edt float64: header" matches "$(npy_header out/d.npy)" "<f8.*\(3, 4\)"
check "edt --quiet: says nothing" equal "$(cat stderr)" ""

works "edt squared" edt mask.pgm -o out/d.npy --metric squared
check "edt squared: exact uint32" equal "$(npy_header out/d.npy | grep -o '<u4') $(npy_values out/d.npy u4)" \
    "<u4 2 1 2 5 1 0 1 4 2 1 2 5"
works "edt squared uint64" edt mask.pgm -o out/d.npy --metric squared --dtype uint64
check "edt squared uint64: values" equal "$(npy_values out/d.npy u8)" "2 1 2 5 1 0 1 4 2 1 2 5"

works "edt squared, wide spacing" edt mask.pgm -o out/d.npy --metric squared --spacing 100000
check "edt squared, wide spacing: uint64 by itself" matches "$(npy_header out/d.npy)" "<u8"
works "edt squared, real spacing" edt mask.pgm -o out/d.npy --metric squared --spacing 0.5,2
check "edt squared, real spacing: float64" equal "$(npy_values out/d.npy f8)" \
    "4.25 0.25 4.25 16.25 4 0 4 16 4.25 0.25 4.25 16.25"
works "edt one spacing for all" edt mask.pgm -o out/d.npy --metric squared --spacing 3
check "edt one spacing for all: values" equal "$(npy_values out/d.npy u4)" "18 9 18 45 9 0 9 36 18 9 18 45"

# Metrics that count steps.
steps() { # metric, what it gives, then further arguments
    works "edt $1" edt mask.pgm -o out/d.npy --metric "$1" "${@:3}"
    check "edt $1: values" equal "$(npy_header out/d.npy | grep -o '<u4') $(npy_values out/d.npy u4)" "<u4 $2"
}
steps cityblock "2 1 2 3 1 0 1 2 2 1 2 3"
steps chessboard "1 1 1 2 1 0 1 2 1 1 1 2"
steps chamfer:3,4 "4 3 4 7 3 0 3 6 4 3 4 7"
steps chamfer:5,7,11 "7 5 7 11 5 0 5 10 7 5 7 11" --index out/i.npy
check "edt chamfer: index" equal "$(npy_values out/i.npy d4)" "5 5 5 5 5 5 5 5 5 5 5 5"
works "edt cityblock --dtype uint16 --preview" edt mask.pgm -o out/d.png --metric cityblock --dtype uint16 --preview out/p.png
check "edt cityblock: a picture of 16 bits" matches "$("$distmap" info out/d.png)" "uint16"
run edt mask.pgm -o out/d.npy --metric chamfer:3,4 --json --quiet
check "edt --json: metric" matches "$(tr -d ' \n' <stdout)" '"metric":"chamfer:3,4".*"max":7.0.*"method":"chamfer/cpu"'

works "edt --index" edt mask.pgm -o out/d.npy --index out/i.npy
check "edt --index: all the one site" equal "$(npy_header out/i.npy | grep -o '<i4') $(npy_values out/i.npy d4)" \
    "<i4 5 5 5 5 5 5 5 5 5 5 5 5"
run edt mask.pgm -o out/d.npy --metric squared --axes x
check "edt --axes x: rows alone" equal "$(npy_values out/d.npy u4)" \
    "4294967295 4294967295 4294967295 4294967295 1 0 1 4 4294967295 4294967295 4294967295 4294967295"
cp out/d.npy by_name.npy
run edt mask.pgm -o out/d.npy --metric squared --axes 1
check "edt --axes 1 is --axes x" cmp out/d.npy by_name.npy
works "edt --border" edt mask.pgm -o out/d.npy --metric squared --border --index out/i.npy
check "edt --border: distances" equal "$(npy_values out/d.npy u4)" "1 1 1 1 1 0 1 1 1 1 1 1"
check "edt --border: the border is index -2, the site wins at equal distance" equal "$(npy_values out/i.npy d4)" \
    "-2 5 -2 -2 5 5 5 -2 -2 5 -2 -2"
works "edt --sites nonzero" edt mask.pgm -o out/d.npy --sites nonzero --metric squared
check "edt --sites nonzero: values" equal "$(npy_values out/d.npy u4)" "0 0 0 0 0 1 0 0 0 0 0 0"
works "edt --sites VALUE" edt values.pgm -o out/d.npy --sites 2 --metric squared
check "edt --sites VALUE: values" equal "$(npy_values out/d.npy u4)" "13 8 5 4 10 5 2 1 9 4 1 0"
for range in 1.5..2 1.5.. 2..7; do
    works "edt --sites $range" edt values.pgm -o out/d.npy --sites "$range" --metric squared
    check "edt --sites $range: values" equal "$(npy_values out/d.npy u4)" "13 8 5 4 10 5 2 1 9 4 1 0"
done
works "edt --sites ..0" edt mask.pgm -o out/d.npy --sites ..0 --metric squared
check "edt --sites ..0: values" equal "$(npy_values out/d.npy u4)" "2 1 2 5 1 0 1 4 2 1 2 5"
works "edt --threshold" edt values.pgm -o out/d.npy --threshold 2 --metric squared
check "edt --threshold 2: all but the 2 are sites" equal "$(npy_values out/d.npy u4)" "0 0 0 0 0 0 0 0 0 0 0 1"
works "edt --threshold --sites nonzero" edt values.pgm -o out/d.npy --threshold 2 --sites nonzero --metric squared
check "edt --threshold --sites nonzero: the 2 is the site" equal "$(npy_values out/d.npy u4)" "13 8 5 4 10 5 2 1 9 4 1 0"
works "edt --labels" edt values.pgm -o out/d.npy --labels --metric squared
check "edt --labels: to the nearest other label" equal "$(npy_values out/d.npy u4)" "2 1 2 4 1 0 1 1 2 1 1 1"
works "edt --labels --sites none" edt values.pgm -o out/d.npy --labels --sites none --metric squared
check "edt --labels --sites none: label 0 counts as any other" equal "$(npy_values out/d.npy u4)" "2 1 2 4 1 1 1 1 2 1 1 1"

# Signed: sites measure to what is none, negatively.
make_npy sides.npy '|u1' '5,' '\1\1\0\0\0'
works "edt --signed" edt sides.npy -o out/d.npy --signed --index out/i.npy --preview out/p.png
check "edt --signed: values" equal "$(npy_values out/d.npy f4)" "2 1 -1 -2 -3"
check "edt --signed: index of the nearest on the other side" equal "$(npy_values out/i.npy d4)" "2 2 1 1 1"
check "edt --signed: says both ends" matches "$(cat stderr)" "min -3, max 2,.*red below 0 and blue above it, up to 3"
works "edt --signed --surface half" edt sides.npy -o out/d.npy --signed --surface half --spacing 2 --sites nonzero
check "edt --signed --surface half: half a pitch less" equal "$(npy_values out/d.npy f4)" "-3 -1 1 3 5"
works "edt --signed --metric squared" edt sides.npy -o out/d.npy --signed --metric squared
check "edt --signed --metric squared: values" equal "$(npy_values out/d.npy f8)" "4 1 -1 -4 -9"

# A limit: what lies farther has no site, which is said once.
run edt mask.pgm -o out/d.npy --limit 1.5 --metric squared --index out/i.npy
check "edt --limit: status" equal "$status" 0
check "edt --limit: values" equal "$(npy_values out/d.npy u4)" "2 1 2 4294967295 1 0 1 4294967295 2 1 2 4294967295"
check "edt --limit: index -1 beyond" equal "$(npy_values out/i.npy d4)" "5 5 5 -1 5 5 5 -1 5 5 5 -1"
check "edt --limit: says so once" equal "$(grep -c 'no site within the limit' stderr)" 1

# No site at all.
printf 'P5 2 2 255\n\1\1\1\1' >full.pgm
run edt full.pgm -o out/d.npy
check "edt without sites: status" equal "$status" 0
check "edt without sites: infinity" equal "$(npy_values out/d.npy f4)" "inf inf inf inf"
check "edt without sites: says so once" equal "$(grep -c 'no site' stderr)" 1

# NaN is never a site, which is said once.
make_npy nan.npy '<f4' '3,' '\x00\x00\xc0\x7f\x00\x00\x00\x00\x00\x00\xc0\x7f'
run edt nan.npy -o out/d.npy
check "edt with NaN: values" equal "$(npy_values out/d.npy f4)" "1 0 1"
check "edt with NaN: says so once" equal "$(grep -c NaN stderr)" 1
run edt nan.npy -o out/d.npy --sites nonzero
check "edt with NaN: NaN is not nonzero" equal "$(npy_values out/d.npy f4)" "inf inf inf"

# Values below 0.
make_npy signed.npy '|i1' '4,' '\xff\x00\x01\x80'
works "edt --sites -1" edt signed.npy -o out/d.npy --sites -1 --metric squared
check "edt --sites -1: values" equal "$(npy_values out/d.npy u4)" "0 1 4 9"
works "edt --sites -128..-1" edt signed.npy -o out/d.npy --sites=-128..-1 --metric squared
check "edt --sites -128..-1: values" equal "$(npy_values out/d.npy u4)" "0 1 1 0"
works "edt --threshold -1" edt signed.npy -o out/d.npy --threshold -1 --metric squared
check "edt --threshold -1: values" equal "$(npy_values out/d.npy u4)" "9 4 1 0"

printf 'P5 5 2 255\n\7\0\0\0\3\0\0\0\0\0' >seeds.pgm
# Pictures: grey where there is no site, the darkest colour at sites, all tones of a slope, and lines on it.
picture() { # arguments of edt: luma of the preview, least to largest
    rm -f p.png
    "$distmap" edt "$@" -o d.npy --quiet --preview p.png 2>/dev/null
    "$distmap" info p.png --channel luma | sed -n 's/^values *\([0-9]* to [0-9]*\),.*/\1/p'
}
check "picture without sites: all grey" equal "$(picture full.pgm)" "128 to 128"
check "picture of sites alone: all of one dark colour" equal "$(picture full.pgm --sites nonzero)" "30 to 30"
{
    printf 'P5 900 30 255\n'
    for ((row = 0; row < 30; row++)); do printf '\0'; head -c 899 /dev/zero | tr '\0' '\1'; done
} >slope.pgm
check "picture of a slope: from the darkest to the lightest" equal "$(picture slope.pgm)" "30 to 215"
check "picture of a slope: its size" matches "$("$distmap" info p.png)" "shape +30 x 900,"
works "regions" voronoi seeds.pgm -o out/v.npy --components --preview out/p.png
check "regions: enlarged fourfold" matches "$("$distmap" info out/p.png)" "shape +8 x 20,"

# Pictures of lines, and of volumes with time.
works "preview of a line" edt signed.npy -o out/d.npy --sites zero --preview out/p.png
check "preview of a line: a strip" matches "$("$distmap" info out/p.png)" "shape +48 x "
make_npy movie.npy '|u1' '2, 3, 2, 2' '\1\1\1\0\1\1\1\1\1\1\1\0\1\1\1\1\1\0\1\1\1\1\1\1'
works "preview of four axes" edt movie.npy -o out/d.npy --axes 1,2,3 --metric squared --preview out/p.png
check "four axes, the first a batch: values" equal "$(npy_values out/d.npy u4)" \
    "2 1 1 0 3 2 2 1 2 1 1 0 2 1 3 2 1 0 2 1 2 1 3 2"
works "regions of four axes" voronoi movie.npy -o out/v.npy --axes 1,2,3 --sites zero --index out/i.npy --preview out/p.png
check "regions of four axes: nothing connects across the batch" matches "$(cat stderr)" "3 components"

# Empty arrays.
make_npy empty.npy '|u1' '0, 5' ''
works "edt of nothing" edt empty.npy -o out/d.npy
check "edt of nothing: shape" matches "$(npy_header out/d.npy)" "\(0, 5\)"

# Voronoi: labels, components, indices.
works "voronoi of labels" voronoi seeds.pgm -o out/v.npy --index out/i.npy
check "voronoi of labels: the first site wins ties" equal "$(npy_values out/v.npy u1)" "7 7 7 3 3 7 7 7 3 3"
check "voronoi of labels: the input's dtype" matches "$(npy_header out/v.npy)" "u1"
check "voronoi of labels: indices" equal "$(npy_values out/i.npy d4)" "0 0 0 4 4 0 0 0 4 4"
works "voronoi --boundaries" voronoi seeds.pgm -o out/v.npy --boundaries --preview out/p.png
check "voronoi --boundaries: the last before another region" equal "$(npy_values out/v.npy u1)" "7 7 0 3 3 7 7 0 3 3"
make_npy corner.npy '|u2' '3, 3' '\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\2\0'
works "voronoi --boundaries, both axes" voronoi corner.npy -o out/v.npy --boundaries
check "voronoi --boundaries: across and down" equal "$(npy_values out/v.npy u2)" "1 1 0 1 0 2 0 2 2"
works "voronoi --boundaries, one axis" voronoi corner.npy -o out/v.npy --boundaries --axes x --sites ..2
check "voronoi --boundaries: 0 is no region" equal "$(npy_values out/v.npy u2)" "1 0 0 0 0 0 0 0 2"
works "voronoi --components" voronoi seeds.pgm -o out/v.npy --components
check "voronoi --components: numbers by first element" equal "$(npy_values out/v.npy d4)" "1 1 1 2 2 1 1 1 2 2"
works "voronoi --threshold" voronoi seeds.pgm -o out/v.npy --threshold 5
check "voronoi --threshold: one component" equal "$(npy_values out/v.npy d4)" "1 1 1 1 1 1 1 1 1 1"
check "voronoi --threshold: says how many" matches "$(cat stderr)" "int32, 1 component,"
for dtype in uint8:u1 int16:d2 uint32:u4 uint64:u8 int64:d8; do
    works "voronoi --dtype ${dtype%:*}" voronoi seeds.pgm -o out/v.npy --components --dtype "${dtype%:*}"
    check "voronoi --dtype ${dtype%:*}: values" equal "$(npy_values out/v.npy "${dtype#*:}")" "1 1 1 2 2 1 1 1 2 2"
done
# Diagonals connect; a U is one group although its arms are met apart.
printf 'P5 5 3 255\n\1\0\1\0\1\1\0\1\0\0\0\1\0\0\1' >shape.pgm
works "voronoi of a U" voronoi shape.pgm -o out/v.npy --components
check "voronoi of a U: three groups" matches "$(cat stderr)" "3 components"
check "voronoi of a U: whose numbers are" equal "$(npy_values out/v.npy d4)" "1 1 1 1 2 1 1 1 1 2 1 1 1 3 3"
works "voronoi by rows" voronoi shape.pgm -o out/v.npy --components --axes x
check "voronoi by rows: nothing connects across" matches "$(cat stderr)" "7 components"

# Formats: what one writes the other reads, with spacing.
for ending in npy tif nii nii.gz; do
    works "edt to $ending" edt mask.pgm -o "out/d.$ending" --spacing 2,3
    check "$ending: shape and values come back" matches "$("$distmap" info "out/d.$ending" | tr '\n' ' ')" \
        "float32 .*3 x 4.*values +0 to 6.3245"
done
works "edt to nii" edt mask.pgm -o out/d.nii --spacing 2,3
check "nii keeps the spacing" matches "$("$distmap" info out/d.nii)" "spacing +2 x 3"
cp out/d.nii spaced.nii
run info spaced.nii --json
check "info --json: spacing" matches "$(tr -d ' \n' <stdout)" '"spacing":\[2.0,3.0\]'
works "edt uses the file's spacing" edt spaced.nii -o out/d.npy --sites zero --metric squared
check "edt uses the file's spacing: values" equal "$(npy_values out/d.npy u4)" "13 4 13 40 9 0 9 36 13 4 13 40"

# Standard input and output.
"$distmap" edt - -o - --quiet <mask.pgm >piped.npy 2>stderr
check "edt - -o -: values" equal "$(npy_values piped.npy f4)" \
    "1.4142135 1 1.4142135 2.236068 1 0 1 2 1.4142135 1 1.4142135 2.236068"
cat mask.pgm | "$distmap" edt - -o - --metric squared --quiet | "$distmap" info - --json | tr -d ' \n' >stdout
check "a pipe through two of them" matches "$(cat stdout)" '"max":5.0.*"zeros":1'

# JSON.
# Edge strengths.
printf 'P2\n9 5\n1\n0 0 0 0 0 0 0 0 0\n0 1 1 1 1 1 1 1 0\n0 1 1 1 1 1 1 1 0\n0 1 1 1 1 1 1 1 0\n0 0 0 0 0 0 0 0 0\n' >bar.pgm
works "skeleton" skeleton bar.pgm -o out/s.npy --preview out/p.png --method skeleton/cpu
check "skeleton: values" equal "$(npy_values out/s.npy u1 | tr -d ' ')" "$(printf %018d 0)001111100$(printf %018d 0)"
check "skeleton: the picture is one" matches "$("$distmap" info out/p.png)" "png"
run skeleton bar.pgm -o out/s.npy --dtype float32 --pruning constant --gamma 1 --border --spacing 2 --json --quiet
check "skeleton --json" matches "$(tr -d ' \n' <stdout)" \
    '"command":"skeleton".*"dtype":"float32","pruning":"constant","gamma":1.0,"marked":9,.*"method":"skeleton/'
check "skeleton: distances" equal "$(npy_values out/s.npy f4)" \
    "$(echo $(yes 0 | head -9) 0 2 0 0 0 0 0 2 0 0 0 4 4 4 4 4 0 0 0 2 0 0 0 0 0 2 0 $(yes 0 | head -9))"
printf 'P5 2 2 255\n\1\1\1\1' >solid.pgm
run skeleton solid.pgm -o out/s.npy
check "skeleton: no background is told" matches "$(cat stderr)" "there is no background"
works "thickness" thickness bar.pgm -o out/t.npy --preview out/p.png --method thickness/cpu
check "thickness: values" equal "$(npy_values out/t.npy f4)" \
    "$(echo $(yes 0 | head -9) $(yes 0 4 4 4 4 4 4 4 0 | head -3) $(yes 0 | head -9))"
check "thickness: the picture is one" matches "$("$distmap" info out/p.png)" "png"
check "thickness: says what it did" matches "$(cat stderr)" "^out/t.npy: 5 x 9 float32, max 4, .*thickness/"
run thickness bar.pgm -o out/t.npy --dtype float64 --sites nonzero --border --spacing 3.5 --json --quiet
check "thickness --json" matches "$(tr -d ' \n' <stdout)" '"command":"thickness".*"dtype":"float64","max":7.0,.*"method":"thickness/'
run thickness solid.pgm -o out/t.npy
check "thickness: no background is told" matches "$(cat stderr)" "there is no background.*infinite"
# Balls.
works "morph dilate" morph mask.pgm -o out/m.npy --sites zero --op dilate --radius 1.5 --preview out/p.png
check "morph dilate: what is within" equal "$(npy_header out/m.npy | grep -o '|b1') $(npy_values out/m.npy u1)" "|b1 1 1 1 0 1 1 1 0 1 1 1 0"
check "morph: the picture is one" matches "$("$distmap" info out/p.png)" "png"
check "morph: says what it did" matches "$(cat stderr)" "^out/m.npy: 3 x 4 bool, .*morphology/"
works "morph dilate by spacing" morph mask.pgm -o out/m.npy --sites zero --op dilate --radius 2 --spacing 1,2 --dtype uint8
check "morph dilate by spacing: values" equal "$(npy_header out/m.npy | grep -o '|u1') $(npy_values out/m.npy u1)" "|u1 0 1 0 0 1 1 1 0 0 1 0 0"
works "morph erode" morph mask.pgm -o out/m.npy --op erode --radius 1
check "morph erode: from hole and border" equal "$(npy_values out/m.npy u1)" "0 0 0 0 0 0 0 0 0 0 0 0"
works "morph erode --outside set" morph mask.pgm -o out/m.npy --op erode --radius 1 --outside set
check "morph erode --outside set: from the hole alone" equal "$(npy_values out/m.npy u1)" "1 0 1 1 0 0 0 1 1 0 1 1"
works "morph close" morph mask.pgm -o out/m.npy --op close --radius 1
check "morph close: the hole is" equal "$(npy_values out/m.npy u1)" "1 1 1 1 1 1 1 1 1 1 1 1"
run morph mask.pgm -o out/m.png --op open --radius 1 --outside set --json --quiet
check "morph --json" matches "$(tr -d ' \n' <stdout)" '"command":"morph".*"dtype":"bool","radius":1.0,"outside":true.*"method":"morphology/'
works "morph labels" morph values.pgm -o out/m.npy --labels --op erode --radius 1 --outside set --preview out/p.png
check "morph labels: each against all else" equal "$(npy_header out/m.npy | grep -o '|u1') $(npy_values out/m.npy u1)" "|u1 1 0 1 1 0 0 0 0 1 0 0 0"

# Two masks.
printf 'P2\n6 4\n9\n0 0 0 0 0 0 0 7 7 7 0 0 0 7 7 7 0 0 0 7 7 7 0 0\n' >a.pgm
printf 'P2\n6 4\n9\n0 0 0 0 0 0 0 0 7 7 7 0 0 0 7 7 7 0 0 0 7 7 7 4\n' >b.pgm
run compare a.pgm b.pgm --threshold 5,1 --percentiles 50,100 --tolerance 1 --preview out/p.png
check "compare: table" equal "$(tr -s ' ' <stdout)" " A to B B to A symmetric
Hausdorff 1 2 2
50% 0.5 1 1
100% 1 2 2
mean 0.5 0.666667 0.588235
rms 0.707107 0.942809 0.840168
on surface 8 9 17
within 1 8 8 16
surface Dice 0.941176, Dice 0.631579, Jaccard 0.461538"
check "compare: the picture is one" matches "$("$distmap" info out/p.png)" "png"
check "compare: says what it did" matches "$(cat stderr)" "^a.pgm, b.pgm: 4 x 6, .*comparison/"
run compare a.pgm b.pgm --points set --spacing 2,1 --threads 1 --json --quiet
check "compare --json" matches "$(tr -d ' \n' <stdout)" \
    '"command":"compare","input":"a.pgm","other":"b.pgm",.*"points":"set",.*"symmetric":.*"points":19,.*"hausdorff":2.0.*"elements":\[9,10\],"common":6,.*"method":"comparison/'
printf 'P5 6 4 255\n\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0' >none.pgm
run compare a.pgm none.pgm
check "compare: an empty mask" matches "$(tr -s ' ' <stdout) $(cat stderr)" "Hausdorff inf nan inf.*at least one mask is empty"
# Points.
printf 'P2\n4 3\n9\n9 9 9 9\n9 0 9 9\n9 9 9 9\n' >dark.pgm
works "cvt" cvt values.pgm -o out/p.npy --points 2 --steps 5 --labels out/l.npy --preview out/p.png
check "cvt: a list of places" matches "$(npy_header out/p.npy)" "<i4.*\(2, 2\)"
check "cvt: every element has a number" equal "$(npy_values out/l.npy d4 | tr ' ' '\n' | sort -u | tr -d '\n')" "01"
check "cvt: the picture is one" matches "$("$distmap" info out/p.png)" "png"
check "cvt: tells energies" matches "$(tr '\n' ' ' <stderr)" "step 0: energy .*step 5: energy .*out/p.npy: 2 points in 3 x 4, .*cvt/"
works "cvt --invert" cvt dark.pgm -o out/p.csv --points 1 --invert --quiet
check "cvt --invert: at the hole" equal "$(tr '\n' ' ' <out/p.csv)" "y,x,centroid_y,centroid_x 1,1,1,1 "
works "cvt to svg" cvt mask.pgm -o out/p.svg --points 3 --radius 0.25
check "cvt to svg: dots" equal "$(grep -c '<circle .* r="0.25"/>' out/p.svg) $(ls out)" "3 p.svg"
echo mine >out/p.csv.part
"$distmap" cvt mask.pgm -o out/p.csv --points 2 --quiet
check "cvt: other files keep what is theirs" equal "$(cat out/p.csv.part) $(grep -c . out/p.csv) $(ls out | tr '\n' ' ')" "mine 3 p.csv p.csv.part p.svg "
rm -f out/p.csv*
run cvt mask.pgm -o out/p.npy --points 2 --steps 1 --omega 1.5 --seed 7 --json --quiet
check "cvt --json" matches "$(tr -d ' \n' <stdout)" '"command":"cvt".*"points":2,"omega":1.5,"seed":7,"energies":\[[0-9.]+,[0-9.]+\],"method":"cvt/'

works "esf --steps" esf mask.pgm -o out/v.npy --sites zero --rho 1e9 --dt 0.125 --steps 1 --preview out/p.png
check "esf --steps: values" equal "$(npy_header out/v.npy | grep -o '<f4') $(npy_values out/v.npy f4)" \
    "<f4 0 0.125 0 0 0.125 1 0.125 0 0 0.125 0 0"
check "esf: the picture is one" matches "$("$distmap" info out/p.png)" "png"
run esf mask.pgm -o out/v.npy --sites zero --rho 2 --steady --tolerance 1e-6 --dtype float64 --json --quiet
check "esf --steady --json" matches "$(tr -d ' \n' <stdout)" \
    '"command":"esf".*"dtype":"float64","rho":2.0,"iterations":[0-9]+,"residual":[0-9.e-]+,"method":"esf/.*"unrest":false'
works "esf: the shape is what is not 0" esf mask.pgm -o out/v.npy --rho 2 --steps 9 --threads 2 --method esf/cpu --param kernel=plain
check "esf: which has no hole here" matches "$(npy_values out/v.npy f4)" "^1 1 1 1 1 0[.][0-9]* 1 1 1 1 1 1$"
printf 'P5 2 2 255\n\0\0\0\0' >none.pgm
run esf none.pgm -o out/v.npy --rho 2 --steady
check "esf: no shape is told" matches "$(cat stderr)" "there is no shape"
check "esf: no shape gives 0" equal "$(npy_values out/v.npy f4)" "0 0 0 0"

run edt mask.pgm -o out/d.npy --json --quiet
json=$(tr -d ' \n' <stdout)
for item in '"command":"edt"' '"input":"mask.pgm"' '"output":"out/d.npy"' '"shape":\[3,4\]' '"dtype":"float32"' \
    '"max":2.23606' '"method":"[a-z]+/cpu"' '"no_site":false' '"compute":[0-9.e-]+'; do
    check "edt --json has $item" matches "$json" "$item"
done
run edt mask.pgm -o out/d.npy --spacing 2.5,0.7 --json --quiet
check "edt --json: the unit of the pitches" matches "$(tr -d ' \n' <stdout)" '"spacing":\[2.5,0.7\],"pitch_unit":0.1,"multiples":\[25,7\],.*"method":"minplus/'
run edt mask.pgm -o out/d.npy --spacing 1,0.123456789 --json --quiet
check "edt --json: no unit" matches "$(tr -d ' \n' <stdout)" '"pitch_unit":null,"multiples":null,.*"method":"minplus/'
for command in "skeleton bar.pgm" "thickness bar.pgm" "morph bar.pgm --op dilate --radius 1" "voronoi bar.pgm" "cvt bar.pgm --points 2"; do
    run $command -o out/u.npy --spacing 0.65,1.3 --json --quiet
    check "$command --json: the unit of the pitches" matches "$(tr -d ' \n' <stdout)" '"pitch_unit":0.65,"multiples":\[1,2\]'
done
run compare a.pgm b.pgm --spacing 0.65 --json --quiet
check "compare --json: the unit of the pitches" matches "$(tr -d ' \n' <stdout)" '"pitch_unit":0.65,"multiples":\[1,1\]'
# What a map gives as a distance is within that limit.
run edt mask.pgm -o out/d.npy --dtype float64 --spacing 0.65 --limit 1.4534441853748632 # squared, it is below 0.65^2 5
check "edt --limit: 0.65 sqrt(5) itself is within" equal "$(npy_values out/d.npy f8 | tr ' ' '\n' | grep -c '^1[.]4534')" 2
run methods --json
check "methods --json: brute is there" matches "$(tr -d ' \n' <stdout)" '"name":"brute/cpu"'
run methods
for method in $(sed -n 's/^\([a-z]*\/cpu\) .*, distance, .*/\1/p' stdout); do
    metric=squared want="2 1 2 5 1 0 1 4 2 1 2 5"
    [[ $method == chamfer/cpu || $method == raster/cpu ]] && metric=cityblock want="2 1 2 3 1 0 1 2 2 1 2 3"
    works "edt --method $method" edt mask.pgm -o out/d.npy --method "$method" --metric $metric --threads 2
    check "edt --method $method: values" equal "$(npy_values out/d.npy u4)" "$want"
done
run devices
check "devices: threads" matches "$(cat stdout)" "cpu .*instruction set .* thread"
check "devices: a GPU, or why there is none" matches "$(tail -n 1 stdout)" "^(cuda none: .|     compute capability )"
run devices --json
check "devices --json" matches "$(tr -d ' \n' <stdout)" '^\[\{"name":"cpu".*"threads":[0-9]+'
check "devices --json: GPUs" matches "$(tr -d ' \n' <stdout)" '"name":"cuda(","missing":"|:0","model":")'
run info values.pgm
check "info" matches "$(tr -s ' \n' ' ' <stdout)" "format pgm .*dtype uint8 shape 3 x 4, axes yx spacing 1 x 1 axis y: space, 3 long, pitch not told, 1 axis x: space, 4 long, pitch not told, 1 values 0 to 2, .*zeros 1 of 12"
run info nan.npy
check "info counts NaN" matches "$(tr -s ' \n' ' ' <stdout)" "NaN 2"
run --version
check "--version" matches "$(cat stdout)" "^distmap [0-9]+\.[0-9]+\.[0-9]+$"
run --help
check "--help lists the subcommands" matches "$(tr '\n' ' ' <stdout)" "edt.*voronoi.*skeleton.*esf.*info.*methods.*devices.*bench.*tune"

# Bench: every pattern, both kinds, a seed that repeats.
run bench --sizes 65 --volumes 17 --densities 0.01 --repeat 1 --index --seed 7 -o out/bench.json
check "bench: status" equal "$status" 0
check "bench: every pattern, 2-D and 3-D" equal \
    "$(grep -o '^[^ ]* *[0-9x ]* *\(random\|corner\|lattice\|diagonal\|circle\|parabola\|blobs\)' stdout | awk '{print $NF}' | sort | uniq | wc -l)" 7
check "bench: says its seed" matches "$(cat stderr)" "seed 7,"
check "bench: JSON" matches "$(tr -d ' \n' <out/bench.json)" '"cpu":.*"seed":7.*"copy_gb_per_s":.*"ns_per_element":'

# The real ones, with pictures.
for file in horse.png coins.png page.png text.png retina.jpg mni152_gray_matter.nii.gz; do
    works "edt $file" edt "$data/$file" --channel luma -o out/d.npy --threshold 128 --preview out/p.png
    check "edt $file: the picture is one" matches "$("$distmap" info out/p.png)" "format +png"
    works "voronoi $file" voronoi "$data/$file" --channel luma -o out/v.npy --threshold 128 --index out/i.npy --preview out/p.png
    check "voronoi $file: the picture is one" matches "$("$distmap" info out/p.png)" "format +png"
done
run edt "$data/mni152_gray_matter.nii.gz" -o out/d.nii.gz --threshold 128 --json
check "the volume's axes and spacing" matches "$(tr -d ' \n' <stdout)" '"shape":\[189,233,197\],"axes":"zyx","spacing":\[1.0,1.0,1.0\]'

finish
