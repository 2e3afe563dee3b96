"""Drawn runs under drawn faults: simulate.py COMMAND SHIM [SEEDS]. DISTMAP_TEST_SEED=N replays one seed.

A seed draws an image, what is computed of it, the way (in memory, out of core, out of core with --resume, in shards), and a schedule: runs of
which a call fails once, is interrupted or cut short, or which are killed before a call or within a write; and between them what else
happens: other bytes in the input, the machine's next boot, files of the run that are cut or gone, two processes with one output. Then it runs
without faults. A run ends with status 0 or one clear error; what has an output's name is whole, and of an image that the input was; and
in the end there are the bytes of an undisturbed run, at once, or, where the input or the run's files were touched, behind one clear error
and without those files.
"""

import errno
import glob
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile

from trial import Command, fresh, is_clear, tree

PROGRAM, SHIM = (os.path.realpath(p) for p in sys.argv[1:3])
ERRORS = (errno.EIO, errno.ENOSPC, errno.EINTR, errno.EDQUOT, errno.EACCES, errno.ENOMEM)


class Broken(Exception):
    """A rule that did not hold."""


class World:
    def __init__(self, seed, command):
        self.draw, self.command, self.story = random.Random(seed), command, []
        self.touched, self.boot, self.results = False, 0, []
        self.problem()
        self.steps = self.way()
        self.new_input()

    # ---- What is computed ----

    def problem(self):
        draw = self.draw
        self.shape = [draw.randint(1, 14) for _ in range(draw.choice((2, 3, 3)))]
        if draw.random() < 0.4:  # several slabs: only where a panel has runs of at least a page
            self.shape[-1] = draw.randint(1030, 1500) * (1 if len(self.shape) == 3 else self.shape[0])
        self.options = [f"--sites={draw.choice(('0', 'nonzero', '1..2', '3'))}", "--threads=1"]
        self.options += draw.choice(([], [], ["--labels"], ["--signed"], ["--signed=outside", "--surface=half"]))
        self.options += draw.choice(([], [], [f"--limit={draw.randint(1, 9)}"]))
        self.options += draw.choice(([], [], ["--border"]))
        self.options += draw.choice(([], ["--spacing=2"], ["--spacing=0.7"]))

    def way(self):
        draw = self.draw
        verify, index = draw.choice(([], ["--verify"])), draw.random() < 0.4
        self.kind = draw.choice(("memory", "in memory", "resume", "resume", "pass", "pass"))
        if self.kind == "pass":
            ending, last = draw.choice(("npy", "zarr")), len(self.shape) - 1
            counts = draw.randint(1, 3), draw.randint(1, 3)
            self.outputs = [f"mid.{ending}", f"d.{ending}"]
            first = ["pass", "in/in.npy", "-o", f"out/mid.{ending}", "--axis=" + ",".join(map(str, range(1, last + 1))), *self.options]
            second = ["pass", f"out/mid.{ending}", "-o", f"out/d.{ending}", "--axis=0", "--threads=1"]
            return [[*step, f"--shard={i}/{n}", *verify] for step, n in ((first, counts[0]), (second, counts[1])) for i in range(1, n + 1)]
        ending = draw.choice(("npy", "npy", "nii.gz", "nrrd") + (("tif",) if len(self.shape) > 1 else ()))
        self.outputs = [f"d.{ending}"] + ([f"i.{ending}"] if index and ending == "npy" else [])
        more = {"in memory": [], "memory": ["--memory=48M"], "resume": ["--memory=48M", "--resume"]}[self.kind]
        return [["edt", "in/in.npy", "-o", f"out/{self.outputs[0]}", *(["--index", "out/i.npy"] if len(self.outputs) > 1 else []),
                 *self.options, *more, *verify]]

    def new_input(self):
        """Other bytes, and what an undisturbed run makes of them."""
        count = 1
        for length in self.shape:
            count *= length
        header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({', '.join(map(str, self.shape))}), }}".encode()
        with open("in/in.npy", "wb") as file:
            file.write(b"\x93NUMPY\x01\x00\x76\x00" + header.ljust(117) + b"\n" + bytes(self.draw.choice((0, 1, 2, 3, 3)) for _ in range(count)))
        if os.path.exists("out"):
            os.rename("out", "aside")
        fresh("out")
        for step in self.steps:
            status, said = self.command.run(step)
            if status:
                raise Broken(f"an undisturbed run: status {status}, {said!r}")
        self.results.append(self.named())
        shutil.rmtree("out")
        if os.path.exists("aside"):
            os.rename("aside", "out")

    # ---- What must hold ----

    def named(self):
        """Without what no reader looks at: a killed run's, which could not be removed."""
        return tree("out", lambda n: any(n == o or n.startswith(o + "/") for o in self.outputs) and "/.distmap-" not in n)

    def check(self, status, said):
        if status not in (0, -9) and not is_clear(status, said):
            raise Broken(f"no clear error: status {status}, {said!r}")
        found = self.named()
        for output in self.outputs:
            parts = {n: data for n, data in found.items() if n == output or n.startswith(output + "/")}
            if parts and not any({n: r[n] for n in parts if n in r} == parts and len(parts) ==
                                 sum(n == output or n.startswith(output + "/") for n in r) for r in self.results):
                raise Broken(f"{output} is not whole, or of no image that the input was")

    # ---- What happens ----

    def run(self, step, **faults):
        faults = {"FAULTS_FOLDER": os.path.realpath("out"), "FAULTS_BOOT": os.path.realpath("boot"), **faults}
        status, said = self.command.run(step, faults)
        self.story.append(f"{' '.join(step)}, {({n[7:]: v for n, v in faults.items() if n[7:] not in ('FOLDER', 'BOOT')})}: {status} {said.strip()}")
        self.check(status, said)
        return status

    def faulty_run(self):
        do = self.draw.choice(("fail", "fail", "kill", "kill", "short", "torn"))
        at = str(min(int(self.draw.expovariate(0.07)) + 1, 200))
        faults = {"FAULTS_AT": at, "FAULTS_ERRNO": str(self.draw.choice(ERRORS))}
        self.run(self.draw.choice(self.steps) if self.draw.random() < 0.3 else self.next_step(), **faults, **({"FAULTS_DO": do} if do != "fail" else {}))

    def next_step(self):
        """In most cases shards are done in their order."""
        self.place = getattr(self, "place", -1) + 1
        return self.steps[self.place % len(self.steps)]

    def changed_input(self):
        self.story.append("the input gets other bytes")
        self.touched = True
        self.new_input()

    def next_boot(self):
        self.story.append("the machine starts anew")
        self.boot += 1
        self.write_boot()

    def write_boot(self):
        with open("boot", "w") as file:
            file.write(f"{self.boot:08x}-boot\n")

    def cut_file(self):
        own = sorted(p for p in glob.glob("out/.distmap-*") + glob.glob("out/*.part") if os.path.isfile(p) and os.stat(p).st_nlink == 1)
        if own:
            path = self.draw.choice(own)
            gone, length = self.draw.random() < 0.3, self.draw.randint(0, os.path.getsize(path))
            self.story.append(f"{path} {'is gone' if gone else f'is cut to {length} bytes'}")
            self.touched = True
            os.remove(path) if gone else os.truncate(path, length)

    def two_at_once(self):
        """One stops at a call while another one runs, which may have to wait for it."""
        step, at = self.next_step(), str(int(self.draw.expovariate(0.1)) + 1)
        one = self.start(step, FAULTS_AT=at, FAULTS_DO="stop")
        stopped = os.waitid(os.P_PID, one.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT).si_code == os.CLD_STOPPED
        other = self.start(step)
        try:
            other.wait(0.5 if stopped else 60)
        except subprocess.TimeoutExpired:
            pass
        one.send_signal(signal.SIGCONT)
        for run in (one, other):
            said = run.communicate(timeout=60)[1].decode()
            self.story.append(f"{' '.join(step)}, two at once, one stopped at call {at}: {run.returncode} {said.strip()}")
            self.check(run.returncode, said)

    def start(self, step, **faults):
        environment = {**os.environ, "LD_PRELOAD": SHIM, "FAULTS_FOLDER": os.path.realpath("out"), "FAULTS_BOOT": os.path.realpath("boot"), **faults}
        return subprocess.Popen([PROGRAM, *step, "--quiet"], env=environment, stderr=subprocess.PIPE)

    def end(self):
        """Runs until all is there."""
        if all(self.run(step) == 0 for step in self.steps) and self.named() == self.results[-1]:
            return
        if not self.touched:
            raise Broken("it does not end with what an undisturbed run gives")
        self.story.append("its files are removed")
        fresh("out")
        if not all(self.run(step) == 0 for step in self.steps) or self.named() != self.results[-1]:
            raise Broken("it does not end without its files either")

    def live(self):
        fresh("out")
        self.write_boot()
        for _ in range(self.draw.randint(1, 5)):
            self.draw.choices((self.faulty_run, self.changed_input, self.next_boot, self.cut_file, self.two_at_once), (12, 1, 1, 2, 1))[0]()
        self.end()
        left = [n for n in os.listdir("out") if n.startswith(".distmap-") or n.endswith(".part")]
        if left:
            raise Broken(f"left: {left}")


def main():
    given = os.environ.get("DISTMAP_TEST_SEED")
    count = 1 if given else int(sys.argv[3]) if len(sys.argv) > 3 else 40
    first = int(given) if given else random.randrange(1 << 40)
    work = tempfile.mkdtemp(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    os.chdir(work)
    os.mkdir("in")
    command, failed = Command(PROGRAM, SHIM), 0
    print(f"seeds {first} to {first + count - 1} (DISTMAP_TEST_SEED replays one)", flush=True)
    for seed in range(first, first + count):
        shutil.rmtree("out", ignore_errors=True)
        world = None
        try:
            world = World(seed, command)
            world.live()
        except Broken as fault:
            failed += 1
            print(f"FAIL seed {seed}: {fault}", *(world.story if world else ()), sep="\n     ", flush=True)
        if given:
            print(*world.story, sep="\n")
    os.chdir("/")
    shutil.rmtree(work)
    print(f"{count} seeds, {failed} failed")
    sys.exit(failed > 0)


main()
