# DISTMAP_CUDA: AUTO builds the GPU part where the CUDA toolkit is found and works, ON insists, OFF leaves it out. Sanitized
# and instrumented builds leave it out by themselves: they run the kernels on the CPU (tests/emulation).
# Sets DISTMAP_HAVE_CUDA.
#
# CUDA is not made a language of the project: CMake would then link everything that touches the static library by nvcc or
# with the C++ library, in the projects of its users as well. Kernels are a handful of objects, compiled by a command.
set(DISTMAP_CUDA AUTO CACHE STRING "Build the GPU part: AUTO, ON or OFF")
set_property(CACHE DISTMAP_CUDA PROPERTY STRINGS AUTO ON OFF)
# Machine code for three generations, and PTX, which the driver compiles for what comes after.
set(DISTMAP_CUDA_ARCHITECTURES 75 80 90 CACHE STRING
  "Compute capabilities to make code for, lowest first; N-virtual: PTX alone, which takes half the time to compile")
set(DISTMAP_NVCC_FLAGS "" CACHE STRING "Further options of nvcc: '-Xcicc -O1' compiles kernels that are not run in a third of the time")
set(DISTMAP_HAVE_CUDA OFF)
if(DISTMAP_CUDA STREQUAL "OFF" OR (DISTMAP_CUDA STREQUAL "AUTO" AND (DISTMAP_SANITIZE OR DISTMAP_COVERAGE)))
  return()
endif()

find_package(CUDAToolkit QUIET)
if(CUDAToolkit_FOUND AND TARGET CUDA::cudart_static AND CUDAToolkit_NVCC_EXECUTABLE)
  # -fmad=false: as -ffp-contract=off. The host halves need no C++ library; for launches by <<<>>> __NV_LEGACY_LAUNCH sees to
  # that, without which each has a static variable to initialise.
  set(distmap_nvcc ${CUDAToolkit_NVCC_EXECUTABLE} -std=c++17 -O3 -lineinfo -fmad=false -cudart=static
    -Xcompiler=-D__NV_LEGACY_LAUNCH,-fPIC,-fvisibility=hidden,-ffp-contract=off,-fno-exceptions,-fno-rtti,-Wall,-Wextra)
  separate_arguments(nvcc_flags UNIX_COMMAND "${DISTMAP_NVCC_FLAGS}")
  list(APPEND distmap_nvcc ${nvcc_flags})
  foreach(architecture ${DISTMAP_CUDA_ARCHITECTURES})
    if(architecture MATCHES "^([0-9]+)-virtual$")
      list(APPEND distmap_nvcc -gencode=arch=compute_${CMAKE_MATCH_1},code=compute_${CMAKE_MATCH_1})
    else()
      list(APPEND distmap_nvcc -gencode=arch=compute_${architecture},code=sm_${architecture})
    endif()
  endforeach()
  list(GET DISTMAP_CUDA_ARCHITECTURES -1 newest)
  if(NOT newest MATCHES virtual)
    list(APPEND distmap_nvcc -gencode=arch=compute_${newest},code=compute_${newest})
  endif()
  if(DISTMAP_WERROR)
    list(APPEND distmap_nvcc -Werror=all-warnings)
  endif()
  # Whether all this works with the compiler that nvcc finds: tried once.
  if(NOT DISTMAP_NVCC_WORKS STREQUAL "${distmap_nvcc}")
    set(trial ${PROJECT_BINARY_DIR}/CMakeFiles/nvcc_trial.cu)
    file(WRITE ${trial} "#include <cuda_runtime.h>\n__global__ void trial(int *p) { *p = 1; }\n")
    execute_process(COMMAND ${distmap_nvcc} -c ${trial} -o ${trial}.o RESULT_VARIABLE failed OUTPUT_VARIABLE why
      ERROR_VARIABLE why)
    if(NOT failed)
      set(DISTMAP_NVCC_WORKS "${distmap_nvcc}" CACHE INTERNAL "The nvcc command that was tried")
    endif()
  endif()
  if(NOT failed)
    set(DISTMAP_HAVE_CUDA ON)
  elseif(DISTMAP_CUDA STREQUAL "AUTO")
    message(STATUS "Without the GPU part: ${CUDAToolkit_NVCC_EXECUTABLE} does not work:\n${why}")
  else()
    message(FATAL_ERROR "DISTMAP_CUDA is ON, but ${CUDAToolkit_NVCC_EXECUTABLE} does not work:\n${why}")
  endif()
elseif(DISTMAP_CUDA STREQUAL "ON")
  message(FATAL_ERROR "DISTMAP_CUDA is ON, but there is no CUDA toolkit: install it, or say where by CUDAToolkit_ROOT")
endif()

# Compiles .cu files, with src/ and include/ to include from; a target of that name makes them, and the variable gets the
# objects, to be sources of others that depend on it.
function(distmap_cuda_objects name variable)
  set(objects "")
  foreach(source ${ARGN})
    cmake_path(GET source STEM LAST_ONLY stem)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${stem}.cu.o)
    add_custom_command(OUTPUT ${object} DEPENDS ${source} DEPFILE ${object}.d COMMENT "Building CUDA object ${stem}.cu.o"
      COMMAND ${distmap_nvcc} -DDISTMAP_BUILD -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/src
              -MD -MT ${object} -MF ${object}.d -c ${source} -o ${object})
    list(APPEND objects ${object})
  endforeach()
  add_custom_target(${name} DEPENDS ${objects})
  set(${variable} ${objects} PARENT_SCOPE)
endfunction()
