"""Precomputed volumes beside tensorstore: its volumes are read to the last element and place, and it reads those that are written.

Random volumes: data types, sizes, chunks, offsets, resolutions, channels; chunks packed by gzip, as cloud-volume does, and missing ones."""
# needs: numpy, tensorstore
import gzip
import json
import pathlib

import numpy as np
import tensorstore as ts

from oracle import check, command, convert, rng, run


def open_volume(path, **more):
    return ts.open({"driver": "neuroglancer_precomputed", "kvstore": {"driver": "file", "path": path}}, **more).result()


def draw(path, small=False):
    """`small`: so many chunks that the folder is listed."""
    channels = int(rng.choice([1, 1, 2, 3]))
    size = [17, 16, 17] if small else [int(v) for v in rng.integers(1, 40, 3)]
    dtype = str(rng.choice(["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "float32"]))
    kind = "segmentation" if dtype in ("uint8", "uint16", "uint32", "uint64") and channels == 1 and rng.random() < 0.5 else "image"
    scale = {"size": size, "encoding": "raw", "chunk_size": [1, 1, 1] if small else [int(v) for v in rng.integers(1, 20, 3)],
             "resolution": [float(v) for v in np.round(rng.uniform(1, 40, 3), int(rng.integers(0, 3)))],
             "voxel_offset": [int(v) for v in rng.integers(-50, 50, 3)]}
    volume = ts.open({"driver": "neuroglancer_precomputed", "kvstore": {"driver": "file", "path": path}, "create": True,
                      "multiscale_metadata": {"type": kind, "data_type": dtype, "num_channels": channels},
                      "scale_metadata": scale}).result()
    elements = rng.integers(0, 100, (*size, channels)).astype(dtype)
    if small:
        elements[rng.random(size) < 0.985] = 0
        for at in np.argwhere(elements.any(3)):
            volume[tuple(at + scale["voxel_offset"])] = elements[tuple(at)]
    else:
        volume[...] = elements
    return elements, scale, kind


for i in range(60):
    source, result = f"in{i}", f"out{i}.precomputed"
    elements, scale, kind = draw(source, small=i == 0)
    key = json.loads(pathlib.Path(source, "info").read_text())["scales"][0]["key"]
    for chunk in sorted(pathlib.Path(source, key).iterdir()):
        if rng.random() < 0.05:
            chunk.unlink()
        elif rng.random() < 0.2:
            pathlib.Path(f"{chunk}.gz").write_bytes(gzip.compress(chunk.read_bytes()))
            chunk.unlink()
    run(convert, source, f"{source}.npy")
    got = np.load(f"{source}.npy")
    got = got if got.ndim == 4 else got[None]
    for path in pathlib.Path(source, key).glob("*.gz"):
        path.with_suffix("").write_bytes(gzip.decompress(path.read_bytes()))
    want = open_volume(source).read().result()
    check(got.dtype == want.dtype and np.array_equal(got.transpose(3, 2, 1, 0), want), f"{source}: elements")
    told = json.loads(run(command, "info", str(rng.choice([source, f"{source}/{key}"])), "--json"))["image"]
    pitches = [axis["pitch"] for axis in told["axes"]][::-1][:3]
    check(pitches == scale["resolution"] and told["axes"][-1]["unit"] == "nm", f"{source}: {told['axes']}")
    check(np.allclose(told["world"]["origin"], (np.array(scale["voxel_offset"]) + 0.5) * scale["resolution"], rtol=1e-12),
          f"{source}: {told['world']}")
    chunks = ",".join(str(int(v)) for v in rng.integers(1, 30, got.ndim - (elements.shape[3] == 1)))
    run(convert, source, result, *([chunks] if rng.random() < 0.7 else []))
    volume = open_volume(result)
    check(np.array_equal(volume.read().result(), want), f"{result}: elements")
    spec = json.loads(pathlib.Path(result, "info").read_text())
    check(spec["scales"][0]["resolution"] == scale["resolution"] and spec["scales"][0]["voxel_offset"] == scale["voxel_offset"] and
          spec["type"] == kind, f"{result}: {spec}")

# A distance map, in nm, at its input's place; several processes write one volume.
elements, scale, kind = draw("last")
run(command, "edt", "last/" + json.loads(pathlib.Path("last", "info").read_text())["scales"][0]["key"], "-o", "d.precomputed",
    "--sites", "0", "--quiet", *(["--channel", "0"] if elements.shape[3] > 1 else []))
distances = open_volume("d.precomputed").read().result()[..., 0]
zeros = np.argwhere(elements[..., 0] == 0)
at = [int(v) for v in (rng.random(3) * distances.shape)]
if len(zeros):
    want = np.sqrt((((zeros - at) * scale["resolution"]) ** 2).sum(1).min())
    check(np.isclose(distances[tuple(at)], want, rtol=1e-6), f"distance {distances[tuple(at)]}, not {want}")
print("60 volumes of tensorstore's went through")
