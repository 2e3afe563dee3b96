"""The operations of the race: balls, labels, skeletons, comparisons, local thickness, points spread by weights, each against the
fastest other library that does the same."""

import cv2
import diplib
import edt
import numba
import numpy as np
import porespy
import scipy.ndimage
import SimpleITK as sitk

import compare
import contestants
import patterns
from package import distmap
from rows import Row

RADIUS, LABELS = 20, 2000


def rows():
    """`pattern` names the operation; "self" is our own map with indices."""
    found = []
    for shape, rival in (((4096,) * 2, "opencv"), ((256,) * 3, "edt")):
        found.append(Row("operations", "dilate", shape, rival, 8))
    for shape in ((4096,) * 2, (512,) * 3):
        found.append(Row("operations", "labels", shape, "edt", 5))
    for shape, reach in (((4096,) * 2, 3), ((256,) * 3, 8)):
        found.append(Row("operations", "skeleton", shape, "diplib", reach))
        found.append(Row("operations", "skeleton", shape, "self", 2, "the map with indices", at_most=True))
    for shape in ((4096,) * 2, (256,) * 3):
        found.append(Row("operations", "compare", shape, "scipy", 10))
        found.append(Row("operations", "hausdorff", shape, "simpleitk", 10))
    found.append(Row("operations", "thickness", (256,) * 3, "porespy", 10))
    found.append(Row("operations", "cvt", (2048,) * 2, "scipy", 10))
    return found


def plan(shape, dtype, want, threads, **problem):
    return distmap.Plan(shape, dtype, want, context=distmap.Context(threads=threads), **problem)


def cells(shape, seed):
    """Every element's label is that of the nearest of some drawn points."""
    rng = np.random.default_rng(seed)
    points = np.zeros(shape, np.uint32)
    points[tuple(rng.integers(0, n, LABELS) for n in shape)] = 1 + np.arange(LABELS)
    return distmap.transform(points, want="label", sites="nonzero").label


def dilate(row, threads, seed):
    """Blobs grown by a ball: a threshold of the distance to them, for those who have no balls."""
    mask = patterns.make("blobs", row.shape, seed)
    out = np.zeros(row.shape, np.uint8)
    run = plan(row.shape, mask.dtype, {"mask": "uint8"}, threads, sites="nonzero",
               morphology={"step": "dilate", "radius": RADIUS}).bind(mask, mask=out)
    others = (mask == 0).astype(np.uint8)
    if row.rival == "opencv":
        transform, distances = contestants.opencv(others, threads)
        grown = np.zeros(row.shape, np.uint8)

        def theirs():
            transform()
            cv2.compare(distances(), RADIUS, cv2.CMP_LE, grown)
        return mask, run, theirs, lambda: {"equal": bool(np.array_equal(out != 0, grown != 0))}
    theirs, grown = contestants.last_result(
        lambda: edt.edt(others.view(bool), black_border=False, parallel=threads) <= RADIUS)
    return mask, run, theirs, lambda: {"equal": bool(np.array_equal(out != 0, grown()))}


def labels(row, threads, seed):
    """With row.spacing also against the same with pitches of 1."""
    mask = cells(row.shape, seed)
    out = np.zeros(row.shape, np.float32)

    def ours(spacing):
        return plan(row.shape, mask.dtype, {"distance": "float32"}, threads, kind="labels",
                    spacing=spacing or None).bind(mask, distance=out)
    run = ours(row.spacing)
    if row.rival == "self":
        return mask, run, ours(()), lambda: {}
    theirs, kept = contestants.edt_labels(mask, threads, row.spacing)
    return mask, run, theirs, lambda: compare.to_rounding(out, kept(), pitches=row.spacing)


def skeleton(row, threads, seed):
    """Other rules make other skeletons: results are not compared."""
    mask = patterns.make("blobs", row.shape, seed)
    out = np.zeros(row.shape, np.uint8)
    run = plan(row.shape, mask.dtype, {"mask": "uint8"}, threads, skeleton={}).bind(mask, mask=out)
    if row.rival == "self":
        both = {"distance": np.zeros(row.shape, np.float32), "index": np.zeros(row.shape, np.int32)}
        want = {name: array.dtype.name for name, array in both.items()}
        return mask, run, plan(row.shape, mask.dtype, want, threads).bind(mask, **both), lambda: {}
    diplib.SetNumberOfThreads(threads)
    image = diplib.Image(mask.view(bool), None)
    theirs, _ = contestants.last_result(lambda: diplib.EuclideanSkeleton(image, endPixelCondition="natural"))
    return mask, run, theirs, lambda: {}


def two_masks(shape, seed):
    """Blobs, and the same grown and moved."""
    mask = patterns.make("blobs", shape, seed)
    other = np.roll(distmap.dilate(mask, 3), 5, axis=0).astype(np.uint8)
    return (mask != 0).astype(np.uint8), other


