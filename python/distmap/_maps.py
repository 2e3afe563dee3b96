"""The everyday calls: Euclidean distances, nearest sites, expanded labels, chamfer distances, edge strengths, skeletons."""

import sys

from ._problem import axes_bits, choice, number
from ._transform import call, transform

LEAST = sys.float_info.min  # a limit that nothing but 0 is within


def edt(mask, sampling=None, sites="zero", *, squared=False, indices=False, labels=False, limit=None, border=False,
        signed=False, surface="centre", fill=None, axes=None, dtype=None, scale=None, offset=None, out=None, device=None,
        threads=None, method=None, progress=None):
    """The exact Euclidean distance from every element to the nearest site.

    Parameters
    ----------
    mask : array of one to eight axes, of which up to four are measured (see `axes`), any strides
        bool, integers, float32 or float64, float16 and bfloat16 (copied to float32); NumPy, CuPy, PyTorch, or see transform().
        Sites are its zeros, so that inside the objects of a mask the result is the distance to the background.
    sampling : float or floats
        Pitch of the elements along each axis, in any unit of length, which is then that of the result: one for all, one for each
        axis, or one for each of `axes`, in the order in which it names them. None: 1. A pitch means the decimal that Python
        prints for it (numpy.float32(0.7) means 0.7), and maps are exact for these: each value is the true distance, rounded
        once. It is the `spacing` of transform(), which says more, and of errors.
    sites : "zero", "nonzero", a number, or a range (lo, hi) with both ends, None for an open one
    squared : bool
        Squared distances instead: uint32 (uint64 where the largest possible one needs it), float64 where the sampling is
        not whole numbers.
    indices : bool
        Also the linear index (row-major) of the nearest site: int32, int64 for arrays of 2^31 elements or more. Of
        several nearest sites the one with the lowest index.
    labels : bool
        The array holds labels (integers): the distance to the nearest element of another label. Label 0, or what
        `sites` selects, is background at distance 0; with ``sites="none"`` there is none.
    limit : float > 0
        Elements farther than this have no site: those whose distance, in the type in which it is returned (float64 where
        none is), would be above `limit`. So a distance of the map itself is within itself.
    border : bool
        What lies just outside the array counts as sites too.
    signed : bool
        Distances of sites are negative: less the distance to the nearest element that is no site, which `indices` tells
        too. With a border, what lies outside the array counts as a site for those that are none. Squared distances are
        floats then, float64 by default. Not with labels.
    surface : "centre", "half"
        Signed distances from the other side's nearest element, or from half-way before it: less half of the smallest
        pitch.
    fill : number
        What elements get where there is no distance, in place of inf (or an integer type's largest value).
    axes : int or ints
        Measure along these axes only; slices along the others are a batch. None: all.
    dtype : of the distances
        float32 (default), float64, or float16: the float64 distances rounded to it. With `scale` or `offset` int8, uint8, int16
        or uint16.
    scale, offset : float
        Distances d become the integer nearest to d * scale + offset, ties to even, both operations rounded to float64. Values
        beyond the type's range, and infinite ones, get its end. None: 1 and 0.
    out : array of the mask's shape and that dtype, any strides, for the distances: written into and returned.
    device : "cpu", "cuda", "cuda:N", several GPUs "cuda:0-3" or "cuda:0,2"; None: where the array lies.
    threads : int; None: as many as the process may use.
    method : a name in methods(); None: the fastest.
    progress : function
        Called now and then with the share done, 0 to 1; a true result ends the work with RuntimeError.

    Returns
    -------
    distance, or (distance, index) with `indices`
        Arrays of the mask's shape, in its library, on its device. Elements without a site get inf (the largest value in
        integer types) and index -1; index -2 is the border. A new distance lies in memory as the mask does, Fortran order
        from Fortran order, which takes no longer than C order; with `indices` both have C order, and a mask in another
        one takes longer.

    Raises ValueError, TypeError, NotImplementedError, MemoryError and RuntimeError as transform() does.

    Examples
    --------
    >>> import numpy as np
    >>> mask = np.array([[1, 1, 1, 1], [1, 0, 1, 1], [1, 1, 1, 1]], np.uint8)
    >>> edt(mask)[0].round(3).tolist()
    [1.4140000343322754, 1.0, 1.4140000343322754, 2.2360000610351562]
    >>> edt(mask, sampling=(2, 1), squared=True)
    array([[5, 4, 5, 8],
           [1, 0, 1, 4],
           [5, 4, 5, 8]], dtype=uint32)
    >>> edt(np.array([5, 5, 5, 8, 8]), labels=True, squared=True).tolist()
    [9, 4, 1, 1, 4]
    >>> edt(np.array([1, 1, 0, 0, 0]), signed=True, surface="half").tolist()
    [1.5, 0.5, -0.5, -1.5, -2.5]
    >>> edt(np.array([1, 1, 1, 0]), dtype="uint8", scale=100)
    array([255, 200, 100,   0], dtype=uint8)
    """
    return call(edt_arguments, progress, mask, out, sampling, sites, squared, indices, labels, limit, border, signed, surface, fill, axes,
                dtype, device, threads, method, scale, offset)


