"""Image files as arrays, and what they mean: the model of distmap/io.h, by way of libdistmap_io.

The library is the file that the environment variable DISTMAP_IO_LIBRARY names, else the one beside the core library, else what the
system's loader finds. It needs the file formats' own libraries, and has those that were found when it was compiled.
"""

import functools
import os
from dataclasses import dataclass, field, replace

import numpy as np

from . import _names
from ._arrays import to_numpy
from ._library import core, library
from ._problem import dtype_code, number, sequence, whole

NAME = "libdistmap_io.so.1"


def find():
    if named := os.environ.get("DISTMAP_IO_LIBRARY"):
        return named
    core_path = library().path
    beside = os.path.join(os.path.dirname(core_path), NAME)
    # A bare name, which the loader found somewhere, has nothing beside it: that would be the current folder.
    return beside if os.path.dirname(core_path) and os.path.exists(beside) else NAME


@functools.cache
def open_library():
    """Whatever takes long is done without Python's global lock."""
    path = find()
    try:
        core.open_io(path)
    except ImportError as error:
        raise ImportError(f"cannot use the library of file formats, {path}: {error}. `pip install .` makes it, as `make build` and"
                          " `make install` do; DISTMAP_IO_LIBRARY names another file") from error


@dataclass(frozen=True)
class Axis:
    """One axis of an image. `type`: "space", "time", "channel" or "other"; `pitch`: from one element to the next, None where it is
    not told; `unit`: of the pitch, "" where there is none."""
    name: str = ""
    type: str = "space"
    pitch: float | None = None
    unit: str = ""


@dataclass(eq=False)
class Image:
    """An array and what its file says of it. Not an array itself: give `image.array` to edt(), and
    ``sampling=image.pitches, axes=image.space`` with it.

    array : of NumPy, in C order, slowest axis first
    axes : an Axis for each axis of the array
    affine : array of (world axes, space axes + 1), or None
        The matrix, and in its last column the origin: element (i, j, ...) lies at ``affine[:, :-1] @ (i, j, ...) + affine[:, -1]``
        along the world's x, y and z; the space axes come in the array's order.
    world : "unknown", "ras", "lps", "projected" or "geographic"
    crs : the world's coordinate system by its name or definition, or None
    nodata : what elements without data are, or None
    kind : "unknown", "mask", "labels" or "intensity"
    sample : of a picture in colour or by a palette, which sample the array holds, as "red" or "index"; else None
    format : of the file that was read, as "nifti"
    packing : what its elements are packed by there: "none", "deflate" (gzip's and zlib's too), "zstd", ...; "" where nobody knows
    native : what one family of formats alone understands, ((family, name, bytes), ...), for imwrite()
    """
    array: np.ndarray
    axes: tuple[Axis, ...] = ()
    affine: np.ndarray | None = None
    world: str = "unknown"
    crs: str | None = None
    nodata: float | None = None
    kind: str = "unknown"
    sample: str | None = None
    format: str = ""
    packing: str = ""
    native: tuple = field(default=(), repr=False)

    @property
    def pitches(self):
        """The pitch of each axis, 1 where it is not told: the `sampling` of edt()."""
        return tuple(axis.pitch or 1.0 for axis in self.axes) or (1.0,) * self.array.ndim

    @property
    def unit(self):
        """Of the space axes: that of the last one that has any."""
        return next((axis.unit for axis in reversed(self.axes) if axis.type == "space" and axis.unit), "")

    @property
    def space(self):
        """The axes to measure along: the `axes` of edt()."""
        return tuple(a for a in range(self.array.ndim) if not self.axes or self.axes[a].type == "space")


