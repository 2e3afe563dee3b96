"""Calls that come again: found by their signature, with the results of the first."""

import signal
import subprocess
import sys
import threading

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
    if array.ndim == 4 and call in CALLS[8:9]:  # edge strengths have up to three axes
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


def test_what_is_alike(firsts):
    """Options by type and value, arrays by type, shape and strides."""
    mask = values((11, 13), np.uint8, np.random.default_rng(SEED))
    for times, (array, how) in enumerate((
            (mask, {}), (mask, {"sites": 1}), (mask, {"sites": 1.0}), (mask, {"sampling": [1, 2]}), (mask, {"sampling": (1, 2)}),
            (mask, {"sampling": [1.0, 2]}), (mask.T, {}), (mask.astype(np.int8), {}), (mask, {"dtype": "float64"}),
            (mask, {"dtype": np.float64}), (mask, {"limit": 2.5}), (mask[:, :5].copy(), {}), (mask[:, :5], {}),
            (mask, {"out": np.empty((11, 13), np.float32)}), (mask, {"out": np.empty((13, 11), np.float32).T})), 1):
        want = distmap.transform(array, spacing=how.get("sampling"), sites=how.get("sites", "zero"), limit=how.get("limit"),
                                 want={"distance": how.get("dtype", "float32")}).distance
        for _ in range(3):
            assert np.array_equal(distmap.edt(array, **how), want)
        assert len(firsts) == times, how
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
        distmap.edt(np.ma.masked_array(mask, mask > 3))


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


def test_memory_is_bounded(firsts):
    """Of a thread's calls those not used for longest are forgotten; another thread has its own."""
    for n in range(1, 2000):
        distmap.edt(np.ones(n, np.uint8))
    before = len(firsts)
    distmap.edt(np.ones(1999, np.uint8))
    assert len(firsts) == before
    for n in range(1, 2000):
        distmap.edt(np.ones(n, np.uint8))
    assert len(firsts) - before > 900
    thread = threading.Thread(target=distmap.edt, args=(np.ones(1999, np.uint8),))
    before = len(firsts)
    thread.start()
    thread.join()
    assert len(firsts) == before + 1


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
