"""Says what is tested, and from which seed. The oracle is that of tests/python."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

import distmap  # noqa: E402
import oracle  # noqa: E402
import pytest  # noqa: E402
from distmap._library import library  # noqa: E402


def pytest_report_header(config):
    return f"DISTMAP_TEST_SEED={oracle.SEED}, distmap {distmap.version()} at {library().path}"


@pytest.fixture
def rng(request):
    """Drawn from the run's seed and the name of the test."""
    import numpy as np
    return np.random.default_rng([oracle.SEED, *request.node.name.encode()])
