"""Drop-in for SciPy's distance transforms: the same signatures, dtypes and conventions of what is returned.

    from distmap.scipy import distance_transform_edt

instead of ``from scipy.ndimage import distance_transform_edt``. Also takes CuPy arrays and PyTorch tensors, and the
extra arguments of ``cupyx.scipy.ndimage``. What differs from SciPy is listed in docs/scipy.md.
"""

import numpy as np

from . import _arrays, _names
from ._transform import call, transform

__all__ = ["distance_transform_bf", "distance_transform_cdt", "distance_transform_edt"]

class Refused(RuntimeError, ValueError):
    """What SciPy raises for wrong arguments, which is the one or the other by its version."""


DTYPES = frozenset(np.dtype(name) for name in _names.DTYPES[1:])
TAXICAB = ("taxicab", "cityblock", "manhattan")


def distance_transform_edt(input, sampling=None, return_distances=True, return_indices=False, distances=None,
                           indices=None, *, block_params=None, float64_distances=True, ties=None):
    """The exact Euclidean distance of every element to the nearest one that is zero (False).

    Parameters
    ----------
    input : array_like of one to four axes
    sampling : float, or one for each axis, > 0
        Spacing of the elements, as of distmap.edt(): decimals, for which distances are exact and rounded once. None: 1.
    return_distances, return_indices : bool
        What is computed, of which at least one.
    distances : float64 array of the input's shape, to write into instead of returning a new one
    indices : int32 array of shape (ndim, ...), likewise
    block_params : ignored; of CuPy's signature
    float64_distances : bool
        Of CuPy's signature: False makes the distances float32.
    ties : None or "scipy"
        Which of several nearest zeros `indices` tell: the one with the lowest index, or SciPy's, with the lowest coordinate along the
        last axis, then along the one before, ... New arrays are in Fortran order then.

    Returns
    -------
    distances, indices, both as a tuple, or None
        Those that were asked for and not given as arrays. Without a zero, distances are inf and indices -1.

    Raises what is a RuntimeError and a ValueError where SciPy raises either (wrong shapes and dtypes of the arrays to
    write into, nothing to compute), ValueError for a sampling that is not positive and finite, or more than four axes.

    Examples
    --------
    >>> import numpy as np
    >>> distance_transform_edt(np.array([[0, 1, 1], [1, 1, 1]]), sampling=[2, 1])
    array([[0.        , 1.        , 2.        ],
           [2.        , 2.23606798, 2.82842712]])
    """
    dtype = "float64" if float64_distances else "float32"
    if ties not in (None, "scipy"):
        raise ValueError(f"ties is {ties!r}, must be None or 'scipy'")
    if ties and return_indices:
        return turned(input, sampling, return_distances, distances, indices, dtype)
    if (type(input) is np.ndarray and input.dtype in DTYPES and input.flags.c_contiguous and input.ndim and return_distances is True
            and return_indices is False and sampling is distances is indices is None):
        return call(distances_alone, None, input, None, dtype)
    return run(input, "euclidean", sampling, return_distances, return_indices, distances, indices, dtype)


def distances_alone(ndim, dtype):
    """The everyday call, as call() knows it again."""
    return {"want": {"distance": dtype}, "method": None}


def turned(input, sampling, return_distances, distances, indices, dtype):
    """distance_transform_edt with SciPy's ties: those of the transposed array are broken by its first axis, which is the last one here."""
    input, like = _arrays.within(input)
    input = truth(input)
    ndim = input.ndim
    if np.ndim(sampling):
        if len(sampling) != ndim:
            raise Refused("sequence argument must have length equal to input rank")
        sampling = list(sampling)[::-1]
    if distances is not None and not return_distances:
        raise Refused("return_distances must be True if distances is supplied")
    if distances is not None:
        checked("distances", distances, input.shape, (dtype,))
    if indices is not None:
        checked("indices", indices, (ndim, *input.shape), ("int16", "int32", "int64"))
    found = run(contiguous(transposed(input)), "euclidean", sampling, return_distances, True, None, None, dtype)
    distance, coords = found if return_distances else (None, found)
    axes = tuple(range(ndim, 0, -1))
    coords = _arrays.home_of(coords).transposed(coords, (0, *axes))
    coords = coords.flip(0) if _arrays.home_of(coords) is _arrays.Torch else coords[::-1]
    results = {"distances": (distances, None if distance is None else transposed(distance)), "indices": (indices, coords)}
    made = []
    for given, result in results.values():
        if given is not None:
            given[...] = result
        elif result is not None:
            made.append(like(result) if like else result)
    return tuple(made) if len(made) == 2 else made[0] if made else None


