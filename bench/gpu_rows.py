"""The rows of the GPU's bench: what is measured, and what is to be reached.

Times are ms, of uint8 masks to float32 distances from device memory to device memory; the index, order, host and operations
groups reach for ratios (Lloyd's steps for ms), as capped rows do, pitch for ratios of CuPy's time, scratch for bytes per
element. `reach` is what has to be, `push` what is hoped for next; None: only shown.
"""

import math
from dataclasses import dataclass, replace

from rows import MICROSCOPE, WORST, pitch_name, size_name

DENSE = ("90%", "50%", "30%", "10%", "1%")
SPARSE = ("0.1%", "0.01%", "corner", "blobs")
CAP = "99"  # KiB of shared memory to a block, as on an RTX, L4 or A10
CAPPED = 1.1  # of the time with all of it
CUPY_ELEMENTS = 512**3  # the largest that CuPy's own memory is sure to suffice for


@dataclass(frozen=True)
class Row:
    group: str
    shape: tuple
    pattern: str = ""
    reach: float | None = None
    push: float | None = None
    want: tuple = ("distance",)
    memory: str = ""       # host: "page-locked" or "pageable"
    peer: bool = False     # CuPy is timed too
    spacing: tuple = ()    # pitches by axis; none: 1
    at_least: bool = False  # the reach is a lower bound
    capped: bool = False   # with the shared memory of lesser GPUs, in turns with all of it

    @property
    def size(self):
        return size_name(self.shape)

    @property
    def elements(self):
        return math.prod(self.shape)

    @property
    def name(self):
        extra = {"index": "with indices", "host": f"host {self.memory}", "scratch": " + ".join(self.want),
                 "order": "in Fortran order"}
        words = self.size, self.pattern, pitch_name(self.spacing), extra.get(self.group), self.capped and f"shared={CAP}"
        return " ".join(filter(None, words))


# (group, shape, ((patterns, reach, push), ...))
TIMES = [
    ("2d-512", (512,) * 2, ((DENSE + SPARSE + WORST, 0.022, 0.015),)),
    ("2d-2048", (2048,) * 2, ((DENSE + SPARSE + WORST, 0.045, 0.030),)),
    ("2d-8192", (8192,) * 2, ((DENSE, 0.28, 0.18), (SPARSE + WORST, None, None))),
    ("2d-32768", (32768,) * 2, ((DENSE, 4.0, 2.5), (SPARSE, 5.0, 3.0), (WORST, 8.0, 4.5))),
    ("3d-512", (512,) * 3, ((("90%", "50%", "10%", "1%"), 0.9, 0.6),
                            (("0.01%", "corner", "blobs", "circle", "diagonal"), None, None))),
    ("3d-1024", (1024,) * 3, ((("90%", "50%", "10%", "1%"), 7.0, 4.0), (("0.01%", "corner", "blobs"), 9.0, 5.0),
                              (("circle", "diagonal"), 14.0, 8.0))),
    ("2d-50000", (50000,) * 2, ((("blobs",), 12.0, 9.0), (("1%",), 8.0, 6.0), (("corner", "circle"), None, None))),
    ("3d-flat", (64, 2048, 2048), ((("1%",), 2.5, 1.3), (("50%",), None, None))),
]
# (shape, pitches, reach): in a unit, in one whose squares pass 32 bits, and without one (as squared distances of 64 bits or FP64)
PITCHES = [((8192,) * 2, (0.65,) * 2, 15), ((8192,) * 2, (0.65, 0.7), 18), ((8192,) * 2, (0.65, 0.7000001), 10),
           ((512,) * 3, MICROSCOPE, 5), ((512,) * 3, (1.25, 0.683594, 0.683594), 7), ((512,) * 3, (2.5, 0.7123457, 0.7123461), 4)]
SCRATCH = {2: (4.5, 0.6), 3: (4.5, 2.5)}  # by number of axes: reach, push; distances alone


def rows():
    result = []
    for group, shape, kinds in TIMES:
        # CuPy makes a cube of every volume. Of the flat one it would be 2048^3, which asks for more memory than there is, and
        # CuPy 14.2's failure leaves the GPU unusable to the process (seen on an H200): it is not asked.
        peer = math.prod(shape) <= CUPY_ELEMENTS and group != "3d-flat"
        result += [Row(group, shape, p, reach, push, peer=peer) for patterns, reach, push in kinds for p in patterns]
    result += [Row("pitch", shape, p, reach, peer=True, spacing=spacing, at_least=True)
               for shape, spacing, reach in PITCHES
               for p in ("1%", "blobs")]
    result += [Row("order", shape, p, 1.1, spacing=spacing) for shape, spacings in (((8192,) * 2, ((),)), ((512,) * 3,
               ((), MICROSCOPE[::-1]))) for p in ("1%", "blobs") for spacing in spacings]
    both = ("distance", "index")
    for shape in ((8192,) * 2, (512,) * 3):
        result += [Row("index", shape, p, 1.8, want=both) for p in ("1%", "50%", "blobs")]
    result += [Row("operations", shape, operation, 2) for operation in ("labels", "signed", "skeleton")
               for shape in ((8192,) * 2, (512,) * 3)]
    result += [Row("operations", (4096,) * 2, "lloyd", 1.5)]
    result += [Row("host", (16384,) * 2, "1%", 1.25, memory=memory) for memory in ("page-locked", "pageable")]
    for _, shape, _ in TIMES:
        result += [Row("scratch", shape, "", *SCRATCH[len(shape)]), Row("scratch", shape, "", want=both)]
    return result


def capped_rows():
    """Those that minplus/cuda does by the GPU's clock, once more with less shared memory."""
    return [replace(row, reach=CAPPED, push=None, peer=False, at_least=False, capped=True) for row in rows()
            if row.group not in ("host", "scratch") and row.pattern not in ("skeleton", "lloyd")]


GROUPS = (*(group for group, _, _ in TIMES), "pitch", "order", "index", "operations", "host", "scratch", "cases", "peak")