def model_of(info, array):
    ndim, world = info["ndim"], info["world_ndim"]
    axes = tuple(Axis(axis["name"], _names.AXIS_TYPES[axis["type"]], axis["pitch"] or None, axis["unit"]) for axis in info["axis"][:ndim])
    spaces = sum(axis.type == "space" for axis in axes)
    matrix = np.array(info["matrix"]).reshape(3, 3)[:world, :spaces]
    return Image(
        array=array, format=info["format"], packing=info["packing"], axes=axes,
        affine=np.column_stack([matrix, info["origin"][:world]]) if world else None, world=_names.WORLDS[info["world"]],
        crs=info["crs"], nodata=info["nodata"] if info["has_nodata"] else None, kind=_names.KINDS[info["kind"]],
        sample=_names.SAMPLES[info["sample"]] if info["sample"] else None, native=tuple(info["native"]))


def choose(reader, path, kind, place):
    """Place `place` alone of the axis of that type."""
    info = reader.info()
    axes = info["axis"][:info["ndim"]]
    found = [a for a, axis in enumerate(axes) if axis["type"] == _names.AXIS_TYPES.index(kind)]
    if not found:
        raise ValueError(f"{kind}: {path} has no such axis; it has {', '.join(axis['name'] for axis in axes)}")
    place, length = whole(kind, place), info["shape"][found[0]]
    if not 0 <= place < length:
        raise ValueError(f"{kind} is {place}, {path} has {length}, from 0 on")
    reader.select(found[0], place)


def choose_sample(reader, path, name):
    info = reader.info()
    names = [sample for s, sample in enumerate(_names.SAMPLES) if s and info["samples"] >> s & 1]
    if name is None:
        if names and not info["sample"]:
            raise ValueError(f"{path}: its elements have several samples: choose one by channel= ({', '.join(names)})")
        return
    if name not in _names.SAMPLES[1:]:
        raise ValueError(f"channel is {name!r}, must be a number or one of {', '.join(_names.SAMPLES[1:])}")
    reader.sample(_names.SAMPLES.index(name))


def file_name(path):
    try:
        name = os.fsencode(path)
    except TypeError:
        raise TypeError(f"path is {path!r}, must be a file's name") from None
    if b"\0" in name:
        raise ValueError("path holds a zero byte")
    return name


def imread(path, *, channel=None, time=None):
    """An image or volume from a file, with what the file says of it.

    Parameters
    ----------
    path : str or path
        PNG, JPEG, TIFF, PGM, PBM, PPM, NPY, NIfTI and, where the library has them, HDF5 ("vol.h5:/mask") and Zarr.
    channel : int, or "red", "green", "blue", "alpha", "luma", "index"
        A place of the file's channel axis, which goes, or one sample of a picture in colour, of which one must be chosen. A picture
        by a palette is its indices unless another is.
    time : int
        A place of the time axis, which goes.

    Returns
    -------
    Image

    Raises ValueError for a broken file or a choice that it has not, NotImplementedError for a kind of it that is not read, OSError, and
    ImportError where the library of file formats is not there.

    Examples
    --------
    >>> import numpy as np, os, tempfile
    >>> place = os.path.join(tempfile.mkdtemp(), "mask.nii")
    >>> imwrite(place, np.array([[1, 1, 0], [1, 1, 1]], np.uint8), axes=(Axis("y", pitch=2, unit="mm"), Axis("x", pitch=3, unit="mm")))
    >>> image = imread(place)
    >>> image.pitches, image.unit, image.space
    ((2.0, 3.0), 'mm', (0, 1))
    >>> from distmap import edt
    >>> edt(image.array, sampling=image.pitches, axes=image.space)[0].tolist()
    [6.0, 3.0, 0.0]
    """
    name = file_name(path)
    open_library()
    reader = core.Reader(name)
    if time is not None:
        choose(reader, path, "time", time)
    if channel is not None and not isinstance(channel, str):
        choose(reader, path, "channel", channel)
    choose_sample(reader, path, channel if isinstance(channel, str) else None)
    info = reader.info()
    array = np.empty(info["shape"][:info["ndim"]], _names.DTYPES[info["dtype"]])
    if array.size:
        reader.read(array.ctypes.data)
    return model_of(info, array)


