"""Elements without data, of every subcommand, beside brute force: ignored ones have no say in any other element's result and get the
value for no data themselves; with --nodata site and object they are like all others.

The oracle is the definition, over all pairs of elements, in NumPy."""
# needs: numpy
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys

import numpy as np

command = pathlib.Path(sys.argv[1]).resolve()
seed = int(os.environ.get("DISTMAP_TEST_SEED", random.randrange(1 << 32)))
print("seed", seed)
draw = random.Random(seed)
np.random.seed(seed)
checks = failures = 0


def check(fine, what):
    global checks, failures
    checks += 1
    if not fine:
        failures += 1
        print("FAIL", what)


def run(*words, status=0):
    done = subprocess.run([command, *map(str, words)], capture_output=True, text=True)
    check(done.returncode == status, f"{words}: status {done.returncode}, not {status}: {done.stderr}")
    return done


def result(subcommand, array, *words):
    np.save("in.npy", array)
    done = run(subcommand, "in.npy", "-o", "out.npy", "--quiet", *words)
    return np.load("out.npy") if done.returncode == 0 else None


# ---- Images ----

VALUES = {"u1": (255, 9), "i2": (-9999, 7), "u2": (65535, 300), "f4": (np.nan, -9999), "f8": (-9999,), "i8": (-1,)}


def draw_shape():
    return draw.choice([(draw.randint(1, 40),), (draw.randint(1, 12), draw.randint(1, 12)),
                        tuple(draw.randint(1, 6) for _ in range(3))])


def draw_image(values, kind=None, share=0.2):
    """An image of these values, where it has no data, and the value that says so."""
    kind = kind or draw.choice(list(VALUES))
    shape, nodata = draw_shape(), draw.choice(VALUES[kind])
    gaps = np.random.random(shape) < share
    image = np.random.choice(values, shape).astype(kind)
    image[gaps] = nodata
    return image, np.isnan(image) if nodata != nodata else image == nodata, nodata


def draw_spacing(ndim):
    return [draw.choice((1, 2, 3)) for _ in range(ndim)]


def same(got, want, gaps, nodata, what):
    """`want` with no distance, inf, and gaps both as the value for no data, or what stands for it in the type."""
    if got is None:
        return
    if got.dtype.kind == "f":
        none, want = nodata, want.astype(float)
    else:
        limits = np.iinfo(got.dtype)
        none = nodata if np.isfinite(nodata) and limits.min <= nodata <= limits.max else limits.max
    want = np.where(gaps | ~np.isfinite(want), none, want)
    fine = got.shape == want.shape and np.allclose(got.astype(float), want.astype(float), rtol=3e-7, atol=0, equal_nan=True)
    check(fine, f"{what}: got\n{got}\nwant\n{want}")


# ---- The definition ----

def square_distances(shape, spacing, metric="euclidean"):
    """Of all pairs of elements, element by element of the image in row-major order; the metric's own numbers, squared where Euclidean."""
    at = np.stack(np.unravel_index(np.arange(np.prod(shape)), shape), -1).astype(np.int64) * np.array(spacing)
    steps = np.abs(at[:, None] - at[None])
    return steps.sum(-1) if metric == "cityblock" else steps.max(-1) if metric == "chessboard" else (steps ** 2).sum(-1)


def border_squares(shape, spacing):
    at = np.stack(np.unravel_index(np.arange(np.prod(shape)), shape), -1)
    steps = np.minimum(at + 1, np.array(shape) - at) * np.array(spacing)
    return (steps ** 2).min(-1)


NONE = np.iinfo(np.int64).max


def nearest(pairs, sites_of_each, border=None):
    """Of each element the least number among its sites, and the first site that has it; border: a site too, but the last."""
    numbers = np.where(sites_of_each, pairs, NONE)
    least, index = numbers.min(1), numbers.argmin(1)
    index[least == NONE] = -1
    if border is not None:
        index[border < least] = -2
        least = np.minimum(least, border)
    return least, index


def root(least):
    return np.where(least == NONE, np.inf, np.sqrt(least.astype(float)))


# ---- Distances ----

def options_of_map(shape):
    """Spacing, border and limit, drawn; their words."""
    spacing, border = draw_spacing(len(shape)), draw.random() < 0.3
    limit = draw.choice((None, None, draw.uniform(0.3, 6)))
    words = ["--spacing", ",".join(map(str, spacing))] + ["--border"] * border + (["--limit", limit] if limit else [])
    return spacing, border_squares(shape, spacing) if border else None, limit, words


