"""Outputs of types that the library does not write: computed in another type, and converted.

    float16                     distances and squares, from float64
    int8, uint8, int16, uint16  distances times a scale plus an offset, from float64
    any, of foreign byte order or misaligned (NumPy)

A conversion takes the memory of the other type for as long.
"""

from dataclasses import dataclass

import numpy as np

from . import _arrays
from ._problem import name_of, number

FLOATS = ("distance", "squared", "strength")  # outputs that float16 may hold
SCALED = ("int8", "uint8", "int16", "uint16")


@dataclass
class Stored:
    """An output's own array, None for one to be made, its type, and how it comes from what is computed."""
    array: object
    dtype: str
    scale: float | None = None
    offset: float = 0.0

    def put(self, computed):
        """Converts into the caller's array or a new one of the same library. `computed` is used up."""
        target = self.array
        if self.scale is not None:
            computed = scaled(computed, self.scale, self.offset, np.iinfo(self.dtype))
        if self.scale is not None or self.dtype == "float16":
            computed = cast(computed, self.dtype)
        if self.array is None:
            return computed
        self.array[...] = computed
        return self.array


def scaled(distance, scale, offset, limits):
    """In place: distance * scale + offset, both operations rounded to float64, to the nearest integer of the type's range, ties to even."""
    distance *= scale
    distance += offset
    module = _arrays.sys.modules["torch"] if _arrays.home_of(distance) is _arrays.Torch else None
    if module:
        return module.clamp(module.round(distance, out=distance), limits.min, limits.max, out=distance)
    space = np if isinstance(distance, np.ndarray) else _arrays.sys.modules["cupy"]
    return space.clip(space.rint(distance, out=distance), limits.min, limits.max, out=distance)


def cast(array, dtype):
    home = _arrays.home_of(array)
    if home is _arrays.Torch:
        torch = _arrays.sys.modules["torch"]
        return (odd(array, torch, array.float()) if dtype == "float16" else array).to(getattr(torch, dtype))
    if dtype == "float16" and home is _arrays.Cupy:
        array = odd(array, _arrays.sys.modules["cupy"], array.astype("float32"))
    with np.errstate(over="ignore"):  # beyond float16: infinity, as IEEE 754 rounds
        return array.astype(dtype)


def odd(wide, module, narrow):
    """float64 as float32 rounded to odd, which float16 rounds as float64 itself: these libraries go by way of float32. `narrow` is rounded
    to nearest."""
    over, inexact = abs(narrow) > abs(wide), narrow != wide
    narrow = module.where(over, module.nextafter(narrow, module.zeros_like(narrow)), narrow)
    bits = narrow.view(module.int32)
    bits |= inexact
    return narrow


def apart(want, out, scale, offset):
    """Takes those outputs out of both mappings that the library cannot write, and asks for what it can: {name: Stored}."""
    found = {}
    if scale is not None or offset is not None:
        found["distance"] = scaled_output(want, out, scale, offset)
    for name in want:
        array, asked = out.get(name), want[name]
        dtype = known(getattr(array, "dtype", None) if asked is None else asked)
        if name in found:
            continue
        if dtype == "float16" and name in FLOATS:
            found[name] = Stored(array, dtype)
        elif isinstance(array, np.ndarray) and array.flags.writeable and not (array.dtype.isnative and array.flags.aligned):
            found[name] = Stored(array, array.dtype.name)
    for name, stored in found.items():
        out.pop(name, None)
        want[name] = "float64" if stored.scale is not None or stored.dtype == "float16" else stored.dtype
    return found


def known(dtype):
    """Its name; None for what is no dtype."""
    try:
        return None if dtype is None else name_of(dtype)
    except TypeError:  # not hashable
        return None


def scaled_output(want, out, scale, offset):
    if "distance" not in want:
        raise ValueError("scale and offset are for distances, which are not wanted")
    array = out.get("distance")
    dtype = want["distance"] or getattr(array, "dtype", None)
    if known(dtype) not in SCALED:
        told = "not given" if dtype is None else known(dtype) or repr(dtype)
        raise ValueError(f"dtype is {told}, must be one of {', '.join(SCALED)} where scale or offset is given")
    scale, offset = 1.0 if scale is None else number("scale", scale), 0.0 if offset is None else number("offset", offset)
    if not (np.isfinite(scale) and scale != 0 and np.isfinite(offset)):
        raise ValueError(f"scale is {scale:g} and offset {offset:g}, must be finite, and scale not 0")
    return Stored(array, name_of(dtype), scale, offset)
