"""distmap.dask beside the map of the whole array, to the bit: any chunks, pitches, limits, borders, batches."""

import math

import distmap
import hypothesis
import numpy as np
import oracle
import pytest
from hypothesis import strategies as st

dask_array = pytest.importorskip("dask.array")
lazy = pytest.importorskip("distmap.dask")
PITCHES = (1, 2, 0.65, 2.5, 0.7, 4, 0.123456789, 1e-3)


@st.composite
def problems(draw):
    shape = draw(oracle.shapes(most=2000, least=1))
    chunks = tuple(tuple(lazy.parts(n, draw(st.integers(1, 4)))) for n in shape)
    axes = draw(st.none() | st.lists(st.integers(0, len(shape) - 1), min_size=1, unique=True))
    return shape, chunks, {
        "sampling": draw(st.none() | st.sampled_from(PITCHES) | st.tuples(*[st.sampled_from(PITCHES)] * len(shape))),
        "axes": axes, "border": draw(st.booleans()), "limit": draw(st.none() | st.floats(0.3, 20)),
        "sites": draw(st.sampled_from(["zero", "nonzero", 2, (1, 2)])),
        **draw(st.sampled_from([{}, {"squared": True}, {"dtype": "float64"}, {"squared": True, "dtype": "float32"}]))}


@oracle.drawn(300, problem=problems(), seed=st.integers(0, 2**32), dtype=st.sampled_from(oracle.DTYPES))
def test_whole(problem, seed, dtype):
    shape, chunks, options = problem
    array = oracle.values(shape, dtype, np.random.default_rng(seed))
    result = lazy.edt(dask_array.from_array(array, chunks=chunks), **options)
    want = distmap.edt(array, **options)
    assert result.chunks == chunks and result.dtype == want.dtype
    assert np.array_equal(result.compute(scheduler="sync"), want)


def test_by_itself():
    mask = np.ones((5, 6), np.uint8)
    mask[2, 3] = 0
    result = distmap.edt(dask_array.from_array(mask, chunks=2), sampling=(2, 1), border=True)
    assert isinstance(result, dask_array.Array)
    assert np.array_equal(result.compute(), distmap.edt(mask, sampling=(2, 1), border=True))


def test_a_task_holds_a_chunk():
    for shape, chunks in (((64, 64, 64), (16, 16, 16)), ((100, 90), (10, 90)), ((7, 640), (7, 10)), ((4, 4, 4, 640), (4, 4, 4, 10))):
        array = dask_array.zeros(shape, chunks=chunks)
        for axis in range(len(shape)):
            lines = lazy.lines_of(array.chunks, [axis])
            largest = math.prod(max(lengths) for lengths in lines)
            assert largest <= max(math.prod(chunks) * 1.5, shape[axis]), (shape, axis, lines)
            assert all(sum(parts) == n for parts, n in zip(lines, shape))


def test_refused():
    array = dask_array.ones((4, 4), chunks=2)
    for call, text in ((lambda: distmap.edt(array, indices=True), "index cannot be computed in passes"),
                       (lambda: distmap.edt(array, signed=True), "sign does not go with a Dask array"),
                       (lambda: distmap.edt(array.astype(int), labels=True), "labels does not go"),
                       (lambda: distmap.skeleton(array), "cannot be computed in passes"),
                       (lambda: distmap.transform(array), "dask"),
                       (lambda: distmap.edt(array, out=np.empty((4, 4), np.float32)), "out")):
        with pytest.raises(TypeError, match=text):
            call()
    with pytest.raises(ValueError, match="unknown lengths"):
        distmap.edt(array[array > 0])
    with pytest.raises(ValueError, match="spacing"):
        distmap.edt(array, sampling=-1)


def test_chunked_xarray():
    xarray = pytest.importorskip("xarray")
    values = np.ones((4, 6), np.uint8)
    values[0, 0] = 0
    given = xarray.DataArray(values, dims=("y", "x"), coords={"y": [1, 2, 3, 4]}, attrs={"unit": "mm"}, name="mask")
    result = distmap.edt(given.chunk(2), sampling=0.5)
    assert isinstance(result.data, dask_array.Array)
    assert result.dims == given.dims and result.attrs == given.attrs and result.coords.equals(given.coords)
    assert np.array_equal(result.compute().data, distmap.edt(values, sampling=0.5))


def test_passes():
    """Which axes go together."""
    for shape, chunks, want in (((64, 64, 64), 16, [[2, 1], [0]]), ((64, 64, 64), 8, [[2], [1], [0]]), ((64, 64), 32, [[1], [0]]),
                                ((64, 64, 64), (64, 16, 64), [[2, 1], [0]]), ((9,), 3, [[0]]), ((64, 4, 64), (2, 2, 64), [[2, 1], [0]])):
        assert lazy.passes(dask_array.zeros(shape, chunks=chunks), range(len(shape))) == want, (shape, chunks)
