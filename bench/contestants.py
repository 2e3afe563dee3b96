"""Who takes part: distmap and its peers, each as a function that prepares one image and returns a call to be timed.

Peers get what suits them best: contiguous arrays of their favourite type, conversions outside the clock, an output of
theirs used again where their interface takes one. Where it does not, the C library's allocator is told (warm_memory) to
hand out the same memory again, so that nobody pays for fresh pages.

scikit-image is not among them: its functions call SciPy's transform.

`prepare(mask, threads, spacing)` returns (run, result): `run()` is timed, `result()` gives its distances as an array
afterwards. `spacing`: the pitches by axis, slowest first; none: 1.
"""

import ctypes
import importlib.metadata

import cv2
import diplib
import edt
import numpy as np
import scipy.ndimage
import SimpleITK as sitk
from package import distmap


def warm_memory():
    """Big blocks come from the heap and stay there when freed, rather than from the system and back."""
    libc = ctypes.CDLL(None)
    m_trim_threshold, m_mmap_max = -1, -4
    libc.mallopt(m_mmap_max, 0)
    libc.mallopt(m_trim_threshold, 2**31 - 1)


def last_result(function):
    """For peers that return a new array: keeps the last one only, freed before the next so that its memory is reused."""
    kept = [None]

    def run():
        kept[0] = None
        kept[0] = function()
    return run, lambda: kept[0]


def opencv(mask, threads, spacing=()):
    """It knows no pitches: one of all axes is multiplied with, in place, which is timed too."""
    cv2.setNumThreads(threads)
    out = np.zeros(mask.shape, np.float32)

    def run():
        cv2.distanceTransform(mask, cv2.DIST_L2, cv2.DIST_MASK_PRECISE, out)
        if spacing:
            cv2.multiply(out, spacing[0], out)
    return run, lambda: out


def edt_binary(mask, threads, spacing=()):
    return edt_labels(mask.view(bool), threads, spacing)


def edt_labels(mask, threads, spacing=()):
    """The same library's path for labels, which skips runs of background and at times is the faster one."""
    return last_result(lambda: edt.edt(mask, anisotropy=spacing or None, black_border=False, parallel=threads))


def scipy_edt(mask, threads, spacing=()):
    return last_result(lambda: scipy.ndimage.distance_transform_edt(mask, sampling=spacing or None))


def scipy_indices(mask, threads, spacing=()):
    out = np.zeros((mask.ndim, *mask.shape), np.int32)
    return lambda: scipy.ndimage.distance_transform_edt(mask, return_distances=False, return_indices=True,
                                                        indices=out), lambda: None


def dip(mask, threads, spacing=()):
    diplib.SetNumberOfThreads(threads)
    image, out = diplib.Image(mask.view(bool), None), diplib.Image(np.zeros(mask.shape, np.float32), None)
    if spacing:
        image.SetPixelSize(list(spacing[::-1]))
    return lambda: diplib.EuclideanDistanceTransform(image, out=out, border="object"), lambda: np.asarray(out)


def itk(mask, threads, spacing=()):
    """Maurer's transform is signed: the sites are the object, and only what lies outside it is compared."""
    sitk.ProcessObject.SetGlobalDefaultNumberOfThreads(threads)
    image = sitk.GetImageFromArray((mask == 0).astype(np.uint8))
    if spacing:
        image.SetSpacing([float(w) for w in spacing[::-1]])
    run, kept = last_result(
        lambda: sitk.SignedMaurerDistanceMap(image, squaredDistance=False, useImageSpacing=bool(spacing)))
    return run, lambda: np.maximum(sitk.GetArrayViewFromImage(kept()), 0)


def ours(mask, threads, spacing=()):
    """distmap as its users call it."""
    return last_result(lambda: distmap.edt(mask, sampling=spacing or None, threads=threads))


PEERS = {
    "opencv": (opencv, "opencv-python-headless", (2,)),
    "edt": (edt_binary, "edt", (2, 3)),
    "edt-labels": (edt_labels, "edt", (3,)),
    "diplib": (dip, "diplib", (2, 3)),
    "itk": (itk, "SimpleITK", (2, 3)),
    "scipy": (scipy_edt, "scipy", (2, 3)),
    "scipy-indices": (scipy_indices, "scipy", ()),
}


def takes(name, ndim, spacing=()):
    return ndim in PEERS[name][2] and (name != "opencv" or len(set(spacing)) <= 1)


def versions():
    names = {package for _, package, _ in PEERS.values()} | {"numpy"}
    return {name: importlib.metadata.version(name) for name in sorted(names)}
