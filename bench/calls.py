"""The time of a call from Python: small images, crops from a list, the import; beside OpenCV's precise transform and SciPy's.

    build/bench-venv/bin/python bench/calls.py [--library PATH] [--rounds N] [--only images,crops,import] [--output JSON]

tools/bench.sh makes that Python. Images are uint8, an ellipse in each, results float32. Contestants are called in turns, each for a
slice of some milliseconds; figures are the least of all rounds, in microseconds (crops: milliseconds, the sum over lists of 50), since on
a machine with other work nothing else can be compared. Results are compared, outside the clock. OpenCV and SciPy get one thread, since
that is all that they use for such images.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import cv2
import machine
import numpy as np
import package
import scipy.ndimage
from package import distmap

ROOT = Path(__file__).resolve().parent.parent
CROPS, PART = 10_000, 50  # of a list that is measured by itself


def ellipse(height, width):
    y, x = np.mgrid[:height, :width]
    return ((((2 * y + 1) / height - 1) ** 2 + ((2 * x + 1) / width - 1) ** 2) < 0.8).astype(np.uint8)


def opencv(mask, out=None):
    return cv2.distanceTransform(mask, cv2.DIST_L2, cv2.DIST_MASK_PRECISE, out)


def least(contestants, rounds, seconds):
    """{name: seconds of one call}: slices of about so many seconds, in turns whose order moves on."""
    counts, best = {}, {}
    for name, call in contestants.items():
        call()
        start = time.perf_counter()
        call()
        counts[name] = max(1, int(seconds / (time.perf_counter() - start)))
    names = list(contestants)
    for turn in range(rounds):
        for name in names[turn % len(names):] + names[:turn % len(names)]:
            call, count = contestants[name], counts[name]
            start = time.perf_counter()
            for _ in range(count):
                call()
            best[name] = min(best.get(name, 1e9), (time.perf_counter() - start) / count)
    return best


def same(ours, theirs):
    assert np.allclose(ours, theirs, rtol=4e-7), "results differ"


def images(rounds):
    for n in (16, 64, 256, 1024):
        mask, out, theirs = ellipse(n, n), np.empty((n, n), np.float32), np.empty((n, n), np.float32)
        plan = distmap.Plan(mask.shape, mask.dtype, {"distance": np.float32}).bind(mask, distance=out)
        same(distmap.edt(mask), opencv(mask))
        same(distmap.edt(mask), scipy.ndimage.distance_transform_edt(mask))
        yield f"{n} x {n}", 1e6, least({
            "edt(out=)": lambda: distmap.edt(mask, out=out), "edt": lambda: distmap.edt(mask), "plan": plan,
            "OpenCV(dst)": lambda: opencv(mask, theirs), "OpenCV": lambda: opencv(mask),
            "SciPy": lambda: scipy.ndimage.distance_transform_edt(mask)}, rounds, 0.002)


def crops(rounds):
    rng = np.random.default_rng(1)
    masks = [ellipse(*rng.integers(24, 61, 2)) for _ in range(CROPS)]
    for ours, mask in zip(distmap.edt_many(masks), masks):
        same(ours, opencv(mask))
    parts = [masks[first:first + PART] for first in range(0, CROPS, PART)]
    told = [least({
        "edt_many, 1 thread": lambda: distmap.edt_many(part, threads=1),
        "edt, loop": lambda: [distmap.edt(mask) for mask in part], "OpenCV, loop": lambda: [opencv(mask) for mask in part],
        "SciPy, loop": lambda: [scipy.ndimage.distance_transform_edt(mask) for mask in part]}, max(3, rounds // 20), 0) for part in parts]
    yield f"{CROPS} crops of 24^2 to 60^2", 1e3, {name: sum(one[name] for one in told) for name in told[0]}
    yield "  at once", 1e3, least({"edt_many": lambda: distmap.edt_many(masks)}, rounds // 4, 0)


IMPORT = "import time, numpy; start = time.perf_counter(); import distmap; print(time.perf_counter() - start)"


def imports(rounds):
    def once():
        told = subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, text=True, check=True,
                              env={"PYTHONPATH": str(ROOT / "python"), **package.environment()})
        return float(told.stdout)
    yield "import, after NumPy", 1e3, {"distmap": min(once() for _ in range(max(3, rounds // 20)))}


GROUPS = {"images": images, "crops": crops, "import": imports}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", type=Path, default=ROOT / "build/release/src/libdistmap.so")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--only", default=",".join(GROUPS))
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    package.use(options.library)
    cv2.setNumThreads(1)
    rows = []
    for group in options.only.split(","):
        for what, scale, told in GROUPS[group](options.rounds):
            unit = "us" if scale == 1e6 else "ms"
            print(f"{what:28}", "  ".join(f"{name} {seconds * scale:.4g} {unit}" for name, seconds in told.items()), flush=True)
            rows.append({"what": what, "seconds": told})
    if options.output:
        record = {**machine.describe(ROOT, options.library), "rounds": options.rounds, "rows": rows}
        options.output.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
