"""A library that the package cannot work with is told when it is loaded, by what was expected."""

import os
import subprocess
import sys

import pytest
from distmap import _structs

OTHER = """
#include <stddef.h>
#include <string.h>
const char *distmap_version(void) { return "%s"; }
size_t distmap_struct_bytes(const char *name) { return strcmp(name, "distmap_problem") == 0 ? %d : 0; }
"""


def load(library):
    return subprocess.run([sys.executable, "-c", "import distmap; print(distmap.version())"], capture_output=True, text=True,
                          env=os.environ | {"DISTMAP_LIBRARY": str(library)})


def test_the_same_version():
    told = load(os.environ["DISTMAP_LIBRARY"])
    assert told.stdout.strip() == _structs.VERSION, told.stderr


@pytest.mark.parametrize("version, expected", [
    ("0.1.0", f"it is version 0.1.0, this package expects {_structs.VERSION} or newer"),
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


def test_sizes():
    from distmap._library import check_structs

    theirs = {name.encode(): _structs.c.sizeof(struct) for name, struct in _structs.STRUCTS.items()}
    check_structs(theirs.get, _structs.STRUCTS, _structs.GROWING)
    check_structs((theirs | {b"distmap_problem": 5000}).get, _structs.STRUCTS, _structs.GROWING)  # newer
    for name, size in (b"distmap_problem", 8), (b"distmap_view", 5000):
        with pytest.raises(OSError, match=f"{name.decode()} has {size} bytes in it, this package expects {theirs[name]}"):
            check_structs((theirs | {name: size}).get, _structs.STRUCTS, _structs.GROWING)
