"""Files beside the formats' own libraries: how long distmap.imread() and imwrite() take on the same bytes.

    build/oracles/bin/python bench/files.py [--library BUILD/src] [--only WORD,...] [--rounds N] [--side N] [--folder FOLDER]

tools/oracles.sh makes that Python. A row's file is written by the format's own library, and read by both; what we write is packed the
same way, and how large both files are is told. Both read into fresh memory, as programs do, and both are called in turns: figures are
the least of all rounds, a ratio is the library's time over ours. The folder is one in memory, so that no disk is measured. Volumes are
distances within smooth blobs (float32), pictures are such distances as 16 bits. What was read is compared, outside the clock.
"""

import argparse
import os
import shutil
import tempfile
import time
from pathlib import Path

import package

ROOT = Path(__file__).resolve().parent.parent


# ---- The libraries: how each writes an array, and reads it into memory that is its own ----

def tiff(**options):
    import tifffile
    return (lambda path, array: tifffile.imwrite(path, array, photometric="minisblack", **options)), tifffile.imread


def geotiff(**options):
    import rasterio
    from rasterio.transform import Affine

    def write(path, array):
        bands = array if array.ndim == 3 else array[None]
        with rasterio.open(path, "w", driver="GTiff", count=len(bands), height=bands.shape[1], width=bands.shape[2], dtype=array.dtype,
                           crs="EPSG:32633", transform=Affine.scale(30, -30), num_threads=options.pop("num_threads", 1), **options) as to:
            to.write(bands)

    def read(path):
        with rasterio.open(path) as file:
            return file.read() if file.count > 1 else file.read(1)
    return write, read


def nifti():
    import nibabel
    import numpy as np
    return (lambda path, array: nibabel.Nifti1Image(array.T, np.eye(4)).to_filename(path),
            lambda path: nibabel.load(path).dataobj.__array__().copy().T)


def itk(**options):
    import SimpleITK
    return (lambda path, array: SimpleITK.WriteImage(SimpleITK.GetImageFromArray(array), path, **options),
            lambda path: SimpleITK.GetArrayFromImage(SimpleITK.ReadImage(path)))


def nrrd():
    import nrrd as library
    return (lambda path, array: library.write(path, array, compression_level=1, index_order="C"),
            lambda path: library.read(path, index_order="C")[0])


def hdf5(**options):
    import h5py

    def write(path, array):
        with h5py.File(path, "w") as file:
            file.create_dataset("data", data=array, **options)

    def read(path):
        with h5py.File(path) as file:
            return file["data"][...]
    return write, read


def zarr_store(version, **options):
    import zarr

    def write(path, array):
        shutil.rmtree(path, ignore_errors=True)
        store = zarr.create_array(path, shape=array.shape, dtype=array.dtype, zarr_format=version, chunks=(64,) * array.ndim, **options)
        store[...] = array
    return write, lambda path: zarr.open_array(path, mode="r")[...]


def zstd():
    from zarr.codecs import ZstdCodec
    return ZstdCodec(level=1)


def blosc():
    from numcodecs import Blosc
    return Blosc("lz4", 5, Blosc.SHUFFLE)


def precomputed():
    import tensorstore

    def write(path, array):
        shutil.rmtree(path, ignore_errors=True)
        store = tensorstore.open({
            "driver": "neuroglancer_precomputed", "kvstore": {"driver": "file", "path": path}, "create": True,
            "multiscale_metadata": {"type": "image", "data_type": str(array.dtype), "num_channels": 1},
            "scale_metadata": {"size": array.shape[::-1], "encoding": "raw", "chunk_size": [64, 64, 64], "resolution": [8, 8, 8]}}).result()
        store[..., 0].write(array.T).result()

    def read(path):
        store = tensorstore.open({"driver": "neuroglancer_precomputed", "kvstore": {"driver": "file", "path": path}}).result()
        return store[..., 0].read().result().T
    return write, read


def pillow():
    import numpy as np
    import PIL.Image
    return (lambda path, array: PIL.Image.fromarray(array).save(path, compress_level=1),
            lambda path: np.array(PIL.Image.open(path)))


