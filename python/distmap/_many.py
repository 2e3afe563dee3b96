"""Many small arrays in one call."""

import numpy as np

from . import _arrays, _names, _problem
from ._context import Context, context_for, mine
from ._library import core
from ._maps import edt, edt_arguments
from ._transform import output_order, settle


def edt_many(masks, sampling=None, sites="zero", *, squared=False, indices=False, labels=False, limit=None, border=False,
             signed=False, surface="centre", axes=None, dtype=None, out=None, device=None, threads=None, method=None, progress=None):
    """edt() of every array in a list: crops of any sizes, on all cores at once.

    Parameters
    ----------
    masks : sequence of arrays with the same number of axes
        In host memory each array is computed by one thread; arrays in a GPU's memory go to edt() one by one.
    out : list of arrays, one for each mask, without overlaps, for the distances
    sampling, sites, squared, indices, labels, limit, border, signed, surface, axes, dtype, device, threads, method, progress : as of edt()

    Returns
    -------
    list of distances, or (list of distances, list of indices) with `indices`
        In the order of the masks, with the results of edt(). Squared distances of all arrays have one type, which the largest of the
        shapes needs.

    Raises the errors of edt(); errors of the library contain the number of the array, counted from 0.

    Examples
    --------
    >>> import numpy as np
    >>> crops = [np.array([1, 1, 0]), np.array([0, 1, 1, 1, 1])]
    >>> [distance.tolist() for distance in edt_many(crops)]
    [[2.0, 1.0, 0.0], [0.0, 1.0, 2.0, 3.0, 4.0]]
    """
    masks = _problem.sequence("masks", masks, "a sequence of arrays")
    options = sampling, sites, squared, indices, labels, limit, border, signed, surface, None, axes, dtype, device, threads, method
    if out is not None:
        out = _problem.sequence("out", out, "a list of arrays")
        if len(out) != len(masks):
            raise ValueError(f"out has {len(out)} arrays, there are {len(masks)} masks")
    if device not in (None, "cpu") or any(_arrays.home_of(mask) is not _arrays.Numpy for mask in masks if type(mask) is not np.ndarray):
        return one_by_one(masks, out, indices, dict(zip(NAMES, options)), progress)
    if not masks:
        return ([], []) if indices else []
    return at_once(host_arrays(masks), out, edt_arguments(masks[0].ndim, *options), progress)


NAMES = ("sampling", "sites", "squared", "indices", "labels", "limit", "border", "signed", "surface", "fill", "axes", "dtype", "device",
         "threads", "method")


OTHERS = ("want", "fill", "device", "threads", "method", "scale", "offset")  # arguments that are not the problem's


def one_by_one(masks, out, indices, options, progress):
    results = [edt(mask, out=to, progress=progress, **options) for mask, to in zip(masks, out or [None] * len(masks))]
    return tuple(map(list, zip(*results))) if indices else results


def host_arrays(masks):
    """All arrays as the library can use them; the others are copied."""
    for i in core.unlike(masks, False):
        masks[i] = _arrays.take(masks[i], f"number {i} of the masks").owner
    return masks


def at_once(masks, out, arguments, progress):
    if len(counts := {mask.ndim for mask in masks}) > 1:
        raise ValueError(f"the masks have {' and '.join(map(str, sorted(counts)))} axes, must have the same number")
    options = {key: value for key, value in arguments.items() if key not in OTHERS}
    largest = tuple(map(max, zip(*(mask.shape for mask in masks))))
    problem = _problem.make(largest, masks[0].dtype, **options)
    want = dict(arguments["want"])
    name = next(iter(want))
    outputs = {}
    if out is not None:
        outputs[name] = writable(out)
        want[name] = want[name] or outputs[name][0].dtype
    context, method = context_for("cpu", arguments["threads"]), arguments["method"]
    settle(context, problem, want, {"method": method})
    in_c_order = output_order(problem, want, (1, 0)) is None
    for name in want.keys() - outputs.keys():
        dtype = np.dtype(_names.DTYPES[problem["want"][name]])
        outputs[name] = [np.empty(mask.shape, dtype) if in_c_order or mask.flags.c_contiguous else np.empty_like(mask, dtype, subok=False)
                         for mask in masks]
    with Workers(min(context.threads, len(masks))) as contexts:
        core.many(contexts, problem, method, masks, outputs, progress)
    results = [outputs[name] if out is None or name not in list(want)[:1] else out for name in want]
    return tuple(results) if len(results) > 1 else results[0]


def writable(out):
    for i in core.unlike(out, True):
        out = [*out[:i], _arrays.take(out[i], f"number {i} of out", writable=True).owner, *out[i + 1:]]
    return out


class Workers:
    """Contexts of one thread each, from this thread's own: those that no call uses."""

    def __init__(self, count):
        self.kept = mine.__dict__.setdefault("workers", [])
        self.taken = [self.kept.pop() if self.kept else Context(threads=1) for _ in range(count)]

    def __enter__(self):
        return tuple(context.handle for context in self.taken)

    def __exit__(self, *_):
        self.kept += self.taken
