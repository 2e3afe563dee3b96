"""transform(): every option of the library in one call; and prepare(), the first of many calls alike.

Contexts, which own threads, are kept: one for each calling thread, device and number of threads, until that thread ends. So are plans of
little memory on the CPU, for calls of the everyday functions that come again (python/binding/calls.c); others are made for a call and
given up after it.
"""

import math
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np

from . import _arrays, _kept, _names, _problem, _stored
from ._library import core
from ._context import Context, context_for, place_of
from ._plan import Convergence, Plan, scratch_of


@dataclass
class Result:
    """What transform() computed; None for what was not wanted. `flags` is None where the work is only enqueued on a
    GPU."""
    distance: Any = None
    squared: Any = None
    index: Any = None
    coords: Any = None
    label: Any = None
    strength: Any = None
    mask: Any = None
    within: Any = None
    beyond: Any = None
    sites: Any = None
    centroids: Any = None
    energies: Any = None
    flags: int | None = None
    method: str = ""
    convergence: Convergence | None = None

    @property
    def arrays(self):
        """{name: array} of what was wanted."""
        return {f.name: getattr(self, f.name) for f in fields(self)[:len(_names.OUTPUTS)]
                if getattr(self, f.name) is not None}


def chosen_device(device, arrays):
    """Where to compute: where an array in a GPU's memory lies, else as asked, else on the CPU."""
    places = {f"cuda:{array.ordinal}" for array in arrays if array.ordinal is not None}
    if len(places) > 1:
        raise ValueError(f"the arrays lie on {' and '.join(sorted(places))}, must lie on one GPU")
    if not places:
        return device or "cpu"
    place = places.pop()
    if device is not None and place_of(device) != place_of(place) and device != "cuda":
        raise ValueError(f"device is {device!r}, but an array lies on {place}")
    return place


def named_outputs(want, out, scale=None, offset=None):
    """({name: dtype or None}, {name: array}, {name: Stored}, {name: dtype}) of what is wanted, of where the caller wants it, of what is
    converted, and of sites that are wanted as unsigned integers, whose bits are those of signed ones."""
    if not hasattr(want, "keys"):
        names = [want] if isinstance(want, str) else _problem.sequence("want", want, "the names of outputs")
        want = dict.fromkeys(names)
    if out is not None and not hasattr(out, "keys"):
        if len(want) != 1:
            raise ValueError(f"out is one array, but {len(want)} outputs are wanted: give {{name: array}}")
        out = {next(iter(want)): out}
    for name in [*want, *(out or {})]:
        _problem.choice("want", name, _names.OUTPUTS)
        if name not in want:
            raise ValueError(f"out has {name}, which is not wanted")
    want, out = dict(want), dict(out or {})
    stored = _stored.apart(want, out, scale, offset)
    taken = {name: _arrays.take(array, f"out {name}", writable=True).scalar_as_line() for name, array in out.items()}
    unsigned = {name: _problem.name_of(want[name]) for name in want.keys() & {"index", "coords"}
                if want[name] is not None and _problem.name_of(want[name]).startswith("uint")}
    unsigned |= {name: dtype for name, array in taken.items() if name in ("index", "coords")
                 and (dtype := _names.DTYPES[array.dtype]).startswith("uint")}
    want |= {name: dtype.removeprefix("u") for name, dtype in unsigned.items() if want[name] is not None}
    taken |= {name: taken[name].as_signed() for name in taken.keys() & {"index", "coords"}}
    for name, array in taken.items():
        if want[name] is not None and _problem.dtype_code(name, want[name]) != array.dtype:
            raise ValueError(f"out {name} has dtype {_names.DTYPES[array.dtype]}, but "
                             f"{_problem.name_of(want[name])} is wanted")
    return want, taken, stored, unsigned


