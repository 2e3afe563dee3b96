#!/bin/bash
# Installs the Debian packages that are missing for the named groups (default: build). Does nothing, and needs no rights,
# when all are there. Groups: build, test, ci, fuzz, bench, coverage.
set -euo pipefail

declare -A group=(
    [build]="gcc libc6-dev make cmake ninja-build pkg-config libpng-dev libtiff-dev libjpeg-dev zlib1g-dev libxxhash-dev libnifti2-dev
             libhdf5-dev libblosc-dev libzstd-dev liblz4-dev libbz2-dev libisal-dev libpopt-dev libjson-c-dev"
    [test]="g++ binutils valgrind abigail-tools libcmocka-dev libmpfr-dev python3-numpy python3-scipy python3-pytest python3-hypothesis
            python3-matplotlib python3-pil python3-venv python3-numcodecs python3-dask python3-dev"
    [mpi]="openmpi-bin libopenmpi-dev"
    [ci]="clang"
    [fuzz]="clang libclang-rt-dev"
    [bench]="python3 python3-venv python3-dev"
    [coverage]="gcovr"
)

wanted=()
for name in build "$@"; do
    [[ -n ${group[$name]-} ]] || { echo "setup: no group '$name'; groups are ${!group[*]}" >&2; exit 2; }
    read -r -d '' -a packages <<<"${group[$name]}" || true
    wanted+=("${packages[@]}")
done

if ! command -v dpkg-query >/dev/null; then
    echo "setup: not a Debian system; install by hand what is missing of: ${wanted[*]}" >&2
    exit 0
fi
missing=()
for package in "${wanted[@]}"; do
    status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
    [[ $status == installed ]] || missing+=("$package")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

as_root=()
if [[ $(id -u) != 0 ]]; then
    command -v sudo >/dev/null || { echo "setup: needs root or sudo to install: ${missing[*]}" >&2; exit 1; }
    as_root=(sudo)
fi
echo "setup: installing ${missing[*]}" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Acquire::Retries=3)
if ! { "${apt[@]}" update && "${apt[@]}" install --no-install-recommends "${missing[@]}"; } </dev/null >"$log" 2>&1; then
    tail -n 30 "$log" >&2
    echo "setup: apt-get could not install ${missing[*]}" >&2
    exit 1
fi
