"""Finds and loads the shared library, once, and turns its statuses into exceptions.

In this order: the file that the environment variable DISTMAP_LIBRARY names; the one inside the installed package; in a
source tree the release build's, else the newest build's; what the system's loader finds.
"""

import ctypes
import functools
import os
from pathlib import Path

from . import _structs

NAME = "libdistmap.so.0"

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


@functools.cache
def library():
    """The library. Its functions are called without Python's global lock."""
    path = find()
    try:
        loaded = ctypes.CDLL(path)
        for name, (result, arguments) in _structs.FUNCTIONS.items():
            function = getattr(loaded, name)
            function.restype, function.argtypes = result, arguments
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
    """The library's version, as "0.1.0"."""
    return library().distmap_version().decode()