def limited(least, index, limit):
    if limit:
        far = root(least) > limit
        least[far], index[far] = NONE, -1
    return least, index


def test_masks():
    image, gaps, nodata = draw_image([0, 1])
    part = draw.choice(("ignore", "site", "object"))
    spacing, border, limit, words = options_of_map(image.shape)
    flat, objects = gaps.ravel(), (image != 0).ravel()
    site = np.where(flat, part == "site", ~objects)
    least, index = limited(*nearest(square_distances(image.shape, spacing), site[None].repeat(site.size, 0), border), limit)
    words += ["--nodata-value", nodata, "--nodata", part, "--sites", "zero"]
    ignored = gaps if part == "ignore" else np.zeros_like(gaps)
    got = result("edt", image, *words, "--index", "index.npy")
    same(got, root(least).reshape(image.shape), ignored, nodata, f"edt {words}")
    check(np.array_equal(np.load("index.npy"), np.where(ignored, -1, index.reshape(image.shape))), f"edt {words}: sites")
    squares = result("edt", image, *words, "--metric", "squared")
    same(squares, np.where(least == NONE, np.inf, least).reshape(image.shape), ignored, nodata, f"edt {words}: squares")
    if border is None and not limit:
        metric = draw.choice(("cityblock", "chessboard"))
        steps, _ = nearest(square_distances(image.shape, [1] * image.ndim, metric), site[None].repeat(site.size, 0))
        got = result("edt", image, *words[2:], "--metric", metric)
        same(got, np.where(steps == NONE, np.inf, steps).reshape(image.shape), ignored, nodata, f"edt {metric}")


def test_signed():
    image, gaps, nodata = draw_image([0, 1])
    spacing, border, limit, words = options_of_map(image.shape)
    flat, objects = gaps.ravel(), (image != 0).ravel()
    site = ~objects & ~flat
    pairs, off = square_distances(image.shape, spacing), (objects & ~flat)[None].repeat(flat.size, 0)
    inside, inside_index = limited(*nearest(pairs, site[None].repeat(flat.size, 0), border), limit)
    outside, outside_index = limited(*nearest(pairs, off), limit)
    want = np.where(site, -root(outside), root(inside)).reshape(image.shape)
    index = np.where(flat, -1, np.where(site, outside_index, inside_index)).reshape(image.shape)
    side = draw.choice((["--signed"], ["--signed", "outside"], ["--signed", "inside"]))
    words += ["--nodata-value", nodata, "--sites", "zero", *side]
    got = result("edt", image, *words, "--index", "index.npy")
    same(got, -want if side[-1] == "outside" else want, gaps, nodata, f"edt {words}")
    check(np.array_equal(np.load("index.npy"), index), f"edt {words}: sites")
    half = [*words, "--surface", "half", "--dtype", "float64"]
    parts = {part: result("edt", image, *half, "--nodata", part, "--fill", "inf") for part in ("site", "object")}
    same(result("edt", image, *half), np.where(site.reshape(image.shape), parts["site"], parts["object"]), gaps, nodata, f"edt {half}")


def draw_labels():
    kind = draw.choice(("u1", "u2", "i2", "i8"))
    labels = draw.choice(([0, 1], [0, 1, 2, 3], [1, 2], [5], [0, 4, 8, 12, 100], list(range(20)), [0]))
    return draw_image(np.array(labels) * (draw.choice((1, -1)) if kind[0] == "i" and 1 not in labels else 1), kind)


def test_labels():
    image, gaps, nodata = draw_labels()
    part = draw.choice(("ignore", "ignore", "site"))
    spacing, border, limit, words = options_of_map(image.shape)
    background = draw.choice(([], [], ["--sites", "none"] if part == "ignore" else []))
    words += ["--labels", "--nodata-value", nodata, "--nodata", part, *background]
    ignored = gaps if part == "ignore" else np.zeros_like(gaps)
    flat, labels = ignored.ravel(), np.where(gaps & ~ignored, 0, image).ravel()
    least, index = limited(*nearest(square_distances(image.shape, spacing), (labels[:, None] != labels) & ~flat, border), limit)
    if not background:
        least[labels == 0], index[labels == 0] = 0, np.flatnonzero(labels == 0)
    same(result("edt", image, *words), root(least).reshape(image.shape), ignored, nodata, f"edt {words} of\n{image}")
    got = result("edt", image, *words, "--index", "index.npy")
    same(got, root(least).reshape(image.shape), ignored, nodata, f"edt {words}, and sites")
    check(np.array_equal(np.load("index.npy"), np.where(ignored, -1, index.reshape(image.shape))),
          f"edt {words}: sites of\n{image}\ngot\n{np.load('index.npy')}\nwant\n{index.reshape(image.shape)}")


