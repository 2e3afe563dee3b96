"""TIFFs of rasterio's (GDAL's) and tifffile's through the command: maps keep transform, CRS, nodata and bands, stacks their axes and
calibration, and distances are in the unit that the file tells.

Random maps (projected and geographic, area and point, rotated, bands, tiles, compressed), ImageJ hyperstacks and OME-TIFFs of any order
of dimensions; results are read by the same libraries, and OME-XML is checked against OME's schema. scikit-image ships the real files."""
# needs: imagecodecs, numpy, ome_types, rasterio, scipy, skimage, tifffile, xmlschema
import json
import logging
import os
import re
import shutil
import subprocess
import warnings

import numpy as np
import ome_types
import rasterio
import skimage
import tifffile
from rasterio.transform import Affine
from scipy import ndimage

from oracle import check, command, rng, run

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)


def distmap(*arguments):
    return run(command, *arguments)


def refused(text, *arguments, out):
    done = subprocess.run([command, *map(str, arguments)], capture_output=True, text=True)
    check(done.returncode == 1 and text in done.stderr and done.stderr.count("\n") == 1, f"{arguments}: {done.stderr!r}, not {text!r}")
    check(not os.path.exists(out), f"{out} was left")


def model(path):
    return json.loads(distmap("info", path, "--json"))["image"]


def close(a, b, what, tolerance=1e-6):
    check(np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=tolerance, atol=0), f"{what}: {a}, not {b}")


def bits(shape, dtype=np.uint8):
    return (rng.random(shape) < 0.9).astype(dtype)


def distances(mask, pitch):
    want = ndimage.distance_transform_edt(mask, sampling=pitch)
    return np.where((mask == 0).any(), want, np.inf)


# ---- Maps ----

units = {"EPSG:32633": "m", "EPSG:3857": "m", "EPSG:2227": "us-ft", "EPSG:2222": "ft", "EPSG:4326": "deg", None: ""}
for i in range(60):
    crs = rng.choice(list(units))
    bands, dtype = int(rng.choice([1, 1, 2, 5])), rng.choice([np.uint8, np.uint16, np.int16, np.float32])
    if bands == 5 and dtype == np.uint8:  # GDAL would call three of them colours; it is another test
        dtype = np.uint16
    pitch = np.round(rng.uniform(0.5, 60, 2), 1)
    place = Affine.translation(*np.round(rng.uniform(-1e6, 1e6, 2), 1))
    rotated = rng.random() < 0.2
    transform = place * (Affine.rotation(float(rng.uniform(0, 360))) if rotated else Affine.identity()) * Affine.scale(pitch[0], -pitch[1])
    options = {"crs": crs, "transform": transform, "count": bands, "dtype": dtype, "height": int(rng.integers(5, 40)),
               "width": int(rng.integers(5, 40)), "interleave": rng.choice(["band", "pixel"])}
    if rng.random() < 0.5:
        options.update(tiled=True, blockxsize=16, blockysize=16)
    if rng.random() < 0.6:
        options.update(compress=rng.choice(["lzw", "deflate", "zstd"]), predictor=2 if dtype != np.float32 else 3)
    if rng.random() < 0.3:
        options["BIGTIFF"] = "YES"
    if rng.random() < 0.5:
        options["nodata"] = 77
    image = bits((bands, options["height"], options["width"]), dtype)
    image[:, 0, 0] = 0
    with rasterio.open(f"map{i}.tif", "w", driver="GTiff", **options) as file:
        file.write(image)
        file.update_tags(KEPT="a & b", **({"AREA_OR_POINT": "Point"} if rng.random() < 0.3 else {}))
        file.update_tags(1, STATISTICS_MAXIMUM=1)
        file.scales = [0.5] * bands
    what = f"map{i}.tif ({crs})"
    distmap("edt", f"map{i}.tif", "-o", f"far{i}.tif", "--quiet")
    with rasterio.open(f"map{i}.tif") as was, rasterio.open(f"far{i}.tif") as now:
        check(now.crs == was.crs, f"{what}: CRS {now.crs}")
        check(now.transform == was.transform, f"{what}: transform {now.transform}, not {was.transform}")
        check(now.tags() == was.tags(), f"{what}: tags {now.tags()}, not {was.tags()}")
        check(now.scales == (1.0,) * bands and not now.tags(1), f"{what}: what bands of the input were is said of distances")
        check(now.count == bands and now.compression == was.compression, f"{what}: {now.profile}")
        for b in range(bands):
            close(now.read(b + 1), distances(image[b], was.res[::-1]).astype(np.float32), f"{what}: distances", 1e-5)
        told = model(f"map{i}.tif")
        centre = was.transform * (0.5, 0.5)
        point = was.tags().get("AREA_OR_POINT") == "Point"
        matrix = [[was.transform.b, was.transform.a], [was.transform.e, was.transform.d]]
        close(told["world"]["origin"], centre, f"{what}: origin", 1e-9)
        check(np.allclose(told["world"]["matrix"], matrix, rtol=1e-12, atol=1e-9), f"{what}: matrix {told['world']['matrix']}")
        check(told["axes"][-1]["unit"] == units[crs], f"{what}: unit {told['axes']}")
        check(told["world"]["crs"] == crs, f"{what}: told {told['world']['crs']}")
        check(told["world"]["name"] == {"": "unknown", "deg": "geographic"}.get(units[crs], "projected"), f"{what}: {told['world']}")
        check(told["nodata"] == options.get("nodata"), f"{what}: nodata {told['nodata']}")
        check([axis["name"] for axis in told["axes"]] == ["c", "y", "x"][1 - (bands > 1):], f"{what}: axes {told['axes']}")
    # The place of another pitch is written anew, and the first element stays where it is.
    distmap("edt", f"map{i}.tif", "-o", "anew.tif", "--quiet", "--spacing", f"y={pitch[1] * 2},x={pitch[0] * 2}")
    with rasterio.open("anew.tif") as now:
        close(now.transform * (0.5, 0.5), centre, f"{what}: centre", 1e-9)
        close(now.res, 2 * pitch, f"{what}: pitch")
        check((now.tags().get("AREA_OR_POINT") == "Point") == point, f"{what}: area or point")
    distmap("compare", f"map{i}.tif", f"far{i}.tif", "--quiet", "--threshold", "1", *(["--channel", "0"] if bands > 1 else []))

