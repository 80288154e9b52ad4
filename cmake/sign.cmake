# SPDX-License-Identifier: MIT
# libumbel-sign: signatures in minisign's format.  A separate library, because it needs libsodium and
# libumbel should not.

include(cmake/side_library.cmake)
file(GLOB sign_sources CONFIGURE_DEPENDS sign/*.c)
set(sign_for_programs ${sign_sources})
list(FILTER sign_sources EXCLUDE REGEX "/sodium_loaded\\.c$")
umbel_side_library(umbel_sign umbel-sign
    "$<BUILD_INTERFACE:${SODIUM_LINK_LIBRARIES}>;$<INSTALL_INTERFACE:sodium>" "${SODIUM_INCLUDE_DIRS}" ${sign_sources})

# In the command: the same functions, which load libsodium when they are called.
if(UMBEL_STATIC)
    add_library(umbel_sign_for_programs ALIAS umbel_sign_static)
else()
    list(FILTER sign_for_programs EXCLUDE REGEX "/sodium_linked\\.c$")
    get_filename_component(sodium_file "${SODIUM_LINK_LIBRARIES}" REALPATH)
    string(REGEX MATCH "libsodium\\.so\\.[0-9]+" sodium_name "${sodium_file}")
    if(NOT sodium_name)
        set(sodium_name ${sodium_file})
    endif()
    add_library(umbel_sign_for_programs STATIC ${sign_for_programs})
    umbel_flags(umbel_sign_for_programs)
    target_compile_definitions(umbel_sign_for_programs PRIVATE UMBEL_SODIUM="${sodium_name}")
    target_include_directories(umbel_sign_for_programs PRIVATE src . PUBLIC include)
    target_include_directories(umbel_sign_for_programs SYSTEM PRIVATE ${SODIUM_INCLUDE_DIRS})
    target_link_libraries(umbel_sign_for_programs PUBLIC umbel_static Threads::Threads ${CMAKE_DL_LIBS})
endif()
