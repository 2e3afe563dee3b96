"""The rows of the race: what is measured, against whom, and what is to be reached."""

from dataclasses import dataclass

DENSE = ("1%", "10%", "50%", "90%")
SPARSE = ("0.1%", "0.01%", "corner")
PICTURES = ("horse", "page", "coins")
WORST = ("diagonal", "circle", "parabola", "lattice")
MICROSCOPE, CONFOCAL = (2.5, 0.7, 0.7), (0.2, 0.065, 0.065)  # micrometres: what real pitches are like
PITCHES = {2: ((0.65,) * 2, (30,) * 2, (0.05,) * 2, (0.65, 0.7)), 3: (MICROSCOPE, CONFOCAL, (0.65,) * 3)}


def size_name(shape):
    """"4096^2", "64x2048x2048"."""
    return f"{shape[0]}^{len(shape)}" if len(set(shape)) == 1 else "x".join(map(str, shape))


def pitch_name(spacing):
    """"at 2.5x0.7x0.7", "at 0.65"."""
    return "at " + "x".join(f"{w:.9g}" for w in (spacing[:1] if len(set(spacing)) == 1 else spacing)) if spacing else ""


@dataclass(frozen=True)
class Row:
    group: str
    pattern: str
    shape: tuple
    rival: str         # a peer's name, or "self": another time of our own, told in `against`
    reach: float | None  # least ratio rival / ours; for "self" rows see `at_most`; None: only shown
    against: str = ""
    at_most: bool = False  # the reach is an upper bound on ours / rival
    others: bool = False   # the remaining peers are timed too, once
    spacing: tuple = ()    # pitches by axis; none: 1

    @property
    def name(self):
        size = size_name(self.shape) if self.pattern not in PICTURES else "picture"
        return " ".join(filter(None, (size, self.pattern, pitch_name(self.spacing))))


def race():
    """All rows, by group: 2d, 3d, size, index, threads, worst, pitch, order. (The others need no clock and no rows, or have
    their own.)"""
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
    return rows + pitched() + ordered()


def pitched():
    """Every image with each kind of pitches, against the rival and against its own map with pitches of 1."""
    rows = []
    for shape in ((4096,) * 2, (256,) * 3, (512,) * 3):
        for p in ("1%", "blobs"):
            for spacing in PITCHES[len(shape)]:
                rival = "opencv" if len(shape) == 2 and len(set(spacing)) == 1 else "edt"
                reach = 8 if rival == "edt" else 10 if p == "1%" else 5
                near = None if spacing == (0.65, 0.7) else 1.6  # 13 : 14 is no easy pair
                rows.append(Row("pitch", p, shape, "self", near, "unit pitch", at_most=True, spacing=spacing))
                rows.append(Row("pitch", p, shape, rival, reach, others=shape[0] != 512, spacing=spacing))
    rows.append(Row("pitch", "labels", (256,) * 3, "self", 1.6, "unit pitch", at_most=True, spacing=MICROSCOPE))
    rows.append(Row("pitch", "labels", (256,) * 3, "edt", 5, spacing=MICROSCOPE))
    return rows


def ordered():
    """Masks and maps in Fortran order, whose last axis is the slowest: that of the slices."""
    return [Row("order", p, shape, "self", 1.1, "C order", at_most=True, spacing=spacing)
            for shape, spacings in (((4096,) * 2, ((),)), ((256,) * 3, ((), MICROSCOPE[::-1])))
            for p in ("1%", "blobs") for spacing in spacings]


# Scratch beyond input and output, in bytes per element, distances alone: (shape, reach).
MEMORY = [((4096, 4096), 0.5), ((9216, 9216), 0.5), ((256, 256, 256), 4), ((512, 512, 512), 4)]
