"""Reads an image, transforms it and writes the distances, by distmap's package in a forked child: for each line of standard input,
[[input, output], environment], a line [status, what was said]. Under shim.c, which the child begins anew."""

import ctypes
import json
import os
import sys

import distmap
from distmap._image import open_library

shim = ctypes.CDLL(os.environ["LD_PRELOAD"])
open_library()
distmap.edt  # loaded before there are children


def work(source, output):
    image = distmap.imread(source)
    distances = distmap.edt(image.array, image.pitches, threads=1)
    distmap.imwrite(output, distances.astype("uint16") if output.endswith(".png") else distances, like=image, kind="intensity")


for line in sys.stdin:
    arguments, environment = json.loads(line)
    ends = os.pipe()
    child = os.fork()
    if not child:
        os.environ.update(environment)
        shim.faults_begin()
        said = ""
        try:
            work(*arguments)
        except Exception as error:
            said = f"distmap: {error}\n"
        os.write(ends[1], said.encode())
        shim.faults_end()
        os._exit(said != "")
    os.close(ends[1])
    with open(ends[0], encoding="utf-8", errors="replace") as pipe:
        said = pipe.read()
    print(json.dumps([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said]), flush=True)
