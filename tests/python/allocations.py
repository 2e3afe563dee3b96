"""Failed allocations through the package: each malloc() of a call fails in turn (tests/cli/failing_malloc.c, preloaded).

The call gives its result, whole and right, or raises MemoryError; an error of a file's format says what was out of memory. Nothing is left
behind: of several rounds over all allocations at least one takes no more memory than the round before.
"""

import ctypes
import gc
import itertools
import os
import sys
import tempfile

import numpy as np
import oracle

import distmap

ROUNDS = 8

fail_from = ctypes.CDLL(None).failing_malloc_from
fail_from.restype, fail_from.argtypes = ctypes.c_long, [ctypes.c_long]


class Used(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]


mallinfo2 = ctypes.CDLL(None).mallinfo2
mallinfo2.restype = Used


def used():
    gc.collect()
    now = mallinfo2()
    return now.uordblks + now.hblkhd


def same(a, b):
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    return np.array_equal(a, b)


def sweep(name, call):
    """All allocations of a warm call, and of one with a new shape, which makes a plan."""
    want = call()
    fail_from(0)
    call()
    total = fail_from(0)
    failed = 0
    levels = []
    for _ in range(ROUNDS):
        for at in range(1, total + 1):
            try:
                fail_from(at)
                got = call()
                fail_from(0)
            except MemoryError:
                fail_from(0)
                failed += 1
                continue
            except Exception as error:  # a file's error tells it in words
                fail_from(0)
                if "memory" not in str(error) and not (name == "imwrite tif" and isinstance(error, OSError)):  # libtiff's own words
                    sys.exit(f"FAIL {name}: allocation {at} of {total}: {error!r}")
                failed += 1
                continue
            if not same(got, want):
                sys.exit(f"FAIL {name}: allocation {at} of {total}: another result")
        got = error = None
        levels.append(used())
    if not same(call(), want):
        sys.exit(f"FAIL {name}: another result afterwards")
    growth = [b - a for a, b in zip(levels[2:], levels[3:])]
    # libtiff forgets what a function of its has that is left (src/io/tiff_file.c): some hundred bytes.
    if min(growth) > (1024 * total if name.endswith(" tif") else 0):
        sys.exit(f"FAIL {name}: each round of {total} allocations leaves memory: {growth} bytes")
    print(f"{name}: {failed} of {ROUNDS * total} calls raised, rounds left {growth} bytes", flush=True)


def main():
    print(f"DISTMAP_TEST_SEED={oracle.SEED}")
    draw = np.random.default_rng(oracle.SEED)
    mask = draw.random((23, 37)) < 0.9
    volume = draw.integers(0, 4, (9, 11, 13)).astype(np.uint8)
    # Another shape each time, so that nothing is kept of the call before; made here, since NumPy's own code may crash without memory.
    longer = [np.pad(mask, ((0, more), (0, 0)), constant_values=True) for more in range(7)]
    turn = itertools.cycle(longer)

    def fresh():
        return distmap.edt(next(turn), threads=1)[:10]

    sweep("edt", lambda: distmap.edt(mask))
    sweep("edt, another shape", fresh)
    sweep("edt, indices", lambda: distmap.edt(volume, (2.5, 0.7, 0.7), indices=True))
    sweep("dilate", lambda: distmap.dilate(mask, 3))
    sweep("expand_labels", lambda: distmap.expand_labels(volume, 2))
    with tempfile.TemporaryDirectory() as folder:
        for ending in sys.argv[1:] or ("npy", "tif", "nii.gz", "nrrd"):
            path = os.path.join(folder, f"a.{ending}")
            distmap.imwrite(path, volume)
            sweep(f"imread {ending}", lambda: distmap.imread(path).array)
            sweep(f"imwrite {ending}", lambda: distmap.imwrite(path, volume))
            if [n for n in os.listdir(folder) if n.startswith(".distmap-")]:
                sys.exit(f"FAIL imwrite {ending}: left {os.listdir(folder)}")


main()
