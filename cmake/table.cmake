# SPDX-License-Identifier: MIT
# libumbel-table: filters inside the files of other systems.  A separate library, because it needs
# their compression libraries and libumbel should not.  So is libumbel-leveldb, where LevelDB is
# installed.

find_package(PkgConfig REQUIRED)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(LZ4 REQUIRED liblz4)
find_path(SNAPPY_INCLUDE_DIR snappy-c.h REQUIRED)
find_library(SNAPPY_LIBRARY snappy REQUIRED)
find_package(ZLIB REQUIRED)
find_package(BZip2 REQUIRED)
if(UMBEL_WITH_LEVELDB STREQUAL AUTO)
    find_path(LEVELDB_INCLUDE_DIR leveldb/c.h)
    find_library(LEVELDB_LIBRARY leveldb)
elseif(UMBEL_WITH_LEVELDB)
    find_path(LEVELDB_INCLUDE_DIR leveldb/c.h REQUIRED)
    find_library(LEVELDB_LIBRARY leveldb REQUIRED)
endif()

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

file(GLOB_RECURSE table_sources CONFIGURE_DEPENDS tables/*.c)
list(FILTER table_sources EXCLUDE REGEX "/leveldb_policy\\.c$")
# Once installed, they are where the linker looks.
set(table_needs "$<BUILD_INTERFACE:${ZSTD_LINK_LIBRARIES};${LZ4_LINK_LIBRARIES};${SNAPPY_LIBRARY};${ZLIB_LIBRARIES};${BZIP2_LIBRARIES}>"
    "$<INSTALL_INTERFACE:zstd;lz4;snappy;z;bz2>")
umbel_side_library(umbel_table umbel-table "${table_needs}"
    "${SNAPPY_INCLUDE_DIR};${ZSTD_INCLUDE_DIRS};${LZ4_INCLUDE_DIRS};${ZLIB_INCLUDE_DIRS};${BZIP2_INCLUDE_DIR}" ${table_sources})

if(UMBEL_WITH_LEVELDB AND LEVELDB_INCLUDE_DIR AND LEVELDB_LIBRARY)
    umbel_side_library(umbel_leveldb umbel-leveldb
        "$<BUILD_INTERFACE:${LEVELDB_LIBRARY}>;$<INSTALL_INTERFACE:leveldb>" "${LEVELDB_INCLUDE_DIR}"
        tables/leveldb/leveldb_policy.c tables/leveldb/leveldb_raw.c)
endif()
