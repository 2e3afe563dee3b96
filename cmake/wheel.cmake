# The files of the Python package (pyproject.toml): its binding, the libraries, and the child that reads HDF5, where the library looks for
# it. Each is one file, since a wheel holds no links.
add_custom_target(distmap_wheel DEPENDS distmap distmap_python)
install(TARGETS distmap_python LIBRARY DESTINATION distmap COMPONENT python)
foreach(library distmap distmap_io)
  if(TARGET ${library})
    add_dependencies(distmap_wheel ${library})
    install(PROGRAMS $<TARGET_FILE:${library}> DESTINATION distmap/lib RENAME $<TARGET_SONAME_FILE_NAME:${library}> COMPONENT python)
  endif()
endforeach()
if(TARGET distmap_io_helper)
  add_dependencies(distmap_wheel distmap_io_helper)
  install(PROGRAMS $<TARGET_FILE:distmap_io_helper> DESTINATION distmap/libexec/distmap COMPONENT python)
endif()
