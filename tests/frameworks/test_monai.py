"""distmap.monai beside MONAI itself."""

import distmap
import numpy as np
import pytest
import torch

monai_maps = pytest.importorskip("distmap.monai")
import monai.transforms  # noqa: E402
from monai.data import MetaTensor  # noqa: E402
from monai.transforms.utils import distance_transform_edt as of_monai  # noqa: E402

DEVICES = ["cpu"] + ["cuda"] * torch.cuda.is_available()


def image(rng, shape):
    made = rng.random(shape) < 0.8
    made[:, 0, 0] = False  # so that every channel has background
    return made


@pytest.mark.parametrize("shape", [(2, 9, 7), (3, 5, 6, 7)])
@pytest.mark.parametrize("sampling", [None, 2.0, [1.0, 2.0, 3.0]])
def test_as_monai(shape, sampling, rng):
    sampling = sampling[:len(shape) - 1] if isinstance(sampling, list) else sampling
    given = image(rng, shape)
    for img in (given, torch.from_numpy(given), torch.from_numpy(given).float(), MetaTensor(torch.from_numpy(given))):
        got, want = (function(img, sampling, return_indices=True) for function in (monai_maps.distance_transform_edt, of_monai))
        assert type(got[0]) is type(want[0]) and np.array_equal(got[0], want[0]) and got[0].dtype == want[0].dtype
        assert got[1].shape == want[1].shape
        nearest = np.asarray(got[1])  # of equally near ones another may be named
        pitches = np.broadcast_to(1 if sampling is None else sampling, len(shape) - 1)
        steps = [(nearest[:, k] - np.arange(n).reshape([-1 if a == k + 1 else 1 for a in range(len(shape))])) * pitch
                 for k, (n, pitch) in enumerate(zip(shape[1:], pitches))]
        assert np.allclose(np.sqrt(sum(step**2 for step in steps)), got[0])


def test_outputs(rng):
    img = image(rng, (2, 6, 7))
    distances, indices = np.zeros((2, 6, 7)), np.zeros((2, 2, 6, 7), np.int32)
    want = monai_maps.distance_transform_edt(img, return_indices=True)
    assert monai_maps.distance_transform_edt(img, return_indices=True, distances=distances, indices=indices) is None
    assert np.array_equal(distances, want[0]) and np.array_equal(indices, want[1])
    with pytest.raises(RuntimeError, match="Neither"):
        monai_maps.distance_transform_edt(img, return_distances=False)
    with pytest.raises(RuntimeError, match="must have 3 to 4"):
        monai_maps.distance_transform_edt(img[0])


def test_of_items(rng):
    img = MetaTensor(torch.from_numpy(image(rng, (2, 6, 7))), meta={"name": "a.nii"})
    ours = monai.transforms.Compose([monai_maps.DistanceTransformEDTd(["label"], sampling=[2.0, 1.0])])({"label": img, "other": 1})
    theirs = monai.transforms.DistanceTransformEDTd(["label"], sampling=[2.0, 1.0])({"label": img})
    assert torch.equal(ours["label"].as_tensor(), theirs["label"].as_tensor()) and ours["label"].meta["name"] == "a.nii"
    assert ours["other"] == 1
    with pytest.raises(KeyError):
        monai_maps.DistanceTransformEDTd(["missing"])({"label": img})
    assert monai_maps.DistanceTransformEDTd(["missing"], allow_missing_keys=True)({"label": 1}) == {"label": 1}


@pytest.mark.parametrize("device", DEVICES)
def test_signed(device, rng):
    """For a boundary loss: the product with the predictions, in which channels without a boundary count nothing."""
    labels = torch.from_numpy(rng.integers(0, 3, (1, 8, 9))).to(device)
    one_hot = monai.transforms.AsDiscrete(to_onehot=4)(labels)  # nothing has label 3
    maps = monai_maps.SignedDistanced(["label"], sampling=[1.0, 2.0], no_site=0)({"label": one_hot})["label"]
    for k in range(3):
        assert np.array_equal(maps[k].cpu(), distmap.signed_distance(one_hot[k].cpu().numpy(), [1.0, 2.0]))
    assert maps[3].eq(0).all() and maps.dtype == torch.float32
    assert monai_maps.signed_distances(one_hot)[3].eq(torch.inf).all()
