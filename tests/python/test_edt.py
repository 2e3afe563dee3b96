"""edt, feature_transform and chamfer against brute force, on drawn arrays of every type, stride, spacing and sites
rule."""

import distmap
import numpy as np
import pytest
from hypothesis import strategies as st
from oracle import DTYPES, INTEGERS, drawn, nearest, shapes, strided, values

RULES = {
    "zero": lambda a: a == 0, "nonzero": lambda a: a != 0, 2: lambda a: a == 2, (1, 2): lambda a: (a >= 1) & (a <= 2),
    (2, None): lambda a: a >= 2, (None, 0.5): lambda a: a <= 0.5,
}


@drawn(400, shape=shapes(), dtype=st.sampled_from(DTYPES), rule=st.sampled_from(list(RULES)),
       seed=st.integers(0, 2**32 - 1),
       threads=st.sampled_from((1, 2, 3)))
def test_against_brute_force(shape, dtype, rule, seed, threads):
    rng = np.random.default_rng(seed)
    array = strided(values(shape, dtype, rng), rng)
    spacing = [int(n) for n in rng.integers(1, 5, len(shape))]
    axes = tuple(int(a) for a in np.flatnonzero(rng.random(len(shape)) < 0.7)) or None
    squared, index = nearest(RULES[rule](array.astype(np.float64)), spacing, axes)
    before = array.copy()

    got, at = distmap.edt(array, spacing, rule, squared=True, indices=True, axes=axes, threads=threads)
    assert got.dtype == np.uint32 and at.dtype == np.int32
    assert np.array_equal(got, np.where(np.isinf(squared), 2**32 - 1, squared))
    assert np.array_equal(at, index)
    distance = distmap.edt(array, spacing, rule, axes=axes, threads=threads)
    assert distance.dtype == np.float32 and np.array_equal(distance, np.sqrt(squared.astype(np.float32)))
    double = distmap.edt(array, spacing, rule, axes=axes, dtype=float_type(rng))
    assert np.array_equal(double, np.sqrt(squared.astype(double.dtype)))
    assert np.array_equal(array, before)


def float_type(rng):
    """The same type in the forms that callers use."""
    return [np.float64, "float64", np.dtype("float64")][rng.integers(3)]


@drawn(150, shape=shapes(), seed=st.integers(0, 2**32 - 1))
def test_real_spacing(shape, seed):
    """Any pitch: distances to rounding, and the site that is told is that near."""
    rng = np.random.default_rng(seed)
    array = values(shape, np.uint8, rng)
    spacing = rng.choice((0.1, 0.3, 0.75, 1.0, 2.5, 1e3), len(shape)).tolist()
    squared, _ = nearest(array == 0, spacing)
    distance, index = distmap.edt(array, spacing, indices=True, dtype=np.float64)
    assert np.allclose(distance**2, squared, rtol=1e-12)
    there = np.isfinite(squared)
    assert np.array_equal(index >= 0, there)
    offsets = np.array(np.unravel_index(index[there], shape)) - np.argwhere(there).T if there.any() else np.zeros((1,
                                                                                                                   0))
    lengths = sum((w * offset.astype(float))**2 for w, offset in zip(spacing, offsets))
    assert not there.any() or np.allclose(lengths, squared[there], rtol=1e-12)


@drawn(150, shape=shapes(), seed=st.integers(0, 2**32 - 1), dtype=st.sampled_from(INTEGERS))
def test_labels(shape, seed, dtype):
    """An element's sites are all elements of other labels; background is at distance 0."""
    array = values(shape, dtype, np.random.default_rng(seed))
    got = distmap.edt(array, labels=True, squared=True)
    want = np.zeros(shape)
    for label in np.unique(array[array != 0]) if array.size else ():
        want = np.where(array == label, nearest(array != label)[0], want)
    assert np.array_equal(got, np.where(np.isinf(want), 2**32 - 1, want))


@drawn(150, shape=shapes(), seed=st.integers(0, 2**32 - 1), border=st.booleans(),
       limit=st.sampled_from((None, 0.5, 1.5, 4)))
def test_signed_border_limit(shape, seed, border, limit):
    array = values(shape, np.uint8, np.random.default_rng(seed))
    outside, inside = nearest(array == 0)[0], nearest(array != 0)[0]
    if border and array.size:
        places = np.indices(shape)
        for a, n in enumerate(shape):
            outside = np.minimum(outside, np.minimum(places[a] + 1, n - places[a]).astype(float)**2)
        outside[array == 0] = 0
    if limit:
        outside, inside = (np.where(d > limit * limit, np.inf, d) for d in (outside, inside))
    got = distmap.edt(array, border=border, limit=limit, signed=True, dtype="float64")
    assert np.array_equal(got, np.sqrt(outside) - np.sqrt(inside))
    assert np.array_equal(distmap.edt(array, border=border, limit=limit, signed=True, squared=True), outside - inside)


