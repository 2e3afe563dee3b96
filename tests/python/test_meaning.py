"""The meaning of arrays: signs, objects that are not arrays, elements without a distance."""

import array
import pathlib

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


class WithArray:
    def __array__(self, dtype=None, copy=None):
        return np.array([1, 0, 1], np.uint8)


class WithInterface:
    def __init__(self):
        self.kept = np.array([1, 0, 1], np.uint8)
        self.__array_interface__ = self.kept.__array_interface__


class WithDlpack:
    def __init__(self):
        self.kept = np.array([1, 0, 1], np.uint8)

    def __dlpack__(self, **options):
        return self.kept.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.kept.__dlpack_device__()


@pytest.mark.parametrize("array", [
    [1, 0, 1], (1, 0, 1), [True, False, True], [1.0, 0, 1], [np.uint8(1), 0, 1], array.array("B", (1, 0, 1)), bytearray(b"\1\0\1"),
    memoryview(b"\1\0\1"), WithArray(), WithInterface(), WithDlpack()], ids=lambda array: type(array).__name__)
def test_arrays_are_taken(array):
    assert distmap.edt(array).tolist() == [1, 0, 1]


class FakeItk:
    """As SimpleITK's images are: a length, and elements by number, but no buffer."""
    __module__ = "SimpleITK.SimpleITK"

    def __len__(self):
        return 3

    def __getitem__(self, at):
        if not 0 <= at < 3:
            raise IndexError
        return at


Fake = type("Image", (FakeItk,), {"__module__": "SimpleITK.SimpleITK"})
FakeNifti = type("Nifti1Image", (), {"__module__": "nibabel.nifti1"})


@pytest.mark.parametrize("given, text", [
    (Fake(), r"the input is a Image, which is no array: give SimpleITK.GetArrayFromImage\(image\), and sampling="),
    (FakeNifti(), r"give numpy.asarray\(image.dataobj\), and sampling=image.header.get_zooms\(\)"),
    (distmap.Image(np.ones(3)), "give image.array, and sampling=image.pitches"),
    ("mask.png", r"the input is a str, which is no array: give distmap.imread\(path\).array"),
    (pathlib.Path("mask.png"), r"give distmap.imread\(path\).array"),
    (None, "is a NoneType, which is no array: arrays have a buffer"), (1, "is a int"), ({1, 0}, "is a set"),
    ({0: 1}, "is a dict"), (range(3), "is a range"), (iter([1, 0]), "no array"), (["a", "b"], "is a list, .*its elements are no numbers"),
    ([1, None], "its elements are no numbers"), ([Fake()], "its elements are no numbers"), (np.ndarray, "is a type"),
], ids=lambda given: type(given).__name__)
def test_what_is_no_array(given, text):
    for call in (distmap.edt, distmap.transform, distmap.skeleton, distmap.local_thickness, distmap.chamfer,
                 lambda given: distmap.dilate(given, 1), lambda given: distmap.esf(given, 2), lambda given: distmap.cvt(given, 1)):
        with pytest.raises(TypeError, match=text):
            call(given)
    with pytest.raises(TypeError, match=text.replace("the input", "a")):
        distmap.compare(given, np.ones(3))


def test_nor_does_scipys_twin_take_it():
    from distmap.scipy import distance_transform_edt

    for given in (Fake(), pathlib.Path("mask.png"), [None, 1]):
        with pytest.raises(TypeError, match="which is no array|its elements are no numbers"):
            distance_transform_edt(given)


def test_ragged_lists_are_refused():
    with pytest.raises((TypeError, ValueError)):
        distmap.edt([[1, 0], [1]])


def halves():
    yield np.float16
    try:
        import ml_dtypes
    except ImportError:
        return
    yield ml_dtypes.bfloat16


@pytest.mark.parametrize("dtype", list(halves()))
def test_half_precision(dtype):
    """Inputs of it mean their values, which float32 holds: -0 is zero, NaN no site, the least positive number not zero."""
    values = np.array([[0.0, -0.0, 1, np.nan], [np.inf, 2.0 ** -24, 3, 0.1]]).astype(dtype)
    same = values.astype(np.float32)
    for array, single in ((values, same), (values.T[::-1], same.T[::-1]), (values.astype(values.dtype.newbyteorder()), same)):
        for _ in range(2):
            assert np.array_equal(distmap.edt(array), distmap.edt(single))
            assert np.array_equal(distmap.edt(array, sites=(0.1, 2), limit=1), distmap.edt(single, sites=(0.1, 2), limit=1))
    assert distmap.edt(values, sites="nonzero")[0].tolist() == [1, 1, 0, 1]
    squares = np.array([4, 9, 0, np.inf]).astype(dtype)
    assert np.array_equal(distmap.transform(squares, kind="sampled", want="squared").squared, [4, 1, 0, 1])
    if values.dtype != np.float16:
        with pytest.raises(TypeError, match="out distance has dtype bfloat16"):
            distmap.edt(same, out=values)


class DataArray:
    """The attributes of an xarray DataArray that distmap reads."""
    __module__ = "xarray.core.dataarray"
    dims = ("y", "x")

    def __init__(self, data):
        self.data, self.shape = data, data.shape

    def copy(self, data):
        return DataArray(data)


def data_arrays():
    yield DataArray
    try:
        import xarray
    except ImportError:
        return
    yield lambda data: xarray.DataArray(data, dims=("y", "x"), coords={"x": [5, 6, 7]}, attrs={"units": "m"}, name="mask")


@pytest.mark.parametrize("make", list(data_arrays()))
def test_xarray(make):
    mask = np.array([[1, 0, 1], [1, 1, 1]], np.uint8)
    given, out = make(mask), np.zeros(mask.shape, np.float32)
    for result, want in ((distmap.edt(given), distmap.edt(mask)), (distmap.edt(given, indices=True)[1], distmap.edt(mask, indices=True)[1]),
                         (distmap.dilate(given, 1), distmap.dilate(mask, 1))):
        assert type(result) is type(given) and result.dims == ("y", "x") and np.array_equal(result.data, want)
        assert getattr(result, "attrs", None) == getattr(given, "attrs", None)
    assert distmap.edt(given, out=out) is out and distmap.feature_transform(given, coords=True).shape == (2, 2, 3)


class Standard:
    """An array of a library of the array API standard."""

    def __init__(self, kept):
        self.kept = kept

    def __array__(self, *_, **__):
        return self.kept

    def __array_namespace__(self):
        return Space


class Space:
    asarray = Standard


def standard_arrays():
    yield Standard
    try:
        import array_api_strict
    except ImportError:
        return
    yield array_api_strict.asarray


@pytest.mark.parametrize("make", list(standard_arrays()))
def test_array_api(make):
    """Results are of the input's library; arrays of the caller's stay what they are."""
    mask = np.array([[1, 0, 1], [1, 1, 1]], np.uint8)
    given, out = make(mask), np.zeros(mask.shape, np.float32)
    distance, index = distmap.edt(given, indices=True)
    assert type(distance) is type(index) is type(given)
    assert np.array_equal(np.asarray(distance), distmap.edt(mask)) and np.array_equal(np.asarray(index), distmap.edt(mask, indices=True)[1])
    assert distmap.edt(given, out=out) is out and np.array_equal(out, distmap.edt(mask))
