"""The gallery: maps of the pictures in data/, computed for the page, as PNG by palette."""

import base64
import struct
import zlib
from pathlib import Path

import matplotlib
import matplotlib.image
import numpy as np

import distmap

SIDE = 420  # pixels, about


def png(indices, palette):
    """A PNG of 8-bit indices into 256 colours, as an address that holds it."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    height, width = indices.shape
    raw = np.zeros((height, width + 1), np.uint8)
    raw[:, 1:] = indices
    data = (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0))
            + chunk(b"PLTE", palette.tobytes()) + chunk(b"IDAT", zlib.compress(raw.tobytes(), 9)) + chunk(b"IEND", b""))
    return "data:image/png;base64," + base64.b64encode(data).decode()


def palette_of(name):
    colours = matplotlib.colormaps[name](np.linspace(0, 1, 256))
    return np.round(255 * colours[:, :3]).astype(np.uint8)


def distances(d, lines=12):
    """Viridis from 0 to the largest, darker along iso-lines."""
    top = d[np.isfinite(d)].max(initial=1)
    shade = np.minimum(d / top, 1)
    steps = np.floor(shade * lines)
    on_line = (np.diff(steps, axis=0, prepend=0) != 0) | (np.diff(steps, axis=1, prepend=0) != 0)
    indices = np.round(250 * shade).astype(np.uint8)
    indices[on_line & (d > 0)] = 255
    palette = palette_of("viridis")
    palette[:251] = palette[np.linspace(0, 255, 251).astype(int)]
    palette[255] = (20, 20, 30)
    return png(indices, palette)


def signed(d):
    """Red within, blue outside, white at the edge."""
    top = np.abs(d).max()
    return png(np.round(127.5 + 127.5 * d / top).astype(np.uint8), palette_of("RdBu"))


def regions(labels):
    """Hashed colours, sites themselves not marked."""
    rng = np.random.default_rng(3)
    palette = rng.integers(70, 235, (256, 3)).astype(np.uint8)
    return png((labels.astype(np.uint64) * 2654435761 >> 7).astype(np.uint8), palette)


def pictures(data):
    """(title, caption, address of a PNG) of each; those whose picture is not there are left out."""
    rng = np.random.default_rng(7)
    if (data / "horse.png").exists():
        horse = luma(data / "horse.png") < 0.5
        yield "Depth", "how far inside the silhouette", distances(distmap.edt(horse))
        yield "Distance", "how far from the silhouette", distances(distmap.edt(horse, sites="nonzero"))
        yield "Signed", "both: negative inside", signed(distmap.edt(horse, sites="nonzero", signed=True))
    if (data / "coins.png").exists():
        coins = luma(data / "coins.png") >= 120 / 255
        yield "Coins", "distance to what is bright", distances(distmap.edt(coins, sites="nonzero"))
    if (data / "mni152_gray_matter.nii.gz").exists():
        depth = distmap.edt(brain(data / "mni152_gray_matter.nii.gz") < 128, sites="zero")
        yield "Brain", "distance to grey matter in a volume, the middle slice", distances(depth[depth.shape[0] // 2,
                                                                                                ::-1])
    points = np.zeros((SIDE, SIDE), bool)
    points[tuple(rng.integers(0, SIDE, (2, 140)))] = True
    yield "Voronoi", "the nearest of 140 points", regions(distmap.feature_transform(points, sites="nonzero"))
    for weights, title in (("cityblock", "City-block"), ((3, 4), "Chamfer 3-4"), ((5, 7, 11), "Chamfer 5-7-11")):
        yield title, "the same points", distances(distmap.chamfer(points, weights, sites="nonzero", dtype="float32"), 5)
    yield "Euclidean", "the same points", distances(distmap.edt(points, sites="nonzero"), 5)


def luma(path):
    """Grey, 0 to 1."""
    image = matplotlib.image.imread(path)
    return image if image.ndim == 2 else image[..., :3] @ np.array([0.299, 0.587, 0.114], np.float32)


def brain(path):
    """The elements of a NIfTI file of bytes: axes z, y, x."""
    import gzip
    raw = gzip.decompress(path.read_bytes())
    shape = np.frombuffer(raw, "<i2", 3, 42)[::-1].astype(int)
    return np.frombuffer(raw, np.uint8, int(shape.prod()), int(np.frombuffer(raw, "<f4", 1, 108)[0])).reshape(shape)


def gallery(data):
    items = "".join(f'<figure><img src="{address}" alt="{title}: {caption}" loading="lazy"><figcaption>'
                    f"<b>{title}</b> {caption}"
                    "</figcaption></figure>" for title, caption, address in pictures(Path(data)))
    return f'<div class="gallery">{items}</div>'