def comparison(row, threads, seed, points):
    """The plan of a comparison, the masks, and a way to ask what it found."""
    mask, other = two_masks(row.shape, seed)
    bound = plan(row.shape, mask.dtype, {}, threads, sites="nonzero", comparison={"other": other.dtype, "points": points})
    return mask, other, bound.bind(mask, other=other), bound.agreement


def compare_surfaces(row, threads, seed):
    """Surface distances as packages compute them from SciPy: erosions, maps, percentiles."""
    mask, other, run, found = comparison(row, threads, seed, "surface")

    def theirs():
        shells = [x & ~scipy.ndimage.binary_erosion(x) for x in (mask.view(bool), other.view(bool))]
        maps = [scipy.ndimage.distance_transform_edt(~shell) for shell in shells]
        both = maps[1][shells[0]], maps[0][shells[1]]
        return [(d.max(), d.mean(), np.percentile(d, 95)) for d in both]
    theirs, kept = contestants.last_result(theirs)

    def check():
        ours = [(d.hausdorff, d.mean, d.percentile[0]) for d in (found().forward, found().backward)]
        return {"equal": bool(np.allclose(ours, kept(), rtol=1e-12, atol=0))}
    return mask, run, theirs, check


def hausdorff(row, threads, seed):
    """Between the sets; ITK's distances are float32."""
    mask, other, run, found = comparison(row, threads, seed, "set")
    sitk.ProcessObject.SetGlobalDefaultNumberOfThreads(threads)
    images = [sitk.GetImageFromArray(x) for x in (mask, other)]
    rival = sitk.HausdorffDistanceImageFilter()
    return mask, run, lambda: rival.Execute(*images), lambda: {
        "equal": bool(np.isclose(found().symmetric.hausdorff, rival.GetHausdorffDistance(), rtol=1e-6))}


def thickness(row, threads, seed):
    """PoreSpy's default, whose radii are whole numbers and whose balls have no tips: results are close, not the same."""
    mask = patterns.make("blobs", row.shape, seed)
    out = np.zeros(row.shape, np.float32)
    run = plan(row.shape, mask.dtype, {"distance": "float32"}, threads, thickness=True).bind(mask, distance=out)
    porespy.settings.tqdm["disable"] = True
    numba.set_num_threads(threads)
    theirs, radius = contestants.last_result(lambda: porespy.filters.local_thickness(mask.view(bool)))
    return mask, run, theirs, lambda: {"equal": bool((out == 2 * radius()).all()),
                                       "worst": float(np.abs(out - 2 * radius()).max())}


def cvt(row, threads, seed):
    """Three plain steps of Lloyd on one grid, from the same places; theirs by SciPy's indices and NumPy's sums."""
    points, steps = row.shape[0] * row.shape[1] // 400, 3
    weights = np.random.default_rng(seed).integers(1, 256, row.shape).astype(np.uint8)
    options = {"points": points, "seed": 1, "grids": 1}
    start = distmap.transform(weights, want="sites", cvt=options).sites
    out = np.zeros((points, 2), np.int32)
    run = plan(row.shape, weights.dtype, {"sites": "int32"}, threads, cvt=options | {"steps": steps}).bind(weights, sites=out)
    y, x = np.mgrid[:row.shape[0], :row.shape[1]]

    def lloyd():
        sites = start.copy()
        for _ in range(steps):
            empty = np.ones(row.shape, bool)
            number = np.zeros(row.shape, np.int32)
            empty[tuple(sites.T)] = False
            number[tuple(sites.T)] = np.arange(points)
            at = scipy.ndimage.distance_transform_edt(empty, return_distances=False, return_indices=True)
            cell = number[tuple(at)].ravel()
            total = np.bincount(cell, weights.ravel(), points)
            for axis, place in enumerate((y, x)):
                moment = np.bincount(cell, (weights * place).ravel(), points)
                off = moment - total * sites[:, axis]
                sites[:, axis] += (np.sign(off) * ((2 * np.abs(off) + total - 1) // (2 * total))).astype(np.int32)
        return sites
    theirs, kept = contestants.last_result(lloyd)

    def energy(sites):
        empty = np.ones(row.shape, bool)
        empty[tuple(sites.T)] = False
        return float((weights * scipy.ndimage.distance_transform_edt(empty)**2).sum())

    def check():
        """Of several sites that are as near SciPy takes another one, and so points drift apart; energies hardly do."""
        ours, others = energy(out), energy(kept())
        return {"equal": abs(ours / others - 1) < 1e-3, "worst": ours / others - 1}
    return weights, run, theirs, check


PREPARE = {"dilate": dilate, "labels": labels, "skeleton": skeleton, "compare": compare_surfaces, "hausdorff": hausdorff,
           "thickness": thickness, "cvt": cvt}
