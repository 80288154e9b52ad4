#!/bin/sh
# SPDX-License-Identifier: MIT
# cpp.sh LIBRARY - a program that uses all of umbel.hpp runs, compiled by g++ and by clang++ as C++17,
# 20 and 23, with and without exceptions; so do the header's own example and the programs in contrib/,
# C and C++.
set -eu
library=$1
cd "$(dirname "$0")/../.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

warn="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror"
for cxx in g++ clang++; do
    command -v $cxx >/dev/null || { echo "$cxx is not installed (scripts/setup test)"; exit 1; }
    for mode in "c++17 -fexceptions" "c++17 -fno-exceptions" c++20 c++2b; do
        $cxx -std=$mode $warn -Iinclude -Ibindings/cpp tests/consumer/filter.cpp "$library" -lm -lpthread \
            -o "$tmp/filter"
        "$tmp/filter" "$tmp"
    done
    sed -n 's/^ \*   //p' bindings/cpp/umbel.hpp >"$tmp/example"
    printf '#include <cstdio>\n#include <umbel.hpp>\nint main() {\n%s\n}\n' "$(cat "$tmp/example")" \
        >"$tmp/example.cpp"
    $cxx -std=c++17 $warn -Iinclude -Ibindings/cpp "$tmp/example.cpp" "$library" -lm -lpthread -o "$tmp/example"
    (cd "$tmp" && ./example) | grep -qx perhaps
    $cxx -std=c++17 $warn -Iinclude -Ibindings/cpp contrib/blocklist.cpp "$library" -lm -lpthread \
        -o "$tmp/blocklist"
    "$tmp/blocklist" "$tmp/n.umb" bad.example worse.example -- good.example bad.example >"$tmp/out"
    printf 'fine   good.example\nlisted bad.example\n' | cmp - "$tmp/out"
done
for cc in gcc clang; do
    $cc -std=c11 $warn -Iinclude contrib/dedupe.c "$library" -lm -lpthread -o "$tmp/dedupe"
    printf 'ada\nbob\nada\n' | "$tmp/dedupe" 2>/dev/null >"$tmp/out"
    printf 'ada\nbob\n' | cmp - "$tmp/out"
done
