"""Plans as objects; each keeps its context, which is destroyed after it."""

from typing import NamedTuple

from . import _arrays, _names, _problem
from ._context import Context
from ._library import core
from ._tables import param_value


class Description(NamedTuple):
    """The choices of a plan: the method, the instruction set, threads, the bytes of scratch, the width of squared distances, and
    the unit of which the pitches of the measured axes are whole multiples."""
    method: str
    isa: str
    threads: int
    scratch_bytes: int
    integer: bool  # integer arithmetic; False: FP64
    squared_bits: int
    unit: float  # 0.1 for pitches 2.5, 0.7, 0.7; 0.0: FP64
    multiples: tuple  # of each axis, (25, 7, 7); 0 for one that is not measured


class Convergence(NamedTuple):
    """How edge strengths came about: steps, or cycles or sweeps, and the largest residual (NaN after steps)."""
    iterations: int
    residual: float


class Phase(NamedTuple):
    """A stage of a method, or a transfer, and the time that it took."""
    name: str
    kind: str  # "compute", "transfer"
    seconds: float


class Plan:
    """A problem bound to a method, with its scratch memory: made once, executed many times, allocating nothing.

    shape, dtype: of the input. want: {"distance": dtype, ...}, the outputs, any that transform() gives.
    context: a Context; None: one for this plan, of all threads of the CPU. kind, axes, sites, metric, chamfer, spacing,
    limit, border, esf, skeleton, morphology, thickness, cvt, sign, surface: as of transform(). payload: the dtype of the
    payload array. method: a name in methods(); params: {name: value} of its parameters. host_views (GPU): arrays in host
    memory are taken too. scratch: a contiguous array of uint8 with one axis, in the memory of the context's device, aligned
    to 64 bytes (256 on a GPU), of scratch_bytes() elements or more. timed: phases() tells what took how long. order: the
    axes as they will lie in memory, slowest first, (2, 1, 0) for volumes in Fortran order: it changes the speed alone, and
    that where no sites are asked for.

    >>> import numpy as np
    >>> plan = Plan((3, 4), np.uint8, {"distance": np.float32})
    >>> mask, distance = np.ones((3, 4), np.uint8), np.empty((3, 4), np.float32)
    >>> mask[1, 1] = 0
    >>> plan(mask, distance=distance)
    >>> distance[0].tolist()
    [1.4142135381698608, 1.0, 1.4142135381698608, 2.2360680103302]
    """

    def __init__(self, shape, dtype, want, *, context=None, method=None, params=None, host_views=False, scratch=None,
                 timed=False, **options):
        self._set_up(context_of(context), problem_of(shape, dtype, want, options), scratch,
                     plan_options(method, params, host_views, timed))

    def _set_up(self, context, problem, scratch, options):
        self.context, self.ndim = context, problem["ndim"]
        if scratch is not None:
            room = _arrays.take(scratch, "scratch", writable=True)
            contiguous = len(room.shape) == 1 and (room.strides[0] == 1 or room.shape[0] == 0)  # then they say nothing
            if _names.DTYPES[room.dtype] != "uint8" or not contiguous:
                raise ValueError("scratch must be a contiguous array of uint8 with one axis")
            if (room.ordinal is None) != (context.device == "cpu"):
                raise ValueError(f"scratch must lie in the memory of the context's device, {context.device}")
            options[0].update(scratch=room.data, scratch_bytes=room.shape[0])
        self.handle = core.Plan(context.handle, problem, *options, scratch)

    @classmethod
    def of(cls, context, problem, method=None, params=None, host_views=False, scratch=None):
        """From a problem's structure, with its outputs set."""
        plan = cls.__new__(cls)
        plan._set_up(context, problem, scratch, plan_options(method, params, host_views))
        return plan

    def bind(self, input, payload=None, other=None, **outputs):
        """A function without arguments that executes the plan from these arrays into those; it keeps them all."""
        arrays, keep = fill(input, {"payload": payload, "other": other}, outputs)
        context, execute = self.context, self.handle.execute

        def run(progress=None):
            execute(arrays, progress or context.progress)
        run.keep = keep
        return run

    def __call__(self, input, payload=None, other=None, **outputs):
        self.bind(input, payload, other, **outputs)()

    def wait(self):
        """Until the last execution is complete (GPU, device arrays alone); raises what it met."""
        self.handle.wait()

    @property
    def flags(self):
        """FLAG_NO_SITE, FLAG_NAN, FLAG_UNREST: what the last execution met. Waits for it."""
        return self.handle.flags()

    def phases(self):
        """The time of the last execution of a timed plan, by phases in the order in which they began.

        >>> import numpy as np
        >>> plan = Plan((300, 300), np.uint8, {"distance": np.float32}, timed=True)
        >>> plan(np.ones((300, 300), np.uint8), distance=np.empty((300, 300), np.float32))
        >>> all(phase.kind == "compute" and phase.seconds >= 0 for phase in plan.phases())
        True
        """
        return [Phase(told["name"], _names.PHASES[told["kind"]], told["seconds"]) for told in self.handle.phases()]

    def convergence(self):
        """The convergence of the last execution of an edge-strength plan; waits for it."""
        return Convergence(**self.handle.convergence())

    def agreement(self):
        """The result of the last execution of a comparison plan, {name: value} of distmap_agreement; waits for it."""
        return self.handle.agreement()

    def describe(self):
        told = self.handle.describe()
        return Description(**told | {"multiples": tuple(told["multiples"][:self.ndim])})


