"""Faults and power cuts through the whole product: sweep.py COMMAND SHIM [--full] [CASE ...].

Faults: a run happens once for each system call on its outputs' folder, which fails, or before which the process is killed (shim.c).
Where it failed, it has said one line, or has done without; all outputs are as they were before, or all are new, and nothing else is there.
Where it was killed, each output is the old or the new one, whole, and the next run ends well and leaves nothing.
A run that continues after it was cut off (--resume, pass) ends with the bytes of an undisturbed run.

Power cuts: a run is recorded, and the disk made as it may be found after each of its steps (trial.py). Then each output is the old or the
new one, whole; and a run that continues ends with the right bytes.

Without --full some of each run's calls are drawn, for some cases. --list gives the names of all.
"""

import errno
import importlib.util
import os
import random
import shutil
import sys
import tempfile

from trial import Command, Disk, Python, count_calls, drawn, fresh, is_clear, tree, under_faults

FULL = "--full" in sys.argv
NAMED = [a for a in sys.argv[3:] if not a.startswith("--")]
MOST = None if FULL else 10  # calls of a run, and states of a disk
PYTHON = bool(os.environ.get("DISTMAP_IO_LIBRARY") and importlib.util.find_spec("numpy"))

# Both outputs, and whether they may be there before; short: in every `make test`.
EDT, MORPH, CVT = ("edt", "--threads=1"), ("morph", "--op=dilate", "--radius=2", "--threads=1"), ("cvt", "--points=9", "--threads=1")
MEMORY = ("edt", "--memory=40M", "--sites=0", "--threads=1")
CASES = {
    "npy": (EDT, "d.npy", "--index", "i.npy", True, True),
    "tif": (EDT, "d.tif", "--index", "i.tif", True, False),
    "nii": (EDT, "d.nii", "--index", "i.nii", True, False),
    "nii.gz": (EDT, "d.nii.gz", "--index", "i.npy", True, False),
    "hdr": (EDT, "d.hdr", "--index", "i.hdr", True, True),
    "mha": (EDT, "d.mha", "--index", "i.mha", True, False),
    "mhd": (EDT, "d.mhd", "--index", "i.mhd", True, False),
    "nrrd": (EDT, "d.nrrd", "--index", "i.nrrd", True, False),
    "nhdr": (EDT, "d.nhdr", "--index", "i.nhdr", True, False),
    "pbm": (MORPH, "d.pbm", "--preview", "p.png", True, False),
    "png": (MORPH, "d.png", "--preview", "p.png", True, False),
    "csv": (CVT, "p.csv", "--labels", "l.npy", True, False),
    "h5": (EDT, "d.h5", "--index", "i.h5", True, False),
    "h5:/": (EDT, "d.h5:/new", "--index", "i.h5:/new", True, True),
    "zarr": (EDT, "d.zarr", "--index", "i.zarr", False, True),
    "group": (EDT, "g.zarr/a/d", "--index", "g.zarr/a/i", False, False),
    "memory": (MEMORY, "d.npy", "--index", "i.npy", True, False),
    "memory tif": (MEMORY, "d.tif", "--index", "i.nii.gz", True, False),
}
PYTHONS = {f"python {ending}": (f"d.{ending}", ending in ("npy",)) for ending in ("npy", "tif", "nii.gz", "mhd", "nrrd", "png", "h5", "zarr")}
# Commands that go on where they were cut off; the last outputs.
RESUME = (*MEMORY, "--resume", "--verify")
SHARDS = [("pass", source, "-o", output, f"--axis={axis}", f"--shard={i}/2", "--verify", "--threads=1", *more)
          for source, output, axis, more in (("{in}", "out/mid.npy", "1,2", ("--sites=0",)), ("out/mid.npy", "out/d.npy", "0", ()))
          for i in (1, 2)]
CHAINS = {
    "resume": ([(RESUME[0], "{in}", *RESUME[1:], "-o", "out/d.npy", "--index", "out/i.npy")], ["d.npy", "i.npy"], True),
    "resume tif": ([(RESUME[0], "{in}", *RESUME[1:], "-o", "out/d.tif", "--index", "out/i.nii.gz")], ["d.tif", "i.nii.gz"], False),
    "pass": (SHARDS, ["mid.npy", "d.npy"], True),
    "pass zarr": ([tuple(w.replace(".npy", ".zarr") for w in step) for step in SHARDS], ["mid.zarr", "d.zarr"], False),
}


def write_input(path):
    """Sites and others; another image each time: 20 x 24, or 6 x 10 x 8."""
    elements = bytes(random.choice((0, 255, 255, 255)) for _ in range(480))
    with open(path, "wb") as file:
        if path.endswith(".pgm"):
            file.write(b"P5 24 20 255\n" + elements)
        else:
            header = b"{'descr': '|u1', 'fortran_order': False, 'shape': (6, 10, 8), }"
            file.write(b"\x93NUMPY\x01\x00\x76\x00" + header.ljust(117) + b"\n" + elements)


