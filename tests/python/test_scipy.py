"""The drop-in against SciPy itself: drawn arrays, real pictures, and SciPy's own tests (scipy_own.py runs them)."""

from pathlib import Path

import distmap.scipy as ours
import numpy as np
import pytest
from hypothesis import strategies as st
from oracle import DTYPES, drawn, shapes, strided, values

theirs = pytest.importorskip("scipy.ndimage")
DATA = Path(__file__).resolve().parents[2] / "data"


def lengths(shape, indices, sampling, metric="euclidean"):
    """Of the way from every element to the one at those coordinates."""
    offsets = np.abs(indices - np.indices(shape)) * np.reshape(sampling, (-1,) + (1,) * len(shape))
    return {"euclidean": lambda: np.sqrt((offsets.astype(float)**2).sum(axis=0)),
            "taxicab": lambda: offsets.sum(axis=0),
            "chessboard": lambda: offsets.max(axis=0)}[metric]()


@drawn(200, shape=shapes(axes=3, least=1), dtype=st.sampled_from(DTYPES), seed=st.integers(0, 2**32 - 1))
def test_edt(shape, dtype, seed):
    """Distances as SciPy's; indices of zeros as near; and SciPy's own indices, whose ties go by the last axis first."""
    rng = np.random.default_rng(seed)
    array = strided(values(shape, dtype, rng), rng)
    array[(0,) * array.ndim] = 0  # without a zero SciPy's results mean nothing
    sampling = rng.integers(1, 4, array.ndim).tolist()
    want, want_indices = theirs.distance_transform_edt(array, sampling, return_indices=True)
    got, indices = ours.distance_transform_edt(array, sampling, return_indices=True)
    assert got.dtype == want.dtype and indices.dtype == want_indices.dtype
    assert np.array_equal(got, want)
    assert not array[tuple(indices)].any() and np.array_equal(lengths(shape, indices, sampling), want)
    turned = ours.distance_transform_edt(array.T, sampling[::-1], return_distances=False, return_indices=True)
    assert np.array_equal(want_indices, [plane.T for plane in turned[::-1]])


@drawn(100, shape=shapes(axes=3, least=1), seed=st.integers(0, 2**32 - 1),
       metric=st.sampled_from(("euclidean", "Taxicab", "chessboard")))
def test_bf(shape, seed, metric):
    """Equal in every bit, indices too."""
    array = values(shape, np.uint8, np.random.default_rng(seed))
    array[(0,) * array.ndim] = 0
    for want, got in zip(theirs.distance_transform_bf(array, metric, return_indices=True),
                         ours.distance_transform_bf(array, metric, return_indices=True)):
        assert got.dtype == want.dtype and np.array_equal(got, want)


# SciPy reads structures byte by byte: those of other types than bool mean something else to it (docs/scipy.md).
STRUCTURES = [[[0, 1, 0], [1, 1, 1], [0, 1, 0]], np.ones((3, 3)), [[0, 0, 0], [2, 0, 1], [0, 0, 0]], [[0, 1, 0]] * 3,
              [[1, 0, 1], [0, 1, 0], [1, 0, 1]], [[1, 1, 1], [1, 0, 0], [0, 0, 0]], [[0, 0, 0], [0, 1, 1], [0, 1, 1]]]


@drawn(150, shape=shapes(axes=3, least=1), seed=st.integers(0, 2**32 - 1),
       metric=st.sampled_from(("taxicab", "chessboard")),
       structure=st.sampled_from([None, *range(len(STRUCTURES))]))
def test_cdt(shape, seed, metric, structure):
    array = values(shape, np.uint8, np.random.default_rng(seed))
    given = metric if structure is None or array.ndim != 2 else np.array(STRUCTURES[structure], bool)
    want = theirs.distance_transform_cdt(array, given)
    got, indices = ours.distance_transform_cdt(array, given, return_indices=True)
    assert got.dtype == want.dtype and np.array_equal(got, want)
    if given is metric and not array.all():
        assert not array[tuple(indices)].any() and np.array_equal(lengths(shape, indices, [1] * len(shape), metric),
                                                                  want)


def test_without_a_zero():
    ones = np.ones((2, 3))
    distance, indices = ours.distance_transform_edt(ones, return_indices=True)
    assert np.isinf(distance).all() and (indices == -1).all()
    distance, indices = ours.distance_transform_bf(ones, return_indices=True)
    assert np.isinf(distance).all() and (indices == -1).all()
    assert (ours.distance_transform_bf(ones, "taxicab") == 2**32 - 1).all()
    distance, indices = ours.distance_transform_cdt(ones, return_indices=True)
    assert (distance == -1).all() and (indices == -1).all()


def test_what_is_returned():
    """Every combination of what is asked for and given, as SciPy returns it."""
    array = np.array([[0, 1, 1], [1, 1, 0]])
    for name, kind in (("edt", float), ("cdt", np.int32), ("bf", float)):
        for distances in (False, True):
            for indices in (False, True):
                for give in range(4):
                    results = []
                    for module in (theirs, ours):
                        out = {}
                        if give & 1:
                            out["distances"] = np.zeros(array.shape, kind)
                        if give & 2:
                            out["indices"] = np.zeros((2, *array.shape), np.int32)
                        try:
                            back = getattr(module, f"distance_transform_{name}")(array, return_distances=distances,
                                                                                 return_indices=indices, **out)
                            back = back if isinstance(back, tuple) else (back,)
                            results.append(([np.shape(part) for part in back], [np.result_type(part) for part in back if
                                            part is not None], out.get("distances")))
                        except (RuntimeError, ValueError) as error:
                            results.append(str(error))
                    assert repr(results[0]) == repr(results[1]), (name, distances, indices, give)


