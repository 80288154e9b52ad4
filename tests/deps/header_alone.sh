#!/bin/sh
# SPDX-License-Identifier: MIT
# umbel.h and umbel_table.h compile by themselves, without a warning, in C11 and C++17, with gcc and with clang.
set -eu
cd "$(dirname "$0")/../.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# Twice, so that a missing include guard shows.
for header in umbel.h umbel_table.h; do
    printf '#include <%s>\n#include <%s>\n' $header $header >>"$tmp/alone.c"
done
printf 'umbel_err alone(void);\n' >>"$tmp/alone.c"
printf 'umbel_err alone(void) { return UMBEL_OK; }\n' >>"$tmp/alone.c"
warn="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror"
for cc in gcc clang; do
    command -v $cc >/dev/null || { echo "$cc is not installed (scripts/setup test)"; exit 1; }
    $cc -std=c11 $warn -Iinclude -fsyntax-only "$tmp/alone.c"
    $cc -x c++ -std=c++17 $warn -Iinclude -fsyntax-only "$tmp/alone.c"
    echo "$cc: C11 and C++17"
done