class Case:
    """One run whose outputs are there wholly or not at all."""

    def __init__(self, name, command, python):
        self.name = name
        if name in PYTHONS:
            self.program, self.outputs, self.source = python, [PYTHONS[name][0]], "pgm"
            self.replaces = not name.endswith("zarr")
        else:
            self.how, first, self.option, second, self.replaces, _ = CASES[name]
            self.program, self.outputs, self.source = command, [first, second], "npy" if self.how == MEMORY else "pgm"
        self.old = {}
        fresh("old")
        if self.replaces:
            write_input(f"old.{self.source}")
            self.run("old", "old", [o.split(":")[0] for o in self.outputs])
            self.old = tree("old")
        fresh("new", like="old")
        write_input(f"new.{self.source}")
        self.run("new", "new", self.outputs)
        self.new = tree("new")
        assert self.new != self.old
        self.changed = {n for n in self.new if self.new[n] != self.old.get(n)}

    def arguments(self, source, folder, outputs):
        source, outputs = f"{source}.{self.source}", [f"{folder}/{o}" for o in outputs]
        return [source, *outputs] if self.name in PYTHONS else [self.how[0], source, *self.how[1:], "-o", outputs[0], self.option, outputs[1]]

    def run(self, source, folder, outputs):
        status, said = self.program.run(self.arguments(source, folder, outputs))
        if status:
            sys.exit(f"FAIL {self.name}: {said}")

    def faults(self, error, **more):
        """How many calls failed in turn."""
        arguments = self.arguments("new", "out", self.outputs)
        fresh("out", like="old")
        numbers = drawn(count_calls(self.program, arguments, **more), MOST)
        for number in numbers:
            fresh("out", like="old")
            status, said, fired = under_faults(self.program, arguments, number, FAULTS_ERRNO=str(error), **more)
            after = tree("out")
            good = after == self.new if status == 0 else is_clear(status, said) and after in (self.old, self.new)
            if not good:
                names = sorted(n for n in {*after, *self.old, *self.new} if after.get(n) != self.old.get(n))
                sys.exit(f"FAIL {self.name}: call {number}, {fired}, {errno.errorcode[error]}: status {status}, {said!r}, not as before: {names}")
        return len(numbers)

    def kills(self):
        """How many times it was killed."""
        arguments = self.arguments("new", "out", self.outputs)
        fresh("out", like="old")
        numbers = drawn(count_calls(self.program, arguments), MOST)
        for number in numbers:
            fresh("out", like="old")
            status, said, fired = under_faults(self.program, arguments, number, FAULTS_DO="kill")
            where = f"{self.name}: killed before call {number}, {fired}"
            self.check(tree("out"), where)
            shutil.copytree("old", "out", dirs_exist_ok=True)
            for output in () if self.replaces else self.outputs:
                shutil.rmtree(f"out/{output.split('/')[0]}", ignore_errors=True)
            status, said = self.program.run(arguments)
            if status or tree("out") != self.new:
                sys.exit(f"FAIL {where}: the next run: status {status}, {said!r}, {sorted(tree('out'))}")
        return len(numbers)

    def power_cuts(self):
        """How many states of the disk were looked at."""
        fresh("out", like="old")
        disk, states, found = Disk(), 0, {}
        for found, where in disk.record(self.program, self.arguments("new", "out", self.outputs)):
            states += 1
            self.check(found, f"{self.name}: {where}")
        if any(disk.files(disk.durable).get(n) != self.new[n] for n in self.changed):
            sys.exit(f"FAIL {self.name}: the run has ended, and its outputs are not on the disk")
        return states

    def check(self, found, where):
        whole = {}
        for name in self.changed:
            # A Zarr folder has its name at once with all that is in it; a header and its elements are two files.
            top = name.split("/")[0] if not self.replaces else name
            whole.setdefault(top, []).append(name in found)
            if name in found and found[name] not in (self.old.get(name, "none"), self.new[name]):
                sys.exit(f"FAIL {where}: {name} is neither old nor new: {'empty or zeros' if found[name] is None else len(found[name])}")
            if name in self.old and name not in found:
                sys.exit(f"FAIL {where}: {name} is gone")
        for top, parts in whole.items():
            if not self.replaces and self.name != "group" and any(parts) and not all(parts):
                sys.exit(f"FAIL {where}: {top} is there in part")