def settle(context, problem, want, options):
    """Sets the outputs' dtypes: where the caller leaves one open (None), the first of its usual ones that the library
    takes."""
    few = math.prod(problem["shape"]) <= _problem.INT32
    own = _names.DTYPES[problem["dtype"]]
    usual = {"distance": "float32", "index": "int32" if few else "int64", "coords": "int32", "strength": "float32",
             "label": "int32" if "cvt" in problem else own,
             "sites": "int32", "within": "bool", "mask": "bool",
             "beyond": own if problem["input"] == _names.INPUTS.index("labels") else "bool"}
    _problem.ask(problem, {name: dtype or usual.get(name, "float64") for name, dtype in want.items()})
    if "squared" in want and want["squared"] is None:
        for dtype in ("uint32", "uint64"):
            problem["want"]["squared"] = _names.DTYPES.index(dtype)
            try:
                return scratch_of(context, problem, **options)
            except ValueError:  # too narrow, or no integers; float64 tells if it is anything else
                problem["want"]["squared"] = _names.DTYPES.index("float64")


def output_shape(name, shape, problem):
    """Of an output for an input of that shape."""
    if name == "coords":
        return (len(shape), *shape)
    if name == "energies":
        return (problem["cvt"]["steps"] + 1,)
    return (problem["cvt"]["points"], len(shape)) if name in ("sites", "centroids") else shape


def leading(source, outputs):
    """The array by whose order in memory to go: an output of the input's shape that the caller gives, else the input."""
    return next((array for array in outputs.values() if array.shape == source.shape), source)


def output_order(problem, want, order):
    """In which order new outputs lie in memory: that of the arrays, where the library goes through memory so; None: in C order."""
    dilates = _names.MORPHOLOGY_STEPS.index("dilate")
    nearest = "label" in want and ("morphology" not in problem or problem["morphology"]["step"] == dilates)
    if nearest or problem.keys() & {"skeleton", "esf"} or want.keys() & {"index", "coords"}:
        return None
    return order


