"""The package distmap of this tree, on the library that is measured."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

import distmap  # noqa: E402, F401  (others import it from here)


def use(library):
    """Before anything of the package is called."""
    os.environ["DISTMAP_LIBRARY"] = str(library)


def environment():
    """For a process of its own on the same library."""
    return {name: os.environ[name] for name in ("DISTMAP_LIBRARY", "DISTMAP_BINDING", "PATH") if name in os.environ}
