"""Finds the compiled half of the package and the shared library that it opens, once.

The library, in this order: the file that the environment variable DISTMAP_LIBRARY names; the one inside the installed package; in a
source tree the release build's, else the newest build's; what the system's loader finds. The compiled half lies in the installed
package; builds have it in python/ beside the folder of their library; DISTMAP_BINDING names another one.
"""

import functools
import importlib.util
import os
import sys

NAME, BINDING = "libdistmap.so.1", "_core.abi3.so"
PACKAGE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(PACKAGE))
CURE = "`pip install .` puts it into the package, `make build` into build/release; DISTMAP_LIBRARY names another file"


def builds():
    """Folders of a source tree's builds, the first to try first."""
    if not os.path.exists(os.path.join(TREE, "include", "distmap.h")):
        return
    place = os.path.join(TREE, "build")
    yield os.path.join(place, "release")
    found = [entry.path for entry in os.scandir(place) if entry.is_dir()] if os.path.isdir(place) else []
    libraries = [library for library in (os.path.join(build, "src", NAME) for build in found) if os.path.exists(library)]
    for library in sorted(libraries, key=os.path.getmtime, reverse=True):
        build = os.path.dirname(os.path.dirname(library))
        if not is_sanitized(build):
            yield build


def is_sanitized(build):
    """Whether the build has its own allocator or counters, with which Python does not load it."""
    try:
        with open(os.path.join(build, "CMakeCache.txt")) as cache:
            return any(line.startswith("DISTMAP_SANITIZE:") and not line.endswith("=\n") for line in cache)
    except OSError:
        return False


def first(candidates):
    return next((path for path in candidates if os.path.exists(path)), None)


def find():
    if named := os.environ.get("DISTMAP_LIBRARY"):
        return named
    inside = os.path.join(PACKAGE, "lib", NAME)
    return first([inside]) or first(os.path.join(build, "src", NAME) for build in builds()) or NAME


def find_binding():
    """The file that DISTMAP_BINDING names; in an installed package; beside the library that is named; in a build of this tree."""
    if named := os.environ.get("DISTMAP_BINDING"):
        return named
    inside = os.path.join(PACKAGE, BINDING)
    named = os.path.dirname(os.path.abspath(os.environ.get("DISTMAP_LIBRARY") or inside))
    return first([inside, os.path.join(os.path.dirname(named), "python", BINDING)]) or first(
        os.path.join(build, "python", BINDING) for build in builds())


def load_binding():
    path = find_binding()
    if not path:
        raise ImportError(f"cannot find the compiled half of the package distmap, {BINDING}: {CURE}. Builds have it where Python's"
                          " headers are (python3-dev)")
    spec = importlib.util.spec_from_file_location("distmap._core", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules["distmap._core"] = module
    return module


core = load_binding()


class Library:
    """The functions of the library that was opened, and its file."""

    def __init__(self, path):
        self.path = path

    def __getattr__(self, name):
        return getattr(core, name)


@functools.cache
def library():
    """The library. Long steps run without Python's global lock."""
    path = find()
    try:
        core.open_core(path)
    except ImportError as error:
        raise ImportError(f"cannot use the distmap library {path}: {error}. {CURE}") from error
    return Library(path)


def version():
    """The library's version, as "0.2.0"."""
    return library().version()