@pytest.mark.parametrize("call", [
    lambda m, a: m.distance_transform_edt(a, sampling=[1, 2, 3]),
    lambda m, a: m.distance_transform_edt(a, distances=np.zeros((3, 3))),
    lambda m, a: m.distance_transform_edt(a, distances=np.zeros(a.shape, np.float32)),
    lambda m, a: m.distance_transform_edt(a, return_indices=True, indices=np.zeros(a.shape, np.int32)),
    lambda m, a: m.distance_transform_edt(a, return_indices=True, indices=np.zeros((2, *a.shape), np.int64)),
    lambda m, a: m.distance_transform_cdt(a, np.ones((3, 2))),
    lambda m, a: m.distance_transform_cdt(a, distances=np.zeros(a.shape)),
    lambda m, a: m.distance_transform_bf(a, "manhattan", distances=np.zeros(a.shape)),
    lambda m, a: m.distance_transform_bf(a, "nothing"),
])
def test_errors_are_scipys(call):
    array = np.array([[0, 1, 1], [1, 1, 0]])
    with pytest.raises((RuntimeError, ValueError)) as raised:
        call(theirs, array)
    with pytest.raises(raised.type):
        call(ours, array)


def test_arguments_of_cupy():
    array = np.array([0, 1, 1])
    got = ours.distance_transform_edt(array, block_params=(1, 1, 2), float64_distances=False)
    assert got.dtype == np.float32 and got.tolist() == [0, 1, 2]


def test_input_written_over():
    """SciPy copies first, so the output may be the input."""
    array = np.array([0.0, 1, 1])
    assert ours.distance_transform_edt(array, distances=array) is None and array.tolist() == [0, 1, 2]


def test_scalars_and_odd_types():
    assert ours.distance_transform_edt(False).tolist() == theirs.distance_transform_edt(False).tolist() == [0]
    for array in (np.array([None, 3, "x"], object), np.array([0, 1j, 2]), np.array([0, 1, 2], np.float16)):
        assert ours.distance_transform_edt(array).tolist() == theirs.distance_transform_edt(array).tolist() == [0, 1, 2]


def test_real_pictures():
    """A silhouette, coins and a volume of the brain, by the readers of the command."""
    for array, sampling in pictures():
        want, indices = theirs.distance_transform_edt(array, sampling, return_indices=True)
        assert np.array_equal(ours.distance_transform_edt(array, sampling), want)
        got, mine = ours.distance_transform_edt(array, sampling, return_indices=True)
        assert np.array_equal(got, want) and not array[tuple(mine)].any()
        assert np.array_equal(lengths(array.shape, mine, sampling), lengths(array.shape, indices, sampling))
        assert np.array_equal(ours.distance_transform_cdt(array, "taxicab"),
                              theirs.distance_transform_cdt(array, "taxicab"))


def pictures():
    image = pytest.importorskip("PIL.Image")
    yield np.asarray(image.open(DATA / "horse.png").convert("L")) < 128, (1, 1)
    yield np.asarray(image.open(DATA / "coins.png").convert("L")) >= 120, (2, 1)
    import gzip
    raw = gzip.decompress((DATA / "mni152_gray_matter.nii.gz").read_bytes())
    shape = np.frombuffer(raw, "<i2", 3, 42)[::-1]
    assert np.frombuffer(raw, "<i2", 1, 70) == 2  # uint8
    start = int(np.frombuffer(raw, "<f4", 1, 108)[0])
    volume = np.frombuffer(raw, np.uint8, int(np.prod(shape.astype(int))), start).reshape(shape)
    yield volume[::2] >= 128, (2, 1, 1)


def test_one_pitch_as_an_array():
    array = np.array([[0, 1, 1], [1, 1, 1]])
    assert np.array_equal(ours.distance_transform_edt(array, np.array(2.0)), theirs.distance_transform_edt(array, 2.0))


@drawn(150, shape=shapes(most=3000, least=1), seed=st.integers(0, 2**32), sampling=st.sampled_from([None, 1, 2, "each"]))
def test_ties(shape, seed, sampling):
    """SciPy's, to the coordinate."""
    rng = np.random.default_rng(seed)
    mask = strided(rng.random(shape) < rng.choice([0.3, 0.8, 0.97]), rng)
    mask.flat[rng.integers(mask.size)] = False
    sampling = [int(w) for w in rng.integers(1, 4, len(shape))] if sampling == "each" else sampling
    want = theirs.distance_transform_edt(mask, sampling, return_indices=True)
    got = ours.distance_transform_edt(mask, sampling, return_indices=True, ties="scipy")
    assert np.array_equal(got[0], want[0]) and np.array_equal(got[1], want[1]) and got[1].dtype == np.int32
    distances, indices = np.zeros(shape), np.zeros((len(shape), *shape), np.int32)
    assert ours.distance_transform_edt(mask, sampling, return_indices=True, distances=distances, indices=indices,
                                                ties="scipy") is None
    assert np.array_equal(distances, want[0]) and np.array_equal(indices, want[1])
    assert np.array_equal(ours.distance_transform_edt(mask, sampling, False, True, ties="scipy"), want[1])


def test_ties_refused():
    with pytest.raises(ValueError, match="ties is 'highest', must be None or 'scipy'"):
        ours.distance_transform_edt([0, 1], return_indices=True, ties="highest")
