"""Arrays in a GPU's memory for the tests: CuPy's and PyTorch's where they are installed and there is a GPU; on the
emulation, which exports CUDA's functions, stand-ins with those of their members that distmap looks at.

A maker has from_numpy(array, ordinal), to_numpy(array), and the array's type; a stand-in's module must be in
sys.modules.
"""

import contextlib
import ctypes as c
import sys
import types

import numpy as np
from distmap import _dlpack, _names
from distmap._library import library

LIBRARY = c.CDLL(library().path)
EMULATED = hasattr(LIBRARY, "cudaMalloc")
TO_DEVICE, TO_HOST = 1, 2


def cuda(name, *arguments):
    assert getattr(LIBRARY, name)(*arguments) == 0, name


class Memory:
    """Some bytes of the emulated device."""

    def __init__(self, size, ordinal=0):
        self.pointer, self.size = c.c_void_p(), size
        with on(ordinal):
            cuda("cudaMalloc", c.byref(self.pointer), c.c_size_t(max(size, 1)))

    def __del__(self):
        LIBRARY.cudaFree(self.pointer)

    def copy(self, host, kind):
        pair = (self.pointer, c.c_void_p(host.ctypes.data))
        cuda("cudaMemcpy", *(pair if kind == TO_DEVICE else pair[::-1]), c.c_size_t(self.size), kind)


@contextlib.contextmanager
def on(ordinal):
    before = c.c_int()
    cuda("cudaGetDevice", c.byref(before))
    cuda("cudaSetDevice", ordinal)
    yield
    cuda("cudaSetDevice", before)


class Stream:
    def __init__(self, ordinal=0):
        handle = c.c_void_p()
        with on(ordinal):
            cuda("cudaStreamCreate", c.byref(handle))
        self.ptr = self.cuda_stream = handle.value

    def is_capturing(self):
        return False


class Array:
    """Contiguous memory of the device with a dtype, a shape, strides in bytes and an offset."""
    streams = {}

    def __init__(self, shape, dtype, ordinal=0, strides=None, memory=None, offset=0):
        self.shape, self.dtype, self.ordinal, self.offset = tuple(shape), np.dtype(dtype), ordinal, offset
        self.memory = memory or Memory(int(np.prod(self.shape)) * self.dtype.itemsize, ordinal)
        self.strides = strides or np.empty(self.shape, self.dtype).strides

    @classmethod
    def from_numpy(cls, array, ordinal=0):
        made = cls(array.shape, array.dtype, ordinal)
        made.memory.copy(np.ascontiguousarray(array), TO_DEVICE)
        return made

    def to_numpy(self):
        host = np.empty(self.memory.size, np.uint8)
        self.memory.copy(host, TO_HOST)
        return np.ndarray(self.shape, self.dtype, host.data, self.offset, self.strides)

    def transpose(self, axes):
        return type(self)([self.shape[a] for a in axes], self.dtype, self.ordinal, tuple(self.strides[a] for a in axes),
                          self.memory, self.offset)

    @property
    def T(self):
        return self.transpose(range(len(self.shape))[::-1])

    @property
    def address(self):
        return self.memory.pointer.value + self.offset


class CupyLike(Array):
    @property
    def data(self):
        return types.SimpleNamespace(ptr=self.address)

    @property
    def device(self):
        return types.SimpleNamespace(id=self.ordinal)


class TorchLike(Array):
    requires_grad = False

    @property
    def device(self):
        return types.SimpleNamespace(type="cuda", index=self.ordinal)

    def permute(self, *axes):
        return self.transpose(axes if len(axes) == len(self.shape) and not isinstance(axes[0], tuple) else axes[0])

    def detach(self):
        return self

    resolve_neg = detach

    def element_size(self):
        return self.dtype.itemsize

    def stride(self):
        return tuple(step // self.dtype.itemsize for step in self.strides)

    def data_ptr(self):
        return self.address


class InterfaceLike(Array):
    @property
    def __cuda_array_interface__(self):
        return {"data": (self.address, False), "typestr": self.dtype.str, "shape": self.shape, "version": 3,
                "strides": self.strides if self.strides != np.empty(self.shape,
                                                                    self.dtype).strides else None, "stream": 1}


class DlpackLike(Array):
    def __dlpack_device__(self):
        return 2, self.ordinal

    def __dlpack__(self, stream=None):
        assert stream == 1
        numbers = lambda values: (c.c_int64 * max(1, len(values)))(*values)  # noqa: E731
        code = {"i": 0, "u": 1, "f": 2, "b": 6}[self.dtype.kind]
        tensor = _dlpack.Tensor(data=self.memory.pointer, device_type=2, device_id=self.ordinal,
                                ndim=len(self.shape),
                                code=code, bits=8 * self.dtype.itemsize, lanes=1, byte_offset=self.offset,
                                shape=numbers(self.shape),
                                strides=numbers([step // self.dtype.itemsize for step in self.strides]))
        new = c.pythonapi.PyCapsule_New
        new.restype, new.argtypes = c.py_object, [c.c_void_p, c.c_char_p, c.c_void_p]
        self.handed = tensor
        return new(c.addressof(tensor), b"dltensor", None)


def stand_in(name, kind):
    """A module with what distmap calls of CuPy or PyTorch."""
    module = types.ModuleType(name)
    current = []

    @contextlib.contextmanager
    def device(ordinal):
        current.append(ordinal)
        yield
        current.pop()

    def stream(ordinal=None):
        ordinal = current[-1] if ordinal is None else ordinal
        return kind.streams.setdefault((name, ordinal), Stream(ordinal))
    module.cuda = types.SimpleNamespace(Device=device, get_current_stream=stream, current_stream=stream,
                                        is_current_stream_capturing=lambda: False)
    module.ndarray = module.Tensor = kind
    module.empty = lambda shape, dtype, device=None: kind(shape, dtype, current[-1] if device is None else device.index)
    for dtype in _names.DTYPES[1:]:
        if not (name == "torch" and dtype in ("uint32", "uint64")):  # as PyTorch before 2.3
            setattr(module, dtype, np.dtype(dtype))
    return module


class Cupy:
    """The real one."""

    @staticmethod
    def from_numpy(array, ordinal=0):
        import cupy
        with cupy.cuda.Device(ordinal):
            return cupy.asarray(array)

    @staticmethod
    def to_numpy(array):
        return array.get()


class Torch:
    @staticmethod
    def from_numpy(array, ordinal=0):
        import torch
        return torch.from_numpy(np.ascontiguousarray(array)).to(f"cuda:{ordinal}")

    @staticmethod
    def to_numpy(array):
        return array.cpu().numpy()


def makers():
    """{name: maker} of those libraries whose results come back in their own arrays."""
    if EMULATED:
        sys.modules["cupy"], sys.modules["torch"] = stand_in("cupy", CupyLike), stand_in("torch", TorchLike)
        return {"cupy": CupyLike, "torch": TorchLike}
    found = {}
    for name, maker in (("cupy", Cupy), ("torch", Torch)):
        with contextlib.suppress(ImportError):
            __import__(name)
            found[name] = maker
    return found
