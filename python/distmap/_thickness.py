"""Local thickness: the largest ball within a shape that holds the element."""

from ._transform import call


def local_thickness(mask, sampling=None, sites="zero", *, squared_radius=False, border=False, fill=None, axes=None, dtype=None,
                    out=None, device=None, threads=None, method=None, progress=None):
    """The local thickness of a shape: at every element the diameter of the largest ball within the shape that holds it.

    The radius R(c) of the ball about c is the distance from c to the nearest element that is not of the shape, and it holds
    the elements p with ``|p - c| < R(c)``; thickness is ``2 max R(c)`` over the balls that hold p, and 0 outside the shape
    (T. Hildebrand and P. Ruegsegger, Journal of Microscopy 185(1), 1997). Exact: all balls count, and no radius is rounded.

    Parameters
    ----------
    mask, sampling, sites, fill, axes, device, threads, method, progress : as of edt()
        The sites are the background, so that by default the shape is what is not zero. Up to three axes are measured.
    squared_radius : bool
        The squared radius of that ball instead: integers as of edt(), where the sampling is whole numbers.
    border : bool
        What lies outside the array is background too. Else balls may reach beyond it.
    dtype : of the thickness; float32 (default) or float64. Of the squared radius as of edt().
    out : array of the result's shape and type, any strides, to write into and to return.

    Returns
    -------
    Array of the mask's shape, in its library, on its device. Without any background it is inf (the largest value in integer
    types).

    Examples
    --------
    >>> import numpy as np
    >>> shape = np.zeros((5, 9), np.uint8)
    >>> shape[1:4, 1:5] = 1
    >>> shape[2, 5:8] = 1
    >>> local_thickness(shape)[1:4].astype(int)
    array([[0, 4, 4, 4, 4, 0, 0, 0, 0],
           [0, 4, 4, 4, 4, 2, 2, 2, 0],
           [0, 4, 4, 4, 4, 0, 0, 0, 0]])
    >>> local_thickness(np.array([0, 1, 1, 1, 1, 0]), squared_radius=True)
    array([0, 4, 4, 4, 4, 0], dtype=uint32)
    """
    return call(arguments, progress, mask, out, sampling, sites, squared_radius, border, fill, axes, dtype, device, threads, method)


def arguments(ndim, sampling, sites, squared_radius, border, fill, axes, dtype, device, threads, method):
    """Those of transform()."""
    return {"want": {"squared" if squared_radius else "distance": dtype}, "spacing": sampling, "sites": sites, "border": border,
            "fill": fill, "axes": axes, "thickness": True, "device": device, "threads": threads, "method": method}
