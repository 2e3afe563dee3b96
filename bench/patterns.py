"""The images of the benchmarks: uint8 arrays whose zeros are the sites. Every one is made from a seed alone, or from a
picture in data/."""

from pathlib import Path

import cv2
import numpy as np

DATA = Path(__file__).resolve().parent.parent / "data"


def density(fraction):
    """Each element is a site with that probability, independently; at least one is."""
    def make(shape, rng):
        mask = np.empty(shape, np.uint8)
        for part in mask:  # by slices: a float per element of a whole volume would be several times its size
            part[...] = rng.random(part.shape, np.float32) >= fraction
        if mask.all():
            mask.flat[rng.integers(mask.size)] = 0
        return mask
    return make


def corner(shape, rng):
    mask = np.ones(shape, np.uint8)
    mask.flat[0] = 0
    return mask


def blobs(shape, rng):
    """A smooth random field cut at its median: Gaussian bumps of random height on a grid, 64 elements apart (16 in 3-D),
    summed by one small matrix product per axis."""
    pitch = 64 if len(shape) == 2 else 16
    grid = [n // pitch + 3 for n in shape]
    field = rng.standard_normal(grid, np.float32)
    for n, m in zip(shape, grid):
        offset = np.arange(n, dtype=np.float32)[:, None] / pitch - np.arange(-1, m - 1, dtype=np.float32)
        field = np.tensordot(field, np.exp(-offset * offset), axes=(0, 1))  # moves the axes round by one
    return (field > np.median(field[::4, ::4])).astype(np.uint8)


def diagonal(shape, rng):
    mask = np.ones(shape, np.uint8)
    index = np.arange(min(shape))
    mask[(index,) * len(shape)] = 0
    return mask


def circle(shape, rng):
    """A ring (a shell in 3-D) of sites, all as good as equally far from its centre."""
    squares = [(np.arange(n, dtype=np.float32) - n / 2) ** 2 for n in shape]
    radius = 0.45 * min(shape)
    mask = np.ones(shape, np.uint8)
    for i, part in enumerate(mask):
        r2 = squares[0][i] + (squares[1] if len(shape) == 2 else squares[1][:, None] + squares[2])
        part[...] = np.abs(np.sqrt(r2) - radius) >= 0.5
    return mask


def parabola(shape, rng):
    """One site in each column, along y = x^2 / n: rows far from the curve keep every column's site on the envelope."""
    height, width = shape[-2:]
    x = np.arange(width)
    y = np.minimum(((x - width // 2) ** 2) // width, height - 1)
    mask = np.ones(shape, np.uint8)
    mask[..., y, x] = 0
    return mask


def lattice(pitch):
    def make(shape, rng):
        mask = np.ones(shape, np.uint8)
        mask[(slice(None, None, pitch),) * len(shape)] = 0
        return mask
    return make


def picture(name, side=4096):
    """A real picture scaled to about `side` pixels and cut by Otsu's threshold; the silhouette by its opacity."""
    def make(shape, rng):
        image = cv2.imread(str(DATA / name), cv2.IMREAD_UNCHANGED)
        if image is None:
            raise FileNotFoundError(DATA / name)
        grey = image[..., 3] if image.ndim == 3 else image
        scale = side / max(grey.shape)
        grey = cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_LINEAR)
        threshold, mask = cv2.threshold(grey, 0, 1, cv2.THRESH_BINARY | cv2.THRESH_OTSU)
        return np.ascontiguousarray(mask)
    return make


PATTERNS = {
    **{f"{100 * p:g}%": density(p) for p in (0.0001, 0.001, 0.01, 0.1, 0.5, 0.9)},
    "corner": corner, "blobs": blobs, "diagonal": diagonal, "circle": circle, "parabola": parabola,
    "lattice": lattice(64), "horse": picture("horse.png"), "page": picture("page.png"), "coins": picture("coins.png"),
}


def make(name, shape, seed):
    mask = PATTERNS[name](shape, np.random.default_rng([seed, list(PATTERNS).index(name), len(shape)]))
    assert mask.flags.c_contiguous and mask.dtype == np.uint8 and not mask.all()
    return mask
