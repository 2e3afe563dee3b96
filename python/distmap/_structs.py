"""The structures and enumerations of include/distmap.h, member for member, for ctypes.

An enumeration is the tuple of its names, each at the index that is its value. tests/python/test_structs.py compares
sizes and offsets with what the C compiler makes of the header.
"""

import ctypes as c

VERSION = "0.2.0"
MAX_NDIM = 4
MAX_AXES = 8
MAX_GPUS = 16

STATUS = ("ok", "argument", "memory", "unsupported", "cancelled", "value", "io", "format", "device")
DTYPES = ("none", "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32",
          "float64")
SPACES = ("host", "cuda")
DEVICES = ("cpu", "cuda")
INPUTS = ("mask", "labels", "sampled")
SITES = ("zero", "nonzero", "value", "range", "none")
METRICS = ("euclidean", "cityblock", "chessboard", "chamfer")
PHASES = ("compute", "transfer")
FIELDS = ("distance", "edge_strength", "skeleton", "morphology", "comparison", "thickness", "cvt")
PRUNINGS = ("square_root", "linear", "constant")
MORPHOLOGY_STEPS = ("dilate", "erode", "open", "close")
POINTS = ("surface", "set")
SIGNS = ("none", "outside", "inside")
SURFACES = ("centre", "half")
OUTPUTS = ("distance", "squared", "index", "coords", "label", "strength", "mask", "within", "beyond", "sites",
           "centroids", "energies")

INDEX_NONE = -1
INDEX_BORDER = -2
MAX_PERCENTILES = 16
FLAG_NO_SITE = 1
FLAG_NAN = 2
FLAG_UNREST = 4

PROGRESS = c.CFUNCTYPE(c.c_int, c.c_void_p, c.c_double)


class View(c.Structure):
    _fields_ = [("data", c.c_void_p), ("dtype", c.c_int), ("ndim", c.c_int),
                ("shape", c.c_int64 * MAX_AXES), ("strides", c.c_int64 * MAX_AXES), ("space", c.c_int)]


class Allocator(c.Structure):
    _fields_ = [("allocate", c.c_void_p), ("release", c.c_void_p), ("user", c.c_void_p)]


class Executor(c.Structure):
    _fields_ = [("workers", c.c_int), ("run", c.c_void_p), ("user", c.c_void_p)]


class DeviceInfo(c.Structure):
    _fields_ = [("name", c.c_char * 256), ("memory_bytes", c.c_size_t), ("multiprocessors", c.c_int),
                ("capability", c.c_int * 2), ("driver", c.c_int * 2), ("runtime", c.c_int * 2),
                ("shared_bytes", c.c_size_t)]


class ContextOptions(c.Structure):
    _fields_ = [("device", c.c_int), ("threads", c.c_int), ("executor", Executor), ("allocator", Allocator),
                ("progress", PROGRESS), ("progress_user", c.c_void_p), ("ordinal", c.c_int), ("ordinal_count", c.c_int),
                ("stream", c.c_void_p), ("ordinals", c.POINTER(c.c_int))]


class Sites(c.Structure):
    _fields_ = [("rule", c.c_int), ("lo", c.c_double), ("hi", c.c_double)]


class Outputs(c.Structure):
    _fields_ = [(name, c.c_int) for name in OUTPUTS] + [("reserved", c.c_int * 4)]


class Esf(c.Structure):
    _fields_ = [("rho", c.c_double), ("dt", c.c_double), ("steps", c.c_int64), ("tolerance", c.c_double)]


class Skeleton(c.Structure):
    _fields_ = [("pruning", c.c_int), ("gamma", c.c_double)]


class Morphology(c.Structure):
    _fields_ = [("step", c.c_int), ("radius", c.c_double), ("outside", c.c_bool)]


class Comparison(c.Structure):
    _fields_ = [("other", c.c_int), ("points", c.c_int), ("tolerance", c.c_double), ("percentile_count", c.c_int),
                ("percentile", c.c_double * MAX_PERCENTILES)]


class Cvt(c.Structure):
    _fields_ = [("points", c.c_int64), ("steps", c.c_int64), ("omega", c.c_double), ("seed", c.c_uint64),
                ("grids", c.c_int)]


class Window(c.Structure):
    _fields_ = [("first", c.c_int64), ("count", c.c_int64)]


class Problem(c.Structure):
    _fields_ = [("input", c.c_int), ("dtype", c.c_int), ("ndim", c.c_int), ("shape", c.c_int64 * MAX_AXES),
                ("axes", c.c_uint), ("sites", Sites), ("metric", c.c_int), ("chamfer", c.c_int * 3),
                ("spacing", c.c_double * MAX_AXES), ("limit", c.c_double), ("border", c.c_bool), ("real", c.c_bool), ("payload", c.c_int),
                ("want", Outputs), ("field", c.c_int), ("esf", Esf), ("skeleton", Skeleton),
                ("morphology", Morphology), ("comparison", Comparison), ("cvt", Cvt),
                ("sign", c.c_int), ("surface", c.c_int), ("window", Window), ("unit", c.c_double),
                ("order", c.c_int * MAX_AXES)]


class Arrays(c.Structure):
    _fields_ = [("input", View), ("payload", View), ("distance", View), ("squared", View), ("index", View),
                ("coords", View * MAX_AXES), ("label", View), ("strength", View), ("mask", View),
                ("within", View), ("beyond", View), ("other", View), ("before", View), ("after", View),
                ("sites", View), ("centroids", View), ("energies", View)]


class Param(c.Structure):
    _fields_ = [("name", c.c_char_p), ("value", c.c_int64)]