# A mask stays a mask of the same place, with 30 m cells: 700 cells are 21 km.
wide = np.ones((2, 702), np.uint8)
wide[:, 0] = 0
with rasterio.open("wide.tif", "w", driver="GTiff", height=2, width=702, count=1, dtype="uint8", crs="EPSG:32633",
                   transform=Affine(30, 0, 5e5, 0, -30, 5e6)) as file:
    file.write(wide, 1)
distmap("edt", "wide.tif", "-o", "wide_d.tif", "--quiet")
with rasterio.open("wide_d.tif") as file:
    check(file.read(1).max() == 701 * 30, "700 cells of 30 m")

# ---- Stacks ----


def draw_stack(names):
    axes = "".join(name for name in "TZC" if name in names)
    shape = tuple(int(rng.integers(2, 5)) for _ in axes) + (int(rng.integers(6, 20)), int(rng.integers(6, 20)))
    return axes + "YX", bits(shape)


def check_stack(path, image, axes, pitches, unit, interval):
    """The same elements, t c z y x, with these pitches; and a result of the same calibration, as an array in that order."""
    order = [axes.index(name) for name in "TCZYX" if name in axes]
    image = image.transpose(order)
    told = model(path)
    check("".join(axis["name"] for axis in told["axes"]).upper() == "".join(axes[k] for k in order), f"{path}: axes {told['axes']}")
    for axis in told["axes"]:
        if axis["name"] in pitches:
            check(axis["pitch"] == pitches[axis["name"]] and axis["unit"] == unit, f"{path}: {axis}, not {pitches} {unit}")
        if axis["name"] == "t" and interval:
            check(axis["pitch"] == interval and axis["unit"] == "s", f"{path}: {axis}")
    where = []
    if image.ndim == 5:
        at = int(rng.integers(image.shape[1]))
        where, image, axes = ["--channel", at], image[:, at], axes.replace("C", "")
    names = [name for name in "tczyx" if name.upper() in axes]
    measured = [pitches[name] for name in names if name in pitches]
    flat = image.reshape((-1,) + image.shape[image.ndim - len(measured):])
    want = np.stack([distances(part, measured) for part in flat]).reshape(image.shape).astype(np.float32)
    return where, names, want