@drawn(150, shape=shapes(), seed=st.integers(0, 2**32 - 1), dtype=st.sampled_from(("float32", "float64")),
       rule=st.sampled_from(list(RULES)), sign=st.sampled_from(("outside", "inside")),
       surface=st.sampled_from(("centre", "half")), indices=st.booleans(), whole=st.booleans())
def test_signed(shape, seed, dtype, rule, sign, surface, indices, whole):
    """Two unsigned maps, one negative; the index is that of the map that is not 0."""
    rng = np.random.default_rng(seed)
    array = strided(values(shape, np.float32, rng), rng)
    spacing = rng.choice((1, 2, 3) if whole else (0.5, 1.25, 2), len(shape)).tolist()
    axes = tuple(int(a) for a in np.flatnonzero(rng.random(len(shape)) < 0.7)) or tuple(range(len(shape)))
    within = RULES[rule](array)
    to_shape, to_rest = nearest(within, spacing, axes), nearest(~within, spacing, axes)
    half = np.dtype(dtype).type(min(spacing[a] for a in axes) / 2 if surface == "half" else 0)
    distance = np.sqrt(np.where(within, to_rest[0], to_shape[0]).astype(dtype)) - half
    want = np.where(within == (sign == "outside"), -distance, distance)
    result = distmap.transform(array, want={"distance": dtype} | ({"index": None} if indices else {}), sites=rule,
                               spacing=spacing, axes=axes, sign=sign, surface=surface)
    assert np.array_equal(result.distance, want)
    if indices:
        assert np.array_equal(result.index, np.where(within, to_rest[1], to_shape[1]))
    if sign == "outside" and not indices:
        assert np.array_equal(distmap.edt(array, spacing, rule, axes=axes, dtype=dtype, signed=True, surface=surface),
                              want)


def grown(labels, distance, spacing):
    squared, index = nearest(labels != 0, spacing)
    inside = squared <= distance * distance
    return np.where(inside, labels.reshape(-1)[index], 0) if labels.size else labels


@drawn(200, shape=shapes(), seed=st.integers(0, 2**32 - 1), dtype=st.sampled_from(INTEGERS),
       distance=st.sampled_from((0, 0.5, 1, 1.5, 2, 4, 100)))
def test_expand_labels(shape, seed, dtype, distance):
    rng = np.random.default_rng(seed)
    labels = values(shape, dtype, rng) * (rng.random(shape) < 0.2).astype(dtype)
    spacing = [int(n) for n in rng.integers(1, 4, len(shape))]
    got = distmap.expand_labels(labels, distance, spacing)
    assert got.dtype == labels.dtype and np.array_equal(got, grown(labels, distance, spacing))


def test_expand_labels_as_scikit_image():
    """Where no two labels are equally near."""
    segmentation = pytest.importorskip("skimage.segmentation")
    rng = np.random.default_rng(np.random.randint(1 << 30))
    for shape in ((60, 70), (20, 30, 25)):
        labels = rng.integers(1, 9, shape) * (rng.random(shape) < 0.01)
        nearest_of = np.array([nearest(labels == k)[0] for k in range(1, 9)])
        alone = (nearest_of == nearest_of.min(axis=0)).sum(axis=0) == 1
        for distance in (1, 2.5, 6, 40):
            want = segmentation.expand_labels(labels, distance)
            assert np.array_equal(distmap.expand_labels(labels, distance)[alone], want[alone])


def test_expand_labels_refuses():
    for distance, error in ((-1, ValueError), (np.nan, ValueError), ("2", TypeError)):
        with pytest.raises(error, match="distance"):
            distmap.expand_labels(np.eye(3, dtype=int), distance)
    with pytest.raises(ValueError, match="want.label"):
        distmap.expand_labels(np.eye(3), 1)


@drawn(200, shape=shapes(axes=3), seed=st.integers(0, 2**32 - 1), weights=st.sampled_from(("cityblock", "chessboard",
                                                                                           (3, 4), (5, 7, 11))))
