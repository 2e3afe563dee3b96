"""The structures, enumerations and functions of include/distmap/io.h, member for member, for ctypes.

tests/python/test_structs.py compares sizes and offsets with what the C compiler makes of the header.
"""

import ctypes as c

MAX_AXES = 8

AXIS_TYPES = ("space", "time", "channel", "other")
WORLDS = ("unknown", "ras", "lps", "projected", "geographic")
KINDS = ("unknown", "mask", "labels", "intensity")
SAMPLES = ("open", "index", "luma", "red", "green", "blue", "alpha")


class Axis(c.Structure):
    _fields_ = [("name", c.c_char * 16), ("unit", c.c_char * 16), ("type", c.c_int), ("pitch", c.c_double)]


class Native(c.Structure):
    _fields_ = [("family", c.c_char_p), ("name", c.c_char_p), ("data", c.c_void_p), ("bytes", c.c_size_t)]


class ImageInfo(c.Structure):
    _fields_ = [("format", c.c_char_p), ("dtype", c.c_int), ("ndim", c.c_int), ("shape", c.c_int64 * MAX_AXES),
                ("axis", Axis * MAX_AXES), ("world_ndim", c.c_int), ("matrix", c.c_double * 3 * 3),
                ("origin", c.c_double * 3), ("world", c.c_int), ("crs", c.c_char_p), ("has_nodata", c.c_bool),
                ("nodata", c.c_double), ("kind", c.c_int), ("native", c.POINTER(Native)), ("native_count", c.c_int),
                ("samples", c.c_uint), ("sample", c.c_int), ("packing", c.c_char * 16),
                ("packing_asked", c.c_bool), ("stored", c.c_char * 64), ("held_bytes", c.c_size_t),
                ("chunk", c.c_int64 * MAX_AXES), ("shard", c.c_int64 * MAX_AXES)]


# Every structure by its name in C, but for the list of formats, which Python does not ask for.
STRUCTS = {"distmap_axis": Axis, "distmap_native": Native, "distmap_image_info": ImageInfo}

UNSYNCED = 1
INTERRUPT = c.CFUNCTYPE(c.c_int)

# Functions: result, arguments. Handles are plain addresses.
_handle, _place = c.c_void_p, c.POINTER(c.c_void_p)
FUNCTIONS = {
    "distmap_error_text": (c.c_char_p, []),
    "distmap_io_on_interrupt": (None, [INTERRUPT]),
    "distmap_reader_open": (c.c_int, [c.c_char_p, _place]),
    "distmap_reader_info": (c.POINTER(ImageInfo), [_handle]),
    "distmap_reader_select": (c.c_int, [_handle, c.c_int, c.c_int64]),
    "distmap_reader_sample": (c.c_int, [_handle, c.c_int]),
    "distmap_reader_read": (c.c_int, [_handle, c.c_int64, c.c_int64, c.c_void_p]),
    "distmap_reader_close": (None, [_place]),
    "distmap_writer_open": (c.c_int, [c.c_char_p, c.POINTER(ImageInfo), _place]),
    "distmap_writer_write": (c.c_int, [_handle, c.c_int64, c.c_void_p]),
    "distmap_writers_finish": (c.c_int, [_place, c.c_int, c.c_uint]),
    "distmap_writer_abort": (None, [_place]),
}
