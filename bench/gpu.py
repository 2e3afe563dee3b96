#!/usr/bin/env python3
"""The bench of the GPU part: its table of reaches, on one NVIDIA GPU, from device memory to device memory.

Every row makes a fresh image on the GPU, takes times by events with the L2 cache overwritten (stopwatch.py), compares
the result with the CPU's to the bit, and where CuPy can, times its distance_transform_edt in turns with ours. The floor
is reading the mask once and writing the outputs once, at the bandwidth of a copy measured in the same run.
"""

import argparse
import datetime
import json
import os
import re
import statistics
import sys
import time
from pathlib import Path

try:
    import numpy as np
    import cupy as cp
    from cupyx import empty_pinned
    from cupyx.scipy.ndimage import distance_transform_edt
except ImportError as error:
    sys.exit(f"bench/gpu.py needs NumPy and CuPy (cupy-cuda13x) in this Python: {error}")

import compare
import gpu_conduct
import gpu_operations
import machine
import patterns
import trials
from compare import ratio
from gpu_rows import CAP, GROUPS, capped_rows, rows
from package import ROOT, distmap, use
from stopwatch import Stopwatch, summary

PRODUCTION = "minplus/cuda"
DTYPES = {"distance": np.float32, "index": np.int32, "mask": np.uint8}
POISON = 0x7FA5A5A5  # a NaN
CHECKED = 1 << 28       # elements up to which the CPU computes the same in every run; beyond with --full
GRAPH_ELEMENTS = 1 << 22  # images up to this size are timed as a captured graph too


def told(error):
    """What stands in a row for what failed: CuPy has many kinds of errors, and the other rows still count."""
    return {"error": f"{type(error).__name__}: {error}"}


