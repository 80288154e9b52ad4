#!/bin/sh
# SPDX-License-Identifier: MIT
# The example at the top of every public header, and every block of C in README.md, compiles without
# a warning, with gcc and with clang.
set -eu
cd "$(dirname "$0")/../.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# The first run of indented lines in the comment that a header starts with; "..." is left out.
from_header() {
    awk '/^ \*   / { sub(/^ \*   /, ""); sub(/^\.\.\. */, ""); print; found = 1; next }
         found || /\*\// { exit }' "$1"
}

# The blocks of C in a text, which includes what it needs.
from_text() {
    awk '/^```c$/ { inside = 1; next } /^```/ { inside = 0 }
         inside && !/^#include/ { print }' "$1"
}

# function_of NAME INCLUDE [BEFORE] - a file with the statements of stdin in a function.
function_of() {
    printf '#include <stdio.h>\n#include <%s>\nint %s(void);\nint %s(void) {\n%s\n' \
        "$2" "example_$1" "example_$1" "${3-}" >"$tmp/$1.c"
    cat >"$tmp/statements"
    if ! [ -s "$tmp/statements" ]; then
        echo "$1: there is no example"
        exit 1
    fi
    cat "$tmp/statements" >>"$tmp/$1.c"
    printf 'return 0;\n}\n' >>"$tmp/$1.c"
}

for header in umbel umbel_foreign umbel_table; do
    from_header include/$header.h | function_of $header $header.h
done
from_text README.md | function_of readme umbel.h
if echo '#include <leveldb/c.h>' | ${CC:-cc} -E - >/dev/null 2>&1; then
    from_header include/umbel_leveldb.h | function_of umbel_leveldb umbel_leveldb.h \
        'leveldb_options_t *options = leveldb_options_create();'
else
    echo "umbel_leveldb.h: no LevelDB here"
fi

for cc in gcc clang; do
    command -v $cc >/dev/null || { echo "$cc is not installed (scripts/setup test)"; exit 1; }
    for file in "$tmp"/*.c; do
        $cc -std=c11 -Wall -Wextra -Wshadow -Wconversion -Werror -Iinclude -fsyntax-only "$file"
        echo "$cc: the example of $(basename "$file" .c)"
    done
done
