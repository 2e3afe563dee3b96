"""Outputs that are converted: float16, small integers by scale and offset, foreign byte order; unsigned sites; arrays without axes; masked
arrays."""

import distmap
import numpy as np
import oracle
import pytest
from hypothesis import strategies as st


def drawn_mask(seed, shape=(40, 50)):
    rng = np.random.default_rng(seed)
    return rng.random(shape) < rng.choice([0.5, 0.99, 1])


@oracle.drawn(30, seed=st.integers(0, 2**32))
def test_float16(seed):
    mask = drawn_mask(seed)
    want = distmap.edt(mask, 0.7, dtype="float64").astype(np.float16)
    out = np.empty(mask.shape, np.float16)
    assert np.array_equal(distmap.edt(mask, 0.7, dtype=np.float16), want)
    assert distmap.edt(mask, 0.7, out=out) is out and np.array_equal(out, want)
    both = distmap.transform(mask, want={"squared": "float16", "distance": "float16", "index": None})
    assert np.array_equal(both.squared, distmap.edt(mask, squared=True, dtype="float64").astype(np.float16))


def test_float16_is_rounded_once():
    """Roots of n^2 + 1 lie above the middle of two neighbours by so little that float32 would lose it."""
    n = 16391
    mask = np.ones((2, n + 1), np.uint8)
    mask[0, 0] = 0
    exact, got = distmap.edt(mask, dtype="float64"), distmap.edt(mask, dtype="float16")
    by_float32 = exact.astype(np.float32).astype(np.float16)
    assert (by_float32 != got).any()
    assert (abs(got.astype(np.float64) - exact) <= abs(by_float32.astype(np.float64) - exact)).all()


def test_float16_overflows():
    line = np.ones(70000, np.uint8)
    line[0] = 0
    assert np.isinf(distmap.edt(line, dtype="float16")[65520:]).all() and distmap.edt(line, dtype="float16")[65519] == 65504


@oracle.drawn(60, seed=st.integers(0, 2**32), dtype=st.sampled_from(["int8", "uint8", "int16", "uint16"]),
              scale=st.sampled_from([1, 0.5, 10, -3, 1 / 3, 100]), offset=st.sampled_from([None, 0, 100, -0.25]))
def test_scaled(seed, dtype, scale, offset):
    mask, limits = drawn_mask(seed), np.iinfo(dtype)
    for options in ({}, {"signed": True}, {"sampling": (2, 0.7)}):
        exact = distmap.edt(mask, dtype="float64", **options)
        want = np.clip(np.rint(exact * scale + (offset or 0)), limits.min, limits.max).astype(dtype)
        out = np.empty(mask.shape, np.dtype(dtype).newbyteorder())[::-1]
        assert np.array_equal(distmap.edt(mask, dtype=dtype, scale=scale, offset=offset, **options), want)
        assert distmap.edt(mask, scale=scale, offset=offset, out=out, **options) is out and np.array_equal(out, want)


@pytest.mark.parametrize("options, text", [
    ({"scale": 2}, "dtype is not given, must be one of int8, uint8, int16, uint16 where scale or offset is given"),
    ({"scale": 2, "dtype": "float32"}, "dtype is float32"),
    ({"offset": 2, "dtype": "uint8", "squared": True}, "scale and offset are for distances"),
    ({"scale": 0, "dtype": "uint8"}, "scale not 0"),
    ({"scale": np.inf, "dtype": "uint8"}, "must be finite"),
])
def test_scale_refused(options, text):
    with pytest.raises(ValueError, match=text):
        distmap.edt(np.ones((3, 4)), **options)


@oracle.drawn(30, seed=st.integers(0, 2**32))
def test_foreign_order(seed):
    mask = drawn_mask(seed)
    for name, dtype in (("distance", "f4"), ("distance", "f8"), ("squared", "u4"), ("index", "i4"), ("coords", "i2")):
        want = getattr(distmap.transform(mask, want={name: dtype}), name)
        memory = np.zeros(want.nbytes + 1, np.uint8)
        for out in (np.empty(want.shape, np.dtype(dtype).newbyteorder()), memory[1:].view(dtype).reshape(want.shape)):
            result = distmap.transform(mask, want=name, out=out)
            assert getattr(result, name) is out and np.array_equal(out, want)


def test_unsigned_sites():
    mask = np.ones((3, 5), np.uint8)
    mask[1, 2] = 0
    for sites in (mask, np.ones((3, 5), np.uint8)):
        want, out = distmap.feature_transform(sites), np.empty((3, 5), np.uint32)
        assert np.array_equal(distmap.feature_transform(sites, out=out).view(np.int32), want)
        assert np.array_equal(distmap.transform(sites, want={"index": np.uint64}).index.view(np.int64), want)
        coords = distmap.transform(sites, want={"coords": "uint16"}).coords
        assert coords.dtype == np.uint16 and np.array_equal(coords.view(np.int16), distmap.feature_transform(sites, coords=True))


def test_without_axes():
    for value, want in ((0, 0.0), (3, np.inf)):
        distance, index = distmap.edt(np.array(value), indices=True)
        assert distance.shape == index.shape == () and distance == want and index == (0 if value == 0 else -1)
        assert distmap.edt(np.float64(value)) == want
    out = np.empty((), np.float32)
    assert distmap.edt(np.array(0), out=out) is out and out == 0
    assert distmap.feature_transform(np.array(0), coords=True).shape == (0,)
    assert distmap.dilate(np.array(1), 1).shape == ()


@oracle.drawn(60, seed=st.integers(0, 2**32), dtype=st.sampled_from(oracle.DTYPES),
              rule=st.sampled_from(["zero", "nonzero", 2, (1, 2), (None, 1)]))
def test_masked_arrays(seed, dtype, rule):
    rng = np.random.default_rng(seed)
    values, hidden = oracle.values((12, 13), dtype, rng), rng.random((12, 13)) < 0.3
    if dtype == "bool" and rule in ("nonzero", (None, 1), (1, 2), 2):
        rule = "zero"
    is_site = {"zero": values == 0, "nonzero": values != 0, 2: values == 2, (1, 2): (values >= 1) & (values <= 2),
               (None, 1): values <= 1}[rule] & ~hidden
    result = distmap.edt(np.ma.masked_array(values, hidden), sites=rule)
    want = distmap.edt(is_site, sites="nonzero")
    assert isinstance(result, np.ma.MaskedArray) and np.array_equal(result.mask, hidden) and np.array_equal(result.data, want)


def test_masked_refused():
    given = np.ma.masked_array(np.arange(256, dtype=np.uint8), np.arange(256) > 3)
    with pytest.raises(ValueError, match="selects both ends of uint8"):
        distmap.edt(given, sites=(0, 255))
    with pytest.raises(TypeError, match="masks without signs"):
        distmap.edt(given, labels=True)
