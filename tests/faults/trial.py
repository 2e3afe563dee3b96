"""Shared by the sweeps of faults: programs to run under shim.c, trees of files, and the disk as a power failure may leave it."""

import json
import os
import random
import select
import shutil
import struct
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


class Command:
    """The command under the shim, in the working folder when it is made: run(arguments, environment) gives its status, -9 where it was
    killed, and what it said."""

    def __init__(self, command, shim):
        self.server = subprocess.Popen([command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0,
                                       env={**os.environ, "LD_PRELOAD": os.path.realpath(shim), "FAULTS_SERVE": "1"})

    def read(self, count):
        data = b""
        while len(data) < count:
            if not select.select([self.server.stdout], [], [], 60)[0]:
                sys.exit("FAIL: a run does not end")
            data += self.server.stdout.read(count - len(data)) or sys.exit("FAIL: the server has died")
        return data

    def run(self, arguments, faults=None):
        words, variables = ["distmap", *arguments, "--quiet"], [f"{n}={v}" for n, v in (faults or {}).items()]
        data = b"".join(w.encode() + b"\0" for w in words + variables)
        self.server.stdin.write(struct.pack("=3I", len(words), len(variables), len(data)) + data)
        status, count = struct.unpack("=iI", self.read(8))
        return os.waitstatus_to_exitcode(status), self.read(count).decode(errors="replace")


class Python:
    """distmap's package: `imread`, `edt`, `imwrite` in the forked children of one process (reader_writer.py)."""

    def __init__(self, shim):
        self.server = subprocess.Popen([sys.executable, str(HERE / "reader_writer.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       text=True, env={**os.environ, "LD_PRELOAD": os.path.realpath(shim)})

    def run(self, arguments, faults=None):
        self.server.stdin.write(json.dumps([arguments, faults or {}]) + "\n")
        self.server.stdin.flush()
        return tuple(json.loads(self.server.stdout.readline()))


def tree(folder, counts=lambda name: True):
    """Name and bytes of each file whose name counts; others are not opened, since a run that still goes on may remove them."""
    found = {}
    for at, _, files in os.walk(folder):
        for name in files:
            path = os.path.join(at, name)
            relative = os.path.relpath(path, folder)
            if counts(relative):
                with open(path, "rb") as file:
                    found[relative] = file.read()
    return found


def fresh(folder, like=None):
    shutil.rmtree(folder, ignore_errors=True)
    if like:
        shutil.copytree(like, folder)
    else:
        os.mkdir(folder)


def under_faults(program, arguments, at, **more):
    """A run whose call number `at` on the folder out/ fails: status, what it said, the call that did (or "")."""
    open("log", "w").close()
    faults = {"FAULTS_FOLDER": os.path.realpath("out"), "FAULTS_LOG": os.path.realpath("log"), "FAULTS_AT": str(at), **more}
    status, said = program.run(arguments, faults)
    with open("log") as log:
        return status, said, log.read().strip()


def count_calls(program, arguments, **more):
    status, said, line = under_faults(program, arguments, -1, **more)
    if status or not line.startswith("calls "):
        sys.exit(f"FAIL {arguments}: status {status}, {said!r}, {line!r}")
    return int(line.split()[1])


def drawn(count, most):
    """All numbers up to `count`, or so many of them."""
    numbers = range(1, count + 1)
    return numbers if not most or count <= most else sorted(random.sample(numbers, most))


def is_clear(status, said):
    """One line, of an error."""
    return status == 1 and said.count("\n") == 1 and said.startswith("distmap: ")


class Disk:
    """The contents of the disk of out/ after each step of recorded runs: a file that was not synced has no content (None), and changes of
    names are there up to any point since the last sync of a folder."""

    def __init__(self):
        self.folder = os.path.realpath("out")
        self.names, self.content, self.runs = {}, {}, 0
        for at, folders, files in os.walk(self.folder):
            for name in folders + files:
                path = os.path.join(at, name)
                inode = os.lstat(path).st_ino if name in files else "folder"
                self.names[os.path.relpath(path, self.folder)] = inode
                if name in files:
                    self.content[inode] = Path(path).read_bytes()
        self.history, self.durable = [self.names], 0

    def record(self, program, arguments):
        """A run's steps; each gives the states of the disk behind it, as (files and their bytes, which state)."""
        saved = f"saved{self.runs}"
        self.runs += 1
        fresh(saved)
        status, said, log = under_faults(program, arguments, 0, FAULTS_SAVE=os.path.realpath(saved))
        if status:
            sys.exit(f"FAIL {arguments}: recorded: status {status}, {said!r}")
        for line in log.splitlines():
            words = [os.path.relpath(w, self.folder) if w.startswith(self.folder) else w for w in line.split("\t")]
            self.take(words, saved)
            for at in range(self.durable, len(self.history)):
                yield self.files(at), f"power lost after step {len(self.history) - 1} ({' '.join(words)}), names up to {at}"

    def take(self, step, saved):
        names = self.names = dict(self.names)
        kind, *words = step
        if kind == "create":
            names[words[0]] = int(words[1]) if words[2] == "file" else "folder"
            if words[2] == "file":
                self.content[int(words[1])] = None
        elif kind == "sync":
            self.content[int(words[0])] = Path(saved, words[1]).read_bytes()
        elif kind == "link":
            names[words[1]] = names[words[0]]
        elif kind == "unlink":
            names.pop(words[0], None)
        elif kind in ("rename", "exchange"):
            moved = {n: names.pop(n) for n in list(names) if n == words[0] or n.startswith(words[0] + "/")}
            if kind == "exchange":
                names[words[0]] = names.pop(words[1])
            names.update({words[1] + n[len(words[0]):]: what for n, what in moved.items()})
        self.history.append(names)
        if kind == "folder":
            self.durable = len(self.history) - 1

    def files(self, at):
        return {name: self.content[inode] for name, inode in self.history[at].items() if inode != "folder"}

    def folders(self, at):
        return [name for name, inode in self.history[at].items() if inode == "folder"]
