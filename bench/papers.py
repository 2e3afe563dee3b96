#!/usr/bin/env python3
"""The papers' figures beside today's, as docs/papers.md.

    python3 bench/papers.py [--results DIR] [--output FILE]

Reads what the papers printed (bench/papers/NAME.json) and what `distmap bench --suite NAME` measured, on a GPU
(bench/results/nvidia-*-NAME.json) and on a CPU (bench/results/amd-*-NAME.json or another of no GPU). Every number in the page
is taken from there, those in sentences too. The sections' text is in papers_sections.py, papers_esf.py.
"""
import argparse
import json
import pathlib
import sys

from papers_figures import HERE, Paper, Results
from papers_sections import SECTIONS, WITHOUT_GPU, introduction


def find_results(folder, suite, gpu):
    """None: there are none, and none are needed."""
    found = [p for p in sorted(folder.glob(f"*-{suite}.json")) if (json.loads(p.read_text())["gpu"] is not None) == gpu]
    if not found and gpu and suite in WITHOUT_GPU:
        return None
    if len(found) != 1:
        sys.exit(f"{folder}: {len(found)} results of {suite} {'on a GPU' if gpu else 'without a GPU'}, must be one")
    return Results(found[0])


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--results", type=pathlib.Path, default=HERE / "results")
    options.add_argument("--output", type=pathlib.Path, default=HERE.parent / "docs" / "papers.md")
    given = options.parse_args()
    results = {s: (find_results(given.results, s, True), find_results(given.results, s, False)) for s in SECTIONS}
    parts = [introduction(results)] + [SECTIONS[s](Paper(s), *results[s]) for s in SECTIONS]
    given.output.write_text("\n".join(parts))


if __name__ == "__main__":
    main()
