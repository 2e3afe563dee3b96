"""What is shown works when typed: the doctests of the package and the Python of the README."""

import doctest
import importlib.util
import pkgutil
import re
from pathlib import Path

import distmap
import pytest

ROOT = Path(__file__).resolve().parents[2]


OTHERS = ("dask", "jax", "monai", "torch")  # modules beside these libraries, where they are installed


def modules():
    yield "distmap"
    for found in pkgutil.walk_packages(distmap.__path__, "distmap."):
        name = found.name.removeprefix("distmap.")
        if "report" not in name and (name not in OTHERS or importlib.util.find_spec(name)):
            yield found.name


def test_docstrings():
    tried = 0
    for name in modules():
        failed, count = doctest.testmod(importlib.import_module(name))
        assert failed == 0, name
        tried += count
    assert tried >= 20


def test_everything_public_is_described():
    for name in distmap.__all__:
        thing = getattr(distmap, name)
        assert not callable(thing) or (thing.__doc__ and not thing.__doc__.startswith(f"{name}(")), name


def test_readme(capsys, monkeypatch):
    blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S)
    assert blocks
    monkeypatch.chdir(ROOT)
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})
        want = [shown for shown in re.findall(r"#>\s*(.*)$", block, re.M)]
        assert want and capsys.readouterr().out.splitlines() == want