def edt_arguments(ndim, sampling, sites, squared, indices, labels, limit, border, signed, surface, fill, axes, dtype, device, threads,
                  method, scale=None, offset=None):
    """Those of transform(), as all functions of such names have them."""
    if signed and labels:
        raise ValueError("signed does not go with labels, which have no two sides")
    return {"kind": "labels" if labels else "mask", "want": wanted(squared, indices, dtype), "sites": sites,
            "sign": "outside" if signed else None, "surface": surface, "axes": axes, "spacing": sampling, "limit": limit,
            "border": border, "fill": fill, "device": device, "threads": threads, "method": method, "scale": scale, "offset": offset}


def wanted(squared, indices, dtype):
    return {"squared" if squared else "distance": dtype} | ({"index": None} if indices else {})


def signed_distance(mask, sampling=None, sites="zero", *, positive="outside", squared=False, indices=False, limit=None,
                    border=False, surface="centre", fill=None, axes=None, dtype=None, out=None, device=None, threads=None,
                    method=None, progress=None):
    """A signed map of a mask's objects, by default negative inside them, as ITK's signed maps are.

    edt() with ``signed=True``, but for the signs: that is positive off the sites, which are the background by default, and
    so inside the objects.

    Parameters
    ----------
    mask, sampling, squared, indices, limit, border, surface, fill, axes, dtype, out, device, threads, method, progress : as of edt()
    sites : "zero" or "nonzero", a number, a range
        Which elements are the background where it is "zero", else the objects.
    positive : "outside", "inside"
        Which side of the objects' surface is positive; the other is negative.

    Returns
    -------
    distance, or (distance, index) with `indices`; inside the objects to the nearest element that is none of them, outside to
    the nearest one of an object. (ITK's SignedMaurerDistanceMap measures to the objects' outermost elements on both sides,
    which are at 0 then.)

    Examples
    --------
    >>> import numpy as np
    >>> signed_distance(np.array([0, 0, 1, 1, 1])).tolist()
    [2.0, 1.0, -1.0, -2.0, -3.0]
    >>> signed_distance(np.array([0, 0, 1, 1, 1]), positive="inside", surface="half").tolist()
    [-1.5, -0.5, 0.5, 1.5, 2.5]
    """
    return call(signed_arguments, progress, mask, out, sampling, sites, positive, squared, indices, limit, border, surface, fill, axes,
                dtype, device, threads, method)


def signed_arguments(ndim, sampling, sites, positive, squared, indices, limit, border, surface, fill, axes, dtype, device, threads, method):
    side = choice("positive", positive, ("outside", "inside"))
    of_background = isinstance(sites, str) and sites == "zero"
    return {"want": wanted(squared, indices, dtype), "sites": sites, "sign": ("outside", "inside")[side != of_background],
            "spacing": sampling, "limit": limit, "border": border, "surface": surface, "fill": fill, "axes": axes, "device": device,
            "threads": threads, "method": method}


def expand_labels(labels, distance=1, sampling=None, *, axes=None, out=None, device=None, threads=None, method=None, progress=None):
    """Labels grown by `distance` into the background, which is 0, until they meet.

    An element of the background gets the label of the nearest labelled one, where that is at most `distance` away (in
    float64); of several equally near ones that with the lowest index. As scikit-image's expand_labels, which does not say
    who wins where several are equally near.

    Parameters
    ----------
    labels : array of integers or bool, of one to eight axes, of which up to four are measured, any strides
    distance : float >= 0, in the unit of `sampling`
    sampling, axes, device, threads, method, progress : as of edt()
    out : array of any integer type that holds the labels, of any strides

    Returns
    -------
    expanded
        An array of the labels' shape and type.

    Examples
    --------
    >>> import numpy as np
    >>> expand_labels(np.array([0, 0, 7, 0, 0, 0, 0, 2, 0]), 2).tolist()
    [7, 7, 7, 7, 7, 2, 2, 2, 2]
    >>> expand_labels(np.array([[0, 0, 0], [0, 5, 0], [0, 0, 0]]), 1).tolist()
    [[0, 5, 0], [5, 5, 5], [0, 5, 0]]
    """
    return call(expand_arguments, progress, labels, out, distance, sampling, axes, device, threads, method)


