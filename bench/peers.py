#!/usr/bin/env python3
"""The race: distmap against other libraries, on the same arrays in the same process.

Every row prepares one image, calls each contestant once to warm up and to compare results, and then times rounds in
which the contestants take turns (A B C A B C ...). A ratio is the median of the rounds' own ratios, so that a slow moment
of the machine hits both sides. Times are ns per element. Only ratios within one run mean something.
"""

import argparse
import datetime
import json
import math
import os
import statistics
import sys
import time
from pathlib import Path

import numpy as np

import compare
import conduct
import contestants
import machine
import operations
import patterns
import trials
from compare import ratio
from package import ROOT, distmap, use
from rows import MEMORY, race

GROUPS = ("2d", "3d", "size", "index", "threads", "worst", "pitch", "order", "operations", "memory", "cases", "peak")
REFERENCE = "envelope/cpu"  # another exact method, which must give the bits of the one that is measured


def clock(run):
    start = time.perf_counter()
    run()
    return (time.perf_counter() - start) * 1e9


def take_turns(calls, rounds):
    """{name: [ns, ...]}: each round calls everybody once, and the order moves on by one from round to round."""
    times = {name: [] for name in calls}
    names = list(calls)
    for i in range(rounds):
        for name in names[i % len(names):] + names[:i % len(names)]:
            times[name].append(clock(calls[name]))
    return times


