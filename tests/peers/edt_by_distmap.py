"""The functions of the package edt, by distmap: for the package's own tests, which import it as `edt`."""

import distmap
import numpy as np


def as_labels(data):
    """Integers, 0 the background; the package takes floats too."""
    data = np.asarray(data)
    if data.dtype.kind != "f":
        return data
    values, found = np.unique(data, return_inverse=True)
    return np.where(data == 0, 0, found.reshape(data.shape) + 1).astype(np.int64)


def edt(data, anisotropy=None, black_border=False, parallel=1, voxel_graph=None, order=None, squared=False):
    if voxel_graph is not None:
        raise NotImplementedError("distmap has no distances within a graph of voxels")
    if np.size(data) == 0:
        return np.zeros(np.shape(data), np.float32)
    dtype = "float32" if squared else None
    sampling = None if anisotropy is None else np.atleast_1d(anisotropy).tolist()
    return distmap.edt(as_labels(data), sampling, labels=True, border=black_border, squared=squared, dtype=dtype)


def edtsq(data, *arguments, **options):
    return edt(data, *arguments, squared=True, **options)


def sdf(data, *arguments, **options):
    data = np.asarray(data)
    return edt(data, *arguments, **options) - edt(data == 0, *arguments, **options)


def each(labels, distances, in_place=False):
    """(label, the map within it) for each label but 0."""
    for label in np.unique(labels):
        if label != 0:
            yield label, distances * (labels == label)
