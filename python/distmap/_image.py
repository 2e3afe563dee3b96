"""Image files as arrays, and what they mean: the model of distmap/io.h, by way of libdistmap_io.

The library is the file that the environment variable DISTMAP_IO_LIBRARY names, else the one beside the core library, else what the
system's loader finds. It has the file formats' own libraries under it, so that wheels are without it.
"""

import ctypes as c
import functools
import os
import threading
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from . import _io_structs, _structs
from ._arrays import to_numpy
from ._context import Progress
from ._library import EXCEPTIONS, library
from ._problem import dtype_code, number, sequence, whole

NAME = "libdistmap_io.so.0"
ERRORS = EXCEPTIONS | {"io": OSError, "format": ValueError}


def find():
    if named := os.environ.get("DISTMAP_IO_LIBRARY"):
        return named
    core = Path(library().path)
    beside = core.parent / NAME  # of a bare name, which the loader found somewhere, that would be the current folder
    return str(beside) if core.name != str(core) and beside.exists() else NAME


class Interruption:
    """Ctrl-C, and whatever a handler of Python's raises, while C waits for a pipe or a lock: C asks after each signal that interrupted
    it, and gives up when one has raised. As with a progress function (_context.py) that is a generator's send(), all of it C."""

    def __init__(self):
        self.raised = []
        answers = Progress.answers(self.look, self.raised)
        next(answers)
        self.asked = _io_structs.INTERRUPT(functools.partial(answers.send, 0.0))

    @staticmethod
    def look(_):
        """Handlers run when a function of Python begins."""
        return False

    def check(self):
        if self.raised and threading.current_thread() is threading.main_thread():
            error = self.raised[0]
            self.raised.clear()
            raise error


interrupted = Interruption()


@functools.cache
def io_library():
    """The library. Its functions are called without Python's global lock."""
    path = find()
    try:
        loaded = c.CDLL(path)
        for name, (result, arguments) in _io_structs.FUNCTIONS.items():
            function = getattr(loaded, name)
            function.restype, function.argtypes = result, arguments
        loaded.distmap_io_on_interrupt(interrupted.asked)
    except (OSError, AttributeError) as error:
        raise ImportError(f"cannot use the library of file formats, {path}: {error}. pip's package is without it; `make build`"
                          " and `make install` make it; DISTMAP_IO_LIBRARY names another file") from error
    return loaded


def check(status):
    if status:
        interrupted.check()
        name = _structs.STATUS[status] if 0 <= status < len(_structs.STATUS) else "unknown"
        raise ERRORS.get(name, RuntimeError)(io_library().distmap_error_text().decode(errors="replace"))


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
    spaces = sum(axis.type == 0 for axis in info.axis[:info.ndim])
    affine = np.array([[*row[:spaces], at] for row, at in zip(info.matrix, info.origin)][:info.world_ndim])
    return Image(
        array=array, format=info.format.decode(), packing=info.packing.decode(errors="replace"),
        axes=tuple(Axis(axis.name.decode(errors="replace"), _io_structs.AXIS_TYPES[axis.type], axis.pitch or None,
                        axis.unit.decode(errors="replace")) for axis in info.axis[:info.ndim]),
        affine=affine if info.world_ndim else None, world=_io_structs.WORLDS[info.world],
        crs=info.crs.decode(errors="replace") if info.crs else None, nodata=info.nodata if info.has_nodata else None,
        kind=_io_structs.KINDS[info.kind], sample=_io_structs.SAMPLES[info.sample] if info.sample else None,
        native=tuple((n.family.decode(), n.name.decode(), c.string_at(n.data, n.bytes))
                     for n in info.native[:info.native_count]))


def choose(reader, path, kind, place):
    """Place `place` alone of the axis of that type."""
    info = io_library().distmap_reader_info(reader).contents
    found = [a for a in range(info.ndim) if info.axis[a].type == _io_structs.AXIS_TYPES.index(kind)]
    if not found:
        raise ValueError(f"{kind}: {path} has no such axis; it has {', '.join(a.name.decode() for a in info.axis[:info.ndim])}")
    place = whole(kind, place)
    if not 0 <= place < info.shape[found[0]]:
        raise ValueError(f"{kind} is {place}, {path} has {info.shape[found[0]]}, from 0 on")
    check(io_library().distmap_reader_select(reader, found[0], place))