class Race:
    def __init__(self, options):
        self.options = options
        self.seed = options.seed
        self.image = (None, None)  # the last one made

    def mask(self, row):
        key = (row.pattern, row.shape)
        if self.image[0] != key:
            self.image = (None, None)
            self.image = (key, patterns.make(row.pattern, row.shape, self.seed))
        return self.image[1]

    def ours(self, mask, threads, spacing=(), method=None, into=None, **want):
        """A bound plan with warm outputs, which lie in memory as the mask does, and the outputs. `into`: outputs that are
        there: two of our own go through the same memory, since pages are large in one place and small in another."""
        fortran = not mask.flags.c_contiguous
        plan = distmap.Plan(mask.shape, mask.dtype, want, context=distmap.Context(threads=threads),
                            method=method or self.options.method, spacing=spacing or None,
                            order=tuple(range(mask.ndim))[::-1] if fortran else None)
        outputs = into or {name: np.zeros(mask.shape, kind, "F" if fortran else "C") for name, kind in want.items()}
        run = plan.bind(mask, **outputs)
        run()
        return run, outputs

    def against_peers(self, row, threads):
        mask = self.mask(row)
        dims = mask.ndim
        run, outputs = self.ours(mask, threads, row.spacing, distance=np.float32)
        calls, checks, slow = {"distmap": run}, {}, {}
        for name, (prepare, *_) in contestants.PEERS.items():
            there = contestants.takes(name, dims, row.spacing)
            rival = there and (name == row.rival or name.startswith(row.rival + "-"))
            if not rival and not (row.others and there and not self.options.quick):
                continue
            call, result = prepare(mask, threads, row.spacing)
            call()
            checks[name] = compare.to_rounding(outputs["distance"], result(), pitches=row.spacing)
            if rival:
                calls[name] = call
            else:
                slow[name] = take_turns({"distmap": run, name: call}, 1)
            del call, result
        times = take_turns(calls, self.options.rounds)
        mine = times.pop("distmap")
        peers = {name: self.peer(t, mine, mask, checks[name]) for name, t in times.items()}
        peers |= {name: self.peer(t[name], t["distmap"], mask, checks[name]) for name, t in slow.items()}
        # Of a rival's two paths the faster one counts.
        rival = min((p for p in times), key=lambda p: peers[p]["ns"])
        return self.verdict(row, threads, mask, mine, rival, peers[rival]["ratio"], peers=peers)

    @staticmethod
    def peer(theirs, mine, mask, check):
        return {"ns": statistics.median(theirs) / mask.size, "least": min(theirs) / mask.size, "ratio": ratio(theirs, mine), "rounds": len(theirs), **check}

    def indices(self, row, threads):
        mask = self.mask(row)
        wide = np.int32 if mask.size < 2**31 else np.int64
        both, _ = self.ours(mask, threads, distance=np.float32, index=wide)
        if row.rival == "self":
            alone, _ = self.ours(mask, threads, distance=np.float32)
            rounds = 3 * self.options.rounds
        else:
            alone, _ = contestants.PEERS[row.rival][0](mask, threads)
            alone()
            rounds = self.options.rounds
        times = take_turns({"ours": both, "other": alone}, rounds)
        value = ratio(times["ours"], times["other"]) if row.at_most else ratio(times["other"], times["ours"])
        return self.verdict(row, threads, mask, times["ours"], row.against or row.rival, value,
                            rival_ns=statistics.median(times["other"]) / mask.size)

    def threads(self, row, _):
        mask = self.mask(row)
        times = take_turns({n: self.ours(mask, n, distance=np.float32)[0] for n in (1, 2)}, 3 * self.options.rounds)
        return self.verdict(row, 2, mask, times[2], row.against, ratio(times[1], times[2]),
                            rival_ns=statistics.median(times[1]) / mask.size)

    def worst(self, row, threads):
        blobs = patterns.make("blobs", row.shape, self.seed)
        mask = self.mask(row)
        calls = {"worst": self.ours(mask, threads, distance=np.float32)[0],
                 "blobs": self.ours(blobs, threads, distance=np.float32)[0]}
        times = take_turns(calls, 3 * self.options.rounds)
        return self.verdict(row, threads, mask, times["worst"], row.against, ratio(times["worst"], times["blobs"]),
                            rival_ns=statistics.median(times["blobs"]) / mask.size)

    def pitches(self, row, threads):
        """Against peers, or in turns with pitches of 1; then the result has the bits of another exact method."""
        if row.pattern in operations.PREPARE:
            return self.operation(row, threads)
        if row.rival != "self":
            return self.against_peers(row, threads)
        mask = self.mask(row)
        run, outputs = self.ours(mask, threads, row.spacing, distance=np.float32)
        _, reference = self.ours(mask, threads, row.spacing, REFERENCE, distance=np.float32)
        check = compare.to_the_bit(outputs, reference)
        del reference
        other, _ = self.ours(mask, threads, into=outputs, distance=np.float32)
        return self.in_turns(row, threads, mask, run, other, check)

    def orders(self, row, threads):
        """Fortran order in turns with C order: the same bytes, whose axes have other names."""
        mask = self.mask(row)
        other, outputs = self.ours(mask, threads, row.spacing[::-1], distance=np.float32)
        expected = {"distance": outputs["distance"].copy()}
        outputs["distance"].fill(np.nan)
        run, _ = self.ours(mask.T, threads, row.spacing, into={"distance": outputs["distance"].T}, distance=np.float32)
        check = compare.to_the_bit(outputs, expected)
        return self.in_turns(row, threads, mask, run, other, check)

    def in_turns(self, row, threads, mask, run, other, check):
        """Two of our own, the first of which must have been right."""
        times = take_turns({"ours": run, "other": other}, 3 * self.options.rounds)
        made = self.verdict(row, threads, mask, times["ours"], row.against, ratio(times["ours"], times["other"]),
                            rival_ns=statistics.median(times["other"]) / mask.size)
        return made | {"rival_least": min(times["other"]) / mask.size, "equal": check["equal"],
                       "pass": made["pass"] and check["equal"]}

    def operation(self, row, threads):
        mask, run, theirs, check = operations.PREPARE[row.pattern](row, threads, self.seed)
        run()
        theirs()
        peers = check()
        times = take_turns({"ours": run, "other": theirs}, self.options.rounds)
        value = ratio(times["ours"], times["other"]) if row.at_most else ratio(times["other"], times["ours"])
        made = self.verdict(row, threads, mask, times["ours"], row.against or row.rival, value,
                            rival_ns=statistics.median(times["other"]) / mask.size)
        return made | ({"peers": {row.rival: self.peer(times["other"], times["ours"], mask, peers)}} if peers else {})

    @staticmethod
    def verdict(row, threads, mask, mine, rival, value, rival_ns=None, peers=None):
        reached = row.reach is None or (value <= row.reach if row.at_most else value >= row.reach)
        return {"group": row.group, "row": row.name, "shape": mask.shape, "threads": threads,
                "sites": int(mask.size - np.count_nonzero(mask)), "ns": statistics.median(mine) / mask.size,
                "least": min(mine) / mask.size, "rounds": len(mine), "rival": rival,
                "rival_ns": peers[rival]["ns"] if peers else rival_ns, "ratio": value,
                **({"spacing": row.spacing} if row.spacing else {}),
                "reach": row.reach, "at_most": row.at_most, "pass": reached,
                **({"peers": peers} if peers else {})}

    def memory(self):
        for shape, reach in MEMORY:
            for threads in (1, 2):
                for want in ({"distance": np.float32}, {"distance": np.float32, "index": np.int32}):
                    scratch = distmap.scratch_bytes(shape, np.uint8, want, context=distmap.Context(threads=threads),
                                                    method=self.options.method)
                    per_element = scratch / math.prod(shape)
                    stated = reach if "index" not in want else None
                    yield {"group": "memory", "row": f"{shape[0]}^{len(shape)} {' + '.join(want)}", "shape": shape,
                           "threads": threads, "bytes_per_element": per_element, "reach": stated, "at_most": True,
                           "pass": stated is None or per_element <= stated}

    def run(self):
        measure = {"2d": self.against_peers, "3d": self.against_peers, "size": self.against_peers,
                   "index": self.indices, "threads": self.threads,
                   "worst": self.worst, "pitch": self.pitches, "order": self.orders, "operations": self.operation}
        for row in race() + operations.rows():
            if row.group not in self.options.only or self.options.quick and max(row.shape) > (4096, 256)[len(row.shape) - 2]:
                continue
            if self.options.pattern and row.pattern not in self.options.pattern:
                continue
            for threads in self.options.threads if row.group in ("2d", "3d", "size", "pitch", "order") else (1,):
                yield measure[row.group](row, threads)
        if "memory" in self.options.only:
            yield from self.memory()
        if wanted := {"cases", "peak"} & set(self.options.only):
            yield from conduct.rows(self.options.library, wanted)


