"""transform, Context and Plan: the options that edt does not have, and what they refuse."""

from pathlib import Path

import distmap
import numpy as np
import pytest
from hypothesis import strategies as st
from oracle import drawn, nearest, shapes, squared_to_all, strided, values

MASK = np.array([[1, 1, 1, 1], [1, 0, 1, 1], [1, 1, 1, 1]], np.uint8)


@drawn(150, shape=shapes(most=200, axes=3), seed=st.integers(0, 2**32 - 1), payload=st.booleans(),
       dtype=st.sampled_from((np.uint8, np.int64, np.float32, np.float64)))
def test_sampled(shape, seed, payload, dtype):
    """out(p) = min over q of f(q) + |p - q|^2, and the lowest q that gives it."""
    rng = np.random.default_rng(seed)
    f = strided(rng.integers(0, 60, shape).astype(dtype), rng)
    ids = rng.permutation(f.size).reshape(shape).astype(np.int32) if payload else None
    result = distmap.transform(f, kind="sampled", want={"squared": np.float64, "index": None}, payload=ids)
    everywhere = np.array(np.unravel_index(np.arange(f.size), shape))
    total = squared_to_all(shape, [1] * f.ndim, range(f.ndim), everywhere) + f.reshape(1, -1)
    assert np.array_equal(result.squared.reshape(-1), total.min(axis=1, initial=np.inf))
    if f.size:
        best = total.argmin(axis=1)
        assert np.array_equal(result.index.reshape(-1), ids.reshape(-1)[best] if payload else best)


@drawn(100, shape=shapes(), seed=st.integers(0, 2**32 - 1))
def test_all_outputs_at_once(shape, seed):
    """In one call, into arrays of any strides, as each alone."""
    rng = np.random.default_rng(seed)
    array = values(shape, np.int16, rng)
    want = {"distance": "float64", "squared": "uint64", "index": "int64", "coords": "int16", "label": "int32"}
    out = {name: strided(np.full((len(shape), *shape) if name == "coords" else shape, 9, kind), rng) for name,
           kind in want.items()}
    result = distmap.transform(array, sites="nonzero", want=want, out=out)
    squared, index = nearest(array != 0)
    none = index < 0
    assert result.arrays == out
    assert np.array_equal(result.squared, np.where(none, 2**64 - 1, np.where(none, 0, squared).astype(np.uint64)))
    assert np.array_equal(result.distance, np.sqrt(squared)) and np.array_equal(result.index, index)
    assert np.array_equal(result.label, np.where(none, 0, array.reshape(-1)[index]) if array.size else result.label)
    assert result.flags == (distmap.FLAG_NO_SITE if none.any() else 0)


@drawn(60, shape=shapes(), seed=st.integers(0, 2**32 - 1), limit=st.sampled_from((0.5, 1, 1.5, 3, 7.1, 100)))
def test_masks(shape, seed, limit):
    """What lies within the limit and beyond it, alone and beside distances; of labels, the labels that are left."""
    array = values(shape, np.uint8, np.random.default_rng(seed))
    squared, _ = nearest(array == 0)
    within = squared <= limit * limit
    result = distmap.transform(array, want=("within", "beyond"), limit=limit)
    assert result.within.dtype == result.beyond.dtype == bool
    assert np.array_equal(result.within, within) and np.array_equal(result.beyond, ~within)
    assert result.flags == (distmap.FLAG_NO_SITE if not within.all() else 0)
    beside = distmap.transform(array, want={"distance": None, "within": "uint8"}, limit=limit)
    assert beside.within.dtype == np.uint8 and np.array_equal(beside.within, within)
    assert np.array_equal(np.isfinite(beside.distance), within)
    left = distmap.transform(array, kind="labels", want="beyond", limit=limit).beyond
    far = distmap.transform(array, kind="labels", want="squared", limit=limit).squared == 2**32 - 1
    assert left.dtype == array.dtype and np.array_equal(left, np.where(far, array, 0))


def test_usual_dtypes():
    result = distmap.transform(MASK, want=["distance", "squared", "index", "coords", "label"])
    assert [a.dtype.name for a in result.arrays.values()] == ["float32", "uint32", "int32", "int32", "uint8"]
    assert distmap.transform(MASK, want="squared", spacing=0.5).squared.dtype == np.float64
    assert distmap.transform(MASK, want={"squared": None}, spacing=2**20).squared.dtype == np.uint64


