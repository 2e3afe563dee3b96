"""Drawn problems through each way that computes an image in parts, against the files of one run in memory, to the byte.

    transports.py COMMAND CASES WAY...     ways: memory, pass, ranks:MPIEXEC:OPTION

A case draws 1 to 4 axes, an element type, a mask, labels or a signed map, sites, border, limit, pitches with a unit and without, measured
axes, outputs and a format. Half of the images have rows of more than a page, since only these are divided into several slabs out of core.
DISTMAP_TEST_SEED repeats a run, with one more word only that case; DISTMAP_TEST_SCALE multiplies the cases."""

import filecmp
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

COMMAND, WAYS = os.path.realpath(sys.argv[1]), sys.argv[3:]
CASES = max(1, int(int(sys.argv[2]) * float(os.environ.get("DISTMAP_TEST_SCALE", "1"))))
TOLD = ("max", "min", "sites")  # of the report in JSON


def run(*arguments):
    return subprocess.run(arguments, capture_output=True, text=True)


def write_npy(name, code, shape, values):
    order = "|" if code[1] == "1" else "<"
    text = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
    header = f"{{'descr': '{order}{code}', 'fortran_order': False, 'shape': ({text}), }}".encode()
    kind = {"1": "b", "2": "h", "4": "i", "8": "q"}[code[1]]
    with open(name, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00\x76\x00" + header.ljust(117) + b"\n")
        file.write(struct.pack(f"<{len(values)}{kind.upper() if code[0] == 'u' else kind}", *values))


class Case:
    def __init__(self, seed, number):
        draw = self.draw = random.Random(f"{seed} {number}")
        self.axes = draw.randint(1, 4)
        self.shape = [draw.randint(1, (900, 60, 16, 8)[self.axes - 1]) for _ in range(self.axes)]
        if self.axes > 1 and draw.random() < 0.5:
            self.shape[:-1] = [draw.randint(1, 12 // (self.axes - 1)) for _ in self.shape[1:]]
            self.shape[-1] = draw.randint(1030, 1400) * (1 if self.axes > 2 else self.shape[0])
        self.code = draw.choice("ui") + draw.choice("1248")
        most = 2 ** (8 * int(self.code[1]) - (self.code[0] == "i")) - 1
        self.values = [0 if draw.random() < 0.7 else draw.randint(0, most)]
        self.values += [draw.choice((draw.randint(0, most), (self.values[0] + 1) % most)) for _ in range(draw.choice((1, 2, 9)))]
        self.write()
        self.options, self.last = [], []  # of both; `last`: of the last pass
        self.kind()
        self.common()

    def write(self):
        """Values in runs of a drawn length, each row shifted against the one before."""
        draw, count = self.draw, 1
        for length in self.shape:
            count *= length
        run_length, elements = draw.choice((1, 2, 7, 40, 1000)), []
        while len(elements) < count:
            elements += [draw.choice(self.values)] * draw.randint(1, run_length)
        write_npy("in.npy", self.code, self.shape, elements[:count])

    def kind(self):
        draw, options = self.draw, self.options
        kind, exact = draw.choice(("mask", "labels", "labels", "signed", "signed")), max(self.values) < 2**53
        if kind == "labels":
            options += ["--labels", *draw.choice(([], ["--sites=none"]))]
        elif kind == "signed":
            options.append(draw.choice(("--signed", "--signed=outside", "--signed=inside")))
        if kind != "labels" and exact and draw.random() < 0.5:
            options.append(f"--sites={draw.choice(self.values)}")
        if kind == "signed" and draw.random() < 0.4:
            options.append("--surface=half")
        elif draw.random() < 0.4:
            self.last.append("--metric=squared")
        elif draw.random() < 0.3:
            self.last.append("--dtype=float64")

    def common(self):
        draw, options = self.draw, self.options
        options += ["--border"] if draw.random() < 0.4 else []
        options += [f"--limit={draw.choice((0.3, 1, 2.5, 7, 20))}"] if draw.random() < 0.4 else []
        pitches = draw.choice((None, (2,), (0.7,), (40, 4, 4, 4), (1.3333333333, 0.5, 3.14159265358979, 1)))
        if pitches:
            options.append("--spacing=" + ",".join(str(pitches[a % len(pitches)]) for a in range(self.axes)))
        self.measured = list(range(self.axes))
        if draw.random() < 0.3:
            self.measured = sorted(draw.sample(self.measured, draw.randint(1, self.axes)))
            options.append("--axes=" + ",".join(map(str, self.measured)))
        self.index = draw.random() < 0.5

    def outputs(self, folder, ending):
        return ["-o", f"{folder}/d.{ending}", *(["--index", f"{folder}/i.{ending}"] if self.index else [])]

    # ---- The ways ----

    def memory(self):
        return run(COMMAND, "edt", "in.npy", *self.outputs("got", self.ending), *self.options, *self.last, "--memory=1G", "--json")

    def ranks(self, mpiexec, option):
        return run(mpiexec, option, str(self.draw.randint(2, 4)), COMMAND, "edt", "in.npy", *self.outputs("got", "npy"), *self.options,
                   *self.last, "--distributed", "--json")

    def passes(self):
        first, joined = [a for a in self.measured if a], 0 in self.measured
        steps = [("in.npy", "got", first, self.options + self.last)]
        if joined:
            steps = [("in.npy", "between", first, self.options), ("between/d.npy", "got", [0], self.last)]
        for source, folder, axes, options in steps:
            os.makedirs(folder, exist_ok=True)
            shards = self.draw.randint(1, 4)
            for shard in self.draw.sample(range(1, shards + 1), shards):
                done = run(COMMAND, "pass", source, *self.outputs(folder, "npy"), "--axis=" + ",".join(map(str, axes)),
                           f"--shard={shard}/{shards}", *options)
                if done.returncode:
                    return done
        for name in os.listdir("got"):
            if name.endswith(".pass"):
                shutil.rmtree(f"got/{name}")
        done.stdout = self.told  # a shard tells about itself
        return done

    def go(self, way):
        for folder in ("want", "got", "between"):
            shutil.rmtree(folder, ignore_errors=True)
        os.mkdir("want")
        os.mkdir("got")
        can_pass = self.axes > 1 and any(self.measured)
        if way == "pass" and not can_pass:
            return None
        self.ending = self.draw.choice(("npy", "npy", "nrrd", *(("tif",) if self.axes > 1 else ()))) if way == "memory" else "npy"
        whole = run(COMMAND, "edt", "in.npy", *self.outputs("want", self.ending), *self.options, *self.last, "--json")
        if whole.returncode:  # such as a type that does not hold the distances
            return None
        self.told = whole.stdout
        done = self.memory() if way == "memory" else self.passes() if way == "pass" else self.ranks(*way.split(":")[1:])
        if done.returncode:
            return f"status {done.returncode}: {done.stderr.strip()}"
        names = sorted(os.listdir("want"))
        if names != sorted(os.listdir("got")):
            return f"files: {sorted(os.listdir('got'))}"
        differ = [n for n in names if not filecmp.cmp(f"want/{n}", f"got/{n}", shallow=False)]
        told = [t for t in TOLD if json.loads(whole.stdout).get(t) != json.loads(done.stdout).get(t)]
        return f"differ: {differ} {told}" if differ or told else ""


def main():
    seed = os.environ.get("DISTMAP_TEST_SEED") or str(random.randrange(1 << 40))
    words = seed.split()
    print(f"seed {words[0]} (DISTMAP_TEST_SEED repeats it)", flush=True)
    work, failed, done = tempfile.mkdtemp(), 0, 0
    os.chdir(work)
    for number in [int(words[1])] if len(words) > 1 else range(CASES):
        for way in WAYS:
            case = Case(words[0], number)
            wrong = case.go(way)
            done += wrong is not None
            if wrong:
                failed += 1
                print(f"FAIL seed '{words[0]} {number}', {way}: {case.code} {case.shape} {case.options} {case.last} "
                      f"{case.index}: {wrong}", flush=True)
    os.chdir("/")
    shutil.rmtree(work)
    print(f"{done} runs, {failed} failed")
    sys.exit(failed > 0 or not done)


main()
