"""Makes the files of this folder: NAME.EXT, and NAME.npy with the elements that reading it must give.

They are made by NumPy, Pillow and tifffile, or byte by byte where those cannot, so that distmap's readers are checked
against other people's writers. Run it in this folder; it needs numpy, pillow, tifffile and rasterio. The results are committed.
"""
import gzip
import struct
import zlib

import numpy as np
import tifffile
from PIL import Image

rng = np.random.default_rng(7)
H, W = 11, 19


def data(dtype, *shape):
    shape = shape or (H, W)
    if dtype == "bool":
        return rng.random(shape) < 0.5
    if np.dtype(dtype).kind == "f":
        return rng.normal(size=shape).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, size=shape, dtype=dtype, endpoint=True)


def luma(rgb):
    weights = np.array([19595, 38470, 7471], dtype="u8")
    return ((rgb[..., :3].astype("u8") @ weights + 32768) >> 16).astype(rgb.dtype)


def transparent(rgba):
    rgba[..., -1][rng.random(rgba.shape[:2]) < 0.5] = 0
    value = luma(rgba) if rgba.shape[-1] == 4 else rgba[..., 0]
    return np.where(rgba[..., -1] == 0, 0, value)


def put(name, content, want):
    """Keeps `content` (bytes, or a function that writes the file) and what it must read as."""
    if callable(content):
        content(name)
    else:
        with open(name, "wb") as file:
            file.write(content)
    np.save(name.replace(".", "_") + ".npy", want)


# ---- PNG: an encoder of any depth, with or without Adam7 ----

def png(samples, depth, colour, interlaced=False, chunks=()):
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    def rows(part):
        if not part.size:
            return b""
        out = b""
        for row in part.reshape(part.shape[0], -1):
            bits = "".join(format(int(v), f"0{depth}b") for v in row)
            bits += "0" * (-len(bits) % 8)
            out += b"\0" + bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))
        return out

    passes = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)]
    parts = [samples[y::dy, x::dx] for y, x, dy, dx in passes] if interlaced else [samples]
    head = struct.pack(">IIBBBBB", samples.shape[1], samples.shape[0], depth, colour, 0, 0, int(interlaced))
    body = zlib.compress(b"".join(rows(part) for part in parts))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + b"".join(chunk(k, b) for k, b in chunks) + chunk(b"IDAT", body)
            + chunk(b"IEND", b""))


