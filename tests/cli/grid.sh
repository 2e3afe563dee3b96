# What files mean goes in and out: axes, pitches, units, the place in the world; and what is refused.
source "$(dirname "$0")/checks.sh" "$@" || exit 1

volume=$data/mni152_gray_matter.nii.gz
world() { "$distmap" info "$1" | sed -n '/^axis/p; /^world/,/RAS\|LPS\|unknown/p'; }

works "edt of a volume" edt "$volume" -o out/d.nii.gz --threshold 128
check "a result lies where its input lies" equal "$(world out/d.nii.gz)" "$(world "$volume")"
check "which is told" matches "$(world "$volume")" "x = -98 \+ 1 x.*y = -134 \+ 1 y.*z = -72 \+ 1 z.*RAS"
check "what was measured is told" matches "$(cat stderr)" "along z=189 y=233 x=197; pitch 1, by the file; sites: below 128, 7595690 of 8675289"
cp out/d.nii.gz d.nii.gz
works "out of core" edt "$volume" -o out/m.nii.gz --threshold 128 --memory 100M
check "out of core: the same file" cmp out/m.nii.gz d.nii.gz
works "with other pitches" edt "$volume" -o out/d.nii --threshold 128 --spacing z=2,y=1,x=0.5um
check "with other pitches: the matrix too" matches "$(world out/d.nii)" "z.*pitch 2 um.*y.*pitch 1 um.*x.*pitch 0.5 um.*x = -98 \+ 0.5 x.*y = -134 \+ 1 y.*z = -72 \+ 2 z"
check "with other pitches: they are echoed by names" matches "$(cat stderr)" "pitch z=2, y=1, x=0.5 um, by --spacing"
cp out/d.nii stretched.nii
works "a plain list is echoed by names" edt "$volume" -o out/d.nii --threshold 128 --spacing 0.325,0.325,1
check "a plain list is echoed by names: said" matches "$(cat stderr)" "pitch z=0.325, y=0.325, x=1, by --spacing"
for command in "voronoi --components" "skeleton" "morph --op erode --radius 2" "thickness" "esf --rho 3 --steps 2"; do
    works "$command" $command "$volume" -o out/r.nii --threshold 128
    check "$command: its place" equal "$(world out/r.nii)" "$(world "$volume")"
    rm out/r.nii
done

# An image written by hand: a header of NIfTI-1 with these fields, then zeros.
nifti() { # file, dim[], pixdim[], sform code, srow values; all elements 0 but the first
    python3 - "$@" <<'PY'
import struct, sys
name, dim, pixdim, code, rows = sys.argv[1:]
dim = [int(v) for v in dim.split()]
pixdim = [float(v) for v in pixdim.split()]
h = bytearray(352)
struct.pack_into("<i", h, 0, 348)
struct.pack_into("<8h", h, 40, len(dim), *(dim + [1] * (7 - len(dim))))
struct.pack_into("<2h", h, 70, 2, 8)
struct.pack_into("<8f", h, 76, 1, *(pixdim + [1] * (7 - len(pixdim))))
struct.pack_into("<3f", h, 108, 352, 1, 0)
h[123] = 2 | 8
struct.pack_into("<2h", h, 252, 0, int(code))
struct.pack_into("<12f", h, 280, *([float(v) for v in rows.split()] or [0] * 12))
h[344:348] = b"n+1\0"
count = 1
for v in dim:
    count *= v
open(name, "wb").write(bytes(h) + bytes([1]) + bytes(count - 1))
PY
}
identity="1 0 0 0 0 1 0 0 0 0 1 0"
nifti movie.nii "5 4 3 6" "1 1 1 0.5" 1 "$identity"
run edt movie.nii -o out/d.nii --sites nonzero
check "a movie: each time by itself" matches "$(cat stderr)" "along z=3 y=4 x=5, one for each t=6; pitch 1 mm, by the file; sites: not zero, 1 of 360"
check "a movie: times without a site have none" matches "$(cat stderr)" "some elements have no site"
check "a movie: its time's pitch" matches "$(world out/d.nii)" "axis +t: time, 6 long, pitch 0.5 s"
works "one time of it" edt movie.nii -o out/d.npy --sites nonzero --time 0 --metric squared
nifti still.nii "5 4 3" "1 1 1" 1 "$identity"
"$distmap" edt still.nii -o want.npy --sites nonzero --metric squared --quiet
check "one time of it: the same as alone" cmp out/d.npy want.npy
refuses 1 "--time: movie.nii has only 6 along t, counted from 0" edt movie.nii -o out/d.npy --time 6
refuses 1 "--channel: movie.nii has no such axis; it has tzyx" edt movie.nii -o out/d.npy --channel 0
refuses 1 "movie.nii: has 6 images along t, but compare takes one" compare movie.nii movie.nii
run compare movie.nii still.nii --time 0 # of one of the two
check "a time of what has none" one_line "--time: still.nii has no such axis"
nifti five.nii "5 4 3 1 2" "1 1 1 1 1" 1 "$identity"
works "five axes, one of them 1 long" edt five.nii -o out/d.nii
check "five axes: said" matches "$(cat stderr)" "along z=3 y=4 x=5, one for each c=2"
nifti many.nii "5 4 3 2 2" "1 1 1 1 1" 1 "$identity"
refuses 1 "many.nii: has 5 axes \(ctzyx\), but at most 4 are supported: choose by --time or --channel" edt many.nii -o out/d.nii
works "five axes, one time" edt many.nii -o out/d.nii --time 0
run info many.nii
check "info of five axes" matches "$(tr -s ' \n' ' ' <stdout)" "shape 2 x 2 x 3 x 4 x 5, axes ctzyx .* zeros 239 of 240"

