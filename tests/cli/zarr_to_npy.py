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
if (folder / "zarr.json").exists():
    form = json.loads((folder / "zarr.json").read_text())
    assert [codec["name"] for codec in form["codecs"]] == ["bytes", "zstd"], form["codecs"]
    packer, dtype, chunks = numcodecs.get_codec({"id": "zstd"}), form["data_type"], form["chunk_grid"]["configuration"]["chunk_shape"]
    dtype = np.dtype(dtype).newbyteorder(form["codecs"][0]["configuration"]["endian"])
    prefix, separator = "c/", form["chunk_key_encoding"]["configuration"]["separator"]
else:
    form = json.loads((folder / ".zarray").read_text())
    packer, dtype, chunks = numcodecs.get_codec(form["compressor"]), np.dtype(form["dtype"]), form["chunks"]
    prefix, separator = "", form["dimension_separator"]
array = np.zeros(form["shape"], dtype)
grid = [range(0, n, chunk) for n, chunk in zip(form["shape"], chunks)]
for first in itertools.product(*grid):
    name = prefix + separator.join(str(at // chunk) for at, chunk in zip(first, chunks))
    chunk = np.frombuffer(packer.decode((folder / name).read_bytes()), dtype).reshape(chunks)
    place = tuple(slice(at, at + length) for at, length in zip(first, chunks))
    there = array[place]
    there[...] = chunk[tuple(slice(n) for n in there.shape)]
np.save(sys.argv[2], array.astype(dtype.newbyteorder("=")))
