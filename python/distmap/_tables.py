"""What the library offers: methods and devices."""

import itertools
from dataclasses import dataclass

from . import _names
from ._library import library
from ._problem import whole


@dataclass(frozen=True)
class Param:
    """A parameter of a method: its default and range; `names` of the values, lowest first, where they are choices."""
    name: str
    default: int
    lowest: int
    highest: int
    summary: str
    names: tuple = ()


@dataclass(frozen=True)
class Method:
    """A row of the method table."""
    name: str
    summary: str
    source: str
    device: str
    exact: bool
    metrics: tuple
    params: tuple
    field: str  # what it computes: "distance", "edge_strength", "skeleton", "morphology", "comparison", "thickness", "cvt"


@dataclass(frozen=True)
class Device:
    """What there is to compute on. All but the name are 0 for a CPU."""
    device: str
    name: str
    memory_bytes: int
    multiprocessors: int
    capability: tuple
    driver: tuple
    runtime: tuple
    shared_bytes: int  # shared memory that a block may have


def read_method(row):
    told = library().method(row)
    if not told:
        return None
    params = tuple(Param(p["name"], p["fallback"], p["lowest"], p["highest"], p["summary"], tuple(p["names"])) for p in told["params"])
    metrics = tuple(name for bit, name in enumerate(_names.METRICS) if (told["metrics"] or 1) >> bit & 1)
    return Method(**told | {"metrics": metrics, "params": params, "field": _names.FIELDS[told["field"]]})


def methods():
    """The methods, fastest first.

    >>> methods()[0].name
    'minplus/cpu'
    """
    return list(itertools.takewhile(bool, map(read_method, itertools.count())))


def devices():
    """The devices that can be used: the CPU, then the GPUs.

    >>> devices()[0].device
    'cpu'
    """
    return [describe(kind, ordinal) for kind in range(len(_names.DEVICES))
            for ordinal in range(library().device_count(kind))]


def describe(kind, ordinal):
    told = {key: tuple(value) if isinstance(value, list) else value for key, value in library().describe(kind, ordinal).items()}
    return Device(f"cuda:{ordinal}" if kind else "cpu", **told)


def param_value(method, name, value):
    """The number of a parameter's value, which may be one of its names."""
    if not isinstance(value, str):
        return whole(f"params[{name!r}]", value)
    for row in methods():
        for param in row.params if row.name == method else ():
            if param.name == name and value in param.names:
                return param.lowest + param.names.index(value)
    raise ValueError(f"params: {value!r} is no value of {name} of the method {method}")
