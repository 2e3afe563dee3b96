"""What the library offers: methods and devices."""

import ctypes as c
import itertools
from dataclasses import dataclass

from . import _structs
from ._library import check, library
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
    info = library().distmap_method_get(row)
    if not info:
        return None
    info, params = info.contents, []
    for p in info.params[:info.param_count] if info.param_count else ():
        names = tuple(p.names[k].decode() for k in range(p.highest - p.lowest + 1)) if p.names else ()
        params.append(Param(p.name.decode(), p.fallback, p.lowest, p.highest, p.summary.decode(), names))
    metrics = tuple(name for bit, name in enumerate(_structs.METRICS) if (info.metrics or 1) >> bit & 1)
    return Method(info.name.decode(), info.summary.decode(), info.source.decode(), info.device.decode(), info.exact,
                  metrics, tuple(params), _structs.FIELDS[info.field])


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
    return [describe(kind, ordinal) for kind in range(len(_structs.DEVICES))
            for ordinal in range(library().distmap_device_count(kind))]


def describe(kind, ordinal):
    info = _structs.DeviceInfo()
    check(library().distmap_device_describe(kind, ordinal, c.byref(info)))
    return Device(f"cuda:{ordinal}" if kind else "cpu", info.name.decode(), info.memory_bytes, info.multiprocessors,
                  tuple(info.capability), tuple(info.driver), tuple(info.runtime),
                  info.shared_bytes)


def param_value(method, name, value):
    """The number of a parameter's value, which may be one of its names."""
    if not isinstance(value, str):
        return whole(f"params[{name!r}]", value)
    for row in methods():
        for param in row.params if row.name == method else ():
            if param.name == name and value in param.names:
                return param.lowest + param.names.index(value)
    raise ValueError(f"params: {value!r} is no value of {name} of the method {method}")
