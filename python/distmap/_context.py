"""Contexts as objects, and one for each thread.

A context is destroyed once nothing refers to it, and after its plans: what ends an object holds on to what that needs,
also where the garbage collector frees all at once. At the end of the process nothing is destroyed: a daemon thread may
still be at work with it, and the system takes the memory back.
"""

import ctypes as c
import functools
import os
import threading
import weakref

from . import _problem, _structs
from ._library import check, library

mine = threading.local()


def place_of(device):
    """(kind, ordinals) of "cpu", "cuda", "cuda:1", "cuda:0-3" or "cuda:0,2"."""
    kind, colon, numbers = str(device).partition(":")
    ordinals = []
    for item in (numbers if colon else "0").split(","):
        first, dash, last = item.partition("-")
        if first.isdecimal() and (last.isdecimal() or not dash):
            ends = [min(int(end), _problem.INT32) for end in (first, last or first)]
            ordinals += range(ends[0], min(ends[1], ends[0] + _structs.MAX_GPUS) + 1) or [None]
        else:
            ordinals.append(None)
    if kind not in _structs.DEVICES or colon and kind == "cpu" or None in ordinals:
        raise ValueError(f"device is {device!r}, must be 'cpu', 'cuda', 'cuda:N', or several GPUs as 'cuda:0-3' or "
                         "'cuda:0,2'")
    return _structs.DEVICES.index(kind), tuple(ordinals)


def thread_count(threads):
    """0, which is C's default, for None."""
    if threads is None:
        return 0
    try:
        return _problem.whole("threads", threads, 1, 1024)
    except ValueError as error:
        raise ValueError(f"{error}; None means as many as the process may use") from None


def destroy_with(owner, name, handle, *keep):
    """Has C's function of this name destroy the handle once the owner is gone; `keep` lives until then."""
    weakref.finalize(owner, destroy, name, handle, keep).atexit = False


def destroy(name, handle, _):
    getattr(library(), name)(c.byref(handle))


# What C calls is a generator's send() by way of a partial(), all of it C, and not a function of Python: at the beginning of such a
# function Python handles signals, and no `try` within it would catch what their handlers raise, as Ctrl-C does. A generator goes on
# inside of its `try`.
ASK = c.CFUNCTYPE(c.c_int, c.py_object, c.c_double)


class Progress:
    """The caller's progress function as a callback of C, through which no exception can pass."""

    def __init__(self, ask):
        self.raised, self.user, self.callback = [], None, _structs.PROGRESS()
        self.ask = ask
        if ask:
            self.asking, self.call = functools.partial(ask), ASK(functools.partial.__call__)
            self.renew()
            self.user, self.callback = id(self.asking), c.cast(self.call, _structs.PROGRESS)

    def renew(self):
        """For a child of fork(), too: a generator that another thread was in stays so."""
        if self.ask:
            answers = self.answers(self.ask, self.raised)
            next(answers)
            self.asking.__setstate__((answers.send, (), {}, {}))

    @staticmethod
    def answers(ask, raised):
        answer = 0
        while True:
            try:
                while True:
                    fraction = yield answer
                    answer = 1 if raised or ask(fraction) else 0
            except GeneratorExit:
                return
            except BaseException as error:
                raised.append(error)
                answer = 1

    def check(self, status):
        if self.raised:
            error = self.raised[0]
            self.raised.clear()
            raise error
        check(status)


class Turn:
    """One thread at a time uses a context; others wait. A progress function that would wait for its own execution is told."""

    def __init__(self):
        self.renew()

    def renew(self):
        self.lock, self.owner = threading.Lock(), None

    def run(self, call):
        me = threading.get_ident()
        if self.owner == me:
            raise RuntimeError("the context is in use by the execution that calls the progress function, which cannot use it"
                               " too: give it a context of its own")
        with self.lock:
            try:
                self.owner = me
                return call()
            finally:
                self.owner = None


contexts = weakref.WeakSet()


def renew_all():
    """In a child of fork(), where the threads are not that used them."""
    for context in list(contexts):
        context.turn.renew()
        context.progress.renew()


os.register_at_fork(after_in_child=renew_all)


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
        self.turn = Turn()
        self.progress = Progress(progress)
        self._stream = (stream, None)
        options = _structs.ContextOptions(device=kind, ordinal=0 if several else ordinals[0], stream=stream,
                                          ordinals=(c.c_int * len(several))(*several) if several else None,
                                          ordinal_count=len(several), threads=thread_count(threads),
                                          progress=self.progress.callback, progress_user=self.progress.user)
        self.handle = c.c_void_p()
        check(library().distmap_context_create(c.byref(options), c.byref(self.handle)))
        contexts.add(self)
        destroy_with(self, "distmap_context_destroy", self.handle, self.progress)

    @property
    def isa(self):
        """The instruction set: "avx2"; on a GPU "sm_90"."""
        return library().distmap_context_isa(self.handle).decode()

    @property
    def threads(self):
        return library().distmap_context_threads(self.handle)

    def set_stream(self, stream, keep=None):
        """Plans enqueue on this cudaStream_t from now on; `keep` is an object to hold on to as long."""
        if stream != self._stream[0]:
            check(library().distmap_context_set_stream(self.handle, stream))
        self._stream = (stream, keep)


def context_for(device, threads, progress=None):
    """The calling thread's own; with a progress function a new one."""
    if progress:
        return Context(device, threads, progress=progress)
    contexts = mine.__dict__.setdefault("contexts", {})
    key = (place_of(device), threads)
    if key not in contexts:
        contexts[key] = Context(device, threads)
    return contexts[key]
