#!/bin/bash
# tests/house/papers_gpu.sh PYTHON PROJECT COMMAND
# The page about the papers' methods can be made with a GPU's results and without any; COMMAND has an emulated GPU, whose figures
# mean nothing. Several runs of a suite make one record.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

page() { "$1" -B "$2/bench/papers.py" --results "$folder" --output "$folder/page.md"; }
fail() { echo "papers_gpu: $1"; exit 1; }
says() { grep -q "$1" "$folder/page.md"; }
is_sound() { ! grep -nE "None|\bnan\b|\binf\b" "$folder/page.md" || fail "holes in the page"; }

page "$1" "$2"
says "No run on a GPU is on record" || fail "without results the page does not say so"
is_sound

for suite in esf erosion; do
    "$3" bench --suite $suite --quick --device cuda --quiet -o "$folder/emulated-$suite.json"
done
"$3" bench --suite pba --quick --device cuda --quiet --only "Table 3, 512^2, 50%" -o "$folder/emulated-pba.json"
"$3" bench --suite psds --quick --device cuda --quiet --only "Table 1, 10," -o "$folder/emulated-psds-1.json"
"$3" bench --suite psds --quick --device cuda --quiet --only "Table 2, 900," -o "$folder/emulated-psds-2.json"
page "$1" "$2"
says 'is on record\*\* of `man-edm`: ' || fail "with four suites' results the page does not say which one is missing"
says "^| psds | .* | yes |" || fail "the records are not listed"
[[ $(grep -c "^| psds |" "$folder/page.md") == 2 ]] || fail "two runs of a suite are not two records"
is_sound

sed -i 's/"checked_against": *"[^"]*"/"checked_against":null/' "$folder/emulated-psds-2.json"
! page "$1" "$2" 2>/dev/null || fail "a record with cells that nobody checked was taken"