def read_as(path, names, series_axes, series):
    """What tifffile reads, in the order of the names."""
    array, axes = series, series_axes.lower()
    check(sorted(axes) == sorted(names), f"{path}: tifffile reads axes {axes}, not {names}")
    return array.transpose([axes.index(name) for name in names])


for i in range(40):
    names = [name for name in "TZC" if rng.random() < 0.6]
    axes, image = draw_stack(names)
    px, pz, dt = round(float(rng.uniform(0.05, 3)), 3), round(float(rng.uniform(0.1, 5)), 2), round(float(rng.uniform(0.1, 9)), 1)
    pitches = {"y": px, "x": px, **({"z": pz} if "Z" in axes else {})}
    ij = "".join(name for name in "TZCYX" if name in axes)
    path = f"ij{i}.tif"
    tifffile.imwrite(path, image.transpose([axes.index(name) for name in ij]), imagej=True, resolution=(1 / px, 1 / px),
                     byteorder=rng.choice([">", "<"]), compression=rng.choice([None, "zlib"]),
                     metadata={"axes": ij, "spacing": pz, "unit": "um", "finterval": dt, "loop": True})
    where, left, want = check_stack(path, image, axes, pitches, "um", dt if "T" in axes else 0)
    distmap("edt", path, "-o", "ij_d.tif", "--quiet", *where)
    with tifffile.TiffFile("ij_d.tif") as file:
        text = file.imagej_metadata
        check(file.is_imagej and text["unit"] == "um", f"{path}: the result is no ImageJ file")
        check("z" not in left or text["spacing"] == pz, f"{path}: spacing {text}")
        check("t" not in left or text["finterval"] == dt, f"{path}: finterval {text}")
        check(text.get("channels", 1) * text.get("slices", 1) * text.get("frames", 1) == len(file.pages) and "images" not in text,
              f"{path}: {text}")
        over, under = file.pages[0].tags["XResolution"].value
        check(abs(over / under * px - 1) < 1e-6, f"{path}: resolution")
        close(read_as(path, left, file.series[0].axes, file.series[0].asarray()), want, f"{path}: distances")
    distmap("compare", path, "ij_d.tif", "--quiet", "--threshold", "1", *[x for n, x in (("t", ["--time", 0]), ("c", ["--channel", 0])) if n in left for x in x],
            ) if not where else None

lengths = {"µm": 1, "nm": 1e-3, "mm": 1e3, "Å": 1e-4, "in": 25400.0}
short = {"µm": "um", "Å": "angstrom", "in": "inch"}
for i in range(40):
    axes, image = draw_stack([name for name in "TZC" if rng.random() < 0.6])
    unit, order = rng.choice(list(lengths)), list(axes[:-2])
    rng.shuffle(order)
    ome = "".join(order) + "YX"
    px, pz, dt = round(float(rng.uniform(0.05, 3)), 3), round(float(rng.uniform(0.1, 5)), 2), round(float(rng.uniform(0.1, 9)), 1)
    path, pitches = f"ome{i}.ome.tif", {"y": px, "x": px, **({"z": pz} if "Z" in axes else {})}
    tifffile.imwrite(path, image.transpose([axes.index(name) for name in ome]), ome=True, bigtiff=bool(rng.integers(2)),
                     compression=rng.choice([None, "zlib", "zstd"]), tile=(16, 16) if rng.random() < 0.5 else None, photometric="minisblack",
                     metadata={"axes": ome, "PhysicalSizeX": px, "PhysicalSizeY": px, "PhysicalSizeZ": pz, "TimeIncrement": dt,
                               **{f"PhysicalSize{letter}Unit": unit for letter in "XYZ"}})
    where, left, want = check_stack(path, image, axes, pitches, short.get(unit, unit), dt if "T" in axes else 0)
    for out in ("ome_d.tif", "d.ome.tiff"):
        distmap("edt", path, "-o", out, "--quiet", *where)
        with tifffile.TiffFile(out) as file:
            check(file.is_ome, f"{path}: the result is no OME-TIFF")
            xml = file.ome_metadata
            close(read_as(path, left, file.series[0].axes, file.series[0].asarray()), want, f"{path}: distances")
        ome_types.validate_xml(xml)
        pixels = ome_types.from_xml(xml).images[0].pixels
        check(pixels.physical_size_x == px and pixels.physical_size_x_unit.value == unit, f"{path}: {pixels.physical_size_x}")
        check("z" not in left or pixels.physical_size_z == pz, f"{path}: {pixels.physical_size_z}")
        check("t" not in left or pixels.time_increment == dt, f"{path}: {pixels.time_increment}")

