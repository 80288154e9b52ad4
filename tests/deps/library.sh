#!/bin/sh
# SPDX-License-Identifier: MIT
# library.sh LIBUMBEL.SO [gcc-release] - the library needs little: the C library and its part for mathematics
# when it runs, one compiler command when it is built.  And it is small.
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

# As built by gcc for x86-64 in a release, without sanitizers: what a benchmark does not ask for is not compiled to
# be large (CMakeLists.txt).
most=740000
text=$(size "$1" | awk 'NR == 2 { print $1 }')
echo "# $1 has $text bytes of text"
if [ "${2:-}" = gcc-release ] && [ "$(uname -m)" = x86_64 ]; then
    [ "$text" -le "$most" ] || { echo "not ok 2 - more than $most bytes of text"; exit 1; }
    echo "ok 2 - it has at most $most bytes of text"
else
    echo "ok 2 # SKIP not a release of gcc for x86-64"
fi

${CC:-cc} -O0 src/*/*.c src/*/*/*.c tests/consumer/consumer.c -Iinclude -Isrc -o "$tmp/consumer" \
    -lm -lpthread
"$tmp/consumer"
echo "ok 3 - one compiler command builds a program with it"
