#!/usr/bin/env python3
"""The papers' figures beside today's, as docs/papers.md.

    python3 bench/papers.py [--results DIR] [--output FILE]

Reads what the papers printed (bench/papers/NAME.json) and what `distmap bench --suite NAME` measured on a GPU and on a CPU:
bench/results/MACHINE-NAME.json, or MACHINE-NAME-1.json and so on where several runs had some of the cells each. Every number in the
page is taken from there. The sections' text is in papers_sections.py, papers_esf.py.
"""
import argparse
import json
import pathlib
import sys

from papers_figures import HERE, Paper, Results
from papers_sections import SECTIONS, introduction, on_cluster


def find_results(folder, suite, gpu):
    """Nothing where there are none."""
    paths = sorted([*folder.glob(f"*-{suite}.json"), *folder.glob(f"*-{suite}-[0-9].json")])
    found = [p for p in paths if (json.loads(p.read_text())["gpu"] is not None) == gpu]
    if len({p.name.split(f"-{suite}")[0] for p in found}) > 1:
        sys.exit(f"{folder}: results of {suite} are from several machines {'with' if gpu else 'without'} a GPU")
    return Results(found)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--results", type=pathlib.Path, default=HERE / "results")
    options.add_argument("--output", type=pathlib.Path, default=HERE.parent / "docs" / "papers.md")
    given = options.parse_args()
    results = {s: (find_results(given.results, s, True), find_results(given.results, s, False)) for s in SECTIONS}
    cluster = find_results(given.results, "cluster", False)
    parts = [introduction(results, cluster)] + [SECTIONS[s](Paper(s), *results[s]) for s in SECTIONS]
    parts.append(on_cluster(cluster))
    given.output.write_text("\n".join(parts))


if __name__ == "__main__":
    main()
