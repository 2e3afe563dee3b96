"""MetaImage and NRRD beside SimpleITK: its files go through the command and through other formats, and it finds the same place and elements.

Random volumes: element types, 2 to 4 axes, channels, packed or plain, headers apart, directions, origins, spacings."""
# needs: numpy, SimpleITK
import sys

import numpy as np
import SimpleITK as sitk

from oracle import check, command, convert, project, rng, run

sitk.ProcessObject.SetGlobalWarningDisplay(False)

types = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.float32, np.float64]


def turned(n):
    q, r = np.linalg.qr(rng.normal(size=(n, n)))
    return q * np.sign(np.diag(r))


def draw(ndim, channels=1):
    """Random elements at a random place; a fourth axis is time, which no direction of space leads into."""
    shape = tuple(rng.integers(2, 9, ndim)) + ((channels,) if channels > 1 else ())
    dtype = types[rng.integers(len(types))]
    elements = (rng.normal(size=shape) * 50).astype(dtype) if np.dtype(dtype).kind != "u" else rng.integers(0, 200, shape).astype(dtype)
    image = sitk.GetImageFromArray(elements, isVector=channels > 1)
    direction = np.eye(ndim)
    space = min(ndim, 3)
    direction[:space, :space] = turned(space)
    image.SetDirection(direction.ravel().tolist())
    image.SetOrigin(rng.uniform(-200, 200, ndim).tolist())
    image.SetSpacing(np.round(rng.uniform(0.1, 4, ndim), int(rng.integers(1, 4))).tolist())
    return image


def same(a, b, what, exact=True):
    x, y = sitk.GetArrayFromImage(a), sitk.GetArrayFromImage(b)
    check(x.dtype == y.dtype and x.shape == y.shape and np.array_equal(x, y), f"{what}: other elements, {x.dtype} {x.shape} and {y.dtype} {y.shape}")
    for name in ("GetDirection", "GetOrigin", "GetSpacing"):
        v, w = np.array(getattr(a, name)()), np.array(getattr(b, name)())
        check(np.array_equal(v, w) if exact else np.allclose(v, w, rtol=2e-6, atol=2e-5), f"{what}: {name} is {w}, not {v}")


endings = [".mha", ".mhd", ".nrrd", ".nhdr"]
count = 0
for ending_in in endings:
    family = [".mha", ".mhd"] if ending_in.startswith(".mh") else [".nrrd", ".nhdr"]
    for i in range(30):
        ndim = int(rng.integers(2, 5))
        image = draw(ndim, int(rng.choice([1, 1, 1, 2, 3, 4])) if ndim < 4 else 1)
        source = f"in{i}_{ending_in[1:]}{ending_in}"
        sitk.WriteImage(image, source, useCompression=bool(rng.random() < 0.5))
        result = f"out{i}_{ending_in[1:]}{rng.choice(family)}"
        run(convert, source, result)
        before = sitk.ReadImage(source)
        same(before, sitk.ReadImage(result), f"{source} to {result}")
        count += 1
        if image.GetNumberOfComponentsPerPixel() > 1 or ndim == 4:
            continue
        distances = f"distances{i}_{ending_in[1:]}{rng.choice(family)}"
        run(command, "edt", source, "-o", distances, "--quiet", "--sites", "zero")
        before, after = sitk.Cast(before, sitk.sitkFloat32), sitk.ReadImage(distances)
        check((after - before).GetSize() == before.GetSize(), f"{source}: SimpleITK does not subtract")
        run(command, "compare", source, distances, "--quiet", "--threshold", "1")

# Through other formats and back: the place in the world stays.
for i in range(40):
    image = draw(3)
    if image.GetPixelID() in (sitk.sitkInt64, sitk.sitkUInt64):
        image = sitk.Cast(image, sitk.sitkInt32)
    path = [f"first{i}{rng.choice(endings)}"]
    sitk.WriteImage(image, path[0])
    for step in range(3):
        path.append(f"step{i}_{step}" + str(rng.choice([".mha", ".mhd", ".nrrd", ".nhdr", ".nii", ".nii.gz"])))
        run(convert, path[-2], path[-1])
        same(image, sitk.ReadImage(path[-1]), " to ".join(path), exact=False)
    check(run(command, "compare", path[0], path[-1], "--threshold", "1", "--quiet") is not None, "compare")

# The distances are SimpleITK's own, in its spacing.
for i in range(10):
    bits = sitk.GetImageFromArray((rng.random((9, 10, 11)) < 0.97).astype(np.uint8))
    bits.SetSpacing([float(v) for v in np.round(rng.uniform(0.2, 3, 3), 2)])
    bits.SetDirection(turned(3).ravel().tolist())
    source, result = f"bits{i}{rng.choice(endings)}", f"result{i}{rng.choice(endings)}"
    sitk.WriteImage(bits, source)
    run(command, "edt", source, "-o", result, "--quiet")
    want = sitk.SignedMaurerDistanceMap(bits == 0, squaredDistance=False, useImageSpacing=True)
    got = sitk.ReadImage(result)
    apart = np.abs(sitk.GetArrayFromImage(got) - np.maximum(sitk.GetArrayFromImage(want), 0)).max()
    check(apart < 1e-4, f"{source}: distances differ by {apart}")

# An image is no array to the package, which would see a list of numbers in it.
sys.path.insert(0, f"{project}/python")
import distmap  # noqa: E402

try:
    check(False, f"an image is taken for an array: {distmap.edt(bits).shape}")
except TypeError as error:
    check("give SimpleITK.GetArrayFromImage(image), and sampling=" in str(error), str(error))
print(f"{count} files of SimpleITK's went through, 40 through three formats")
