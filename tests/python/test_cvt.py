"""Centroidal Voronoi diagrams: the definition in Python's integers, step by step from the library's own start."""

import distmap
import numpy as np
import pytest
from hypothesis import strategies as st
from oracle import drawn, shapes, strided

TYPES = ("bool", "uint8", "uint16", "uint32")


def nearest(shape, sites, pitch):
    """The nearest site of every element; of several the one that stands on the first."""
    order = np.lexsort(sites.T[::-1])
    at = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), -1)
    square = (((at[..., None, :] - sites[order]) * pitch) ** 2).sum(-1)
    return order[square.argmin(-1)]


def cells(density, sites, pitch):
    """Labels, energy, and of each cell weight and moments, exactly."""
    labels = nearest(density.shape, sites, pitch)
    weight, moment, energy = [0] * len(sites), [[0] * density.ndim for _ in sites], 0
    for p in np.ndindex(density.shape):
        k, w = labels[p], int(density[p])
        weight[k] += w
        for a in range(density.ndim):
            moment[k][a] += w * p[a]
            energy += w * (pitch[a] * (p[a] - int(sites[k][a])))**2
    return labels, energy, weight, moment


def moved(density, sites, pitch):
    """One plain step of Lloyd: to the element nearest to the centroid, half-way stays nearer to the site."""
    _, _, weight, moment = cells(density, sites, pitch)
    taken, result = {tuple(s) for s in sites.tolist()}, sites.copy()
    for k in range(len(sites)):
        if weight[k]:
            off = [moment[k][a] - weight[k] * int(sites[k][a]) for a in range(density.ndim)]
            to = tuple(int(sites[k][a]) + (1 if off[a] > 0 else -1) * ((2 * abs(off[a]) + weight[k] - 1) // (2 * weight[k]))
                       for a in range(density.ndim))
            if to not in taken:
                taken.add(to)
                result[k] = to
    return result


@drawn(80, shape=shapes(most=250, axes=3, least=1), seed=st.integers(0, 2**32 - 1), dtype=st.sampled_from(TYPES),
       share=st.sampled_from((0.2, 0.7, 1)), threads=st.sampled_from((1, 2)), whole=st.booleans())
def test_definition(shape, seed, dtype, share, threads, whole):
    rng = np.random.default_rng(seed)
    high = 2 if dtype == "bool" else min(np.iinfo(dtype).max, 1 << 31)
    density = (rng.integers(1, high, shape) * (rng.random(shape) < share)).astype(dtype)
    density[(0,) * len(shape)] = 1
    points = int(rng.integers(1, min(np.count_nonzero(density), 20) + 1))
    pitch = [int(x) for x in rng.integers(1, 4, len(shape))] if whole else [1] * len(shape)
    given = strided(density, rng)
    before = None
    for steps in range(4):
        got = distmap.cvt(given, points, pitch, steps=steps, seed=seed, grids=1, labels=True, threads=threads)
        if before is not None:
            assert np.array_equal(got.sites, moved(density, before, pitch))
        labels, energy, weight, moment = cells(density, got.sites, pitch)
        assert np.array_equal(got.labels, labels) and got.energies[-1] == float(energy)
        assert len(got.energies) == steps + 1 and (np.diff(got.energies) <= 0).all()
        assert len({tuple(s) for s in got.sites.tolist()}) == points
        for k in range(points):
            expected = [float(m) / float(weight[k]) for m in moment[k]] if weight[k] else got.sites[k].tolist()
            assert got.centroids[k].tolist() == expected
        before = got.sites


@pytest.mark.parametrize("omega", [0.5, 1, 1.5, 1.9])
def test_energy_falls(omega):
    y, x = np.mgrid[:300, :400]
    density = 1 + np.sin(x / 30) * np.cos(y / 40)
    got = distmap.cvt(density, 700, steps=25, omega=omega, seed=3)
    assert (np.diff(got.energies) <= 0).all() and got.energies[-1] < 0.97 * got.energies[0]
    again = distmap.cvt(density, 700, steps=25, omega=omega, seed=3, threads=1)
    assert np.array_equal(got.sites, again.sites) and got.energies.tobytes() == again.energies.tobytes()
    assert not np.array_equal(got.sites, distmap.cvt(density, 700, steps=25, omega=omega, seed=4).sites)


def test_density_is_followed():
    """Cells of equal energy: the density of points goes with the square root of the weight (in 2-D)."""
    density = np.ones((200, 400), np.uint8)
    density[:, 200:] = 9
    got = distmap.cvt(density, 800, steps=60, omega=1.5)
    right = (got.sites[:, 1] >= 200).sum() / 800
    assert 0.72 < right < 0.92  # 3/4 at rest; it starts with 9/10


def test_floats_are_scaled():
    density = np.random.default_rng(1).random((40, 50))
    scaled = np.rint(density / density.max() * 65535).astype(np.uint16)
    one, other = distmap.cvt(density.astype(np.float64), 30, steps=4), distmap.cvt(scaled, 30, steps=4)
    assert np.array_equal(one.sites, other.sites) and np.array_equal(one.energies, other.energies)
    assert np.array_equal(distmap.cvt(scaled.astype(np.int64), 30, steps=4).sites, other.sites)


@pytest.mark.parametrize("density, options, text", [
    (np.zeros((5, 5), np.uint8), {}, "0 elements have a weight"),
    (np.eye(5, dtype=np.uint8), {"points": 6}, "5 elements have a weight, fewer than problem.cvt.points, 6"),
    (np.zeros((5, 5)), {}, "0 elements have a weight"),
    (np.full((5, 5), -1), {}, "density holds -1"),
    (np.array([1.0, np.nan]), {}, "density holds nan"),
    (np.array([1.0, np.inf]), {}, "density holds inf"),
    (np.array([1, 1 << 40]), {}, "must be below 2"),
    (np.ones((5, 5)), {"points": 0}, "problem.cvt.points"),
    (np.ones((5, 5)), {"points": 26}, "problem.cvt.points"),
    (np.ones((0, 5)), {}, "problem.cvt.points"),
    (np.ones((5, 5)), {"omega": 2}, "problem.cvt.omega"),
    (np.ones((5, 5)), {"omega": 0}, "omega is 0"),
    (np.ones((5, 5)), {"steps": -1}, "problem.cvt.steps"),
    (np.ones((5, 5)), {"grids": 0}, "grids is 0"),
    (np.ones((5, 5)), {"seed": -1}, "seed is -1"),
    (np.ones((5, 5)), {"sampling": -2}, "spacing"),
    (np.ones((2, 2, 2, 2)), {}, "problem.ndim"),
])
def test_refusals(density, options, text):
    with pytest.raises(ValueError, match=text):
        distmap.cvt(density, **({"points": 2} | options))
