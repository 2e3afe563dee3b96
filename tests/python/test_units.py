"""Pitches mean decimals: maps are correctly rounded roots of exact numbers, which fractions and whole roots tell."""

import math
from fractions import Fraction

import distmap
import numpy as np
import pytest
from hypothesis import strategies as st
from oracle import drawn, nearest, rounded_distances, shapes, values

PITCHES = ("0.65", "0.7", "2.5", "0.108", "30", "0.2", "0.065", "1", "1.2e-3", "250", "0.3000001")


def common(pitches):
    """The unit of which pitches are whole multiples, and these."""
    denominator = math.lcm(*(pitch.denominator for pitch in pitches))
    unit = Fraction(math.gcd(*(int(pitch * denominator) for pitch in pitches)), denominator)
    return unit, [int(pitch / unit) for pitch in pitches]


@drawn(200, shape=shapes(), texts=st.lists(st.sampled_from(PITCHES), min_size=4, max_size=4),
       same=st.booleans(), singles=st.booleans(), seed=st.integers(0, 2**32 - 1))
def test_correctly_rounded(shape, texts, same, singles, seed):
    texts = [texts[0] if same else text for text in texts[:len(shape)]]
    unit, multiples = common([Fraction(text) for text in texts])
    if max(multiples) > 2**20:
        return
    rng = np.random.default_rng(seed)
    mask = values(shape, np.uint8, rng)
    spacing = [np.float32(text) if singles else float(text) for text in texts]
    squares, index = nearest(mask == 0, multiples)
    for dtype in (np.float32, np.float64):
        got, at = distmap.edt(mask, spacing, indices=True, dtype=dtype)
        assert np.array_equal(got, rounded_distances(squares, unit, dtype)) and np.array_equal(at, index)
        assert np.array_equal(distmap.edt(mask, spacing, dtype=dtype), got)
    squared = distmap.edt(mask, spacing, squared=True, dtype=np.float64)
    exact = [float(unit**2 * int(n)) if np.isfinite(n) else n for n in squares.flat]
    assert np.array_equal(squared, np.reshape(exact, shape))


def test_large():
    """Distances of 3000 and 4000 pixels, whose squares floats do not hold."""
    mask = np.ones((4000, 3000), np.uint8)
    mask[0, 0] = 0
    y, x = np.indices(mask.shape, np.int64)
    some = np.random.default_rng(1).integers(0, mask.size, 2000)
    for dtype in (np.float32, np.float64):
        got = distmap.edt(mask, 0.65, dtype=dtype).flat[some]
        assert np.array_equal(got, rounded_distances((y * y + x * x).flat[some], Fraction("0.65"), dtype))


def test_floats_are_the_decimals_they_were():
    mask = values((40, 50), np.uint8, np.random.default_rng(3))
    mask[20, 20] = 0
    want = distmap.edt(mask, 0.7)
    for pitch in (np.float32(0.7), float(np.float32(0.7)), np.array([0.7, 0.7], np.float32)):
        assert np.array_equal(distmap.edt(mask, pitch), want)
    want = distmap.edt(mask, (2.5, 0.7), dtype=float)
    assert np.array_equal(distmap.edt(mask, np.float32([2.5, 0.7]), dtype=float), want)


SPACINGS = st.sampled_from((None, 0.65, (2.5, 0.7), (0.1, 0.123456789)))  # the last has no unit


@drawn(150, spacing=SPACINGS, dtype=st.sampled_from((np.float32, np.float64)), seed=st.integers(0, 2**32 - 1))
def test_a_limit_from_the_map_keeps_what_it_came_from(spacing, dtype, seed):
    rng = np.random.default_rng(seed)
    mask = (rng.random((19, 23)) > 0.02).astype(np.uint8)
    mask[3, 5] = 0
    distances = distmap.edt(mask, spacing, dtype=dtype)
    limit = float(rng.choice(distances[distances > 0]))
    got = distmap.edt(mask, spacing, dtype=dtype, limit=limit)
    assert np.array_equal(got, np.where(distances <= limit, distances, np.inf))
    doubles = distmap.edt(mask, spacing, dtype=np.float64)
    limit = float(rng.choice(doubles[doubles > 0]))
    assert np.array_equal(distmap.transform(mask, want="within", spacing=spacing, limit=limit).within, doubles <= limit)


@drawn(150, spacing=SPACINGS, seed=st.integers(0, 2**32 - 1))
def test_a_radius_is_a_distance(spacing, seed):
    rng = np.random.default_rng(seed)
    shape = rng.random((19, 23)) < 0.01
    shape[9, 11] = True
    distances = distmap.edt(shape, spacing, sites="nonzero", dtype=np.float64)
    for radius in (math.sqrt(13), float(rng.choice(distances[distances > 0])), 0.65 * math.sqrt(13)):
        assert np.array_equal(distmap.dilate(shape, radius, spacing), distances <= radius)


