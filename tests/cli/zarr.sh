# Zarr in the command: folders and arrays of groups as inputs, folders as outputs, what is refused.
source "$(dirname "$0")/checks.sh" "$@" || exit 1

stores=$project/tests/io/stores/zarr
"$distmap" edt "$data/horse.png" --channel luma -o squared.npy --threshold 128 --metric squared --quiet
"$distmap" edt "$data/horse.png" --channel luma -o squared.zarr --threshold 128 --metric squared --quiet || exit 1
"$distmap" edt squared.npy -o want.npy --index wanti.npy --threshold 5 --quiet
works "an array as input" edt squared.zarr -o out/a.npy --index out/i.npy --threshold 5
check "an array as input: the same" cmp out/a.npy want.npy
check "an array as input: the same sites" cmp out/i.npy wanti.npy
works "arrays as outputs" edt squared.npy -o out/a.zarr --index out/i.zarr --threshold 5
check "arrays as outputs: nothing else is there" equal "$(ls -A out | xargs)" "a.zarr i.zarr"
"$distmap" edt out/a.zarr -o again.npy --sites 0 --quiet
"$distmap" edt want.npy -o again2.npy --sites 0 --quiet
check "arrays as outputs: the same" cmp again.npy again2.npy
cp -r out/i.zarr sites.zarr
run info sites.zarr --json
check "info tells the chunks" grep -q '"stored": "chunks [0-9]*x[0-9]*"' "$work/stdout"
"$distmap" info "$stores/sparse" | grep -q 'spacing  2.5 x 0.5 um'
check "spacing and unit come from the attributes" equal "$?" 0
run edt "$stores/sparse" -o out/s.zarr --sites 5 # which warns of NaN
check "spacing is kept" grep -q 'spacing  2.5 x 0.5 um' <("$distmap" info out/s.zarr)
works "an array of a group" edt "$stores/swapped" -o out/a.npy --sites 5

refuses 1 "zarr: is a group of arrays; name one of them, as in .*/zarr/[a-z0-9]* " edt "$stores" -o out/a.npy
refuses 1 "sparse: holds float32, which is not a mask" edt "$stores/sparse" -o out/a.npy
refuses 1 "lzma: its chunks are packed by lzma" edt "$stores/lzma" -o out/a.npy
refuses 1 "nothing: its chunk 0 is missing, and there is no fill value" edt "$stores/nothing" -o out/a.npy
refuses 1 "stores: is a folder, not a file" edt "$project/tests/io/stores" -o out/a.npy
refuses 1 "squared.zarr: exists already and is not overwritten" edt squared.npy -o squared.zarr --threshold 5
refuses 2 "squared.zarr is the same file as the input" edt squared.zarr -o squared.zarr --threshold 5
mkdir three.zarr
echo '{"zarr_format": 4, "node_type": "array"}' >three.zarr/zarr.json
refuses 1 "three.zarr: is Zarr version 4 by its zarr.json; versions 2 and 3 are read" edt three.zarr -o out/a.npy
# One of 1.6 10^9 chunks exists: the missing ones are not opened. The values of 10^18 elements are not read.
sparse() { # name, side, separator
    mkdir "$1"
    echo "{\"zarr_format\": 2, \"shape\": [$2, $2], \"chunks\": [1, 1], \"dtype\": \"|u1\", \"compressor\": null,
        \"fill_value\": 0, \"order\": \"C\", \"filters\": null, \"dimension_separator\": \"$3\"}" >"$1/.zarray"
    mkdir -p "$(dirname "$1/39999${3}5")"
    printf '\7' >"$1/39999${3}5"
}
for separator in . /; do
    rm -rf sparse.zarr
    sparse sparse.zarr 40000 "$separator"
    check "sparse by $separator: info" matches "$(timeout 60 "$distmap" info sparse.zarr)" \
        "values   0 to 7, .*zeros    1599999999 of 1600000000"
done
sparse huge.zarr 1000000000 .
check "huge: info" matches "$(timeout 60 "$distmap" info huge.zarr)" "values   not read: more than 2.36 elements"
refuses 1 "more than 2.56 elements in all" edt huge.zarr -o out/d.npy
mkdir one.zarr # chunk, of 256 MiB, which is unpacked in one piece
echo '{"zarr_format": 2, "shape": [64, 2048, 2048], "chunks": [64, 2048, 2048], "dtype": "|u1", "compressor": null,
    "fill_value": 1, "order": "C", "filters": null}' >one.zarr/.zarray
refuses 1 "--memory: 200 MiB are too little for one.zarr: [0-9]* MiB are needed" \
    edt one.zarr -o out/d.npy --memory 200M
refuses 1 "--memory: 200 MiB are too little for one.zarr: " \
    pass one.zarr -o out/s.zarr --axis y,x --shard 1/2 --memory 200M
largest_file=1
run edt squared.npy -o out/a.zarr --threshold 5 --metric squared
check "no room: status" equal "$status" 1
check "no room: one line" one_line "out/a.zarr: cannot write: File too large"
check "no room: nothing is left" equal "$(ls -A out)" ""

largest_file=unlimited

