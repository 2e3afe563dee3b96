"""How far two results are from each other, and two contestants. `xp` is NumPy or CuPy, whose arrays both are."""

import statistics

import numpy as np

import patterns


def ratio(numerator, denominator):
    """Of the times of two that took turns: the median of each turn's own ratio."""
    return statistics.median(a / b for a, b in zip(numerator, denominator))


ROUNDING, PITCHED = 4e-7, 1e-6  # of distances; with real pitches, which some peers hold and square as float32


def to_rounding(ours, theirs, xp=np, pitches=()):
    """Distances of a peer against ours: equal to float rounding, or by how much not."""
    tolerance, least = (PITCHED, min(pitches)) if pitches else (ROUNDING, 1)
    worst, off = 0.0, 0
    step = max(1, patterns.PART // (ours.size // len(ours)))
    for at in range(0, len(ours), step):
        a, b = ours[at:at + step], theirs[at:at + step]
        difference = xp.abs(a.astype(np.float64) - b)
        wrong = ~(difference <= tolerance * xp.maximum(a, least))
        off += int(xp.count_nonzero(wrong))
        if wrong.any():
            worst = max(worst, float(xp.nan_to_num(difference).max()))
    return {"equal": off == 0, "share_off": off / ours.size, "worst": worst}


def to_the_bit(got, expected, xp=np):
    """{name: array} of four-byte elements: "equal", or which array differs first, at how many elements, and where."""
    for name, array in expected.items():
        wrong = (got[name].view(np.uint32) != array.view(np.uint32)).reshape(-1)
        if off := int(xp.count_nonzero(wrong)):
            at = int(wrong.argmax())
            return {"equal": False, "output": name, "off": off, "at": at, "got": float(got[name].reshape(-1)[at]),
                    "expected": float(array.reshape(-1)[at])}
    return {"equal": True}
