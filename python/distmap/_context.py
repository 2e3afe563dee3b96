"""Contexts as objects, and those of each thread."""

import functools
import threading

from . import _names, _problem
from ._library import core, library

mine = threading.local()


def place_of(device):
    """(kind, ordinals) of "cpu", "cuda", "cuda:1", "cuda:0-3" or "cuda:0,2"."""
    return place_named(str(device))


@functools.lru_cache(256)
def place_named(device):
    kind, colon, numbers = device.partition(":")
    ordinals = []
    for item in (numbers if colon else "0").split(","):
        first, dash, last = item.partition("-")
        if first.isdecimal() and (last.isdecimal() or not dash):
            ends = [min(int(end), _problem.INT32) for end in (first, last or first)]
            ordinals += range(ends[0], min(ends[1], ends[0] + _names.MAX_GPUS) + 1) or [None]
        else:
            ordinals.append(None)
    if kind not in _names.DEVICES or colon and kind == "cpu" or None in ordinals:
        raise ValueError(f"device is {device!r}, must be 'cpu', 'cuda', 'cuda:N', or several GPUs as 'cuda:0-3' or "
                         "'cuda:0,2'")
    return _names.DEVICES.index(kind), tuple(ordinals)


def thread_count(threads):
    """0, which is C's default, for None."""
    if threads is None:
        return 0
    try:
        return _problem.whole("threads", threads, 1, 1024)
    except ValueError as error:
        raise ValueError(f"{error}; None means as many as the process may use") from None


class Context:
    """A device with its threads, for any number of plans.

    device: "cpu", "cuda" or "cuda:N"; "cuda:0-3" or "cuda:0,2" are several GPUs, for arrays in host memory. threads:
    how many the plans use; None: as many as the process may use. stream
    (GPU): the address of a cudaStream_t, which the caller keeps. progress: called now and then during an execution with
    the share that is done, 0 to 1; where it returns something true, or raises, the execution ends.

    One thread at a time executes plans of one context; others wait. A progress function cannot use the context that calls it
    (RuntimeError). A forked child can use what it inherited, contexts of a GPU aside. Raises ValueError, MemoryError, RuntimeError (no
    such GPU).
    """

    def __init__(self, device="cpu", threads=None, stream=None, progress=None):
        kind, ordinals = place_of(device)
        several = ordinals if len(ordinals) > 1 else ()
        self.device = f"cuda:{','.join(map(str, ordinals))}" if kind else "cpu"
        self.progress = progress
        self._stream = (stream, None)
        options = {"device": kind, "ordinal": 0 if several else ordinals[0], "stream": stream or 0, "threads": thread_count(threads)}
        library()
        self.handle = core.Context(options, several)

    @property
    def isa(self):
        """The instruction set: "avx2"; on a GPU "sm_90"."""
        return self.handle.isa

    @property
    def threads(self):
        return self.handle.threads

    def set_stream(self, stream, keep=None):
        """Plans enqueue on this cudaStream_t from now on; `keep` is an object to hold on to as long."""
        if stream != self._stream[0]:
            self.handle.set_stream(stream)
        self._stream = (stream, keep)


def context_for(device, threads):
    """One of the calling thread's own: not one that executes, where the call comes from a progress function or a signal's handler."""
    contexts = mine.__dict__.setdefault("contexts", {}).setdefault((place_of(device), threads), [])
    free = next((context for context in contexts if not context.handle.busy), None)
    if not free:
        free = Context(device, threads)
        contexts.append(free)
    return free
