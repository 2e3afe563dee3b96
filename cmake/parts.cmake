# The optional parts of a build, beside the core library, which needs a C compiler only. A part is an option DISTMAP_<NAME>: AUTO builds it
# if everything that it needs is found, ON makes it an error if something is missing, OFF leaves it out. DISTMAP_HAVE_<NAME> is the result,
# and the configuration lists once what is missing.
#
#   distmap_part(NAME WHAT text FIND code FOUND variable... DEBIAN package... [ALONE])
#
# ALONE: off by default in a project that includes this one (add_subdirectory, FetchContent).
set(DISTMAP_MISSING "")
macro(distmap_part name)
  cmake_parse_arguments(part "ALONE" "WHAT;FIND" "FOUND;DEBIAN" ${ARGN})
  set(part_default AUTO)
  if(part_ALONE AND NOT PROJECT_IS_TOP_LEVEL)
    set(part_default OFF)
  endif()
  set(DISTMAP_${name} ${part_default} CACHE STRING "${part_WHAT}: AUTO, ON or OFF")
  set_property(CACHE DISTMAP_${name} PROPERTY STRINGS AUTO ON OFF)
  set(DISTMAP_HAVE_${name} OFF)
  if(DISTMAP_${name} STREQUAL "AUTO" OR DISTMAP_${name})
    cmake_language(EVAL CODE "${part_FIND}")
    set(DISTMAP_HAVE_${name} ON)
    foreach(part_variable ${part_FOUND})
      if(NOT ${part_variable})
        set(DISTMAP_HAVE_${name} OFF)
      endif()
    endforeach()
    list(JOIN part_DEBIAN " " part_packages)
    if(NOT DISTMAP_HAVE_${name} AND DISTMAP_${name} STREQUAL "AUTO" AND part_DEBIAN) # else it is missing with another one
      string(APPEND DISTMAP_MISSING "\n  ${part_WHAT}: ${part_packages}")
    elseif(NOT DISTMAP_HAVE_${name} AND NOT DISTMAP_${name} STREQUAL "AUTO")
      message(FATAL_ERROR "DISTMAP_${name} is ON, but something that it needs is missing (${part_WHAT}; Debian: ${part_packages})")
    endif()
  endif()
endmacro()

# distmap_modules(PREFIX MODULE ...): imported targets PkgConfig::PREFIX, and PREFIX_FOUND, of what pkg-config knows.
macro(distmap_modules)
  set(part_modules ${ARGN})
  find_package(PkgConfig QUIET)
  while(PKG_CONFIG_FOUND AND part_modules)
    list(POP_FRONT part_modules part_prefix part_module)
    pkg_check_modules(${part_prefix} QUIET IMPORTED_TARGET ${part_module})
  endwhile()
endmacro()

# ---- Image files ----

distmap_part(IO WHAT "image files (libdistmap_io)" FIND "find_path(XXHASH_INCLUDE xxhash.h)" # of which the header is all that is used
  FOUND XXHASH_INCLUDE DEBIAN libxxhash-dev)
