#!/bin/bash
# The examples of shards, run as a test: without SLURM, with a stand-in for it, and by Dask's threads where Python has Dask. The
# result is that of one process. $1 is the command, $2 the project's folder.
set -euo pipefail
DISTMAP=$(realpath "$1")
project=$(realpath "$2")
export DISTMAP
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mask=$project/data/mni152_gray_matter.nii.gz
"$DISTMAP" edt "$mask" -o want.npy --threshold 128 --quiet

"$project/examples/slurm/distance_map.sh" first "$mask" loop.npy 3 --threshold 128 2>/dev/null
"$project/examples/slurm/distance_map.sh" last loop.npy loop_depth.npy 2 2>/dev/null
cmp loop_depth.npy want.npy

# What sbatch does, as far as the script sees it: all tasks of the array at once, after the job that it depends on.
mkdir bin
cat >bin/sbatch <<'STAND_IN'
#!/bin/bash
for option in "$@"; do
    case $option in
    --array=1-*) tasks=${option#--array=1-} ;;
    --parsable | --dependency=afterok:41) ;;
    --*) exit 1 ;;
    *) break ;;
    esac
    shift
done
for task in $(seq "$tasks"); do
    SLURM_ARRAY_TASK_ID=$task SLURM_CPUS_PER_TASK=1 "$@" 2>/dev/null &
done
wait
echo "41;cluster"
STAND_IN
chmod +x bin/sbatch
PATH=$work/bin:$PATH "$project/examples/slurm/distance_map.sh" submit "$mask" array.npy array_depth.npy 4 --threshold 128
cmp array_depth.npy want.npy

if /usr/bin/python3 -c 'import dask' 2>/dev/null; then
    /usr/bin/python3 "$project/examples/dask/distance_map.py" "$mask" dask.npy dask_depth.npy --shards 3 --command "$DISTMAP" \
        -- --threshold 128
    cmp dask_depth.npy want.npy
    ! /usr/bin/python3 "$project/examples/dask/distance_map.py" want.npy floats.npy none.npy --command "$DISTMAP" 2>stderr
    grep -q 'want.npy: holds float32, which is not a mask' stderr
else
    echo "no Dask here: its example was not run"
fi
