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
elseif(EXISTS ${PROJECT_SOURCE_DIR}/bench/CMakeLists.txt)
    add_subdirectory(bench)
else()
    # One program for each bench/*.c; LevelDB's API is C++, so its callers are in bench/*.cc.
    file(GLOB bench_programs CONFIGURE_DEPENDS bench/*.c)
    file(GLOB bench_peers CONFIGURE_DEPENDS bench/*.cc)
    if(bench_peers)
        enable_language(CXX)
    endif()
    foreach(source ${bench_programs})
        get_filename_component(name ${source} NAME_WE)
        set(name umbel-bench-${name})
        add_executable(${name} ${source} ${bench_peers})
        umbel_flags(${name})
        set_target_properties(${name} PROPERTIES CXX_STANDARD 17)
        target_include_directories(${name} SYSTEM PRIVATE
            ${LIBBLOOM_INCLUDE_DIR} ${LEVELDB_INCLUDE_DIR} ${XXHASH_INCLUDE_DIR})
        target_link_libraries(${name} PRIVATE
            umbel_static ${LIBBLOOM_LIBRARY} ${LEVELDB_LIBRARY} Threads::Threads m)
    endforeach()
endif()