def expand_arguments(ndim, distance, sampling, axes, device, threads, method):
    limit = number("distance", distance)
    if not limit >= 0:
        raise ValueError(f"distance is {limit:g}, must not be negative")
    return {"want": {"label": None}, "sites": "nonzero", "spacing": sampling, "axes": axes, "limit": limit or LEAST, "device": device,
            "threads": threads, "method": method}


def feature_transform(mask, sampling=None, sites="zero", *, coords=False, distances=False, limit=None, border=False,
                      axes=None, out=None, device=None, threads=None, method=None, progress=None):
    """The nearest site of every element.

    Parameters
    ----------
    mask, sampling, sites, limit, border, axes, device, threads, method, progress : as of edt()
    coords : bool
        Coordinates rather than linear indices: int32, of shape (ndim, ...), slowest axis first.
    distances : bool
        Also the Euclidean distances, float32.
    out : int32 or int64 array for the sites (with `coords` int16 too), of any strides.

    Returns
    -------
    sites, or (sites, distance) with `distances`
        Linear row-major indices, int32 (int64 for arrays of 2^31 elements or more), or coordinates. Of several nearest
        sites the one with the lowest index; -1 where there is none, -2 where the border is nearer. New arrays have C order;
        a mask in Fortran order takes about twice as long as one in C order.

    Examples
    --------
    >>> import numpy as np
    >>> mask = np.array([[0, 1, 1, 1], [1, 1, 1, 0]])
    >>> feature_transform(mask)
    array([[0, 0, 7, 7],
           [0, 0, 7, 7]], dtype=int32)
    >>> feature_transform(mask, coords=True)[1].tolist()
    [[0, 0, 3, 3], [0, 0, 3, 3]]
    """
    return call(feature_arguments, progress, mask, out, sampling, sites, coords, distances, limit, border, axes, device, threads, method)


def feature_arguments(ndim, sampling, sites, coords, distances, limit, border, axes, device, threads, method):
    want = {"coords" if coords else "index": None} | ({"distance": None} if distances else {})
    return {"want": want, "sites": sites, "axes": axes, "spacing": sampling, "limit": limit, "border": border, "device": device,
            "threads": threads, "method": method}


def chamfer(mask, weights=None, sites="zero", *, dtype="int32", limit=None, border=False, fill=None, axes=None,
            out=None, device=None, threads=None, method=None, progress=None):
    """City-block, chessboard and chamfer distances: the lengths of shortest walks from element to element.

    Parameters
    ----------
    mask, sites, border, fill, axes, device, threads, method, progress : as of edt()
    weights : "cityblock", "chessboard", (a, b) or (a, b, c)
        What a step along one axis costs, a diagonal one, and c: with three measured axes a step along all three, else a
        knight's step. (3, 4), (5, 7, 11) and, in volumes, (3, 4, 5) are usual; None: (3, 4), in volumes (3, 4, 5). Rules:
        a <= b <= 2a; with a knight's step 2a <= c, 3b <= 2c, c <= a + b; in volumes b <= 2a, b <= c, a + c <= 2b.
    dtype : any integer type that holds more than the largest possible distance, float32 or float64.
    limit : in the unit of the weights.
    out : array of that dtype, of any strides.

    Returns
    -------
    distance
        Whole numbers. Elements without a site get the type's largest value, inf in floats.

    Examples
    --------
    >>> import numpy as np
    >>> mask = np.ones((3, 5), np.uint8)
    >>> mask[0, 0] = 0
    >>> chamfer(mask)
    array([[ 0,  3,  6,  9, 12],
           [ 3,  4,  7, 10, 13],
           [ 6,  7,  8, 11, 14]], dtype=int32)
    >>> chamfer(mask, "cityblock", dtype=np.uint8)[2].tolist()
    [2, 3, 4, 5, 6]
    """
    return call(chamfer_arguments, progress, mask, out, weights, sites, dtype if out is None else None, limit, border, fill, axes, device,
                threads, method)


def chamfer_arguments(ndim, weights, sites, dtype, limit, border, fill, axes, device, threads, method):
    if weights is None:
        weights = (3, 4, 5) if (axes_bits(axes, ndim).bit_count() or ndim) == 3 else (3, 4)
    if isinstance(weights, str):
        choice("weights", weights, ("cityblock", "chessboard"))
    metric, weights = (weights, None) if isinstance(weights, str) else ("chamfer", weights)
    return {"want": {"distance": dtype}, "metric": metric, "chamfer": weights, "sites": sites, "axes": axes, "limit": limit,
            "border": border, "fill": fill, "device": device, "threads": threads, "method": method}


