#!/bin/bash
# tools/check_consumer.sh BUILD_DIR
# Installs a build into a temporary prefix, moves it, and builds and runs a small program against it: by pkg-config, shared
# and static, and by find_package(distmap) with and without its components io and mpi, the latter where it was built.
set -euo pipefail
build=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/prefix" # nothing in it may remember where it was installed
prefix=$work/prefix
libdir=$(dirname "$(dirname "$(find "$prefix" -name distmap.pc)")")

cat >"$work/core.c" <<'C'
#include <distmap.h>
#include <stdio.h>
int main(void) {
    const uint8_t mask[5] = {0, 1, 1, 1, 1};
    float distance[5] = {0};
    const distmap_status status = distmap_edt(mask, 1, (const int64_t[]){5}, distance);
    if (status != DISTMAP_OK)
        fprintf(stderr, "%s\n", distmap_error_text());
    return status != DISTMAP_OK || distance[4] != 4;
}
C
cat >"$work/io.c" <<'C'
#include <distmap/io.h>
int main(void) {
    distmap_reader *reader = NULL;
    return distmap_format_get(0) == NULL || distmap_reader_open("no such file", &reader) == DISTMAP_OK;
}
C
cat >"$work/mpi.c" <<'C'
#include <distmap/mpi.h>
int main(void) {
    int64_t first, count;
    return distmap_mpi_slab(10, 3, 2, &first, &count) != DISTMAP_OK || first != 7 || count != 3;
}
C
export PKG_CONFIG_PATH=$libdir/pkgconfig
run() { LD_LIBRARY_PATH=$libdir "$@" || { echo "consumer: $* failed"; exit 1; }; }
flags() { pkg-config --cflags --libs "$@"; }

cc -Wall -Werror "$work/core.c" $(flags distmap) -o "$work/core_shared" && run "$work/core_shared"
cc -Wall -Werror "$work/io.c" $(flags distmap_io) -o "$work/io_shared" && run "$work/io_shared"
components=()
[[ ! -e $libdir/pkgconfig/distmap_mpi.pc ]] || components=(mpi)
for name in "${components[@]}"; do
    cc -Wall -Werror "$work/$name.c" $(flags "distmap_$name") -o "$work/${name}_shared" && run "$work/${name}_shared"
done
private=$(sed -n 's/^Libs.private: //p' "$libdir/pkgconfig/distmap.pc")
archives=(-Wl,-Bstatic -ldistmap -Wl,-Bdynamic)
cc -Wall -Werror "$work/core.c" $(pkg-config --cflags --libs-only-L distmap) "${archives[@]}" $private \
    -o "$work/core_static" && "$work/core_static"

cat >"$work/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(consumer C)
if(WITH)
  find_package(distmap 0.2 REQUIRED COMPONENTS ${WITH})
  foreach(kind ${WITH} ${WITH}_static)
    add_executable(${kind} ${WITH}.c)
    target_link_libraries(${kind} PRIVATE distmap::${kind})
  endforeach()
else()
  find_package(distmap 0.2 REQUIRED)
  foreach(kind distmap distmap_static)
    add_executable(${kind} core.c)
    target_link_libraries(${kind} PRIVATE distmap::${kind})
  endforeach()
endif()
CMAKE
for component in "" io "${components[@]}"; do
    cmake -S "$work" -B "$work/cmake$component" -DCMAKE_PREFIX_PATH="$prefix" -DWITH=$component >/dev/null
    cmake --build "$work/cmake$component" >/dev/null
    for program in "$work/cmake$component/${component:-distmap}"{,_static}; do
        run "$program"
    done
done

"$prefix/bin/distmap" --version >/dev/null || { echo "consumer: the installed command does not start"; exit 1; }
for file in share/man/man1/distmap.1 share/bash-completion/completions/distmap include/distmap.h include/distmap/io.h; do
    [[ -s $prefix/$file ]] || { echo "consumer: $file was not installed"; exit 1; }
done
echo "consumer: pkg-config and CMake packages serve shared and static users"
