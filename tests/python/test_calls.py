"""Calls that come again: found by their signature, with the results of the first."""

import functools
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import distmap
import numpy as np
import pytest
from distmap import _transform
from distmap._library import core
from hypothesis import strategies as st
from oracle import DTYPES, SEED, drawn, shapes, values


@pytest.fixture
def firsts():
    """The calls that went through Python."""
    told = []

    def prepare(maker, progress, input, out, *options):
        told.append((maker, options))
        return _transform.prepare(maker, progress, input, out, *options)
    core.start(prepare)
    yield told
    core.start(_transform.prepare)


def in_a_new_thread(test):
    """Which knows no calls yet."""
    @functools.wraps(test)
    def run(firsts):
        with ThreadPoolExecutor(1) as pool:
            pool.submit(test, firsts).result()
    return run


CALLS = [
    lambda a, **how: distmap.edt(a, **how),
    lambda a, **how: distmap.edt(a, [1.5] * a.ndim, indices=True, limit=3, **how),
    lambda a, **how: distmap.edt(a, 2, (0, 1), squared=True, border=True, dtype=np.float64, **how),
    lambda a, **how: distmap.edt(a, axes=(0,), signed=True, surface="half", **how),
    lambda a, **how: distmap.signed_distance(a, np.float32(0.7), sites=0.0, **how),
    lambda a, **how: distmap.feature_transform(a, distances=True, **how),
    lambda a, **how: distmap.chamfer(a, **how),
    lambda a, **how: distmap.chamfer(a, "cityblock", dtype=np.dtype("float32"), **how),
    lambda a, **how: distmap.esf(a, 2.5, steps=2, **how),
    lambda a, **how: distmap.dilate(a, 1.5, **how),
]


@drawn(60, shape=shapes(most=120, least=1), dtype=st.sampled_from(DTYPES), call=st.sampled_from(CALLS), seed=st.integers(0, 2**32 - 1))
def test_again(shape, dtype, call, seed):
    """Bits, types and orders in memory are those of the first call; so is `out`."""
    rng = np.random.default_rng(seed)
    array = np.transpose(values(shape, dtype, rng), rng.permutation(len(shape)))[..., ::rng.choice([1, -1])]
    if array.ndim == 4 and call in (CALLS[6], CALLS[8]):  # weights and edge strengths have up to three axes
        return
    first, again = call(array), call(array)
    for a, b in zip(pair(first), pair(again)):
        assert a is not b and a.dtype == b.dtype and steps(a) == steps(b) and np.array_equal(a, b, equal_nan=True)
    out = np.zeros_like(pair(first)[0])
    for _ in range(2):
        out[...] = 0
        assert pair(call(array, out=out))[0] is out and np.array_equal(out, pair(first)[0], equal_nan=True)


def steps(array):
    """Strides of axes that have any."""
    return [step for n, step in zip(array.shape, array.strides) if n > 1]


def pair(result):
    return result if isinstance(result, tuple) else (result,)


@in_a_new_thread
def test_what_is_alike(firsts):
    """Options by type and value, arrays by type and number of axes; their shapes and strides are new to the plan alone."""
    mask = values((11, 13), np.uint8, np.random.default_rng(SEED))
    times = 0
    for is_new, array, how in (
            (True, mask, {}), (True, mask, {"sites": 1}), (True, mask, {"sites": 1.0}), (True, mask, {"sampling": [1, 2]}),
            (True, mask, {"sampling": (1, 2)}), (True, mask, {"sampling": [1.0, 2]}), (False, mask.T, {}), (True, mask.astype(np.int8), {}),
            (True, mask, {"dtype": "float64"}), (True, mask, {"dtype": np.float64}), (True, mask, {"limit": 2.5}),
            (False, mask[:, :5].copy(), {}), (False, mask[:, :5], {}), (False, mask[::-1, :5], {"limit": 2.5}), (True, mask[0], {}),
            (False, np.broadcast_to(mask[0], (3, 13)), {}), (True, mask, {"out": np.empty((11, 13), np.float32)}),
            (False, mask, {"out": np.empty((13, 11), np.float32).T}), (False, mask.T, {"out": np.empty((13, 11), np.float32)})):
        want = distmap.transform(array, spacing=how.get("sampling"), sites=how.get("sites", "zero"), limit=how.get("limit"),
                                 want={"distance": how.get("dtype", "float32")}).distance
        times += is_new
        for _ in range(3):
            got = distmap.edt(array, **how)
            assert np.array_equal(got, want) and ("out" in how or got.strides == want.strides)
        assert len(firsts) == times, how
        times = len(firsts)
    column = np.broadcast_to(mask[:, :1], (11, 4))  # whose order NumPy sees otherwise: each call is Python's
    for _ in range(3):
        assert distmap.edt(column).strides == distmap.transform(column).distance.strides
    for wrong in (True, np.True_):  # which equal 1
        with pytest.raises(TypeError, match="must be a number"):
            distmap.edt(mask, sites=wrong)