def test_params_by_number_and_name():
    method = next(m for m in distmap.methods() if m.name == "erosion/cpu")
    kernel = next(p for p in method.params if p.name == "kernel")
    want = distmap.edt(MASK)
    for value in (kernel.lowest, *kernel.names):
        result = distmap.transform(MASK, method=method.name, params={"kernel": value})
        assert result.method == method.name and np.array_equal(result.distance, want)


def test_nan_is_no_site_and_told():
    result = distmap.transform(np.array([0, np.nan, 1.0]))
    assert result.distance.tolist() == [0, 1, 2] and result.flags == distmap.FLAG_NAN


def test_progress():
    told = []
    big = np.ones((600, 700), np.uint8)
    big[3, 4] = 0
    want = distmap.edt(big)
    # By one thread, which so has all the tasks after which it asks.
    assert np.array_equal(distmap.edt(big, threads=1, progress=told.append), want)
    assert told and told == sorted(told) and 0 <= told[0] and told[-1] <= 1
    with pytest.raises(RuntimeError, match="cancelled"):
        distmap.transform(big, threads=1, progress=lambda share: True)
    with pytest.raises(ZeroDivisionError):
        distmap.transform(big, threads=1, progress=lambda share: 1 / 0)
    assert np.array_equal(distmap.edt(big, threads=1), want)


def test_plans():
    context = distmap.Context(threads=2)
    assert context.threads == 2 and context.isa in ("plain", "sse4", "avx2", "avx512", "neon")
    plan = distmap.Plan(MASK.shape, MASK.dtype, {"distance": "float32", "index": np.int32}, context=context)
    told = plan.describe()
    assert told.method == "minplus/cpu" and told.threads == 2 and told.integer and told.squared_bits == 32
    distance, index = np.empty(MASK.shape, np.float32), np.empty(MASK.shape, np.int32)
    run = plan.bind(MASK, distance=distance, index=index)
    for _ in range(2):
        distance[...] = -1
        run()
        assert np.array_equal(distance, distmap.edt(MASK)) and (index == 5).all() and plan.flags == 0
    plan.wait()
    assert plan.phases() == []
    timed = distmap.Plan(MASK.shape, MASK.dtype, {"distance": "float32"}, method="edm/cpu", timed=True)
    timed(MASK, distance=distance)
    assert [(phase.name, phase.kind) for phase in timed.phases()] == [("step 1", "compute"), ("step 2", "compute")]
    with pytest.raises(ValueError, match="scratch_bytes"):
        distmap.Plan(MASK.shape, MASK.dtype, {"distance": "float32"}, context=context, scratch=aligned(64)[:0])
    room = aligned(told.scratch_bytes)
    plan = distmap.Plan(MASK.shape, MASK.dtype, {"distance": "float32", "index": np.int32}, scratch=room)
    plan(MASK, distance=distance, index=index)


@pytest.mark.parametrize("shape, options, error, text", [
    ((1 << 70, 4), {}, ValueError, r"shape\[0\] is 1180591620717411303424"),  # not 0, which its lowest 64 bits are
    ((3.5, 4), {}, TypeError, r"shape\[0\] is 3.5, must be an integer"),
    (3, {}, TypeError, "shape is 3, must be the lengths of the axes"),
    ((3, 4), {"context": "cpu"}, TypeError, "context is 'cpu', must be a Context"),
    ((3, 4), {"scratch": np.zeros(1 << 20, np.uint8)[::-1]}, ValueError, "contiguous array of uint8"),
    ((3, 4), {"scratch": np.zeros(1 << 20, np.uint8)[::2]}, ValueError, "contiguous array of uint8"),
    ((3, 4), {"scratch": np.zeros(1 << 20)}, ValueError, "contiguous array of uint8"),
    ((3, 4), {"scratch": np.zeros((1 << 10, 1 << 10), np.uint8)}, ValueError, "with one axis"),
])
def test_plans_refuse(shape, options, error, text):
    with pytest.raises(error, match=text):
        distmap.Plan(shape, np.uint8, {"distance": np.float32}, **options)


def test_wanted_as_a_name():
    with pytest.raises(TypeError, match="want is 'distance', must be"):
        distmap.Plan(MASK.shape, MASK.dtype, "distance")


@pytest.mark.parametrize("dtype", [float, "f8", "double", ">f8", np.float64, np.dtype("f8")])
def test_dtypes_as_numpy_spells_them(dtype):
    assert distmap.edt(MASK, dtype=dtype).dtype == np.float64


@pytest.mark.parametrize("axes", [range(2), np.array([0, 1]), [np.int64(0), 1], {0, 1}])
def test_axes_of_any_sequence(axes):
    assert np.array_equal(distmap.edt(MASK, axes=axes), distmap.edt(MASK))


