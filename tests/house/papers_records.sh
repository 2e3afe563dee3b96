#!/bin/bash
# tests/house/papers_records.sh PYTHON PROJECT
# The papers' records say where they come from: a commit of the history without changes, a date, a check of every cell and how often it
# was run.
set -euo pipefail
check='
import json, pathlib, re, subprocess, sys
project = pathlib.Path(sys.argv[1])
git = lambda *words: subprocess.run(["git", "-C", project, *words], capture_output=True, text=True)
whole = git("rev-parse", "--is-shallow-repository").stdout.strip() == "false"
bad = []
for path in sorted((project / "bench/results").glob("*.json")):
    record = json.loads(path.read_text())
    if "suite" not in record:
        continue
    commit = record.get("commit") or ""
    if not re.fullmatch("[0-9a-f]{7,40}", commit):
        bad.append(f"{path.name}: its commit is {commit or chr(34) * 2}")
    elif whole and git("merge-base", "--is-ancestor", commit, "HEAD").returncode:
        bad.append(f"{path.name}: its commit {commit} is not in the history")
    if not re.fullmatch("20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z", record.get("date", "")):
        bad.append(f"{path.name}: it has no date")
    for cell in record["cells"]:
        name, state = "{table}, {column}, {row}".format(**cell), cell["state"]
        if cell["state"] not in ("timed", "skipped", "unsupported"):
            bad.append(f"{path.name}: {name} is {state}")
        elif cell["state"] == "timed" and not (cell["checked_against"] and cell["runs"] and "warmed_up" in cell):
            bad.append(f"{path.name}: {name} was not checked, or does not say how often it was run")
        elif cell["state"] != "timed" and not cell["reason"]:
            bad.append(f"{path.name}: {name} was not timed and does not say why")
print("\n".join(bad))
sys.exit(bool(bad))
'
"$1" -B -c "$check" "$2"

# It finds what it is for.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/bench/results"
cell='{"table": "T", "row": "r", "column": "c", "state": "timed", "runs": 3, "warmed_up": true, "checked_against": null}'
echo '{"suite": "s", "commit": "1234567-dirty", "date": "2026-01-01T00:00:00Z", "cells": ['"$cell"']}' >"$folder/bench/results/a-s.json"
found=$("$1" -B -c "$check" "$folder") && { echo "papers_records: a bad record passes"; exit 1; }
[[ $found == *"1234567-dirty"* && $found == *"T, c, r was not checked"* ]] || { echo "papers_records: it found: $found"; exit 1; }