def esf(mask, rho, *, steps=None, tolerance=None, dt=None, sites="nonzero", axes=None, dtype=None, out=None,
        convergence=False, device=None, threads=None, method=None, progress=None):
    """The edge strength function of a shape: 1 on it, falling off over lengths of about `rho` elements.

    The solution of dv/dt = (Laplacian - 1/rho^2) v from v = 0 elsewhere, with no flux through the array's border: after
    `steps` explicit steps, or at rest.

    Parameters
    ----------
    mask, axes, device, threads, method, progress : as of edt()
    rho : float, 1e-15 to 1e15 elements
    steps : int > 0; None: the state at rest.
    tolerance : float
        At rest: the largest residual, at least 1e-6 with float32 and 1e-14 with float64. None: 1e-5 and 1e-10.
    dt : float
        Length of a step, below 2 / (4m + 1/rho^2) with m measured axes. None: 1 / (2m + 1), 0.2 in an image, or less
        where rho is below 0.71.
    sites : the shape: "nonzero" (default), "zero", a number, or (lo, hi)
    dtype : float32 (default) or, on the CPU, float64
    out : array of that dtype, of any strides
    convergence : bool
        Also how it went (arrays in host memory).

    Returns
    -------
    strength, or (strength, Convergence) with `convergence`
        Without a shape 0 everywhere.

    Examples
    --------
    >>> import numpy as np
    >>> esf(np.array([0, 0, 1, 0, 0]), rho=4, steps=2, dt=0.25).tolist()
    [0.0625, 0.37109375, 1.0, 0.37109375, 0.0625]
    >>> strength, how = esf(np.eye(9), rho=3, convergence=True)
    >>> how.residual <= 1e-5
    True
    """
    options = rho, steps, tolerance, dt, sites, axes, dtype, device, threads, method
    if not convergence:
        return call(esf_arguments, progress, mask, out, *options)
    result = transform(mask, out=out, progress=progress, **esf_arguments(None, *options))
    return result.strength, result.convergence


def esf_arguments(ndim, rho, steps, tolerance, dt, sites, axes, dtype, device, threads, method):
    return {"want": {"strength": dtype}, "sites": sites, "axes": axes, "device": device, "threads": threads, "method": method,
            "esf": {"rho": rho, "steps": steps, "dt": dt, "tolerance": tolerance}}


def skeleton(mask, sampling=None, sites="zero", *, pruning="square_root", gamma=None, distances=False, border=False,
             axes=None, out=None, device=None, threads=None, method=None, progress=None):
    """The Euclidean skeleton of a shape, in two or three dimensions: its integer medial axis.

    An element of the shape is on it where its nearest background element and a neighbour's are neither the same nor
    neighbours, and far enough apart for the pruning (W. H. Hesselink and J. B. T. M. Roerdink, IEEE TPAMI 30(12), 2008).

    Parameters
    ----------
    mask, sampling, sites, axes, device, threads, method, progress : as of edt()
        The sites are the background, so that by default the shape is what is not zero. Up to three axes are measured.
    pruning : "square_root" (default), "linear" or "constant"
        Which branches are left out: those that discretisation makes, whatever the shape's size; those that span less than
        an angle, by `gamma` of about 0.5 to 1; those whose two sites are within `gamma` of each other.
    gamma : float >= 0, not with "square_root"
        With "linear" a ratio, with "constant" a length in the unit of `sampling`.
    distances : bool
        Also the distance to the background on the skeleton, 0 elsewhere (float32): the radius of the ball there.
    border : bool
        What lies outside the array is background too. Else a shape that is cut off has no skeleton of the cut.
    out : bool or uint8 array of the mask's shape, any strides

    Returns
    -------
    skeleton, or (skeleton, distance) with `distances`
        bool, True on the skeleton.

    Examples
    --------
    >>> import numpy as np
    >>> bar = np.zeros((5, 9), np.uint8)
    >>> bar[1:4, 1:8] = 1
    >>> skeleton(bar)[1:4].astype(int)
    array([[0, 0, 0, 0, 0, 0, 0, 0, 0],
           [0, 0, 1, 1, 1, 1, 1, 0, 0],
           [0, 0, 0, 0, 0, 0, 0, 0, 0]])
    """
    return call(skeleton_arguments, progress, mask, out, sampling, sites, pruning, gamma, distances, border, axes, device, threads, method)


def skeleton_arguments(ndim, sampling, sites, pruning, gamma, distances, border, axes, device, threads, method):
    return {"want": {"mask": None} | ({"distance": None} if distances else {}), "spacing": sampling, "sites": sites, "border": border,
            "axes": axes, "skeleton": {"pruning": pruning, "gamma": gamma}, "device": device, "threads": threads, "method": method}