def line(r):
    if r["group"] in ("cases", "peak"):
        return trials.line(r)
    bound = "" if r["reach"] is None else f"{'<=' if r['at_most'] else '>='} {r['reach']:g}"
    verdict = "pass" if r["pass"] else "**FAIL**"
    if r["group"] == "memory":
        return f"| {r['row']} | {r['threads']} | {r['bytes_per_element']:.3f} B | | | | {bound} | {verdict} |"
    inexact = sorted(n for n, p in r.get("peers", {}).items() if not p["equal"])
    inexact += [] if r.get("equal", True) else ["distmap"]
    return (f"| {r['row']} | {r['threads']} | {r['ns']:.3f} | {r['rival']} | {r['rival_ns']:.2f} | {r['ratio']:.2f} | {bound} |"
            f" {verdict}{' (differs: ' + ', '.join(inexact) + ')' if inexact else ''} |")


HEAD = "| row | threads | ns per element | against | its ns | ratio | reach | |\n|---|---|---|---|---|---|---|---|"


def parse():
    parser = argparse.ArgumentParser(description="distmap against its peers, in one run.")
    parser.add_argument("--library", type=Path, default=ROOT / "build/release/src/libdistmap.so")
    parser.add_argument("--only", default=",".join(GROUPS), help=f"groups of rows, of {','.join(GROUPS)}")
    parser.add_argument("--pattern", default="", help="only these patterns, as in 50%%,blobs")
    parser.add_argument("--threads", default="1", help="thread counts for the 2d, 3d, size, pitch and order rows, as in 1,2")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--method", help="a method's name; default: the library's choice")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "little"))
    parser.add_argument("--quick", action="store_true", help="small sizes, and the main rival only")
    parser.add_argument("--output", type=Path, help="default: bench/results/MACHINE.json; with --quick or --pattern none")
    options = parser.parse_args()
    options.only = options.only.split(",")
    options.pattern = [p for p in options.pattern.split(",") if p]
    options.threads = [int(n) for n in options.threads.split(",")]
    if unknown := set(options.only) - set(GROUPS):
        parser.error(f"--only: no group {', '.join(sorted(unknown))}; groups are {', '.join(GROUPS)}")
    if unknown := set(options.pattern) - set(patterns.PATTERNS):
        parser.error(f"--pattern: no {', '.join(sorted(unknown))}; patterns are {', '.join(patterns.PATTERNS)}")
    if options.rounds < 1:
        parser.error("--rounds: at least 1")
    if not options.library.exists():
        parser.error(f"--library: {options.library} is not there; `make build` makes it")
    if options.output is None and not options.quick and not options.pattern:
        options.output = ROOT / "bench/results" / f"{machine.slug()}.json"
    return options


def main():
    options = parse()
    use(options.library)
    contestants.warm_memory()
    start = time.monotonic()
    report = {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "seed": options.seed,
              **machine.describe(ROOT, options.library), "versions": contestants.versions(), "rows": []}
    print(f"distmap {report['distmap']} ({report['commit']}), {report['isa']}, {report['cpu']}, seed {options.seed}, copy"
          f" {report['copy_gb_s']:.1f} GB/s\n\n{HEAD}", flush=True)
    for result in Race(options).run():
        report["rows"].append(result)
        print(line(result), flush=True)
    failed = [r for r in report["rows"] if not r["pass"]]
    print(f"\n{len(report['rows'])} rows, {len(failed)} short of their reach, {time.monotonic() - start:.0f} s")
    if options.output:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(json.dumps(report, indent=1) + "\n")
        print(f"wrote {options.output}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
