#!/bin/sh
# SPDX-License-Identifier: MIT
# built.sh BUILD - a selection of the tests for a build tree that was configured without them, as that of
# a Debian package is: golden files of every format, files and their replacement, the command's use.
# Needs cmocka and bats.
set -eu
cd "$(dirname "$0")/../.."
build=$(cd "$1" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

units="test_api_names test_bytes test_files test_header test_kernels test_native_golden test_native_lies test_plan_golden
    test_recipe_golden $(basename -s .c tests/unit/test_codec_[!m]*.c | tr '\n' ' ')"
commands="build check filters formats uniq"

flags="-std=c11 -O1 -D_POSIX_C_SOURCE=200809L -Isrc -Iinclude -I. -Itests/support $(pkg-config --cflags cmocka)"
libs="$build/libumbel.a $(pkg-config --libs cmocka) -lm -lpthread"
for source in tests/support/*.c; do
    ${CC:-cc} $flags -c "$source" -o "$tmp/$(basename "$source" .c).o"
done
count=0
for unit in $units; do
    ${CC:-cc} $flags "tests/unit/$unit.c" "$tmp"/*.o $libs -o "$tmp/$unit"
    "$tmp/$unit" >"$tmp/log" 2>&1 </dev/null || { cat "$tmp/log"; echo "FAILED: $unit"; exit 1; }
    count=$((count + 1))
done
for command in $commands; do
    UMBEL=$build/umbel bats "tests/cli/$command.bats" >"$tmp/log" 2>&1 </dev/null ||
        { cat "$tmp/log"; echo "FAILED: $command.bats"; exit 1; }
    count=$((count + 1))
done
echo "$count tests of the build tree passed"
