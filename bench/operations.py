"""The operations of the race: balls, labels, skeletons, points spread by weights, each against the fastest other library that does the same."""

import cv2
import diplib
import edt
import numpy as np
import scipy.ndimage

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
    mask = cells(row.shape, seed)
    out = np.zeros(row.shape, np.float32)
    run = plan(row.shape, mask.dtype, {"distance": "float32"}, threads, kind="labels").bind(mask, distance=out)
    theirs, kept = contestants.last_result(lambda: edt.edt(mask, black_border=False, parallel=threads))
    return mask, run, theirs, lambda: compare.to_rounding(out, kept())


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


PREPARE = {"cvt": cvt, "dilate": dilate, "labels": labels, "skeleton": skeleton}
