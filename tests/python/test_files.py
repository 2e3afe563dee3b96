"""imread() and imwrite(): elements as Pillow has them, and the model there and back."""

import dataclasses
import math
import os
import signal
import subprocess
import sys
import time

import distmap
import numpy as np
import pytest
from distmap import Axis, Image
from hypothesis import strategies as st
from oracle import drawn
from PIL import Image as Pillow

SIDES = st.integers(1, 20)


@drawn(60, height=SIDES, width=SIDES, mode=st.sampled_from(("L", "RGB", "RGBA", "P", "LA", "1")),
       ending=st.sampled_from(("png", "ppm", "tif")), seed=st.integers(0, 2**32 - 1))
def test_samples_as_pillow(tmp_path_factory, height, width, mode, ending, seed):
    rng = np.random.default_rng(seed)
    path = tmp_path_factory.mktemp("picture") / f"p.{ending}"
    if ending == "ppm" and mode not in ("RGB", "L"):
        return
    depth = {"RGB": 3, "RGBA": 4, "LA": 2}.get(mode)
    data = rng.integers(0, 256, (height, width, depth) if depth else (height, width), np.uint8)
    if mode == "1":
        data = data > 127
    picture = Pillow.fromarray(data, mode if mode != "1" else None)
    if mode == "P":
        picture.putpalette(rng.integers(0, 256, 768, np.uint8).tobytes())
    picture.save(path)
    named = {"RGB": "RGB", "RGBA": "RGBA", "LA": "LA", "P": "RGB"}.get(mode, "")
    colours = np.asarray(picture.convert(named)) if named else None
    for place, letter in enumerate(named):
        name = {"R": "red", "G": "green", "B": "blue", "A": "alpha"}.get(letter)
        if name:
            got = distmap.imread(path, channel=name)
            assert np.array_equal(got.array, colours[..., place]) and got.sample == name
    if mode in ("L", "P", "1"):
        got = distmap.imread(path)
        assert np.array_equal(got.array, data) and got.sample == ("index" if mode == "P" else None)
    else:
        with pytest.raises(ValueError, match=r"several samples: choose one by channel= \(luma, "):
            distmap.imread(path)
    luma = distmap.imread(path, channel="luma").array
    if mode == "RGB":
        assert np.array_equal(luma, (data @ np.array([19595, 38470, 7471]) + 32768) >> 16)
    if mode == "LA":
        assert np.array_equal(luma, np.where(data[..., 1] > 0, data[..., 0], 0))


def test_a_jpeg(tmp_path):
    rng = np.random.default_rng(5)
    data = np.kron(rng.integers(0, 256, (6, 7, 3), np.uint8), np.ones((16, 16, 1), np.uint8))
    Pillow.fromarray(data).save(tmp_path / "p.jpg", quality=95, subsampling=0)
    want = np.asarray(Pillow.open(tmp_path / "p.jpg")).astype(int)
    for place, name in enumerate(("red", "green", "blue")):
        got = distmap.imread(tmp_path / "p.jpg", channel=name).array
        assert np.abs(got - want[..., place]).max() <= 3  # of two versions of libjpeg


AFFINES = st.sampled_from((np.diag([2.0, 3, 4]), np.array([[0.0, 0, 4], [0, -3, 0], [2, 0, 0]])))


@drawn(40, shape=st.tuples(SIDES, SIDES, SIDES), matrix=AFFINES, world=st.sampled_from(("ras", "lps")),
       dtype=st.sampled_from(("uint8", "int16", "float32")), ending=st.sampled_from(("nii", "nii.gz")),
       seed=st.integers(0, 2**32 - 1), fortran=st.booleans())
def test_there_and_back(tmp_path_factory, shape, matrix, world, dtype, ending, seed, fortran):
    path = tmp_path_factory.mktemp("volume") / f"v.{ending}"
    data = np.random.default_rng(seed).integers(0, 100, shape).astype(dtype)
    affine = np.c_[matrix[:, ::-1], [5.0, 6, 7]]  # columns go by z, y, x
    pitches = np.sqrt((affine[:, :3] ** 2).sum(0))
    axes = tuple(Axis(name, "space", float(pitch), "mm") for name, pitch in zip("zyx", pitches))
    given = Image(np.asfortranarray(data) if fortran else data, axes, affine, world)
    distmap.imwrite(path, given)
    image = distmap.imread(path)
    assert image.array.dtype == dtype and np.array_equal(image.array, data)
    assert image.axes == axes and image.pitches == tuple(pitches) and image.unit == "mm" and image.space == (0, 1, 2)
    turned = np.diag([-1, -1, 1]) @ affine if world == "lps" else affine
    assert image.world == "ras" and np.allclose(image.affine, turned)

    distances = distmap.edt(image.array, sampling=image.pitches, axes=image.space)
    distmap.imwrite(path.with_name(f"d.{ending}"), distances, like=image, kind="intensity")
    result = distmap.imread(path.with_name(f"d.{ending}"))
    assert np.array_equal(result.array, distances) and result.axes == image.axes
    assert np.array_equal(result.affine, image.affine) and result.world == image.world
    assert [n[:2] for n in result.native] == [n[:2] for n in image.native]


