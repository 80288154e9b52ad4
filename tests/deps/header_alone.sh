#!/bin/sh
# SPDX-License-Identifier: MIT
# Every public header compiles by itself, without a warning, in C11 and C++17, with gcc and with
# clang; umbel.hpp in C++17, with and without exceptions.
set -eu
cd "$(dirname "$0")/../.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

warn="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror"
for cc in gcc clang; do
    command -v $cc >/dev/null || { echo "$cc is not installed (scripts/setup test)"; exit 1; }
    for header in $(cd include && ls umbel*.h); do
        if [ $header = umbel_leveldb.h ] && ! echo '#include <leveldb/c.h>' | $cc -E - >/dev/null 2>&1; then
            echo "$cc: umbel_leveldb.h without LevelDB's header is not tried"
            continue
        fi
        # Twice, so that a missing include guard shows.
        printf '#include <%s>\n#include <%s>\n' $header $header >"$tmp/alone.c"
        printf 'umbel_err alone(void);\n' >>"$tmp/alone.c"
        printf 'umbel_err alone(void) { return UMBEL_OK; }\n' >>"$tmp/alone.c"
        $cc -std=c11 $warn -Iinclude -fsyntax-only "$tmp/alone.c"
        $cc -x c++ -std=c++17 $warn -Iinclude -fsyntax-only "$tmp/alone.c"
    done
    printf '#include <umbel.hpp>\n#include <umbel.hpp>\n' >"$tmp/alone.cc"
    $cc -x c++ -std=c++17 $warn -Iinclude -Ibindings/cpp -fsyntax-only "$tmp/alone.cc"
    $cc -x c++ -std=c++17 $warn -fno-exceptions -Iinclude -Ibindings/cpp -fsyntax-only "$tmp/alone.cc"
    echo "$cc: C11 and C++17"
done