def transform(input, *, kind="mask", want="distance", axes=None, sites="zero", metric="euclidean", chamfer=None,
              spacing=None, limit=None, border=False, payload=None, esf=None, skeleton=None, morphology=None,
              thickness=False, cvt=None, sign=None, surface="centre", fill=None, out=None, device=None, threads=None,
              method=None, params=None, progress=None):
    """Distances, nearest sites and what else the library computes, with every option.

    Parameters
    ----------
    input : array of shape (n,), (m, n), (l, m, n) or (k, l, m, n), any strides
        bool, int8 to int64, uint8 to uint64, float32 or float64; float16 and bfloat16 are copied to float32. NumPy, CuPy, PyTorch,
        anything with a buffer,
        ``__array_interface__``, ``__array__``, ``__cuda_array_interface__`` or DLPack, or nested lists of numbers; what is
        none of these is a TypeError that says how to make an array of it. It is not copied, but for lists.
    kind : "mask", "labels" or "sampled"
        "mask": sites are the elements that `sites` selects. "labels" (integers): an element's sites are the elements of
        any other label; those that `sites` selects, label 0 by default, are background at distance 0, and
        ``sites="none"`` says that there is none. "sampled": squared distances f >= 0 to start from, out(p) = min over q
        of f(q) + |p - q|^2.
    want : name, names, or {name: dtype}
        "distance" (float32, float64; other metrics integers too), "squared" (uint32, uint64, float32, float64), "index"
        (int32, int64: linear index of the nearest site), "coords" (int16, int32, int64: its coordinates, an array of
        shape (ndim, ...)), "label" (any integer type: the input's element there), "within" and "beyond" (bool, uint8:
        whether a site lies within `limit`, and whether none does; of "labels", "beyond" keeps the element itself, in any
        integer type that holds it, and has 0 elsewhere). A dtype of None, or a name alone:
        float32, the narrowest that holds the largest possible value, int32 while there are fewer than 2^31 elements,
        int32, the input's, and bool.
    axes : int or ints
        The axes to measure along, up to four; slices along the others are a batch of problems of their own. None: all.
    sites : "zero", "nonzero", a number, or (lo, hi)
        Which elements are sites, compared exactly; None for either end of a range leaves it open. NaN is never a site.
    metric : "euclidean", "cityblock", "chessboard", "chamfer" (with `chamfer`, the weights (a, b) or (a, b, c))
    spacing : float or floats
        Pitch of the elements along each axis, > 0: one for all, one for each axis, or one for each of `axes`, as it names them.
        None: 1. A pitch means the shortest decimal that reads back as it, as float64, or as float32 where it is exactly one and
        that is shorter. Where the pitches are whole multiples, up to 2^20, of one decimal unit (25, 7 and 7 times 0.1 for 2.5,
        0.7, 0.7), squared distances are exact integers in that unit, and outputs are rounded once. Others, such as 1 and
        0.123456789, are computed in FP64.
    limit : float > 0, in the unit of distances
        Elements farther than this from every site have none, and the work shrinks with it. An element is within where its
        distance, rounded to the type of the output "distance" (float64 without one), is at most `limit`. None: no limit.
    border : bool
        What lies just outside the image counts as sites too (index -2, label 0).
    payload : int32 or int64 array, for "sampled" with "index"
        The site that each sample stands for, given out instead of the sample's own index.
    esf : {"rho": ..., "steps": ..., "dt": ..., "tolerance": ...}
        Compute edge strengths, see esf(); `want` is then "strength" (float32, on the CPU float64 too).
    skeleton : {"pruning": ..., "gamma": ...}
        Compute a skeleton, see skeleton(); `want` is then "mask" (bool, uint8), "distance" (float32, float64) or both.
    morphology : {"step": "dilate", "erode", "open" or "close", "radius": ..., "outside": ...}
        Compute that, see dilate(); `want` is then "mask" (bool, uint8), of labels "label".
    thickness : bool
        Compute local thickness, see local_thickness(); `want` is then "distance" (float32, float64), "squared", or both.
    cvt : {"points": ..., "steps": ..., "omega": ..., "seed": ..., "grids": ...}
        Compute a centroidal Voronoi diagram, see cvt(); the input holds weights (bool, uint8, uint16, uint32), and `want`
        is of "sites" (int32, int64), "centroids", "energies" (float64) and "label" (any integer type).
    sign : "outside", "inside"
        A signed map: the sites are a shape, elements in it measure to the nearest one outside it, and distances are
        positive outside or inside it, negative on the other side. None: no signs.
    surface : "centre", "half"
        Signed maps: from the other side's nearest element, or from half-way before it, less half of the smallest pitch.
    fill : number
        What "distance" and "squared" get where there is none, in place of infinity or an integer type's largest value. It must
        be one that their type holds. None: these stay.
    out : array, or {name: array}
        Where results go, of any strides. Others are made in the input's library, and lie in memory in its order, as
        ``numpy.empty_like`` has it; where nearest sites ("index", "coords", their "label"), skeletons or edge strengths are
        wanted, in C order.
    device : "cpu", "cuda", "cuda:N", "cuda:0-3", "cuda:0,2"
        Arrays in host memory are copied to that GPU, or to several that share the work, and back. None: where the arrays lie, the CPU for host memory.
    threads : int
        None: as many as the process may use.
    method, params : a name in methods(), {name: value} of its parameters. None: the fastest that takes the problem.
    progress : function
        Called now and then with the share done; a true result ends the work with RuntimeError.

    Returns
    -------
    Result
        With one attribute for each output, `flags` (FLAG_NO_SITE, FLAG_NAN, FLAG_UNREST) and `method`. Elements without a site get
        inf (the largest value in integer outputs), index and coordinates -1, label 0, within 0. Work on arrays in a
        GPU's memory is enqueued on their library's current stream; it is complete when that stream gets there.

    Raises
    ------
    ValueError, TypeError
        An argument breaks a rule; the text names both.
    NotImplementedError
        The method that was asked for does not take this problem.
    MemoryError
    RuntimeError
        No such GPU, it failed, or `progress` ended the work.

    Examples
    --------
    >>> import numpy as np
    >>> mask = np.array([[1, 1, 1, 1], [1, 0, 1, 1], [1, 1, 1, 1]], np.uint8)
    >>> result = transform(mask, want=("squared", "index"))
    >>> result.squared
    array([[2, 1, 2, 5],
           [1, 0, 1, 4],
           [2, 1, 2, 5]], dtype=uint32)
    >>> np.unique(result.index).tolist(), result.method
    ([5], 'minplus/cpu')
    """
    given = locals()
    given["input"], like = _arrays.within(input)
    result = compute(**given)[0]
    if like:
        theirs = () if out is None else out if hasattr(out, "keys") else result.arrays  # one array is for the one output
        result = replace(result, **{name: like(array) for name, array in result.arrays.items() if name not in theirs})
    return result