@drawn(30, dtype=st.sampled_from(("bool", "uint8", "int8", "uint16", "int64", "float64")), ndim=st.integers(1, 8),
       seed=st.integers(0, 2**32 - 1), swapped=st.booleans())
def test_arrays(tmp_path_factory, dtype, ndim, seed, swapped):
    rng = np.random.default_rng(seed)
    data = rng.integers(0, 2, rng.integers(0, 4, ndim)).astype(dtype)
    path = tmp_path_factory.mktemp("array") / "a.npy"
    distmap.imwrite(path, data.astype(data.dtype.newbyteorder(">")) if swapped else data)
    assert np.array_equal(np.load(path), data)
    image = distmap.imread(str(path))
    assert np.array_equal(image.array, data) and image.array.dtype == dtype and image.format == "npy"
    assert len(image.axes) == ndim and image.affine is None and image.nodata is None


def test_times(tmp_path):
    data = np.arange(2 * 3 * 4 * 5, dtype=np.uint8).reshape(2, 3, 4, 5)
    axes = (Axis("t", "time", 0.5, "s"), *(Axis(name, "space", 1.0, "mm") for name in "zyx"))
    distmap.imwrite(tmp_path / "m.nii", data, axes=axes)
    image = distmap.imread(tmp_path / "m.nii")
    assert image.axes == axes and image.space == (1, 2, 3)
    still = distmap.imread(tmp_path / "m.nii", time=1)
    assert still.axes == axes[1:] and np.array_equal(still.array, data[1])
    for options, text in (({"time": 2}, "has 2, from 0 on"), ({"time": -1}, "from 0 on"), ({"channel": 0}, "has no such axis; it has t")):
        with pytest.raises(ValueError, match=text):
            distmap.imread(tmp_path / "m.nii", **options)


def test_refused(tmp_path):
    mask = Image(np.ones((2, 3), np.uint8))
    path = tmp_path / "x.npy"
    (tmp_path / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\nno")
    for call, error, text in (
            (lambda: distmap.imread(tmp_path / "none.png"), OSError, "none.png"),
            (lambda: distmap.imread(tmp_path / "broken.png"), ValueError, "broken.png"),
            (lambda: distmap.imread(5.5), TypeError, "path is 5.5, must be a file's name"),
            (lambda: distmap.imread("a\0b"), ValueError, "zero byte"),
            (lambda: distmap.imwrite(tmp_path / "x.what", mask), ValueError, "no format has this ending"),
            (lambda: distmap.imwrite(tmp_path / "x.png", np.ones((2, 2), np.int32)), NotImplementedError, "int32"),
            (lambda: distmap.imwrite(path, "text"), TypeError, "array is a str, which is no array"),
            (lambda: distmap.imwrite(path, mask.array, like=mask.array), TypeError, "like is a ndarray, must be an Image"),
            (lambda: distmap.imwrite(path, np.ones(3), like=mask), ValueError, "like has shape"),
            (lambda: distmap.imwrite(path, mask, axes=(Axis("x"),)), ValueError, "axes has 1 axes, the array has 2"),
            (lambda: distmap.imwrite(path, mask, axes="yx"), TypeError, "must have an Axis for each axis"),
            (lambda: distmap.imwrite(path, mask, axes=(Axis("y"), Axis("y"))), ValueError, "y"),
            (lambda: distmap.imwrite(path, mask, axes=(Axis("y", pitch=-1), Axis("x"))), ValueError, "pitch is -1"),
            (lambda: distmap.imwrite(path, mask, axes=(Axis("y", pitch=math.nan), Axis("x"))), ValueError, "pitch is nan"),
            (lambda: distmap.imwrite(path, mask, axes=(Axis("y" * 16), Axis("x"))), ValueError, "at most 15 bytes"),
            (lambda: distmap.imwrite(path, mask, axes=(Axis("y", "depth"), Axis("x"))), ValueError, "type is 'depth', must be one of"),
            (lambda: distmap.imwrite(path, mask, kind="map"), ValueError, "kind is 'map', must be one of"),
            (lambda: distmap.imwrite(path, mask, nodata="x"), TypeError, "nodata is 'x', must be a number"),
            (lambda: distmap.imwrite(path, dataclasses.replace(mask, affine=np.eye(4))), ValueError, "affine has shape"),
            (lambda: distmap.imwrite(path, dataclasses.replace(mask, affine=np.zeros((2, 3)))), ValueError, "singular"),
            (lambda: distmap.imwrite(path, dataclasses.replace(mask, world="mars")), ValueError, "world is 'mars'"),
            (lambda: distmap.imwrite(path, np.ones(3, complex)), TypeError, "complex"),
            (lambda: distmap.imwrite(path, np.float32(3)), ValueError, "the array has 0 axes")):
        with pytest.raises(error, match=text):
            call()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["broken.png"]


def test_without_the_library(monkeypatch):
    from distmap import _image

    monkeypatch.setenv("DISTMAP_IO_LIBRARY", "/nowhere/libdistmap_io.so.1")
    _image.open_library.cache_clear()
    with pytest.raises(ImportError, match="/nowhere/libdistmap_io.so.1.*DISTMAP_IO_LIBRARY names another file"):
        distmap.imread("a.png")
    monkeypatch.undo()
    _image.open_library.cache_clear()


def test_no_library_of_the_current_folder(monkeypatch, tmp_path):
    from distmap import _image

    monkeypatch.delenv("DISTMAP_IO_LIBRARY", raising=False)
    beside = _image.find()
    for folder in (tmp_path, tmp_path / "io"):  # where the core library is one that the loader found by its name
        folder.mkdir(exist_ok=True)
        (folder / _image.NAME).touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_image.library(), "path", "libdistmap.so.1")
    assert _image.find() == _image.NAME
    monkeypatch.undo()
    assert _image.find() == beside and beside.startswith("/")


