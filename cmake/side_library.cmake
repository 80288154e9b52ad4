# SPDX-License-Identifier: MIT
# A shared and a static library NAME on top of libumbel. The shared one links to libumbel.so, which
# makes and queries the filters. The rule for internal functions: those that are pure (the bounded
# reader, hashes, memory through settings) come from the static libumbel, function by function, and
# are not exported; no struct of libumbel passes between the two, and libumbel exports nothing that
# its headers do not declare. tests/deps/side_library.sh checks that nothing else is carried along.
function(umbel_side_library target name needs includes)
    add_library(${target}_objects OBJECT ${ARGN})
    umbel_flags(${target}_objects)
    set_target_properties(${target}_objects PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_include_directories(${target}_objects PRIVATE include src .)
    target_include_directories(${target}_objects SYSTEM PRIVATE ${includes} ${XXHASH_INCLUDE_DIR})

    add_library(${target} SHARED $<TARGET_OBJECTS:${target}_objects>)
    add_library(${target}_static STATIC $<TARGET_OBJECTS:${target}_objects>)
    string(REPLACE umbel_ "" export ${target})
    set_target_properties(${target} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${soversion}
        LINKER_LANGUAGE C OUTPUT_NAME ${name} EXPORT_NAME ${export})
    set_target_properties(${target}_static PROPERTIES
        LINKER_LANGUAGE C OUTPUT_NAME ${name} EXPORT_NAME ${export}_static)
    target_link_options(${target} PRIVATE LINKER:--exclude-libs,ALL LINKER:--gc-sections)
    target_link_libraries(${target} PUBLIC umbel PRIVATE $<LINK_ONLY:umbel_static> ${needs} m)
    target_link_libraries(${target}_static PUBLIC umbel_static ${needs} m)
    foreach(library ${target} ${target}_static)
        target_include_directories(${library} INTERFACE
            $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
            $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    endforeach()
endfunction()