def choose_sample(reader, path, name):
    info = io_library().distmap_reader_info(reader).contents
    names = [sample for s, sample in enumerate(_io_structs.SAMPLES) if s and info.samples >> s & 1]
    if name is None:
        if names and not info.sample:
            raise ValueError(f"{path}: its elements have several samples: choose one by channel= ({', '.join(names)})")
        return
    if name not in _io_structs.SAMPLES[1:]:
        raise ValueError(f"channel is {name!r}, must be a number or one of {', '.join(_io_structs.SAMPLES[1:])}")
    check(io_library().distmap_reader_sample(reader, _io_structs.SAMPLES.index(name)))


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
    io, reader = io_library(), c.c_void_p()
    check(io.distmap_reader_open(file_name(path), c.byref(reader)))
    try:
        if time is not None:
            choose(reader, path, "time", time)
        if channel is not None and not isinstance(channel, str):
            choose(reader, path, "channel", channel)
        choose_sample(reader, path, channel if isinstance(channel, str) else None)
        info = io.distmap_reader_info(reader).contents
        array = np.empty(info.shape[:info.ndim], _structs.DTYPES[info.dtype])
        if array.size:
            check(io.distmap_reader_read(reader, 0, info.shape[0], array.ctypes.data))
        return model_of(info, array)
    finally:
        io.distmap_reader_close(c.byref(reader))


def place(name, value, names):
    if value not in names:
        raise ValueError(f"{name} is {value!r}, must be one of {', '.join(names)}")
    return names.index(value)


def short(name, text):
    if not isinstance(text, str):
        raise TypeError(f"{name} is {text!r}, must be a string")
    if len(data := text.encode()) > 15 or b"\0" in data:
        raise ValueError(f"{name} is {text!r}, must have at most 15 bytes")
    return data


def info_of(image):
    """The structure, and what it points to."""
    array, info = image.array, _io_structs.ImageInfo()
    if not 1 <= array.ndim <= _io_structs.MAX_AXES:
        raise ValueError(f"the array has {array.ndim} axes, must have 1 to {_io_structs.MAX_AXES}")
    info.dtype, info.ndim = dtype_code("the array", array.dtype), array.ndim
    info.shape[:array.ndim] = array.shape
    axes = sequence("axes", image.axes, "an Axis for each axis of the array")
    if axes and len(axes) != array.ndim:
        raise ValueError(f"axes has {len(axes)} axes, the array has {array.ndim}")
    for to, axis in zip(info.axis, axes):
        if not isinstance(axis, Axis):
            raise TypeError(f"axes has a {type(axis).__name__}, must have an Axis for each axis")
        to.name, to.unit = short("an axis's name", axis.name), short("an axis's unit", axis.unit)
        to.type = place("an axis's type", axis.type, _io_structs.AXIS_TYPES)
        to.pitch = 0 if axis.pitch is None else number("an axis's pitch", axis.pitch)
        if axis.pitch is not None and not 0 < to.pitch < np.inf:
            raise ValueError(f"an axis's pitch is {to.pitch:g}, must be positive and finite")
    info.world = place("world", image.world, _io_structs.WORLDS)
    info.kind = place("kind", image.kind, _io_structs.KINDS)
    if image.affine is not None:
        affine = np.asarray(image.affine, float)
        spaces = len(image.space)
        if affine.ndim != 2 or not 1 <= affine.shape[0] <= 3 or affine.shape[1] != spaces + 1 or spaces > 3:
            raise ValueError(f"affine has shape {affine.shape}, must be (1 to 3, {spaces} space axes + 1)")
        info.world_ndim = affine.shape[0]
        for w, row in enumerate(affine):
            info.matrix[w][:spaces], info.origin[w] = row[:-1], row[-1]
    info.packing = short("packing", image.packing)
    info.crs = image.crs.encode() if image.crs else None
    info.has_nodata = image.nodata is not None
    info.nodata = 0 if image.nodata is None else number("nodata", image.nodata)
    kept = [(family.encode(), name.encode(), c.create_string_buffer(data, len(data))) for family, name, data in image.native]
    natives = (_io_structs.Native * max(len(kept), 1))()
    for to, (family, name, data) in zip(natives, kept):
        to.family, to.name, to.data, to.bytes = family, name, c.addressof(data), len(data)
    info.native, info.native_count = c.cast(natives, c.POINTER(_io_structs.Native)), len(kept)
    return info, (natives, kept)


def imwrite(path, array, like=None, *, axes=None, nodata=None, kind=None, compress=None, sync=True):
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

    sync : bool
        Whether the file is on the disk before it takes its name. False is faster, by as long as the disk takes, but after a power failure
        soon after, the file may be of zeros.

    The file takes its name when it is whole. Raises as imread() does; TypeError for what is no array. Ctrl-C ends a wait for a pipe.

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
    info, kept = info_of(image)
    if compress is not None:
        info.packing = short("compress", compress) if isinstance(compress, str) else b"yes" if compress else b"none"
        info.packing_asked = True
    io, writer = io_library(), c.c_void_p()
    check(io.distmap_writer_open(name, c.byref(info), c.byref(writer)))
    try:
        if info.shape[0]:
            check(io.distmap_writer_write(writer, info.shape[0], image.array.ctypes.data))
        check(io.distmap_writers_finish(c.byref(writer), 1, 0 if sync else _io_structs.UNSYNCED))
    finally:
        io.distmap_writer_abort(c.byref(writer))
        del kept
