# SPDX-License-Identifier: MIT
# A toolchain for another machine, with Debian's cross compilers and a root made by
# scripts/foreign-root; the presets i386, s390x and arm64 say where.  i386 programs run natively,
# the others through qemu-user.

set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES UMBEL_MACHINE UMBEL_ROOT)
set(CMAKE_SYSTEM_NAME Linux)
get_filename_component(root "${UMBEL_ROOT}" ABSOLUTE)

if(UMBEL_MACHINE STREQUAL "i386")
    set(CMAKE_SYSTEM_PROCESSOR i686)
    set(CMAKE_C_COMPILER gcc)
    set(CMAKE_C_FLAGS_INIT "-m32 -Wno-psabi") # GCC 11 changed the alignment of atomics, and says so
    set(triplet i386-linux-gnu)
    set(UMBEL_RUNS_HERE ON)
    # The root's loader and libraries, wherever the program is started from.
    set(libraries ${root}/lib/${triplet}:${root}/usr/lib/${triplet})
    set(CMAKE_EXE_LINKER_FLAGS_INIT
        "-Wl,--dynamic-linker,${root}/lib/ld-linux.so.2 -Wl,--disable-new-dtags,-rpath,${libraries}")
elseif(UMBEL_MACHINE STREQUAL "s390x" OR UMBEL_MACHINE STREQUAL "arm64")
    string(REPLACE arm64 aarch64 CMAKE_SYSTEM_PROCESSOR ${UMBEL_MACHINE})
    set(triplet ${CMAKE_SYSTEM_PROCESSOR}-linux-gnu)
    set(CMAKE_C_COMPILER ${triplet}-gcc)
    set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${CMAKE_SYSTEM_PROCESSOR} -L ${root})
else()
    message(FATAL_ERROR "UMBEL_MACHINE is '${UMBEL_MACHINE}'; it can be i386, s390x or arm64")
endif()

set(CMAKE_LIBRARY_ARCHITECTURE ${triplet})
set(CMAKE_SYSROOT ${root})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${root})
set(ENV{PKG_CONFIG_LIBDIR} ${root}/usr/lib/${triplet}/pkgconfig:${root}/usr/share/pkgconfig)
