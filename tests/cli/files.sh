# Broken inputs of every format: each is one clear line, status 1, and no output.
source "$(dirname "$0")/checks.sh" "$@" || exit 1

printf 'P5 40 30 255\n' >image.pgm
head -c 1200 "$data/retina.jpg" >>image.pgm
printf 'P4 40 30\n' >image.pbm
head -c 150 "$data/retina.jpg" >>image.pbm
cp "$data/coins.png" image.png
cp "$data/retina.jpg" image.jpg
for ending in npy tif nii nii.gz; do
    "$distmap" edt image.pgm -o "image.$ending" --threshold 128 --quiet || exit 1
done
names="image.pgm image.pbm image.png image.jpg image.npy image.tif image.nii image.nii.gz"

refuses 1 "missing.png: .*[Nn]o such file" edt missing.png -o out/d.npy
refuses 1 "$work: " edt "$work" -o out/d.npy
refuses 1 "missing.png: " info missing.png
refuses 1 "missing.png: " voronoi missing.png -o out/d.npy

for name in $names; do
    [[ $name == *.pbm ]] && threshold=1 || threshold=128
    works "whole $name" edt "$name" --channel luma -o out/d.npy --threshold $threshold --limit 1000
    ending=${name#image.}
    size=$(stat -c %s "$name")

    : >"empty.$ending"
    refuses 1 "empty.$ending: " edt "empty.$ending" -o out/d.npy

    # Cut at many places: whatever is missing, it is said.
    for part in 1 4 9 20 $((size / 4)) $((size / 2)) $((size * 3 / 4)) $((size - 1)); do
        ((part < size)) || continue
        head -c "$part" "$name" >"cut.$ending"
        # Without its last byte a JPEG has lost half of its end marker, a TIFF a byte of a zero that says that no page
        # follows: neither is missed.
        [[ $ending =~ ^(jpg|tif)$ && $part == $((size - 1)) ]] && continue
        refuses 1 "cut.$ending: " edt "cut.$ending" --channel luma -o out/d.npy --index out/i.npy --preview out/p.png
    done

    # Random bytes, alone and behind the right first bytes. (JPEG data serve: they look random.)
    tail -c 3000 "$data/retina.jpg" >"random.$ending"
    refuses 1 "random.$ending: " edt "random.$ending" -o out/d.npy
    case $ending in pgm | pbm) continue ;; esac # any bytes behind their headers are an image
    { head -c 8 "$name"; tail -c 3000 "$data/retina.jpg"; } >"headed.$ending"
    refuses 1 "headed.$ending: " edt "headed.$ending" -o out/d.npy
done

# Headers that claim more than the file holds, or sizes beyond all bounds. Memory is capped, so that believing them fails
# otherwise than with a clear line. (A build with sanitizers reserves more addresses than that before it starts.)
if (ulimit -v 4000000 && "$distmap" --version) >/dev/null 2>&1; then ulimit -v 4000000; fi
claims() { refuses 1 "$1: " edt "$1" -o out/d.npy; }
printf 'P5 100000 100000 255\n1234' >claim.pgm
printf 'P5 4000000000 4000000000 255\n1234' >absurd.pgm
printf 'P5 99999999999999999999 2 255\n1234' >overflow.pgm
printf 'P5 -3 2 255\n123456' >negative.pgm
printf 'P4 100000 100000\n1234' >claim.pbm
make_npy claim.npy '|u1' '100000, 100000' '1234'
make_npy absurd.npy '<f8' '4611686018427387904, 4' '1234'
make_npy overflow.npy '<f8' '99999999999999999999999,' '1234'
make_npy negative.npy '<f8' '-4,' '1234'
make_npy five.npy '|u1' '1, 1, 1, 1, 1' '1'
make_npy complex.npy '<c8' '1,' '12345678'
make_npy strange.npy '<q9' '1,' '12345678'
for name in claim.pgm absurd.pgm overflow.pgm negative.pgm claim.pbm claim.npy absurd.npy overflow.npy negative.npy \
    five.npy complex.npy strange.npy; do
    claims $name
done
make_npy long.npy '|u1' '0, 9223372036854775807' ''
for what in edt voronoi skeleton; do
    refuses 1 "long.npy: its axis x has 9223372036854775807 elements, more than 2\^31 - 1" $what long.npy -o out/d.npy
done
# NIfTI: dim[1..3] = 32767 in the header of a small file.
{ head -c 42 image.nii; printf '\xff\x7f\xff\x7f\xff\x7f'; tail -c +49 image.nii; } >claim.nii
claims claim.nii
gzip -c claim.nii >claim.nii.gz
claims claim.nii.gz
# PNG: the width in IHDR is damaged, so that its check sum is wrong too.
{ head -c 16 image.png; printf '\x7f\xff\xff\xff'; tail -c +21 image.png; } >claim.png
claims claim.png
# An existing output stays as it was when the run fails.
cp image.npy out/kept.npy
before=$(cksum <out/kept.npy)
"$distmap" edt cut.png -o out/kept.npy 2>/dev/null
check "a failed run leaves the old output: status" equal "$?" 1
check "a failed run leaves the old output" equal "$(cksum <out/kept.npy)" "$before"
check "a failed run leaves nothing else" equal "$(ls -A out)" kept.npy

# Broken standard input.
"$distmap" edt - -o out/d.npy <cut.png 2>stderr
check "broken standard input: status" equal "$?" 1
check "broken standard input: one line" one_line "-?"
"$distmap" edt - -o out/d.npy </dev/null 2>stderr
check "empty standard input: status" equal "$?" 1
check "empty standard input: one line" one_line "-?"

# A service takes the formats that it wants.
export DISTMAP_FORMATS=npy,PGM
printf 'P5 2 2 255\n\0\1\1\1' >four.pgm
works "a format that is listed" edt four.pgm -o out/a.npy
refuses 1 "horse.png: is png, which DISTMAP_FORMATS does not list .npy,PGM." edt "$data/horse.png" --channel luma -o out/a.npy
refuses 1 "out/a.tif: is tiff, which DISTMAP_FORMATS does not list" edt four.pgm -o out/a.tif
unset DISTMAP_FORMATS

# No element, along an axis of 2^62: nothing is done 2^62 times.
make_npy none.npy '|u1' '4611686018427387904, 0' ''
check "2^62 slices of nothing: info" matches "$(timeout 20 "$distmap" info none.npy)" "shape    4611686018427387904 x 0.*zeros    0 of 0"
make_npy none3.npy '|u1' '1152921504606846976, 0, 5' ''
check "2^60 slices of no row" matches "$(timeout 20 "$distmap" info none3.npy)" "shape    1152921504606846976 x 0 x 5.*zeros    0 of 0"
refuses 1 "none.npy: its axis y has 4611686018427387904 elements, more than 2.31 - 1" edt none.npy -o out/d.npy

finish