# Micrometres beside nanometres: one unit. A stack of ImageJ's becomes an OME-TIFF by its name.
tifffile.imwrite("mixed.ome.tif", bits((4, 8, 9)), ome=True, metadata={"axes": "ZYX", "PhysicalSizeX": 0.25, "PhysicalSizeY": 0.25,
                                                                       "PhysicalSizeZ": 1500, "PhysicalSizeZUnit": "nm"})
check([(a["pitch"], a["unit"]) for a in model("mixed.ome.tif")["axes"]] == [(1.5, "um"), (0.25, "um"), (0.25, "um")], "units that differ")
tifffile.imwrite("to.tif", bits((3, 4, 8, 9)), imagej=True, resolution=(4, 4), metadata={"axes": "ZCYX", "unit": "um", "spacing": 2})
distmap("edt", "to.tif", "-o", "to.ome.tif", "--quiet")
ome_types.validate_xml(tifffile.TiffFile("to.ome.tif").ome_metadata)
close(tifffile.imread("to.ome.tif").shape, (4, 3, 8, 9), "c z y x")
distmap("edt", "to.tif", "-o", "to_d.tif", "--quiet")
distmap("compare", "to_d.tif", "to.ome.tif", "--channel", "2", "--threshold", "1", "--quiet")

# ---- Bands and colours ----

for planar in ("contig", "separate"):
    for dtype in (np.uint8, np.int32, np.float64):
        for tile in (None, (16, 16)):
            image = bits((4, 20, 21), dtype) * np.arange(1, 5, dtype=dtype)[:, None, None]
            tifffile.imwrite("bands.tif", image if planar == "separate" else np.moveaxis(image, 0, -1), photometric="minisblack", tile=tile,
                             planarconfig=planar, extrasamples=[0] * 3, metadata=None, compression="zlib")
            distmap("edt", "bands.tif", "-o", "bands.npy", "--quiet")
            close(np.load("bands.npy"), np.stack([distances(b, 1) for b in image]).astype(np.float32), f"{planar} bands")
            distmap("edt", "bands.tif", "-o", "band.npy", "--quiet", "--channel", "2")
            close(np.load("band.npy"), distances(image[2], 1).astype(np.float32), f"{planar} bands: one")
            distmap("edt", "bands.tif", "-o", "bands_d.tif", "--quiet")
            with rasterio.open("bands_d.tif") as file:
                close(file.read(), np.load("bands.npy"), f"{planar} bands by GDAL")

# ---- Elements without data, and degrees ----

lowest = float(np.finfo(np.float64).min)
for dtype, nodata in (("uint8", 255), ("uint8", 0), ("int16", -9999), ("uint16", 65535), ("float32", np.nan), ("float32", float(np.finfo(np.float32).min)),
                      ("float64", lowest)):
    image, gaps = rng.integers(1, 3, (30, 41)).astype(dtype), rng.random((30, 41)) < 0.2
    gaps[:, 20:24] = True
    image[gaps] = nodata
    with rasterio.open("gaps.tif", "w", driver="GTiff", height=30, width=41, count=1, dtype=dtype, crs="EPSG:32633", nodata=nodata,
                       transform=Affine(30, 0, 5e5, 0, -10, 5e6), compress=rng.choice(["lzw", "deflate"])) as file:
        file.write(image, 1)
    site, value = (image == 1) & ~gaps, np.inf if nodata == lowest else nodata  # which float32 does not hold
    far = ndimage.distance_transform_edt(~site, sampling=(10, 30))
    for words, want in ((["edt", "--sites", "1"], np.where(gaps, value, far)),
                        (["edt", "--sites", "1", "--limit", "25m"], np.where(gaps | (far > 25), value, far)),
                        (["edt", "--sites", "1", "--memory", "48M"], np.where(gaps, value, far)),
                        (["edt", "--sites", "1", "--fill=-1"], np.where(gaps, -1, far)),
                        (["edt", "--sites", "1", "--nodata", "site"], ndimage.distance_transform_edt(~(site | gaps), sampling=(10, 30))),
                        (["edt", "--sites", "1", "--nodata", "object"], far),
                        (["morph", "--sites", "1", "--op", "dilate", "--radius", "30"],
                         np.where(gaps, nodata if nodata in (0, 255) else 255, far <= 30))):
        distmap(words[0], "gaps.tif", "-o", "gaps_d.tif", "--quiet", *words[1:])
        with rasterio.open("gaps.tif") as was, rasterio.open("gaps_d.tif") as now:
            what = f"no data, {dtype} {nodata}, {words}"
            check(now.crs == was.crs and now.crs.linear_units == "metre", f"{what}: {now.crs}")
            check(now.transform == was.transform, f"{what}: {now.transform}")
            none = want[gaps][0] if "--nodata" not in words else value
            check(now.nodata == none or (np.isnan(none) and np.isnan(now.nodata)), f"{what}: nodata {now.nodata}, not {none}")
            got = now.read(1)
            check(np.allclose(got, want.astype(got.dtype), rtol=2e-7, atol=0, equal_nan=True), f"{what}: {got}, not {want}")
            if "--nodata" not in words and nodata != 0:  # of 0 it is a warning, for it is a distance too
                check((now.read(1, masked=True).mask == (want == none if none == none else np.isnan(want))).all(), f"{what}: GDAL's mask")