def test_one_pitch_as_an_array():
    for pitch in (np.array(2), np.array(2.0), np.float32(2)):
        assert np.array_equal(distmap.edt(MASK, pitch), distmap.edt(MASK, 2))


def aligned(size):
    room = np.zeros(size + 64, np.uint8)
    return room[-room.ctypes.data % 64:][:size]


def call(**options):
    return distmap.transform(MASK, **options)


@pytest.mark.parametrize("options, error, text", [
    ({"kind": "x"}, ValueError, "kind is 'x', must be one of mask, labels, sampled"),
    ({"want": "x"}, ValueError, "want is 'x', must be one of distance"),
    ({"want": ()}, ValueError, "names no output"),
    ({"want": 5}, TypeError, "want is 5, must be the names of outputs"),
    ({"want": {"distance": [1]}}, TypeError, r"distance has dtype \[1\]"),
    ({"want": {"distance": np.int8}}, ValueError, "want.distance must be float32 or float64"),
    ({"want": {"squared": np.uint8}}, ValueError, "squared"),
    ({"want": {"distance": "float8"}}, TypeError, "distance has dtype float8"),
    ({"want": {"distance": complex}}, TypeError, "dtype complex"),
    ({"axes": 2}, ValueError, "axes names axis 2, the array has 2"),
    ({"axes": (0, -2)}, ValueError, "axes names axis -2 twice"),
    ({"axes": ()}, ValueError, "axes names no axis"),
    ({"axes": 0.5}, TypeError, "axes is 0.5, must be an integer"),
    ({"sites": "x"}, ValueError, "sites is 'x'"),
    ({"sites": True}, TypeError, "sites is True, must be a number"),
    ({"sites": np.nan}, ValueError, "lo is NaN"),
    ({"sites": (2, 1)}, ValueError, "lo <= hi"),
    ({"sites": (1, 2, 3)}, ValueError, "a range is two"),
    ({"sites": 2**53 + 1}, ValueError, "does not hold exactly"),
    ({"sites": "none"}, ValueError, "NONE is for labels"),
    ({"sites": None}, TypeError, "sites is None, must be a number"),
    ({"metric": "x"}, ValueError, "metric is 'x'"),
    ({"metric": "chamfer"}, ValueError, "chamfer"),
    ({"metric": "chamfer", "chamfer": (3,)}, ValueError, "chamfer has 1 weights"),
    ({"metric": "chamfer", "chamfer": (3, 9)}, ValueError, "a <= b <= 2a"),
    ({"metric": "chamfer", "chamfer": 3}, TypeError, "chamfer is 3, must be two or three weights"),
    ({"metric": "chamfer", "chamfer": (3, 4.5)}, TypeError, r"chamfer\[1\] is 4.5, must be an integer"),
    ({"metric": "chamfer", "chamfer": (1 << 40, 1 << 40)}, ValueError, "at most 65535"),
    ({"spacing": 0}, ValueError, r"spacing\[0\] is 0, must be positive"),
    ({"spacing": (1, np.inf)}, ValueError, r"spacing\[1\] is inf"),
    ({"spacing": (1, 2, 3)}, ValueError, "spacing has 3 values, the array has 2 axes"),
    ({"spacing": "11"}, TypeError, "must be a number"),
    ({"spacing": (1, None)}, TypeError, r"spacing\[1\] is None, must be a number"),
    ({"spacing": np.True_}, TypeError, r"spacing\[0\] is True, must be a number"),
    ({"limit": 0}, ValueError, "limit is 0, must be positive"),
    ({"limit": np.nan}, ValueError, "limit is nan"),
    ({"limit": [3]}, TypeError, r"limit is \[3\], must be a number"),
    ({"payload": MASK.astype("i4")}, ValueError, "payload needs a sampled input"),
    ({"out": np.zeros((3, 4), "f4")[:, :3]}, ValueError, r"shape\[1\] = 3, the problem says 4"),
    ({"out": np.zeros((3, 4), "f8"), "want": {"distance": "f8"}}, None, ""),
    ({"out": np.zeros((3, 4), "f4"), "want": {"distance": float}}, ValueError,
     "out distance has dtype float32, but float64 is wanted"),
    ({"out": [1, 2]}, TypeError, "must be an array to write into, is list"),
    ({"out": np.broadcast_to(np.float32(0), (3, 4))}, ValueError, "read-only"),
    ({"out": {"index": np.zeros((3, 4), "i4")}}, ValueError, "out has index, which is not wanted"),
    ({"out": {"coords": np.zeros((3, 3, 4), "i4")}, "want": "coords"}, ValueError,
     r"coords has shape \(3, 3, 4\), must be \(2, 3, 4\)"),
    ({"out": np.zeros((3, 4), "f4"), "want": ("distance", "index")}, ValueError, "2 outputs are wanted"),
    ({"device": "gpu"}, ValueError, "device is 'gpu', must be 'cpu', 'cuda', 'cuda:N', or several GPUs"),
    ({"device": "cuda:x"}, ValueError, "device is 'cuda:x'"),
    ({"threads": 0}, ValueError, "threads is 0, must be 1 to 1024"),
    ({"threads": 1025}, ValueError, "threads is 1025"),
    ({"threads": 1.5}, TypeError, "threads is 1.5, must be an integer"),
    ({"threads": 1 << 70}, ValueError, "threads is 1180591620717411303424, must be 1 to 1024"),
    ({"method": "x"}, ValueError, "options.method is 'x'"),
    ({"method": "lz/cpu", "want": "index"}, NotImplementedError, "method lz/cpu"),
    ({"method": 5}, TypeError, "method is 5, must be a name"),
    ({"params": {"x": 1}}, ValueError, "no parameter 'x'"),
    ({"params": [1]}, TypeError, "params is"),
    ({"method": "erosion/cpu", "params": {"kernel": 1.5}}, TypeError, r"params\['kernel'\] is 1.5, must be an integer"),
    ({"method": "erosion/cpu", "params": {"kernel": 1 << 64}}, ValueError, r"params\['kernel'\] is 18446744073709551616"),
    ({"esf": 3, "want": "strength"}, TypeError, "esf is 3, must be a mapping of rho, steps, dt, tolerance"),
    ({"esf": {"rh": 1}, "want": "strength"}, ValueError, "a key of esf is 'rh', must be one of rho"),
    ({"esf": {"rho": None}, "want": "strength"}, ValueError, "esf has no 'rho'"),
    ({"cvt": {"points": 2.5}, "want": "sites"}, TypeError, "points is 2.5, must be an integer"),
    ({"method": "erosion/cpu", "params": {"kernel": "x"}}, ValueError, "'x' is no value of kernel"),
])
def test_refused(options, error, text):
    if error is None:
        call(**options)
        return
    with pytest.raises(error, match=text) as raised:
        call(**options)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("array, error, text", [
    (np.ones((1,) * 8 + (2,)), ValueError, "the array has 9 axes, must have 1 to 8"),
    (np.ones((1, 1, 1, 1, 2)), ValueError, "problem.axes measures 5 axes, must be 4 at most: the others are batches"),
    (np.ones(3, np.longdouble), TypeError, "dtype longdouble|dtype float128"),
    (np.ones(3, complex), TypeError, "dtype complex128"),
    (["a"], TypeError, "its elements are no numbers"),
    (None, TypeError, "is a NoneType, which is no array"),
])
def test_refused_inputs(array, error, text):
    with pytest.raises(error, match=text):
        distmap.edt(array)