class Bench:
    def __init__(self, options, watch, gpu, cpu):
        self.options, self.watch, self.gpu, self.cpu = options, watch, gpu, cpu
        self.copy_gb_s = watch.copy_bandwidth()
        self.published = self.find_published(device_of(gpu).name)

    @staticmethod
    def find_published(gpu_name):
        """Figures measured elsewhere on the same kind of GPU: {size: {pattern: ms}}."""
        files = (json.loads(path.read_text()) for path in sorted((ROOT / "bench/published").glob("*.json")))
        return next((file["rows"] for file in files if gpu_name.startswith(file["gpu"])), {})

    def image(self, row):
        return patterns.make(row.pattern, row.shape, self.options.seed, cp)

    def bound(self, mask, want, host_views=False, outputs=None, cap=False, **problem):
        """A plan, its call, and the outputs that it writes to. `problem`: what it is but for a plain map of a mask. `cap`: with
        the shared memory of lesser GPUs."""
        outputs = outputs or {name: cp.empty(mask.shape, DTYPES[name]) for name in want}
        method = PRODUCTION if cap else None if problem else self.options.method
        plan = distmap.Plan(mask.shape, mask.dtype, {name: DTYPES[name] for name in want}, context=self.gpu, method=method,
                            params={"shared": CAP} if cap else None, host_views=host_views, **problem)
        self.poison(outputs)
        return plan, plan.bind(mask, **outputs), outputs

    @staticmethod
    def poison(outputs):
        for array in outputs.values():
            (array if array.flags.c_contiguous else array.T).view(np.uint32).fill(POISON)

    def expected(self, mask, want, **problem):
        """What the CPU gives, as arrays in host memory; None for images too large for this run."""
        if mask.size > CHECKED and not self.options.full:
            return None
        outputs = {name: np.empty(mask.shape, DTYPES[name]) for name in want}
        plan = distmap.Plan(mask.shape, mask.dtype, {name: DTYPES[name] for name in want}, context=self.cpu, **problem)
        plan(cp.asnumpy(mask), **outputs)
        return outputs

    def check(self, plan, run, outputs, expected):
        """Calls once more, over poison, and compares."""
        self.poison(outputs)
        run()
        plan.wait()
        self.watch.wait()
        if expected is None:
            return {"equal": None}
        if isinstance(next(iter(outputs.values())), np.ndarray):
            return compare.to_the_bit(outputs, expected)
        for name, array in expected.items():  # one at a time takes less memory
            result = compare.to_the_bit(outputs, {name: cp.asarray(array)}, cp)
            if not result["equal"]:
                break
        return result

    # ---- One function for each kind of row; each returns what it found ----

    def distances(self, row):
        mask = self.image(row)
        plan, run, outputs = self.bound(mask, row.want)
        calls, graph = {"distmap": run}, {}
        if mask.size <= GRAPH_ELEMENTS:
            run()  # capture what is loaded
            self.watch.wait()
            try:
                calls["graph"] = self.watch.capture(run)
            except Exception as error:
                graph = told(error)
        times = self.watch.turns(calls)
        cupy = self.cupy(mask, run, outputs["distance"]) if row.peer else None
        expected = self.expected(mask, row.want)
        if "graph" in calls:
            graph = summary(times["graph"]) | self.check(plan, calls["graph"], outputs, expected)
        result = self.verdict(mask, row, plan, times["distmap"], self.check(plan, run, outputs, expected))
        if published := self.published.get(row.size, {}).get(row.pattern):
            result["pba_plus"] = {"ms": published, "ratio": published / result["ms"]}
        return result | ({"graph": graph} if graph else {}) | ({"cupy": cupy} if cupy else {})

    def verdict(self, mask, row, plan, times, check, value=None):
        """`value` is what the row's reach is about: its time, if nothing else."""
        median, floor = statistics.median(times), mask.size * (1 + 4 * len(row.want)) / self.copy_gb_s / 1e6
        result = {"value": median if value is None else value, **summary(times), "check": check,
                  "method": plan.describe().method, "sites": int(mask.size - cp.count_nonzero(mask))}
        return result if row.memory else result | {"floor_ms": floor, "share_of_copy": floor / median}

    def cupy(self, mask, run, ours, spacing=()):
        """CuPy's time in turns with ours, or why there is none."""
        kept = {}

        def theirs():
            kept.clear()  # its memory is used again
            kept["distance"] = distance_transform_edt(mask, sampling=spacing or None, float64_distances=False)
        try:
            times = self.watch.turns({"distmap": run, "cupy": theirs})
            agreement = compare.to_rounding(ours, kept["distance"], cp, spacing)
        except Exception as error:
            return told(error)
        return {**summary(times["cupy"]), "ratio": ratio(times["cupy"], times["distmap"]), **agreement}

    def pitches(self, row):
        """Real pitches, in turns with pitches of 1, and with CuPy, of whose time the reach is."""
        mask = self.image(row)
        plan, run, outputs = self.bound(mask, row.want, spacing=row.spacing)
        _, unit, _ = self.bound(mask, row.want)
        times = self.watch.turns({"distmap": run, "unit": unit})
        check = self.check(plan, run, outputs, self.expected(mask, row.want, spacing=row.spacing))
        cupy = self.cupy(mask, run, outputs["distance"], row.spacing)
        return self.verdict(mask, row, plan, times["distmap"], check, cupy.get("ratio", 0.0)) | {
            "unit_ms": statistics.median(times["unit"]), "of_unit": ratio(times["distmap"], times["unit"]), "cupy": cupy}

    def orders(self, row):
        """Fortran order in turns with C order: the same bytes in and out, whose axes have other names."""
        mask = self.image(row)
        spacings = [{"spacing": row.spacing[::step]} if row.spacing else {} for step in (1, -1)]
        _, other, outputs = self.bound(mask, row.want, **spacings[1])
        turned = {name: array.T for name, array in outputs.items()}
        plan, run, _ = self.bound(mask.T, row.want, outputs=turned, order=tuple(range(mask.ndim))[::-1], **spacings[0])
        times = self.watch.turns({"distmap": run, "other": other})
        check = self.check(plan, run, outputs, self.expected(mask, row.want, **spacings[1]))
        return self.verdict(mask, row, plan, times["distmap"], check, ratio(times["distmap"], times["other"])) | {
            "c_order_ms": statistics.median(times["other"])}

    def capped(self, row):
        """With the shared memory of lesser GPUs, in turns with all of it, whose result is the one to compare with: the CPU has
        its say where the row is measured without a cap. Both write into the same memory."""
        array, problem = self.image(row) if row.group != "operations" else None, {}
        if row.group == "operations":
            array, _, problem, *_ = gpu_operations.PREPARE[row.pattern](self, row.shape)
        if row.spacing:
            problem["spacing"] = row.spacing
        plain, turned = None, None
        if row.group == "order":
            array, problem["order"] = array.T, tuple(range(array.ndim))[::-1]
            plain = {name: cp.empty(array.shape[::-1], DTYPES[name]) for name in row.want}
            turned = {name: out.T for name, out in plain.items()}
        whole, all_of_it, outputs = self.bound(array, row.want, outputs=turned, **problem)
        plan, run, _ = self.bound(array, row.want, outputs=outputs, cap=True, **problem)
        times = self.watch.turns({"capped": run, "whole": all_of_it})
        plain = plain or outputs
        all_of_it()
        whole.wait()
        self.watch.wait()
        check = self.check(plan, run, plain, {name: out.copy() for name, out in plain.items()})
        return {"value": ratio(times["capped"], times["whole"]), **summary(times["capped"]), "check": check,
                "whole_ms": statistics.median(times["whole"]), "method": plan.describe().method}

    def indices(self, row):
        """Distances with indices, in turns with distances alone."""
        mask = self.image(row)
        _, alone, _ = self.bound(mask, ("distance",))
        plan, both, outputs = self.bound(mask, row.want)
        times = self.watch.turns({"both": both, "alone": alone})
        check = self.check(plan, both, outputs, self.expected(mask, row.want))
        return self.verdict(mask, row, plan, times["both"], check, ratio(times["both"], times["alone"])) | {
            "alone_ms": statistics.median(times["alone"])}

    def host(self, row):
        """Host views, in turns with the transfers alone: the mask up, then distances down, each by one call of CUDA."""
        make = {"page-locked": empty_pinned, "pageable": np.empty}[row.memory]
        there, distance = self.image(row), cp.zeros(row.shape, np.float32)
        mask, back = make(row.shape, np.uint8), make(row.shape, np.float32)
        outputs = {"distance": make(row.shape, np.float32)}
        there.get(out=mask)
        back.fill(0)
        plan, run, _ = self.bound(mask, row.want, host_views=True, outputs=outputs)
        runtime, stream = cp.cuda.runtime, self.watch.stream.ptr

        def transfers():
            runtime.memcpyAsync(there.data.ptr, mask.ctypes.data, mask.nbytes, runtime.memcpyHostToDevice, stream)
            runtime.memcpyAsync(back.ctypes.data, distance.data.ptr, back.nbytes, runtime.memcpyDeviceToHost, stream)
        times = self.watch.host_turns({"distmap": run, "transfers": transfers})
        check = self.check(plan, run, outputs, self.expected(there, row.want))
        return self.verdict(there, row, plan, times["distmap"], check, ratio(times["distmap"], times["transfers"])) | {
            "transfers": summary(times["transfers"])}

    def operations(self, row):
        return gpu_operations.measure(self, row)

    def scratch(self, row):
        want = {name: DTYPES[name] for name in row.want}
        size = distmap.scratch_bytes(row.shape, np.uint8, want, context=self.gpu, method=self.options.method)
        return {"value": size / row.elements, "bytes": size}

    def measure(self, row):
        kinds = {"index": self.indices, "host": self.host, "scratch": self.scratch, "operations": self.operations,
                 "pitch": self.pitches, "order": self.orders}
        head = {"group": "capped" if row.capped else row.group, "row": row.name, "shape": row.shape, "reach": row.reach,
                "push": row.push, **({"spacing": row.spacing} if row.spacing else {}),
                **({"at_least": True} if row.at_least else {})}
        kind = self.capped if row.capped else kinds.get(row.group, self.distances)
        try:
            cp.get_default_memory_pool().free_all_blocks()  # plans take their memory from CUDA, not from CuPy's pools
            cp.get_default_pinned_memory_pool().free_all_blocks()
            result = head | kind(row)
        except Exception as error:
            return head | told(error) | {"pass": False}
        right = all(check.get("equal") is not False for check in (result.get("check", {}), result.get("graph", {})))
        value = result["value"]
        result["pass"] = right and (row.reach is None or (value >= row.reach if row.at_least else value <= row.reach))
        return result


