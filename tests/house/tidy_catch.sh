#!/bin/bash
# tests/house/tidy_catch.sh TIDY
# Plants each kind of offence in a small tree and expects tools/tidy to name it; the tree without it passes, and so does a known one.
set -euo pipefail
tidy=$1
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root"/{include,src/core,tools,tests/io,docs}
clean() {
    printf '/* The public header. */\n/* Doubles. */\nDISTMAP_API int distmap_twice(int x);\n' >"$root/include/distmap.h"
    printf '/* Inside. */\nint dm_used(int x);\n' >"$root/src/core/inside.h"
    printf '#include "inside.h"\nint dm_used(int x) { return x; }\nint distmap_twice(int x) { return dm_used(x) + x; }\n' >"$root/src/core/twice.c"
    printf 'add_library(distmap core/twice.c)\n' >"$root/src/CMakeLists.txt"
    printf '/* A test. */\n#include <distmap.h>\nint main(void) { return distmap_twice(0); }\n' >"$root/tests/io/test_twice.c"
    printf 'foreach(name twice)\n' >"$root/tests/io/CMakeLists.txt"
    printf 'Distances are doubled.\nWhat for?\n' >"$root/docs/page.md"
}
failed=0
clean
"$tidy" "$root" || { echo "a clean tree is refused"; exit 1; }

# expect RULE FILE TEXT [WORDS]: with that text at the end of that file, tidy fails and names rule and file.
expect() {
    printf "$3" >>"$root/$2"
    if output=$("$tidy" "$root"); then
        echo "not caught: $1 in $2"
        failed=1
    elif [[ $output != *"$1: $2"*"${4-}"* ]]; then
        echo "caught, but not named: $1 in $2: $output"
        failed=1
    fi
    "$tidy" --write "$root"
    "$tidy" "$root" >/dev/null || { echo "known, and yet refused: $1 in $2"; failed=1; }
    rm "$root/tools/tidy_known.txt"
    find "$root" -type f -delete
    clean
}
expect long src/core/twice.c "/* $(printf '%0140d' 0) */\n" '146 columns'
expect sentence docs/page.md 'Of all maps this is one.\n'
expect sentence src/core/twice.c '/* It doubles. What is doubled comes back. */\n'
expect sentence tools/call.py '# Of no use.\n'
expect header src/core/bare.h 'int dm_used(int x);\n' 'no comment at its head'
expect header include/distmap.h '\nDISTMAP_API int distmap_used(int x);\n' 'distmap_used has no comment'
expect file src/core/inner.h '/* Inner. */\n' 'not included anywhere'
expect file src/core/lost.c '/* Lost. */\n' 'no build list'
expect file tests/lost.sh '# A test that nobody calls.\n' 'not called anywhere'
expect function src/core/inside.h 'int dm_unused(int x);\n' 'dm_unused() is never called'
six='int a = 100;\nint b = 200;\nint c = 300;\nint d = 400;\nint e = 500;\nint f = 600;\n'
printf "$six" >>"$root/src/core/twice.c"
expect copy tests/io/test_twice.c "$six" 'src/core/twice.c:4'
exit $failed
