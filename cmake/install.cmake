# What `cmake --install` puts where: libraries (shared and static), headers, pkg-config files, the CMake package, the
# command with its man page and bash completion. The CMake package has an export set for each library, so that a user of the core alone
# is not asked for the image libraries: find_package(distmap) or find_package(distmap COMPONENTS io); a third one, mpi, where
# that library was built.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/distmap)
set_target_properties(distmap_io PROPERTIES EXPORT_NAME io)
set_target_properties(distmap_io_static PROPERTIES EXPORT_NAME io_static)

install(TARGETS distmap distmap_static EXPORT distmapTargets)
install(TARGETS distmap_io distmap_io_static EXPORT distmapIoTargets)
install(TARGETS distmap_command RUNTIME)
set(without "")
if(DISTMAP_HAVE_MPI)
  set_target_properties(distmap_mpi PROPERTIES EXPORT_NAME mpi)
  set_target_properties(distmap_mpi_static PROPERTIES EXPORT_NAME mpi_static)
  install(TARGETS distmap_mpi distmap_mpi_static EXPORT distmapMpiTargets)
  install(TARGETS distmap_command_mpi RUNTIME)
else()
  set(without PATTERN mpi.h EXCLUDE)
endif()
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" ${without})
install(FILES docs/man/distmap.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES cli/completion/distmap.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME distmap)
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

# pkg-config files find their prefix from where they lie, so that an installed tree may be moved.
file(RELATIVE_PATH pc_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
# Static users link the CUDA runtime that the kernels were compiled for.
set(pc_cuda "")
if(DISTMAP_HAVE_CUDA)
  get_target_property(pc_cuda CUDA::cudart_static IMPORTED_LOCATION)
  set(pc_cuda " ${pc_cuda} -ldl -lrt")
endif()
set(pc_hdf5 "")
if(DISTMAP_HAVE_HDF5)
  list(GET HDF5_C_LIBRARIES 0 pc_hdf5)
  set(pc_hdf5 " ${pc_hdf5}")
endif()
set(libraries distmap distmap_io)
set(exports distmapTargets distmapIoTargets)
if(DISTMAP_HAVE_MPI)
  list(APPEND libraries distmap_mpi)
  list(APPEND exports distmapMpiTargets)
  list(TRANSFORM MPI_C_INCLUDE_DIRS PREPEND -I OUTPUT_VARIABLE pc_mpi_cflags)
  list(JOIN pc_mpi_cflags " " pc_mpi_cflags)
  list(JOIN MPI_C_LIBRARIES " " pc_mpi_libs)
endif()
foreach(name ${libraries})
  configure_file(cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

configure_package_config_file(cmake/distmapConfig.cmake.in ${PROJECT_BINARY_DIR}/distmapConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/distmapConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/distmapConfig.cmake ${PROJECT_BINARY_DIR}/distmapConfigVersion.cmake
  DESTINATION ${package_dir})
foreach(set ${exports})
  install(EXPORT ${set} NAMESPACE distmap:: DESTINATION ${package_dir})
endforeach()