def compute(input, *, kind="mask", want="distance", payload=None, fill=None, scale=None, offset=None, out=None, device=None, threads=None,
            method=None, params=None, progress=None, **options):
    """transform(), and how it was done."""
    given = _arrays.take(input, "the input")
    source = given.scalar_as_line()
    extra = [] if payload is None else [_arrays.take(payload, "payload").scalar_as_line()]
    want, outputs, stored, unsigned = named_outputs(want, out, scale, offset)
    outside = outputs.keys() | set()  # the caller's arrays
    problem = _problem.make(source.shape, _names.DTYPES[source.dtype], kind=kind,
                            payload=_names.DTYPES[extra[0].dtype] if extra else None, **options)
    problem["order"] = order = leading(source, outputs).order()
    arrays = [source, *extra, *outputs.values()]
    context = context_for(chosen_device(device, arrays), threads)
    staged = context.device != "cpu" and any(array.ordinal is None for array in arrays)
    choices = {"method": method, "params": params, "host_views": staged}
    settle(context, problem, want | {name: _names.DTYPES[array.dtype] for name, array in outputs.items()}, choices)
    dtypes = {name: _names.DTYPES[code] for name, code in problem["want"].items()}
    filled = {} if fill is None else {name: _arrays.fits(fill, dtypes[name], "fill") for name in ("distance", "squared") if name in want}

    scratch = None
    if on_gpu := next((array for array in arrays if array.ordinal is not None), None):
        context.set_stream(*on_gpu.home.stream(on_gpu))
        if on_gpu.home.pooled:
            scratch = on_gpu.home.empty((scratch_of(context, problem, **choices),), "uint8", on_gpu)
    order = output_order(problem, want, order)
    for name in want.keys() - outputs.keys():
        shape = output_shape(name, source.shape, problem)
        dtype = unsigned.get(name, dtypes[name])
        made = _arrays.empty(shape, dtype, source, order if order and shape == source.shape else range(len(shape)))
        made = _arrays.take(made, name, writable=True)
        outputs[name] = made.as_signed() if name in unsigned else made
    plan = Plan.of(context, problem, **choices, scratch=scratch)
    plan.bind(source, *extra, **outputs)(progress)
    done = on_gpu is None or staged
    for name, value in filled.items():
        if not done or plan.flags & _names.FLAG_NO_SITE:
            _arrays.fill(outputs[name], value, name)
    results = {name: array.array if given is source or name in outside else _arrays.one_element(array.array, name)
               for name, array in outputs.items()}
    results |= {name: array.put(results[name]) for name, array in stored.items()}
    result = Result(**results, flags=plan.flags if done else None, method=plan.describe().method,
                    convergence=plan.convergence() if "esf" in problem and done else None)
    return result, Done(source, problem, context, order, given is not source or bool(stored) or bool(unsigned), plan)


class Done(NamedTuple):
    source: _arrays.Taken
    problem: dict
    context: Context
    order: list | None  # in which new outputs lie in memory; None: C order, whatever the input's is
    special: bool  # something was done that is not the plan's
    plan: Plan