def transposed(array):
    return _arrays.home_of(array).transposed(array, tuple(range(array.ndim))[::-1])


def contiguous(array):
    if _arrays.home_of(array) is _arrays.Torch:
        return array.contiguous()
    return (np if isinstance(array, np.ndarray) else _arrays.sys.modules["cupy"]).ascontiguousarray(array)


def distance_transform_bf(input, metric="euclidean", sampling=None, return_distances=True, return_indices=False,
                          distances=None, indices=None):
    """As distance_transform_edt, in a choice of metrics: "euclidean" (float64), "taxicab" or "chessboard" (uint32, and
    `sampling` is ignored). SciPy compares all with all here; this takes the fast way to the same results: of several
    nearest zeros the one with the highest index.

    Examples
    --------
    >>> distance_transform_bf([[0, 1, 1], [1, 1, 1]], "taxicab")
    array([[0, 1, 2],
           [1, 2, 3]], dtype=uint32)
    """
    name = metric.lower()
    if name not in ("euclidean", "chessboard", *TAXICAB):
        raise Refused("distance metric not supported")
    name = "cityblock" if name in TAXICAB else name
    return run(input, name, sampling, return_distances, return_indices, distances, indices,
               "float64" if name == "euclidean" else "uint32", backwards=return_indices)


def distance_transform_cdt(input, metric="chessboard", return_distances=True, return_indices=False, distances=None,
                           indices=None):
    """The length of the shortest walk from every element to one that is zero, int32; -1 where there is none.

    metric : "chessboard", "taxicab" (also "cityblock", "manhattan"), or a structure
        An array of length 3 along each axis, whose nonzero elements are the steps that a walk may take. The cross and
        the full square, also along some of the axes only, are the two metrics; for any other structure SciPy itself is
        called.

    Other parameters and results as of distance_transform_edt.

    Examples
    --------
    >>> distance_transform_cdt([[0, 1, 1], [1, 1, 1]], "taxicab")
    array([[0, 1, 2],
           [1, 2, 3]], dtype=int32)
    """
    if isinstance(metric, str):
        if metric not in ("chessboard", *TAXICAB):
            raise Refused("invalid metric provided")
        return run(input, "cityblock" if metric in TAXICAB else metric, None, return_distances, return_indices,
                   distances, indices, "int32", no_site=-1, like_input=True)
    structure = np.asarray(metric) != 0
    if any(length != 3 for length in structure.shape):
        raise Refused("metric sizes must be equal to 3")
    if structure.ndim != max(1, np.ndim(input)):
        raise Refused("structure and input must have equal rank")
    name, axes = known_structure(structure)
    if name is None:
        import scipy.ndimage
        return scipy.ndimage.distance_transform_cdt(input, structure, return_distances, return_indices, distances,
                                                    indices)
    return run(input, name, None, return_distances, return_indices, distances, indices, "int32", no_site=-1, axes=axes,
               like_input=True)


def known_structure(structure):
    """("cityblock" or "chessboard", axes), or (None, None). Only steps to elements before the centre count; those after
    are taken to be their mirror images, as in SciPy."""
    offsets = [tuple(np.array(place) - 1) for place in np.argwhere(structure)]
    before = {offset for offset in offsets if offset < (0,) * structure.ndim}
    axes = tuple(a for a in range(structure.ndim) if any(offset[a] for offset in before))
    for name, steps in (("cityblock", 1), ("chessboard", len(axes))):
        full = {offset for offset in (tuple(np.array(place) - 1) for place in np.ndindex(*structure.shape))
                if offset < (0,) * structure.ndim and 0 < np.count_nonzero(offset) <= steps
                and all(a in axes for a in np.flatnonzero(offset))}
        if axes and before == full:
            return name, axes
    return None, None


