"""Runs that are stopped at one of their calls (shim.c), while something happens that they must notice: stopped.py COMMAND SHIM."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile

COMMAND, SHIM = (os.path.realpath(p) for p in sys.argv[1:3])
OUT_OF_CORE = ("--memory", "40M", "--resume", "--threads=1")
failures = 0


def check(what, good, said=""):
    global failures
    failures += not good
    print("ok  " if good else "FAIL", what, "" if good else said)


def write_input(path, last=0):
    """3 x 20 x 24 elements, of which a tenth are 0, and the last one."""
    elements = bytearray((i * 7919) % 10 for i in range(1440))
    elements[-1] = last
    header = b"{'descr': '|u1', 'fortran_order': False, 'shape': (3, 20, 24), }"
    with open(path, "r+b" if os.path.exists(path) else "wb") as file:
        file.write(b"\x93NUMPY\x01\x00\x76\x00" + header.ljust(117) + b"\n" + elements)


def launch(arguments, call=None, folder="out", at=1):
    """A run; with a call it stops before the `at`-th one of its name on that folder."""
    environment = {**os.environ, "LD_PRELOAD": SHIM, "FAULTS_FOLDER": os.path.realpath(folder)}
    if call:
        environment |= {"FAULTS_CALL": call, "FAULTS_AT": str(at), "FAULTS_DO": "stop"}
    run = subprocess.Popen([COMMAND, *arguments, "--quiet"], env=environment, stderr=subprocess.PIPE)
    if call:
        _, status = os.waitpid(run.pid, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            sys.exit(f"FAIL: a run has no {call}: {run.stderr.read()!r}")
    return run


def start(*arguments, call=None):
    return launch(["edt", "in.npy", "-o", "out/d.npy", *arguments], call)


def end(run):
    """Goes on, where it was stopped: its status and what it said."""
    os.kill(run.pid, signal.SIGCONT)
    said = run.communicate(timeout=60)[1].decode()
    return run.returncode, said


def fresh():
    shutil.rmtree("out", ignore_errors=True)
    os.mkdir("out")


def one_lock():
    """One opens the ledger and is stopped before it locks it; another run ends, and with it goes the ledger's name; a third one makes a new
    ledger and holds it. The first one then locks a file without a name."""
    fresh()
    first = start(*OUT_OF_CORE, call="flock")
    check("another run ends meanwhile", end(start(*OUT_OF_CORE))[0] == 0)
    os.remove("out/d.npy")
    third = start(*OUT_OF_CORE, call="fallocate")
    status, said = end(first)
    check("a lock on a ledger without a name does not count", status == 1 and "another run is writing" in said, (status, said))
    check("and the one that holds the ledger ends well", end(third)[0] == 0)
    check("with all there is", os.listdir("out") == ["d.npy"], os.listdir("out"))


def changed_input():
    """The input is changed in its place when the output is opened; its times are as before to whoever looks at the mtime alone."""
    for arguments in ((), OUT_OF_CORE, ("--index", "out/i.npy"), ("--memory", "40M")):
        for verify in ((), ("--verify",)):
            if not verify and "--memory" not in arguments:
                continue
            fresh()
            write_input("in.npy")
            run = start(*arguments, *verify, call="openat" if "--memory" not in arguments else "flock")
            before = os.stat("in.npy")
            write_input("in.npy", last=9)
            os.utime("in.npy", ns=(before.st_atime_ns, before.st_mtime_ns))
            status, said = end(run)
            what = " ".join((*arguments, *verify))
            check(f"a changed input ends the run: {what}", status == 1 and said.startswith("distmap: in.npy: changed") and
                  said.count("\n") == 1 and ("digest" in said) == bool(verify), (status, said))
            check("and nothing has its name", "d.npy" not in os.listdir("out"), os.listdir("out"))


def copied_input():
    """By its bytes a copy is the same input, whatever its inode and times; by its times it is another one."""
    for verify, goes_on in (((), False), (("--verify",), True)):
        fresh()
        write_input("in.npy")
        run = start(*OUT_OF_CORE, *verify, call="pwrite")
        os.kill(run.pid, signal.SIGKILL)
        run.communicate()
        shutil.copy("in.npy", "copy.npy")
        os.replace("copy.npy", "in.npy")
        status, said = end(start(*OUT_OF_CORE, *verify))
        check(f"a copy of the input {'is' if goes_on else 'is not'} gone on with {' '.join(verify)}",
              status == 0 if goes_on else status == 1 and "belongs to another run" in said, (status, said))
    with open("in.npy", "r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\7")


def late_twin():
    """Two do the same shard. One is stopped before it writes, and the other one when it knows the output's times but has not kept them. The
    first then writes the same bytes anew, in an output that has its name, and ends; the other one keeps times that are not the output's."""
    for ending, call, at in (("npy", "pwrite", 1), ("zarr", "renameat", 2)):
        fresh()
        first = ["pass", "in.npy", "-o", f"out/mid.{ending}", "--axis=y,x", "--shard=1/1", "--threads=1"]
        late = launch(first, call=call, folder=f"out/mid.{ending}.part", at=at)
        other = launch(first, call="rename", folder=f"out/mid.{ending}.pass", at=2)
        check(f"{ending}: a late twin ends", end(late) == (0, ""))
        check(f"{ending}: the other one ends", end(other) == (0, ""))
        ended = end(launch(["pass", f"out/mid.{ending}", "-o", "out/d.npy", "--axis=z", "--shard=1/1", "--threads=1"]))
        check(f"{ending}: the next pass takes the output", ended == (0, ""), ended)


def cut_part():
    """A part that was cut between shards is not made longer before it is refused: a run that fails at that call would leave zeros."""
    fresh()
    shard = ["pass", "in.npy", "-o", "out/mid.npy", "--axis=y,x", "--threads=1"]
    check("the first shard ends", end(launch([*shard, "--shard=1/2"])) == (0, ""))
    os.truncate("out/mid.npy.part", 148)
    faults = {"LD_PRELOAD": SHIM, "FAULTS_FOLDER": os.path.realpath("out"), "FAULTS_CALL": "fallocate", "FAULTS_AT": "1"}
    run = subprocess.run([COMMAND, *shard, "--shard=2/2", "--quiet"], env={**os.environ, **faults, "FAULTS_ERRNO": "5"},
                         capture_output=True, text=True)
    check("a part that was cut is refused",
          run.returncode == 1 and "has 148 of its 5888 bytes, but 1 shards are done" in run.stderr, run.stderr)
    check("and stays as it was", os.path.getsize("out/mid.npy.part") == 148)

    fresh()
    run = launch([*shard, "--shard=1/2"], call="fsync", folder="out/mid.npy.part")
    os.truncate("out/mid.npy.part", 148)
    check("a shard whose part is cut before its mark ends", end(run) == (0, ""))
    status, said = end(launch([*shard, "--shard=2/2"]))
    check("and the next one refuses the part", status == 1 and "has 148 of its 5888 bytes, but 1 shards are done" in said, said)


def main():
    work = tempfile.mkdtemp(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    os.chdir(work)
    try:
        write_input("in.npy")
        one_lock()
        changed_input()
        copied_input()
        late_twin()
        cut_part()
    finally:
        os.chdir("/")
        shutil.rmtree(work)
    sys.exit(failures > 0)


main()
