"""A problem of the C API from Python's arguments: names, numbers and sequences become the structure's members.

Only what C's types cannot take is refused here, so that each rule stands once, in the library, with its text.
"""

import functools
import inspect
import math
import numbers
import operator

import numpy as np

from . import _names

INT32 = (1 << 31) - 1
CODES = {name: code for code, name in enumerate(_names.DTYPES) if code}


def choice(name, value, names):
    """The value of an enumeration's name."""
    if value not in names:
        raise ValueError(f"{name} is {value!r}, must be one of {', '.join(names)}")
    return names.index(value)


@functools.lru_cache(256)
def name_of(dtype):
    """"float32" of a name, a NumPy or CuPy dtype or type, a torch.dtype, or what else NumPy knows a dtype by (float, "f4")."""
    text = getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype)
    text = text.rpartition(".")[2].rstrip("_")  # torch.float32, numpy.bool_
    if text in CODES or dtype is None:  # which NumPy takes for float64
        return text
    try:
        return np.dtype(dtype).name
    except (TypeError, ValueError):
        return text


def dtype_code(name, dtype):
    """The library's number for it."""
    try:
        found = name_of(dtype)
    except TypeError:  # not hashable
        found = repr(dtype)
    if found not in CODES:
        raise TypeError(f"{name} has dtype {found}, must be one of {', '.join(CODES)}")
    return CODES[found]


def number(name, value):
    """A float, exactly."""
    if isinstance(value, (bool, np.bool_, str, bytes)):
        raise TypeError(f"{name} is {value!r}, must be a number")
    try:
        result = float(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}, must be a number") from None
    except OverflowError:
        raise ValueError(f"{name} is {value}, beyond the range of FP64") from None
    if isinstance(value, numbers.Integral) and result != operator.index(value):
        raise ValueError(f"{name} is {value}, which FP64 does not hold exactly")
    return result


def whole(name, value, lowest=-1 << 63, highest=(1 << 63) - 1):
    """An integer in that range."""
    try:
        result = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}, must be an integer") from None
    if not lowest <= result <= highest:
        raise ValueError(f"{name} is {result}, must be {lowest} to {highest}")
    return result


def sequence(name, values, what):
    """A list of several values."""
    try:
        return list(values)
    except TypeError:
        raise TypeError(f"{name} is {values!r}, must be {what}") from None


@functools.cache
def parameters_of(make):
    return inspect.signature(make).parameters


def members(name, given, make):
    """What `make` makes of a mapping, by which a caller gives its arguments."""
    known = parameters_of(make)
    if not hasattr(given, "keys"):
        raise TypeError(f"{name} is {given!r}, must be a mapping of {', '.join(known)}")
    for key in given:
        choice(f"a key of {name}", key, tuple(known))
    for key, parameter in known.items():
        if parameter.default is parameter.empty and given.get(key) is None:
            raise ValueError(f"{name} has no {key!r}, which it must")
    return make(**given)


def sites_of(rule):
    """"zero", "nonzero", "none", a value, or a range (lo, hi) either end of which may be None."""
    if isinstance(rule, str):
        if rule not in ("zero", "nonzero", "none"):
            raise ValueError(f"sites is {rule!r}, must be 'zero', 'nonzero', 'none', a value, or a range (lo, hi)")
        return {"rule": _names.SITES.index(rule)}
    if isinstance(rule, (tuple, list)):
        if len(rule) != 2:
            raise ValueError(f"sites has {len(rule)} values, a range is two: (lo, hi)")
        low, high = (-math.inf if rule[0] is None else number("sites[0]", rule[0]),
                     math.inf if rule[1] is None else number("sites[1]", rule[1]))
        return {"rule": _names.SITES.index("range"), "lo": low, "hi": high}
    value = number("sites", rule)
    return {"rule": _names.SITES.index("value"), "lo": value, "hi": value}


def axes_named(axes, ndim):
    """One axis or several, counted from the end where negative, as they are named; None: all."""
    if axes is None:
        return list(range(ndim))
    named = []
    for axis in axes if np.iterable(axes) and not isinstance(axes, str) else (axes,):
        at = whole("axes", axis)
        if not -ndim <= at < ndim:
            raise ValueError(f"axes names axis {at}, the array has {ndim}")
        if at % ndim in named:
            raise ValueError(f"axes names axis {at} twice")
        named.append(at % ndim)
    if not named:
        raise ValueError("axes names no axis; None means all")
    return named


def axes_bits(axes, ndim):
    """As C names them; None: all, which are 0 there."""
    return 0 if axes is None else sum(1 << axis for axis in axes_named(axes, ndim))


def spacing_values(spacing, axes, ndim):
    """One pitch for all axes, or one for each, or one for each that is measured, as `axes` names them; None: 1. Zero is refused, which
    means 1 in C."""
    if spacing is None:
        return [1.0] * ndim
    values = list(spacing) if np.iterable(spacing) else [spacing] * ndim
    named = axes_named(axes, ndim)
    if len(values) not in (ndim, len(named)):
        measured = "" if len(named) == ndim else f", {len(named)} of them measured"
        raise ValueError(f"spacing has {len(values)} values, the array has {ndim} axes{measured}")
    values = [number(f"spacing[{a}]", value) for a, value in enumerate(values)]
    for a, value in enumerate(values):
        if not 0 < value < math.inf:
            raise ValueError(f"spacing[{a}] is {value:g}, must be positive and finite")
    if len(values) == ndim:
        return values
    pitches = dict(zip(named, values))
    return [pitches.get(axis, 1.0) for axis in range(ndim)]