def npy():
    import numpy as np
    return np.save, np.load


TILES = {"tile": (256, 256)}
# Name, the array, the file's name, its library, and how we pack it.
ROWS = [
    ("npy", "volume", "a.npy", npy, None),
    ("png, 16 bits", "picture", "a.png", pillow, None),
    ("tiff", "volume", "a.tif", tiff, "none"),
    ("tiff, deflate", "volume", "a.tif", lambda: tiff(compression="zlib", predictor=True), "deflate"),
    ("tiff, zstd", "volume", "a.tif", lambda: tiff(compression="zstd", predictor=True), "zstd"),
    ("tiff, lzw", "volume", "a.tif", lambda: tiff(compression="lzw", predictor=True), "lzw"),
    ("tiff, one picture, deflate", "picture", "a.tif", lambda: tiff(compression="zlib", predictor=True, rowsperstrip=64), "deflate"),
    ("tiff, one strip, deflate", "picture", "a.tif", lambda: tiff(compression="zlib", predictor=True, rowsperstrip=1 << 20), "deflate"),
    ("tiff, tiles", "picture", "a.tif", lambda: tiff(**TILES), "none"),
    ("tiff, tiles, deflate", "picture", "a.tif", lambda: tiff(compression="zlib", predictor=True, **TILES), "deflate"),
    ("tiff, tiles, zstd", "picture", "a.tif", lambda: tiff(compression="zstd", predictor=True, **TILES), "zstd"),
    ("geotiff", "picture", "a.tif", geotiff, "none"),
    ("geotiff, tiles, deflate", "picture", "a.tif",
     lambda: geotiff(tiled=True, compress="deflate", predictor=2, blockxsize=256, blockysize=256), "deflate"),
    ("geotiff, 8 bands together, deflate", "bands", "a.tif",
     lambda: geotiff(compress="deflate", predictor=2, interleave="pixel"), "deflate"),
    ("geotiff, 8 bands apart, deflate", "bands", "a.tif", lambda: geotiff(compress="deflate", predictor=2, interleave="band"), "deflate"),
    ("geotiff, 8 bands in tiles, zstd", "bands", "a.tif",
     lambda: geotiff(tiled=True, compress="zstd", predictor=2, interleave="pixel", blockxsize=256, blockysize=256), "zstd"),
    ("nifti", "volume", "a.nii", nifti, None),
    ("nifti, gzip", "volume", "a.nii.gz", nifti, None),
    ("metaimage", "volume", "a.mha", itk, "none"),
    ("metaimage, zlib", "volume", "a.mha", lambda: itk(useCompression=True), "deflate"),
    ("nrrd", "volume", "a.nrrd", itk, "none"),
    ("nrrd, gzip", "volume", "a.nrrd", lambda: itk(useCompression=True), "deflate"),
    ("nrrd, gzip, by pynrrd", "volume", "a.nrrd", nrrd, "deflate"),
    ("hdf5", "volume", "a.h5", hdf5, "none"),
    ("hdf5, chunks, gzip", "volume", "a.h5",
     lambda: hdf5(chunks=(64, 64, 64), compression="gzip", compression_opts=1, shuffle=True), "deflate"),
    ("zarr 3, zstd", "volume", "a.zarr", lambda: zarr_store(3, compressors=zstd()), "zstd"),
    ("zarr 3, zstd in shards", "volume", "a.zarr", lambda: zarr_store(3, compressors=zstd(), shards=(128, 128, 128)), "zstd"),
    ("zarr 2, blosc", "volume", "a.zarr", lambda: zarr_store(2, compressors=blosc()), "blosc"),
    ("precomputed, raw", "volume", "a.precomputed", precomputed, None),
]


