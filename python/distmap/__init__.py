"""distmap: exact distance maps at memory speed.

A distance map gives, for every element of an image or volume, the distance to the nearest *site*; by default the sites
are the zeros of a mask. Results are the same to the bit with every method, instruction set, number of threads and
device.

    edt                 Euclidean distances, squared or signed if you like, with the nearest sites' indices
    edt_many            the same of a list of arrays, crops for instance, in one call
    signed_distance     the same, negative inside the objects, as in ITK
    feature_transform   the nearest site of every element
    expand_labels       labels grown by a distance
    chamfer             city-block, chessboard and chamfer distances
    esf                 edge strengths, a smoothed distance
    skeleton            Euclidean skeletons, pruned
    local_thickness     the diameter of the largest ball within a shape that holds the element
    dilate, erode, opening, closing
                        by Euclidean balls of any radius, of masks and labels
    compare             two masks: Hausdorff and average surface distances, percentiles, overlaps
    cvt                 weighted centroidal Voronoi diagrams: points spread by a density, stippling
    transform           every option in one call: labels, sampled functions, spacing, limits, borders, batches, outputs
    Context, Plan       made once, executed many times; scratch_bytes: the memory that a plan takes
    imread, imwrite     files, with what they say of their axes, pitches and place: an Image
    methods, devices    what there is to compute with
    distmap.scipy       drop-in for scipy.ndimage.distance_transform_edt, _cdt and _bf

Where `sites` does not say what the sites are, they are the background, which is zero, or the objects, which are all else; beside the
functions stands the command:

    command                    Python                             sites           result
    edt, pass                  edt, feature_transform, chamfer    the background  distances, 0 on the background
    edt --signed, or inside    edt(signed=True)                   the background  positive inside the objects
    edt --signed outside       signed_distance                    the background  negative inside the objects, as in ITK
    skeleton, thickness        skeleton, local_thickness          the background  of the objects
    voronoi                    expand_labels                      the objects     spread from them
    esf                        esf                                the objects     1 on them
    morph                      dilate, erode, opening, closing    the objects     a set
    compare                    compare                            the objects     two sets

Arrays are what has a buffer, `__array_interface__`, `__array__`, `__cuda_array_interface__` or DLPack, and nested lists of numbers; anything else
is a TypeError. NumPy arrays of any strides, CuPy arrays and PyTorch tensors go in and out without a copy; new results lie in memory as the
input does, but in C order where nearest sites, skeletons or edge strengths are asked for. Python's global lock is
released while the library computes; any thread may call, and a forked child too (not with a GPU that its parent used).
"""

from ._comparison import Agreement, Directed, compare
from ._context import Context
from ._cvt import Cvt, cvt
from ._image import Axis, Image, imread, imwrite
from ._library import version
from ._many import edt_many
from ._maps import chamfer, edt, esf, expand_labels, feature_transform, signed_distance, skeleton
from ._morphology import closing, dilate, erode, opening
from ._plan import Convergence, Description, Phase, Plan, scratch_bytes
from ._names import FLAG_NAN, FLAG_NO_SITE, FLAG_UNREST, INDEX_BORDER, INDEX_NONE
from ._tables import Device, Method, Param, devices, methods
from ._thickness import local_thickness
from ._transform import Result, transform

__all__ = [
    "FLAG_NAN", "FLAG_NO_SITE", "FLAG_UNREST", "INDEX_BORDER", "INDEX_NONE", "Agreement", "Axis", "Context", "Convergence", "Cvt",
    "Description", "Device", "Directed", "Image", "Method", "Param", "Phase", "Plan", "Result", "chamfer", "closing", "compare", "cvt",
    "devices", "dilate", "edt", "edt_many", "erode", "esf", "expand_labels", "feature_transform", "imread", "imwrite", "local_thickness", "methods", "opening",
    "scratch_bytes", "signed_distance", "skeleton", "transform", "version",
]


def __getattr__(name):
    if name == "__version__":
        return version()
    raise AttributeError(f"module 'distmap' has no attribute {name!r}")
