"""Says what is tested, and from which seed."""

import distmap
import oracle
from distmap._library import library


def pytest_report_header(config):
    return f"DISTMAP_TEST_SEED={oracle.SEED}, distmap {distmap.version()} at {library().path}"
