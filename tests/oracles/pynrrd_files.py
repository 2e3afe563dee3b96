"""NRRD beside pynrrd: files of every form that it writes come out of the command's library with the same elements and the same meaning.

Random headers: element types, encodings, byte orders, spaces by name, abbreviation or dimension, axes of space and others in any order,
spacings, mins, kinds, labels, units, pairs, elements in a file of their own."""
# needs: nrrd, numpy
import gzip
import json

import nrrd
import numpy as np

from oracle import check, command, convert, rng, run

types = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"]
full = {"RAS": "right-anterior-superior", "LAS": "left-anterior-superior", "LPS": "left-posterior-superior"}


def draw():
    """Elements and a header; and of each axis whether it is of space."""
    other = [str(k) for k in rng.choice(["time", "list", "vector", "RGB-color"], int(rng.integers(0, 3)), replace=False)]
    axes = ["domain"] * int(rng.integers(1, 4)) + other
    axes = [axes[i] for i in rng.permutation(len(axes))]
    shape = [3 if kind == "RGB-color" else int(rng.integers(1, 7)) for kind in axes]
    dtype = np.dtype(str(rng.choice(types))).newbyteorder(str(rng.choice(["<", ">"])))
    elements = rng.integers(0, 100, shape).astype(dtype)
    header = {"encoding": str(rng.choice(["raw", "gzip"])), "kinds": axes, "endian": "big" if dtype.str[0] == ">" else "little"}
    if rng.random() < 0.7:
        space = str(rng.choice(["RAS", "LAS", "LPS", "scanner-xyz", "3D-right-handed", "left-anterior-superior", "2", "3"]))
        n = 2 if space == "2" else 3
        if axes.count("domain") <= n:
            if space.isdigit():
                header["space dimension"] = n
            else:
                header["space"] = space
            vectors = rng.normal(size=(len(axes), n))
            vectors[[kind != "domain" for kind in axes]] = np.nan
            header["space directions"] = vectors
            header["space origin"] = rng.uniform(-100, 100, n)
            if rng.random() < 0.5:
                header["space units"] = [str(rng.choice(["mm", "um"]))] * n
    if "space directions" not in header:
        header["spacings"] = np.where([kind == "domain" for kind in axes], np.round(rng.uniform(0.1, 3, len(axes)), 2), np.nan)
        if rng.random() < 0.5:
            header["axis mins"] = np.where([kind == "domain" for kind in axes], rng.uniform(-10, 10, len(axes)), np.nan)
            header["centerings"] = [str(rng.choice(["cell", "node"])) if kind == "domain" else "???" for kind in axes]
        header["units"] = [str(rng.choice(["mm", "nm"]))] * len(axes)
    if rng.random() < 0.5:
        header["labels"] = [f"{'pqrsv'[i]}{i}" if kind == "domain" else f"the {i}" for i, kind in enumerate(axes)]
    header["a pair"] = "of: things"
    header["content"] = "drawn"
    return elements, header, [kind == "domain" for kind in axes]


def matrix_of(told):
    return np.array(told["world"]["matrix"]), np.array(told["world"]["origin"])


def check_info(name, header, is_space):
    """The library's own words about it."""
    told = json.loads(run(command, "info", name, "--json"))["image"]
    check([axis["type"] == "space" for axis in told["axes"]][::-1] == is_space, f"{name}: axes {told['axes']}")
    vectors = header.get("space directions")
    if vectors is not None:
        matrix, origin = matrix_of(told)
        want = np.array([v for v, space in zip(vectors, is_space) if space])[::-1].T
        at = np.array(header["space origin"])
        if header.get("space") in ("LAS", full["LAS"]):
            want, at = want * [[-1], [1], [1]], at * [-1, 1, 1]
        check(np.array_equal(matrix, want) and np.array_equal(origin, at), f"{name}: info tells {matrix} {origin}, not {want} {at}")
    else:
        pitches = [axis["pitch"] for axis in told["axes"]][::-1]
        check(all(p == s for p, s, space in zip(pitches, header["spacings"], is_space) if space), f"{name}: pitches {pitches}")
        if "axis mins" in header:
            _, origin = matrix_of(told)
            want = [m + (s / 2 if c != "node" else 0) for m, s, c, space in
                    zip(header["axis mins"], header["spacings"], header["centerings"], is_space) if space]
            check(np.array_equal(origin, want), f"{name}: origin {origin}, not {want}")


for i in range(150):
    elements, header, is_space = draw()
    source, result = f"in{i}{rng.choice(['.nrrd', '.nhdr'])}", f"out{i}{rng.choice(['.nrrd', '.nhdr'])}"
    nrrd.write(source, elements, header, index_order="F", compression_level=1)
    was, told = nrrd.read(source)
    check_info(source, header, is_space)
    run(convert, source, result)
    now, after = nrrd.read(result)
    check(was.shape == now.shape and now.dtype == was.dtype.newbyteorder("=") and np.array_equal(was, now), f"{source}: elements")
    for field in ("encoding", "a pair", "content", "kinds", "centerings", "space dimension"):
        if field in told:
            check(after.get(field) == told[field], f"{source}: {field} is {after.get(field)}, not {told[field]}")
    if "space" in told:
        check(after["space"] == full.get(told["space"], told["space"]), f"{source}: space {after['space']}")
    for field in ("space directions", "space origin"):
        if field in told:
            check(np.array_equal(after[field], told[field], equal_nan=True), f"{source}: {field} is {after[field]}, not {told[field]}")
    if "space units" in told:
        check(after["space units"] == told["space units"], f"{source}: space units {after['space units']}")
    if "spacings" in told and "axis mins" not in told: # which becomes directions
        check(np.array_equal(after["spacings"], told["spacings"], equal_nan=True), f"{source}: spacings {after['spacings']}")
    before, later = (json.loads(run(command, "info", name, "--json"))["image"] for name in (source, result))
    check(before["axes"] == later["axes"] and before["world"] == later["world"], f"{source}: info tells {later}, not {before}")
    if "labels" in told:
        check(after["labels"] == told["labels"], f"{source}: labels {after['labels']}")

# gzip in several parts, as cat makes it, and what does not count behind them.
elements = rng.integers(0, 100, 300000).astype(np.uint8)
nrrd.write("parts.nhdr", elements, {"encoding": "gzip"}, detached_header=True)
name = [line for line in open("parts.nhdr") if line.startswith("data file")][0].split(":")[1].strip()
for behind in (b"", b"\0" * 9):
    cuts = [0, *sorted(int(v) for v in rng.integers(0, elements.size, 40)), elements.size]
    open(name, "wb").write(b"".join(gzip.compress(elements[a:b].tobytes()) for a, b in zip(cuts, cuts[1:])) + behind)
    run(convert, "parts.nhdr", "parts.npy")
    check(np.array_equal(np.load("parts.npy"), elements), "parts of gzip's")
print("150 files of pynrrd's went through")