# What a pass hands to the next one, whatever the file between them holds.
for ending in npy zarr; do
    [[ $ending == npy ]] || "$distmap" --help | grep -q zarr || continue
    "$distmap" pass movie.nii -o mid.$ending --axis y,x --time 0 --sites nonzero --shard 1/1 --quiet || exit 1
    "$distmap" pass mid.$ending -o last.$ending --axis z --shard 1/1 --quiet
    "$distmap" edt movie.nii -o whole.$ending --time 0 --sites nonzero --quiet
    check "passes by $ending: the same meaning" equal "$("$distmap" info last.$ending | grep '^[as][xp]')" \
        "$("$distmap" info whole.$ending | grep '^[as][xp]')"
done
"$distmap" info last.zarr 2>/dev/null | grep -q . && check "passes by Zarr: its unit" matches "$("$distmap" info last.zarr)" "axis +z: space, 3 long, pitch 1 mm"

# compare refuses what is not on one grid.
nifti shifted.nii "5 4 3" "1 1 1" 1 "1 0 0 20 0 1 0 0 0 0 1 0"
nifti wide.nii "5 4 3" "2 1 1" 1 "2 0 0 0 0 1 0 0 0 0 1 0"
nifti almost.nii "5 4 3" "1 1 1" 1 "1 0 0 0.00001 0 1 0 0 0 0 1 0"
nifti placeless.nii "5 4 3" "1 1 1" 0 ""
run compare still.nii almost.nii --quiet
check "roundings are no difference" equal "$status" 0
run compare still.nii placeless.nii --quiet
check "what a file does not say is no difference" equal "$status" 0
refuses 1 "shifted.nii is not on the grid of still.nii: element \(0, 0, 0\) lies at \(20, 0, 0\), not at \(0, 0, 0\)" \
    compare still.nii shifted.nii
refuses 1 "wide.nii is not on the grid of still.nii: x has a pitch of 2 mm, not 1 mm" compare still.nii wide.nii
run compare still.nii shifted.nii --ignore-grid --quiet
check "--ignore-grid" equal "$status" 0

# Geometry that contradicts itself is one error, and nothing is written.
nifti bad.nii "5 4 3" "1 -1 1" 1 "$identity"
refuses 1 "bad.nii: its pixdim\[2\] is -1; a pitch is finite and above 0" edt bad.nii -o out/d.nii
nifti bad.nii "5 4 3" "1 1 0" 0 ""
refuses 1 "bad.nii: its pixdim\[3\] is 0; a pitch" edt bad.nii -o out/d.nii
nifti bad.nii "5 4 3" "nan 1 1" 0 ""
refuses 1 "bad.nii: its pixdim\[1\] is nan; a pitch" edt bad.nii -o out/d.nii
nifti bad.nii "5 4 3" "1 1 1" 2 "1 0 0 0 1 0 0 0 0 0 1 0"
refuses 1 "bad.nii: the matrix of its place in the world is singular" edt bad.nii -o out/d.nii
nifti bad.nii "5 4 3" "1 1 1" 2 "inf 0 0 0 0 1 0 0 0 0 1 0"
refuses 1 "bad.nii: its place in the world is not finite" edt bad.nii -o out/d.nii
nifti zero.nii "5 4 3" "1 1 0" 2 "1 0 0 0 0 1 0 0 0 0 2.5 0"
check "a pitch from the matrix, where the file says none" matches "$(world zero.nii)" "axis +z: space, 3 long, pitch 2.5 mm"

# --spacing by names.
refuses 1 "--spacing: still.nii has no axis 't'; it has zyx" edt still.nii -o out/d.nii --spacing t=2
refuses 2 "--spacing: name all axes or none" edt still.nii -o out/d.nii --spacing z=2,1,1
refuses 2 "--spacing: axis 'z' is named twice" edt still.nii -o out/d.nii --spacing z=2,z=1
refuses 2 "--spacing: 'mm' is a second unit" edt still.nii -o out/d.nii --spacing z=2um,y=1mm