def blobs(np, shape):
    """Distances within blobs; the seed is fixed, since files are to be the same from run to run."""
    coarse = np.random.default_rng(7).random([n // 32 + 2 for n in shape])
    field = coarse
    for axis, n in enumerate(shape):
        at = np.linspace(0, coarse.shape[axis] - 1.001, n)
        low = at.astype(int)
        part = (at - low).reshape([-1 if a == axis else 1 for a in range(field.ndim)])
        field = field.take(low, axis) * (1 - part) + field.take(low + 1, axis) * part
    return package.distmap.edt(field > 0.5)


def arrays(np, side):
    volume = blobs(np, (side,) * 3).astype("f4")
    plane = int((side ** 3) ** 0.5)
    picture = (blobs(np, (plane, plane)) * 100).astype("u2")
    return {"volume": volume, "picture": picture,
            "bands": np.stack([np.roll(picture[: plane // 2, : plane // 2], 37 * b, 1) for b in range(8)])}


def size_of(path):
    return sum(p.stat().st_size for p in Path(path).rglob("*") if p.is_file()) if Path(path).is_dir() else Path(path).stat().st_size


def remove(path):
    shutil.rmtree(path) if Path(path).is_dir() else Path(path).unlink(missing_ok=True)


clock = time.perf_counter


def timed(call):
    begin = clock()
    result = call()
    return clock() - begin, result


def measure(row, array, folder, rounds):
    _, _, name, library, compress = row
    write, read = library()
    d = package.distmap
    theirs, ours, least = f"{folder}/theirs-{name}", f"{folder}/ours-{name}", {}
    write(theirs, array)
    image = d.imread(theirs)

    def put():
        remove(ours)
        before = clock()
        d.imwrite(ours, array, like=image if image.array.shape == array.shape else None, **({"compress": compress} if compress else {}))
        return clock() - before

    def put_theirs():
        remove(theirs)
        before = clock()
        write(theirs, array)
        return clock() - before
    calls = {"read": lambda: timed(lambda: d.imread(theirs).array), "their read": lambda: timed(lambda: read(theirs)),
             "write": lambda: (put(), None), "their write": lambda: (put_theirs(), None)}
    for turn in range(rounds):
        for key in list(calls)[turn % 2::2] + list(calls)[1 - turn % 2::2]:
            seconds, got = calls[key]()
            least[key] = min(seconds, least.get(key, seconds))
            if got is not None and not (got == array).all():
                raise SystemExit(f"{row[0]}: {key} gives another array")
            del got
    back = d.imread(ours).array
    if back.tobytes() != array.tobytes():
        raise SystemExit(f"{row[0]}: what was written reads as another array")
    sizes = size_of(ours), size_of(theirs)
    remove(ours), remove(theirs)
    return least, sizes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", type=Path, default=ROOT / "build/release/src", help="the folder of libdistmap.so")
    parser.add_argument("--only", default="", help="rows with any of these words")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--side", type=int, default=256, help="of the volume; pictures have as many elements")
    parser.add_argument("--folder", default="/dev/shm" if os.path.isdir("/dev/shm") else None)
    parser.add_argument("--cpu", action="store_true", help="processor time of all threads, for a machine that others keep busy")
    options = parser.parse_args()
    if options.cpu:
        global clock
        clock = time.process_time
    package.use(options.library / "libdistmap.so.1")
    import numpy as np
    sources, words = arrays(np, options.side), [w for w in options.only.split(",") if w]
    print(f"{'':36}{'read: ms':>9}{'library':>9}{'ratio':>7}{'write: ms':>11}{'library':>9}{'ratio':>7}{'MB':>7}{'library':>9}")
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for row in ROWS:
            if words and not any(word in row[0] for word in words):
                continue
            least, sizes = measure(row, sources[row[1]], folder, options.rounds)
            print(f"{row[0]:36}{least['read'] * 1e3:9.1f}{least['their read'] * 1e3:9.1f}{least['their read'] / least['read']:7.2f}"
                  f"{least['write'] * 1e3:11.1f}{least['their write'] * 1e3:9.1f}{least['their write'] / least['write']:7.2f}"
                  f"{sizes[0] / 1e6:7.1f}{sizes[1] / 1e6:9.1f}", flush=True)


if __name__ == "__main__":
    main()
