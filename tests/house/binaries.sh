#!/bin/bash
# binaries.sh BUILD_DIR SOURCE_DIR [PROTECTION...]: reads every program and shared library of a build, with readelf.
# Each looks for libraries in whole paths alone, or beside itself: the loader takes an empty or relative element for the current
# folder, where anybody may have put one. And each has the protections of cmake/hardening.cmake that are named: those that
# the build's compiler and linker know. What is installed, moreover, does not know where it was built.
set -euo pipefail
build=$(realpath "$1") sources=$(realpath "$2")
shift 2
protections=" $* "
has() { [[ $protections == *" $1 "* ]]; }
failures=0
bad() {
    echo "binaries: ${file#"$build"/}: $*"
    failures=$((failures + 1))
}

count=0
while IFS= read -r -d '' file; do
    [[ $(head -c 4 "$file" | tr -d '\0') == $'\x7fELF' ]] || continue
    count=$((count + 1))
    dynamic=$(readelf -Wd "$file")
    while IFS= read -r list; do
        while IFS= read -r element; do
            [[ $element == /* || $element == '$ORIGIN' || $element == '$ORIGIN/'* ]] ||
                bad "it looks for libraries in '$element', by '$list'"
        done < <(tr ':' '\n' <<<"$list")
    done < <(sed -nE 's/.*\((RUNPATH|RPATH)\).*\[(.*)\]$/\2/p' <<<"$dynamic")
    has linker || continue
    grep -q 'BIND_NOW\|FLAGS_1.*NOW' <<<"$dynamic" || bad "not BIND_NOW"
    segments=$(readelf -Wlh "$file")
    grep -q GNU_RELRO <<<"$segments" || bad "not RELRO"
    grep -q 'Type: *DYN' <<<"$segments" || bad "not position-independent"
    ! grep -q 'GNU_STACK.*E ' <<<"$segments" || bad "its stack can be executed"
done < <(find "$build" -name CMakeFiles -prune -o -type f \( -name '*.so*' -o -perm -u+x \) ! -name '*.o' ! -name '*.sh' -print0)
[[ $count -gt 3 ]] || { echo "binaries: only $count found in $build"; exit 1; }

uses() { # file, pattern of functions that the C library has for it
    file=$build/$1
    grep -qE "UND ($2)@?" <<<"$(readelf -Ws "$file")" || bad "it calls no $2"
}
for name in distmap src/libdistmap.so src/libdistmap_io.so; do
    ! has stack || uses "$name" __stack_chk_fail
    ! has fortify || uses "$name" '__[a-z]+_chk'
    file=$build/$name
    ! grep -qaF "$build" "$file" || bad "it knows the folder it was built in"
done
file=$build/src/libdistmap_io.so # CUDA's compiler writes down where the kernels of the others are
! grep -qaF "$sources" "$file" || bad "it knows the folder of its sources"
if has flow; then
    file=$build/src/io/libdistmap_io.a
    notes=$(readelf -n "$file")
    [[ $(grep -c '^File:' <<<"$notes") == "$(grep -cE 'IBT|BTI' <<<"$notes")" ]] || bad "no protection of jumps"
fi
file=$build/libexec/distmap/distmap-io-helper # is started for a file, so that what it loads takes time for each
[[ ! -e $file ]] || ! readelf -Wd "$file" | grep NEEDED | grep -E 'png|tiff|jpeg|json|blosc' || bad "it needs libraries of other formats"
[[ $failures == 0 ]] || exit 1
echo "binaries: $count programs and libraries are clean"
