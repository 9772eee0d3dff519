# Libraries, headers, the command and its manual page, pkg-config files, and a CMake package with the targets
# pliant::pliant and pliant::io (shared) and pliant::pliant_static and pliant::io_static.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/pliant)
set(targets)
foreach(name IN ITEMS pliant_static pliant_shared pliant_io_static pliant_io_shared)
  if(TARGET ${name})
    list(APPEND targets ${name})
  endif()
endforeach()

install(TARGETS ${targets} EXPORT pliant
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${PLIANT_HEADERS} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pliant)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)

if(TARGET pliant_command)
  install(TARGETS pliant_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
file(GLOB manual_pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/man/*.1)
if(manual_pages)
  install(FILES ${manual_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()

# The CMake package.
install(EXPORT pliant NAMESPACE pliant:: FILE pliant-targets.cmake DESTINATION ${package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/pliant-config.cmake.in
  ${PROJECT_BINARY_DIR}/cmake/pliant-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/pliant-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/pliant-config.cmake
  ${PROJECT_BINARY_DIR}/cmake/pliant-config-version.cmake DESTINATION ${package_dir})

# The pkg-config files find their prefix from where they are, so that an installed tree can be moved.
set(pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
cmake_path(IS_ABSOLUTE CMAKE_INSTALL_LIBDIR absolute)
if(absolute)
  set(PC_PREFIX ${CMAKE_INSTALL_PREFIX})
else()
  cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}/${pc_dir} OUTPUT_VARIABLE up)
  set(PC_PREFIX "\${pcfiledir}/${up}")
endif()
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_LIBDIR BASE_DIRECTORY "\${prefix}" OUTPUT_VARIABLE PC_LIBDIR)
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_INCLUDEDIR BASE_DIRECTORY "\${prefix}" OUTPUT_VARIABLE PC_INCLUDEDIR)
# What a static library needs is everybody's business when there is no shared one.
set(PC_PRIVATE "\nLibs.private:")
if(NOT PLIANT_BUILD_SHARED)
  set(PC_PRIVATE "")
endif()
foreach(library IN ITEMS pliant pliant-io)
  string(REPLACE "-" "_" name ${library})
  if(TARGET ${name}_static)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/${library}.pc.in ${PROJECT_BINARY_DIR}/cmake/${library}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/cmake/${library}.pc DESTINATION ${pc_dir})
  endif()
endforeach()
