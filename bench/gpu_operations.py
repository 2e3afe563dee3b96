"""The operations of the GPU's bench, each in turns with the plain map that it is measured by: labels with the distances to their
cells' faces, signed maps with the distances on one side, skeletons with the indices that they are made of. And a step of Lloyd's."""

import statistics

import cupy as cp
import numpy as np

import patterns
from compare import ratio
from package import distmap
from stopwatch import summary

CELLS, POINTS, STEPS = 2000, 100_000, 10
DISTANCES, INDICES = ("distance",), ("distance", "index")


def cells(bench, shape):
    """Every element's label is that of the nearest of some drawn points."""
    rng = np.random.default_rng(bench.options.seed)
    points = cp.zeros(shape, np.uint32)
    points[tuple(cp.asarray(rng.integers(0, n, CELLS)) for n in shape)] = 1 + cp.arange(CELLS, dtype=np.uint32)
    plan = distmap.Plan(shape, points.dtype, {"label": np.uint32}, context=bench.gpu, sites="nonzero")
    labels = cp.empty(shape, np.uint32)
    plan(points, label=labels)
    plan.wait()
    return labels


def faces(labels):
    """Zero beside another cell."""
    mask = cp.ones(labels.shape, np.uint8)
    for axis in range(labels.ndim):
        sides = [tuple(part if a == axis else slice(None) for a in range(labels.ndim))
                 for part in (slice(1, None), slice(None, -1))]
        differ = labels[sides[0]] != labels[sides[1]]
        for side in sides:
            mask[side] &= ~differ
    return mask


def labelled(bench, shape):
    labels = cells(bench, shape)
    return labels, DISTANCES, {"kind": "labels"}, faces(labels), DISTANCES


def signed(bench, shape):
    mask = patterns.make("blobs", shape, bench.options.seed, cp)
    return mask, DISTANCES, {"sign": "outside"}, mask, DISTANCES


def skeleton(bench, shape):
    mask = patterns.make("blobs", shape, bench.options.seed, cp)
    return mask, ("mask",), {"skeleton": {}}, mask, INDICES


PREPARE = {"labels": labelled, "signed": signed, "skeleton": skeleton}


def lloyd(bench, row):
    """By the phases of a timed plan: the start, which takes as long as hundreds of steps, is none of them."""
    weights = cp.random.default_rng(bench.options.seed).integers(1, 256, row.shape).astype(np.uint8)
    plan = distmap.Plan(row.shape, weights.dtype, {"sites": np.int32}, context=bench.gpu, timed=True,
                        cvt={"points": POINTS, "seed": 1, "grids": 1, "steps": STEPS})
    run, times = plan.bind(weights, sites=cp.empty((POINTS, 2), np.int32)), []
    for _ in range(bench.options.repeat):
        run()
        plan.wait()
        times.append(sum(1e3 * p.seconds for p in plan.phases() if p.name in ("move", "transform", "cells")) / STEPS)
    return {"value": statistics.median(times), **summary(times), "method": plan.describe().method}


def measure(bench, row):
    if row.pattern == "lloyd":
        return lloyd(bench, row)
    array, want, problem, mask, base = PREPARE[row.pattern](bench, row.shape)
    plan, run, outputs = bench.bound(array, want, **problem)
    _, alone, _ = bench.bound(mask, base)
    times = bench.watch.turns({"operation": run, "base": alone})
    check = bench.check(plan, run, outputs, bench.expected(array, want, **problem))
    return {"value": ratio(times["operation"], times["base"]), **summary(times["operation"]), "check": check,
            "base_ms": statistics.median(times["base"]), "method": plan.describe().method}
