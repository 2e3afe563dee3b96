"""Comparisons of two masks: the definition in NumPy, with numpy.percentile, and SciPy's distances between sets of points."""

import math

import distmap
import numpy as np
import pytest
from hypothesis import strategies as st
from oracle import drawn, shapes, strided
from scipy import ndimage
from scipy.spatial import distance

PERCENTS = (95, 50, 0.5, 100)


def points_of(mask, points):
    if points == "surface":
        return mask & ~ndimage.binary_erosion(mask)
    return mask


def distances(a, b, sampling):
    """From each of a's points to the nearest of b's."""
    apart = (np.argwhere(a)[:, None] - np.argwhere(b)[None]) * np.array(sampling, float)
    return np.sqrt((apart**2).sum(-1)).min(1)


@drawn(150, shape=shapes(most=300, axes=3, least=1), seed=st.integers(0, 2**32 - 1), share=st.floats(0.02, 0.98),
       points=st.sampled_from(("surface", "set")), pitch=st.sampled_from((1, 2, 0.5, 1.25)),
       tolerance=st.sampled_from((0, 1, 1.5, 2, 5)), threads=st.sampled_from((1, 2)))
def test_definition(shape, seed, share, points, pitch, tolerance, threads):
    rng = np.random.default_rng(seed)
    a, b = rng.random(shape) < share, rng.random(shape) < share
    sampling = [pitch, *[1] * (len(shape) - 1)]
    if not a.any() or not b.any():
        return
    got = distmap.compare(strided(a, rng), strided(b.astype("int16") * 3, rng), sampling, points=points,
                          tolerance=tolerance, percentiles=PERCENTS, threads=threads)
    want = distances(points_of(a, points), points_of(b, points), sampling)
    back = distances(points_of(b, points), points_of(a, points), sampling)
    for told, d in ((got.forward, want), (got.backward, back)):
        assert told.points == len(d) and told.within == (d <= tolerance).sum()
        assert told.hausdorff == d.max() and told.mean == math.fsum(d) / len(d)
        assert told.rms == pytest.approx(np.sqrt(np.mean(d**2)), rel=1e-14)
        assert tuple(told.percentiles) == PERCENTS
        assert list(told.percentiles.values()) == np.percentile(d, PERCENTS).tolist()
    both = np.concatenate([want, back])
    assert got.hausdorff == both.max() and got.mean == math.fsum(both) / len(both)
    assert got.percentiles[95] == max(np.percentile(want, 95), np.percentile(back, 95))
    assert got.surface_dice == (both <= tolerance).sum() / len(both)
    assert got.elements == (a.sum(), b.sum()) and got.common == (a & b).sum()
    assert got.dice == 2 * (a & b).sum() / (a.sum() + b.sum()) and got.jaccard == (a & b).sum() / (a | b).sum()


def test_scipy():
    rng = np.random.default_rng(5)
    a, b = rng.random((2, 40, 30)) < 0.05
    got = distmap.compare(a, b, points="set")
    assert got.forward.hausdorff == distance.directed_hausdorff(np.argwhere(a), np.argwhere(b))[0]
    assert got.backward.hausdorff == distance.directed_hausdorff(np.argwhere(b), np.argwhere(a))[0]


def test_empty():
    a, none = np.ones((3, 4), bool), np.zeros((3, 4), bool)
    one, neither = distmap.compare(a, none), distmap.compare(none, none)
    assert one.hausdorff == one.mean == one.percentiles[95] == one.forward.rms == math.inf
    assert math.isnan(one.backward.hausdorff) and one.backward.points == 0 and one.dice == one.surface_dice == 0
    assert all(math.isnan(x) for x in (neither.hausdorff, neither.mean, neither.dice, neither.jaccard))
    assert math.isnan(distmap.compare(a[:0], none[:0]).hausdorff)


@pytest.mark.parametrize("options, text", [
    ({"b": np.ones((3, 4), bool)}, "shape"), ({"points": "corners"}, "points"), ({"tolerance": -1}, "tolerance"),
    ({"percentiles": (50, 101)}, "percentile"), ({"percentiles": ()}, "percentiles has 0"),
    ({"percentiles": range(17)}, "percentiles has 17"), ({"method": "brute/cpu"}, "computes distances"),
    ({"sampling": (1, 0)}, "spacing"),
])
def test_refused(options, text):
    with pytest.raises((ValueError, NotImplementedError), match=text):
        distmap.compare(**{"a": np.ones((3, 3), bool), "b": np.ones((3, 3), bool)} | options)
