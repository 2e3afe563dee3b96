"""The rows of the race: what is measured, against whom, and what is to be reached."""

from dataclasses import dataclass

DENSE = ("1%", "10%", "50%", "90%")
SPARSE = ("0.1%", "0.01%", "corner")
PICTURES = ("horse", "page", "coins")
WORST = ("diagonal", "circle", "parabola", "lattice")


def size_name(shape):
    """"4096^2", "64x2048x2048"."""
    return f"{shape[0]}^{len(shape)}" if len(set(shape)) == 1 else "x".join(map(str, shape))


@dataclass(frozen=True)
class Row:
    group: str
    pattern: str
    shape: tuple
    rival: str         # a peer's name, or "self": another time of our own, told in `against`
    reach: float       # least ratio rival / ours; for "self" rows see `at_most`
    against: str = ""
    at_most: bool = False  # the reach is an upper bound on ours / rival
    others: bool = False   # the remaining peers are timed too, once

    @property
    def name(self):
        return f"{size_name(self.shape) if self.pattern not in PICTURES else 'picture'} {self.pattern}"


def race():
    """All rows, by group: 2d, 3d, size, index, threads, worst. (The others need no clock and no rows.)"""
    rows = []
    for shapes, rival in ((((side,) * 2 for side in (256, 512, 1024, 2048)), "opencv"),
                          (((side,) * 3 for side in (32, 64, 128)), "edt")):
        rows += [Row("size", p, shape, rival, 1, others=True) for shape in shapes for p in ("1%", "blobs")]
    for side in (4096, 9216):
        shape = (side,) * 2
        small = side == 4096
        rows += [Row("2d", p, shape, "opencv", 10, others=small) for p in DENSE]
        rows += [Row("2d", p, shape, "opencv", 5, others=small) for p in (*SPARSE, "blobs")]
    rows += [Row("2d", p, (4096,) * 2, "opencv", 5, others=True) for p in PICTURES]
    for side in (256, 512):
        shape = (side,) * 3
        rows += [Row("3d", p, shape, "edt", 8, others=side == 256) for p in ("1%", "50%", "90%", "blobs")]
        rows += [Row("3d", p, shape, "edt", 5, others=side == 256) for p in ("0.01%", "corner")]
    for shape in ((4096,) * 2, (256,) * 3):
        for p in ("1%", "50%", "blobs", "0.01%"):
            rows.append(Row("index", p, shape, "self", 1.6, "distances alone", at_most=True))
            rows.append(Row("index", p, shape, "scipy-indices", 15))
        rows += [Row("threads", p, shape, "self", 1.8, "one thread") for p in ("1%", "50%", "blobs", "0.01%")]
    rows += [Row("worst", p, (4096,) * 2, "self", 3, "blobs", at_most=True) for p in WORST]
    rows += [Row("worst", p, (256,) * 3, "self", 3, "blobs", at_most=True) for p in WORST]
    return rows


# Scratch beyond input and output, in bytes per element, distances alone: (shape, reach).
MEMORY = [((4096, 4096), 0.5), ((9216, 9216), 0.5), ((256, 256, 256), 4), ((512, 512, 512), 4)]