def run(input, metric, sampling, return_distances, return_indices, distances, indices, dtype, no_site=None, axes=None,
        backwards=False, like_input=False):
    """What the three have in common. `backwards`: with all axes running the other way, so that the last of several
    nearest sites becomes the first. `like_input`: new distances have the input's order in memory, else C order, as SciPy's."""
    complain = []
    if not return_distances and not return_indices:
        complain.append("at least one of return_distances/return_indices must be True")
    if distances is not None and not return_distances:
        complain.append("return_distances must be True if distances is supplied")
    if indices is not None and not return_indices:
        complain.append("return_indices must be True if indices is supplied")
    if complain:
        raise Refused(", ".join(complain))
    input, like = _arrays.within(input)
    input = truth(input)
    if np.ndim(sampling) and len(sampling) != input.ndim:
        raise Refused("sequence argument must have length equal to input rank")
    out = {}
    if distances is not None:
        out["distance"] = checked("distances", distances, input.shape, (dtype,))
    if indices is not None:
        narrow = _arrays.home_of(indices) is not _arrays.Numpy  # CuPy's may be of other widths
        out["coords"] = checked("indices", indices, (input.ndim, *input.shape), ("int16", "int32", "int64") if narrow
                                else ("int32",))
    if like:  # the same memory, as NumPy's
        out = {name: _arrays.to_numpy(array, name) for name, array in out.items()}
    if isinstance(input, np.ndarray) and any(np.may_share_memory(input, array) for array in out.values()):
        input = input.copy()
    want = ({"distance": dtype} if return_distances else {}) | ({"coords": None} if return_indices else {})
    source = _arrays.take(input, "the input")
    made = {}
    for name, kind in want.items():
        if name not in out:
            shape = source.shape if name == "distance" else (len(source.shape), *source.shape)
            order = source.order() if like_input and name == "distance" else range(len(shape))
            out[name] = made[name] = _arrays.empty(shape, kind or "int32", source, order)
    views = {name: _arrays.take(array, name, writable=True) for name, array in out.items()}
    if backwards:
        source, views = source.flipped(), {name: view.flipped(first=name == "coords") for name, view in views.items()}
    result = transform(source, want=want, metric=metric, axes=axes, out=views, spacing=sampling
                       if metric == "euclidean" else None)
    if backwards:
        turn(out["coords"])
    if no_site is not None and return_distances and result.flags != 0:
        out["distance"][out["distance"] == np.iinfo(dtype).max] = no_site
    if like:
        made = {name: like(array) for name, array in made.items()}
    return tuple(made.values()) if len(made) == 2 else next(iter(made.values()), None)


def turn(coords):
    """Coordinates counted from the end as coordinates from the start; -1 stays."""
    for axis, n in zip(coords, coords.shape[1:]):
        axis *= -1
        axis += n - 1
        axis[axis == n] = -1


def truth(input):
    """The input as an array whose zeros are the sites, of one axis at least; of other types whether it is true."""
    if _arrays.home_of(input) is not _arrays.Numpy:
        return input
    array = np.atleast_1d(input if np.isscalar(input) else _arrays.to_numpy(input, "input"))
    return array if array.dtype.name in _names.DTYPES else array.astype(bool)


def checked(name, array, shape, dtypes):
    if not hasattr(array, "shape"):
        raise TypeError(f"{name} must be an array, is {type(array).__name__}")
    if tuple(array.shape) != tuple(shape):
        raise Refused(f"{name} array has wrong shape")
    if _names.DTYPES[_arrays.take(array, name).dtype] not in dtypes:
        raise Refused(f"{name} array must be {' or '.join(dtypes)}")
    return array
