"""The type stubs name what there is: the same public names, parameters, kinds and defaults."""

import ast
import inspect
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


@pytest.mark.parametrize("module", [distmap, distmap.scipy])
def test_signatures(module):
    told = {node.name: node for node in stub_of(module).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    assert set(told) == {name for name in module.__all__ if callable(getattr(module, name))}
    for name, node in told.items():
        thing = getattr(module, name)
        if isinstance(node, ast.FunctionDef):
            assert declared(node) == shape_of(inspect.signature(thing)), name
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
