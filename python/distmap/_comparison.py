"""Two masks compared: Hausdorff and average distances, of surfaces or of sets."""

from typing import NamedTuple

import numpy as np

from . import _arrays, _names, _problem
from ._context import context_for
from ._plan import Plan, scratch_of
from ._transform import chosen_device


class Directed(NamedTuple):
    """The distances from the points of one mask to the nearest points of the other."""
    points: int
    within: int  # of the points, those no farther than the tolerance
    hausdorff: float  # the largest distance
    mean: float
    rms: float
    percentiles: dict  # {95: distance}


class Agreement(NamedTuple):
    """What compare() found. Symmetric: the largest of both directions (hausdorff, percentiles), the average over the points
    of both (mean, rms)."""
    hausdorff: float
    mean: float
    rms: float
    percentiles: dict  # {95: distance}
    surface_dice: float  # share of all points that are within the tolerance
    dice: float  # 2 |A and B| / (|A| + |B|), elements
    jaccard: float  # |A and B| / |A or B|
    forward: Directed  # from A to B
    backward: Directed  # from B to A
    elements: tuple  # of A, of B
    common: int  # of both
    method: str


def compare(a, b, sampling=None, sites="nonzero", *, points="surface", tolerance=0, percentiles=95, device=None,
            threads=None, method=None):
    """How far two masks are from each other: Hausdorff and average surface distances, percentiles, overlaps.

    Parameters
    ----------
    a, b : arrays of one shape, one to four axes, any strides
        The masks are their elements that are not zero, or what `sites` selects, as of edt().
    sampling : float or floats
        Pitch of the elements along each axis, as of edt(). None: 1.
    points : "surface" or "set"
        Between which elements distances are taken: those with a neighbour along an axis outside the mask (outside of the
        array counts as outside), or all of the mask, as scipy.spatial.distance.directed_hausdorff of its coordinates.
    tolerance : float >= 0
        For surface_dice, and `within`: distances that are at most this in float64 count.
    percentiles : float, or up to 16 of them, 0 to 100
        Of the distances of each direction, as numpy.percentile gives them.
    device, threads, method : as of edt()

    Returns
    -------
    Agreement
        Its numbers are the same to the bit on any device and number of threads. If only one of the masks is empty,
        symmetric distances are inf; if both are, they and the overlaps are NaN, as is each direction from an empty mask.

    Examples
    --------
    >>> import numpy as np
    >>> a, b = np.zeros((2, 9, 9), bool)
    >>> a[2:7, 2:7] = True
    >>> b[2:7, 3:9] = True
    >>> found = compare(a, b, tolerance=1, percentiles=(50, 95))
    >>> found.hausdorff, found.percentiles[50], found.backward.hausdorff
    (2.0, 1.0, 2.0)
    >>> round(found.mean, 3), found.surface_dice, round(found.dice, 3)
    (0.706, 0.8235294117647058, 0.727)
    """
    masks = _arrays.take(a, "a"), _arrays.take(b, "b")
    if masks[0].shape != masks[1].shape:
        raise ValueError(f"a has shape {tuple(masks[0].shape)}, b {tuple(masks[1].shape)}, must be the same")
    percents = tuple(percentiles) if np.iterable(percentiles) else (percentiles,)
    dtypes = [_names.DTYPES[mask.dtype] for mask in masks]
    problem = _problem.make(masks[0].shape, dtypes[0], sites=sites, spacing=sampling,
                            comparison={"other": dtypes[1], "points": points, "tolerance": tolerance,
                                        "percentiles": percents}, order=masks[0].order())
    context = context_for(chosen_device(device, masks), threads)
    staged = context.device != "cpu" and any(mask.ordinal is None for mask in masks)
    scratch = None
    if on_gpu := next((mask for mask in masks if mask.ordinal is not None), None):
        context.set_stream(*on_gpu.home.stream(on_gpu))
        if on_gpu.home.pooled:
            scratch = on_gpu.home.empty((scratch_of(context, problem, method, host_views=staged),), "uint8", on_gpu)
    plan = Plan.of(context, problem, method, host_views=staged, scratch=scratch)
    plan.bind(masks[0], other=masks[1])()
    told = plan.agreement()
    both = distances_of(told["symmetric"], percents)
    return Agreement(both.hausdorff, both.mean, both.rms, both.percentiles, told["surface_dice"], told["dice"], told["jaccard"],
                     distances_of(told["forward"], percents), distances_of(told["backward"], percents), tuple(told["elements"]),
                     told["common"], plan.describe().method)


def distances_of(told, percents):
    return Directed(told["points"], told["within"], told["hausdorff"], told["mean"], told["rms"],
                    dict(zip(percents, told["percentile"])))
