# SPDX-License-Identifier: MIT
# What `make install` installs, and where: headers, libraries, pkg-config files, CMake package,
# command, module, man pages, completions.  The components `command` and `module` are what a release
# has as archives of their own (scripts/make-release).

include(CMakePackageConfigHelpers)

file(GLOB headers CONFIGURE_DEPENDS include/*.h)
list(FILTER headers EXCLUDE REGEX "umbel_(table|leveldb|sign)\\.h$")
install(FILES ${headers} bindings/cpp/umbel.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS umbel umbel_static EXPORT umbel-targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
foreach(side table leveldb sign) # umbel::table, umbel::table_static ...
    if(TARGET umbel_${side})
        install(FILES include/umbel_${side}.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
        install(TARGETS umbel_${side} umbel_${side}_static EXPORT umbel-${side}-targets
            LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
            ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
    endif()
endforeach()
if(TARGET umbel_command)
    install(TARGETS umbel_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
    foreach(name ${apart})
        install(TARGETS umbel_${name}_program RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/umbel
            COMPONENT command)
    endforeach()
    install(FILES docs/report.schema.json docs/formats/umbel.magic DESTINATION ${CMAKE_INSTALL_DATADIR}/umbel
        COMPONENT command)
    install(FILES docs/formats/umbel.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/mime/packages COMPONENT command)
endif()
if(TARGET umbel_command AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
    configure_file(cli/serve/umbel.service.in umbel.service @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/umbel.service cli/serve/umbel-http.socket
        cli/serve/umbel-socketmap.socket DESTINATION lib/systemd/system)
endif()
if(TARGET umbel_module)
    # Servers refuse a module that is not executable, and Debian's CMake does not make it so.
    install(TARGETS umbel_module LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/redis/modules COMPONENT module
        PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
            GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/umbel)
configure_package_config_file(cmake/umbelConfig.cmake.in umbelConfig.cmake
    INSTALL_DESTINATION ${package_dir})
# Before 1.0 a new minor version may break callers.
write_basic_package_version_file(umbelConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/umbelConfig.cmake ${PROJECT_BINARY_DIR}/umbelConfigVersion.cmake
    DESTINATION ${package_dir})
# A file for each library, because packages may have them apart.
install(EXPORT umbel-targets NAMESPACE umbel:: DESTINATION ${package_dir})
foreach(side table leveldb sign)
    if(TARGET umbel_${side})
        install(EXPORT umbel-${side}-targets NAMESPACE umbel:: DESTINATION ${package_dir})
    endif()
endforeach()

# Written at install time: only then is the prefix known (cmake --install --prefix).
foreach(dir LIBDIR INCLUDEDIR)
    if(IS_ABSOLUTE "${CMAKE_INSTALL_${dir}}")
        set(pc_${dir} "${CMAKE_INSTALL_${dir}}")
    else()
        set(pc_${dir} "\${prefix}/${CMAKE_INSTALL_${dir}}")
    endif()
endforeach()
set(pc_files umbel)
foreach(side table leveldb sign)
    if(TARGET umbel_${side})
        list(APPEND pc_files umbel-${side})
    endif()
endforeach()
foreach(pc ${pc_files})
    install(CODE "
        set(pc_LIBDIR [[${pc_LIBDIR}]])
        set(pc_INCLUDEDIR [[${pc_INCLUDEDIR}]])
        set(PROJECT_VERSION [[${PROJECT_VERSION}]])
        set(PROJECT_DESCRIPTION [[${PROJECT_DESCRIPTION}]])
        configure_file([[${PROJECT_SOURCE_DIR}/cmake/${pc}.pc.in]]
            [[${PROJECT_BINARY_DIR}/${pc}.pc]] @ONLY)")
    install(FILES ${PROJECT_BINARY_DIR}/${pc}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

# Manual pages and completions are written from the headers and by the command itself, which has to
# run here for that.
find_program(PYTHON3 python3)
if(NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR OR UMBEL_RUNS_HERE)
    set(command_runs ON)
endif()
if(TARGET umbel_command AND PYTHON3 AND command_runs)
    set(pages ${PROJECT_BINARY_DIR}/pages)
    file(GLOB headers CONFIGURE_DEPENDS include/*.h)
    add_custom_command(OUTPUT ${pages}/written
        COMMAND ${CMAKE_COMMAND} -E rm -rf ${pages}
        COMMAND ${PYTHON3} ${PROJECT_SOURCE_DIR}/scripts/make-pages
            ${pages} ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:umbel_command>
        COMMAND ${CMAKE_COMMAND} -E touch ${pages}/written
        DEPENDS umbel_command scripts/make-pages docs/kinds.md docs/recipes.md docs/formats/README.md ${headers}
        COMMENT "Writing manual pages and completions" VERBATIM)
    add_custom_target(umbel_pages ALL DEPENDS ${pages}/written)
    if(TARGET products) # of tests/quick
        add_dependencies(products umbel_pages)
    endif()
    install(DIRECTORY ${pages}/man/man3 DESTINATION ${CMAKE_INSTALL_MANDIR})
    install(DIRECTORY ${pages}/man/man1 ${pages}/man/man7 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT command)
    install(FILES ${pages}/completions/umbel.bash COMPONENT command
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME umbel)
    install(FILES ${pages}/completions/_umbel COMPONENT command
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    install(FILES ${pages}/completions/umbel.fish COMPONENT command
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
else()
    message(STATUS "No manual pages and completions: they need python3 and a command that runs here")
endif()
