"""Distance maps of arrays of Dask: lazy, of any chunks, exact.

    import distmap.dask

    distance = distmap.dask.edt(array, sampling=(2.5, 0.7, 0.7))  # nothing is computed yet
    distance.to_zarr(path)

distmap.edt() of a Dask array, or of a chunked DataArray of xarray, comes here by itself.

A nearest site may be anywhere, so no depth of overlapping chunks is enough. But squared distances are separable: the squares along the last
axes, then out(z) = min over z' of f(z') + w^2 (z - z')^2 along the axes before them, one after another. A pass measures along one axis, or
several, in tasks that hold whole lines or planes: the chunks along those axes are cut into as many slices, one of each is put together,
transformed, and cut again. A task holds about one chunk, at least one line; the chunks of one row (at most 32, or those along one axis) are
alive at the same time. Between passes the squares of the whole array exist, 4 bytes for each element (8 where numbers need more than 32
bits, or the pitches have no common unit). A distributed worker spills them to its disk; the schedulers of one process keep them in memory.

The passes count squares as the library does for the whole array, in integers of the pitches' unit or in FP64 from the last axis to the
first, and the last pass rounds once. So results are those of distmap.edt() of the whole array, to the bit.
"""

import math

import numpy as np

from . import _names, _problem
from ._context import context_for
from ._library import core, library
from ._maps import edt_arguments
from ._transform import compute, settle

__all__ = ["edt"]

MOST_IN_A_ROW = 32  # chunks
MOST_OF_32_BITS = 65534**2  # the square of a diagonal, rounded up, is below 2^32 - 1
ROOM = 1 + 2**-20  # above the rounding of a length


def edt(array, sampling=None, sites="zero", *, squared=False, limit=None, border=False, axes=None, dtype=None, threads=1):
    """distmap.edt() of a Dask array, lazily.

    Parameters
    ----------
    array : dask.array.Array of one to eight axes with known lengths, of which up to four are measured; any chunks
    threads : int
        Of each task. Dask runs several tasks at once.
    sampling, sites, squared, limit, border, axes, dtype : as of distmap.edt()

    Returns
    -------
    dask.array.Array of the array's shape and chunks

    Examples
    --------
    >>> import dask.array
    >>> mask = dask.array.ones((4, 6), chunks=(2, 3), dtype="uint8")
    >>> mask[0, 0] = 0
    >>> edt(mask, squared=True).compute()[3].tolist()
    [9, 10, 13, 18, 25, 34]
    """
    return lazily(array, edt_arguments(array.ndim, sampling, sites, squared, False, False, limit, border, False, "centre", None, axes,
                                       dtype, None, threads, None))


# Arguments of transform() that passes cannot have, by the values that these have where they are not given.
ALONE = {"kind": "mask", "sign": None, "fill": None, "device": None, "method": None, "scale": None, "offset": None}


def lazily(array, arguments):
    """The array of what transform() would compute by such arguments. `want` has one name."""
    given = dict(arguments)
    names = list(given.pop("want").items())
    for key, value in ALONE.items():
        if given.pop(key, value) != value:
            raise TypeError(f"{'labels' if key == 'kind' else key} does not go with a Dask array, whose map is computed in passes:"
                            " give array.compute(), or blocks of it")
    if len(names) > 1 or names[0][0] not in ("distance", "squared"):
        wanted = " and ".join(name for name, _ in names)
        raise TypeError(f"{wanted} cannot be computed in passes of a Dask array: give array.compute()")
    if any(math.isnan(length) for length in array.shape):
        raise ValueError("the Dask array has chunks of unknown lengths: array.compute_chunk_sizes() finds them")
    threads, _ = given.pop("threads") or 1, given.pop("surface", None)
    name, dtype = names[0]
    # By the whole array: the library's rules, the type of the result, the unit.
    whole = _problem.make(array.shape, array.dtype if array.dtype.name != "float16" else "float32", **given)
    library()
    settle(context_for("cpu", 1), whole, {name: dtype}, {"method": None, "params": None, "host_views": False})
    final = {name: _names.DTYPES[whole["want"][name]]}
    bits = whole["axes"] or (1 << array.ndim) - 1
    measured = [axis for axis in range(array.ndim) if bits >> axis & 1]
    stages = passes(array, measured)
    if len(stages) < 2:
        return in_lines(array, measured, final[name], {"want": final, "threads": threads, **given})
    return in_passes(array, stages, whole, given, final, threads)


