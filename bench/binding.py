"""The C API through ctypes, as far as the benchmarks use it: contexts of CPUs and GPUs, and plans over arrays.

The structures mirror include/distmap.h member for member. Arrays are passed as views, so nothing is copied: NumPy's are
views of host memory; those with __cuda_array_interface__ (CuPy's) are views of a GPU's.
"""

import ctypes as c

import numpy as np

DTYPES = ["none", "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"]
DEVICES = ["cpu", "cuda"]
SPACES = {"host": 0, "cuda": 1}
MAX_NDIM = 4


class View(c.Structure):
    _fields_ = [("data", c.c_void_p), ("dtype", c.c_int), ("ndim", c.c_int),
                ("shape", c.c_int64 * MAX_NDIM), ("strides", c.c_int64 * MAX_NDIM), ("space", c.c_int)]


class Allocator(c.Structure):
    _fields_ = [("allocate", c.c_void_p), ("release", c.c_void_p), ("user", c.c_void_p)]


class Executor(c.Structure):
    _fields_ = [("workers", c.c_int), ("run", c.c_void_p), ("user", c.c_void_p)]


class DeviceInfo(c.Structure):
    _fields_ = [("name", c.c_char * 256), ("memory_bytes", c.c_size_t), ("multiprocessors", c.c_int),
                ("capability", c.c_int * 2), ("driver", c.c_int * 2), ("runtime", c.c_int * 2)]


class ContextOptions(c.Structure):
    _fields_ = [("device", c.c_int), ("threads", c.c_int), ("executor", Executor), ("allocator", Allocator),
                ("progress", c.c_void_p), ("progress_user", c.c_void_p), ("ordinal", c.c_int), ("stream", c.c_void_p)]


class Sites(c.Structure):
    _fields_ = [("rule", c.c_int), ("lo", c.c_double), ("hi", c.c_double)]


class Outputs(c.Structure):
    _fields_ = [("distance", c.c_int), ("squared", c.c_int), ("index", c.c_int), ("coords", c.c_int), ("label", c.c_int)]


class Problem(c.Structure):
    _fields_ = [("input", c.c_int), ("dtype", c.c_int), ("ndim", c.c_int), ("shape", c.c_int64 * MAX_NDIM),
                ("axes", c.c_uint), ("sites", Sites), ("metric", c.c_int), ("chamfer", c.c_int * 3),
                ("spacing", c.c_double * MAX_NDIM), ("limit", c.c_double), ("border", c.c_bool), ("payload", c.c_int), ("want", Outputs)]


class Arrays(c.Structure):
    _fields_ = [("input", View), ("payload", View), ("distance", View), ("squared", View), ("index", View),
                ("coords", View * MAX_NDIM), ("label", View)]


class PlanOptions(c.Structure):
    _fields_ = [("method", c.c_char_p), ("params", c.c_void_p), ("param_count", c.c_size_t),
                ("scratch", c.c_void_p), ("scratch_bytes", c.c_size_t), ("host_views", c.c_bool)]


class Description(c.Structure):
    _fields_ = [("method", c.c_char_p), ("isa", c.c_char_p), ("threads", c.c_int), ("scratch_bytes", c.c_size_t),
                ("integer", c.c_bool), ("squared_bits", c.c_int)]


def dtype_code(dtype):
    return DTYPES.index(np.dtype(dtype).name)


def view(array):
    on_gpu = getattr(array, "__cuda_array_interface__", None)
    result = View(data=on_gpu["data"][0] if on_gpu else array.ctypes.data, dtype=dtype_code(array.dtype),
                  ndim=array.ndim, space=SPACES["cuda" if on_gpu else "host"])
    result.shape[:array.ndim] = array.shape
    result.strides[:array.ndim] = array.strides
    return result


class Distmap:
    """The loaded library with one context."""

    def __init__(self, path, threads=1, device="cpu", ordinal=0):
        self.context = c.c_void_p()
        self.lib = c.CDLL(str(path))
        self.lib.distmap_error_text.restype = c.c_char_p
        self.lib.distmap_version.restype = c.c_char_p
        self.lib.distmap_context_isa.restype = c.c_char_p
        self.device, self.ordinal = DEVICES.index(device), ordinal
        options = ContextOptions(threads=threads, device=self.device, ordinal=ordinal)
        self.check(self.lib.distmap_context_create(c.byref(options), c.byref(self.context)))

    def check(self, status):
        if status:
            raise RuntimeError(self.lib.distmap_error_text().decode())

    @property
    def version(self):
        return self.lib.distmap_version().decode()

    @property
    def isa(self):
        return self.lib.distmap_context_isa(self.context).decode()

    def __del__(self):
        self.lib.distmap_context_destroy(c.byref(self.context))

    def describe_device(self):
        info = DeviceInfo()
        self.check(self.lib.distmap_device_describe(self.device, self.ordinal, c.byref(info)))
        return info

    def set_stream(self, stream):
        """`stream` is the address of a cudaStream_t."""
        self.check(self.lib.distmap_context_set_stream(self.context, c.c_void_p(stream)))

    @staticmethod
    def problem(shape, dtype=np.uint8, **want):
        """A mask of that shape whose zeros are the sites; `want` names outputs: distance=np.float32."""
        problem = Problem(dtype=dtype_code(dtype), ndim=len(shape))
        problem.shape[:len(shape)] = shape
        for name, kind in want.items():
            setattr(problem.want, name, dtype_code(kind))
        return problem

    @staticmethod
    def options(method=None, host_views=False):
        return PlanOptions(method=method.encode() if method else None, host_views=host_views)

    def plan(self, shape, dtype=np.uint8, method=None, host_views=False, **want):
        return Plan(self, self.problem(shape, dtype, **want), self.options(method, host_views))

    def scratch_bytes(self, shape, dtype=np.uint8, method=None, host_views=False, **want):
        """What that plan would need."""
        result = c.c_size_t()
        self.check(self.lib.distmap_scratch_bytes(self.context, c.byref(self.problem(shape, dtype, **want)),
                                                  c.byref(self.options(method, host_views)), c.byref(result)))
        return result.value


class Plan:
    def __init__(self, owner, problem, options):
        self.owner, self.handle = owner, c.c_void_p()
        owner.check(owner.lib.distmap_plan_create(owner.context, c.byref(problem), c.byref(options), c.byref(self.handle)))

    def describe(self):
        description = Description()
        self.owner.lib.distmap_plan_describe(self.handle, c.byref(description))
        return description

    def bind(self, mask, **outputs):
        """A function without arguments that executes the plan from `mask` into the given arrays."""
        arrays = Arrays(input=view(mask), **{name: view(array) for name, array in outputs.items()})
        execute, handle, reference = self.owner.lib.distmap_plan_execute, self.handle, c.byref(arrays)

        def run():
            self.owner.check(execute(handle, reference))
        run.keeps = (self, arrays, mask, outputs)
        return run

    def wait(self):
        """Until the last execution is complete; raises what it met."""
        self.owner.check(self.owner.lib.distmap_plan_wait(self.handle))

    def __del__(self):
        self.owner.lib.distmap_plan_destroy(c.byref(self.handle))
