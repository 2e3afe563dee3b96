#!/bin/bash
# tools/check_deps.sh LIBRARY
# The core library needs nothing but the C library's own parts, and exports nothing but distmap_ names.
set -euo pipefail
library=$1

needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
[[ -n $needed ]] || { echo "deps: $library names no library at all; is it a shared library?"; exit 1; }
extra=$(grep -vE '^(libc|libm|libpthread)\.so\.[0-9]+$|^ld-linux' <<<"$needed" || true)
[[ -z $extra ]] || { echo "deps: $library also needs" $extra; exit 1; }

names=$(nm -D --defined-only --without-symbol-versions "$library" | awk '$2 != "A" {print $NF}') # "A": the versions themselves
grep -q '^distmap_plan_wait$' <<<"$names" || { echo "deps: $library does not export distmap_plan_wait"; exit 1; }
extra=$(grep -v '^distmap_' <<<"$names" || true)
[[ -z $extra ]] || { echo "deps: $library also exports" $extra; exit 1; }
echo "deps: $(basename "$library") needs" $needed "and exports distmap_ names only"
