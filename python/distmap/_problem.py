"""A problem of the C API from Python's arguments: names, numbers and sequences become the structure's members.

Only what C's types cannot take is refused here, so that each rule stands once, in the library, with its text.
"""

import functools
import math
import numbers
import operator

from . import _structs

INT32 = (1 << 31) - 1
CODES = {name: code for code, name in enumerate(_structs.DTYPES) if code}


def choice(name, value, names):
    """The value of an enumeration's name."""
    if value not in names:
        raise ValueError(f"{name} is {value!r}, must be one of {', '.join(names)}")
    return names.index(value)


@functools.lru_cache(256)
def name_of(dtype):
    """"float32" of a name, a NumPy or CuPy dtype or type, or a torch.dtype."""
    text = getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype)
    return text.rpartition(".")[2].rstrip("_")  # torch.float32, numpy.bool_


def dtype_code(name, dtype):
    """The library's number for it."""
    code = CODES.get(name_of(dtype))
    if code is None:
        raise TypeError(f"{name} has dtype {name_of(dtype)}, must be one of {', '.join(CODES)}")
    return code


def number(name, value):
    """A float, exactly."""
    if isinstance(value, (bool, str, bytes)):
        raise TypeError(f"{name} is {value!r}, must be a number")
    try:
        result = float(value)
    except OverflowError:
        raise ValueError(f"{name} is {value}, beyond the range of FP64") from None
    if isinstance(value, numbers.Integral) and result != operator.index(value):
        raise ValueError(f"{name} is {value}, which FP64 does not hold exactly")
    return result


def sites_of(rule):
    """"zero", "nonzero", "none", a value, or a range (lo, hi) either end of which may be None."""
    if isinstance(rule, str):
        if rule not in ("zero", "nonzero", "none"):
            raise ValueError(f"sites is {rule!r}, must be 'zero', 'nonzero', 'none', a value, or a range (lo, hi)")
        return _structs.Sites(rule=_structs.SITES.index(rule))
    if isinstance(rule, (tuple, list)):
        if len(rule) != 2:
            raise ValueError(f"sites has {len(rule)} values, a range is two: (lo, hi)")
        low, high = (-math.inf if rule[0] is None else number("sites[0]", rule[0]),
                     math.inf if rule[1] is None else number("sites[1]", rule[1]))
        return _structs.Sites(rule=_structs.SITES.index("range"), lo=low, hi=high)
    value = number("sites", rule)
    return _structs.Sites(rule=_structs.SITES.index("value"), lo=value, hi=value)


def axes_bits(axes, ndim):
    """One axis or several, counted from the end where negative; None: all."""
    if axes is None:
        return 0
    bits = 0
    for axis in axes if isinstance(axes, (tuple, list)) else (axes,):
        at = operator.index(axis)
        if not -ndim <= at < ndim:
            raise ValueError(f"axes names axis {at}, the array has {ndim}")
        if bits >> at % ndim & 1:
            raise ValueError(f"axes names axis {at} twice")
        bits |= 1 << at % ndim
    if bits == 0:
        raise ValueError("axes names no axis; None means all")
    return bits


def spacing_values(spacing, ndim):
    """One pitch for all axes, or one for each; None: 1. Zero is refused, which means 1 in C."""
    if spacing is None:
        return [1.0] * ndim
    values = [spacing] * ndim if not hasattr(spacing, "__len__") else list(spacing)
    if len(values) != ndim:
        raise ValueError(f"spacing has {len(values)} values, the array has {ndim} axes")
    values = [number(f"spacing[{a}]", value) for a, value in enumerate(values)]
    for a, value in enumerate(values):
        if not 0 < value < math.inf:
            raise ValueError(f"spacing[{a}] is {value:g}, must be positive and finite")
    return values


