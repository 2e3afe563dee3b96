"""Makes zarr/, a group of small arrays by zarr-python 2 (Debian: python3-zarr), read by ../test_zarr.c. Element (z, y, x) is
100 z + 10 y + x where nothing else is said."""
import shutil

import numcodecs
import numpy as np
import zarr
from numcodecs import BZ2, LZ4, LZMA, Blosc, GZip, Zlib, Zstd

shutil.rmtree("zarr", ignore_errors=True)
group = zarr.open_group("zarr", mode="w")
elements = np.add.outer(np.add.outer(np.arange(3) * 100, np.arange(5) * 10), np.arange(7))


def put(name, dtype, **how):
    group.create_dataset(name, shape=elements.shape, dtype=dtype, chunks=(2, 5, 4), **how)[:] = elements.astype(dtype)


put("plain", "<u2", compressor=None)
put("zlib", "<i4", compressor=Zlib(1))
put("gzip", "<f4", compressor=GZip(1), dimension_separator="/")
put("blosc", "<u2", compressor=Blosc("zstd", 3, Blosc.BITSHUFFLE))
put("blosclz", "<i8", compressor=Blosc("blosclz", 9, Blosc.SHUFFLE))
put("swapped", ">u2", compressor=Blosc())
put("fortran", "<f8", order="F", compressor=Zlib(1))
put("lz4", "<u2", compressor=LZ4())
put("zstd", "<u2", compressor=Zstd(3))
put("bz2", "<u2", compressor=BZ2())
put("lzma", "<u2", compressor=LZMA())  # refused
sparse = group.create_dataset("sparse", shape=(4, 6), chunks=(2, 3), dtype="<f4", fill_value="NaN", compressor=Blosc())
sparse[2:4, 0:3] = 5
sparse.attrs["spacing"] = [2.5, 0.5]
sparse.attrs["unit"] = "um"
bools = group.create_dataset("bools", shape=(4, 6), chunks=(3, 6), dtype="|b1", fill_value=True, compressor=None)
bools[3:4] = False
group.create_dataset("nothing", shape=(4,), chunks=(2,), dtype="<u1", fill_value=None, compressor=None)
group.create_dataset("filtered", shape=(4,), chunks=(4,), dtype="<i4", filters=[numcodecs.Delta("<i4")])[:] = 1
