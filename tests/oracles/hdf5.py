"""Attributes of h5py's datasets through the command: pitches, units, offsets, labels of dimensions; and what it makes of ours."""
# needs: h5py, numpy
import json
import os
import subprocess
import sys
import time

import h5py
import numpy as np

command, project = sys.argv[1:]
seed = int(os.environ.get("DISTMAP_TEST_SEED", time.time_ns() % 2**32))
print("seed", seed)
rng = np.random.default_rng(seed)


def distmap(*arguments, status=0):
    done = subprocess.run([command, *arguments], capture_output=True, text=True)
    assert done.returncode == status, (arguments, done.stderr)
    return done.stdout if status == 0 else done.stderr


def info(name):
    return json.loads(distmap("info", name, "--json"))


def make(name, shape, labels=None, **attributes):
    with h5py.File(name, "w") as file:
        data = file.create_dataset("mask", data=(rng.random(shape) < 0.8).astype(np.uint8))
        for axis, label in enumerate(labels or ()):
            data.dims[axis].label = label
        for key, value in attributes.items():
            data.attrs[key] = value
    return name


# As CREMI's files have it, with the unit told and not.
made = make("cremi.h5", (5, 6, 7), resolution=np.array([40.0, 4, 4]), offset=np.array([400.0, 8, -4]), unit="nm")
image = info(made)["image"]
assert [axis["pitch"] for axis in image["axes"]] == [40, 4, 4] and {axis["unit"] for axis in image["axes"]} == {"nm"}, image
assert image["world"]["origin"] == [-4, 8, 400] and image["world"]["matrix"] == [[0, 0, 4], [0, 4, 0], [40, 0, 0]], image
distmap("edt", made, "-o", "out.h5", "--quiet")
assert info("out.h5")["image"]["axes"] == image["axes"] and info("out.h5")["image"]["world"] == image["world"]
distmap("edt", made, "-o", "out.npy", "--quiet")
with h5py.File(made) as file:
    brute = np.argwhere(file["mask"][()] == 0) * (40, 4, 4)
places = np.stack(np.meshgrid(*map(np.arange, (5, 6, 7)), indexing="ij"), -1).reshape(-1, 1, 3) * (40, 4, 4)
want = np.sqrt(((places - brute) ** 2).sum(-1).min(1)).reshape(5, 6, 7)
assert np.allclose(np.load("out.npy"), want, rtol=1e-6), "distances in nanometres"

# Times by their label are no space; ilastik's sizes are of space alone.
made = make("movie.h5", (2, 3, 4, 5), labels="tzyx", element_size_um=np.array([2.0, 0.5, 0.25]))
image = info(made)["image"]
assert [(axis["name"], axis["type"], axis["pitch"]) for axis in image["axes"]] == [
    ("t", "time", None), ("z", "space", 2), ("y", "space", 0.5), ("x", "space", 0.25)], image
distmap("edt", made, "-o", "times.h5", "--quiet", "--sites", "zero")
with h5py.File("times.h5") as file:
    assert [dim.label for dim in file["data"].dims] == list("tzyx")
assert [axis["type"] for axis in info("times.h5")["image"]["axes"]] == ["time", "space", "space", "space"]

# One unit for each axis, as N5 has it; names of several letters; names that are no names.
made = make("units.h5", (3, 4), labels=("lat", "lon"), resolution=[30.0, 10.0], units=["um", "um"])
assert [(axis["name"], axis["unit"]) for axis in info(made)["image"]["axes"]] == [("lat", "um"), ("lon", "um")]
distmap("edt", made, "-o", "axes.h5", "--quiet", "--spacing", "lon=5", "--axes", "lat,lon")
assert info("axes.h5")["spacing"] == [30, 5]
made = make("mixed.h5", (3, 4, 5), resolution=[0.04, 8.0, 8.0], units=["um", "nm", "nm"])
distmap("edt", made, "-o", "mixed_d.h5", "--quiet")
told = json.loads(distmap("edt", made, "-o", "mixed.npy", "--quiet", "--json"))
assert told["spacing"] == [40, 8, 8] and told["unit"] == "nm" and told["spacing_from"] == "the file", told
made = make("no_ratio.h5", (3, 4), resolution=[2.0, 8.0], units=["um", "s"])
assert "its pitch along y is in um, along others in s" in distmap("edt", made, "-o", "none.npy", status=1)
made = make("twice.h5", (3, 4), labels=("y", "y"))
assert info(made)["axes"] in ("yx", "y,axis1"), info(made)["axes"]

for bad in ([1.0, -2, 3], [0.0, 1, 1], [np.nan, 1, 1]):
    told = distmap("edt", make("bad.h5", (2, 3, 4), spacing=np.array(bad)), "-o", "none.npy", status=1)
    assert "a pitch is finite and above 0" in told and told.count("\n") == 1 and not os.path.exists("none.npy"), told
print("attributes of HDF5 went through")
