#!/bin/sh
# SPDX-License-Identifier: MIT
# cpp.sh LIBRARY - a C++17 program that uses all of umbel.hpp runs, compiled by g++ and by clang++,
# with and without exceptions; so do the programs in examples/, C and C++.
set -eu
library=$1
cd "$(dirname "$0")/../.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

warn="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror"
for cxx in g++ clang++; do
    command -v $cxx >/dev/null || { echo "$cxx is not installed (scripts/setup test)"; exit 1; }
    for exceptions in -fexceptions -fno-exceptions; do
        $cxx -std=c++17 $warn $exceptions -Iinclude tests/consumer/filter.cpp "$library" -lm \
            -lpthread -o "$tmp/filter"
        "$tmp/filter" "$tmp"
    done
    $cxx -std=c++17 $warn -Iinclude examples/blocklist.cpp "$library" -lm -lpthread \
        -o "$tmp/blocklist"
    "$tmp/blocklist" "$tmp/n.umb" bad.example worse.example -- good.example bad.example >"$tmp/out"
    printf 'fine   good.example\nlisted bad.example\n' | cmp - "$tmp/out"
done
for cc in gcc clang; do
    $cc -std=c11 $warn -Iinclude examples/dedupe.c "$library" -lm -lpthread -o "$tmp/dedupe"
    printf 'ada\nbob\nada\n' | "$tmp/dedupe" 2>/dev/null >"$tmp/out"
    printf 'ada\nbob\n' | cmp - "$tmp/out"
done
