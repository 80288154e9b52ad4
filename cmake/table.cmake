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

include(cmake/side_library.cmake)

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
