#!/usr/bin/env python3
"""tests/peers/run.py [PEER...]: runs other libraries' own test files against distmap, and lists every failure with its reason.

SciPy's tests come with it; those of edt and CuPy are in their source packages, which pip downloads into build/peers. A failure that is not
listed here, and a listed one that passes, is an error. CuPy's tests need it and a GPU, and are left out where there is none.
"""

import importlib.util
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import distmap
import distmap.scipy
import pytest

HERE = Path(__file__).resolve().parent
PLACE = HERE.parents[1] / "build" / "peers"
GRAPHS = "distances within a graph of voxels: distmap has none"

# name: (version of the source package, the file in it, {test: why it fails})
SOURCES = {
    "edt": ("3.1.2", "automated_test.py", {"test_voxel_connectivity_graph_2d": GRAPHS}),
    "cupy": ("14.2.0", "tests/cupyx_tests/scipy_tests/ndimage_tests/test_distance_transform.py", {}),
}


def fetched(name):
    """A test file out of the package's source."""
    version, path, _ = SOURCES[name]
    PLACE.mkdir(parents=True, exist_ok=True)
    archive, made = PLACE / f"{name}-{version}.tar.gz", PLACE / f"test_of_{name}.py"
    if not archive.exists():
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "download", "--no-deps", "--no-build-isolation", "--no-binary", ":all:", "-d", str(PLACE),
                        f"{name}=={version}"], check=True)
    with tarfile.open(archive) as files:
        made.write_bytes(files.extractfile(f"{name}-{version}/{path}").read())
    return made


class Listed:
    """Tests that fail for a reason are expected to."""

    def __init__(self, reasons):
        self.reasons, self.met = reasons, set()

    def pytest_collection_modifyitems(self, items):
        for item in items:
            if reason := self.reasons.get(item.originalname):
                self.met.add(item.originalname)
                item.add_marker(pytest.mark.xfail(strict=True, reason=reason))


def run_file(name):
    listed = Listed(SOURCES[name][2])
    status = pytest.main(["-q", "-p", "no:cacheprovider", "-W", "ignore", "-rfx", str(fetched(name))], plugins=[listed])
    missing = sorted(set(listed.reasons) - listed.met)
    if missing:
        print(f"{name}: no such tests: {', '.join(missing)}")
    return status or bool(missing)


def run_edt():
    sys.path.insert(0, str(HERE))
    import edt_by_distmap
    sys.modules["edt"] = edt_by_distmap
    return run_file("edt")


def run_cupy():
    if importlib.util.find_spec("cupy") is None or not any(device.device.startswith("cuda") for device in distmap.devices()):
        print("cupy: left out: no CuPy, or no GPU")
        return 0
    import cupyx.scipy.ndimage
    cupyx.scipy.ndimage.distance_transform_edt = distmap.scipy.distance_transform_edt
    return run_file("cupy")


def run_scipy():
    return subprocess.run([sys.executable, "-B", str(HERE.parent / "python" / "scipy_own.py")], env=os.environ | {
        "SCIPY_ARRAY_API": "0"}).returncode


PEERS = {"scipy": run_scipy, "edt": run_edt, "cupy": run_cupy}


def main(names):
    failed = []
    for name in names or PEERS:
        print(f"== {name}", flush=True)
        if PEERS[name]():
            failed.append(name)
    print(f"peers: failures without a reason: {', '.join(failed)}" if failed else "peers: all failures have a reason")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
