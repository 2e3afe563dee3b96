#!/bin/bash
# tests/house/papers.sh PYTHON PROJECT
# The page about the papers' methods is made of the results that lie beside it, and of nothing else.
set -euo pipefail
page=$(mktemp)
trap 'rm -f "$page"' EXIT
"$1" -B "$2/bench/papers.py" --output "$page"
diff "$page" "$2/docs/papers.md" || { echo "papers: docs/papers.md is stale: run python3 bench/papers.py"; exit 1; }
