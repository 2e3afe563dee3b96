"""Calls for arrays in a GPU's memory that come again: what they need is found by their signature.

The first call of a signature (function, options, types, shapes, strides, GPU and stream) goes through everything that compute() does. Its
plan is kept with its scratch, for this thread; later calls take new outputs from the array's library and enqueue. So scratch is used by the
work of one stream alone, which runs in order. At most 64 calls and 64 MiB of scratch are kept, the oldest are given up. Work that a graph
captures is not: the graph would outlive the scratch.
"""

import threading
from typing import NamedTuple

from . import _arrays

MOST_CALLS, MOST_BYTES = 64, 64 << 20
PLAIN = (bool, int, float, str, type(None))


class Call(NamedTuple):
    plan: object
    outputs: tuple  # (name, dtype, shape, order in memory) of new arrays
    bytes: int


class Kept(threading.local):
    def __init__(self):
        self.calls, self.bytes = {}, 0

    def find(self, key):
        return self.calls.get(key)

    def keep(self, key, call):
        if call.bytes > MOST_BYTES:
            return
        self.calls[key] = call
        self.bytes += call.bytes
        while len(self.calls) > MOST_CALLS or self.bytes > MOST_BYTES:
            self.bytes -= self.calls.pop(next(iter(self.calls))).bytes


kept = Kept()


def frozen(value):
    """An option with its type, since True, 1 and 1.0 are equal. TypeError: it cannot be known again."""
    kind = type(value)
    if kind in PLAIN:
        return kind, value
    if kind in (tuple, list):
        return kind, *map(frozen, value)
    if isinstance(value, type) or kind.__name__.endswith(("dtype", "DType")):  # of NumPy or PyTorch
        return kind, value
    raise TypeError(kind)


def signature(maker, source, out, options):
    """The key of a call, None where it cannot be known again. It holds the stream, and the options."""
    if source.home not in (_arrays.Cupy, _arrays.Torch) or source.ordinal is None or (out is not None and out.ordinal != source.ordinal):
        return None
    stream = source.home.stream(source)
    if source.home.is_capturing(stream[1]):
        return None
    arrays = tuple(array and (array.home, array.dtype, array.shape, array.strides) for array in (source, out))
    try:
        return maker, source.ordinal, stream[0], arrays, tuple(map(frozen, options))
    except TypeError:
        return None


def run(call, source, out, progress):
    """The outputs in their order: `out` first, if there is one."""
    context = call.plan.context
    if context.handle.busy:
        return None
    context.set_stream(*source.home.stream(source))
    arrays, results = {"input": source.view()}, []
    for name, dtype, shape, order in call.outputs:
        if dtype is None:
            results.append(out.array)
            arrays[name] = out.view()
            continue
        results.append(_arrays.empty(shape, dtype, source, order))
        arrays[name] = _arrays.take(results[-1], name, writable=True).view()
    call.plan.handle.execute(arrays, progress)
    return results
