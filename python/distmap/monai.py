"""Transforms for MONAI, channel first: its distance_transform_edt by its signature, and signed maps of one-hot masks.

    from distmap.monai import DistanceTransformEDTd, SignedDistanced

Every channel is a map by itself; all of them are computed in one call, on the device where the image lies. Results are of the image's
type; those of a MetaTensor keep its meta data. Where a channel has no background, distances are inf and indices -1 (SciPy, which MONAI
calls, measures to an element that does not exist); `no_site` names another value.
"""

import torch
from monai.config import KeysCollection
from monai.data import MetaTensor
from monai.transforms import MapTransform, Transform
from monai.utils import TransformBackends

from ._arrays import to_numpy
from ._maps import signed_distance
from ._transform import transform

__all__ = ["DistanceTransformEDT", "DistanceTransformEDTd", "SignedDistance", "SignedDistanced", "distance_transform_edt",
           "signed_distances"]


def channels(img, least, most):
    """The image without its meta data, and the axes of its space."""
    img = img.as_tensor() if isinstance(img, MetaTensor) else img if isinstance(img, torch.Tensor) else to_numpy(img, "img")
    if not least <= img.ndim <= most:
        raise RuntimeError(f"img has {img.ndim} axes, must have {least} to {most}: channels, then space")
    return img, tuple(range(1, img.ndim))


def like(img, result):
    """A result of the image's type."""
    if isinstance(img, MetaTensor):
        return MetaTensor(result, meta=img.meta, applied_operations=img.applied_operations)
    return result


def distance_transform_edt(img, sampling=None, return_distances=True, return_indices=False, distances=None, indices=None, *,
                           block_params=None, float64_distances=False):
    """monai.transforms.utils.distance_transform_edt: for every channel the distance from each element to the nearest one that is zero.

    Parameters
    ----------
    img : array or tensor of shape (channels, H, W[, D])
    sampling : float, or one for each axis of space
    return_distances, return_indices : bool
    distances, indices : arrays or tensors to write into instead of returning new ones
    block_params : ignored; of cuCIM's signature
    float64_distances : bool
        For tensors on a GPU: float64, else float32. Distances in host memory are float64.

    Returns
    -------
    distances, indices, both as a list, or None
        Those that were asked for and not given. Indices are int32 coordinates, of shape (channels, axes of space, H, W[, D]).

    Examples
    --------
    >>> distance_transform_edt(torch.tensor([[[0, 1, 1], [1, 1, 1]]]), sampling=[2, 1])
    tensor([[[0.0000, 1.0000, 2.0000],
             [2.0000, 2.2361, 2.8284]]], dtype=torch.float64)
    """
    if not return_distances and not return_indices:
        raise RuntimeError("Neither return_distances nor return_indices True")
    given, axes = channels(img, 3, 4)
    on_gpu = isinstance(given, torch.Tensor) and given.device.type == "cuda"
    want = {"distance": "float32" if on_gpu and not float64_distances else "float64"} if return_distances else {}
    want |= {"coords": "int32"} if return_indices else {}
    found = transform(given, want=want, axes=axes, spacing=sampling, out=None if distances is None else {"distance": distances})
    results = [like(img, found.distance)] if return_distances and distances is None else []
    if return_indices:
        coords = found.coords[1:].swapaxes(0, 1)
        if indices is None:
            results.append(like(img, coords))
        else:
            indices[...] = coords
    return results[0] if len(results) == 1 else results or None


def signed_distances(img, sampling=None, *, positive="outside", surface="centre", no_site=None, dtype="float32"):
    """Signed maps of a one-hot mask: for every channel distmap.signed_distance(), by default negative inside its objects.

    no_site : number
        What a channel gets that is all object or all background, and so has no boundary: 0 for boundary losses. None: -inf or inf.

    >>> signed_distances(torch.tensor([[[0, 1, 1]], [[0, 0, 0]]]), no_site=0)
    tensor([[[ 1., -1., -2.]],
    <BLANKLINE>
            [[ 0.,  0.,  0.]]])
    """
    given, axes = channels(img, 2, 5)
    return like(img, signed_distance(given, sampling, axes=axes, positive=positive, surface=surface, fill=no_site, dtype=dtype))


class DistanceTransformEDT(Transform):
    """monai.transforms.DistanceTransformEDT: distance_transform_edt() of an image."""

    backend = [TransformBackends.TORCH, TransformBackends.NUMPY]

    def __init__(self, sampling=None):
        super().__init__()
        self.sampling = sampling

    def __call__(self, img):
        return distance_transform_edt(img, sampling=self.sampling)


class SignedDistance(Transform):
    """signed_distances() of an image, with those options."""

    backend = DistanceTransformEDT.backend

    def __init__(self, sampling=None, **options):
        super().__init__()
        self.sampling, self.options = sampling, options

    def __call__(self, img):
        return signed_distances(img, self.sampling, **self.options)


class Mapped(MapTransform):
    """A transform of the items with certain keys."""

    def __init__(self, keys, allow_missing_keys, transform):
        super().__init__(keys, allow_missing_keys)
        self.transform = transform

    def __call__(self, data):
        result = dict(data)
        for key in self.key_iterator(result):
            result[key] = self.transform(result[key])
        return result


class DistanceTransformEDTd(Mapped):
    """monai.transforms.DistanceTransformEDTd: distance_transform_edt() of the items with those keys."""

    backend = DistanceTransformEDT.backend

    def __init__(self, keys: KeysCollection, allow_missing_keys=False, sampling=None):
        super().__init__(keys, allow_missing_keys, DistanceTransformEDT(sampling))


class SignedDistanced(Mapped):
    """signed_distances() of the items with those keys."""

    backend = DistanceTransformEDT.backend

    def __init__(self, keys: KeysCollection, allow_missing_keys=False, sampling=None, **options):
        super().__init__(keys, allow_missing_keys, SignedDistance(sampling, **options))