def make(shape, dtype, *, kind="mask", axes=None, sites="zero", metric="euclidean", chamfer=None, spacing=None,
         limit=None, border=False, payload=None, esf=None, skeleton=None, morphology=None, sign=None,
         surface="centre", comparison=None, thickness=False, cvt=None, order=None, real=False, unit=None):
    """The problem without its outputs, members by their names in distmap.h. `esf`: {"rho": ..., "steps": ..., "dt": ...,
    "tolerance": ...}, whose absent or None members have C's defaults; with it edge strengths are computed.
    `skeleton`: {"pruning": ..., "gamma": ...}; with it a skeleton is. `morphology`: {"step": ..., "radius": ..., "outside": ...}; with it a set, or labels, grow or shrink.
    `comparison`: {"other": dtype, "points": ..., "tolerance": ..., "percentiles": ...}; with it two masks are compared.
    `thickness`: local thickness is computed. `cvt`: {"points": ..., "steps": ..., "omega": ..., "seed": ...,
    "grids": ...}; with it a centroidal Voronoi diagram is. `order`: the axes as they lie in memory, slowest first. `real`,
    `unit`: of a part, along some axes, of an image whose pitches have no unit, or that unit."""
    ndim = len(shape)
    if not 1 <= ndim <= _names.MAX_AXES:
        raise ValueError(f"the array has {ndim} axes, must have 1 to {_names.MAX_AXES}")
    problem = {
        "input": choice("kind", kind, _names.INPUTS), "dtype": dtype_code("the input", dtype), "ndim": ndim, "axes": axes_bits(axes, ndim),
        "metric": choice("metric", metric, _names.METRICS), "border": bool(border), "sites": sites_of(sites),
        "shape": [whole(f"shape[{a}]", size) for a, size in enumerate(shape)], "spacing": spacing_values(spacing, axes, ndim),
        "sign": choice("sign", "none" if sign is None else sign, _names.SIGNS),
        "surface": choice("surface", surface, _names.SURFACES), "real": bool(real), "unit": 0 if unit is None else number("unit", unit)}
    if order is not None:
        order = [whole(f"order[{i}]", axis, -INT32, INT32) for i, axis in enumerate(sequence("order", order, "axes"))]
        if len(order) != ndim:
            raise ValueError(f"order has {len(order)} axes, the array has {ndim}")
        problem["order"] = order
    if limit is not None:
        problem["limit"] = number("limit", limit)
        if not problem["limit"] > 0:
            raise ValueError(f"limit is {problem['limit']:g}, must be positive; None means no limit")
    if chamfer is not None:
        weights = sequence("chamfer", chamfer, "two or three weights")
        if len(weights) not in (2, 3):
            raise ValueError(f"chamfer has {len(weights)} weights, must have 2 or 3")
        weights = [whole(f"chamfer[{i}]", weight) for i, weight in enumerate(weights)]
        if any(abs(weight) > INT32 for weight in weights):
            raise ValueError(f"chamfer is {tuple(weights)}: weights are at most 65535")
        problem["chamfer"] = weights
    if payload is not None:
        problem["payload"] = dtype_code("payload", payload)
    for name, given, make_members in (("esf", esf, esf_of), ("skeleton", skeleton, skeleton_of), ("morphology", morphology, morphology_of),
                                      ("comparison", comparison, comparison_of), ("cvt", cvt, cvt_of)):
        if given is not None:
            problem["field"] = _names.FIELDS.index("edge_strength" if name == "esf" else name)
            problem[name] = members(name, given, make_members)
    if thickness:
        problem["field"] = _names.FIELDS.index("thickness")
    return problem


def comparison_of(other, points="surface", tolerance=0, percentiles=(95,)):
    percents = [number("a percentile", value) for value in percentiles]
    if not 1 <= len(percents) <= _names.MAX_PERCENTILES:
        raise ValueError(f"percentiles has {len(percents)} values, must have 1 to {_names.MAX_PERCENTILES}")
    return {"other": dtype_code("the other mask", other), "points": choice("points", points, _names.POINTS),
            "tolerance": number("tolerance", tolerance), "percentile_count": len(percents), "percentile": percents}


def skeleton_of(pruning="square_root", gamma=None):
    return {"pruning": choice("pruning", pruning, _names.PRUNINGS), "gamma": 0 if gamma is None else number("gamma", gamma)}


def morphology_of(step, radius, outside=False):
    return {"step": choice("step", step, _names.MORPHOLOGY_STEPS), "radius": number("radius", radius), "outside": bool(outside)}


def cvt_of(points, steps=0, omega=1.0, seed=0, grids=None):
    """Zero, which means the default in C, is refused."""
    if number("omega", omega) == 0:
        raise ValueError("omega is 0, must be above 0 and below 2")
    return {"points": whole("points", points), "steps": whole("steps", steps), "seed": whole("seed", seed, 0, (1 << 64) - 1),
            "omega": number("omega", omega), "grids": 0 if grids is None else whole("grids", grids, 1, 16)}


def esf_of(rho, steps=None, dt=None, tolerance=None):
    """Zero, which means the default in C, is refused."""
    if steps is not None and not 0 < whole("steps", steps):
        raise ValueError(f"steps is {steps}, must be positive and below 2^63; None means the state at rest")
    given = {name: number(name, value) for name, value in (("dt", dt), ("tolerance", tolerance)) if value is not None}
    for name, value in given.items():
        if value == 0:
            raise ValueError(f"{name} is 0, must be positive; None means the default")
    return {"rho": number("rho", rho), "steps": steps or 0, **given}


def ask(problem, want):
    """Sets the outputs: {name: dtype}."""
    if not hasattr(want, "keys"):
        raise TypeError(f"want is {want!r}, must be {{output: dtype}}")
    problem["want"] = {}
    for name, dtype in want.items():
        choice("want", name, _names.OUTPUTS)
        problem["want"][name] = dtype_code(name, dtype)
