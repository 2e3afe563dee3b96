"""Local thickness: the definition, element by element, and what follows from it."""

from fractions import Fraction

import distmap
import numpy as np
import pytest
from hypothesis import strategies as st
from oracle import drawn, rounded_distances, shapes, strided, values


def by_definition(shape, pitch):
    """The squared radius, in whole numbers, of the largest open ball that holds each element."""
    radius2 = distmap.edt(shape, sampling=pitch, squared=True, method="brute/cpu").astype(np.int64)
    places = np.stack(np.meshgrid(*map(np.arange, shape.shape), indexing="ij"), -1).reshape(-1, shape.ndim) * pitch
    largest = np.zeros(shape.size, np.int64)
    for place, r2 in zip(places, radius2.ravel()):
        held = ((places - place) ** 2).sum(1) < r2
        largest[held] = np.maximum(largest[held], r2)
    return largest.reshape(shape.shape)


def some_background(shape):
    shape = np.array(shape)
    shape.flat[0] = 0
    return shape


@drawn(60, shape=shapes(most=400, axes=3, least=1), seed=st.integers(0, 2**32 - 1), threads=st.sampled_from((1, 2)))
def test_definition(shape, seed, threads):
    rng = np.random.default_rng(seed)
    array = strided(some_background(values(shape, "uint8", rng)), rng)
    pitch = rng.integers(1, 4, array.ndim)
    want = by_definition(array, pitch)
    got = distmap.local_thickness(array, sampling=pitch.tolist(), squared_radius=True, threads=threads)
    assert got.dtype == np.uint32 and np.array_equal(got, want)
    thickness = distmap.local_thickness(array, sampling=pitch.tolist(), threads=threads)
    assert thickness.dtype == np.float32
    assert np.array_equal(thickness, 2 * np.sqrt(want.astype(np.float32)))
    assert (thickness >= 2 * distmap.edt(array, sampling=pitch.tolist())).all()


def blobs(shape, seed=1):
    wave = sum(np.sin(3 * axis + seed) for axis in np.ogrid[tuple(slice(0, 6, n * 1j) for n in shape)])
    return some_background(wave > -0.7)


def test_border():
    """As if the array lay in a larger one of background."""
    shape = blobs((20, 23, 17))
    padded = distmap.local_thickness(np.pad(shape, 1))[1:-1, 1:-1, 1:-1]
    assert np.array_equal(distmap.local_thickness(shape, border=True), padded)


@pytest.mark.parametrize("pitch", [4, 0.5, 3.2, 1e-6])
def test_scale(pitch):
    """One pitch for all axes changes units alone; radii are rounded once."""
    shape = blobs((30, 40))
    squares = distmap.local_thickness(shape, squared_radius=True).astype(float)
    got = distmap.local_thickness(shape, sampling=pitch, dtype="float64")
    assert np.array_equal(got, 2 * rounded_distances(squares, Fraction(str(pitch)), np.float64))


def test_axes():
    """Slices along other axes are each for itself."""
    shape = blobs((5, 30, 40))
    got = distmap.local_thickness(shape, axes=(0, 2))
    for y in range(shape.shape[1]):
        alone = distmap.local_thickness(np.ascontiguousarray(shape[:, y]))
        assert np.array_equal(got[:, y], alone)


def test_outputs():
    shape = blobs((40, 30))
    out = np.empty((30, 40), np.float64).T
    assert distmap.local_thickness(shape, out=out) is out
    result = distmap.transform(shape, want={"distance": "float64", "squared": None}, thickness=True)
    assert np.array_equal(out, result.distance) and result.method == "thickness/cpu"
    assert np.array_equal(result.distance, 2 * np.sqrt(result.squared.astype(float)))
    full = distmap.transform(np.ones((3, 4)), thickness=True)
    assert np.isinf(full.distance).all() and full.flags & distmap.FLAG_NO_SITE


@pytest.mark.parametrize("options, text", [
    ({"out": np.zeros((3, 3), np.int32)}, "distance"), ({"method": "skeleton/cpu"}, "computes skeletons"),
    ({"dtype": "uint8"}, "distance"), ({"sampling": -1}, "spacing"), ({"sampling": 0.3, "squared_radius": True, "dtype": "uint32"},
                                                                      "not integers"),
])
def test_refused(options, text):
    with pytest.raises((ValueError, NotImplementedError), match=text):
        distmap.local_thickness(np.ones((3, 3), np.uint8), **options)
