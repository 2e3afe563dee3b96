#!/usr/bin/env python3
"""Time against size of the GPU's bench, as docs/gpu_time.svg: distmap, CuPy from the same run, PBA+ as published, and the floor.

Reads bench/results/GPU.json (plot_gpu.py FILE: another). Needs matplotlib.
"""

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.hashsalt": "distmap", "svg.fonttype": "none"})  # the same file from the same figures
import matplotlib.pyplot as plt

ROOT = Path(__file__).resolve().parent.parent
PATTERNS = ("50%", "1%", "circle")  # usual, sparse, the worst of the field


def points(rows, pattern, time):
    """(pixels, ms) of the images with that pattern that have such a time."""
    images = (r for r in rows if r["group"].startswith("2d-") and r["row"].split()[1] == pattern)
    return [(r["shape"][0] * r["shape"][1], ms) for r in images if (ms := time(r)) is not None]


def main():
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "bench/results/nvidia-h200.json"
    record = json.loads(source.read_text())
    lines = {
        "distmap": lambda r: r["ms"],
        "CuPy": lambda r: r.get("cupy", {}).get("ms"),
        "PBA+ (published code, another day)": lambda r: r.get("pba_plus", {}).get("ms"),
        "floor: read the mask, write the map": lambda r: r["floor_ms"],
    }
    figure, panels = plt.subplots(1, len(PATTERNS), figsize=(11, 3.6), sharey=True)
    for panel, pattern in zip(panels, PATTERNS):
        for (name, time), style in zip(lines.items(), ("o-", "s-", "^-", "--")):
            if found := points(record["rows"], pattern, time):
                panel.loglog(*zip(*found), style, label=name, markersize=4)
        panel.set_title(f"{pattern} of the pixels are sites" if "%" in pattern else "sites on a circle", fontsize=10)
        panel.set_xlabel("pixels")
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("ms")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="lower center", ncol=len(lines), fontsize=8, frameon=False)
    figure.suptitle(f"uint8 mask to float32 distances in the memory of one {record['gpu']['name']}", fontsize=11)
    figure.tight_layout(rect=(0, 0.06, 1, 1))
    figure.savefig(ROOT / "docs/gpu_time.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
