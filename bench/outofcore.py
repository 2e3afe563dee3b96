"""edt --memory against copying the same bytes through the same files, in turns, in one run.

For each shape the input is a mask of random bytes, of which one in 256 is a site; the memory is an eighth of it. In turns:

    copied by dd   what the run reads and writes: of a volume the mask to nowhere, zeros to a scratch file, that to a result
                   (1 + 4 + 4 + 4 bytes per element); of a plane, which needs no squares in between, the mask to nowhere
                   twice, zeros to a result (1 + 1 + 4)
    mapped         by the command, to NPY

The median of each counts: a disk that others share is at times twice as fast for one turn. Before each turn what is not on the
disk yet is written, and as root the system's cache is emptied; within a turn the cache takes what it has room for, for both
alike: where the machine's memory holds all files, what is measured is copying into and out of the cache. In the end the result is
compared with that of a run in memory.
"""

import argparse
import datetime
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import machine
from package import ROOT, use

GOAL = 0.6  # of the speed of copying
BAND = 1 << 24


def make_mask(path, shape, seed):
    generator = np.random.default_rng(seed)
    with open(path, "wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "|u1", "fortran_order": False, "shape": shape})
        for start in range(0, math.prod(shape), BAND):
            file.write(generator.bytes(min(BAND, math.prod(shape) - start)))


def clean():
    for name in ("scratch", "result", "result.npy"):
        Path(name).unlink(missing_ok=True)
    os.sync()
    if os.geteuid() == 0 and os.access("/proc/sys/vm/drop_caches", os.W_OK):
        Path("/proc/sys/vm/drop_caches").write_text("3")


def seconds(*commands):
    clean()
    start = time.perf_counter()
    told = [subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout for command in commands]
    return time.perf_counter() - start, told[-1]


def dd(source, target, count=None):
    sized = [f"count={count}", "iflag=count_bytes"] if count else []
    return ["dd", f"if={source}", f"of={target}", "bs=8M", "status=none", *sized]


def copies(shape):
    result = 4 * math.prod(shape)
    read = dd("mask.npy", "/dev/null")
    if len(shape) == 2:
        return [read, read, dd("/dev/zero", "result", result)]
    return [read, dd("/dev/zero", "scratch", result), dd("scratch", "result")]


def medians(row):
    return statistics.median(row["copy_s"]), statistics.median(row["map_s"])


def measure(command, shape, memory, turns):
    elements = math.prod(shape)
    edt = [command, "edt", "mask.npy", "--sites", "7", "-o"]
    taken = {"copy_s": [], "map_s": []}
    for _ in range(turns):
        taken["copy_s"].append(seconds(*copies(shape))[0])
        took, told = seconds([*edt, "result.npy", "--memory", str(memory), "--json", "--quiet"])
        taken["map_s"].append(took)
    told = json.loads(told)["memory"]
    subprocess.run([*edt, "want.npy", "--quiet"], check=True)
    equal = subprocess.run(["cmp", "result.npy", "want.npy"]).returncode == 0
    Path("want.npy").unlink()
    copied, mapped = medians(taken)
    share = copied / mapped
    moved = (6 if len(shape) == 2 else 13) * elements
    return {"shape": shape, "moved_bytes": moved, "memory_limit": memory, "memory_peak": told["peak"], "slabs": told["slabs"],
            **taken, "copy_gb_s": moved / copied / 1e9, "of_copying": share, "reach": GOAL,
            "equal": equal, "pass": equal and share >= GOAL and told["peak"] <= memory}


def line(row):
    copied, mapped = medians(row)
    return (f"| {' x '.join(map(str, row['shape']))} | {row['memory_limit'] >> 20} | {row['memory_peak'] >> 20} |"
            f" {row['moved_bytes'] / 1e9:.1f} | {copied:.2f} | {mapped:.2f} | {row['copy_gb_s']:.2f} |"
            f" {100 * row['of_copying']:.0f}% | {'ok' if row['pass'] else 'FAIL'}{'' if row['equal'] else ' (differs)'} |")


HEAD = ("| shape | limit, MiB | peak, MiB | GB moved | copied, s | mapped, s | copying, GB/s | of copying | |\n"
        "|---|---|---|---|---|---|---|---|---|")


def parse():
    parser = argparse.ArgumentParser(description="edt --memory against copying the same bytes, in one run.")
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--folder", type=Path, default=Path("."), help="where there is room for 9 bytes per element")
    parser.add_argument("--shape", action="append", help="as in 32768,32768; default: 1024,1024,1024 and 32768,32768")
    parser.add_argument("--memory", type=int, help="bytes; default: an eighth of the mask")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "little"))
    parser.add_argument("--output", type=Path, help="a file for the results, as JSON")
    options = parser.parse_args()
    options.shape = [tuple(map(int, shape.split(","))) for shape in options.shape or ["1024,1024,1024", "32768,32768"]]
    if any(len(shape) not in (2, 3) for shape in options.shape):
        parser.error("--shape: two or three axes")
    options.build = options.build.resolve()
    if not (options.build / "distmap").exists():
        parser.error(f"--build: {options.build}/distmap is not there; `make build` makes it")
    options.output = options.output and options.output.resolve()
    return options


def main():
    options = parse()
    use(options.build / "src/libdistmap.so")
    report = {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "seed": options.seed,
              **machine.describe(ROOT, options.build / "src/libdistmap.so"), "turns": options.turns, "rows": []}
    print(f"distmap {report['distmap']} ({report['commit']}), {report['cpu']}, {report['cores']} processors,"
          f" {report['memory_gb']} GB, seed {options.seed}\n\n{HEAD}", flush=True)
    with tempfile.TemporaryDirectory(prefix="outofcore-", dir=options.folder) as folder:
        os.chdir(folder)
        for shape in options.shape:
            make_mask("mask.npy", shape, options.seed)
            row = measure(options.build / "distmap", shape, options.memory or math.prod(shape) // 8, options.turns)
            report["rows"].append(row)
            print(line(row), flush=True)
        os.chdir("/")
    if options.output:
        options.output.write_text(json.dumps(report, indent=1) + "\n")
    return 0 if all(row["pass"] for row in report["rows"]) else 1


if __name__ == "__main__":
    sys.exit(main())
