"""Arrays in a GPU's memory: without a copy, on their library's current stream, results in their library. On the
emulation in `make test`; on a real GPU with CuPy or PyTorch by running this file with pytest there."""

import sys

import distmap
import distmap.scipy
import gpu_arrays
import numpy as np
import pytest
from distmap import _kept
from gpu_arrays import EMULATED, Stream
from hypothesis import strategies as st
from oracle import DTYPES, SEED, drawn, nearest, shapes, values

if len(distmap.devices()) < 2:
    pytest.skip("there is no GPU, and this library is not the emulation", allow_module_level=True)
MAKERS = gpu_arrays.makers()
EXAMPLES = 20 if EMULATED else 200


def small(shape=(5, 7), dtype=np.uint8):
    return values(shape, dtype, np.random.default_rng(SEED))


@pytest.mark.parametrize("name", MAKERS)
def test_drawn(name):
    maker = MAKERS[name]

    @drawn(EXAMPLES, shape=shapes(most=120, least=1), dtype=st.sampled_from(DTYPES), turned=st.booleans(),
           seed=st.integers(0, 2**32 - 1))
    def check(shape, dtype, turned, seed):
        rng = np.random.default_rng(seed)
        host = values(shape, dtype, rng)
        try:
            array = maker.from_numpy(host)
        except TypeError:  # a dtype that this PyTorch lacks
            return
        if turned:
            host, array = host.T, transposed(array)
        spacing = rng.integers(1, 4, host.ndim).tolist()
        squared, index = nearest(host == 0, spacing)
        distance, at = distmap.edt(array, spacing, indices=True)
        assert type(distance) is type(at) is type(array)
        assert np.array_equal(maker.to_numpy(distance), np.sqrt(squared.astype(np.float32)))
        assert np.array_equal(maker.to_numpy(at), index)
    check()


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0,), (2, 0, 3)])
def test_without_elements(name, shape):
    maker = MAKERS[name]
    distance, index = distmap.edt(maker.from_numpy(np.empty(shape, np.uint8)), indices=True)
    assert maker.to_numpy(distance).shape == maker.to_numpy(index).shape == shape


def transposed(array, axes=None):
    axes = tuple(range(len(array.shape)))[::-1] if axes is None else axes
    return array.permute(axes) if hasattr(array, "permute") else array.transpose(axes)


@pytest.mark.parametrize("name", MAKERS)
def test_orders_in_memory(name):
    """Results lie in memory as the array does, but where sites are wanted."""
    maker = MAKERS[name]

    @drawn(EXAMPLES, shape=shapes(most=300, least=1), seed=st.integers(0, 2**32 - 1))
    def check(shape, seed):
        rng = np.random.default_rng(seed)
        host, axes = values(shape, np.uint8, rng), tuple(int(a) for a in rng.permutation(len(shape)))
        array, turned = transposed(maker.from_numpy(host), axes), np.transpose(host, axes)
        got, like = maker.to_numpy(distmap.edt(array)), np.empty_like(turned, np.float32, order="K")
        assert np.array_equal(got, distmap.edt(host).transpose(axes))
        longer = [a for a, n in enumerate(got.shape) if n > 1]
        assert [got.strides[a] for a in longer] == [like.strides[a] for a in longer]
        index = maker.to_numpy(distmap.feature_transform(array))
        assert index.flags.c_contiguous and np.array_equal(index, distmap.feature_transform(turned))
    check()


@pytest.mark.parametrize("name", MAKERS)
def test_drop_in(name):
    maker, host = MAKERS[name], small((6, 5))
    host[0, 0] = 0
    array = maker.from_numpy(host)
    distance, indices = distmap.scipy.distance_transform_edt(array, return_indices=True)
    want, want_indices = distmap.scipy.distance_transform_edt(host, return_indices=True)
    assert np.array_equal(maker.to_numpy(distance), want) and np.array_equal(maker.to_numpy(indices), want_indices)
    out = maker.from_numpy(np.zeros(host.shape, np.float32))
    assert distmap.scipy.distance_transform_edt(maker.from_numpy(host), distances=out, float64_distances=False) is None
    assert np.array_equal(maker.to_numpy(out), distmap.edt(host))


@pytest.mark.parametrize("name", MAKERS)
def test_comparison(name):
    """The same numbers from either memory, and from one mask in each."""
    maker, a = MAKERS[name], small()
    b = np.roll(a, 3, axis=0)
    want = distmap.compare(a, b, tolerance=1)
    assert want.method == "comparison/cpu"
    for masks in ((maker.from_numpy(a), maker.from_numpy(b)), (maker.from_numpy(a), b), (a, b)):
        got = distmap.compare(*masks, tolerance=1, device="cuda")
        assert repr(got) == repr(want._replace(method="comparison/cuda"))  # nan, where a mask is empty, is not itself