@drawn(100, spacing=SPACINGS, seed=st.integers(0, 2**32 - 1))
def test_labels_grow_by_a_distance_of_their_map(spacing, seed):
    rng = np.random.default_rng(seed)
    labels = np.where(rng.random((19, 23)) < 0.02, rng.integers(1, 9, (19, 23)), 0)
    labels[9, 11] = 3
    distances = distmap.edt(labels, spacing, sites="nonzero", dtype=np.float64)
    distance = float(rng.choice(distances[distances > 0]))
    grown = distmap.expand_labels(labels, distance, spacing)
    assert np.array_equal(grown != 0, distances <= distance)
    index = distmap.feature_transform(labels, spacing, "nonzero", limit=distance)
    assert np.array_equal(index >= 0, distances <= distance)
    assert np.array_equal(distmap.dilate(labels, distance, spacing, labels=True), grown)


@drawn(100, spacing=SPACINGS, points=st.sampled_from(("surface", "set")), seed=st.integers(0, 2**32 - 1))
def test_the_hausdorff_distance_is_a_tolerance(spacing, points, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.random((2, 15, 17)) < 0.05
    a[3, 4] = b[9, 2] = True
    hausdorff = distmap.compare(a, b, spacing, points=points).hausdorff
    assert distmap.compare(a, b, spacing, points=points, tolerance=hausdorff).surface_dice == 1
    less = np.nextafter(hausdorff, 0)
    assert hausdorff == 0 or distmap.compare(a, b, spacing, points=points, tolerance=less).surface_dice < 1


@drawn(60, spacing=SPACINGS, surface=st.sampled_from(("centre", "half")), seed=st.integers(0, 2**32 - 1))
def test_a_limit_of_signed_maps_and_labels(spacing, surface, seed):
    rng = np.random.default_rng(seed)
    mask = (rng.random((19, 23)) > 0.3).astype(np.uint8)
    mask[3, 5], mask[4, 5] = 0, 1
    centres = np.abs(distmap.signed_distance(mask, spacing, dtype=np.float64))
    limit = float(rng.choice(centres.ravel()))
    got = distmap.signed_distance(mask, spacing, dtype=np.float64, limit=limit, surface=surface)
    assert np.array_equal(np.isfinite(got), centres <= limit)
    labels = rng.integers(0, 4, (19, 23))
    distances = distmap.edt(labels, spacing, labels=True, sites="none", dtype=np.float64)
    limit = float(rng.choice(distances[np.isfinite(distances)]))
    got = distmap.edt(labels, spacing, labels=True, sites="none", dtype=np.float64, limit=limit)
    assert np.array_equal(got, np.where(distances <= limit, distances, np.inf))


def test_the_root_of_13():
    labels = np.zeros((9, 9), np.uint8)
    labels[4, 4] = 7
    assert distmap.expand_labels(labels, np.hypot(2, 3))[2, 1] == 7 and (distmap.expand_labels(labels, np.hypot(2, 3)) > 0).sum() == 45
    dot = np.zeros((9, 9), bool)
    dot[4, 4] = True
    ball = distmap.dilate(dot, math.sqrt(13))
    assert ball[2, 1] and not distmap.dilate(dot, np.nextafter(math.sqrt(13), 0))[2, 1]
    found = distmap.compare(dot, np.roll(dot, (2, 3), (0, 1)), tolerance=math.sqrt(13), points="set")
    assert found.surface_dice == 1 and found.hausdorff == math.sqrt(13)


@pytest.mark.parametrize("spacing, axes, unit, multiples", [
    (None, None, 1, (1, 1, 1)), (0.65, None, 0.65, (1, 1, 1)), ((2.5, 0.7, 0.7), None, 0.1, (25, 7, 7)),
    (30, None, 30, (1, 1, 1)), ((30, 20, 10), None, 10, (3, 2, 1)), ((0.1, 0.65, 1.3), (1, 2), 0.65, (0, 1, 2)),
    (np.float32(0.7), None, 0.7, (1, 1, 1)), ((1, 0.123456789, 1), None, 0, (0, 0, 0))])
def test_plans_tell_the_unit(spacing, axes, unit, multiples):
    told = distmap.Plan((3, 4, 5), "uint8", {"distance": "float32"}, spacing=spacing, axes=axes).describe()
    assert (told.unit, told.multiples, told.integer) == (unit, multiples, unit > 0)
    assert unit == 0 or told.method == "minplus/cpu"