def line(r):
    if r["group"] in ("cases", "peak"):
        return trials.line(r)
    def number(value, unit=""):
        return "" if value is None else f"{value:.3g}{unit}"
    def short(error):
        return error.splitlines()[0]
    if "error" in r:
        return f"| {r['row']} | | | | {number(r['reach'])} | **FAIL**: {short(r['error'])} | | | | |"
    check, graph, cupy = r.get("check", {}), r.get("graph", {}), r.get("cupy", {})
    unit = "x" if "base_ms" in r or r["group"] in ("index", "host", "pitch", "order", "capped") else {
        "scratch": " B"}.get(r["group"], "")
    verdict = "pass" if r["reach"] else ""
    if r["push"] and r["value"] <= r["push"]:
        verdict = "push"
    if not r["pass"]:
        verdict = "**FAIL**"
    equal = {True: "yes", False: f"**NO**: {check.get('off')} of {check.get('output')}, first at {check.get('at')}",
             None: "unchecked" if check else ""}[check.get("equal")]
    if graph.get("equal") is False:
        equal += ", **not as a graph**"
    beside = (short(cupy["error"])[:60] if "error" in cupy else
              number(cupy.get("ratio"), "x") + ("" if cupy.get("equal", True) else " (differs)"))
    ms = f"{r['ms']:.4g} [{r['least']:.4g}, {r['most']:.4g}]" if "ms" in r else ""
    return (f"| {r['row']} | {ms} | {'-' if 'error' in graph else number(graph.get('ms'))} |"
            f" {number(r['value'], unit) if unit else ''} | {number(r['reach'], unit)} | {verdict} | {equal} |"
            f" {number(100 * r['share_of_copy'], '%') if 'share_of_copy' in r else ''} | {beside} |"
            f" {number(r.get('pba_plus', {}).get('ratio'), 'x')} |")


