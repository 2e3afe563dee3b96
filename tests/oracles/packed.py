"""What outputs are packed by: `--compress` of the command and `compress=` of imwrite(), looked at and read by the formats' own libraries,
and what is chosen without them."""
# needs: h5py, imagecodecs, nibabel, nrrd, numpy, SimpleITK, tensorstore, tifffile, zarr
import json
import os
import random
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import h5py
import nibabel
import nrrd
import numpy as np
import SimpleITK
import tensorstore
import tifffile
import zarr

from oracle import check, command, project, seed

warnings.simplefilter("ignore")
draw, numbers = random.Random(seed), np.random.default_rng(seed)


def distmap(*arguments, code=0):
    done = subprocess.run([command, *map(str, arguments)], capture_output=True, text=True)
    check(done.returncode == code, f"{arguments}: {done}")
    return done.stderr


def clear(path):
    shutil.rmtree(path) if os.path.isdir(path) else Path(path).unlink(missing_ok=True)


def of_tiff(path):
    with tifffile.TiffFile(path) as file:
        name = {1: "none", 5: "lzw", 8: "deflate", 50000: "zstd"}[int(file.pages[0].compression)]
    return name, tifffile.imread(path)


def of_hdf5(path):
    with h5py.File(path) as file:
        return {None: "none", "gzip": "deflate"}[file["data"].compression], file["data"][...]


def of_zarr(path):
    names = [c["name"] for c in json.loads(Path(path, "zarr.json").read_text())["codecs"]]
    array = zarr.open_array(path, mode="r")[...]
    other = tensorstore.open({"driver": "zarr3", "kvstore": {"driver": "file", "path": str(Path(path).resolve())}}).result().read().result()
    check(np.array_equal(array, other), f"{path}: zarr-python and tensorstore differ")
    return {"gzip": "deflate", "bytes": "none"}.get(names[-1], names[-1]), array


def of_nrrd(path):
    elements, header = nrrd.read(path, index_order="C")
    return {"raw": "none", "gzip": "deflate"}[header["encoding"]], elements


def of_metaimage(path):
    packed = b"CompressedData = True" in Path(path).read_bytes()[:2000]
    return "deflate" if packed else "none", SimpleITK.GetArrayFromImage(SimpleITK.ReadImage(path))


def of_nifti(path):
    return "deflate" if Path(path).read_bytes()[:2] == b"\x1f\x8b" else "none", np.asarray(nibabel.load(path).dataobj).T


def of_npy(path):
    return "none", np.load(path)


# A format's name, what it has, the default first, and what looks at a file.
FORMATS = {
    "a.tif": ("none deflate lzw zstd", of_tiff), "a.h5": ("deflate none", of_hdf5), "a.zarr": ("zstd blosc deflate none", of_zarr),
    "a.nrrd": ("none deflate", of_nrrd), "a.mha": ("none deflate", of_metaimage), "a.nii": ("none", of_nifti),
    "a.nii.gz": ("deflate", of_nifti), "a.npy": ("none", of_npy),
}
SYNONYMS = {"deflate": ["deflate", "gzip", "zlib"]}


def looked_at(name, packing, want):
    found, array = FORMATS[name][1](name)
    check(found == packing, f"{name}: packed by {found}, not {packing}")
    check(array.shape == want.shape and array.tobytes() == want.tobytes(), f"{name}, {packing}: other elements")


def test_asked(mask, want):
    for name, (has, _) in FORMATS.items():
        for packing in ["none", "deflate", "lzw", "zstd", "blosc"]:
            clear(name)
            asked = draw.choice(SYNONYMS.get(packing, [packing]))
            if packing in has.split():
                distmap("edt", mask, "-o", name, "--compress", asked)
                looked_at(name, packing, want)
            else:
                text = distmap("edt", mask, "-o", name, "--compress", asked, code=1)
                check(text.startswith(f"distmap: {name}: this ") and text.count("\n") == 1 and has in text, text)
                check(not os.path.exists(name), f"{name} was left")
        clear(name)
        own = [h for h in has.split() if h != "none"]
        distmap("edt", mask, "-o", name, "--compress", "yes", code=0 if own else 1)
        if own:
            looked_at(name, own[0], want)


def test_by_the_input(mask, want):
    """What packs anyway does so in its own way; others where the input is packed, by the same or in their own way."""
    for source, (packings, _) in FORMATS.items():
        for packing in packings.split():
            clear("in" + source[1:])
            distmap("edt", mask, "-o", "in" + source[1:], "--compress", packing)
            for name, (has, _) in FORMATS.items():
                clear(name)
                has = has.split()
                expected = has[0] if has[0] != "none" or packing == "none" else packing if packing in has else has[-1 if len(has) < 3 else 1]
                distmap("edt", "in" + source[1:], "-o", name, "--threshold", "1.5")
                check(FORMATS[name][1](name)[0] == expected, f"{source} by {packing} to {name}: {FORMATS[name][1](name)[0]}, not {expected}")
            clear("in" + source[1:])


def test_index(mask, want):
    """The index takes what it can."""
    for name, found in (("i.tif", lambda: of_tiff("i.tif")[0]), ("i.npy", lambda: "none")):
        clear("a.tif"), clear(name)
        distmap("edt", mask, "-o", "a.tif", "--index", name, "--compress", "zstd")
        check(found() == ("zstd" if name == "i.tif" else "none"), f"{name}: {found()}")


def test_python(mask, want):
    sys.path.insert(0, project + "/python")
    build = Path(command).resolve().parent
    os.environ["DISTMAP_LIBRARY"] = str(build / "src/libdistmap.so.1")
    import distmap as d
    for name, (has, _) in FORMATS.items():
        for packing in has.split():
            clear(name)
            d.imwrite(name, want, compress=draw.choice(SYNONYMS.get(packing, [packing])) if packing != "none" else draw.choice([False, "none"]))
            looked_at(name, packing, want)
            check(d.imread(name).packing == packing, f"{name}: {d.imread(name).packing}")
        for bad, error in (("xz", NotImplementedError), (3, TypeError), ("a" * 16, ValueError)):
            try:
                d.imwrite("b" + name[1:], want, compress=bad)
            except error:
                continue
            check(False, f"{name}: compress={bad!r} is no {error.__name__}")
        check(not os.path.exists("b" + name[1:]), name)
    clear("a.tif")
    d.imwrite("a.tif", want, compress="lzw")
    image = d.imread("a.tif")
    for name, packing in (("b.tif", "lzw"), ("b.mha", "deflate")):
        d.imwrite(name, want, like=image)
        check(d.imread(name).packing == packing, name)


shape = tuple(draw.randint(5, 70) for _ in range(3))
sites = numbers.random(shape) < 0.9
np.save("mask.npy", sites.astype("u1"))
distmap("edt", "mask.npy", "-o", "want.npy")
map_ = np.load("want.npy")
for test in (test_asked, test_by_the_input, test_index, test_python):
    test("mask.npy", map_)
