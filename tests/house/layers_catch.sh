#!/bin/bash
# tests/house/layers_catch.sh CHECK_LAYERS
# Plants each kind of offence in a small tree and expects the layer check to name it, and to accept the tree without it.
set -euo pipefail
check=$1
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root"/{include,src/core,src/cpu,src/io,src/mpi,src/methods/{a,b},cli}
printf '#include <stddef.h>\n' >"$root/include/distmap.h"
printf '#include "distmap.h"\n#include <pthread.h>\n' >"$root/src/core/internal.h"
printf '#include "core/internal.h"\n' >"$root/src/cpu/rows.h"
printf '#include "cpu/rows.h"\n#include "own.h"\n#include <immintrin.h>\n' >"$root/src/methods/a/a_cpu.c"
printf '#include "core/internal.h"\n' >"$root/src/methods/a/own.h"
printf '#include <distmap.h>\n#include <popt.h>\n' >"$root/cli/main.c"
"$check" "$root" >/dev/null || { echo "a clean tree is refused"; exit 1; }

failed=0
# expect FILE INCLUDE WORDS: with that include in that file, the check fails and says WORDS.
expect() {
    printf '#include %s\n' "$2" >"$root/$1"
    if output=$("$check" "$root" 2>&1); then
        echo "not caught: $1 includes $2"
        failed=1
    elif [[ $output != *"$1"*"$3"* ]]; then
        echo "caught, but not named: $1 includes $2: $output"
        failed=1
    fi
    rm "$root/$1"
}
expect include/second.h '<pthread.h>' 'not among the system headers'
expect include/second.h '<mpi.h>' 'not among the system headers'
expect include/second.h '"../src/core/internal.h"' 'public does not include from core'
expect src/core/bad.c '"cpu/rows.h"' 'core does not include from cpu'
expect src/cpu/bad.c '"methods/a/own.h"' 'cpu does not include from methods'
expect src/methods/b/b_cpu.c '"methods/a/own.h"' 'a method does not include another method'
expect src/methods/b/b_cpu.c '"../a/own.h"' 'a method does not include another method'
expect src/methods/b/b_cpu.c '<png.h>' 'not among the system headers'
expect src/io/bad.c '"core/internal.h"' 'io does not include from core'
expect src/mpi/bad.c '"core/internal.h"' 'mpi does not include from core'
expect src/mpi/bad.c '<pthread.h>' 'not among the system headers'
expect cli/bad.c '"../src/core/internal.h"' 'cli does not include from core'
expect cli/bad.c '"nowhere.h"' 'is not in the tree'
expect cli/bad.c '<cuda_runtime.h>' 'CUDA headers'
exit $failed