@pytest.mark.parametrize("name", MAKERS)
def test_out_and_mixed_spaces(name):
    """Results into arrays of the caller's, on the GPU or in host memory, from either."""
    maker, host = MAKERS[name], small()
    want = distmap.edt(host)
    for source in (host, maker.from_numpy(host)):
        for out in (np.zeros_like(want), maker.from_numpy(np.zeros_like(want))):
            assert distmap.edt(source, out=out, device="cuda") is out
            assert np.array_equal(out if isinstance(out, np.ndarray) else maker.to_numpy(out), want)


def test_host_arrays_by_way_of_the_gpu():
    host = small((9, 8, 7), np.int32)
    got = distmap.transform(host, want=("distance", "index"), device="cuda:0")
    want = distmap.transform(host, want=("distance", "index"), device="cpu")
    assert got.method.endswith("/cuda") and want.method.endswith("/cpu") and got.flags == want.flags
    assert all(np.array_equal(got.arrays[name], want.arrays[name]) for name in want.arrays)


@pytest.mark.skipif(not EMULATED, reason="stand-ins")
@pytest.mark.parametrize("kind", ["InterfaceLike", "DlpackLike"])
def test_protocols(kind):
    maker = getattr(gpu_arrays, kind)
    host = small((4, 6), np.int16)
    array = maker.from_numpy(host)
    row = maker(host.shape[1:], host.dtype, memory=array.memory, offset=2 * host.strides[0])
    for array, want in ((array, host), (array.T, host.T), (row, host[2])):
        out = maker.from_numpy(np.zeros(want.shape, np.float32))
        assert distmap.edt(array, out=out) is out
        assert np.array_equal(out.to_numpy(), distmap.edt(want))
    with pytest.raises(TypeError, match="give one by out="):
        distmap.edt(maker.from_numpy(host))


@pytest.mark.skipif(not EMULATED, reason="stand-ins")
@pytest.mark.parametrize("name", MAKERS)
def test_current_stream(name, monkeypatch):
    """Work goes to the stream that the array's library calls current: one that is none is refused."""
    array = MAKERS[name].from_numpy(small())
    distmap.edt(array)
    none = Stream()
    none.ptr = none.cuda_stream = 0x1230
    monkeypatch.setitem(MAKERS[name].streams, (name, 0), none)
    with pytest.raises(ValueError, match="stream is none of device cuda:0"):
        distmap.edt(array)


@pytest.mark.skipif(not EMULATED, reason="needs two GPUs")
def test_two_gpus(monkeypatch):
    """An array's own GPU computes; arrays on two are refused."""
    if len(distmap.devices()) < 3:
        pytest.skip("the emulation has one GPU here")
    maker, host = MAKERS["cupy"], small()
    array, other = maker.from_numpy(host, 1), maker.from_numpy(np.zeros(host.shape, np.float32), 0)
    got = distmap.edt(array)
    assert got.ordinal == 1 and np.array_equal(got.to_numpy(), distmap.edt(host))
    with pytest.raises(ValueError, match="cuda:0 and cuda:1, must lie on one GPU"):
        distmap.edt(array, out=other)
    with pytest.raises(ValueError, match="device is 'cuda:0', but an array lies on cuda:1"):
        distmap.edt(array, device="cuda:0")


@pytest.mark.skipif(len(distmap.devices()) < 3, reason="needs two GPUs")
def test_several_gpus():
    """GPUs that share an array of the host's give one's bits; arrays in their memory are one's own affair."""
    host = np.random.default_rng(5).random((7, 11, 40)) < 0.97
    for device in ("cuda:0-1", "cuda:1,0"):
        got = distmap.transform(host, want=("distance", "index"), device=device)
        want = distmap.transform(host, want=("distance", "index"))
        assert np.array_equal(got.distance, want.distance) and np.array_equal(got.index, want.index)
        assert (got.flags, got.method) == (want.flags, "minplus/cuda")
    assert distmap.Context("cuda:0-1").device == "cuda:0,1"
    with pytest.raises(NotImplementedError, match="no method accepts this problem"):
        distmap.edt(host, device="cuda:0-1", border=True)
    with pytest.raises(ValueError, match="device is 'cuda:0-1', but an array lies on cuda:0"):
        distmap.edt(next(iter(MAKERS.values())).from_numpy(small()), device="cuda:0-1")
    with pytest.raises(ValueError, match="both 1, GPUs count once"):
        distmap.edt(host, device="cuda:1,1")
    for name in ("cuda:1-0", "cuda:0,", "cuda:0--1", "cpu:0-1"):
        with pytest.raises(ValueError, match=f"device is '{name}', must be"):
            distmap.edt(host, device=name)


