"""Makes zarr3/, a group of small arrays by zarr-python 3 (PyPI), read by ../test_zarr3.c. Element (z, y, x) is 100 z + 10 y + x, and
of chunks that are left out 7."""
import shutil

import numpy as np
import zarr
from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec, GzipCodec, ShardingCodec, TransposeCodec, ZstdCodec

shutil.rmtree("zarr3", ignore_errors=True)
zarr.create_group("zarr3", attributes={"made": "for tests"})
elements = np.add.outer(np.add.outer(np.arange(3) * 100, np.arange(5) * 10), np.arange(7))
little, big = BytesCodec(endian="little"), BytesCodec(endian="big")


def put(name, dtype, codecs, part=..., chunks=(2, 4, 4), **how):
    array = zarr.create(store=f"zarr3/{name}", shape=elements.shape, dtype=dtype, chunks=chunks, codecs=codecs, zarr_format=3, fill_value=7, **how)
    array[part] = elements.astype(dtype)[part]


put("plain", "uint16", [little], dimension_names=["z", "y", "x"])
put("big", "float32", [big, GzipCodec(level=5)], chunk_key_encoding=("v2", "."))
put("dotted", "int64", [little, BloscCodec(cname="zstd", shuffle="bitshuffle")], chunk_key_encoding=("default", "."))
put("turned", "float64", [TransposeCodec(order=[2, 0, 1]), little, ZstdCodec(level=3)])
put("summed", "uint16", [little, ZstdCodec(level=3), Crc32cCodec()])
inner = ShardingCodec(chunk_shape=(1, 2, 2), codecs=[little, Crc32cCodec()], index_codecs=[little, Crc32cCodec()])
put("shards", "uint16", [inner])
put("shards_first", "uint16", [ShardingCodec(chunk_shape=(2, 2, 1), codecs=[TransposeCodec(order=[1, 2, 0]), big], index_location="start",
                                             index_codecs=[big])])
put("shards_deep", "uint16", [ShardingCodec(chunk_shape=(2, 2, 4), codecs=[inner], index_codecs=[little]), Crc32cCodec()])
put("shards_sparse", "uint16", [inner], (slice(0, 2), slice(0, 2), slice(0, 3)))
