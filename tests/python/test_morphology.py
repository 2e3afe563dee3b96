"""Ball morphology: the definition, element by element, and what the operations are to each other."""

import distmap
import numpy as np
import pytest
from hypothesis import strategies as st
from oracle import drawn, shapes, strided, values

STEPS = {"dilate": distmap.dilate, "erode": distmap.erode, "open": distmap.opening, "close": distmap.closing}
DUAL = {"dilate": "erode", "erode": "dilate", "open": "close", "close": "open"}


def ball(ndim, radius, spacing):
    """Offsets within the radius."""
    reach = [int(radius / w) for w in spacing]
    offsets = np.stack(np.meshgrid(*(np.arange(-n, n + 1) for n in reach), indexing="ij"), -1).reshape(-1, ndim)
    return offsets[((offsets * spacing) ** 2).sum(1) <= radius * radius], reach


def by_definition(step, array, radius, spacing, outside):
    """Of the image with enough of the outside around it."""
    offsets, reach = ball(array.ndim, radius, spacing)
    once = [(n, n) for n in reach]

    def spread(larger, all_of_them):
        inner = tuple(slice(n, size - n) for n, size in zip(reach, larger.shape))
        parts = [np.roll(larger, offset, range(array.ndim))[inner] for offset in offsets]
        return np.logical_and.reduce(parts) if all_of_them else np.logical_or.reduce(parts)

    twice = step in ("open", "close")
    larger = np.pad(array, [(2 * n, 2 * n) for n in reach] if twice else once, constant_values=outside)
    first = spread(larger, step in ("erode", "open"))
    return spread(first, step == "close") if twice else first


drawn_cases = {"shape": shapes(most=120, axes=3, least=1), "seed": st.integers(0, 2**32 - 1),
               "step": st.sampled_from(tuple(STEPS)), "radius": st.sampled_from((0, 0.9, 1, 1.5, 2, 3.3)),
               "spacing": st.sampled_from((1, 2, 0.5)), "outside": st.booleans()}


@drawn(120, **drawn_cases)
def test_definition(shape, seed, step, radius, spacing, outside):
    rng = np.random.default_rng(seed)
    array = strided(values(shape, "uint8", rng), rng)
    pitches = np.full(len(shape), spacing, float)
    pitches[-1] = 1
    got = STEPS[step](array, radius, pitches, outside=outside)
    assert got.dtype == bool
    assert np.array_equal(got, by_definition(step, array != 0, radius, pitches, outside))


@drawn(60, **drawn_cases)
def test_relations(shape, seed, step, radius, spacing, outside):
    """Dual, increasing, larger or smaller; opening and closing are idempotent."""
    rng = np.random.default_rng(seed)
    array = values(shape, "uint8", rng) != 0
    more = array | (rng.random(shape) < 0.1)
    options = {"radius": radius, "sampling": spacing}
    got = STEPS[step](array, outside=outside, **options)
    assert np.array_equal(got, ~STEPS[DUAL[step]](~array, outside=not outside, **options))
    assert np.all(got <= STEPS[step](more, outside=outside, **options))
    assert np.all(got >= array if step in ("dilate", "close") else got <= array)
    if step in ("open", "close"):
        assert np.array_equal(got, STEPS[step](got, outside=outside, **options))


@drawn(60, shape=shapes(most=150, axes=3, least=1), seed=st.integers(0, 2**32 - 1),
       radius=st.sampled_from((0, 1, 1.5, 2, 5)))
def test_labels(shape, seed, radius):
    """Each label against all else, and the nearest one where they grow."""
    array = values(shape, "int32", np.random.default_rng(seed))
    kept = sum(label * by_definition("erode", array == label, radius, np.ones(len(shape)), False) for label in (1, 2, 3))
    assert np.array_equal(distmap.erode(array, radius, labels=True), kept)
    grown = distmap.dilate(array, radius, labels=True)
    if (array == 0).all():
        assert not grown.any()
        return
    distance, nearest = distmap.edt(array, sites="nonzero", dtype="float64", indices=True)
    assert np.array_equal(grown, np.where(distance <= radius, array.reshape(-1)[nearest], 0))


def test_sites_and_out():
    grey = np.array([[0.0, 0.4, 0.9, np.nan, 0.7, 0.8, 0.9]])
    assert distmap.dilate(grey, 1, sites=(0.5, None)).tolist() == [[False, True, True, True, True, True, True]]
    assert distmap.erode(grey, 1, sites=(0.5, None), axes=1, outside=True).tolist() == [[False] * 5 + [True] * 2]
    out = np.full(grey.shape, 9, np.uint8)
    assert distmap.dilate(grey, 0, sites=(0.5, None), out=out) is out and out.tolist() == [[0, 0, 1, 0, 1, 1, 1]]


@pytest.mark.parametrize("call, error, text", [
    (lambda a: distmap.dilate(a, -1), ValueError, "problem.morphology.radius is -1, must be finite and not negative"),
    (lambda a: distmap.erode(a, float("nan")), ValueError, "radius is nan"),
    (lambda a: distmap.opening(a, float("inf")), ValueError, "radius is inf"),
    (lambda a: distmap.closing(a, 1e12), ValueError, "with that much around it"),
    (lambda a: distmap.dilate(a * 0.5, 1, labels=True), ValueError, "labels need an integer type"),
    (lambda a: distmap.dilate(a, 1, labels=True, sites=2), ValueError, "sites is 2, has no meaning for labels"),
    (lambda a: distmap.dilate(a, 1, labels=True, outside=True), ValueError, "problem.morphology.outside"),
    (lambda a: distmap.dilate(a, 1, out=np.zeros((2, 3), bool)), ValueError, "arrays.mask has shape[0] = 2"),
    (lambda a: distmap.dilate(a, "wide"), TypeError, "radius is 'wide', must be a number"),
    (lambda a: distmap.transform(a, want="mask", morphology={"step": "spread", "radius": 1}), ValueError, "dilate"),
])
def test_bad_input(call, error, text):
    with pytest.raises(error) as raised:
        call(np.ones((3, 4), np.uint8))
    assert text in str(raised.value)
