"""The structures of ctypes are those that the C compiler makes of the header."""

import ctypes
import re
import subprocess
from pathlib import Path

import pytest
from distmap import _io_structs, _structs

INCLUDE = Path(__file__).resolve().parents[2] / "include"
HEADER = (INCLUDE / "distmap.h").read_text()
IO_HEADER = (INCLUDE / "distmap" / "io.h").read_text()
STRUCTS = _structs.STRUCTS | _io_structs.STRUCTS


def test_layout(tmp_path):
    lines, want = [], {}
    for name, struct in STRUCTS.items():
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        want[name] = ctypes.sizeof(struct)
        for field, _ in struct._fields_:
            lines.append(f'printf("{name}.{field} %zu %zu\\n", offsetof({name}, {field}),'
                         f' sizeof((({name} *)0)->{field}));')
            place = getattr(struct, field)
            want[f"{name}.{field}"] = (place.offset, place.size)
    source = tmp_path / "layout.c"
    body = ["#include <distmap/io.h>", "#include <stdio.h>", "int main(void) {", *lines, "return 0; }\n"]
    source.write_text("\n".join(body))
    subprocess.run(["cc", f"-I{INCLUDE}", source, "-o", tmp_path / "layout"], check=True)
    told = subprocess.run([tmp_path / "layout"], check=True, capture_output=True, text=True).stdout
    got = {}
    for line in told.splitlines():
        name, *numbers = line.split()
        got[name] = int(numbers[0]) if len(numbers) == 1 else tuple(map(int, numbers))
    assert got == want


def test_numbers():
    defined = dict(re.findall(r"#define (DISTMAP_VERSION|DISTMAP_MAX_\w+) (\S+)", HEADER))
    assert defined["DISTMAP_VERSION"] == f'"{_structs.VERSION}"'
    for name in "MAX_NDIM", "MAX_AXES", "MAX_GPUS", "MAX_PERCENTILES":
        assert defined[f"DISTMAP_{name}"] == str(getattr(_structs, name)), name


def test_every_member_is_there():
    """No struct of the header, and no member of one, is left out."""
    for body, name in re.findall(r"typedef struct \w+ \{(.*?)\} (\w+);", HEADER + IO_HEADER, re.S):
        if name == "distmap_format_info":  # which Python does not ask for
            continue
        body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
        members = []
        for statement in filter(str.strip, body.split(";")):
            if found := re.search(r"\(\*(\w+)\)\(", statement):
                members.append(found[1])
            else:
                members += [re.search(r"(\w+)(\[\w+\])*\s*$", part)[1] for part in statement.split(",")]
        assert members == [field for field, _ in STRUCTS[name]._fields_], name


@pytest.mark.parametrize("prefix, names", [
    ("distmap_status", _structs.STATUS), ("distmap_dtype", _structs.DTYPES), ("distmap_device", _structs.DEVICES),
    ("distmap_input", _structs.INPUTS), ("distmap_sites_rule", _structs.SITES), ("distmap_metric", _structs.METRICS),
    ("distmap_space", _structs.SPACES), ("distmap_phase_kind", _structs.PHASES),
    ("distmap_field", _structs.FIELDS), ("distmap_points", _structs.POINTS),
    ("distmap_axis_type", _io_structs.AXIS_TYPES), ("distmap_world", _io_structs.WORLDS),
    ("distmap_image_kind", _io_structs.KINDS), ("distmap_sample", _io_structs.SAMPLES),
])
def test_enumerations(prefix, names):
    body = re.search(rf"typedef enum {prefix} \{{(.*?)\}}", HEADER + IO_HEADER, re.S)[1]
    constants = re.findall(r"DISTMAP_\w+", re.sub(r"/\*.*?\*/", "", body, flags=re.S))
    assert [name.lower().endswith("_" + ours) for name, ours in zip(constants, names)] == [True] * len(names)
    assert len(constants) == len(names)
