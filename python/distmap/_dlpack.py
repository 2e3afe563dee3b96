"""Tensors handed over by DLPack, read through ctypes: just what a view needs.

A capsule named "dltensor" holds a DLManagedTensor. It stays named so here: whoever made it frees it with the capsule,
which the tensor keeps for as long as its memory is used.
"""

import ctypes as c
from dataclasses import dataclass

from ._arrays import LEGACY_STREAM

KINDS = {0: "int", 1: "uint", 2: "float", 6: "bool"}


class Tensor(c.Structure):
    _fields_ = [("data", c.c_void_p), ("device_type", c.c_int32), ("device_id", c.c_int32), ("ndim", c.c_int32),
                ("code", c.c_uint8), ("bits", c.c_uint8), ("lanes", c.c_uint16),
                ("shape", c.POINTER(c.c_int64)), ("strides", c.POINTER(c.c_int64)), ("byte_offset", c.c_uint64)]


@dataclass
class Handed:
    """What a capsule says; strides count elements, None for row-major."""
    capsule: object
    data: int
    ordinal: int
    dtype: str
    itemsize: int
    shape: list
    strides: list | None
    read_only: bool = False


def take(array):
    """The tensor of an object in a GPU's memory, ready for work on the default stream."""
    capsule = array.__dlpack__(stream=LEGACY_STREAM)
    pointer = c.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = c.c_void_p, [c.py_object, c.c_char_p]
    tensor = Tensor.from_address(pointer(capsule, b"dltensor"))
    kind = KINDS.get(tensor.code)
    if kind is None or tensor.lanes != 1 or tensor.bits % 8:
        raise TypeError(f"DLPack: elements of type {tensor.code} with {tensor.bits} bits and {tensor.lanes} lanes are"
                        " not understood")
    return Handed(capsule=capsule, data=(tensor.data or 0) + tensor.byte_offset or None, ordinal=tensor.device_id,
                  dtype="bool" if kind == "bool" else f"{kind}{tensor.bits}", itemsize=tensor.bits // 8,
                  shape=tensor.shape[:tensor.ndim], strides=tensor.strides[:tensor.ndim] if tensor.strides else None)