def test_voronoi():
    image, gaps, nodata = draw_labels()
    spacing, border, limit, words = options_of_map(image.shape)
    site = ((image != 0) & ~gaps).ravel()
    least, index = limited(*nearest(square_distances(image.shape, spacing), site[None].repeat(site.size, 0), border), limit)
    want = np.where(index < 0, nodata, image.ravel()[index]).reshape(image.shape)
    if border is None:
        same(result("voronoi", image, "--labels", "--nodata-value", nodata, *words), want, gaps, nodata, f"voronoi {words}")


# ---- Sets ----

def balls(shape, spacing, radius, margin):
    """Whether element p of the image, in a margin of its own, is within the ball around element c of both: [c, p]."""
    wide = tuple(n + 2 * margin for n in shape)
    return wide, root(square_distances(wide, spacing)) <= radius


def opened(of_set, known, within):
    """What balls cover that meet nothing known but the set."""
    centres = ~(within & (known & ~of_set)).any(1)
    return (within & centres[:, None]).any(0) & of_set


def test_morphology():
    image, gaps, nodata = draw_image([0, 1])
    if image.size > 150:
        return
    spacing, radius = draw_spacing(image.ndim), draw.uniform(0.5, 3.2)
    margin = 0 if image.ndim == 3 and image.size > 40 else 3 if image.ndim < 3 else 1
    outside, step = draw.choice(("background", "set")), draw.choice(("dilate", "erode", "open", "close"))
    radius = min(radius, (margin or 1) - 0.1) if margin else 0.5
    wide, within = balls(image.shape, [1] * image.ndim if margin == 0 else spacing, radius, margin)
    words = ["--op", step, "--radius", radius, "--nodata-value", nodata, "--outside", outside]
    words += ["--spacing", ",".join(map(str, [1] * image.ndim if margin == 0 else spacing))]
    of_set = np.pad((image != 0) & ~gaps, margin, constant_values=outside == "set").ravel()
    known = np.pad(~gaps, margin, constant_values=True).ravel()
    rest = known & ~of_set
    if step == "dilate":
        want = (within & of_set).any(1)
    elif step == "erode":
        want = of_set & ~(within & rest).any(1)
    elif step == "open":
        want = opened(of_set, known, within)
    else:
        want = ~opened(rest, known, within)
    middle = tuple(slice(margin, margin + n) for n in image.shape)
    got = result("morph", image, *words)
    check(got is None or got.dtype == np.uint8, f"morph {words}: {got.dtype}")
    same(got, want.reshape(wide)[middle].astype(float), gaps, nodata, f"morph {words} of\n{image}")


def test_morphology_of_labels():
    image, gaps, nodata = draw_labels()
    if image.size > 150:
        return
    step, outside, margin = draw.choice(("dilate", "erode", "open")), "background", 3 if image.ndim < 3 else 1
    radius = min(draw.uniform(0.5, 3.2), margin - 0.1)
    if step == "erode" and draw.random() < 0.5:
        outside = "set"
    wide, within = balls(image.shape, [1] * image.ndim, radius, margin)
    middle = tuple(slice(margin, margin + n) for n in image.shape)
    labels = np.pad(np.where(gaps, 0, image), margin).ravel()
    known = np.pad(~gaps, margin, constant_values=outside == "background").ravel()
    if step == "dilate":
        flat = np.where(gaps, 0, image).ravel()
        least, index = nearest(square_distances(image.shape, [1] * image.ndim), (flat != 0)[None].repeat(flat.size, 0))
        want = np.where((flat != 0) | (root(least) > radius), flat, flat[index]).reshape(image.shape)
    else:
        want = np.zeros(labels.size, image.dtype)
        for label in np.unique(labels[labels != 0]):
            of_label = (labels == label) & known
            kept = of_label & ~(within & (known & ~of_label)).any(1) if step == "erode" else opened(of_label, known, within)
            want[kept] = label
        want = want.reshape(wide)[middle]
    words = ["--labels", "--op", step, "--radius", radius, "--nodata-value", nodata, "--outside", outside]
    same(result("morph", image, *words), want, gaps, nodata, f"morph {words} of\n{image}")