@pytest.mark.parametrize("name", MAKERS)
def test_refused(name):
    maker, host = MAKERS[name], small()
    array = maker.from_numpy(host)
    with pytest.raises(ValueError, match="device is 'cpu', but an array lies on cuda:0"):
        distmap.edt(array, device="cpu")
    with pytest.raises(ValueError, match="ordinal is 99"):
        distmap.edt(host, device="cuda:99")
    plan = distmap.Plan(host.shape, host.dtype, {"distance": np.float32})
    with pytest.raises(ValueError, match="lies in a GPU's memory"):
        plan(array, distance=np.empty(host.shape, np.float32))
    if name == "torch" and EMULATED:
        with pytest.raises(TypeError, match="this PyTorch has no dtype uint32"):
            distmap.edt(array, squared=True)


def test_plan_on_the_callers_scratch():
    maker, host = next(iter(MAKERS.values())), small((8, 9))
    context = distmap.Context("cuda")
    assert context.isa.startswith("sm_")
    room = distmap.Plan(host.shape, host.dtype, {"distance": np.float32}, context=context).describe().scratch_bytes
    out = maker.from_numpy(np.zeros(host.shape, np.float32))
    plan = distmap.Plan(host.shape, host.dtype, {"distance": np.float32}, context=context,
                        scratch=maker.from_numpy(np.zeros(room, np.uint8)))
    plan(maker.from_numpy(host), distance=out)
    plan.wait()
    assert plan.flags in (0, distmap.FLAG_NO_SITE)
    for place, scratch in ((context, np.zeros(room, np.uint8)), (None, maker.from_numpy(np.zeros(1 << 20, np.uint8)))):
        with pytest.raises(ValueError, match="scratch must lie in the memory of the context's device"):
            distmap.Plan(host.shape, host.dtype, {"distance": np.float32}, context=place, scratch=scratch)
    assert np.array_equal(maker.to_numpy(out), distmap.edt(host))


@pytest.mark.parametrize("name", MAKERS)
def test_cvt(name):
    """Where the density lies, with the CPU's bits; and by way of the GPU."""
    maker, host = MAKERS[name], np.random.default_rng(5).integers(0, 200, (50, 70)).astype(np.uint8)
    options = {"points": 60, "steps": 5, "omega": 1.4, "labels": True}
    want = distmap.cvt(host, **options, device="cpu")
    there = distmap.cvt(maker.from_numpy(host), **options)
    assert all(np.array_equal(maker.to_numpy(one), other) for one, other in zip(there, want))
    back = distmap.cvt(host, **options, device="cuda")
    assert all(np.array_equal(one, other) for one, other in zip(back, want))


@pytest.mark.parametrize("name", MAKERS)
def test_calls_that_come_again(name):
    """By their signature: other values, outputs, orders in memory and options of equal value."""
    maker, rng = MAKERS[name], np.random.default_rng(SEED)
    for _ in range(3):
        for shape in ((7, 9), (9, 7), (4, 5, 6)):
            host = (rng.random(shape) < 0.9).astype(np.uint8)
            for host, array in ((host, maker.from_numpy(host)), (host.T, transposed(maker.from_numpy(host)))):
                for options in ({}, {"sampling": 1}, {"sampling": 2}, {"sampling": 2.0, "limit": 3}, {"squared": True}, {"indices": True},
                                {"sampling": [1, 2] + [3] * (host.ndim - 2)}, {"border": 1}):
                    if options.get("squared") and name == "torch" and not hasattr(sys.modules["torch"], "uint32"):
                        continue
                    got, want = distmap.edt(array, **options), distmap.edt(host, **options)
                    pairs = zip(got, want) if options.get("indices") else [(got, want)]
                    assert all(np.array_equal(maker.to_numpy(one), other) for one, other in pairs), options
                out = maker.from_numpy(np.zeros(host.shape, np.float32))
                assert distmap.edt(array, out=out) is out and np.array_equal(maker.to_numpy(out), distmap.edt(host))
    with pytest.raises(TypeError, match="must be a number"):
        distmap.edt(array, sampling=True)


@pytest.mark.parametrize("name", MAKERS)
def test_kept_calls_are_few(name):
    """Their number and their scratch are bounded."""
    maker = MAKERS[name]
    for n in range(1, 150):
        distmap.edt(maker.from_numpy(np.ones((2, n), np.uint8)))
    calls = _kept.kept.calls
    assert 0 < len(calls) <= _kept.MOST_CALLS and sum(call.bytes for call in calls.values()) == _kept.kept.bytes <= _kept.MOST_BYTES