if(DISTMAP_HAVE_IO)
  find_package(ZLIB QUIET)
  include(CheckIncludeFile)
  distmap_part(PNG WHAT "PNG, and previews" FIND "find_package(PNG QUIET)" FOUND PNG_FOUND DEBIAN libpng-dev)
  distmap_part(TIFF WHAT "TIFF, GeoTIFF, OME-TIFF" FIND "find_package(TIFF QUIET)" FOUND TIFF_FOUND DEBIAN libtiff-dev)
  distmap_part(JPEG WHAT "JPEG" FIND "find_package(JPEG QUIET)" FOUND JPEG_FOUND DEBIAN libjpeg-dev)
  distmap_part(PNM WHAT "PGM, PBM, PPM")
  distmap_part(NIFTI WHAT "NIfTI" FIND "check_include_file(nifti/nifti2.h DISTMAP_HAS_NIFTI_HEADERS)"
    FOUND ZLIB_FOUND DISTMAP_HAS_NIFTI_HEADERS DEBIAN libnifti2-dev zlib1g-dev)
  distmap_part(METAIMAGE WHAT "MetaImage" FOUND ZLIB_FOUND DEBIAN zlib1g-dev)
  distmap_part(NRRD WHAT "NRRD" FOUND ZLIB_FOUND DEBIAN zlib1g-dev)
  distmap_part(ROS_MAP WHAT "ROS maps" FOUND DISTMAP_HAVE_PNM)
  distmap_part(HDF5 WHAT "HDF5" FIND "find_package(HDF5 1.10.5 QUIET COMPONENTS C)" FOUND HDF5_FOUND ZLIB_FOUND
    DEBIAN libhdf5-dev zlib1g-dev)
  distmap_part(ZARR WHAT "Zarr, and precomputed volumes"
    FIND "distmap_modules(BLOSC blosc>=1.16 ZSTD libzstd LZ4 liblz4 JSONC json-c>=0.14)\nfind_package(BZip2 QUIET)"
    FOUND ZLIB_FOUND BLOSC_FOUND ZSTD_FOUND LZ4_FOUND BZIP2_FOUND JSONC_FOUND
    DEBIAN pkg-config libblosc-dev libzstd-dev liblz4-dev libbz2-dev libjson-c-dev zlib1g-dev)
  distmap_part(PRECOMPUTED WHAT "neuroglancer's precomputed volumes" FOUND DISTMAP_HAVE_ZARR)
  distmap_part(ISAL WHAT "fast gzip (else zlib's)" FIND "distmap_modules(ISAL libisal>=2.30)" FOUND ISAL_FOUND ZLIB_FOUND
    DEBIAN pkg-config libisal-dev)
endif()

# ---- What is made of the libraries ----

if(DISTMAP_PYTHON_WHEEL)
  return()
endif()
if(DISTMAP_CUDA STREQUAL "AUTO" AND NOT DISTMAP_HAVE_CUDA AND NOT DISTMAP_SANITIZE AND NOT DISTMAP_COVERAGE)
  string(APPEND DISTMAP_MISSING "\n  NVIDIA GPUs: nvidia-cuda-toolkit, or NVIDIA's own")
endif()
# The thread sanitizer leaves MPI out by itself: MPI libraries synchronise in ways that it does not see, and it reports races in them.
if(NOT DISTMAP_SANITIZE MATCHES "thread" OR DISTMAP_MPI STREQUAL "ON")
  distmap_part(MPI ALONE WHAT "images spread over the ranks of MPI (libdistmap_mpi)"
    FIND "find_package(MPI QUIET COMPONENTS C)" FOUND MPI_C_FOUND DEBIAN openmpi-bin libopenmpi-dev)
endif()
distmap_part(CLI ALONE WHAT "the command" FIND "distmap_modules(POPT popt JSONC json-c)" FOUND DISTMAP_HAVE_IO POPT_FOUND JSONC_FOUND
  DEBIAN pkg-config libpopt-dev libjson-c-dev)
include(CheckLanguage)
distmap_part(TESTS ALONE WHAT "the tests"
  FIND "find_library(CMOCKA_LIBRARY cmocka)\nfind_library(MPFR_LIBRARY mpfr)\ncheck_language(CXX)"
  FOUND CMOCKA_LIBRARY MPFR_LIBRARY CMAKE_CXX_COMPILER DEBIAN libcmocka-dev libmpfr-dev g++)
# Those of files and of the command want what every Debian has.
set(DISTMAP_HAVE_FILE_TESTS ${DISTMAP_HAVE_TESTS})
foreach(part CLI PNG TIFF JPEG PNM NIFTI METAIMAGE NRRD ROS_MAP)
  if(NOT DISTMAP_HAVE_${part})
    set(DISTMAP_HAVE_FILE_TESTS OFF)
  endif()
endforeach()
if(DISTMAP_HAVE_ZARR AND NOT DISTMAP_HAVE_PRECOMPUTED) # which have tests together
  set(DISTMAP_HAVE_FILE_TESTS OFF)
endif()