for interlaced in (False, True):
    tail = "_interlaced" if interlaced else ""
    bits = data("bool")
    put(f"grey1{tail}.png", png(bits, 1, 0, interlaced), bits)
    for depth in (2, 4):
        grey = data("u1") >> (8 - depth)
        put(f"grey{depth}{tail}.png", png(grey, depth, 0, interlaced), grey * np.uint8(255 // ((1 << depth) - 1)))
    grey = data("u2")
    put(f"grey16{tail}.png", png(grey, 16, 0, interlaced), grey)
    rgba = data("u1", H, W, 4)
    want = transparent(rgba)
    put(f"rgba8{tail}.png", png(rgba, 8, 6, interlaced), want)
    rgb = data("u2", H, W, 3)
    put(f"rgb16{tail}.png", png(rgb, 16, 2, interlaced), luma(rgb))
    colours = data("u1", 16, 3)
    index = data("u1") >> 4
    put(f"palette4{tail}.png", png(index, 4, 3, interlaced, [(b"PLTE", colours.tobytes()), (b"tRNS", b"\xff\0\x80")]),
        np.where(index == 1, 0, luma(colours[index])))
bits = data("bool")
put("grey1_key.png", png(bits, 1, 0, False, [(b"tRNS", b"\0\1")]), np.zeros_like(bits))
grey = data("u1") & 3
put("grey8_key.png", png(grey, 8, 0, False, [(b"tRNS", b"\0\2")]), np.where(grey == 2, 0, grey))
both = data("u2", H, W, 2)
want = transparent(both)
put("grey16_opacity.png", png(both, 16, 4), want)

# ---- JPEG: Pillow's decoder is libjpeg as well, so these check the way there ----

x, y = np.meshgrid(np.arange(40), np.arange(33))
smooth = np.stack([x * 6, y * 7, (x + y) * 3], -1).astype("u1")
for name, options in (("baseline", {}), ("progressive", {"progressive": True})):
    Image.fromarray(smooth).save(f"{name}.jpg", quality=90, **options)
    image = Image.open(f"{name}.jpg")
    image.draft("L", image.size)
    np.save(f"{name}_jpg.npy", np.asarray(image))

# ---- PNM ----

bits = data("bool")
put("bits.pbm", lambda name: Image.fromarray(bits).save(name), bits)
put("plain.pbm", f"P1 # bits may touch\n{W}\n# rows\n{H}\n".encode()
    + b"\n".join(b"".join(b"01"[1 - v:2 - v] for v in row.astype(int)) for row in bits), bits)
grey = data("u2")
put("grey16.pgm", b"P5\n# big-endian\n%d %d\n65535\n" % (W, H) + grey.astype(">u2").tobytes(), grey)
grey = data("u1")
put("plain.pgm", f"P2 {W} {H} 255\n".encode() + " ".join(map(str, grey.ravel())).encode(), grey)
for dtype, top in (("u1", 255), ("u2", 65535)):
    rgb = data(dtype, H, W, 3)
    put(f"binary_{dtype}.ppm", b"P6 %d %d %d\n" % (W, H, top) + rgb.astype(">" + dtype).tobytes(), luma(rgb))
    put(f"plain_{dtype}.ppm", b"P3 %d %d %d\n" % (W, H, top) + " ".join(map(str, rgb.ravel())).encode(), luma(rgb))

# ---- TIFF ----

def tiff(name, array, want, **options):
    options = {"metadata": None, "photometric": "minisblack", **options}
    put(name, lambda path: tifffile.imwrite(path, array, **options), want)


for dtype in ("i1", "u2", "i4", "f4", "f8", "u8"):
    a = data(dtype)
    tiff(f"big_endian_{dtype}.tif", a, a, byteorder=">")
    a = data(dtype, 20, 37)
    tiff(f"tiles_deflate_{dtype}.tif", a, a, tile=(16, 16), compression="zlib")
    a = data(dtype, 3, H, W)
    tiff(f"pages_big_{dtype}.tif", a, a, bigtiff=True, rowsperstrip=4)
a = data("u2")
tiff("predictor.tif", a, a, compression="zlib", predictor=True, rowsperstrip=3)
tiff("white_u2.tif", a, 65535 - a, photometric="miniswhite")
for plan in ("contig", "separate"):
    rgba = data("u1", 21, 35, 4)
    want = transparent(rgba)
    tiff(f"rgba_{plan}_tiles.tif", rgba if plan == "contig" else np.moveaxis(rgba, -1, 0), want, photometric="rgb",
         planarconfig=plan, extrasamples=["unassalpha"], tile=(16, 16))
    rgb = data("u2", 21, 35, 3)
    tiff(f"rgb_{plan}_deflate.tif", rgb if plan == "contig" else np.moveaxis(rgb, -1, 0), luma(rgb), photometric="rgb",
         planarconfig=plan, compression="zlib", rowsperstrip=4)
index, colours = data("u1"), data("u1", 256, 3)
tiff("palette.tif", index, luma(colours[index]), photometric="palette", colormap=(colours.astype("u2") * 257).T)
bits = data("bool")
for method in ("group3", "group4", "packbits", "tiff_lzw"):
    put(f"bits_{method}.tif", lambda path: Image.fromarray(bits).save(path, compression=method), bits)
volume = data("u2", 2, 3, H, W)
tiff("imagej.tif", volume, volume, imagej=True, metadata={"axes": "TZYX", "spacing": 2.5, "unit": "um"}, resolution=(2, 4))
with tifffile.TiffWriter("reduced.tif") as writer:
    writer.write(a, metadata=None)
    writer.write(a[::2, ::2], subfiletype=1, metadata=None)
np.save("reduced_tif.npy", a)


def raw_tiff(array, bits, order, sample_format=1, text=b"", fill_order=1):
    """One strip of samples of any depth; planes of a volume follow the one that has a directory."""
    if bits % 8:
        packed = b""
        for row in array:
            digits = "".join(format(int(v) & ((1 << bits) - 1), f"0{bits}b") for v in row)
            digits += "0" * (-len(digits) % 8)
            packed += bytes(int(digits[i:i + 8], 2) for i in range(0, len(digits), 8))
    else:
        wide = array.astype(order + "u8").view("u1").reshape(*array.shape, 8)
        packed = (wide[..., :bits // 8] if order == "<" else wide[..., 8 - bits // 8:]).tobytes()
    if fill_order == 2:
        packed = bytes(int(f"{byte:08b}"[::-1], 2) for byte in packed)
    h, w = array.shape[-2:]
    tags = [(256, w), (257, h), (258, bits), (259, 1), (262, 1), (266, fill_order), (270, 158 + 4), (273, 158 + 4 + len(text)),
            (277, 1), (278, h), (279, len(packed) // (array.size // (h * w))), (339, sample_format)]
    if not text:
        tags = [(tag, value) for tag, value in tags if tag != 270]
        tags = [(tag, 8 + 2 + 12 * len(tags) + 4 if tag == 273 else value) for tag, value in tags]
    out = (b"II" if order == "<" else b"MM") + struct.pack(order + "HIH", 42, 8, len(tags))
    for tag, value in tags:
        if tag == 270:
            out += struct.pack(order + "HHII", tag, 2, len(text), value)
        elif tag in (256, 257, 273, 278, 279):
            out += struct.pack(order + "HHII", tag, 4, 1, value)
        else:
            out += struct.pack(order + "HHIHH", tag, 3, 1, value, 0)
    out += struct.pack(order + "I", 0)
    out += bytes(158 + 4 - len(out)) + text if text else b""
    return out + packed


for order, name in (("<", "little"), (">", "big")):
    for bits in (2, 4, 10, 12, 24, 31, 48):
        dtype = "u1" if bits <= 8 else "u2" if bits <= 16 else "u4" if bits <= 32 else "u8"
        a = rng.integers(0, 1 << bits, size=(H, W), dtype="u8")
        put(f"depth{bits}_{name}.tif", raw_tiff(a, bits, order), a.astype(dtype))
a = rng.integers(-2048, 2048, size=(H, W))
put("depth12_signed.tif", raw_tiff(a, 12, "<", 2), a.astype("i2"))

# ---- NPY ----

for dtype in ("i2", "u4", "f4", "f8", "u1", "bool"):
    a = data(dtype, 3, 35, 34)
    put(f"fortran_{dtype}.npy", lambda path: np.save(path, np.asfortranarray(a)), a)
a = data("f8", H, W)
put("fortran_big.npy", lambda path: np.save(path, np.asfortranarray(a.astype(">f8"))), a)
for version in ((2, 0), (3, 0)):
    put(f"version{version[0]}.npy", lambda path: np.lib.format.write_array(open(path, "wb"), a, version), a)
put("python2.npy", b"\x93NUMPY\1\0\x46\0" + b'{"shape": (2L, 3L), "descr": "|u1", "fortran_order": False}'.ljust(69) + b"\n"
    + bytes(range(6)), np.arange(6, dtype="u1").reshape(2, 3))

# ---- NIfTI ----

CODES = {"u1": 2, "i2": 4, "i4": 8, "f4": 16, "f8": 64, "i1": 256, "u2": 512, "u4": 768, "i8": 1024, "u8": 1280}


def nifti(array, dtype, order, version=1, slope=1.0, inter=0.0):
    n, shape, pitch = array.ndim, array.shape[::-1], (0.7, 0.8, 2.5, 1)
    dims, pixdim = (n, *shape, *[1] * (7 - n)), (1, *pitch, 1, 1, 1)
    kind = (CODES[dtype], 8 * array.dtype.itemsize)
    if version == 1:
        h = bytearray(352)
        struct.pack_into(order + "i", h, 0, 348)
        struct.pack_into(order + "8h", h, 40, *dims)
        struct.pack_into(order + "hh", h, 70, *kind)
        struct.pack_into(order + "8f3f", h, 76, *pixdim, 352, slope, inter)
        h[123], h[344:348] = 2, b"n+1\0"
    else:
        h = bytearray(544)
        struct.pack_into(order + "i8shh8q", h, 0, 540, b"n+2\0\r\n\x1a\n", *kind, *dims)
        struct.pack_into(order + "8dq2d", h, 104, *pixdim, 544, slope, inter)
        struct.pack_into(order + "i", h, 500, 3)
    return bytes(h) + array.astype(array.dtype.newbyteorder(order)).tobytes()


for dtype in CODES:
    a = data(dtype, 3, 4, 5)
    put(f"big_{dtype}.nii", nifti(a, dtype, ">"), a)
    put(f"two_{dtype}.nii.gz", gzip.compress(nifti(a, dtype, "<", version=2), mtime=0), a)
for dtype, result in (("u1", "f4"), ("i2", "f4"), ("i4", "f8"), ("f4", "f4")):
    a = data(dtype, 2, 3, 4, 5)
    want = (a.astype("f8") * 0.5 + 3).astype(result)
    put(f"scaled_{dtype}.nii", nifti(a, dtype, ">", slope=0.5, inter=3.0), want)
    put(f"scaled_{dtype}.nii.gz", gzip.compress(nifti(a, dtype, "<", version=2, slope=0.5, inter=3.0), mtime=0), want)
a = data("i2", 1, 1, 4, 5)
put("ones.nii", nifti(a, "i2", "<"), a[0])

# ---- TIFF again: bits of a byte turned round; ImageJ's stacks of one directory ----

bits = data("bool")
put("turned_bits.tif", raw_tiff(bits.astype("u8"), 1, "<", fill_order=2), bits)
a = data("u1")
put("turned_bytes.tif", raw_tiff(a, 8, "<", fill_order=2), a)
for order in "<>":
    a = data("u2", 4, H, W)
    text = b"ImageJ=1.54f\nimages=4\nslices=4\nunit=micron\nspacing=3\n\0"
    put(f"imagej_one_page_{'little' if order == '<' else 'big'}.tif", raw_tiff(a, 16, order, text=text), a)

# ---- TIFF once more: a map by GDAL (rasterio), OME-TIFF, ImageJ's hyperstack ----

import rasterio
from rasterio.transform import Affine

plane = (np.arange(42) % 5 > 0).astype("u1").reshape(6, 7)
with rasterio.open("map.tif", "w", driver="GTiff", height=6, width=7, count=2, dtype="uint8", crs="EPSG:2227", nodata=9,
                   transform=Affine(30, 0, 5e5, 0, -30, 5e6)) as file:
    file.write(np.stack([plane, plane + 1]))
    file.update_tags(A="b & c")
    file.update_tags(1, X="y")
np.save("map_tif.npy", np.stack([plane, plane + 1]))
stack = np.stack([plane + i for i in range(12)]).astype("u1").reshape(2, 3, 2, 6, 7)  # t z c y x
np.save("stack_ome_tif.npy", stack.swapaxes(1, 2))
np.save("hyperstack_tif.npy", stack.swapaxes(1, 2))
tifffile.imwrite("stack.ome.tif", stack, ome=True, metadata={"axes": "TZCYX", "PhysicalSizeX": 0.5, "PhysicalSizeY": 0.5,
                                                             "PhysicalSizeZ": 2, "PhysicalSizeZUnit": "mm", "TimeIncrement": 2})
tifffile.imwrite("hyperstack.tif", stack, imagej=True, resolution=(2, 2),
                 metadata={"axes": "TZCYX", "unit": "um", "spacing": 2, "finterval": 3})
