#!/bin/bash
#SBATCH --job-name=distance-map
#SBATCH --cpus-per-task=8
#SBATCH --mem=16G
#SBATCH --time=04:00:00
# An exact distance map of a volume that no node holds, as two SLURM array jobs, of which the second waits for the first:
#
#     examples/slurm/distance_map.sh submit vol.zarr squares.zarr depth.zarr 200 --sites 0 --chunks 64
#
# does 200 shards of each pass; options behind the number belong to the first pass. A task that was killed may be requeued
# (scontrol requeue), and the whole command given again: what is done is not done again. The intermediate squares.zarr, with
# squares.zarr.pass, may be removed when depth.zarr is there.
#
# Without SLURM the same script does a pass in a loop:
#
#     examples/slurm/distance_map.sh first vol.zarr squares.zarr 200 --sites 0 --chunks 64
#     examples/slurm/distance_map.sh last squares.zarr depth.zarr 200
#
# Volumes here have three axes: pixels of slices are y,x, the slowest axis is z.
set -euo pipefail

usage() {
    echo "usage: $0 submit IN SQUARES OUT SHARDS [options of the first pass]" >&2
    echo "       $0 first IN SQUARES SHARDS [options]    $0 last SQUARES OUT SHARDS [options]" >&2
    exit 2
}
distmap=${DISTMAP:-distmap}
what=${1-}

if [[ $what == submit && $# -ge 5 ]]; then
    in=$2 squares=$3 out=$4 shards=$5
    shift 5
    first=$(sbatch --parsable --array="1-$shards" "$0" first "$in" "$squares" "$shards" "$@")
    last=$(sbatch --parsable --array="1-$shards" --dependency="afterok:${first%%;*}" "$0" last "$squares" "$out" "$shards")
    echo "first pass: job $first, last pass: job $last"
    exit
fi

[[ $what =~ ^(first|last)$ && $# -ge 4 ]] || usage
in=$2 out=$3 shards=$4
shift 4
axis=z
[[ $what == first ]] && axis=y,x

# A task of an array does its own shard; without SLURM all are done, one after the other.
for shard in ${SLURM_ARRAY_TASK_ID:-$(seq "$shards")}; do
    "$distmap" pass "$in" -o "$out" --axis "$axis" --shard "$shard/$shards" \
        ${SLURM_CPUS_PER_TASK:+--threads "$SLURM_CPUS_PER_TASK"} "$@"
done
