"""Enumerations have the header's names in the header's order; structures take what the header's members hold."""

import re
from pathlib import Path

import numpy as np
import pytest
from distmap import _names
from distmap._library import core, library

INCLUDE = Path(__file__).resolve().parents[2] / "include"
HEADER = (INCLUDE / "distmap.h").read_text()
IO_HEADER = (INCLUDE / "distmap" / "io.h").read_text()


@pytest.mark.parametrize("prefix, names", [
    ("distmap_status", _names.STATUS), ("distmap_dtype", _names.DTYPES), ("distmap_device", _names.DEVICES),
    ("distmap_input", _names.INPUTS), ("distmap_sites_rule", _names.SITES), ("distmap_metric", _names.METRICS),
    ("distmap_space", _names.SPACES), ("distmap_phase_kind", _names.PHASES),
    ("distmap_field", _names.FIELDS), ("distmap_points", _names.POINTS),
    ("distmap_axis_type", _names.AXIS_TYPES), ("distmap_world", _names.WORLDS),
    ("distmap_image_kind", _names.KINDS), ("distmap_sample", _names.SAMPLES),
])
def test_enumerations(prefix, names):
    body = re.search(rf"typedef enum {prefix} \{{(.*?)\}}", HEADER + IO_HEADER, re.S)[1]
    constants = re.findall(r"DISTMAP_\w+", re.sub(r"/\*.*?\*/", "", body, flags=re.S))
    assert [name.lower().endswith("_" + ours) for name, ours in zip(constants, names)] == [True] * len(names)
    assert len(constants) == len(names)


def order(**members):
    return library().order({"data": 0, "dtype": 3, "ndim": 2, "shape": (3, 4), "strides": (1, 3), "space": 0} | members)


def test_what_members_hold():
    """Nothing is cut off on the way to C."""
    assert order() == [1, 0]
    for members, error, text in (
            ({"ndim": 1 << 31}, OverflowError, "ndim is 2147483648, which its type in C cannot hold"),
            ({"strides": (1, 1 << 63)}, OverflowError, ""),
            ({"shape": (1,) * (_names.MAX_AXES + 1)}, OverflowError, f"C has room for {_names.MAX_AXES}"),
            ({"shape": (1, "2")}, TypeError, ""),
            ({"shapes": (1, 2)}, KeyError, "shapes")):
        with pytest.raises(error, match=text):
            order(**members)
    with pytest.raises(OverflowError, match="axes is -1|can't convert negative"):
        core.scratch_bytes(context(), {"axes": -1}, {}, ())


def context():
    return core.Context({"threads": np.int64(1)}, ())
