"""What the tests compare with: every element against every site, in NumPy; and how random problems are drawn.

A run's seed is printed; DISTMAP_TEST_SEED repeats it, DISTMAP_TEST_SCALE makes more or fewer examples of each property.
"""

import math
import os

import hypothesis
import numpy as np
from hypothesis import strategies as st

SEED = int(os.environ.get("DISTMAP_TEST_SEED") or int.from_bytes(os.urandom(4), "little"))
SCALE = float(os.environ.get("DISTMAP_TEST_SCALE") or 1)
DTYPES = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64")
INTEGERS = DTYPES[1:-2]


def drawn(examples, **strategies):
    """A test of a property on so many drawn examples, from the run's seed."""
    def decorate(test):
        given = hypothesis.given(**strategies)(test)
        limits = hypothesis.settings(max_examples=max(1, int(examples * SCALE)), deadline=None, database=None,
                                     print_blob=True, suppress_health_check=list(hypothesis.HealthCheck))
        return hypothesis.seed(SEED)(limits(given))
    return decorate


@st.composite
def shapes(draw, most=500, least_axes=1, axes=4, least=0):
    """Shapes of one to four axes, of at most so many elements, axes of length 0 and 1 among them."""
    shape = []
    for _ in range(draw(st.integers(least_axes, axes))):
        room = max(least, most // max(1, math.prod(shape)))
        shape.append(draw(st.integers(least, min(room, draw(st.sampled_from((2, 7, 40)))))))
    return tuple(shape)


def strided(array, rng):
    """The same values in memory of other strides: reversed, with gaps, or axes in another order."""
    order = rng.permutation(array.ndim)
    steps = [int(rng.choice((1, 1, -1, 2, -3))) for _ in array.shape]
    memory = np.zeros([array.shape[a] * abs(steps[a]) for a in order], array.dtype)
    view = memory.transpose(np.argsort(order))[tuple(slice(None, None, step) for step in steps)]
    view = view[tuple(slice(0, n) for n in array.shape)]
    view[...] = array
    return view


def values(shape, dtype, rng):
    """Small numbers, zero with a probability that is drawn too."""
    chance = rng.choice((0, 0.02, 0.3, 0.9, 1))
    numbers = rng.integers(1, 4, shape) * (rng.random(shape) >= chance)
    return numbers.astype(dtype)


def squared_to_all(shape, spacing, axes, to):
    """(elements, targets) of squared distances from every element to the elements with those coordinates, inf beyond a
    batch."""
    places = np.indices(shape).reshape(len(shape), -1)
    total = np.zeros((places.shape[1], to.shape[1]))
    for a, w in enumerate(spacing):
        offset = places[a][:, None] - to[a][None, :]
        total += (w * w) * (offset * offset) if a in axes else np.where(offset, np.inf, 0)
    return total


def nearest(is_site, spacing=None, axes=None):
    """(squared distance, lowest index of the nearest site or -1), float64 and int64, which hold the tests' numbers
    exactly."""
    shape = is_site.shape
    axes = range(len(shape)) if axes is None else axes
    sites = np.flatnonzero(is_site)
    if sites.size == 0 or is_site.size == 0:
        return np.full(shape, np.inf), np.full(shape, -1)
    total = squared_to_all(shape, spacing or [1] * len(shape), axes, np.array(np.unravel_index(sites, shape)))
    best = total.argmin(axis=1)
    squared = total.min(axis=1)
    return squared.reshape(shape), np.where(np.isinf(squared), -1, sites[best]).reshape(shape)


def rounded_root(square, bits):
    """The root of a fraction as a double that rounds to `bits` bits as the root itself does: some bits more, and a last
    one that tells whether there are others."""
    over, under = square.numerator, square.denominator
    shift = max(0, bits + 4 - (over.bit_length() - under.bit_length()) // 2)
    over <<= 2 * shift
    root = math.isqrt(over // under)
    return (2 * root + (root * root * under != over)) / (2 << shift)


def rounded_distances(squares, unit, dtype):
    """unit sqrt(n) of integers, rounded once; `unit` is a fraction."""
    bits = 24 if dtype == np.float32 else 53
    known = {n: dtype(rounded_root(unit**2 * int(n), bits)) for n in np.unique(squares) if np.isfinite(n) and n}
    return np.array([known.get(n, n) for n in squares.flat], dtype).reshape(squares.shape)