# Arrays in groups: a new store, an old one, one of version 2.
works "a new store" edt squared.npy -o out/n.zarr/a/b --threshold 5
mv out/n.zarr n.zarr
check "a new store: groups of version 3" grep -q '"group"' n.zarr/zarr.json
check "a new store: groups of version 3" grep -q '"group"' n.zarr/a/zarr.json
"$distmap" edt n.zarr -o again.npy --sites 0 --quiet # its only array
check "a new store: its only array" cmp again.npy again2.npy
find n.zarr | sort >before
# The layout that is asked for; tests/oracles/zarr_stores.py has other programs read it.
works "chunks, shards" edt squared.npy -o out/l.zarr --index out/i.npy --threshold 5 --chunks 50 --shards 100,200
check "chunks, shards: as asked for" grep -q 'chunks 50x50 in shards 100x200' <("$distmap" info out/l.zarr)
mv out/l.zarr .
works "version 2" edt l.zarr -o out/two.zarr --threshold 5 --zarr-format 2
check "version 2: it is" grep -q '"zarr_format": *2' out/two.zarr/.zarray
refuses 1 "d.npy: npy has no chunks whose shape can be chosen" edt squared.npy -o out/d.npy --threshold 5 --chunks 8
refuses 1 "d.nii: nifti has no shards" edt squared.npy -o out/d.nii --threshold 5 --shards 8
make_npy volume.npy '|u1' '2, 2, 2' '\1\1\0\1\1\1\0\1'
refuses 1 "d.precomputed: precomputed is not Zarr, so it has no Zarr version" \
    edt volume.npy -o out/d.precomputed --spacing 1um --zarr-format 3
refuses 1 "d.zarr: zarr of version 2 has no shards; version 3 has" edt squared.npy -o out/d.zarr --threshold 5 --zarr-format 2 --shards 8
refuses 1 "n.zarr/c: its group has Zarr version 3, so the array cannot have version 2" \
    edt squared.npy -o n.zarr/c --threshold 5 --zarr-format 2
refuses 1 "--shards: 3 lengths given, but squared.npy has 2 axes" edt squared.npy -o out/d.zarr --threshold 5 --shards 8,8,8
refuses 2 "--zarr-format" edt squared.npy -o out/d.zarr --threshold 5 --zarr-format 4
refuses 2 "--memory and --shards contradict each other" edt squared.npy -o out/d.zarr --threshold 5 --memory 1G --shards 8
refuses 1 "n.zarr/a/b: exists already and is not overwritten" edt squared.npy -o n.zarr/a/b --threshold 5
refuses 1 "n.zarr/a/b/d: what it is put into is an array, and no group" edt squared.npy -o n.zarr/a/b/d --threshold 5
refuses 1 "names no array in a store" edt squared.npy -o n.zarr/a/../b --threshold 5
refuses 1 "names no array in a store" edt squared.npy -o n.zarr/a/ --threshold 5
mkdir n.zarr/plain
refuses 1 "n.zarr/plain/c: what it is put into is a folder without metadata of Zarr" edt squared.npy -o n.zarr/plain/c --threshold 5
rmdir n.zarr/plain
largest_file=1
run edt squared.npy -o n.zarr/c/d --threshold 5
largest_file=unlimited
check "no room in a store: status" equal "$status" 1
find n.zarr | sort >after
check "what fails leaves a store as it was" cmp before after
works "added to a store" edt squared.npy -o n.zarr/a/c --index n.zarr/i --threshold 5
check "added to a store: the same" cmp -s n.zarr/a/c/c/0/0 n.zarr/a/b/c/0/0
refuses 1 "n.zarr: is a group of arrays; name one of them, as in n.zarr/a/b .a/b, a/c, i." edt n.zarr -o out/a.npy
works "two outputs make one store" edt squared.npy -o out/t.zarr/a/b --index out/t.zarr/a/i --threshold 5
check "two outputs make one store: nothing else" equal "$(ls -A out out/t.zarr out/t.zarr/a | xargs)" \
    "out: t.zarr out/t.zarr: a zarr.json out/t.zarr/a: b i zarr.json"
works "a new store, out of core" edt "$data/mni152_gray_matter.nii.gz" -o out/m.zarr/a/b --threshold 128 --memory 40M
check "a new store, out of core: nothing else" equal "$(ls -A out out/m.zarr | xargs)" "out: m.zarr out/m.zarr: a zarr.json"
mkdir two.zarr
echo '{"zarr_format": 2}' >two.zarr/.zgroup
works "added to a group of version 2" edt squared.npy -o two.zarr/x/y --threshold 5
check "added to a group of version 2: of that version" test -f two.zarr/x/y/.zarray -a -f two.zarr/x/.zgroup
"$distmap" edt two.zarr -o again.npy --sites 0 --quiet
check "added to a group of version 2: the same" cmp again.npy again2.npy
works "shards of a pass, in a group" pass squared.npy -o two.zarr/p --axis x --shard 1/1 --threshold 5
check "shards of a pass: of that version" test -f two.zarr/p/.zarray
refuses 1 "out/none.zarr/p: cannot use its folder" pass squared.npy -o out/none.zarr/p --axis x --shard 1/1 --threshold 5

# OME-Zarr
works "an image" edt squared.npy -o out/o.ome.zarr --threshold 5 --spacing 2,0.5
mv out/o.ome.zarr o.ome.zarr
check "an image: its scale" grep -q 'spacing  2 x 0.5' <("$distmap" info o.ome.zarr)
check "an image: its scale, by the array" grep -q 'spacing  2 x 0.5' <("$distmap" info o.ome.zarr/0)
"$distmap" edt o.ome.zarr -o again.npy --sites 0 --quiet --spacing 1
check "an image: the same elements" test -s again.npy
sed -i 's/"scale",/"affine",/' o.ome.zarr/zarr.json
refuses 1 "o.ome.zarr: its multiscales have a coordinateTransformation of type affine" edt o.ome.zarr -o out/a.npy --sites 0
sed -i 's/"affine",/"scale",/; s/"path":"0"/"path":"..\/n.zarr\/i"/' o.ome.zarr/zarr.json
refuses 1 "o.ome.zarr: its path ../n.zarr/i leads out of it" edt o.ome.zarr -o out/a.npy --sites 0

finish
