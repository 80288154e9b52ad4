# SPDX-License-Identifier: MIT
# lua-umbel: one file for LuaJIT, and the same interface in C for Lua 5.3 and 5.4, each where Debian's
# interpreter looks for it.

set(UMBEL_SONAME "libumbel.so.${PROJECT_VERSION_MAJOR}")
get_target_property(soversion umbel SOVERSION)
if(soversion)
    set(UMBEL_SONAME "libumbel.so.${soversion}")
endif()
set(SONAME ${UMBEL_SONAME})
configure_file(bindings/lua/umbel.lua lua/jit/umbel.lua @ONLY)
if(UMBEL_INSTALL)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/lua/jit/umbel.lua DESTINATION ${CMAKE_INSTALL_DATADIR}/lua/5.1)
endif()

find_package(PkgConfig)
foreach(version 5.3 5.4)
    if(PkgConfig_FOUND)
        pkg_check_modules(LUA${version} IMPORTED_TARGET lua${version})
    endif()
    if(NOT LUA${version}_FOUND)
        continue()
    endif()
    add_library(umbel_lua${version} MODULE bindings/lua/umbel_lua.c)
    umbel_flags(umbel_lua${version})
    # The interpreter has Lua's functions.
    target_include_directories(umbel_lua${version} SYSTEM PRIVATE ${LUA${version}_INCLUDE_DIRS})
    target_link_libraries(umbel_lua${version} PRIVATE umbel)
    set_target_properties(umbel_lua${version} PROPERTIES
        PREFIX "" OUTPUT_NAME umbel SUFFIX .so LIBRARY_OUTPUT_DIRECTORY lua/${version})
    if(UMBEL_INSTALL)
        install(TARGETS umbel_lua${version} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/lua/${version})
    endif()
endforeach()
