"""NIfTI files of nibabel's through the command: the result has the same affine, codes, units and texts, and SimpleITK subtracts it.

Random headers: versions 1 and 2, either byte order, gzip, pairs, sform and qform with any codes, mirrored and sheared, 3 and 4 axes."""
# needs: nibabel, numpy, SimpleITK
import json
import os
import subprocess
import sys
import time

import nibabel
import numpy as np
import SimpleITK as sitk

sitk.ProcessObject.SetGlobalWarningDisplay(False)

command, project = sys.argv[1:]
seed = int(os.environ.get("DISTMAP_TEST_SEED", time.time_ns() % 2**32))
print("seed", seed)
rng = np.random.default_rng(seed)
kept = ("sform_code", "qform_code", "srow_x", "srow_y", "srow_z", "quatern_b", "quatern_c", "quatern_d", "qoffset_x", "qoffset_y",
        "qoffset_z", "pixdim", "xyzt_units", "descrip", "aux_file", "dim_info")


def distmap(*arguments):
    done = subprocess.run([command, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def rotation():
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    return q * np.sign(np.linalg.det(q))


def draw():
    """An image of random bits with a random place; pitches are decimals, as files have them."""
    ndim = int(rng.integers(3, 5))
    pitch = np.round(rng.uniform(0.1, 4, 3), int(rng.integers(1, 4)))
    affine = np.eye(4)
    affine[:3, :3] = rotation() * pitch * rng.choice([-1, 1], 3)
    affine[:3, 3] = rng.uniform(-200, 200, 3)
    bits = (rng.random(tuple(rng.integers(2, 9, ndim))) < 0.7).astype(rng.choice([np.uint8, np.int16, np.float32]))
    kind = (nibabel.Nifti1Image, nibabel.Nifti2Image, nibabel.Nifti1Pair)[rng.integers(3)]
    header = kind.header_class(endianness=rng.choice(["<", ">"]))
    image = kind(bits, affine, header)
    image.set_sform(affine, int(rng.integers(0, 6)))
    image.set_qform(affine, int(rng.integers(0, 6)))
    if rng.random() < 0.3:  # another space than the scanner's, sheared
        other = affine.copy()
        other[:3, :3] = other[:3, :3] @ (np.eye(3) + rng.uniform(-0.2, 0.2, (3, 3)))
        image.set_sform(other, int(rng.integers(1, 6)))
    image.header.set_xyzt_units(rng.choice(["unknown", "mm", "micron", "meter"]), rng.choice(["unknown", "sec", "msec"]))
    zooms = list(pitch) + [round(float(rng.uniform(0.1, 3)), 2)] * (ndim - 3)
    image.header.set_zooms(zooms)
    image.header["descrip"] = b"drawn"
    image.header["dim_info"] = 57
    return image


def check(condition, what):
    if not condition:
        sys.exit(f"seed {seed}: {what}")


def same_header(a, b, what):
    for field in kept:
        check(np.array_equal(a[field], b[field]), f"{what}: {field} is {b[field]}, not {a[field]}")


for i in range(60):
    image = draw()
    pair = isinstance(image, nibabel.Nifti1Pair) and not isinstance(image, nibabel.Nifti1Image)
    name = f"in{i}.img" if pair else f"in{i}.nii" + rng.choice(["", ".gz"])
    nibabel.save(image, name)
    name = name.replace(".img", ".hdr")
    was = nibabel.load(name)
    out = f"out{i}" + rng.choice([".nii", ".nii.gz", ".hdr"])
    distmap("edt", name, "-o", out, "--quiet", "--sites", "zero")
    result = nibabel.load(out)
    same_header(was.header, result.header, name)
    check(np.array_equal(was.affine, result.affine), f"{name}: affine {result.affine}, not {was.affine}")
    check(was.shape == result.shape, f"{name}: shape {result.shape}")
    told = json.loads(distmap("info", name, "--json"))["image"]
    if was.header["sform_code"] > 0 or was.header["qform_code"] > 0:
        matrix = np.array(told["world"]["matrix"])[:, ::-1]
        check(np.allclose(matrix, was.affine[:3, :3], rtol=0, atol=1e-5) and
              np.allclose(told["world"]["origin"], was.affine[:3, 3], rtol=0, atol=1e-4), f"{name}: info tells {told}")
    else:
        check(told["world"] is None, f"{name}: info tells a world")
    check(np.allclose([axis["pitch"] for axis in told["axes"]][::-1], was.header.get_zooms(), rtol=1e-6), f"{name}: pitches")
    distmap("compare", name, out, "--quiet", "--threshold", "1", *(["--time", "0"] if len(was.shape) > 3 else []))
    try:
        before = sitk.ReadImage(name, sitk.sitkFloat32)
    except RuntimeError:  # ITK has no place for a sheared image
        continue
    after = sitk.ReadImage(out, sitk.sitkFloat32)
    if len(was.shape) == 3:  # which are those that it subtracts
        check((after - before).GetSize() == before.GetSize(), f"{name}: SimpleITK")
    check(after.GetOrigin() == before.GetOrigin() and after.GetDirection() == before.GetDirection() and
          after.GetSpacing() == before.GetSpacing(), f"{name}: SimpleITK reads another place")

# The distances of a volume are those of SimpleITK's own, in its spacing.
for i in range(10):
    bits = sitk.GetImageFromArray((rng.random((9, 10, 11)) < 0.97).astype(np.uint8))
    bits.SetSpacing([float(v) for v in np.round(rng.uniform(0.2, 3, 3), 2)])
    bits.SetOrigin([float(v) for v in rng.uniform(-9, 9, 3)])
    bits.SetDirection(rotation().ravel().tolist())
    sitk.WriteImage(bits, "itk.nii.gz")
    bits = sitk.ReadImage("itk.nii.gz")  # whose place is in float32
    distmap("edt", "itk.nii.gz", "-o", "itk_d.nii.gz", "--quiet")
    got = sitk.ReadImage("itk_d.nii.gz")
    want = sitk.SignedMaurerDistanceMap(bits == 0, squaredDistance=False, useImageSpacing=True)
    apart = sitk.GetArrayFromImage(got - sitk.Cast(sitk.Maximum(want, 0), sitk.sitkFloat32))
    check(np.abs(apart).max() < 1e-4, f"SimpleITK's distances differ by {np.abs(apart).max()}")
print("60 files of nibabel's and 10 of SimpleITK's went through")
