"""ROS maps as map_saver and people write them: PyYAML and Pillow, and the place of a cell by ROS's own rule.

Random maps: sizes, resolutions, origins with yaw, modes, thresholds; YAML of three styles, pictures in PGM and PNG."""
# needs: numpy, PIL, yaml
import json
import math
import os

import numpy as np
import yaml
from PIL import Image

from oracle import check, command, convert, rng, run


def place(about, rows, i, j):
    """Of the centre of a cell: ROS counts rows from below, and turns about the lower left corner."""
    x0, y0, yaw = about["origin"]
    u, v = (j + 0.5) * about["resolution"], (rows - 1 - i + 0.5) * about["resolution"]
    return x0 + math.cos(yaw) * u - math.sin(yaw) * v, y0 + math.sin(yaw) * u + math.cos(yaw) * v


for i in range(40):
    rows, columns = (int(v) for v in rng.integers(1, 30, 2))
    cells = rng.choice(np.array([0, 205, 254], np.uint8), (rows, columns))
    picture = f"cells {i}{rng.choice(['.pgm', '.png'])}"
    Image.fromarray(cells).save(picture)
    about = {"image": picture if rng.random() < 0.7 else os.path.abspath(picture), "resolution": round(float(rng.uniform(0.01, 2)), 3),
             "origin": [round(float(v), 4) for v in rng.uniform(-50, 50, 2)] + [float(rng.choice([0.0, rng.uniform(-3, 3)]))],
             "negate": int(rng.integers(0, 2)), "occupied_thresh": round(float(rng.uniform(0.3, 1)), 2), "free_thresh": 0.25}
    if rng.random() < 0.5:
        about["mode"] = str(rng.choice(["trinary", "scale", "raw"]))
    source, result = f"map{i}.yaml", f"out{i}.yaml"
    text = yaml.safe_dump(about, default_flow_style=rng.choice([None, False]), sort_keys=bool(rng.random() < 0.5))
    open(source, "w").write("# a map\n\n" + text)
    told = json.loads(run(command, "info", source, "--json"))["image"]
    check([axis["pitch"] for axis in told["axes"]] == [about["resolution"]] * 2 and told["axes"][0]["unit"] == "m", f"{source}: {told}")
    matrix, origin = np.array(told["world"]["matrix"]), np.array(told["world"]["origin"])
    at = rng.integers(0, [rows, columns])
    check(np.allclose(origin + matrix @ at, place(about, rows, *at), rtol=0, atol=1e-9), f"{source}: {told['world']} at {at}")
    run(convert, source, f"map{i}.npy")
    check(np.array_equal(np.load(f"map{i}.npy"), cells), f"{source}: cells")
    run(convert, source, result)
    after = yaml.safe_load(open(result))
    check(after.pop("image") == f"out{i}.pgm" and np.array_equal(np.array(Image.open(f"out{i}.pgm")), cells), f"{result}: cells")
    want = {"mode": "trinary", **about}
    del want["image"]
    check(after == want, f"{result}: {after}, not {want}")
    if not (cells == 0).any():
        continue
    run(command, "edt", source, "-o", "d.npy", "--sites", "0", "--quiet")
    distance, near = np.load("d.npy"), np.argwhere(cells == 0)
    check(math.isclose(distance[tuple(at)], np.sqrt(((near - at) ** 2).sum(1).min()) * about["resolution"], rel_tol=1e-6), f"{source}: distance")
    check("it holds uint8" in run(command, "edt", source, "-o", "d.yaml", "--quiet", "--sites", "0", status=1), "a map of float32")
    check(not os.path.exists("d.yaml") and not os.path.exists("d.pgm"), "files are left")

# A picture that is there is not taken for a new map's.
Image.fromarray(np.zeros((3, 3), np.uint8)).save("room.pgm")
check("room.pgm, which exists already" in run(convert, "map0.yaml", "room.yaml", status=1), "room.pgm is overwritten")
print("40 maps went through")