def passes(array, measured):
    """The measured axes by passes, from the last axis to the first. An axis goes with those after it where it has one chunk, or where the
    chunks of both are few, and enough lies across them to be cut into as many slices."""
    stages = []
    for axis in reversed(measured):
        together = [*stages[-1], axis] if stages else [axis]
        across = math.prod(max(lengths, default=1) for other, lengths in enumerate(array.chunks) if other not in together)
        row = math.prod(array.numblocks[a] for a in together)
        if stages and (row == 1 or row <= across and (array.numblocks[axis] == 1 or row <= MOST_IN_A_ROW)):
            stages[-1].append(axis)
        else:
            stages.append([axis])
    return stages


def in_passes(array, stages, whole, given, final, threads):
    unit, multiples = core.unit(whole)
    real = unit == 0
    counts_units = not real and unit != math.floor(unit)  # whole units need no care
    pitches = [multiple or 1 for multiple in multiples] if counts_units else whole["spacing"]
    squares, diagonal = samples_of(array.shape, sum(stages, []), pitches, given["border"], real)
    common = {"spacing": pitches, "border": given["border"], "threads": threads}
    between = {"kind": "sampled", "want": {"squared": squares}, "limit": diagonal, **common}
    first = {"kind": "mask", "sites": given["sites"], "real": real, "want": {"squared": squares}, "axes": stages[0], **common}
    found = in_lines(array, stages[0], squares, first)
    for stage in stages[1:-1]:
        found = in_lines(found, stage, squares, between | {"axes": stage})
    last = {"want": final, "axes": stages[-1], "limit": given["limit"] or (diagonal and diagonal * (unit if counts_units else 1) * ROOM)}
    if counts_units:
        last["unit"] = unit
    return in_lines(found, stages[-1], next(iter(final.values())), between | last)


def samples_of(shape, axes, pitches, border, real):
    """The type of the squares between passes, the narrowest that holds the largest one; and a length that none exceeds, by which the
    library knows that sums fit into 32 bits, where they do."""
    if real:
        return "float64", None
    most = sum((pitches[axis] * shape[axis])**2 for axis in axes)
    return ("uint32", math.ceil(math.sqrt(most)) or None) if most <= MOST_OF_32_BITS else ("uint64", None)


def in_lines(array, axes, dtype, options):
    """One pass: whole lines along `axes`, in blocks of about a chunk, and the same chunks again."""
    lines = array.rechunk(lines_of(array.chunks, axes))
    done = lines.map_blocks(transformed, options, dtype=dtype, meta=np.empty((0,) * array.ndim, dtype))
    return done.rechunk(array.chunks)


def lines_of(chunks, axes):
    """Chunks whose lines along `axes` are whole: the others are cut, so that each is a part of one chunk, and about as large as one."""
    pieces = math.prod(len(chunks[axis]) for axis in axes)
    result = list(chunks)
    for axis in axes:
        result[axis] = (sum(chunks[axis]),)
    for axis in (axis for axis in range(len(chunks)) if axis not in axes):
        cut = min(pieces, max(chunks[axis], default=1) or 1)
        result[axis] = tuple(part for length in chunks[axis] for part in parts(length, cut))
        pieces = -(-pieces // cut)
    return tuple(result)


def parts(length, count):
    """A length as the lengths of at most so many parts."""
    size = max(1, -(-length // count))
    return [min(size, length - at) for at in range(0, length, size)] or [0]


def transformed(block, options):
    result, _ = compute(block, **options)
    return next(iter(result.arrays.values()))
