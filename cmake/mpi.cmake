# DISTMAP_MPI: AUTO builds libdistmap_mpi where MPI is found, ON insists, OFF leaves it out. The thread sanitizer leaves it out
# by itself: MPI libraries synchronise in ways that it does not see, and it reports races in them. Sets DISTMAP_HAVE_MPI.
set(DISTMAP_MPI AUTO CACHE STRING "Build libdistmap_mpi: AUTO, ON or OFF")
set_property(CACHE DISTMAP_MPI PROPERTY STRINGS AUTO ON OFF)
set(DISTMAP_HAVE_MPI OFF)
if(DISTMAP_MPI STREQUAL "OFF" OR DISTMAP_PYTHON_WHEEL OR (DISTMAP_MPI STREQUAL "AUTO" AND DISTMAP_SANITIZE MATCHES "thread"))
  return()
endif()
find_package(MPI QUIET COMPONENTS C)
if(MPI_C_FOUND)
  set(DISTMAP_HAVE_MPI ON)
elseif(DISTMAP_MPI STREQUAL "ON")
  message(FATAL_ERROR "DISTMAP_MPI is ON, but there is no MPI for C: install it, or say where by MPI_HOME")
endif()