image = bits((25, 31))
image[3, 4] = 0
for nodata in (None, 7):
    with rasterio.open("degrees.tif", "w", driver="GTiff", height=25, width=31, count=1, dtype="uint8", crs="EPSG:4326", nodata=nodata,
                       transform=Affine(0.25, 0, 10, 0, -0.5, 50)) as file:
        file.write(image, 1)
    done = subprocess.run([command, "edt", "degrees.tif", "-o", "degrees_d.tif"], capture_output=True, text=True)
    check(done.returncode == 0 and done.stderr.count("longitudes and latitudes") == 1, f"degrees: {done.stderr}")
    with rasterio.open("degrees.tif") as was, rasterio.open("degrees_d.tif") as now:
        check(now.crs == was.crs and now.crs.is_geographic and now.transform == was.transform and now.nodata == was.nodata, "degrees")
        close(now.read(1), distances(image, (0.5, 0.25)).astype(np.float32), "degrees: distances")
    check(model("degrees_d.tif")["axes"][1]["unit"] == "deg", "degrees: unit")
    os.remove("degrees_d.tif")
    done = subprocess.run([command, "edt", "degrees.tif", "-o", "degrees_d.tif", "--strict"], capture_output=True, text=True)
    check(done.returncode == 3 and "longitudes and latitudes" in done.stderr and not os.path.exists("degrees_d.tif"), f"strict: {done.stderr}")
    distmap("edt", "degrees.tif", "-o", "degrees_d.npy", "--strict", "--spacing", "y=30,x=20m")
    close(np.load("degrees_d.npy"), distances(image, (30, 20)).astype(np.float32), "degrees, of which the pitch is given")

# ---- What contradicts itself ----

