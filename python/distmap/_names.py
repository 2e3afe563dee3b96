"""The enumerations of include/distmap.h by the names of their values, each at the index that is its value; the header's numbers.

tests/python/test_names.py compares the names with the header. Structures are the compiled half's, see python/binding.
"""

from ._library import core

STATUS = ("ok", "argument", "memory", "unsupported", "cancelled", "value", "io", "format", "device")
DTYPES = ("none", "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32",
          "float64")
SPACES = ("host", "cuda")
DEVICES = ("cpu", "cuda")
INPUTS = ("mask", "labels", "sampled")
SITES = ("zero", "nonzero", "value", "range", "none")
METRICS = ("euclidean", "cityblock", "chessboard", "chamfer")
PHASES = ("compute", "transfer")
FIELDS = ("distance", "edge_strength", "skeleton", "morphology", "comparison", "thickness", "cvt")
PRUNINGS = ("square_root", "linear", "constant")
MORPHOLOGY_STEPS = ("dilate", "erode", "open", "close")
POINTS = ("surface", "set")
SIGNS = ("none", "outside", "inside")
SURFACES = ("centre", "half")
OUTPUTS = ("distance", "squared", "index", "coords", "label", "strength", "mask", "within", "beyond", "sites",
           "centroids", "energies")

# Enumerations of include/distmap/io.h.
AXIS_TYPES = ("space", "time", "channel", "other")
WORLDS = ("unknown", "ras", "lps", "projected", "geographic")
KINDS = ("unknown", "mask", "labels", "intensity")
SAMPLES = ("open", "index", "luma", "red", "green", "blue", "alpha")

MAX_GPUS, MAX_PERCENTILES, MAX_AXES = core.MAX_GPUS, core.MAX_PERCENTILES, core.MAX_AXES
INDEX_NONE, INDEX_BORDER = core.INDEX_NONE, core.INDEX_BORDER
FLAG_NO_SITE, FLAG_NAN, FLAG_UNREST = core.FLAG_NO_SITE, core.FLAG_NAN, core.FLAG_UNREST
