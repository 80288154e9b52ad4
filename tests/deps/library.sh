#!/bin/sh
# SPDX-License-Identifier: MIT
# library.sh LIBUMBEL.SO - the library needs little: the C library and its part for mathematics when it
# runs, one compiler command when it is built.
set -eu
cd "$(dirname "$0")/../.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# Apart from the loader and the kernel's page, which every program has.
needed=$(ldd "$1" | awk '{ print $1 }' | grep -v -e '^linux-' -e '/ld-' | sort | tr '\n' ' ')
echo "# $1 needs $needed"
[ "$needed" = "libc.so.6 libm.so.6 " ]
[ "$(grep '\.private' cmake/umbel.pc.in)" = "Libs.private: -pthread -lm" ]
[ "$(grep -c find_dependency cmake/umbelConfig.cmake.in)" = 1 ]
echo "ok 1 - it needs the C library alone"

${CC:-cc} -O0 src/*/*.c src/*/*/*.c tests/consumer/consumer.c -Iinclude -Isrc -o "$tmp/consumer" \
    -lm -lpthread
"$tmp/consumer"
echo "ok 2 - one compiler command builds a program with it"