def place(name, value, names):
    if value not in names:
        raise ValueError(f"{name} is {value!r}, must be one of {', '.join(names)}")
    return names.index(value)


def short(name, text):
    if not isinstance(text, str):
        raise TypeError(f"{name} is {text!r}, must be a string")
    if len(data := text.encode()) > 15 or b"\0" in data:
        raise ValueError(f"{name} is {text!r}, must have at most 15 bytes")
    return text


def axis_of(axis):
    if not isinstance(axis, Axis):
        raise TypeError(f"axes has a {type(axis).__name__}, must have an Axis for each axis")
    pitch = 0 if axis.pitch is None else number("an axis's pitch", axis.pitch)
    if axis.pitch is not None and not 0 < pitch < np.inf:
        raise ValueError(f"an axis's pitch is {pitch:g}, must be positive and finite")
    return {"name": short("an axis's name", axis.name), "unit": short("an axis's unit", axis.unit), "pitch": pitch,
            "type": place("an axis's type", axis.type, _names.AXIS_TYPES)}


def affine_of(image):
    """The members of the matrix; none where there is no affine."""
    if image.affine is None:
        return {}
    affine, spaces = np.asarray(image.affine, float), len(image.space)
    if affine.ndim != 2 or not 1 <= affine.shape[0] <= 3 or affine.shape[1] != spaces + 1 or spaces > 3:
        raise ValueError(f"affine has shape {affine.shape}, must be (1 to 3, {spaces} space axes + 1)")
    matrix = np.zeros((3, 3))
    matrix[:len(affine), :spaces] = affine[:, :-1]
    return {"world_ndim": len(affine), "matrix": matrix.ravel().tolist(), "origin": affine[:, -1].tolist()}


def info_of(image):
    """The image's meaning by the names of distmap_image_info."""
    array = image.array
    if not 1 <= array.ndim <= _names.MAX_AXES:
        raise ValueError(f"the array has {array.ndim} axes, must have 1 to {_names.MAX_AXES}")
    dtype = dtype_code("the array", array.dtype)
    axes = sequence("axes", image.axes, "an Axis for each axis of the array")
    if axes and len(axes) != array.ndim:
        raise ValueError(f"axes has {len(axes)} axes, the array has {array.ndim}")
    return {"dtype": dtype, "ndim": array.ndim, "shape": array.shape, "axis": [axis_of(axis) for axis in axes],
            "world": place("world", image.world, _names.WORLDS), "kind": place("kind", image.kind, _names.KINDS), **affine_of(image),
            "packing": short("packing", image.packing), "crs": image.crs or None, "has_nodata": image.nodata is not None,
            "nodata": 0 if image.nodata is None else number("nodata", image.nodata)}


def lengths_of(name, lengths, array):
    """One length for all axes, or one for each."""
    lengths = [lengths] * array.ndim if np.ndim(lengths) == 0 else sequence(name, lengths, "a length, or one for each axis of the array")
    if len(lengths) != array.ndim:
        raise ValueError(f"{name} has {len(lengths)} lengths, the array has {array.ndim} axes")
    return [whole(name, length, 1) for length in lengths]