plain = bits((6, 8, 9))
tifffile.imwrite("bad.tif", plain, metadata=None, description="ImageJ=1.54f\nimages=6\nslices=4\nchannels=2\n")
refused("names 2 channels, 4 slices and 1 frames, but the file has 6 images", "edt", "bad.tif", "-o", "no.tif", out="no.tif")
tifffile.imwrite("bad.tif", plain, metadata=None, description="ImageJ=1.54f\nimages=7\n")
refused("names 7 images, but the file has 6", "edt", "bad.tif", "-o", "no.tif", out="no.tif")
tifffile.imwrite("good.ome.tif", plain, ome=True, metadata={"axes": "ZYX", "PhysicalSizeX": 0.5})
xml = tifffile.TiffFile("good.ome.tif").ome_metadata
for change, text in (((b"</Image>", b"</Imag>"), "its OME-XML is broken in line"), ((b'SizeZ="6"', b'SizeZ="7"'), "7 slices"),
                     ((b'SizeX="9"', b'SizeX="8"'), "8 x 8 pixels"), ((b'DimensionOrder="XY', b'DimensionOrder="YY'), "a DimensionOrder is"),
                     ((b'PhysicalSizeX="0.5"', b'PhysicalSizeX="-.5"'), "a pitch is finite"), ((b'SizeT="1"', b'SizeT="-"'), 'SizeT of "-"'),
                     ((b"<Image", b"<!DOCTYPE x><Image"), "document type"), ((b'IFD="0"', b'IFD="3"'), "is not there"),
                     ((b"<OME ", b"<OME UUID=\"urn:uuid:1\" "), None)):
    data = xml.encode().replace(*change)
    if change[0] == b'SizeZ="6"':
        data = data.replace(b'PlaneCount="6"', b'PlaneCount="7"')
    if text is None:  # the planes of another file
        data = re.sub(rb' UUID="urn:uuid:(?!1")[^"]*"', b"", data)
        data = re.sub(rb"<TiffData([^>/]*)(/>|>.*?</TiffData>)", rb'<TiffData\1><UUID FileName="b.ome.tif">urn:uuid:2</UUID></TiffData>', data)
        text = "planes are in other files (b.ome.tif)"
    check(data != xml.encode(), f"{change} changes nothing")
    tifffile.imwrite("bad.tif", plain, metadata=None, description=data)
    refused(text, "edt", "bad.tif", "-o", "no.tif", out="no.tif")


def geo(**tags):
    kinds = {"scale": (33550, 12), "ties": (33922, 12), "keys": (34735, 3), "doubles": (34736, 12), "matrix": (34264, 12)}
    extra = [(kinds[name][0], kinds[name][1], len(value), value, True) for name, value in tags.items() if name in kinds]
    extra += [(42113, 2, 0, tags["nodata"], True)] if "nodata" in tags else []
    extra += [(42112, 2, 0, tags["metadata"], True)] if "metadata" in tags else []
    tifffile.imwrite("bad.tif", plain[0], metadata=None, extratags=extra)


ties = (0, 0, 0, 5, 5, 0)
for tags, text in (({"scale": (30, -30, 0), "ties": ties}, "ModelPixelScale is no pitch"), ({"scale": (float("nan"), 1, 0), "ties": ties}, "no pitch"),
                   ({"scale": (30, 30, 0), "ties": ties[:4]}, "too few numbers"), ({"matrix": (1,) * 12}, "less than 16 numbers"),
                   ({"matrix": (1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)}, "singular"), ({"keys": (1, 1, 0, 9, 1024, 0, 1, 1)}, "names 9 keys"),
                   ({"keys": (7, 1, 0, 0)}, "version 7"), ({"keys": (1, 1, 0, 1, 3077, 34736, 1, 4), "doubles": (1.0,)}, "GeoKey 3077"),
                   ({"nodata": "no"}, "GDAL_NODATA is no number"), ({"metadata": "<GDALMetadata><Item></GDALMetadata>"}, "broken XML")):
    geo(**tags)
    refused(text, "edt", "bad.tif", "-o", "no.tif", out="no.tif")

# ---- Real files, not made here ----

shipped = os.path.join(os.path.dirname(skimage.__file__), "data")
shutil.copy(os.path.join(shipped, "multipage.tif"), "real.tif")
real = tifffile.imread("real.tif")
distmap("edt", "real.tif", "-o", "real_d.tif", "--threshold", str(int(np.median(real))), "--quiet")
close(tifffile.imread("real_d.tif"), distances(real >= int(np.median(real)), 1).astype(np.float32), "multipage.tif")
distmap("edt", "real.tif", "-o", "real_m.tif", "--threshold", str(int(np.median(real))), "--quiet", "--memory", "1G")
check(open("real_m.tif", "rb").read() == open("real_d.tif", "rb").read(), "multipage.tif, out of core")
rgb = os.path.join(shipped, "multipage_rgb.tif")  # two pages of three planes of float64
distmap("edt", rgb, "-o", "rgb_d.npy", "--threshold", "0.5", "--quiet")
planes = tifffile.imread(rgb).swapaxes(0, 1)
want = np.stack([distances(channel >= 0.5, (1, 1, 1)) for channel in planes]).astype(np.float32)
close(np.load("rgb_d.npy"), want, "multipage_rgb.tif")
distmap("compare", "real.tif", "real.tif", "--threshold", str(int(np.median(real))), "--quiet")
print("60 maps, 80 stacks and bands of 12 kinds went through")
