"""Results of record: the JSON files that bench/peers.py and bench/gpu.py write, brought to one form."""

import json
import math
from dataclasses import dataclass
from pathlib import Path

FLOOR = "floor"
NAMES = {"distmap": "distmap", "opencv": "OpenCV", "edt": "edt", "edt-labels": "edt, labels", "diplib": "DIPlib",
         "itk": "SimpleITK", "simpleitk": "SimpleITK", "scipy": "SciPy", "porespy": "PoreSpy", "cupy": "CuPy",
         "pba_plus": "PBA+", FLOOR: "floor"}


@dataclass
class Row:
    """One image of a file. `ns` is by contestant, in nanoseconds per element; `right` tells who is exact."""
    place: str  # "nvidia-h200.json, row 17"
    group: str
    name: str
    shape: tuple
    pattern: str
    threads: int
    ns: dict
    ratio: dict
    right: dict
    raw: dict

    @property
    def elements(self):
        return math.prod(self.shape)


@dataclass
class Record:
    name: str
    data: dict
    rows: list

    @property
    def gpu(self):
        return self.data.get("gpu")

    @property
    def machine(self):
        return self.gpu["name"] if self.gpu else f"{self.data['cpu']}, {self.data['cores']} cores, {self.data['isa']}"

    @property
    def run(self):
        """What a reader needs to find the run."""
        versions = ", ".join(f"{name} {version}" for name, version in self.data["versions"].items())
        driver = f"driver {self.gpu.get('driver', 'unknown')}, " if self.gpu else ""
        date, commit, seed = self.data["date"][:10], self.data["commit"], self.data["seed"]
        return f"{self.name}: {date}, commit {commit}, seed {seed}, {driver}{versions}"


def find(places):
    """The files, and those in the folders, in order."""
    found = []
    for place in map(Path, places):
        if place.is_dir():
            found += sorted(place.glob("*.json"))
        elif place.exists():
            found.append(place)
        else:
            raise FileNotFoundError(f"{place}: there is no such file or folder")
    return found


def load(paths):
    """Those of the files that are results of the race or of the GPU's bench; others, of the papers' suites, are passed
    over."""
    records = []
    for path in paths:
        try:
            data = json.loads(path.read_text())
        except ValueError as error:
            raise ValueError(f"{path}: is no JSON: {error}") from None
        rows = data.get("rows") if isinstance(data, dict) else None
        if isinstance(rows, list) and rows and all("group" in row and "row" in row
                                                   for row in rows) and "commit" in data:
            read = gpu_row if data.get("gpu") else cpu_row
            records.append(Record(path.name, data, [read(row, f"{path.name}, row {at}", data) for at, row in
                                                    enumerate(rows)]))
    return records


def pattern_of(row):
    words = row["row"].split()
    return words[1] if len(words) > 1 else ""


def cpu_row(raw, place, data):
    timed = "ns" in raw
    ns, ratio, right = {"distmap": raw["ns"]} if timed else {}, {}, {}
    for name, peer in raw.get("peers", {}).items() if timed else ():
        ns[name], ratio[name], right[name] = peer["ns"], peer["ratio"], peer["equal"]
    if timed:
        ns[FLOOR] = 5 / data["copy_gb_s"]  # a byte is read and a float is written
    return Row(place, raw["group"], raw["row"], tuple(raw.get("shape", ())), pattern_of(raw), raw.get("threads", 1),
               ns, ratio, right, raw)


def gpu_row(raw, place, data):
    elements, ns, ratio, right = math.prod(raw["shape"]), {}, {}, {}
    if "ms" in raw:
        ns["distmap"] = raw["ms"] * 1e6 / elements
        right["distmap"] = raw.get("check", {}).get("equal")
    if "floor_ms" in raw:
        ns[FLOOR] = raw["floor_ms"] * 1e6 / elements
    for name in ("cupy", "pba_plus"):
        peer = raw.get(name, {})
        if "ms" in peer:
            ns[name], ratio[name] = peer["ms"] * 1e6 / elements, peer["ratio"]
            right[name] = peer.get("equal", True)
    return Row(place, raw["group"], raw["row"], tuple(raw["shape"]), pattern_of(raw), 1, ns, ratio, right, raw)
