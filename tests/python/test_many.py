"""edt_many(): what edt() gives of each array."""

import threading

import distmap
import numpy as np
import pytest
from hypothesis import strategies as st
from oracle import DTYPES, SEED, drawn, shapes, values

RNG = np.random.default_rng(SEED)
CROPS = [values((int(RNG.integers(1, 40)), int(RNG.integers(1, 40))), np.uint8, RNG) for _ in range(200)]
OPTIONS = [{}, {"sampling": (2, 1.5), "indices": True}, {"squared": True, "limit": 4}, {"signed": True, "surface": "half"},
           {"sites": "nonzero", "border": True}, {"axes": 0, "dtype": "float64", "method": "envelope/cpu"}, {"threads": 1}]


def pairs(result):
    return zip(*result) if isinstance(result, tuple) else zip(result)


def steps(array):
    return [step for n, step in zip(array.shape, array.strides) if n > 1]


@pytest.mark.parametrize("options", OPTIONS)
def test_crops(options):
    for got, crop in zip(pairs(distmap.edt_many(CROPS, **options)), CROPS):
        want = distmap.edt(crop, **options)
        for a, b in zip(got, want if isinstance(want, tuple) else (want,)):
            assert np.array_equal(a, b) and a.dtype == b.dtype


@drawn(30, drawn_shapes=st.lists(shapes(most=60, least=2), min_size=1, max_size=5), seed=st.integers(0, 2**32 - 1))
def test_any_types_and_orders(drawn_shapes, seed):
    rng = np.random.default_rng(seed)
    ndim = len(drawn_shapes[0])
    arrays = []
    for shape in drawn_shapes:
        if len(shape) == ndim:
            array = values(shape, rng.choice(DTYPES), rng).transpose(rng.permutation(ndim))[::rng.choice([-1, 1])]
            arrays.append(array.astype(array.dtype.newbyteorder()) if rng.random() < 0.2 else array)
    out = [np.zeros(array.shape, np.float32) for array in arrays]
    assert all(a is b for a, b in zip(distmap.edt_many(arrays, out=out), out))
    for array, given, new in zip(arrays, out, distmap.edt_many(tuple(arrays))):
        want = distmap.edt(array)
        assert np.array_equal(given, want) and np.array_equal(new, want) and steps(new) == steps(want)


def test_none_and_lists():
    assert distmap.edt_many([]) == [] and distmap.edt_many([], indices=True) == ([], [])
    assert [d.tolist() for d in distmap.edt_many([[1, 0], [0, 1, 1]])] == [[1, 0], [0, 1, 2]]


def test_progress():
    told = []

    def progress(share):  # may call it again, on contexts of its own
        told.append(share)
        assert len(distmap.edt_many(CROPS[:3])) == 3
    distmap.edt_many(CROPS, threads=1, progress=progress)
    assert told and told == sorted(told) and 0 < told[0] and told[-1] <= 1
    with pytest.raises(RuntimeError, match="cancelled by the progress callback"):
        distmap.edt_many(CROPS, threads=1, progress=lambda share: True)
    with pytest.raises(ZeroDivisionError):
        distmap.edt_many(CROPS, threads=1, progress=lambda share: 1 / 0)


def test_from_many_threads():
    wrong = []

    def run():
        for _ in range(5):
            wrong.extend(not np.array_equal(a, b) for a, b in zip(distmap.edt_many(CROPS, threads=2), want))
    want = distmap.edt_many(CROPS)
    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong and not any(wrong)


def test_refused():
    masks = [np.ones((3, 4), np.uint8), np.ones((5, 4), np.uint8)]
    read_only = np.zeros((5, 4), np.float32)
    read_only.flags.writeable = False
    for arguments, error, text in (
            ((3,), TypeError, "masks is 3, must be a sequence of arrays"),
            (([masks[0], np.ones(3)],), ValueError, "the masks have 1 and 2 axes"),
            (([masks[0], np.ones((3, 3), complex)],), TypeError, "number 1 of the masks has dtype complex128"),
            (([masks[0], "x"],), TypeError, "number 1 of the masks is a str"),
            ((masks, [1]), ValueError, "spacing has 1 values")):
        with pytest.raises(error, match=text):
            distmap.edt_many(*arguments)
    for out, error, text in (
            ([np.zeros((3, 4), np.float32)], ValueError, "out has 1 arrays, there are 2 masks"),
            ([np.zeros((3, 4), np.float32), read_only], ValueError, "number 1 of out is read-only"),
            ([np.zeros((3, 4), np.float32), np.zeros((4, 5), np.float32)], ValueError, "array 1: .*shape"),
            ([np.zeros((3, 4), np.float32), np.zeros((5, 4))], ValueError, "array 1: .*dtype")):
        with pytest.raises(error, match=text):
            distmap.edt_many(masks, out=out)
    with pytest.raises(NotImplementedError, match="array [01]: "):
        distmap.edt_many(masks, method="psds/cpu", border=True)