def make(shape, dtype, *, kind="mask", axes=None, sites="zero", metric="euclidean", chamfer=None, spacing=None,
         limit=None, border=False, payload=None, esf=None, skeleton=None, morphology=None, sign=None,
         surface="centre", comparison=None, thickness=False, cvt=None):
    """The problem without its outputs. `esf`: {"rho": ..., "steps": ..., "dt": ..., "tolerance": ...}, whose absent or
    None members have C's defaults; with it edge strengths are computed. `skeleton`: {"pruning": ..., "gamma": ...}; with
    it a skeleton is. `morphology`: {"step": ..., "radius": ..., "outside": ...}; with it a set, or labels, grow or shrink.
    `comparison`: {"other": dtype, "points": ..., "tolerance": ..., "percentiles": ...}; with it two masks are compared.
    `thickness`: local thickness is computed. `cvt`: {"points": ..., "steps": ..., "omega": ..., "seed": ...,
    "grids": ...}; with it a centroidal Voronoi diagram is."""
    ndim = len(shape)
    if not 1 <= ndim <= _structs.MAX_NDIM:
        raise ValueError(f"the array has {ndim} axes, must have 1 to {_structs.MAX_NDIM}")
    problem = _structs.Problem(
        input=choice("kind", kind, _structs.INPUTS), dtype=dtype_code("the input", dtype), ndim=ndim,
        axes=axes_bits(axes, ndim), metric=choice("metric", metric, _structs.METRICS), border=bool(border))
    problem.sites = sites_of(sites)
    problem.shape[:ndim] = shape
    problem.spacing[:ndim] = spacing_values(spacing, ndim)
    problem.sign = choice("sign", "none" if sign is None else sign, _structs.SIGNS)
    problem.surface = choice("surface", surface, _structs.SURFACES)
    if limit is not None:
        problem.limit = number("limit", limit)
        if not problem.limit > 0:
            raise ValueError(f"limit is {problem.limit:g}, must be positive; None means no limit")
    if chamfer is not None:
        weights = [operator.index(weight) for weight in chamfer]
        if len(weights) not in (2, 3):
            raise ValueError(f"chamfer has {len(weights)} weights, must have 2 or 3")
        if any(abs(weight) > INT32 for weight in weights):
            raise ValueError(f"chamfer is {tuple(weights)}: weights are at most 65535")
        problem.chamfer[:len(weights)] = weights
    if payload is not None:
        problem.payload = dtype_code("payload", payload)
    if esf is not None:
        problem.field = _structs.FIELDS.index("edge_strength")
        problem.esf = esf_of(**{name: value for name, value in esf.items() if value is not None})
    if skeleton is not None:
        problem.field = _structs.FIELDS.index("skeleton")
        problem.skeleton = skeleton_of(**skeleton)
    if morphology is not None:
        problem.field = _structs.FIELDS.index("morphology")
        problem.morphology = morphology_of(**morphology)
    if comparison is not None:
        problem.field = _structs.FIELDS.index("comparison")
        problem.comparison = comparison_of(**comparison)
    if thickness:
        problem.field = _structs.FIELDS.index("thickness")
    if cvt is not None:
        problem.field = _structs.FIELDS.index("cvt")
        problem.cvt = cvt_of(**cvt)
    return problem


def comparison_of(other, points="surface", tolerance=0, percentiles=(95,)):
    percents = [number("a percentile", value) for value in percentiles]
    if not 1 <= len(percents) <= _structs.MAX_PERCENTILES:
        raise ValueError(f"percentiles has {len(percents)} values, must have 1 to {_structs.MAX_PERCENTILES}")
    return _structs.Comparison(other=dtype_code("the other mask", other), points=choice("points", points, _structs.POINTS),
                               tolerance=number("tolerance", tolerance), percentile_count=len(percents),
                               percentile=(*percents, *[0] * (_structs.MAX_PERCENTILES - len(percents))))


def skeleton_of(pruning="square_root", gamma=None):
    return _structs.Skeleton(pruning=choice("pruning", pruning, _structs.PRUNINGS),
                             gamma=0 if gamma is None else number("gamma", gamma))


def morphology_of(step, radius, outside=False):
    return _structs.Morphology(step=choice("step", step, _structs.MORPHOLOGY_STEPS), radius=number("radius", radius),
                               outside=bool(outside))


def cvt_of(points, steps=0, omega=1.0, seed=0, grids=None):
    """Zero, which means the default in C, is refused."""
    whole = {name: operator.index(value) for name, value in (("points", points), ("steps", steps), ("seed", seed))}
    for name, value in whole.items():
        if not -1 << 63 <= value < 1 << (64 if name == "seed" else 63) or name == "seed" and value < 0:
            raise ValueError(f"{name} is {value}, must {'be 0 to 2^64 - 1' if name == 'seed' else 'fit 64 bits'}")
    if grids is not None and not 1 <= operator.index(grids) <= 16:
        raise ValueError(f"grids is {grids}, must be 1 to 16; None means 16")
    if number("omega", omega) == 0:
        raise ValueError("omega is 0, must be above 0 and below 2")
    return _structs.Cvt(omega=number("omega", omega), grids=0 if grids is None else grids, **whole)


def esf_of(rho, steps=None, dt=None, tolerance=None):
    """Zero, which means the default in C, is refused."""
    if steps is not None and not 0 < operator.index(steps) < 1 << 63:
        raise ValueError(f"steps is {steps}, must be positive and below 2^63; None means the state at rest")
    given = {name: number(name, value) for name, value in (("dt", dt), ("tolerance", tolerance)) if value is not None}
    for name, value in given.items():
        if value == 0:
            raise ValueError(f"{name} is 0, must be positive; None means the default")
    return _structs.Esf(rho=number("rho", rho), steps=steps or 0, **given)


def ask(problem, want):
    """Sets the outputs: {name: dtype}."""
    problem.want = _structs.Outputs()
    for name, dtype in want.items():
        choice("want", name, _structs.OUTPUTS)
        setattr(problem.want, name, dtype_code(name, dtype))
