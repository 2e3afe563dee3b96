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
refuses 1 "sparse: holds float32, which is no mask" edt "$stores/sparse" -o out/a.npy
refuses 1 "lz4: its chunks are packed by lz4" edt "$stores/lz4" -o out/a.npy
refuses 1 "nothing: its chunk 0 is missing, and there is no fill value" edt "$stores/nothing" -o out/a.npy
refuses 1 "stores: is a folder, not a file" edt "$project/tests/io/stores" -o out/a.npy
refuses 1 "squared.zarr: is there already, and is not overwritten" edt squared.npy -o squared.zarr --threshold 5
refuses 2 "squared.zarr is the same file as the input" edt squared.zarr -o squared.zarr --threshold 5
mkdir three.zarr
echo '{"zarr_format": 3, "node_type": "array"}' >three.zarr/zarr.json
refuses 1 "three.zarr: is Zarr version 3; version 2 is read" edt three.zarr -o out/a.npy
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

finish
