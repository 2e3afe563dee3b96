#!/bin/bash
# interface.sh check|renew HEADERS RECORD LIBRARY: whether the functions that a library gives out, and the public structs and
# enumerations that they take, are those of the record, which is committed. `renew` writes the record anew, and shows what is
# different.
set -euo pipefail
what=$1 headers=$2 record=$3 library=$4
if ! command -v abidiff >/dev/null; then
    echo "SKIPPED: no abidiff (Debian: abigail-tools)"
    exit 77
fi
now=$(mktemp --suffix=.abi)
trap 'rm -f "$now"' EXIT
abidw --exported-interfaces-only --headers-dir "$headers" --drop-private-types --no-corpus-path --no-comp-dir-path \
    --no-show-locs --type-id-style hash "$library" >"$now"
# Sources are named from where they were compiled, which is another folder in each build: from the source tree on they are the same.
source=${headers%/include}
sed -i "s|path='[^']*/src/|path='src/|" "$now"
! grep -qF -e "$source" -e "../" "$now" || { echo "interface: it knows the folder that it was made in"; exit 1; }
# It must be read at all: without what debuggers are told there would be names alone.
grep -q "data-member" "$now" || { echo "interface: $library says nothing of its structs"; exit 1; }

status=0
[[ ! -e $record ]] || abidiff "$record" "$now" || status=$?
if [[ $what == renew ]]; then
    cp "$now" "$record"
elif [[ $status != 0 ]]; then
    cat <<TEXT
interface: it is not that of the record, see above. Allowed are functions, under a new version in the .map file; members at the ends
of the structs that distmap/sized.h names; and values at the ends of enumerations. All else needs a new distmap_abi (CMakeLists.txt).
docs/compatibility.md says more. Then: make interface
TEXT
    exit 1
fi