HEAD = ("| row | ms [least, most] | as a graph | value | reach | | equal | of copy | CuPy | PBA+ |\n"
        "|---|---|---|---|---|---|---|---|---|---|")


def parse():
    parser = argparse.ArgumentParser(description="distmap on an NVIDIA GPU: times, floors, peers.")
    parser.add_argument("--library", type=Path, default=ROOT / "build/release/src/libdistmap.so")
    parser.add_argument("--only", default=",".join(GROUPS),
                        help=f"groups of rows, or how they begin, of {','.join(GROUPS)}")
    parser.add_argument("--pattern", default="", help="only these patterns, as in 50%%,blobs")
    parser.add_argument("--capped", action="store_true", help="every row with the shared memory of lesser GPUs"
                        f" (--param shared={CAP}), in turns with the same with all of it, in place of the rows themselves")
    parser.add_argument("--full", action="store_true", help="compare with the CPU beyond 2^28 elements too")
    parser.add_argument("--repeat", type=int, default=9, help="at least so many repetitions")
    parser.add_argument("--method", help="a method's name; default: the library's choice")
    parser.add_argument("--ordinal", type=int, default=0, help="which GPU")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "little"))
    parser.add_argument("--commit", help="what to call the build, where there is no git")
    parser.add_argument("--output", type=Path, help="default: bench/results/GPU.json, GPU-capped.json with --capped; none with"
                        " --only or --pattern")
    options = parser.parse_args()
    begins = [name for name in options.only.split(",") if name]
    if unknown := [name for name in begins if not any(group.startswith(name) for group in GROUPS)]:
        parser.error(f"--only: no group {', '.join(unknown)}; groups are {', '.join(GROUPS)}")
    options.groups = [group for group in GROUPS if group.startswith(tuple(begins))]
    options.pattern = [p for p in options.pattern.split(",") if p]
    if unknown := set(options.pattern) - {row.pattern for row in rows()}:
        parser.error(f"--pattern: no {', '.join(sorted(unknown))} among the rows")
    if options.capped and options.method not in (None, PRODUCTION):
        parser.error(f"--capped: of {PRODUCTION} alone")
    if options.repeat < 3:
        parser.error("--repeat: at least 3")
    if options.seed < 0:
        parser.error("--seed: not below 0")
    if not options.library.exists():
        parser.error(f"--library: {options.library} is not there; `make build` makes it")
    return options


