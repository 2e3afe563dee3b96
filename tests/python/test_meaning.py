"""What arrays mean: signs, what is no array, where there is no distance."""

import distmap
import numpy as np
import pytest
from hypothesis import strategies as st
from oracle import drawn, shapes, values


@drawn(100, shape=shapes(), seed=st.integers(0, 2**32 - 1), positive=st.sampled_from(("outside", "inside")),
       surface=st.sampled_from(("centre", "half")))
def test_signed_distance(shape, seed, positive, surface):
    mask = values(shape, np.uint8, np.random.default_rng(seed))
    inside = distmap.edt(mask, signed=True, surface=surface, dtype=float)  # positive off the zeros
    want = inside if positive == "inside" else -inside
    for sites in ("zero", "nonzero"):
        got, at = distmap.signed_distance(mask, sites=sites, positive=positive, surface=surface, dtype=float, indices=True)
        assert np.array_equal(got, want)
        assert np.array_equal(at, distmap.edt(mask, signed=True, indices=True)[1])
    with pytest.raises(ValueError, match="positive is 'left', must be one of outside, inside"):
        distmap.signed_distance(mask, positive="left")


@drawn(100, shape=shapes(), seed=st.integers(0, 2**32 - 1), dtype=st.sampled_from((np.float32, np.float64)),
       squared=st.booleans(), signed=st.booleans(), fill=st.sampled_from((-1, 0, -9999.5, np.nan, 7)))
def test_fill(shape, seed, dtype, squared, signed, fill):
    mask = values(shape, np.uint8, np.random.default_rng(seed))
    options = {"squared": squared, "signed": signed, "dtype": dtype, "limit": 1.5, "axes": len(shape) - 1}
    want = distmap.edt(mask, **options)
    want[np.isinf(want)] = fill
    assert np.array_equal(distmap.edt(mask, **options, fill=fill), want, equal_nan=True)
    out = np.zeros(shape[::-1], dtype).T
    assert distmap.edt(mask, **options, fill=fill, out=out) is out
    assert np.array_equal(out, want, equal_nan=True)


def test_fill_of_each_function():
    full = np.ones((2, 3), np.uint8)
    for array in (distmap.edt(full, fill=-1), distmap.edt(full, squared=True, fill=9), distmap.signed_distance(full, fill=-1),
                  distmap.chamfer(full, fill=-1), distmap.chamfer(full, dtype=np.uint8, fill=9),
                  distmap.local_thickness(full, fill=-1), distmap.edt(full, fill=-1, indices=True)[0],
                  distmap.transform(full, want=("distance", "squared"), fill=9).squared):
        assert (array == (9 if array.dtype.kind == "u" else -1)).all()
    for fill, text in ((-1, "fill is -1, which uint32 cannot hold"), (0.5, "cannot hold"), (np.nan, "cannot hold"), (2**32, "cannot")):
        with pytest.raises(ValueError, match=text):
            distmap.edt(full, squared=True, fill=fill)
    with pytest.raises(ValueError, match="float32 cannot hold"):
        distmap.edt(full, fill=1e300)
    with pytest.raises(TypeError, match="fill is 'x', must be a number"):
        distmap.edt(full, fill="x")
