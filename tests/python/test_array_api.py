"""Arrays of other libraries in host memory: results are of the same library. SciPy's own tests, with such arrays."""

import os
import subprocess
import sys

import distmap
import distmap.scipy
import numpy as np
import pytest

HERE = os.path.dirname(os.path.abspath(__file__))


def strict(array):
    return pytest.importorskip("array_api_strict").asarray(array)


def jax_array(array):
    return pytest.importorskip("jax.numpy").asarray(array)


@pytest.mark.parametrize("make", [strict, jax_array])
def test_results_are_of_the_library(make):
    mask = np.ones((6, 7), np.uint8)
    mask[2, 3] = 0
    given = make(mask)
    for call in (distmap.edt, distmap.feature_transform, lambda a: distmap.dilate(a, 2), distmap.skeleton, distmap.local_thickness,
                 lambda a: distmap.transform(a, want="squared").squared, distmap.scipy.distance_transform_cdt,
                 lambda a: distmap.scipy.distance_transform_edt(a, return_indices=True)[1]):
        result = call(given)
        assert type(result) is type(given) and np.array_equal(np.asarray(result), call(mask))
    out = np.empty((6, 7), np.float32)
    assert distmap.edt(given, out=out) is out
    assert distmap.transform(given, out=out).distance is out


def test_output_of_the_library():
    given, out = strict(np.eye(5)), strict(np.zeros((5, 5), np.float32))
    assert distmap.edt(given, out=out) is out and np.array_equal(np.asarray(out), distmap.edt(np.eye(5)))
    with pytest.raises(ValueError, match="read-only"):
        distmap.edt(np.eye(5), out=jax_array(np.zeros((5, 5), np.float32)))


@pytest.mark.parametrize("library", ["array_api_strict", "jax.numpy"])
def test_scipys_own(library):
    """Which are parametrised by the library, in a process that says which."""
    pytest.importorskip(library)
    pytest.importorskip("scipy.ndimage.tests.test_morphology")
    done = subprocess.run([sys.executable, "-B", os.path.join(HERE, "scipy_own.py")], capture_output=True, text=True,
                          env=os.environ | {"SCIPY_ARRAY_API": f'["{library}"]'})
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout
