"""A Zarr array as NPY, by NumPy and numcodecs alone: an opinion on what distmap writes that is not distmap's.

    python3 zarr_to_npy.py IN.zarr OUT.npy
"""
import itertools
import json
import pathlib
import sys

import numcodecs
import numpy as np

folder = pathlib.Path(sys.argv[1])
form = json.loads((folder / ".zarray").read_text())
packer = numcodecs.get_codec(form["compressor"])
array = np.zeros(form["shape"], form["dtype"])
grid = [range(0, n, chunk) for n, chunk in zip(form["shape"], form["chunks"])]
for first in itertools.product(*grid):
    name = form["dimension_separator"].join(str(at // chunk) for at, chunk in zip(first, form["chunks"]))
    chunk = np.frombuffer(packer.decode((folder / name).read_bytes()), form["dtype"]).reshape(form["chunks"])
    place = tuple(slice(at, at + length) for at, length in zip(first, form["chunks"]))
    there = array[place]
    there[...] = chunk[tuple(slice(n) for n in there.shape)]
np.save(sys.argv[2], array)
