# What `cmake --install` puts where: libraries (shared and static), headers, pkg-config files, the CMake package, the
# command with its man page and bash completion. The CMake package has two export sets, so that a user of the core alone
# is not asked for the image libraries: find_package(distmap) or find_package(distmap COMPONENTS io).
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/distmap)
set_target_properties(distmap_io PROPERTIES EXPORT_NAME io)
set_target_properties(distmap_io_static PROPERTIES EXPORT_NAME io_static)

install(TARGETS distmap distmap_static EXPORT distmapTargets)
install(TARGETS distmap_io distmap_io_static EXPORT distmapIoTargets)
install(TARGETS distmap_command RUNTIME)
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
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
foreach(name distmap distmap_io)
  configure_file(cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

configure_package_config_file(cmake/distmapConfig.cmake.in ${PROJECT_BINARY_DIR}/distmapConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/distmapConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/distmapConfig.cmake ${PROJECT_BINARY_DIR}/distmapConfigVersion.cmake
  DESTINATION ${package_dir})
foreach(set distmapTargets distmapIoTargets)
  install(EXPORT ${set} NAMESPACE distmap:: DESTINATION ${package_dir})
endforeach()
