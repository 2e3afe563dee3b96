#!/bin/bash
# options.sh MATRIX STRENGTH SKELETON: the options of the matrix programs choose what runs, and a run of nothing is a failure.
set -euo pipefail
matrix=$1 strength=$2 skeleton=$3
export DISTMAP_TEST_SEED=5
unset DISTMAP_ISA DISTMAP_TEST_SCALE

fails() { # status, words of the error, command...
    local status=$1 words=$2 got=0
    shift 2
    said=$("$@" 2>&1) || got=$?
    [[ $got == "$status" && $said == *"$words"* ]] || { echo "options: $*: status $got, said: $said" >&2; exit 1; }
}

fails 2 '2d has cases 0 to' "$matrix" 2d --case 99999
fails 2 'steps has cases 0 to' "$strength" steps --case 99999
fails 2 'skeleton has cases 0 to' "$skeleton" --case 99999
fails 2 'a case is a number' "$matrix" 2d --case one
fails 2 'no such method' "$matrix" 2d --method minplus
fails 2 'no such parameter' "$matrix" 2d --case 3 --method minplus/cpu --param nothing=1
fails 2 'give --method too' "$matrix" 2d --param near=1
fails 2 'no such group' "$matrix" nowhere
fails 1 'nothing ran' "$matrix" 2d --case 3 --isa z80
fails 1 'nothing ran' "$matrix" 2d --case 3 --method esf/cpu
fails 1 'nothing ran' "$strength" steps --case 3 --isa z80
fails 1 'nothing ran' "$skeleton" --case 3 --method minplus/cpu
fails 1 'nothing ran' env DISTMAP_ISA=z80 "$matrix" 2d --case 3

# A case with one method, instruction set and count of threads is three runs: one for each combination of outputs.
said=$("$matrix" 2d --case 3 --method envelope/cpu --isa plain --threads 1)
grep -Eq '^ +envelope/cpu +ran 3,' <<<"$said"
[[ $(grep -Ec ' ran [1-9]' <<<"$said") == 1 ]]
