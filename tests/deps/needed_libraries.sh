#!/bin/sh
# SPDX-License-Identifier: MIT
# needed_libraries.sh LIBUMBEL.SO - the library needs the C library, with its part for mathematics,
# and nothing else; nor do umbel.pc and the CMake package ask for more.
set -eu
cd "$(dirname "$0")/../.."

# Apart from the loader and the kernel's page, which every program has.
needed=$(ldd "$1" | awk '{ print $1 }' | grep -v -e '^linux-' -e '/ld-' | sort | tr '\n' ' ')
echo "$1 needs $needed"
[ "$needed" = "libc.so.6 libm.so.6 " ]

[ "$(grep '\.private' cmake/umbel.pc.in)" = "Libs.private: -pthread -lm" ]
[ "$(grep -c find_dependency cmake/umbelConfig.cmake.in)" = 1 ]
