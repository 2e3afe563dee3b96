"""Faults and power cuts through the whole command: sweep.py COMMAND SHIM [--full] [FORMAT ...].

Faults: a command with two outputs runs once for each system call on its outputs' folder, which fails (shim.c). Then the run has failed with
one line, or has done without; all outputs are as they were before, or all are new; nothing else is there.

Power cuts: one run is recorded, and the disk made as it may be found after each of its steps: a file that was not synced holds zeros, and
changes of names are there up to any point since the last sync of a folder. Then each output is the old or the new one, whole.
"""

import errno
import os
import random
import shutil
import subprocess
import sys
import tempfile

COMMAND, SHIM = (os.path.realpath(p) for p in sys.argv[1:3])
FULL = "--full" in sys.argv
NAMED = [a for a in sys.argv[3:] if not a.startswith("--")]

# Both outputs, and whether they may be there before; short: in every `make test`.
EDT, MORPH, CVT = ("edt", "--threads=1"), ("morph", "--op=dilate", "--radius=2", "--threads=1"), ("cvt", "--points=9", "--threads=1")
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
}


def write_input(path):
    """Sites and others, 20 x 24; another picture each time."""
    with open(path, "wb") as file:
        file.write(b"P5 24 20 255\n" + bytes(random.choice((0, 255, 255, 255)) for _ in range(480)))


def tree(folder):
    """Every file's name and bytes."""
    found = {}
    for at, _, files in os.walk(folder):
        for name in files:
            path = os.path.join(at, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, folder)] = file.read()
    return found