class Chain:
    """Commands that go on with what those before them have done."""

    def __init__(self, name, command, _):
        self.name, self.program = name, command
        steps, self.outputs, _ = CHAINS[name]
        write_input("in.npy")
        self.steps = [[w.replace("{in}", "in.npy") for w in step] for step in steps]
        fresh("out")
        for k, step in enumerate(self.steps):
            fresh(f"before{k}", like="out")
            status, said = self.program.run(step)
            if status:
                sys.exit(f"FAIL {name}: {said}")
        self.new = self.named(tree("out"))

    def named(self, found):
        """Without the folders of passes, which stay."""
        return {n: data for n, data in found.items() if n.split("/")[0].rpartition(".")[2] != "pass"}

    def is_whole(self, found):
        """Whether outputs that have their names are right; a Zarr folder's metadata are in it from the beginning, and its name is not."""
        return all(found[n] == data for n, data in self.new.items() if n in found)

    def goes_on(self, first, where, faults=None):
        for step in self.steps[first:]:
            status, said = self.program.run(step, faults)
            if status:
                sys.exit(f"FAIL {where}: going on: status {status}, {said!r}: {' '.join(step)}")
        if self.named(tree("out")) != self.new:
            sys.exit(f"FAIL {where}: gone on, and not the same: {sorted(self.named(tree('out')))}")

    def interrupted(self, **more):
        times = 0
        for k, step in enumerate(self.steps):
            fresh("out", like=f"before{k}")
            numbers = drawn(count_calls(self.program, step, **more), MOST and MOST // len(self.steps) + 1)
            times += len(numbers)
            for number in numbers:
                fresh("out", like=f"before{k}")
                status, said, fired = under_faults(self.program, step, number, **more)
                where = f"{self.name}: step {k + 1}, call {number}, {fired}, {more}: status {status}, {said!r}"
                if status not in (0, -9) and not is_clear(status, said):
                    sys.exit(f"FAIL {where}: no clear error")
                if not self.is_whole(tree("out")):
                    sys.exit(f"FAIL {where}: an output is neither whole nor missing")
                self.goes_on(k, where)
        return times

    def faults(self, error, **more):
        return self.interrupted(FAULTS_ERRNO=str(error), **more)

    def kills(self):
        return self.interrupted(FAULTS_DO="kill") + self.interrupted(FAULTS_DO="torn")

    def power_cuts(self):
        """States of the disk from which the commands end well when they are run again, on the machine's next boot."""
        fresh("out")
        with open("boot", "w") as boot:
            boot.write("another boot\n")
        disk, states = Disk(), []
        for step in self.steps:
            for found, where in disk.record(self.program, step):
                if (found, where) not in states[-1:]:
                    states.append((found, where))
        chosen = [states[i - 1] for i in drawn(len(states), MOST)]
        ends, times = tree("out"), {n: os.stat(f"out/{n}").st_mtime_ns for n in tree("out")}
        for found, where in chosen:
            if not self.is_whole({n: found[n] for n in found if n in self.new}):
                sys.exit(f"FAIL {self.name}: {where}: an output is neither whole nor missing")
            fresh("out")
            for name, data in found.items():
                os.makedirs(os.path.dirname(f"out/{name}"), exist_ok=True)
                with open(f"out/{name}", "wb") as file:
                    file.write(bytes(len(ends.get(name, b""))) if data is None else data)
                if name in times:
                    os.utime(f"out/{name}", ns=(times[name], times[name]))
            self.goes_on(0, f"{self.name}: {where}", {"FAULTS_BOOT": os.path.realpath("boot")})
        return len(chosen)


def main():
    seed = int(os.environ.get("DISTMAP_TEST_SEED", random.randrange(1 << 32)))
    print(f"seed {seed}")
    random.seed(seed)
    program, shim = (os.path.realpath(p) for p in sys.argv[1:3])
    work = tempfile.mkdtemp(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    os.chdir(work)
    command, python = Command(program, shim), Python(shim) if PYTHON else None
    totals = [0, 0, 0]
    errors = (errno.EIO, errno.ENOSPC) if FULL else (errno.ENOSPC,)
    try:
        for name, rows in {**CASES, **PYTHONS, **CHAINS}.items():
            if name in PYTHONS and not PYTHON:
                continue
            if name not in NAMED if NAMED else not (FULL or rows[-1]):
                continue
            for left in os.listdir("."):
                shutil.rmtree(left) if os.path.isdir(left) else os.remove(left)
            it = (Chain if name in CHAINS else Case)(name, command, python)
            failed = sum(it.faults(error) for error in errors)
            if FULL:  # file systems without flags of renaming
                failed += sum(it.faults(error, FAULTS_OLD="1") for error in errors)
            numbers = failed, it.kills(), it.power_cuts()
            print("{}: {} calls failed, {} kills, {} power cuts".format(name, *numbers), flush=True)
            totals = [a + b for a, b in zip(totals, numbers)]
    finally:
        os.chdir("/")
        shutil.rmtree(work)
    print("{} calls failed, {} kills, {} power cuts: nothing lost, nothing mixed, nothing left".format(*totals))


if "--list" in sys.argv:
    print("\n".join([*CASES, *PYTHONS, *CHAINS]))
else:
    main()