def test_thickness():
    """The diameter of the largest ball around an element of the shape that reaches no background and covers the element."""
    image, gaps, nodata = draw_image([0, 1, 1, 1])
    spacing = draw_spacing(image.ndim)
    pairs = square_distances(image.shape, spacing)
    site = ((image == 0) & ~gaps).ravel()
    least, _ = nearest(pairs, site[None].repeat(site.size, 0))
    covered = (pairs < least[:, None]) & ~site[:, None]
    want = np.where(covered.any(0), np.where(covered, least[:, None], 0).max(0), 0)
    want = 2 * root(np.where(site, 0, want))
    words = ["--sites", "zero", "--nodata-value", nodata, "--spacing", ",".join(map(str, spacing))]
    same(result("thickness", image, *words), want.reshape(image.shape), gaps, nodata, f"thickness {words} of\n{image}")


def test_as_objects():
    """What the medial axis and edge strengths are beside elements that are ignored: as beside objects that are not told."""
    image, gaps, nodata = draw_image([0, 1, 1], "i2")
    for words in (["skeleton", "--sites", "zero"], ["skeleton", "--sites", "zero", "--dtype", "float32"],
                  ["esf", "--sites", "nonzero", "--rho", 2, "--steps", 5]):
        other = result(words[0], np.where(gaps, words[0] == "skeleton", image).astype(image.dtype), *words[1:])
        same(result(words[0], image, *words[1:], "--nodata-value", nodata), other.astype(float), gaps, nodata, f"{words} of\n{image}")
    done = run("skeleton", "in.npy", "-o", "x.npy", "--dtype", "bool", "--nodata-value", nodata, status=1)
    check("bool has no value for no data, which in.npy has" in done.stderr, done.stderr)


def test_weights():
    image, gaps, nodata = draw_image(list(range(1, 6)), draw.choice(("u2", "i2", "f4")))
    points = draw.randint(1, 3)
    if (~gaps).sum() < points:
        return
    inverted = draw.choice(([], ["--invert"]))
    weights = np.where(gaps, 0, image[~gaps].max() - image if inverted else image)
    if image.dtype.kind == "f" and weights.max():
        weights = np.rint(weights * (65535 / image[~gaps].max()))
    if (weights > 0).sum() < points:
        return
    words = ["--points", points, "--labels", "labels.npy", "--seed", 1]
    want = result("cvt", weights.astype("u4" if image.dtype != np.uint16 else "u2"), *words)
    labels = np.load("labels.npy")
    got = result("cvt", image, *words, *inverted, "--nodata-value", nodata)
    check(np.array_equal(got, want), f"cvt {inverted} of\n{image}: {got}, not {want}")
    same(np.load("labels.npy"), labels, gaps, nodata, f"cvt {inverted}: labels")


def test_comparison():
    """What either file knows nothing of is left out of both, whatever the other says there."""
    a, gaps, nodata = draw_image([0, 1], "u1")
    b = np.random.choice([0, 1, nodata], a.shape).astype("u1")
    left_out = gaps | (b == nodata)
    found = []
    for one, other, words in ((a, b, ["--nodata-value", nodata]), (np.where(left_out, 0, a), np.where(left_out, 0, b), [])):
        np.save("a.npy", one)
        np.save("b.npy", other)
        told = json.loads(run("compare", "a.npy", "b.npy", "--json", "--quiet", *words).stdout)
        found.append({key: told[key] for key in ("symmetric", "forward", "backward", "surface_dice", "elements", "common", "dice", "jaccard")})
    check(found[0] == found[1], f"compare: {found[0]}\n{found[1]} of\n{a}\n{b}")
    check(found[0]["elements"] == [int(((m != 0) & ~left_out).sum()) for m in (a, b)], f"compare: {found[0]['elements']}")