def test_overlapping_arrays():
    both = np.zeros(12, np.float32)
    with pytest.raises(ValueError, match="overlap"):
        distmap.edt(both[:8], out=both[4:])


def test_samples_out_of_range():
    with pytest.raises(ValueError, match="negative"):
        distmap.transform(np.array([1.0, -1.0]), kind="sampled")


def test_signed_refuses():
    with pytest.raises(ValueError, match="no two sides"):
        distmap.edt(MASK, signed=True, labels=True)
    for options in ({"sign": "up"}, {"surface": "outer"}, {"surface": "half"},
                    {"sign": "inside", "want": {"squared": "uint32"}}, {"sign": "inside", "metric": "chessboard"}):
        with pytest.raises(ValueError, match="sign|surface"):
            distmap.transform(MASK, **options)


@pytest.mark.skipif(Path("/proc/sys/vm/overcommit_memory").read_text().strip() == "1",
                    reason="the system promises any memory")
def test_no_memory():
    """An allocation that fails is a MemoryError: scratch of 2^46 elements."""
    with pytest.raises(MemoryError, match="cannot allocate"):
        distmap.Plan((1 << 23, 1 << 23), np.uint8, {"distance": np.float32})


def test_chamfer_weights_by_name():
    for name in ("euclidean", "chamfer", "x"):
        with pytest.raises(ValueError, match=f"weights is '{name}', must be one of cityblock, chessboard"):
            distmap.chamfer(MASK, name)
