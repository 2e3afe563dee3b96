"""Edge strengths: explicit steps to the bit, the state at rest by its residual, and what is refused."""

import distmap
import numpy as np
import pytest
from hypothesis import strategies as st
from oracle import drawn, shapes, strided, values


def neighbours(v, axes):
    """Sums of the two neighbours along each axis; beyond the border an element is its own neighbour."""
    for a in axes:
        padded = np.pad(v, [(1, 1) if k == a else (0, 0) for k in range(v.ndim)], mode="edge")
        yield np.take(padded, range(v.shape[a]), a), np.take(padded, range(2, v.shape[a] + 2), a)


def stepped(shape, rho, dt, steps, dtype, measured):
    """As the header says: a v + dt s, each operation rounded; axes of length 1 do not count."""
    axes = [a for a in measured if shape.shape[a] > 1]
    dt = dtype(dt)
    a = dtype(1 - float(dt) * (2 * len(axes) + 1 / (rho * rho)))
    v = shape.astype(dtype)
    for _ in range(steps):
        sums = [one + other for one, other in neighbours(v, axes[::-1])]  # x, y, z
        s = {0: lambda: np.zeros_like(v), 1: lambda: sums[0], 2: lambda: sums[1] + sums[0],
             3: lambda: (sums[1] + sums[0]) + sums[2]}[len(axes)]()
        v = np.where(shape, dtype(1), a * v + dt * s)
    return v


@drawn(120, shape=shapes(most=300, axes=3, least=1), seed=st.integers(0, 2**32 - 1), steps=st.integers(1, 12),
       dtype=st.sampled_from((np.float32, np.float64)), threads=st.sampled_from((1, 2)))
def test_steps(shape, seed, steps, dtype, threads):
    rng = np.random.default_rng(seed)
    array = strided(values(shape, rng.choice(("uint8", "int32", "float32")), rng), rng)
    rho, dt = float(rng.uniform(0.5, 20)), float(rng.uniform(0.01, 0.12))
    axes = tuple(int(a) for a in np.flatnonzero(rng.random(len(shape)) < 0.8)) or (len(shape) - 1,)
    out = strided(np.full(shape, 9, dtype), rng)
    got, how = distmap.esf(array, rho, steps=steps, dt=dt, axes=axes, out=out, convergence=True, threads=threads)
    want = stepped(array != 0, rho, dt, steps, dtype, axes)
    want[~np.broadcast_to((array != 0).any(axis=axes, keepdims=True), shape)] = 0
    assert got is out and np.array_equal(got, want)
    assert np.isnan(how.residual)


@drawn(40, shape=shapes(most=300, axes=3, least=2), seed=st.integers(0, 2**32 - 1), rho=st.sampled_from((1, 4, 30)))
def test_at_rest(shape, seed, rho):
    array = values(shape, np.uint8, np.random.default_rng(seed))
    v, how = distmap.esf(array, rho, dtype="float64", convergence=True)
    residual = sum((one - v) + (other - v) for one, other in neighbours(v, range(v.ndim))) - v / rho**2
    outside = array == 0
    assert how.residual <= 1e-10
    if array.any():
        assert np.abs(residual[outside]).max(initial=0) <= 1.1e-10 and (v[~outside] == 1).all()
    else:
        assert not v.any()


@pytest.mark.parametrize("options, text", [
    ({"rho": 0}, "rho"), ({"rho": np.nan}, "rho"), ({"rho": 4, "dt": 0.3}, "dt"),
    ({"rho": 4, "steps": 0}, "steps is 0"),
    ({"rho": 4, "steps": 2, "dt": 0}, "dt is 0"), ({"rho": 4, "tolerance": 1e-9}, "tolerance"),
    ({"rho": 4, "dtype": "int32"}, "strength"),
])
def test_refused(options, text):
    with pytest.raises(ValueError, match=text):
        distmap.esf(np.eye(5), **({"steps": 3} if "dt" in options and "steps" not in options else {}) | options)


def test_by_transform_and_plan():
    want = distmap.esf(np.eye(6), 2, steps=4)
    result = distmap.transform(np.eye(6), want="strength", sites="nonzero", esf={"rho": 2, "steps": 4})
    assert np.array_equal(result.strength, want) and result.convergence.iterations == 4
    plan = distmap.Plan((6, 6), "float64", {"strength": "float32"}, sites="nonzero", esf={"rho": 2, "steps": 4})
    got = np.empty((6, 6), np.float32)
    plan(np.eye(6), strength=got)
    assert np.array_equal(got, want) and plan.convergence().iterations == 4
    assert next(m for m in distmap.methods() if m.field == "edge_strength").name.startswith("esf")
