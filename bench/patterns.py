"""The images of the benchmarks: uint8 arrays whose zeros are the sites. Every one is made from a seed alone, or from a
picture in data/. `xp` is NumPy or CuPy: on a GPU they are made there. (Random numbers are then others.)"""

from pathlib import Path

import numpy as np

DATA = Path(__file__).resolve().parent.parent / "data"
PART = 1 << 24  # elements made at a time: a float for each of a whole volume would be several times its size


def density(fraction):
    """Each element is a site with that probability, independently; at least one is."""
    def make(shape, rng, xp):
        mask = xp.empty(shape, np.uint8)
        flat = mask.reshape(-1)
        for at in range(0, flat.size, PART):
            part = flat[at:at + PART]
            part[...] = rng.random(part.shape, np.float32) >= fraction
        if flat.all():
            flat[int(rng.integers(flat.size))] = 0
        return mask
    return make


def corner(shape, rng, xp):
    mask = xp.ones(shape, np.uint8)
    mask[(0,) * len(shape)] = 0
    return mask


def blobs(shape, rng, xp):
    """A smooth random field cut at its median: Gaussian bumps of random height on a grid, 64 elements apart (16 in 3-D),
    summed by one small matrix product per axis."""
    pitch = 64 if len(shape) == 2 else 16
    grid = [n // pitch + 3 for n in shape]
    field = rng.standard_normal(grid, np.float32)
    for n, m in zip(shape, grid):
        offset = xp.arange(n, dtype=np.float32)[:, None] / pitch - xp.arange(-1, m - 1, dtype=np.float32)
        field = xp.tensordot(field, xp.exp(-offset * offset), axes=(0, 1))  # moves the axes round by one
    return (field > xp.median(field[::4, ::4])).astype(np.uint8)


def diagonal(shape, rng, xp):
    mask = xp.ones(shape, np.uint8)
    index = xp.arange(min(shape))
    mask[(index,) * len(shape)] = 0
    return mask


def circle(shape, rng, xp):
    """A ring (a shell in 3-D) of sites, all as good as equally far from its centre."""
    first, *others = ((xp.arange(n, dtype=np.float32) - n / 2) ** 2 for n in shape)
    across = others[0] if len(shape) == 2 else others[0][:, None] + others[1]
    radius = 0.45 * min(shape)
    mask = xp.ones(shape, np.uint8)
    step = max(1, PART // across.size)
    for at in range(0, shape[0], step):
        r2 = first[at:at + step].reshape([-1] + [1] * across.ndim) + across
        mask[at:at + step] = xp.abs(xp.sqrt(r2) - radius) >= 0.5
    return mask


def parabola(shape, rng, xp):
    """One site in each column, along y = x^2 / n: rows far from the curve keep every column's site on the envelope."""
    height, width = shape[-2:]
    x = xp.arange(width)
    y = xp.minimum(((x - width // 2) ** 2) // width, height - 1)
    mask = xp.ones(shape, np.uint8)
    mask[..., y, x] = 0
    return mask


def lattice(pitch):
    def make(shape, rng, xp):
        mask = xp.ones(shape, np.uint8)
        mask[(slice(None, None, pitch),) * len(shape)] = 0
        return mask
    return make


def picture(name, side=4096):
    """A real picture, its luma scaled to about `side` pixels and cut by Otsu's threshold."""
    def make(shape, rng, xp):
        import cv2  # pictures alone need it

        grey = cv2.imread(str(DATA / name), cv2.IMREAD_GRAYSCALE)
        if grey is None:
            raise FileNotFoundError(DATA / name)
        scale = side / max(grey.shape)
        grey = cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_LINEAR)
        threshold, mask = cv2.threshold(grey, 0, 1, cv2.THRESH_BINARY | cv2.THRESH_OTSU)
        return xp.ascontiguousarray(mask)
    return make


PATTERNS = {
    **{f"{100 * p:g}%": density(p) for p in (0.0001, 0.001, 0.01, 0.1, 0.3, 0.5, 0.9)},
    "corner": corner, "blobs": blobs, "diagonal": diagonal, "circle": circle, "parabola": parabola,
    "lattice": lattice(64), "horse": picture("horse.png"), "page": picture("page.png"), "coins": picture("coins.png"),
}


def make(name, shape, seed, xp=np):
    mask = PATTERNS[name](shape, xp.random.default_rng([seed, list(PATTERNS).index(name), len(shape)]), xp)
    assert mask.flags.c_contiguous and mask.dtype == np.uint8 and not mask.all()
    return mask
