"""What contestants do apart from taking time: whether they are right on odd shapes, what they give where there is no
site, and how much memory they take at their peak. Each is tried in a process of its own, since some of this ends one.

A trial's outcome is "equal" (to float rounding), "differs", "refused" (an exception, with its text), "crashed" (the
process died) or "timeout". The expected distances are those of our brute force where that is quick, else of our default
method. conduct.py tries those on the CPU, gpu_conduct.py those on a GPU: programs that are called with a contestant's
name, the number of the first trial and the library.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time

import compare
import numpy as np
from package import distmap
from rows import size_name

SECONDS = 60  # for one trial
BRUTE = 20000  # elements
PEAK = ((4096, 4096), (256, 256, 256))


def corner(shape):
    mask = np.ones(shape, np.uint8)
    if mask.size:
        mask[(0,) * mask.ndim] = 0
    return mask


def scattered(shape):
    return (np.random.default_rng(len(shape)).random(shape) < 0.8).astype(np.uint8)


def zeros(shape):
    return np.zeros(shape, np.uint8)


def ones(shape):
    return np.ones(shape, np.uint8)


# Beyond 46,341 a squared distance passes 2^31, beyond 65,535 2^32, and a coordinate 16 bits.
CASES = [(shape, maker) for shape, maker in (
    ((7,), scattered), ((40, 50), scattered), ((9, 11, 13), scattered), ((3, 4, 5, 6), scattered),
    ((1, 1), corner), ((1, 9), corner), ((9, 1), corner), ((1, 1, 9), corner), ((9, 1, 1), corner), ((0, 5), corner),
    ((3, 50000), corner), ((50000, 3), corner), ((3, 70000), corner), ((70000, 3), corner), ((2, 2, 5000), corner),
    ((5000, 2, 2), corner), ((1, 5000000), corner), ((5, 7), zeros), ((5, 6, 7), zeros),
    ((5, 7), ones), ((5, 6, 7), ones),
)]
TRIALS = [("cases", f"{size_name(shape)} {maker.__name__}", shape) for shape, maker in CASES] + [
    ("peak", size_name(shape), shape) for shape in PEAK]


def refused(error):
    lines = str(error).strip().splitlines() or [""]
    lost = "illegal memory access" in lines[0]  # of a GPU, after which all else fails too
    said = re.sub(r"(?<!\S)/\S*/", "", lines[0])  # of source files their names, not where they were compiled
    return {"outcome": "crashed" if lost else "refused", "text": f"{type(error).__name__}: {said[:200]}"}


def returned(array):
    """What stands where there is no site, in words."""
    values = np.unique(array)
    return f"{values[0]:.6g}" if len(values) == 1 else f"{len(values)} values, {values[0]:.6g} to {values[-1]:.6g}"


def try_case(prepare, shape, maker):
    mask = maker(shape)
    try:
        run, result = prepare(mask, 1)
        run()
        got = np.asarray(result())
    except Exception as error:
        return refused(error)
    if got.shape != mask.shape:
        return {"outcome": "differs", "text": f"a result of shape {got.shape}"}
    if mask.size and mask.all():
        return {"outcome": "equal" if np.isinf(got).all() else "differs", "returns": returned(got)}
    if not mask.size:
        return {"outcome": "equal"}
    check = compare.to_rounding(distmap.edt(mask, method="brute/cpu" if mask.size <= BRUTE else None), got)
    return {"outcome": "equal" if check.pop("equal") else "differs", **check}


def try_peak(prepare, shape, start_meter):
    """Bytes per element that one call takes at its peak, its result included, beyond the input as the contestant likes
    it. start_meter() returns a function that tells the bytes taken since."""
    mask = (np.random.default_rng(1).random(shape, np.float32) < 0.99).astype(np.uint8)
    try:
        warm, _ = prepare(mask[(slice(0, 8),) * mask.ndim].copy(), 1)  # loads code, starts threads
        warm()
        run, result = prepare(mask, 1)
        taken = start_meter()
        run()
        peak = taken()
        result()
    except Exception as error:
        return refused(error)
    return {"outcome": "equal", "bytes_per_element": peak / mask.size}


def answer(prepare, first, start_meter, end_failed=False):
    """The child's part: runs the trials from number `first` on, one line each. `end_failed`: up to one that fails, after
    which a GPU may be lost to the process."""
    for number in range(first, len(TRIALS)):
        if number < len(CASES):
            found = try_case(prepare, *CASES[number])
        else:
            found = try_peak(prepare, PEAK[number - len(CASES)], start_meter)
        print(json.dumps(found), flush=True)
        if end_failed and found["outcome"] in ("refused", "crashed"):
            return


def outcomes(program, name, library):
    """One for each trial; a child that ends early, dies, or takes too long is followed by another from the next one on."""
    found = []
    while len(found) < len(TRIALS):
        with tempfile.TemporaryFile("w+") as told:
            command = [sys.executable, program, name, str(len(found)), str(library)]
            process = subprocess.Popen(command, stdout=told, stderr=subprocess.DEVNULL)
            until, size = time.monotonic() + SECONDS, 0
            while process.poll() is None and time.monotonic() < until:
                time.sleep(0.02)
                if os.fstat(told.fileno()).st_size > size:
                    until, size = time.monotonic() + SECONDS, os.fstat(told.fileno()).st_size
            late = process.poll() is None
            process.kill()
            process.wait()
            told.seek(0)
            found += [json.loads(line) for line in told]
        if len(found) < len(TRIALS) and (late or process.returncode != 0):
            why = f"{SECONDS} s" if late else f"status {process.returncode}"
            found.append({"outcome": "timeout" if late else "crashed", "text": why})
    return found


def rows(program, names, library, groups):
    """One for each trial of these groups, with everybody's outcome."""
    by_name = {name: outcomes(program, name, library) for name in names}
    for number, (group, row, shape) in enumerate(TRIALS):
        if group in groups:
            peers = {name: found[number] for name, found in by_name.items()}
            yield {"group": group, "row": row, "shape": shape, "peers": peers,
                   "pass": peers["distmap"]["outcome"] == "equal"}


def line(row):
    """For the benches' tables."""
    def words(name, found):
        what = found.get("returns") or found.get("bytes_per_element") or found["outcome"]
        return f"{name} {what:.1f} B" if isinstance(what, float) else f"{name} {what}"
    return f"{row['group']}: {row['row']}: " + ", ".join(words(*peer) for peer in row["peers"].items())
