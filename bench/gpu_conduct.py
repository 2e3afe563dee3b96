"""The trials of those on a GPU (trials.py): arrays in its memory, peaks by CuPy's pool, from which both take theirs."""

import os
import sys
from pathlib import Path

import cupy as cp
import trials
from cupyx.scipy.ndimage import distance_transform_edt
from package import distmap, use

NAMES = ("distmap", "cupy")


def prepare(function):
    def prepared(mask, _):
        array, kept = cp.asarray(mask), {}

        def run():
            kept.clear()
            kept["distance"] = function(array)
            cp.cuda.Device().synchronize()
        return run, lambda: kept["distance"].get()
    return prepared


def start_meter():
    pool = cp.get_default_memory_pool()
    pool.free_all_blocks()
    before = pool.total_bytes()
    return lambda: pool.total_bytes() - before  # it keeps what it has had


def rows(library, groups):
    return trials.rows(Path(__file__), NAMES, library, groups)


if __name__ == "__main__":
    name, first, library = sys.argv[1:]
    use(library)
    call = distmap.edt if name == "distmap" else lambda mask: distance_transform_edt(mask, float64_distances=False)
    trials.answer(prepare(call), int(first), start_meter, end_failed=True)
    os._exit(0)  # where the GPU is lost, an orderly end fails