def plan_options(method, params, host_views, timed=False):
    """The options by their names in distmap.h, and the parameters: ((name, value), ...)."""
    if method is not None and not isinstance(method, str):
        raise TypeError(f"method is {method!r}, must be a name in methods()")
    if params is not None and not (hasattr(params, "keys") and all(isinstance(name, str) for name in params)):
        raise TypeError(f"params is {params!r}, must be {{name: value}}")
    values = tuple((name, param_value(method, name, value)) for name, value in (params or {}).items())
    return {"method": method or None, "host_views": bool(host_views), "timed": bool(timed)}, values


def context_of(context):
    """The caller's; None: one of all threads of the CPU."""
    if context is not None and not isinstance(context, Context):
        raise TypeError(f"context is {context!r}, must be a Context")
    return context or Context()


def problem_of(shape, dtype, want, options):
    problem = _problem.make(_problem.sequence("shape", shape, "the lengths of the axes"), dtype, **options)
    _problem.ask(problem, want)
    return problem


def scratch_bytes(shape, dtype, want, *, context=None, method=None, params=None, host_views=False, **options):
    """The bytes of scratch that such a Plan needs, in the memory of its device.

    >>> scratch_bytes((1024, 1024), "uint8", {"distance": "float32"}) < 1024 * 1024
    True
    """
    return scratch_of(context_of(context), problem_of(shape, dtype, want, options), method, params, host_views)


def scratch_of(context, problem, method=None, params=None, host_views=False):
    """The same from a problem's structure."""
    return core.scratch_bytes(context.handle, problem, *plan_options(method, params, host_views))


def fill(input, more, outputs):
    """All arrays by their names in distmap.h, and what must live as long. `more`: further inputs, None for those that are not."""
    taken = {"input": _arrays.take(input, "the input")}
    taken |= {name: _arrays.take(array, name) for name, array in more.items() if array is not None}
    for name, array in outputs.items():
        _problem.choice("an output", name, _names.OUTPUTS)
        taken[name] = _arrays.take(array, name, writable=True)
    ndim = len(taken["input"].shape)
    for name, array in taken.items():
        axes = len(array.shape) - (name == "coords")
        if name == "coords" and (axes < 0 or array.shape[0] != ndim):
            raise ValueError(f"coords has shape {array.shape}, must be {(ndim, *taken['input'].shape)}")
        if not 1 <= axes <= _names.MAX_AXES:
            raise ValueError(f"{name} has shape {array.shape}, the input {taken['input'].shape}")
    arrays = {name: [array.view(a) for a in range(ndim)] if name == "coords" else array.view() for name, array in taken.items()}
    return arrays, [array.owner for array in taken.values()]
