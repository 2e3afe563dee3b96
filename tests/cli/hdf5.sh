# HDF5 in the command: datasets by name, added to files, refused where they are no masks.
source "$(dirname "$0")/checks.sh" "$@" || exit 1

"$distmap" edt "$data/horse.png" --channel luma -o image.h5:/grey/squared --threshold 128 --metric squared --quiet || exit 1
"$distmap" edt "$data/horse.png" --channel luma -o image.h5:/grey/lengths --threshold 128 --quiet || exit 1

# What goes through HDF5 is the same as what does not.
"$distmap" edt "$data/horse.png" --channel luma -o squared.npy --threshold 128 --metric squared --quiet || exit 1
works "a dataset as input" edt image.h5:/grey/squared -o out/a.npy --threshold 5
"$distmap" edt squared.npy -o b.npy --threshold 5 --quiet
check "a dataset as input: the same" cmp out/a.npy b.npy
works "an index as output" edt squared.npy -o out/a.h5 --threshold 5 --index out/i.h5
"$distmap" edt image.h5:/grey/squared -o one.h5:/x/y --threshold 5 --quiet
"$distmap" info one.h5 >/dev/null
check "the only dataset needs no name" equal "$?" 0
run info one.h5 --json
check "info names it" grep -q '"stored": ".*gzip, /x/y"' "$work/stdout"
cp one.h5 both.h5
works "added to the file that the input is in" edt one.h5:/x/y -o one.h5:/x/z --sites 1
check "what was in it is the same" cmp <("$distmap" info one.h5:/x/y | tail -n +2) <("$distmap" info both.h5 | tail -n +2)

refuses 1 "image.h5: .*holds 2 datasets; name one of them behind it, as in image.h5:/grey/lengths" edt image.h5 -o out/d.npy
refuses 1 "image.h5:/grey/none: there is no dataset /grey/none" edt image.h5:/grey/none -o out/d.npy
refuses 1 "image.h5:/grey: .*not a dataset" edt image.h5:/grey -o out/d.npy
refuses 1 "image.h5:/grey/lengths: holds float32, which is not a mask" edt image.h5:/grey/lengths -o out/d.npy
refuses 1 "there is a /grey/lengths already; what a file holds is not overwritten" \
    edt image.h5:/grey/squared -o image.h5:/grey/lengths --threshold 5
refuses 1 "/grey/lengths is not a group" edt image.h5:/grey/squared -o image.h5:/grey/lengths/more --threshold 5
refuses 2 "image.h5 is the same file as the input" edt image.h5:/grey/squared -o image.h5 --threshold 5
refuses 2 "same file as -o" edt squared.npy -o out/a.h5:/d --index out/a.h5:/i
refuses 1 "squared.npy:/a: npy is one image" edt squared.npy:/a -o out/d.npy
head -c 3000 image.h5 >cut.h5
refuses 1 "cut.h5:/grey/squared: truncated or broken HDF5: truncated file" edt cut.h5:/grey/squared -o out/d.npy
printf 'old' >old.h5
refuses 1 "old.h5:/a: the file that is there is no HDF5" edt squared.npy -o old.h5:/a
check "it stays as it was" equal "$(cat old.h5)" old
chmod 444 image.h5
refuses 1 "image.h5:/more: is read-only" edt squared.npy -o image.h5:/more

finish
