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