def test_chamfer(shape, seed, weights):
    array = values(shape, np.uint8, np.random.default_rng(seed))
    if len(shape) == 3 and isinstance(weights, tuple):
        weights = (3, 4, 5)
    got = distmap.chamfer(array, weights)
    if weights in ((3, 4), (3, 4, 5)):
        assert np.array_equal(distmap.chamfer(array), got)
    sites = np.argwhere(array == 0)
    want = np.full(shape, 2**31 - 1)
    for place in np.ndindex(*shape):
        d = -np.sort(-np.abs(sites - place), axis=1)
        d0, d1, d2 = (d[:, k] if k < len(shape) else np.zeros(len(d), int) for k in range(3))
        lengths = {"cityblock": lambda: d.sum(axis=1), "chessboard": lambda: d0, (3, 4): lambda: 3 * (d0 - d1) + 4 * d1,
                   (3, 4, 5): lambda: 3 * (d0 - d1) + 4 * (d1 - d2) + 5 * d2,
                   (5, 7, 11): lambda: np.where(d0 >= 2 * d1, 5 * (d0 - 2 * d1) + 11 * d1,
                                                11 * (d0 - d1) + 7 * (2 * d1 - d0))}[weights]()
        want[place] = lengths.min(initial=2**31 - 1)
    assert got.dtype == np.int32 and np.array_equal(got, want)


@drawn(100, shape=shapes(), seed=st.integers(0, 2**32 - 1), distances=st.booleans(),
       kind=st.sampled_from((np.int16, np.int32, np.int64)))
def test_feature_transform(shape, seed, distances, kind):
    rng = np.random.default_rng(seed)
    array = values(shape, np.float32, rng)
    squared, index = nearest(array == 0)
    out = strided(np.full((len(shape), *shape), 7, kind), rng)
    got = distmap.feature_transform(array, coords=True, distances=distances, out=out)
    if distances:
        got, distance = got
        assert np.array_equal(distance, np.sqrt(squared.astype(np.float32)))
    assert got is out
    assert np.array_equal(got, np.where(index < 0, -1, np.array(np.unravel_index(np.maximum(index, 0), shape))
                                        if index.size else got))


def test_out_is_written_in_place():
    mask = np.array([[0, 1, 1]])
    big = np.full((4, 9), -7, np.float32)
    out = big[1:2, 7:1:-3][:, :2]
    assert distmap.edt(mask[:, :2], out=out) is out
    big[1, 7], big[1, 4] = -7, -7
    assert (big == -7).all() and np.shares_memory(out, big)


def test_inputs_of_many_kinds():
    want = [0, 1, 2]
    for given in ([0, 1, 1], (False, True, True), np.array([0, 1, 1], ">i4"), np.array([0, 2, np.nan]),
                  np.frombuffer(b"x\0\0\0\0\1\0\0\0\1\0\0\0", np.uint8)[1:].view("<i4"), memoryview(b"\0\1\1")):
        assert distmap.edt(given).tolist() == want, given
    assert distmap.edt(np.broadcast_to(np.uint8(1), (2, 3))).tolist() == [[np.inf] * 3] * 2


@pytest.mark.parametrize("n, dtype", [(46341, np.uint32), (65536, np.uint32), (65537, np.uint64)])
def test_squared_is_as_wide_as_needed(n, dtype):
    mask = np.ones((1, n), bool)
    mask[0, 0] = False
    squared = distmap.edt(mask, squared=True)
    assert squared.dtype == dtype and squared[0, -1] == (n - 1)**2


@pytest.mark.parametrize("shape, axes", [((2, 3, 4, 5, 6), (2, 3, 4)), ((3, 4, 2, 5, 2, 2), (1, 3)), ((1, 2, 1, 3, 1, 2, 2, 4), (7,))])
@pytest.mark.parametrize("order", ["C", "F"])
def test_batches_of_many_axes(shape, axes, order):
    mask = np.asarray(np.random.default_rng().random(shape) < 0.8, order=order)
    sampling = (2, 0.5, 3)[:len(axes)]
    distance, index = distmap.edt(mask, sampling, axes=axes, indices=True)
    assert distance.shape == index.shape == shape
    batches = [a for a in range(mask.ndim) if a not in axes]
    for place in np.ndindex(*(shape[a] for a in batches)):
        at = tuple(place[batches.index(a)] if a in batches else slice(None) for a in range(mask.ndim))
        own, nearest = distmap.edt(mask[at], sampling, indices=True)
        np.testing.assert_array_equal(distance[at], own)
        found = np.arange(mask.size).reshape(shape)[at].ravel()
        np.testing.assert_array_equal(index[at], np.where(nearest < 0, -1, found[nearest]))


def test_sampling_by_measured_axes():
    mask = np.random.default_rng().random((2, 6, 7)) < 0.8
    np.testing.assert_array_equal(distmap.edt(mask, (3, 2), axes=(2, 1)), distmap.edt(mask, (9, 2, 3), axes=(1, 2)))
    with pytest.raises(ValueError, match="spacing has 1 values, the array has 3 axes, 2 of them measured"):
        distmap.edt(mask, (3,), axes=(1, 2))
