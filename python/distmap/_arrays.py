"""Arrays of Python's libraries as views of the C API, without a copy; and new arrays, streams and scratch of the same
library.

NumPy's arrays, and what NumPy makes arrays of, lie in host memory. CuPy's arrays and PyTorch's tensors are known by
name; any other object is asked for `__cuda_array_interface__`, then for DLPack. An array's *home* is the library it
comes from: results are made there, on the same device.
"""

import numbers
import sys
from dataclasses import dataclass, replace

import numpy as np

from . import _names
from ._library import library
from ._problem import dtype_code, name_of, number


CUDA_DEVICES = (2, 13)  # kDLCUDA, kDLCUDAManaged of DLPack
LEGACY_STREAM = 1  # the default stream, in the numbering of CUDA and of DLPack

# How what is no array becomes one, by its type's module and name; the last one is for all.
CONVERSIONS = (
    ("distmap", "Image", "give image.array, and sampling=image.pitches, axes=image.space"),
    ("SimpleITK", "Image", "give SimpleITK.GetArrayFromImage(image), and sampling=image.GetSpacing()[::-1]"),
    ("nibabel", "", "give numpy.asarray(image.dataobj), and sampling=image.header.get_zooms()"),
    ("itk", "", "give itk.array_from_image(image), and sampling=tuple(itk.spacing(image))[::-1]"),
    ("builtins", "str", "give distmap.imread(path).array"),
    ("pathlib", "", "give distmap.imread(path).array"),
    ("", "", "arrays have a buffer, __array_interface__, __array__, __cuda_array_interface__ or DLPack; numpy.array(...) may make one"),
)


def is_nested_list(given):
    """Of numbers, or arrays."""
    if isinstance(given, (list, tuple)):
        return all(is_nested_list(one) for one in given)
    return isinstance(given, (numbers.Real, np.generic, np.ndarray))


