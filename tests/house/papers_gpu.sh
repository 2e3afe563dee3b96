#!/bin/bash
# tests/house/papers_gpu.sh PYTHON PROJECT COMMAND
# The page about the papers' methods can be made with a GPU's results of edge strengths and without; COMMAND has an emulated
# GPU, whose figures mean nothing.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$2"/bench/results/*-{man-edm,pba,psds,erosion,esf}.json "$folder"
find "$folder" -name 'nvidia-*-esf.json' -delete

page() { "$1" -B "$2/bench/papers.py" --results "$folder" --output "$folder/page.md"; }
fail() { echo "papers_gpu: $1"; exit 1; }
says() { grep -q "$1" "$folder/page.md"; }

page "$1" "$2"
says "No run on a GPU is on record yet" || fail "without a GPU's results the page does not say so"
! says "Figure 7: GPU" || fail "without a GPU's results there are tables of them"

"$3" bench --suite esf --quick --device cuda --quiet -o "$folder/emulated-esf.json"
page "$1" "$2"
! says "No run on a GPU is on record yet" || fail "with a GPU's results the page says that there are none"
says "Figure 7: GPU" || fail "with a GPU's results there are no tables of them"
! sed -n '/^## Edge strengths/,$p' "$folder/page.md" | grep -nE "None|nan|\binf\b" || fail "holes in sentences"