class Case:
    def __init__(self, name, work):
        self.name, self.work = name, work
        self.how, self.first, self.option, self.second, self.replaces, _ = CASES[name]
        self.old, self.new = {}, {}
        os.mkdir("old")
        if self.replaces:
            write_input("old.pgm")
            plain = [p.split(":")[0] for p in (self.first, self.second)]
            self.run("old.pgm", "old", outputs=plain)
            self.old = tree("old")
        shutil.copytree("old", "new")
        write_input("new.pgm")
        run = self.run("new.pgm", "new")
        if run.returncode:
            sys.exit(f"{name}: {run.stderr.decode()}")
        self.new = tree("new")
        assert self.new != self.old

    def run(self, source, folder, environment=None, outputs=None):
        first, second = outputs or (self.first, self.second)
        return subprocess.run(
            [COMMAND, self.how[0], source, *self.how[1:], "--quiet", "-o", f"{folder}/{first}", self.option, f"{folder}/{second}"],
            env={**os.environ, **(environment or {})}, capture_output=True, timeout=60)

    def fresh(self):
        shutil.rmtree("out", ignore_errors=True)
        shutil.copytree("old", "out")

    def faults(self, error, old_names):
        """How many calls failed in turn."""
        number = 0
        while True:
            number += 1
            self.fresh()
            open("log", "w").close()
            environment = {"LD_PRELOAD": SHIM, "FAULTS_FOLDER": os.path.realpath("out"), "FAULTS_AT": str(number),
                           "FAULTS_ERRNO": str(error), "FAULTS_LOG": os.path.realpath("log")}
            if old_names:
                environment["FAULTS_OLD"] = "1"
            run = self.run("new.pgm", "out", environment)
            with open("log") as log:
                fired = log.read().strip()
            after, where = tree("out"), f"{self.name}: call {number}, {fired}, {errno.errorcode[error]}"
            said = run.stderr.decode(errors="replace")
            if run.returncode == 0:
                good = after == self.new
            else:
                good = run.returncode == 1 and said.count("\n") == 1 and said.startswith("distmap: ") and \
                    after in (self.old, self.new)
            if not good:
                names = {n for n in {*after, *self.old, *self.new} if after.get(n) != self.old.get(n)}
                sys.exit(f"FAIL {where}: status {run.returncode}, {said!r}, not as before: {sorted(names)}")
            if not fired:
                return number - 1

    def record(self):
        """The steps of a run, as lists of words; names within the folder."""
        self.fresh()
        shutil.rmtree("saved", ignore_errors=True)
        os.mkdir("saved")
        open("log", "w").close()
        folder = os.path.realpath("out")
        names = {}
        for at, folders, files in os.walk(folder):
            for name in folders + files:
                path = os.path.join(at, name)
                names[os.path.relpath(path, folder)] = os.lstat(path).st_ino if name in files else "folder"
        disk = {ino: self.old[n] for n, ino in names.items() if ino != "folder"}
        run = self.run("new.pgm", "out", {"LD_PRELOAD": SHIM, "FAULTS_FOLDER": folder, "FAULTS_LOG": os.path.realpath("log"),
                                          "FAULTS_SAVE": os.path.realpath("saved")})
        if run.returncode or tree("out") != self.new:
            sys.exit(f"FAIL {self.name}: recorded: status {run.returncode}, {run.stderr.decode()!r}")
        with open("log") as log:
            steps = [line.rstrip("\n").split("\t") for line in log]
        strip = lambda word: os.path.relpath(word, folder) if word.startswith(folder) else word
        return names, disk, [[strip(w) for w in s] for s in steps]

    def power_cuts(self):
        """How many states of the disk were looked at."""
        names, disk, steps = self.record()
        states, durable = 0, 0
        history = [dict(names)]  # names after each step
        outputs = {n for n in self.new if self.new[n] != self.old.get(n)}
        for count, step in enumerate(steps, 1):
            names = dict(names)
            if step[0] == "create":
                names[step[1]] = int(step[2]) if step[3] == "file" else "folder"
                if step[3] == "file":
                    disk[int(step[2])] = None  # nothing of it is on the disk
            elif step[0] == "sync":
                with open(f"saved/{step[2]}", "rb") as file:
                    disk[int(step[1])] = file.read()
            elif step[0] == "link":
                names[step[2]] = names[step[1]]
            elif step[0] == "unlink":
                names.pop(step[1], None)
            elif step[0] in ("rename", "exchange"):
                moved = {n: names.pop(n) for n in list(names) if n == step[1] or n.startswith(step[1] + "/")}
                if step[0] == "exchange":
                    names[step[1]] = names.pop(step[2])
                for n, what in moved.items():
                    names[step[2] + n[len(step[1]):]] = what
            history.append(names)
            if step[0] == "folder":
                durable = count
            for at in range(durable, count + 1):
                states += 1
                found = {n: disk[i] for n, i in history[at].items() if i != "folder"}
                if step == steps[-1] and durable and all(found.get(n) == self.old.get(n) for n in outputs) and durable == count:
                    sys.exit(f"FAIL {self.name}: nothing is on the disk at the end")
                self.check_disk(found, outputs, f"{self.name}: power lost after step {count} ({' '.join(step)}), names up to {at}")
        final = {n: disk[i] for n, i in history[durable].items() if i != "folder"}
        if {n: final.get(n) for n in outputs} != {n: self.new[n] for n in outputs}:
            sys.exit(f"FAIL {self.name}: the run has ended, and its outputs are not on the disk")
        return states

    def check_disk(self, found, outputs, where):
        whole = {}
        for name in outputs:
            # A Zarr folder has its name at once with all that is in it; a header and its elements are two files.
            top = name.split("/")[0] if not self.replaces else name
            whole.setdefault(top, []).append(found.get(name, "none"))
            if found.get(name, self.old.get(name, "none")) not in (self.old.get(name, "none"), self.new[name], "none"):
                sys.exit(f"FAIL {where}: {name} is neither old nor new: "
                         f"{'empty or zeros' if found[name] is None else len(found[name])}")
            if name in self.old and name not in found:
                sys.exit(f"FAIL {where}: {name} is gone")
        for top, parts in whole.items():
            if not self.replaces and self.name != "group" and "none" in parts and any(p != "none" for p in parts):
                sys.exit(f"FAIL {where}: {top} is there in part")


def main():
    seed = int(os.environ.get("DISTMAP_TEST_SEED", random.randrange(1 << 32)))
    print(f"seed {seed}")
    random.seed(seed)
    work = tempfile.mkdtemp(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    os.chdir(work)
    failing = cuts = 0
    try:
        for name, case in CASES.items():
            if name not in NAMED if NAMED else not (FULL or case[5]):
                continue
            for left in ("old", "new"):
                shutil.rmtree(left, ignore_errors=True)
            it = Case(name, work)
            ways = [(e, old) for e in ((errno.EIO, errno.ENOSPC) if FULL else (errno.ENOSPC,)) for old in ((False, True) if FULL else (False,))]
            failed = sum(it.faults(*way) for way in ways)
            states = it.power_cuts()
            print(f"{name}: {failed} calls failed, {states} power cuts", flush=True)
            failing += failed
            cuts += states
    finally:
        os.chdir("/")
        shutil.rmtree(work)
    print(f"{failing} calls failed, {cuts} power cuts: nothing lost, nothing mixed, nothing left")


main()