class ParamInfo(c.Structure):
    _fields_ = [("name", c.c_char_p), ("fallback", c.c_int64), ("lowest", c.c_int64), ("highest", c.c_int64),
                ("summary", c.c_char_p), ("names", c.POINTER(c.c_char_p))]


class MethodInfo(c.Structure):
    _fields_ = [("name", c.c_char_p), ("summary", c.c_char_p), ("source", c.c_char_p), ("device", c.c_char_p),
                ("exact", c.c_bool), ("params", c.POINTER(ParamInfo)), ("param_count", c.c_size_t),
                ("metrics", c.c_uint), ("field", c.c_int)]


class PlanOptions(c.Structure):
    _fields_ = [("method", c.c_char_p), ("host_views", c.c_bool), ("timed", c.c_bool), ("params", c.POINTER(Param)),
                ("param_count", c.c_size_t), ("scratch", c.c_void_p), ("scratch_bytes", c.c_size_t)]


class Description(c.Structure):
    _fields_ = [("method", c.c_char_p), ("isa", c.c_char_p), ("threads", c.c_int), ("scratch_bytes", c.c_size_t),
                ("integer", c.c_bool), ("squared_bits", c.c_int), ("unit", c.c_double),
                ("multiples", c.c_int64 * MAX_AXES)]


class Phase(c.Structure):
    _fields_ = [("name", c.c_char_p), ("kind", c.c_int), ("seconds", c.c_double)]


class Convergence(c.Structure):
    _fields_ = [("iterations", c.c_int64), ("residual", c.c_double)]


class Directed(c.Structure):
    _fields_ = [("points", c.c_int64), ("within", c.c_int64), ("hausdorff", c.c_double), ("mean", c.c_double),
                ("rms", c.c_double), ("percentile", c.c_double * MAX_PERCENTILES)]


class Agreement(c.Structure):
    _fields_ = [("forward", Directed), ("backward", Directed), ("symmetric", Directed), ("surface_dice", c.c_double),
                ("elements", c.c_int64 * 2), ("common", c.c_int64), ("dice", c.c_double), ("jaccard", c.c_double)]


# Every structure by its name in C.
STRUCTS = {
    "distmap_view": View, "distmap_allocator": Allocator, "distmap_executor": Executor,
    "distmap_device_info": DeviceInfo,
    "distmap_context_options": ContextOptions, "distmap_sites": Sites, "distmap_outputs": Outputs,
    "distmap_problem": Problem, "distmap_arrays": Arrays, "distmap_param": Param, "distmap_param_info": ParamInfo,
    "distmap_method_info": MethodInfo, "distmap_plan_options": PlanOptions, "distmap_description": Description,
    "distmap_phase": Phase, "distmap_esf": Esf, "distmap_skeleton": Skeleton,
    "distmap_morphology": Morphology, "distmap_convergence": Convergence,
    "distmap_comparison": Comparison, "distmap_directed": Directed, "distmap_agreement": Agreement,
    "distmap_cvt": Cvt, "distmap_window": Window,
}

# Those to whose ends later versions of the library add members, see include/distmap/sized.h. All others stay as they are.
GROWING = (DeviceInfo, ContextOptions, Problem, Arrays, MethodInfo, PlanOptions, Description, Phase, Convergence, Agreement)

# Functions: result, arguments. Handles are plain addresses.
_handle, _place = c.c_void_p, c.POINTER(c.c_void_p)
FUNCTIONS = {
    "distmap_version": (c.c_char_p, []),
    "distmap_struct_bytes": (c.c_size_t, [c.c_char_p]),
    "distmap_view_order": (None, [c.POINTER(View), c.POINTER(c.c_int)]),
    "distmap_error_text": (c.c_char_p, []),
    "distmap_device_count": (c.c_int, [c.c_int]),
    "distmap_device_describe": (c.c_int, [c.c_int, c.c_int, c.POINTER(DeviceInfo)]),
    "distmap_context_create": (c.c_int, [c.POINTER(ContextOptions), _place]),
    "distmap_context_destroy": (None, [_place]),
    "distmap_context_set_stream": (c.c_int, [_handle, c.c_void_p]),
    "distmap_context_threads": (c.c_int, [_handle]),
    "distmap_context_isa": (c.c_char_p, [_handle]),
    "distmap_method_get": (c.POINTER(MethodInfo), [c.c_size_t]),
    "distmap_scratch_bytes": (c.c_int, [_handle, c.POINTER(Problem), c.POINTER(PlanOptions), c.POINTER(c.c_size_t)]),
    "distmap_plan_create": (c.c_int, [_handle, c.POINTER(Problem), c.POINTER(PlanOptions), _place]),
    "distmap_plan_execute": (c.c_int, [_handle, c.POINTER(Arrays)]),
    "distmap_plan_execute_slabs": (c.c_int, [_handle, c.POINTER(Arrays)]),
    "distmap_plan_slab": (c.c_int, [_handle, c.c_int, c.POINTER(c.c_int64), c.POINTER(c.c_int64)]),
    "distmap_plan_wait": (c.c_int, [_handle]),
    "distmap_plan_describe": (None, [_handle, c.POINTER(Description)]),
    "distmap_plan_flags": (c.c_uint, [_handle]),
    "distmap_plan_phase_count": (c.c_size_t, [_handle]),
    "distmap_plan_phase_get": (c.c_int, [_handle, c.c_size_t, c.POINTER(Phase)]),
    "distmap_plan_convergence": (c.c_int, [_handle, c.POINTER(Convergence)]),
    "distmap_plan_agreement": (c.c_int, [_handle, c.POINTER(Agreement)]),
    "distmap_plan_destroy": (None, [_place]),
}