def test_lists_may_change():
    mask, pitches = np.ones((5, 6), np.uint8), [2, 1]
    mask[0, 0] = 0
    for _ in range(3):
        assert distmap.edt(mask, pitches)[4, 0] == 8
    pitches[0] = 3
    assert distmap.edt(mask, pitches)[4, 0] == 12
    itself = [1]
    itself.append(itself)
    with pytest.raises(TypeError, match=r"spacing\[1\]"):
        distmap.edt(mask, itself)


def test_wrong_arrays_of_a_known_call():
    mask, out = np.ones((9, 9), np.uint8), np.empty((9, 9), np.float32)
    for _ in range(2):
        distmap.edt(mask, out=out)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        distmap.edt(mask, out=out)
    memory = np.zeros(9 * 9 * 5, np.uint8)
    with pytest.raises(ValueError, match="overlap"):
        distmap.edt(memory[:81].reshape(9, 9), out=memory[4:4 + 9 * 9 * 4].view(np.float32).reshape(9, 9))
    with pytest.raises(TypeError, match="masked"):
        distmap.edt(np.ma.masked_array(mask, mask > 3), signed=True)


def test_progress_of_a_known_call():
    """May end it, and may call what it is called by."""
    mask = np.ones((500, 600), np.uint8)
    mask[3, ::7] = 0
    want = distmap.edt(mask, threads=1)
    told = []

    def progress(share):
        told.append(np.array_equal(distmap.edt(mask, threads=1), want))
    assert np.array_equal(distmap.edt(mask, threads=1, progress=progress), want)
    assert told and all(told)
    with pytest.raises(RuntimeError, match="cancelled"):
        distmap.edt(mask, threads=1, progress=lambda share: True)
    with pytest.raises(ZeroDivisionError):
        distmap.edt(mask, threads=1, progress=lambda share: 1 / 0)
    assert np.array_equal(distmap.edt(mask, threads=1), want)


@in_a_new_thread
def test_widths_go_by_the_shape(firsts):
    """Squared distances without a type: its width is that which the largest possible one needs."""
    for shape, dtype in (((3, 4), np.uint32), ((70000, 2), np.uint64), ((3, 4), np.uint32)):
        for _ in range(2):
            assert distmap.edt(np.zeros(shape, bool), squared=True).dtype == dtype
    assert len(firsts) == 2


@in_a_new_thread
def test_memory_is_bounded(firsts):
    """A thread's calls that were not used for longest are forgotten; another thread has its own."""
    most = 0
    for n in range(1, 4000):
        distmap.edt(np.ones((n, 3), np.uint8), method="envelope/cpu", threads=1)
        count, size = core.kept()
        assert count <= 1024 and size <= 16 << 20
        most = max(most, count)
    assert most > 200 and len(firsts) < 50
    large = np.ones((3, 600, 600), np.uint8)
    before = core.kept()
    for _ in range(3):  # of much scratch, which is given back each time
        distmap.edt(large, method="envelope/cpu", threads=1, squared=True, dtype="float64")
    assert core.kept()[1] - before[1] < 1 << 16
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(core.kept).result() == (0, 0)


INTERRUPTED = """
import distmap, numpy as np, os, signal, sys, threading, time
mask = np.ones((900, 900), np.uint8)
mask[::2] = 0
small = np.ones((4, 5), np.uint8)
told = []
def handler(*_):
    told.append(time.monotonic())
    distmap.edt(small)  # on the thread, and amid the execution, that was interrupted
    raise KeyboardInterrupt
distmap.edt(small)
signal.signal(signal.SIGINT, handler)
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
sent = time.monotonic() + 0.3
try:
    if sys.argv[1] == "many":
        distmap.edt_many([small, mask], method="brute/cpu", threads=2)
    distmap.edt(mask, method="brute/cpu", threads=int(sys.argv[1]))
except KeyboardInterrupt:
    print(told[0] - sent, time.monotonic() - sent)
    assert distmap.edt(small).shape == (4, 5)
"""


@pytest.mark.parametrize("threads", ["1", "2", "many"])
def test_ctrl_c(threads):
    """Acts while the call goes on, which would take many seconds, within 0.1 s on a machine that is not busy."""
    done = subprocess.run([sys.executable, "-c", INTERRUPTED, threads], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and not done.stderr, done
    assert all(float(text) < 2 for text in done.stdout.split()), done.stdout
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
