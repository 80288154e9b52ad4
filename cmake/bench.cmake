# SPDX-License-Identifier: MIT
# Benchmarks compare with libbloom and LevelDB, so they are built only where both are installed.

find_path(LIBBLOOM_INCLUDE_DIR bloom.h)
find_library(LIBBLOOM_LIBRARY bloom)
find_path(LEVELDB_INCLUDE_DIR leveldb/filter_policy.h)
find_library(LEVELDB_LIBRARY leveldb)

if(NOT LIBBLOOM_INCLUDE_DIR OR NOT LIBBLOOM_LIBRARY)
    message(STATUS "No benchmarks: libbloom is missing (scripts/setup bench)")
elseif(NOT LEVELDB_INCLUDE_DIR OR NOT LEVELDB_LIBRARY)
    message(STATUS "No benchmarks: LevelDB is missing (scripts/setup bench)")
else()
    add_subdirectory(bench)
endif()