# Axes in an order that a format has no room for.
make_npy four.npy '|u1' '1, 2, 1, 2' '\1\0\1\0'
refuses 1 "out/d.nii: nifti holds axes .* in this order, not w z y x; .npy .*can" edt four.npy -o out/d.nii
refuses 1 "out/d.tif: tiff holds axes t c z .* y x in this order, not w z y x" edt four.npy -o out/d.tif
works "its own TIFF read back" edt "$data/horse.png" --channel luma -o out/d.tif --threshold 128 --spacing 0.5,0.25
check "its own TIFF read back: the pitches" matches "$("$distmap" info out/d.tif)" "spacing +0.5 x 0.25"


# Lengths in units, and a length that a map tells is within itself, whatever the unit it is given in.
nifti mm.nii "5 4 3" "0.4 0.4 0.65" 1 "0.4 0 0 0 0 0.4 0 0 0 0 0.65 0"
for unit in 1.5mm 1500um 1500000nm 0.15cm 0.0015m; do
    run edt mm.nii -o out/d.npy --sites nonzero --limit $unit --quiet
    cp out/d.npy "limit_$unit.npy"
    check "--limit $unit is 1.5 mm" cmp "limit_$unit.npy" limit_1.5mm.npy
done
"$distmap" edt mm.nii -o limit_plain.npy --sites nonzero --limit 1.5 --quiet
check "--limit without a unit is in the file's" cmp limit_plain.npy limit_1.5mm.npy
"$distmap" edt mm.nii -o lengths.npy --sites nonzero --dtype float64 --quiet
for length in $(npy_values lengths.npy f8 | tr ' ' '\n' | sort -gu | tail -n +2); do
    exact=$(python3 -c "print(repr(min((x for x in __import__('struct').unpack('<60d', open('lengths.npy', 'rb').read()[-480:])), key=lambda x: abs(x - $length))))")
    "$distmap" edt mm.nii -o d.npy --sites nonzero --dtype float64 --limit "${exact}mm" --quiet
    check "--limit ${exact}mm, which the map tells, keeps it" test "$(npy_values d.npy f8 | tr ' ' '\n' | grep -cx -- "$length")" -gt 0
    "$distmap" morph mm.nii -o m.npy --op dilate --radius "${exact}mm" --quiet
    check "--radius ${exact}mm has what is within the limit" equal "$(npy_values m.npy u1 | tr ' ' '\n' | grep -cx 1)" \
        "$(npy_values d.npy f8 | tr ' ' '\n' | grep -cvx inf)"
done
nifti other.nii "5 4 3" "0.4 0.4 0.65" 1 "0.4 0 0 0 0 0.4 0 0 0 0 0.65 0"
python3 -c "
data = bytearray(open('other.nii', 'rb').read())
data[352], data[-1] = 0, 1
open('other.nii', 'wb').write(data)"
hausdorff=$("$distmap" compare mm.nii other.nii --json --quiet | python3 -c "import json, sys; print(json.load(sys.stdin)['symmetric']['hausdorff'])")
for tolerance in $hausdorff ${hausdorff}mm; do
    check "compare --tolerance $tolerance, its own Hausdorff distance: surface Dice 1" equal \
        "$("$distmap" compare mm.nii other.nii --tolerance $tolerance --json --quiet | grep -o '"surface_dice": [^,]*')" '"surface_dice": 1.0'
done
less=$(python3 -c "import math; print(math.nextafter($hausdorff, 0))")
check "and less is not within" equal \
    "$("$distmap" compare mm.nii other.nii --tolerance "$less" --json --quiet | grep -o '"surface_dice": [^,]*')" '"surface_dice": 0.0'
refuses 1 "--limit: the length is in s, but mm.nii is in mm" edt mm.nii -o out/d.npy --limit 5s
refuses 1 "--limit: the length is in mm, but four.npy names no unit: give one by --spacing" \
    edt four.npy -o out/d.npy --limit 5mm
refuses 1 "--limit: this metric counts steps, so the length must have no unit, not mm" \
    edt mm.nii -o out/d.npy --limit 5mm --metric cityblock
refuses 1 "--radius: the length is in furlong, but mm.nii is in mm" morph mm.nii -o out/d.npy --op erode --radius 1furlong
refuses 2 "--limit: '5m/s' is not a number" edt mm.nii -o out/d.npy --limit 5m/s
refuses 2 "--limit: -5 is out of range" edt mm.nii -o out/d.npy --limit=-5mm
refuses 2 "--limit: 'mm' is not a number" edt mm.nii -o out/d.npy --limit mm
works "a unit by --spacing" edt four.npy -o out/d.npy --spacing 1mm --limit 5000um --quiet

finish