def test_passes():
    """Passes by shards give the map of edt, to the bit; what the first one ignores the last one leaves out."""
    image, gaps, nodata = draw_image([0, 1])
    if image.ndim < 2:
        return
    if draw.random() < 0.2:
        image[image == 0] = 1  # without a site, unless what has no data is one
    axes, fill = "zyx"[-image.ndim:], draw.choice(([], ["--fill", "123"]))
    words = ["--nodata-value", nodata, "--nodata", draw.choice(("ignore", "ignore", "site", "object")), "--sites", "zero"]
    alone = draw.random() < 0.3 and image.ndim == 3  # the first pass gives the result where slices are apart
    if alone:
        words += ["--axes", "y,x"]
    want, last = result("edt", image, *words, *fill, "--index", "index.npy"), pathlib.Path("pass-1.npy" if alone else "pass-2.npy")
    for stale in pathlib.Path().glob("pass-*"):
        (shutil.rmtree if stale.is_dir() else os.remove)(stale)
    shards = draw.randint(1, 3)
    for shard in range(1, shards + 1):
        told = run("pass", "in.npy", "-o", "pass-1.npy", "--index", "pass-i1.npy", *words, *(fill if alone else []), "--axis", ",".join(axes[1:]),
                   "--shard", f"{shard}/{shards}").stderr
    for shard in range(1, shards + 1) if not alone else ():
        told = run("pass", "pass-1.npy", "-o", "pass-2.npy", "--index", "pass-i2.npy", "--axis", axes[0], "--shard", f"{shard}/{shards}", *fill).stderr
    check(last.exists() and np.array_equal(np.load(last), want, equal_nan=True), f"pass {words} {fill} of\n{image}")
    check(np.array_equal(np.load("pass-i1.npy" if alone else "pass-i2.npy"), np.load("index.npy")), f"pass {words}: sites of\n{image}")
    far = result("edt", image, *words, "--fill", "inf")
    most = max(far[np.isfinite(far)], default=None)
    check(f"max {most:g}," in told if most is not None else "no distance at all" in told, f"pass {words}: {told}, not max {most}")
    if not alone:
        done = run("pass", "in.npy", "-o", "pass-3.npy", *words, "--fill", 9, "--axis", ",".join(axes[1:]), "--shard", "1/1", status=1)
        check("--fill: belongs to the last pass" in done.stderr, done.stderr)


def test_that_types_hold():
    """The lowest double, which GDAL's rasters have for no data, is no float32: infinity says it there, and the file does."""
    np.save("in.npy", np.array([[0, 1, -1.7976931348623157e308, 1]]))
    told = json.loads(run("edt", "in.npy", "-o", "out.tif", "--nodata-value", "-1.7976931348623157e308", "--json", "--quiet", "--sites", 0).stdout)
    check(told["fill"] is None, f"the lowest double: fill {told['fill']}")
    run("edt", "in.npy", "-o", "out.npy", "--nodata-value", "-1.7976931348623157e308", "--sites", 0)
    check(np.array_equal(np.load("out.npy"), [[0, 1, np.inf, 3]]), f"the lowest double: {np.load('out.npy')}")
    np.save("in.npy", np.array([[0, 3], [3, 3]], "u1"))
    run("edt", "in.npy", "-o", "in.tif", "--sites", 0, "--dtype", "float32", "--quiet")
    done = run("pass", "in.tif", "-o", "no.npy", "--nodata-value", 1, "--sites", 0, "--axis", "x", "--shard", "1/1", status=1)
    check("which pass cannot ignore in a tiff file (distmap edt can): use --nodata site or object" in done.stderr, done.stderr)
    np.save("in.npy", np.array([0, 3, 3], "u1"))
    done = run("edt", "in.npy", "-o", "out.npy", "--labels", "--nodata-value", 0, "--nodata", "object", status=1)
    check("but 0 is the background of labels" in done.stderr, done.stderr)
    done = run("morph", "in.npy", "-o", "out.npy", "--op", "open", "--radius", 1, "--fill", 9, status=1)
    check("--fill: no element of in.npy is ignored" in done.stderr, done.stderr)


tests = [test_masks, test_signed, test_labels, test_voronoi, test_morphology, test_morphology_of_labels, test_thickness, test_as_objects,
         test_weights, test_comparison, test_passes]
for test in tests:
    for _ in range(24 if test in (test_labels, test_passes) else 8):
        test()
test_that_types_hold()
print(f"{checks} checks, {failures} failures")
sys.exit(failures > 0)
