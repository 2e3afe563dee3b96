"""Ball morphology: dilation, erosion, opening and closing by exact Euclidean balls of any radius."""

from ._transform import call


def _apply(step, mask, radius, sampling, sites, outside, labels, axes, out, device, threads, method, progress):
    return call(arguments, progress, mask, out, step, radius, sampling, sites, outside, labels, axes, device, threads, method)


def arguments(ndim, step, radius, sampling, sites, outside, labels, axes, device, threads, method):
    """Those of transform()."""
    if labels and sites not in (None, "nonzero"):
        raise ValueError(f"sites is {sites!r}, has no meaning for labels, whose background is 0")
    return {"kind": "labels" if labels else "mask", "want": {"label" if labels else "mask": None}, "spacing": sampling,
            "sites": "zero" if labels else sites, "axes": axes, "morphology": {"step": step, "radius": radius, "outside": outside},
            "device": device, "threads": threads, "method": method}


def dilate(mask, radius, sampling=None, sites="nonzero", *, outside=False, labels=False, axes=None, out=None, device=None,
           threads=None, method=None, progress=None):
    """The elements that are within `radius` of a set; of labels, what those become that expand by as much.

    Parameters
    ----------
    mask : array of one to four axes, any strides
        The set is its elements that are not zero, or what `sites` selects, as of edt().
    radius : float >= 0
        Radius of the ball, in the unit of `sampling`. An element is within where its distance as edt() gives it in float64 is
        at most `radius`: so ``math.sqrt(13)`` has the elements at offset (2, 3).
    sampling : float or floats
        Pitch of the elements along each axis, as of edt(). None: 1.
    outside : bool
        What lies outside the array is of the set. (Not where labels are dilated.)
    labels : bool
        The array holds labels, integers, 0 being the background: background within `radius` of a label gets the nearest
        one's, of several as near that of the first element.
    axes, device, threads, method, progress : as of edt()
    out : array of the result's shape and type, any strides, to write into and to return.

    Returns
    -------
    bool array, or labels of the input's type, on its device.

    Examples
    --------
    >>> import numpy as np
    >>> dot = np.zeros((5, 7), bool)
    >>> dot[2, 3] = True
    >>> dilate(dot, 2).astype(int)
    array([[0, 0, 0, 1, 0, 0, 0],
           [0, 0, 1, 1, 1, 0, 0],
           [0, 1, 1, 1, 1, 1, 0],
           [0, 0, 1, 1, 1, 0, 0],
           [0, 0, 0, 1, 0, 0, 0]])
    >>> dilate(np.array([5, 0, 0, 0, 0, 0, 7]), 2, labels=True).tolist()
    [5, 5, 5, 0, 7, 7, 7]
    """
    return _apply("dilate", mask, radius, sampling, sites, outside, labels, axes, out, device, threads, method, progress)


def erode(mask, radius, sampling=None, sites="nonzero", *, outside=False, labels=False, axes=None, out=None, device=None,
          threads=None, method=None, progress=None):
    """The elements of a set with nothing but the set within `radius`; of labels, with nothing but their own label.

    Arguments as of dilate(). What lies outside the array is not of the set and eats from the border, unless `outside`
    says that it is (of labels: that each goes on there).

    Examples
    --------
    >>> import numpy as np
    >>> erode(np.ones((3, 6), bool), 1).astype(int).tolist()
    [[0, 0, 0, 0, 0, 0], [0, 1, 1, 1, 1, 0], [0, 0, 0, 0, 0, 0]]
    >>> erode(np.array([5, 5, 5, 5, 7, 7, 0]), 1, labels=True, outside=True).tolist()
    [5, 5, 5, 0, 0, 0, 0]
    """
    return _apply("erode", mask, radius, sampling, sites, outside, labels, axes, out, device, threads, method, progress)


def opening(mask, radius, sampling=None, sites="nonzero", *, outside=False, labels=False, axes=None, out=None, device=None,
            threads=None, method=None, progress=None):
    """The union of the balls of `radius` that lie within a set: its erosion, dilated; of labels, that of each by itself.

    Arguments as of dilate(). The array is part of an infinite one, whose rest is not of the set, or is, with `outside`
    (not of labels).

    Examples
    --------
    >>> import numpy as np
    >>> opening(np.array([1, 0, 1, 1, 1, 0, 1, 1]), 1).astype(int).tolist()
    [0, 0, 1, 1, 1, 0, 0, 0]
    >>> opening(np.array([0, 5, 5, 5, 7, 7, 9, 9, 9, 0]), 1, labels=True).tolist()
    [0, 5, 5, 5, 0, 0, 9, 9, 9, 0]
    """
    return _apply("open", mask, radius, sampling, sites, outside, labels, axes, out, device, threads, method, progress)


def closing(mask, radius, sampling=None, sites="nonzero", *, outside=False, axes=None, out=None, device=None, threads=None,
            method=None, progress=None):
    """A set with what no ball of `radius` covers that lies beside it: its dilation, eroded.

    Arguments as of dilate(). The array is part of an infinite one, whose rest is not of the set, or is, with `outside`.

    Examples
    --------
    >>> import numpy as np
    >>> closing(np.array([1, 0, 0, 1, 0, 0, 0, 1]), 1).astype(int).tolist()
    [1, 1, 1, 1, 0, 0, 0, 1]
    """
    return _apply("close", mask, radius, sampling, sites, outside, False, axes, out, device, threads, method, progress)
