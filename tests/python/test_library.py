"""A library that the package cannot work with is told when it is loaded, by what was expected."""

import os
import subprocess
import sys

import pytest
import distmap

OTHER = """
#include <stddef.h>
#include <string.h>
const char *distmap_version(void) { return "%s"; }
size_t distmap_struct_bytes(const char *name) { return strcmp(name, "distmap_problem") == 0 ? %d : 0; }
"""

SIZES = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
size_t distmap_struct_bytes(const char *name) {
    size_t (*own)(const char *) = dlsym(RTLD_NEXT, "distmap_struct_bytes");
    return strcmp(name, "%s") == 0 ? %d : own(name);
}
"""


def load(library):
    return subprocess.run([sys.executable, "-c", "import distmap; print(distmap.version())"], capture_output=True, text=True,
                          env=os.environ | {"DISTMAP_LIBRARY": str(library)})


def test_the_same_version():
    told = load(os.environ["DISTMAP_LIBRARY"])
    assert told.stdout.strip() == distmap.version(), told.stderr


@pytest.mark.parametrize("version, expected", [
    ("0.1.0", f"it is version 0.1.0, this package expects {distmap.version()} or newer"),
    ("0.10.0", "undefined symbol"),  # newer, but without the functions of this one
])
def test_another_library(tmp_path, version, expected):
    source = tmp_path / "other.c"
    source.write_text(OTHER % (version, 8))
    subprocess.run(["cc", "-shared", "-fPIC", source, "-o", tmp_path / "other.so"], check=True)
    told = load(tmp_path / "other.so")
    assert told.returncode == 1
    assert "ImportError: cannot use the distmap library" in told.stderr
    assert expected in told.stderr.splitlines()[-1]


def test_sizes(tmp_path):
    """Whatever the library, its functions are there; only what it tells of its structures differs."""
    own = os.environ["DISTMAP_LIBRARY"]
    for name, size in ("distmap_problem", 8), ("distmap_view", 5000):
        source = tmp_path / "sizes.c"
        source.write_text(SIZES % (name, size))
        subprocess.run(["cc", "-shared", "-fPIC", source, "-o", tmp_path / "sizes.so", "-Wl,--no-as-needed", own, "-Wl,-rpath," + os.path.dirname(own)],
                       check=True)
        told = load(tmp_path / "sizes.so")
        assert told.returncode == 1
        assert f"{name} has {size} bytes in it, this package expects " in told.stderr.splitlines()[-1]
