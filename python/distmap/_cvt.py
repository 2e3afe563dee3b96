"""Weighted centroidal Voronoi diagrams."""

from typing import Any, NamedTuple

import numpy as np

from . import _arrays
from ._transform import transform

MOST = 65535  # what the largest weight of floats becomes


class Cvt(NamedTuple):
    """Points spread by a density, see cvt()."""
    sites: Any  # (points, ndim) int32: the elements on which they stand
    centroids: Any  # (points, ndim) float64: the centroids of their cells, in elements
    energies: Any  # (steps + 1,) float64: at the start on the full grid, and after each step
    labels: Any  # the number of the nearest site, int32, of the density's shape; None if not asked for


def weights_of(density):
    """NumPy's arrays as unsigned integers: floats scaled, so that the largest is 65535, and signed integers as they are."""
    if _arrays.home_of(density) is not _arrays.Numpy:
        return density
    density = _arrays.to_numpy(density, "the input")
    if density.dtype.kind not in "iuf" or density.dtype.kind == "u" and density.dtype.itemsize <= 4:
        return density
    least, most = (density.min(), density.max()) if density.size else (0, 0)
    if not (least >= 0 and most < np.inf):
        raise ValueError(f"density holds {most if least >= 0 else least}, must be finite and not negative")
    if density.dtype.kind == "f":
        scaled = density.astype(np.float64)
        return np.rint(scaled / float(most) * MOST if most > 0 else scaled).astype(np.uint16)
    if most >= 1 << 32:
        raise ValueError(f"density holds {most}, integers must be below 2^32")
    return density.astype(np.uint16 if most < 1 << 16 else np.uint32)


def cvt(density, points, sampling=None, *, steps=30, omega=1.0, seed=0, grids=None, labels=False, device=None,
        threads=None, method=None, progress=None):
    """A weighted centroidal Voronoi diagram: points that stand near the centroids of the elements nearest to them.

    Lloyd's steps lower the energy, the sum of density times the squared distance to the nearest point, from a start drawn
    by the density and made on coarser grids first (T.-T. Cao et al., "Parallel Banding Algorithm", I3D 2010). It never
    rises, and all bits are the same on every device. Of a picture the bright parts are dense: ``255 - picture`` makes
    stippling by dark dots.

    Parameters
    ----------
    density : array of one to three axes, any strides
        Weights >= 0: bool or integers below 2^32. NumPy's floats are scaled so that the largest becomes 65535, and
        rounded. As many elements as points must have weight.
    points : int
        How many.
    sampling : float or floats
        Pitch of the elements along each axis, as of edt(). None: 1.
    steps : int
        Of Lloyd, on every grid.
    omega : float, above 0 and below 2
        How far points go towards the centroids; more than 1 is over-relaxation.
    seed : int
        Of the start.
    grids : int
        How many, the array's own among them; 1: no coarser ones. None: as many as have 8 elements with weight for a point.
    labels : bool
        Also the number of the nearest point for every element.
    device, threads, method : as of edt()
    progress : as of transform()

    Returns
    -------
    Cvt
        (sites, centroids, energies, labels), on the density's device.

    Examples
    --------
    >>> import numpy as np
    >>> found = cvt(np.ones((8, 8), np.uint8), 4, steps=10, labels=True)
    >>> found.sites.shape, np.unique(found.labels).tolist()
    ((4, 2), [0, 1, 2, 3])
    >>> bool((np.diff(found.energies) <= 0).all())
    True
    """
    want = {"sites": None, "centroids": None, "energies": None} | ({"label": None} if labels else {})
    result = transform(weights_of(density), want=want, spacing=sampling, device=device, threads=threads, method=method,
                       cvt={"points": points, "steps": steps, "omega": omega, "seed": seed, "grids": grids},
                       progress=progress)
    return Cvt(result.sites, result.centroids, result.energies, result.label)
