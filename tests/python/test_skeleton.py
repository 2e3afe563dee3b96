"""Skeletons: the definition, element by element, from the coordinates of the nearest sites."""

import itertools

import distmap
import numpy as np
import pytest
from hypothesis import strategies as st
from oracle import drawn, shapes, strided, values

THRESHOLDS = {
    "square_root": lambda s, u, v, gamma: np.sqrt(s @ s) + 2 * (v @ u) + (1.5 if len(s) == 3 else 1),
    "linear": lambda s, u, v, gamma: gamma**2 * (s @ s),
    "constant": lambda s, u, v, gamma: gamma**2,
}


def by_definition(shape, pruning, gamma):
    """Each pair of neighbours may mark either."""
    nearest = distmap.feature_transform(shape, coords=True, method="brute/cpu")
    marked = np.zeros(shape.shape, bool)
    if (shape != 0).all():
        return marked
    for p in itertools.product(*map(range, shape.shape)):
        for axis in range(shape.ndim):
            q = tuple(p[a] + (a == axis) for a in range(shape.ndim))
            if q[axis] == shape.shape[axis]:
                continue
            at, beside, one, other = (np.array(x, float) for x in (p, q, nearest[(..., *p)], nearest[(..., *q)]))
            u, s = one - other, (at - one) + (beside - other)
            if u @ u > 1 and u @ u > THRESHOLDS[pruning](s, u, at - beside, gamma):
                marked[p] |= -(u @ s) >= 0
                marked[q] |= -(u @ s) <= 0
    return marked & (shape != 0)


@drawn(60, shape=shapes(most=300, axes=3, least=1), seed=st.integers(0, 2**32 - 1),
       pruning=st.sampled_from(tuple(THRESHOLDS)), gamma=st.sampled_from((0, 0.5, 1, 2)),
       threads=st.sampled_from((1, 2)))
def test_definition(shape, seed, pruning, gamma, threads):
    rng = np.random.default_rng(seed)
    array = strided(values(shape, "uint8", rng), rng)
    given_gamma = None if pruning == "square_root" else gamma
    got, radius = distmap.skeleton(array, pruning=pruning, gamma=given_gamma, distances=True, threads=threads)
    assert got.dtype == bool and np.array_equal(got, by_definition(array, pruning, gamma))
    assert np.array_equal(radius, np.where(got, distmap.edt(array), 0))


def test_border():
    """As if the array lay in a larger one of background."""
    shape = np.ones((9, 20), np.uint8)
    assert not distmap.skeleton(shape).any()
    assert np.array_equal(distmap.skeleton(shape, border=True), distmap.skeleton(np.pad(shape, 1))[1:-1, 1:-1])


def test_scale():
    """Spacing changes units alone."""
    shape = np.random.default_rng(1).random((40, 50)) < 0.9
    for how in ({}, {"pruning": "linear", "gamma": 0.5}):
        assert np.array_equal(distmap.skeleton(shape, **how), distmap.skeleton(shape, sampling=4, **how))


@pytest.mark.parametrize("options, text", [
    ({"gamma": 1}, "gamma"), ({"pruning": "linear", "gamma": -1}, "gamma"),
    ({"pruning": "constant", "gamma": np.nan}, "gamma"), ({"pruning": "no"}, "pruning"),
    ({"out": np.zeros((3, 3), np.int32)}, "mask"), ({"method": "brute/cpu"}, "computes distances"),
])
def test_refused(options, text):
    with pytest.raises((ValueError, NotImplementedError), match=text):
        distmap.skeleton(np.ones((3, 3), np.uint8), **options)