def prepare(maker, progress, input, out, *options):
    """A call of one of the everyday functions: `maker` makes transform()'s arguments of its options, of which `want` has the names of
    what is returned; the first one goes to `out`. Later calls that are alike do not come here, by what core.keep() is told."""
    if (torch := _arrays.torch_of_host(input, out)) is not None:
        return as_numpy(torch, maker, progress, input, out, options)
    data, like = _arrays.within(input)
    if like:
        results = call(maker, progress, data, out, *options)
        several = results if isinstance(results, tuple) else (results,)
        several = tuple(one if one is out else like(one) for one in several)
        return several if len(several) > 1 else several[0]
    if _arrays.is_dask(input):
        from . import dask
        if out is not None:
            raise TypeError("out does not go with a Dask array, whose map is lazy: store() the result")
        return dask.lazily(input, maker(input.ndim, *options))
    if isinstance(input, np.ma.MaskedArray):
        return masked(maker, progress, input, out, options)
    source = _arrays.take(input, "the input")
    key, to = None, None
    if source.ordinal is not None:
        to = None if out is None or _arrays.home_of(out) is not source.home else _arrays.take(out, "out", writable=True)
        key = _kept.signature(maker, source, to, options) if (to is None) == (out is None) else None
    if key and (known := _kept.kept.find(key)) and (results := _kept.run(known, source, to, progress)):
        return tuple(results) if len(results) > 1 else results[0]
    arguments = maker(max(1, len(source.shape)), *options)
    names = list(arguments["want"])
    result, done = compute(source, out=None if out is None else {names[0]: out}, progress=progress, **arguments)
    keep(maker, out, options, arguments, names, done)
    if key:
        keep_on_gpu(key, out, arguments, names, done)
    results = tuple(getattr(result, name) for name in names)
    return results if len(results) > 1 else results[0]


def as_numpy(torch, maker, progress, input, out, options):
    """A call for tensors in host memory: as NumPy's arrays of the same memory, which call() knows again."""
    options = [_problem.name_of(option) if isinstance(option, torch.dtype) else option for option in options]
    to = None if out is None else out.detach().numpy()
    results = call(maker, progress, _arrays.numpy_of(input), to, *options)
    if isinstance(results, np.ndarray):
        return out if results is to else torch.from_numpy(results)
    return tuple(out if one is to else torch.from_numpy(one) for one in results)


def masked(maker, progress, input, out, options):
    """A call for a masked array: masked elements are no sites, and results are masked there."""
    data = _arrays.without_masked_sites(input, maker(max(1, input.ndim), *options))
    results = call(maker, progress, data, out, *options)
    several = results if isinstance(results, tuple) else (results,)
    several = tuple(one if one is out or one.shape != input.shape else np.ma.masked_array(one, input.mask) for one in several)
    return several if len(several) > 1 else several[0]


def keep(maker, out, options, arguments, names, done):
    source, problem, context, order, special, _ = done
    if special or context.device != "cpu" or arguments.get("fill") is not None or "coords" in names:
        return
    made = names if out is None else names[1:]
    outputs = tuple((name, np.dtype(_names.DTYPES[problem["want"][name]]) if name in made else None) for name in names)
    general = arguments["want"].get("squared", "") is not None  # else its type depends on the shape
    quick = "field" not in problem and arguments["method"] is None
    core.keep(maker, source.array, out, options, context.handle, problem, arguments["method"], outputs, general, order is not None, quick)


def keep_on_gpu(key, out, arguments, names, done):
    source, problem, _, order, special, plan = done
    if special or arguments.get("fill") is not None or "coords" in names:
        return
    made = names if out is None else names[1:]
    order = tuple(order or range(len(source.shape)))
    outputs = tuple((name, _names.DTYPES[problem["want"][name]] if name in made else None, source.shape, order) for name in names)
    _kept.kept.keep(key, _kept.Call(plan, outputs, plan.describe().scratch_bytes))


core.start(prepare)
call = core.call  # call(maker, progress, input, out, *options), see prepare()
