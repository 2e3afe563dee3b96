#!/bin/bash
# guest.sh PROJECT_DIR [all]: how the project is configured by others. As a guest (add_subdirectory) it gives its libraries by
# their names, and neither tests nor the command; where no other library is found the configuration ends well, and tells once what is
# left out and which of Debian's packages has it. `all`: this is built too, with no format but NPY.
set -euo pipefail
project=$(realpath "$1") work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "guest: $*"; exit 1; }
configure() { cmake "$@" -DDISTMAP_CUDA=OFF >"$work/said" 2>&1 || { cat "$work/said"; fail "cmake $* fails"; }; }

cat >"$work/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.25)
project(guest C)
include(FetchContent)
FetchContent_Declare(distmap SOURCE_DIR "$project")
FetchContent_MakeAvailable(distmap)
foreach(library distmap distmap_static io io_static)
  if(NOT TARGET distmap::\${library})
    message(FATAL_ERROR "there is no distmap::\${library}")
  endif()
endforeach()
foreach(target distmap_command distmap_mpi example_edt api_errors race)
  if(TARGET \${target})
    message(FATAL_ERROR "a guest builds \${target}")
  endif()
endforeach()
file(WRITE "$work/main.c" "#include <distmap/io.h>\nint main(void) { return !distmap_format_get(0) || distmap_format_get(1); }\n")
add_executable(main main.c)
target_link_libraries(main PRIVATE distmap::io)
CMAKE
formats=(PNG TIFF JPEG PNM NIFTI METAIMAGE NRRD ROS_MAP HDF5 ZARR PRECOMPUTED ISAL)
off=("${formats[@]/#/-DDISTMAP_}")
configure -S "$work" -B "$work/guest" "${off[@]/%/=OFF}"
! grep -q 'distmap: left out' "$work/said" || fail "what was switched off is told as missing"

# pkg-config and CMake find nothing here.
packages=(PNG TIFF JPEG ZLIB HDF5 BZip2 PkgConfig MPI)
none=("${packages[@]/#/-DCMAKE_DISABLE_FIND_PACKAGE_}")
configure -S "$project" -B "$work/bare" "${none[@]/%/=ON}" -DDISTMAP_TESTS=OFF
for line in 'PNG, and previews: libpng-dev' 'TIFF, GeoTIFF, OME-TIFF: libtiff-dev' 'JPEG: libjpeg-dev' 'NRRD: zlib1g-dev' \
    'HDF5: libhdf5-dev' 'Zarr, and precomputed volumes: pkg-config libblosc-dev' 'the command: pkg-config libpopt-dev libjson-c-dev'; do
    grep -q "^  $line" "$work/said" || { cat "$work/said"; fail "the configuration does not tell '$line'"; }
done
! cmake -S "$project" -B "$work/bare" -DDISTMAP_PNG=ON >"$work/said" 2>&1 || fail "DISTMAP_PNG=ON without libpng goes through"
grep -q 'DISTMAP_PNG is ON, but something that it needs is missing' "$work/said" || fail "it does not say why"

if [[ ${2-} == all ]]; then
    cmake --build "$work/guest" --target main --parallel 2 >"$work/said" 2>&1 || { cat "$work/said"; fail "it does not build"; }
    "$work/guest/main" || fail "there are other formats than NPY"
    configure -S "$project" -B "$work/bare" -DDISTMAP_PNG=AUTO
    cmake --build "$work/bare" --target distmap_io --parallel 2 >"$work/said" 2>&1 || { cat "$work/said"; fail "it does not build without libraries"; }
fi
echo "guest: libraries by their names, and what is missing is told"