def device_of(context):
    return next(device for device in distmap.devices() if device.device == context.device)


def describe(options, watch, gpu):
    info = device_of(gpu)
    smi = machine.output_of("nvidia-smi", f"--id={watch.device.pci_bus_id}", "--format=csv,noheader",
                            "--query-gpu=driver_version,clocks.max.sm,clocks.max.mem,power.limit").split(", ")
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "seed": options.seed,
        **machine.describe(ROOT, options.library), **({"commit": options.commit} if options.commit else {}),
        "gpu": {"name": info.name, "memory_bytes": info.memory_bytes, "multiprocessors": info.multiprocessors,
                "capability": list(info.capability), "driver_cuda": list(info.driver), "runtime": list(info.runtime),
                **(dict(zip(("driver", "clock", "memory_clock", "power_limit"), smi)) if len(smi) == 4 else {})},
        "versions": {"cupy": cp.__version__, "numpy": np.__version__}, "repeat": options.repeat,
    }


def results(bench, options):
    for row in capped_rows() if options.capped else rows():
        if row.group in options.groups and not (options.pattern and row.pattern not in options.pattern):
            yield bench.measure(row)
    if (wanted := {"cases", "peak"} & set(options.groups)) and not options.capped:
        yield from gpu_conduct.rows(options.library, wanted)


def main():
    options = parse()
    start = time.monotonic()
    try:
        use(options.library)
        gpu = distmap.Context(f"cuda:{options.ordinal}")
        watch = Stopwatch(options.ordinal, options.repeat)
        gpu.set_stream(watch.stream.ptr)
    except Exception as error:
        sys.exit(f"bench/gpu.py: {error}")
    report = describe(options, watch, gpu)
    bench = Bench(options, watch, gpu, distmap.Context())
    report |= {"device_copy_gb_s": bench.copy_gb_s, "rows": []}
    name = report["gpu"]["name"]
    if options.output is None and options.groups == list(GROUPS) and not options.pattern:
        options.output = ROOT / "bench/results" / f"{re.sub('[^a-z0-9]+', '-', name.lower()).strip('-')}{'-capped' * options.capped}.json"
    driver = report["gpu"].get("driver", "unknown")
    print(f"distmap {report['distmap']} ({report['commit']}) on {name}, driver {driver}, seed {options.seed},"
          f" device copy {bench.copy_gb_s:.0f} GB/s, CuPy {cp.__version__}\n\n{HEAD}", flush=True)
    for result in results(bench, options):
        report["rows"].append(result)
        print(line(report["rows"][-1]), flush=True)
        if options.output:  # after each row: a run that is cut off leaves what it has
            options.output.parent.mkdir(parents=True, exist_ok=True)
            options.output.write_text(json.dumps(report, indent=1) + "\n")
    failed = [r for r in report["rows"] if not r["pass"]]
    print(f"\n{len(report['rows'])} rows, {len(failed)} failed, {time.monotonic() - start:.0f} s")
    if options.output:
        print(f"wrote {options.output}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
