"""Arrays whose axes lie in memory in another order than C's: the same results, in memory as the input is, wherever sites are not
asked for; with sites the tie rule goes by the axes, and results have C order."""

import distmap
import distmap.scipy
import numpy as np
import pytest
from distmap import _arrays
from hypothesis import strategies as st
from oracle import drawn, nearest, shapes, values

scipy = pytest.importorskip("scipy.ndimage")


def laid_out(array, order):
    """The same array with its axes in that order in memory, slowest first."""
    return np.ascontiguousarray(array.transpose(order)).transpose(np.argsort(order))


def long_strides(array):
    """Strides in elements, of axes longer than 1."""
    return [step // array.itemsize for step, n in zip(array.strides, array.shape) if n > 1]


def has_order_of(made, array):
    return long_strides(made) == long_strides(np.empty_like(array, order="K"))


drawn_cases = {"shape": shapes(least=1), "seed": st.integers(0, 2**32 - 1)}


@drawn(300, **drawn_cases, spacing=st.sampled_from((None, 3, 0.5, 0.1)), signed=st.booleans(), border=st.booleans())
def test_edt(shape, seed, spacing, signed, border):
    rng = np.random.default_rng(seed)
    array = values(shape, np.uint8, rng)
    turned = laid_out(array, rng.permutation(array.ndim))
    axes = tuple(int(a) for a in np.flatnonzero(rng.random(len(shape)) < 0.7)) or None
    options = {"sampling": spacing, "axes": axes, "signed": signed, "border": border}
    want, got = distmap.edt(array, **options), distmap.edt(turned, **options)
    assert want.flags.c_contiguous and has_order_of(got, turned)
    assert np.array_equal(got, want)
    for out in (np.empty(shape, np.float32), np.empty_like(turned, np.float32),
                laid_out(np.empty(shape, np.float32), rng.permutation(array.ndim))):
        assert distmap.edt(turned, **options, out=out) is out and np.array_equal(out, want)
        assert distmap.edt(array, **options, out=out) is out and np.array_equal(out, want)


@drawn(200, **drawn_cases)
def test_ties_go_by_the_axes(shape, seed):
    rng = np.random.default_rng(seed)
    array = values(shape, np.uint8, rng)
    turned = laid_out(array, rng.permutation(array.ndim))
    squared, index = nearest(array == 0)
    distance, at = distmap.edt(turned, indices=True)
    assert at.flags.c_contiguous and distance.flags.c_contiguous
    assert np.array_equal(at, index) and np.array_equal(distance, np.sqrt(squared.astype(np.float32)))
    coords = distmap.feature_transform(turned, coords=True)
    assert coords.flags.c_contiguous and np.array_equal(coords, distmap.feature_transform(array, coords=True))
    into = np.empty_like(turned, np.int32)
    assert np.array_equal(distmap.feature_transform(turned, out=into), index)


MAPS = {
    "labels": lambda a: distmap.edt(a, labels=True), "squared": lambda a: distmap.edt(a, squared=True),
    "chamfer": lambda a: distmap.chamfer(a, "chessboard"), "dilate": lambda a: distmap.dilate(a, 1.5),
    "closing": lambda a: distmap.closing(a, 2, outside=True),
    "labels eroded": lambda a: distmap.erode(a, 1, labels=True),
    "labels opened": lambda a: distmap.opening(a, 1, labels=True),
    "within": lambda a: distmap.transform(a, want="within", limit=2).within,
    "beyond": lambda a: distmap.transform(a, want="beyond", limit=2).beyond,
    "samples": lambda a: distmap.transform(a.astype(np.uint16), kind="sampled", want="squared").squared,
}


@drawn(300, **drawn_cases, name=st.sampled_from(list(MAPS)))
def test_maps(shape, seed, name):
    """Everything else that has no sites."""
    rng = np.random.default_rng(seed)
    array = values(shape, np.uint8, rng)
    turned = laid_out(array, rng.permutation(array.ndim))
    want, got = MAPS[name](array), MAPS[name](turned)
    assert got.dtype == want.dtype and has_order_of(got, turned)
    assert np.array_equal(got, want)


IN_C_ORDER = {
    "expand": lambda a: distmap.expand_labels(a, 2), "labels dilated": lambda a: distmap.dilate(a, 2, labels=True),
    "skeleton": distmap.skeleton, "esf": lambda a: distmap.esf(a, 3, steps=4),
}


@drawn(120, shape=shapes(least=1, axes=3), seed=st.integers(0, 2**32 - 1), name=st.sampled_from(list(IN_C_ORDER)))
def test_maps_by_sites(shape, seed, name):
    rng = np.random.default_rng(seed)
    array = values(shape, np.uint8, rng)
    want, got = IN_C_ORDER[name](array), IN_C_ORDER[name](laid_out(array, rng.permutation(array.ndim)))
    assert got.flags.c_contiguous and np.array_equal(got, want)


@drawn(100, shape=shapes(least=1, axes=3), seed=st.integers(0, 2**32 - 1))
def test_thickness_and_comparison(shape, seed):
    rng = np.random.default_rng(seed)
    array, other = values(shape, np.uint8, rng), values(shape, np.uint8, rng)
    orders = rng.permutation(array.ndim), rng.permutation(array.ndim)
    got = distmap.local_thickness(turned := laid_out(array, orders[0]))
    assert has_order_of(got, turned) and np.array_equal(got, distmap.local_thickness(array))
    agreements = distmap.compare(array, other), distmap.compare(turned, laid_out(other, orders[1]))
    assert repr(agreements[0]) == repr(agreements[1])


@drawn(200, **drawn_cases)
def test_order_of_strides(shape, seed):
    """A Taken's order is that of numpy.empty_like, whatever the signs of the strides."""
    rng = np.random.default_rng(seed)
    array = laid_out(np.zeros(shape), rng.permutation(len(shape)))
    array = array[tuple(slice(None, None, int(step)) for step in rng.choice((1, -1), len(shape)))]
    taken = _arrays.take(array, "it")
    assert sorted(taken.order()) == list(range(array.ndim))
    assert has_order_of(_arrays.empty(shape, "float32", taken, taken.order()), array)


def test_broadcast_axes():
    """What has stride 0 is outermost."""
    mask = np.broadcast_to(np.array([[1, 0, 1], [1, 1, 1]], np.uint8)[:, None], (2, 50, 3))
    got = distmap.edt(mask)
    assert got.strides == (12, 24, 4) and np.array_equal(got, distmap.edt(mask.copy()))


def test_plans():
    mask = values((5, 6, 7), np.uint8, np.random.default_rng(1))
    want = distmap.edt(mask)
    for order in ((2, 1, 0), (0, 2, 1), None):
        plan = distmap.Plan(mask.shape, mask.dtype, {"distance": "float32"}, order=order)
        for made in (np.empty(mask.shape, np.float32), np.empty(mask.shape, np.float32, order="F")):
            plan(mask, distance=made)
            plan(np.asfortranarray(mask), distance=made)
            assert np.array_equal(made, want)
    for order, told in (((1, 0), "order has 2 axes"), ((1, 1, 0), "problem.order names axis 1 twice"),
                        ((0, 1, 3), r"problem.order\[2\] is 3")):
        with pytest.raises(ValueError, match=told):
            distmap.Plan(mask.shape, mask.dtype, {"distance": "float32"}, order=order)
    for order in (5, "zyx", (0.5, 1, 2)):
        with pytest.raises(TypeError, match="order"):
            distmap.Plan(mask.shape, mask.dtype, {"distance": "float32"}, order=order)


@drawn(100, shape=shapes(least=1, axes=3), seed=st.integers(0, 2**32 - 1),
       name=st.sampled_from(("distance_transform_edt", "distance_transform_bf", "distance_transform_cdt")),
       indices=st.booleans())
def test_drop_in(shape, seed, name, indices):
    """Distances lie in memory as SciPy's do."""
    rng = np.random.default_rng(seed)
    array = values(shape, np.uint8, rng)
    array[(0,) * array.ndim] = 0
    turned = laid_out(array, rng.permutation(array.ndim))
    want = getattr(scipy, name)(turned, return_indices=indices)
    got = getattr(distmap.scipy, name)(turned, return_indices=indices)
    want, got = (want[0], got[0]) if indices else (want, got)
    assert long_strides(got) == long_strides(want) and np.array_equal(got, want)
