#!/bin/bash
# programs.sh COMPILER HEADERS LIBRARY: one program, compiled with the library's own headers, with those of an older version, whose
# structs end sooner, and with those of a newer one, whose structs go on. All run with the library, and print the same. The newer one
# is refused where it asks for what the library does not know.
set -euo pipefail
compiler=$1 headers=$2 library=$3
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

edit() { # VERSION SED_SCRIPT: headers of that version, each expression of which must change something
    cp -r "$headers" "$work/$1"
    local expression
    for expression in "${@:2}"; do
        cp "$work/$1/distmap.h" "$work/before"
        sed -i -E "$expression" "$work/$1/distmap.h"
        ! cmp -s "$work/before" "$work/$1/distmap.h" || { echo "programs: '$expression' changes nothing"; exit 1; }
    done
}
cp -r "$headers" "$work/same"
edit older '/^    int order\[DISTMAP_MAX_AXES\];/d' '/^    distmap_view energies;/d' '/^typedef struct distmap_plan_options/,/^}/{/^    size_t scratch_bytes;/d}' \
    '/^    int64_t multiples\[DISTMAP_MAX_AXES\];/d' '/^    const int \*ordinals;/,/\*\/$/d' '/^    double seconds;/d'
newer=()
for name in problem arrays plan_options description context_options phase; do
    newer+=("s/^\} distmap_$name;/    double later[3];\n&/")
done
edit newer "${newer[@]}"

run() { # VERSION
    "$work/program_$1" >"$work/told_$1" || { echo "programs: that of $1 headers failed"; exit 1; }
    diff "$work/told_same" "$work/told_$1" || { echo "programs: that of $1 headers printed something else"; exit 1; }
}
folder=$(dirname "$library")
for version in same older newer; do
    flags=(-std=c17 -Wall -Wextra -Werror -I"$work/$version")
    [[ $version != newer ]] || flags+=(-DNEWER)
    "$compiler" "${flags[@]}" "$here/program.c" "$library" -Wl,-rpath,"$folder" -o "$work/program_$version"
    run "$version"
done
grep -q 'distance 5' "$work/told_same" || { echo "programs: no distances"; exit 1; }
