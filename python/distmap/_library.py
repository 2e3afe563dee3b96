"""Finds and loads the shared library, once, and turns its statuses into exceptions.

In this order: the file that the environment variable DISTMAP_LIBRARY names; the one inside the installed package; in a
source tree the release build's, else the newest build's; what the system's loader finds.
"""

import ctypes
import functools
import os
from pathlib import Path

from . import _structs

NAME = "libdistmap.so.1"

EXCEPTIONS = {
    "argument": ValueError, "value": ValueError, "memory": MemoryError, "unsupported": NotImplementedError,
}  # all others: RuntimeError


def candidates():
    """Files to try, the first that exists first."""
    package = Path(__file__).resolve().parent
    yield package / "lib" / NAME
    tree = package.parent.parent
    if (tree / "include" / "distmap.h").exists():
        yield tree / "build" / "release" / "src" / NAME
        builds = [path for path in tree.glob(f"build/*/src/{NAME}") if not is_sanitized(path.parent.parent)]
        yield from sorted(builds, key=lambda path: path.stat().st_mtime, reverse=True)


def is_sanitized(build):
    """Whether the build has its own allocator or counters, with which Python does not load it."""
    cache = build / "CMakeCache.txt"
    return cache.exists() and any(line.startswith("DISTMAP_SANITIZE:") and not line.endswith("=")
                                  for line in cache.read_text().splitlines())


def find():
    if named := os.environ.get("DISTMAP_LIBRARY"):
        return named
    return str(next((path for path in candidates() if path.exists()), NAME))


def bind(loaded, functions, growing):
    """Gives the library's functions their types. Those that take or fill structures of `growing` are called by the names that end in
    _sized, with the size of each behind its address (include/distmap/sized.h)."""
    for name, (result, arguments) in functions.items():
        sizes = [ctypes.sizeof(kind._type_) if getattr(kind, "_type_", None) in growing else 0 for kind in arguments]
        function = getattr(loaded, name + "_sized" if any(sizes) else name)
        function.restype = result
        function.argtypes = list(with_sizes(arguments, [size and ctypes.c_size_t for size in sizes]))
        if any(sizes):
            setattr(loaded, name, functools.partial(call_sized, function, sizes))


def call_sized(function, sizes, *arguments):
    return function(*with_sizes(arguments, sizes))


def with_sizes(arguments, sizes):
    """The arguments, each followed by its size where it has one."""
    for argument, size in zip(arguments, sizes):
        yield argument
        if size:
            yield size


def check_structs(told, structs, growing):
    """Raises where a structure of the library, which tells its size by the function `told`, is not that of this package."""
    for name, struct in structs.items():
        ours, theirs = ctypes.sizeof(struct), told(name.encode())
        if theirs != ours and not (struct in growing and theirs > ours):
            raise OSError(f"{name} has {theirs} bytes in it, this package expects {ours}")


def check_version(loaded):
    """Raises where the library is older than this package."""
    loaded.distmap_version.restype = ctypes.c_char_p
    told = loaded.distmap_version().decode()
    if [int(part) for part in told.split(".")] < [int(part) for part in _structs.VERSION.split(".")]:
        raise OSError(f"it is version {told}, this package expects {_structs.VERSION} or newer")


@functools.cache
def library():
    """The library. Its functions are called without Python's global lock."""
    path = find()
    try:
        loaded = ctypes.CDLL(path)
        check_version(loaded)
        bind(loaded, _structs.FUNCTIONS, _structs.GROWING)
        check_structs(loaded.distmap_struct_bytes, _structs.STRUCTS, _structs.GROWING)
    except (OSError, AttributeError) as error:
        raise ImportError(f"cannot use the distmap library {path}: {error}. `pip install .` puts it into the package,"
                          " `make build` into build/release; DISTMAP_LIBRARY names another file") from error
    loaded.path = path
    return loaded


def check(status):
    """Raises what a call returned, with the library's text."""
    if status:
        name = _structs.STATUS[status] if 0 <= status < len(_structs.STATUS) else "unknown"
        raise EXCEPTIONS.get(name, RuntimeError)(library().distmap_error_text().decode())


def version():
    """The library's version, as "0.2.0"."""
    return library().distmap_version().decode()
