"""The type stubs name what there is: the same public names, parameters, kinds and defaults."""

import ast
import importlib.util
import inspect
import os
import subprocess
import sys
from pathlib import Path

import distmap
import distmap.scipy
import pytest


def stub_of(module):
    place = Path(module.__file__)
    return ast.parse((place.with_suffix(".pyi")).read_text())


def shape_of(signature):
    return [(p.name, p.kind.name, p.default) for p in signature.parameters.values()]


def declared(function):
    """The same of a function in a stub: its arguments, with a body that does nothing."""
    for argument in ast.walk(function.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    function.returns, function.decorator_list = None, []
    space = {}
    exec(compile(ast.fix_missing_locations(ast.Module([function], [])), "stub", "exec"), space)
    return shape_of(inspect.signature(space[function.name]))


def fits(told, real):
    """An overload's parameter may have to be given where the function has False, of which True is the other overload."""
    if told[2] is ...:  # the stub does not tell the default
        return told[:2] == real[:2] and real[2] is not inspect.Parameter.empty
    return told == real or (told[:2] == real[:2] and told[2] is inspect.Parameter.empty and real[2] is False)


def modules():
    """Those beside other libraries where these are installed."""
    yield from (distmap, distmap.scipy)
    for name in ("dask", "monai", "torch"):
        if importlib.util.find_spec(name):
            yield importlib.import_module(f"distmap.{name}")


@pytest.mark.parametrize("module", list(modules()))
def test_signatures(module):
    told = [node for node in stub_of(module).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    assert {node.name for node in told} == {name for name in module.__all__ if callable(getattr(module, name))}
    for node in told:
        name = node.name
        thing = getattr(module, name)
        if isinstance(node, ast.FunctionDef):
            assert all(fits(*pair) for pair in zip(declared(node), shape_of(inspect.signature(thing)), strict=True)), name
            continue
        for member in node.body:
            if isinstance(member, ast.FunctionDef):
                real = inspect.getattr_static(thing, member.name)
                if isinstance(real, property):
                    continue
                assert declared(member) == shape_of(inspect.signature(real)), (name, member.name)
            elif isinstance(member, ast.AnnAssign) and hasattr(thing, "__annotations__") and thing.__annotations__:
                assert member.target.id in thing.__annotations__, (name, member.target.id)


def test_constants():
    told = {node.target.id for node in stub_of(distmap).body if isinstance(node, ast.AnnAssign)}
    assert told - {"__version__"} == {name for name in distmap.__all__ if name.isupper()}
    assert distmap.__version__ == distmap.version()


TYPED = """
from typing import Any, assert_type
import numpy as np
import distmap
from distmap.scipy import distance_transform_edt

mask = np.ones((3, 4), np.uint8)
distance = distmap.edt(mask, sampling=(1, 2.5), sites=(0, None), limit=3, dtype=np.float64, progress=print)
pair = assert_type(distmap.edt(mask, indices=True), tuple[Any, Any])
crops = assert_type(distmap.edt_many([mask, mask[1:]]), list[Any])
assert_type(distmap.esf(mask, 2, convergence=True)[1], distmap.Convergence)
assert_type(distmap.transform(mask, want={"index": None}).flags, int | None)
assert_type(distmap.compare(mask, mask).hausdorff, float)
distance_transform_edt(mask, sampling=[1, 2])
with_plan = distmap.Plan(mask.shape, mask.dtype, {"distance": np.float32}, context=distmap.Context(threads=1))
with_plan(mask, distance=np.empty(mask.shape, np.float32))
"""


BESIDE = {"dask": """
import distmap.dask
lazy = distmap.dask.edt(mask, sampling=2.5, squared=True)  # what Dask makes is partly unknown to a strict checker
""", "torch": """
import torch
import distmap.torch
tensor = torch.ones(3, 4)
assert_type(distmap.torch.edt(tensor, torch.tensor(2.0), dtype=torch.float64), torch.Tensor)
assert_type(distmap.torch.generalized_distance(tensor, indices=True), tuple[torch.Tensor, torch.Tensor])
""", "monai": """
from distmap.monai import DistanceTransformEDTd, signed_distances
items = DistanceTransformEDTd(["label"], sampling=[2, 1])({"label": mask})
maps = signed_distances(mask, no_site=0)
"""}


@pytest.mark.parametrize("checker", [("mypy", "--strict"), ("pyright", "--pythonpath", sys.executable)], ids=lambda words: words[0])
def test_strict(checker, tmp_path):
    """Where the checkers are installed."""
    pytest.importorskip(checker[0])
    (tmp_path / "typed.py").write_text(TYPED + "".join(text for name, text in BESIDE.items() if importlib.util.find_spec(name)))
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    package = str(Path(distmap.__file__).parents[1])
    done = subprocess.run([sys.executable, "-m", *checker, "typed.py"], cwd=tmp_path, env=os.environ | {"MYPYPATH": package},
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
