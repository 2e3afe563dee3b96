"""An exact distance map of a volume that no machine holds, by the workers of a Dask cluster: each task is one shard of one
pass, done by the command, and the last pass waits for the first.

    python3 distance_map.py vol.zarr squares.zarr depth.zarr --shards 200 --scheduler tcp://head:8786 -- --sites 0

Without --scheduler the shards run on this machine, as many at a time as --workers says. What stands behind -- are options of the
first pass. The files must be in a file system that all workers see, under names that are the same for all. Tasks may be tried again:
a shard that is done is not done again, and one that was killed is done anew.
"""
import argparse
import itertools
import subprocess
import sys

import dask


@dask.delayed(pure=False)
def shard(command, source, target, axis, number, shards, options, after):
    """One shard; `after` are the shards that must be done before, and tells nothing else."""
    line = [command, "pass", source, "-o", target, "--axis", axis, "--shard", f"{number}/{shards}", *options]
    done = subprocess.run(line, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    return number


def distance_map(source, squares, target, shards, options=(), slices="y,x", slowest="z", command="distmap"):
    """The whole map as one lazy value, which is the number of shards done."""
    first = [shard(command, source, squares, slices, i + 1, shards, list(options), None) for i in range(shards)]
    last = [shard(command, squares, target, slowest, i + 1, shards, [], first) for i in range(shards)]
    return dask.delayed(len)(last)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source")
    parser.add_argument("squares", help="squared distances within slices, between the passes")
    parser.add_argument("target")
    parser.add_argument("--shards", type=int, default=8)
    parser.add_argument("--scheduler", help="address of a running dask.distributed scheduler")
    parser.add_argument("--workers", type=int, help="without a scheduler: shards at a time")
    parser.add_argument("--command", default="distmap")
    own = list(itertools.takewhile(lambda argument: argument != "--", sys.argv[1:]))
    given, options = parser.parse_args(own), sys.argv[len(own) + 2 :]
    whole = distance_map(given.source, given.squares, given.target, given.shards, options, command=given.command)
    if given.scheduler:
        from dask.distributed import Client

        with Client(given.scheduler):
            done = whole.compute()
    else:
        done = whole.compute(scheduler="threads", num_workers=given.workers)
    print(f"{given.target}: {done} shards")


if __name__ == "__main__":
    main()