def to_numpy(given, name):
    """An array in host memory of what says that it is one; nothing is made of other objects, though NumPy would."""
    if isinstance(given, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array, which is not understood")
    if isinstance(given, (np.ndarray, np.generic)):
        return np.asarray(given)
    if isinstance(given, (list, tuple)) and is_nested_list(given):
        return np.asarray(given)
    is_instance = not isinstance(given, type)
    if is_instance and (hasattr(given, "__array_interface__") or hasattr(given, "__array__")):
        return np.asarray(given)
    if is_instance and hasattr(given, "__dlpack__") and hasattr(np, "from_dlpack"):
        return np.from_dlpack(given)
    try:
        return np.asarray(memoryview(given))
    except TypeError:
        pass
    kind = type(given)
    module, type_name = (kind.__module__ or "").partition(".")[0], kind.__name__
    how = next(how for of, what, how in CONVERSIONS if of in ("", module) and what in ("", type_name))
    if isinstance(given, (list, tuple)):
        how = "its elements are no numbers"
    raise TypeError(f"{name} is a {type_name}, which is no array: {how}")


HALVES = ("float16", "bfloat16")  # inputs of these are copied to float32, which holds all of their values


class Numpy:
    """Host memory. Strides of any kind are passed on; only foreign byte order, misaligned elements and half precision make a copy."""

    @staticmethod
    def look(array, name, writable):
        given, array = array, to_numpy(array, name)
        if writable and not (isinstance(given, np.ndarray) or hasattr(given, "__array_namespace__")):
            raise TypeError(f"{name} must be an array to write into, is {type(given).__name__}")
        if writable and not array.flags.writeable:
            raise ValueError(f"{name} is read-only")
        if not (array.dtype.isnative and array.flags.aligned):
            if writable:
                raise ValueError(f"{name} must have aligned elements in the machine's byte order")
            array = array.astype(array.dtype.newbyteorder("="))
        if name_of(array.dtype) in HALVES and not writable:
            array = array.astype(np.float32)
        return array.ctypes.data, array.dtype, array.shape, array.strides, None, array

    @staticmethod
    def empty(shape, dtype, like):
        return np.empty(shape, dtype)

    @staticmethod
    def transposed(array, axes):
        return array.transpose(axes)


class Cupy:
    pooled = True  # freed memory goes to work on the same stream alone, so scratch may be given up while it is in use

    @staticmethod
    def look(array, name, writable):
        if array.dtype.name in HALVES and not writable:
            array = array.astype(np.float32)
        return array.data.ptr, array.dtype, array.shape, array.strides, array.device.id, array

    @staticmethod
    def empty(shape, dtype, like):
        cupy = sys.modules["cupy"]
        with cupy.cuda.Device(like.ordinal):
            return cupy.empty(shape, dtype)

    transposed = Numpy.transposed

    @staticmethod
    def stream(like):
        cupy = sys.modules["cupy"]
        with cupy.cuda.Device(like.ordinal):
            stream = cupy.cuda.get_current_stream()
        return stream.ptr, stream

    @staticmethod
    def is_capturing(stream):
        return stream.is_capturing()


class Torch:
    """Tensors on the CPU or a GPU. Distances are not differentiated: gradients end here."""

    pooled = True

    @staticmethod
    def look(array, name, writable):
        if array.device.type not in ("cpu", "cuda"):
            raise TypeError(f"{name} lies on the device {array.device}, must be on a CPU or an NVIDIA GPU")
        if writable and array.requires_grad:
            raise ValueError(f"{name} requires a gradient, which an output cannot")
        array = array.detach().resolve_neg()
        if name_of(array.dtype) in HALVES and not writable:
            array = array.float()
        strides = [step * array.element_size() for step in array.stride()]
        ordinal = array.device.index if array.device.type == "cuda" else None
        return array.data_ptr(), array.dtype, tuple(array.shape), strides, ordinal, array

    @staticmethod
    def empty(shape, dtype, like):
        torch = sys.modules["torch"]
        kind = getattr(torch, dtype, None)
        if kind is None:
            raise TypeError(f"this PyTorch has no dtype {dtype}: ask for another one")
        return torch.empty(shape, dtype=kind, device=like.array.device)

    @staticmethod
    def transposed(array, axes):
        return array.permute(axes)

    @staticmethod
    def stream(like):
        stream = sys.modules["torch"].cuda.current_stream(like.ordinal)
        return stream.cuda_stream, stream

    @staticmethod
    def is_capturing(stream):
        return sys.modules["torch"].cuda.is_current_stream_capturing()


class Interface:
    """Anything else in a GPU's memory that says so by `__cuda_array_interface__`."""

    pooled = False

    @staticmethod
    def look(array, name, writable):
        told = array.__cuda_array_interface__
        if told.get("mask") is not None:
            raise TypeError(f"{name} is a masked array, which is not understood")
        data, read_only = told["data"]
        if writable and read_only:
            raise ValueError(f"{name} is read-only")
        dtype, shape = np.dtype(told["typestr"]), told["shape"]
        device = getattr(array, "__dlpack_device__", None)
        strides = told.get("strides") or row_major(shape, dtype.itemsize)
        return data, dtype, shape, strides, device()[1] if device else 0, array

    @staticmethod
    def empty(shape, dtype, like):
        """By the array API standard, where the object's library follows it."""
        if not hasattr(like.array, "__array_namespace__"):
            raise TypeError(f"do not know how to make an array beside a {type(like.array).__name__}: give one by out=")
        space = like.array.__array_namespace__()
        return space.empty(shape, dtype=getattr(space, dtype), device=like.array.device)

    @staticmethod
    def transposed(array, axes):
        return array.__array_namespace__().permute_dims(array, axes)

    @staticmethod
    def stream(like):
        told = getattr(like.array, "__cuda_array_interface__", {})
        return told.get("stream") or LEGACY_STREAM, None


class Dlpack(Interface):
    """Anything else in a GPU's memory that says so by DLPack, made ready by its library for the default stream."""

    @staticmethod
    def look(array, name, writable):
        from . import _dlpack  # which needs ctypes
        tensor = _dlpack.take(array)
        if writable and tensor.read_only:
            raise ValueError(f"{name} is read-only")
        strides = ([step * tensor.itemsize for step in tensor.strides] if tensor.strides else
                   row_major(tensor.shape, tensor.itemsize))
        return tensor.data, tensor.dtype, tensor.shape, strides, tensor.ordinal, tensor


@dataclass
class Taken:
    """An array that was looked at. `owner` keeps its memory; `ordinal` is its GPU, None for host memory."""
    data: int
    dtype: int  # in the library's numbering
    shape: tuple
    strides: tuple
    ordinal: int | None
    owner: object
    array: object
    home: type

    def flipped(self, first=0):
        """The same memory with every axis from `first` on running backwards."""
        ends = [(n - 1) * step for n, step in zip(self.shape[first:], self.strides[first:])]
        return replace(self, data=(self.data or 0) + sum(ends),
                       strides=self.strides[:first] + tuple(-s for s in self.strides[first:]))

    def scalar_as_line(self):
        """An array without axes as one of a single element along one axis."""
        return self if self.shape else replace(self, shape=(1,), strides=(np.dtype(_names.DTYPES[self.dtype]).itemsize,))

    def as_signed(self):
        """Its elements as signed integers of the same bits."""
        return replace(self, dtype=_names.DTYPES.index(_names.DTYPES[self.dtype].removeprefix("u")))

    def order(self):
        """Its axes in memory, slowest first."""
        return library().order(self.view())

    def view(self, at=None):
        """The view of it all, or of the slice at that index of the first axis."""
        first = 0 if at is None else 1
        return {"data": (self.data or 0) + (at * self.strides[0] if first else 0), "dtype": self.dtype,
                "ndim": len(self.shape) - first, "shape": self.shape[first:], "strides": self.strides[first:],
                "space": _names.SPACES.index("host" if self.ordinal is None else "cuda")}


def empty(shape, dtype, like, order):
    """A new array beside `like`, in memory without gaps, its axes in that order there. Axes of length 1 lie anywhere."""
    order = list(order)
    if (long := [a for a in order if shape[a] > 1]) == sorted(long):
        return like.home.empty(shape, dtype, like)
    made = like.home.empty(tuple(shape[a] for a in order), dtype, like)
    return like.home.transposed(made, tuple(order.index(a) for a in range(len(order))))


def fill(array, value, name):
    """Puts `value` where a new or given output of NumPy, CuPy or PyTorch has no distance: infinity, of integers the largest."""
    kind = _names.DTYPES[array.dtype]
    if array.home not in (Numpy, Cupy, Torch):
        raise TypeError(f"fill goes with arrays of NumPy, CuPy and PyTorch, not with a {type(array.array).__name__}")
    at = array.array
    at[(at == np.inf) | (at == -np.inf) if kind.startswith("float") else at == int(np.iinfo(kind).max)] = value


def fits(value, dtype, name):
    """The value as an element of that type has it, or says that there is no such element."""
    value = number(name, value)
    if dtype.startswith("float"):
        if np.isfinite(value) and abs(value) > np.finfo(dtype).max:
            raise ValueError(f"{name} is {value:g}, which {dtype} cannot hold")
        return value
    if value != value or not np.iinfo(dtype).min <= value <= np.iinfo(dtype).max or value != int(value):
        raise ValueError(f"{name} is {value:g}, which {dtype} cannot hold")
    return int(value)


def row_major(shape, itemsize):
    strides = [itemsize] * len(shape)
    for a in range(len(shape) - 1, 0, -1):
        strides[a - 1] = strides[a] * shape[a]
    return strides


def within(given):
    """The array in a DataArray of xarray, or that of a library of the array API standard in host memory (JAX, array_api_strict), and what
    makes a result of the same kind; (given, None) for all others."""
    module = (type(given).__module__ or "").partition(".")[0]
    if module == "xarray" and hasattr(given, "dims"):  # coordinates of sites have another shape
        return given.data, lambda result: given.copy(data=result) if result.shape == given.shape else result
    if (hasattr(given, "__array_namespace__") and module not in ("numpy", "dask", "distmap") and home_of(given) is Numpy
            and not isinstance(given, (np.ndarray, type))):
        return to_numpy(given, "the input"), given.__array_namespace__().asarray
    return given, None


def without_masked_sites(masked, arguments):
    """The data of a masked array, whose masked elements are no sites by the rule in transform()'s arguments."""
    rule, dtype = arguments.get("sites", "zero"), masked.dtype
    if arguments.get("kind", "mask") != "mask" or arguments.get("sign") is not None:
        raise TypeError("a masked array goes with maps of masks without signs: elements that are neither sites nor others have no side")
    low, high = rule if isinstance(rule, (tuple, list)) else (0, 0) if rule == "zero" else (rule, rule)
    if rule == "nonzero":
        other = 0
    elif dtype.kind == "f":
        other = np.nan
    else:
        limits = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        other = next((value for value in limits if (low is not None and value < low) or (high is not None and value > high)), None)
        if other is None:
            raise ValueError(f"sites selects both ends of {dtype}: no value is left for the masked elements, which are no sites")
    return np.where(np.ma.getmaskarray(masked), dtype.type(other), masked.data)


def one_element(array, name):
    """A result for an array without axes."""
    return array[:0, 0] if name == "coords" else array.reshape(())


def is_dask(given):
    return (type(given).__module__ or "").startswith("dask.")


def torch_of_host(array, out):
    """PyTorch, if the array is one of its tensors in host memory that NumPy can have, and `out` too or None; else None."""
    torch = sys.modules.get("torch")
    for tensor in (array,) if out is None else (array, out):
        if torch is None or not isinstance(tensor, torch.Tensor) or tensor.device.type != "cpu" or tensor.layout is not torch.strided:
            return None
    usual = out is None or not (out.requires_grad or out.is_neg() or out.dtype == torch.bfloat16)
    return torch if usual and array.dim() and not array.is_complex() else None


def numpy_of(tensor):
    """A tensor's memory as NumPy's array; bfloat16, which NumPy lacks, as a copy."""
    tensor = tensor.detach().resolve_neg()
    return (tensor.float() if name_of(tensor.dtype) == "bfloat16" else tensor).numpy()


def home_of(array):
    cupy, torch = sys.modules.get("cupy"), sys.modules.get("torch")
    if cupy and isinstance(array, cupy.ndarray):
        return Cupy
    if torch and isinstance(array, torch.Tensor):
        return Torch
    if isinstance(array, (np.ndarray, type)):
        return Numpy
    if hasattr(array, "__cuda_array_interface__"):
        return Interface
    if hasattr(array, "__dlpack_device__") and array.__dlpack_device__()[0] in CUDA_DEVICES:
        return Dlpack
    return Numpy


def take(array, name, writable=False):
    """Looks at an array: where it lies, and what of it the library needs to know. `name` is for errors. What was looked
    at already stays as it is."""
    if isinstance(array, Taken):
        return array
    if is_dask(array):
        raise TypeError(f"{name} is an array of dask, which is not loaded unasked: distmap.dask.edt() takes it, others array.compute()")
    home = home_of(array)
    data, dtype, shape, strides, ordinal, owner = home.look(array, name, writable)
    if isinstance(dtype, np.dtype) and not dtype.isnative:
        raise TypeError(f"{name} must be in the machine's byte order")
    return Taken(data, dtype_code(name, dtype), tuple(shape), tuple(strides), ordinal, owner, array, home)