def test_layout(tmp_path):
    image = np.arange(600, dtype=np.uint16).reshape(20, 30)
    try:
        distmap.imwrite(tmp_path / "a.zarr", image, chunks=5, shards=(10, 15), zarr_format=3)
    except ValueError as error:
        assert "no format has this ending" in str(error)
        pytest.skip("a library without Zarr")
    assert np.array_equal(distmap.imread(tmp_path / "a.zarr").array, image)
    assert sorted(p.name for p in (tmp_path / "a.zarr" / "c" / "1").iterdir()) == ["0", "1"]  # files of two by two
    with pytest.raises(NotImplementedError, match="has no shards"):
        distmap.imwrite(tmp_path / "b.zarr", image, shards=8, zarr_format=2)
    with pytest.raises(NotImplementedError, match="has no chunks"):
        distmap.imwrite(tmp_path / "b.npy", image, chunks=8)
    with pytest.raises(ValueError, match="chunks has 3 lengths, the array has 2 axes"):
        distmap.imwrite(tmp_path / "b.zarr", image, chunks=(1, 2, 3))
    with pytest.raises(ValueError, match="shards is 0, must be 1"):
        distmap.imwrite(tmp_path / "b.zarr", image, shards=0)
    with pytest.raises(ValueError, match="zarr_format is 4, must be 2 to 3"):
        distmap.imwrite(tmp_path / "b.zarr", image, zarr_format=4)
    with pytest.raises(TypeError, match="chunks is 'x'"):
        distmap.imwrite(tmp_path / "b.zarr", image, chunks="x")
    assert not list(tmp_path.glob("b*"))


def test_sync(tmp_path):
    for sync in (True, False, np.False_):
        distmap.imwrite(tmp_path / "a.npy", np.arange(6, dtype=np.uint8), sync=sync)
        assert distmap.imread(tmp_path / "a.npy").array.tolist() == [0, 1, 2, 3, 4, 5]
    with pytest.raises(TypeError, match="sync is 'no', must be True or False"):
        distmap.imwrite(tmp_path / "a.npy", np.arange(6, dtype=np.uint8), sync="no")


WAITS = """
import os, signal, sys, threading
import distmap, numpy as np
path, what, handled = sys.argv[1:]
if handled == "handled":
    signal.signal(signal.SIGINT, lambda *_: print("handled", flush=True))
big = np.zeros((1000, 1000), np.uint8)
print("begins", flush=True)
try:
    distmap.imwrite(path, big) if what == "write" else distmap.imread(path)
    print("done", flush=True)
except KeyboardInterrupt:
    print("KeyboardInterrupt", flush=True)
"""


def wait_asleep(pid):
    """Until the process has been asleep for a while, as one is that waits for what does not come."""
    asleep = 0
    while asleep < 10:
        with open(f"/proc/{pid}/stat") as stat:
            asleep = asleep + 1 if stat.read().rpartition(")")[2].split()[0] == "S" else 0
        time.sleep(0.01)


@pytest.mark.parametrize("what", ("read", "write"))
@pytest.mark.parametrize("handled", ("raises", "handled"))
def test_interrupted(tmp_path, what, handled):
    """Ctrl-C while a pipe makes it wait. A handler that returns lets it go on waiting."""
    path = tmp_path / "pipe.npy"
    os.mkfifo(path)
    child = subprocess.Popen([sys.executable, "-c", WAITS, path, what, handled], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    other = os.open(path, os.O_RDWR)  # holds both ends, and neither reads nor writes
    assert child.stdout.readline() == "begins\n"
    wait_asleep(child.pid)
    child.send_signal(signal.SIGINT)
    if handled == "handled":
        assert child.stdout.readline() == "handled\n" and child.poll() is None
        child.kill()
    said, errors = child.communicate(timeout=20)
    os.close(other)
    assert errors == "" and (handled == "handled" or said == "KeyboardInterrupt\n")
