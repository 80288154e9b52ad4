# SPDX-License-Identifier: MIT
# What `make install` puts where: header, libraries, umbel.pc, CMake package, command, man pages,
# completions.

include(CMakePackageConfigHelpers)

install(FILES include/umbel.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS umbel umbel_static EXPORT umbel-targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET umbel_command)
    install(TARGETS umbel_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/umbel)
configure_package_config_file(cmake/umbelConfig.cmake.in umbelConfig.cmake
    INSTALL_DESTINATION ${package_dir})
# Before 1.0 a new minor version may break callers.
write_basic_package_version_file(umbelConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/umbelConfig.cmake ${PROJECT_BINARY_DIR}/umbelConfigVersion.cmake
    DESTINATION ${package_dir})
install(EXPORT umbel-targets NAMESPACE umbel:: DESTINATION ${package_dir})

# Paths relative to the file itself, so that an installed tree may be moved.
set(pc_dir ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH pc_to_prefix ${pc_dir} ${CMAKE_INSTALL_PREFIX})
file(RELATIVE_PATH pc_to_libdir ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_LIBDIR})
file(RELATIVE_PATH pc_to_includedir ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
configure_file(cmake/umbel.pc.in umbel.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/umbel.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

file(GLOB man_pages CONFIGURE_DEPENDS docs/man/*.1)
if(man_pages)
    install(FILES ${man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()

set(shells
    "umbel.bash|${CMAKE_INSTALL_DATADIR}/bash-completion/completions|umbel"
    "_umbel|${CMAKE_INSTALL_DATADIR}/zsh/site-functions|_umbel"
    "umbel.fish|${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d|umbel.fish")
foreach(shell ${shells})
    string(REPLACE "|" ";" shell "${shell}")
    list(GET shell 0 file)
    list(GET shell 1 directory)
    list(GET shell 2 name)
    if(EXISTS ${PROJECT_SOURCE_DIR}/completions/${file})
        install(FILES completions/${file} DESTINATION ${directory} RENAME ${name})
    endif()
endforeach()