def imwrite(path, array, like=None, *, axes=None, nodata=None, kind=None, compress=None, chunks=None, shards=None,
            zarr_format=None, sync=True):
    """Writes an image or volume in the format that the name's ending tells, with as much of its meaning as the format holds.

    Parameters
    ----------
    path : str or path
        .png, .tif, .pgm, .pbm, .npy, .nii, .nii.gz and, where the library has them, .h5 and .zarr.
    array : Image, or array of one to eight axes
    like : Image of the same shape
        Whose axes, pitches, units and place in the world the array has, as a result has those of its input.
    axes : an Axis for each axis. None: those of the image, or of `like`.
    nodata : number
        What elements without data are. None: that of an Image; of an array with `like` none, since what it meant in the one may mean
        something in the other.
    kind : "mask", "labels", "intensity", "unknown". None: that of an Image.
    compress : bool or str
        Whether the elements are packed, or by what, as the format has it: "deflate" (or "gzip", "zlib": TIFF, MetaImage, NRRD, HDF5, Zarr),
        "zstd" (TIFF, Zarr), "lzw" (TIFF), "blosc" (Zarr). NotImplementedError where it has it not. None: where the Image, or `like`, comes
        from a packed file; HDF5, Zarr and PNG always, and NIfTI where the name ends in .gz.
    chunks : int, or one for each axis
        Lengths of the chunks of a .zarr or .precomputed. None: chunks of at most 512 KiB.
    shards : int, or one for each axis
        Groups the chunks of a .zarr in shards of these lengths, files that hold many chunks; they grow to whole chunks. None: no shards.
    zarr_format : 2 or 3
        The version of Zarr. None: that of the group that the array is put into, else 3. Version 2 has no shards.
    sync : bool
        Whether the file is on the disk before it gets its name. False saves the time of the disk, but after a power failure soon after,
        the file may be zeros.

    The file gets its name when it is complete. Raises as imread() does, NotImplementedError if the format lacks a requested feature, and
    TypeError for an object that is not an array. Ctrl-C ends a wait for a pipe.

    Examples
    --------
    >>> import numpy as np, os, tempfile
    >>> from distmap import edt
    >>> place = os.path.join(tempfile.mkdtemp(), "mask.nii")
    >>> imwrite(place, np.eye(3, dtype=np.uint8), axes=(Axis("y", pitch=0.5, unit="mm"), Axis("x", pitch=0.5, unit="mm")))
    >>> mask = imread(place)
    >>> imwrite(place, edt(mask.array, mask.pitches), like=mask, kind="intensity")
    >>> imread(place).axes
    (Axis(name='y', type='space', pitch=0.5, unit='mm'), Axis(name='x', type='space', pitch=0.5, unit='mm'))
    """
    name = file_name(path)
    if like is not None and not isinstance(like, Image):
        raise TypeError(f"like is a {type(like).__name__}, must be an Image, as imread() gives it")
    if isinstance(array, Image):
        image = array
    else:
        data = to_numpy(array, "array")
        image = Image(data) if like is None else replace(like, array=data, nodata=None, kind="unknown")
    if like is not None:
        if like.array.shape != image.array.shape:
            raise ValueError(f"like has shape {like.array.shape}, the array {image.array.shape}, must be the same")
        image = replace(like, array=image.array, nodata=image.nodata, kind=image.kind)
    image = replace(image, array=np.asarray(image.array, order="C"), axes=image.axes if axes is None else axes,
                    nodata=image.nodata if nodata is None else nodata, kind=kind or image.kind)
    if not image.array.dtype.isnative:
        image = replace(image, array=image.array.astype(image.array.dtype.newbyteorder("=")))
    if compress is not None and not isinstance(compress, (bool, str)):
        raise TypeError(f"compress is {compress!r}, must be True, False or a name, as \"deflate\"")
    if not isinstance(sync, (bool, np.bool_)):
        raise TypeError(f"sync is {sync!r}, must be True or False")
    info = info_of(image)
    if compress is not None:
        info["packing"] = short("compress", compress) if isinstance(compress, str) else "yes" if compress else "none"
        info["packing_asked"] = True
    for member, option, lengths in ("chunk", "chunks", chunks), ("shard", "shards", shards):
        if lengths is not None:
            info[member], info[f"{member}_asked"] = lengths_of(option, lengths, image.array), True
    info["zarr_format"] = 0 if zarr_format is None else whole("zarr_format", zarr_format, 2, 3)
    open_library()
    core.write_file(name, info, list(image.native), image.array.ctypes.data, bool(sync))
