#!/bin/sh
# SPDX-License-Identifier: MIT
# The example at the top of every public header, and every block of C in the documents, compiles
# without a warning, with gcc and with clang; and the documents name no function and no file that is gone.
set -eu
cd "$(dirname "$0")/../.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# The first run of indented lines in the comment that a header starts with; "..." is left out.
from_header() {
    awk '/^ \*   / { sub(/^ \*   /, ""); sub(/^\.\.\. */, ""); print; found = 1; next }
         found || /\*\// { exit }' "$1"
}

# blocks LANGUAGE TEXT - writes the blocks of C or C++ in a document to $tmp/block1, block2 ...
blocks() {
    awk -v begin="\`\`\`$1" -v out="$tmp/block" \
        '$0 == begin { inside = 1; file = out (++n); printf "" >file; next } /^```/ { inside = 0 }
         inside && !/^#include/ { print >file }' "$2"
}

# function_of NAME INCLUDE [BEFORE] - a file with the statements of stdin in a function.
function_of() {
    printf '#include <stdio.h>\n#include <umbel_lookup.h>\n#include <umbel_text.h>\n#include <umbel_experimental.h>\n#include <%s>\nint %s(void);\nint %s(void) {\n%s\n' \
        "$2" "example_$1" "example_$1" "${3-}" >"$tmp/$1.c"
    cat >"$tmp/statements"
    if ! [ -s "$tmp/statements" ]; then
        echo "$1: there is no example"
        exit 1
    fi
    cat "$tmp/statements" >>"$tmp/$1.c"
    printf 'return 0;\n}\n' >>"$tmp/$1.c"
}

for header in umbel umbel_foreign umbel_lookup umbel_table umbel_sign; do # the others follow from a filter that exists
    from_header include/$header.h | function_of $header $header.h
done
# What the blocks of a document take for granted.
given='umbel_filter *filter = NULL, *f = NULL; const void *bytes = ""; size_t len = 0; uint32_t x = 1, h = 1;
(void)filter; (void)f; (void)bytes; (void)len; (void)x; (void)h;'
for text in *.md docs/*.md docs/*/*.md; do
    blocks c "$text"
    for block in "$tmp"/block*; do
        [ -e "$block" ] || continue
        name=$(echo "${text%.md}_${block##*/block}" | tr -c 'a-zA-Z0-9\n' _)
        grep -q 'umbel_diag diag' "$block" || sed -i '1i umbel_diag diag; (void)diag;' "$block"
        function_of "$name" umbel_foreign.h "$given" <"$block"
        rm "$block"
    done
done
blocks cpp docs/guides/c.md
printf '#include <cstdio>\n#include <umbel.hpp>\nint main() {\n%s\n}\n' "$(cat "$tmp/block1")" >"$tmp/guide.cpp"
g++ -std=c++17 -Wall -Wextra -Werror -Iinclude -Ibindings/cpp -fsyntax-only "$tmp/guide.cpp"
# Names that are no longer in the headers, nor functions of SQL, nor metrics, nor files, nor targets.
{ cat include/* bindings/cpp/* bindings/postgres/*.sql bindings/sqlite/* cli/serve/serve_http.c; cat CMakeLists.txt; ls bindings/lua; } >"$tmp/headers"
for name in $(grep -ohE '\b(umbel_[a-z0-9_]+[a-z0-9]|UMBEL_(E|KIND_|FMT_|PLAN_|TYPE_|VARIANT_)[A-Z0-9_]+)\b' \
    README*.md ARCHITECTURE.md CONTRIBUTING.md SECURITY.md docs/*.md docs/*/*.md | sort -u); do
    grep -q "\b$name" "$tmp/headers" src/*/*.h || { echo "$name: documented, but there is no such name"; exit 1; }
done
for path in $(grep -ohE '\b(src|cli|module|tables|sign|tests|scripts|docs|include|bench|bindings|contrib)/[a-z0-9_./-]+\.(c|h|hpp|cpp|py|sh|md|svg|png|bats|txt)\b' \
    README*.md ARCHITECTURE.md CONTRIBUTING.md SECURITY.md docs/*.md docs/*/*.md | sort -u); do
    [ -e "$path" ] || { echo "$path: documented, but there is no such file"; exit 1; }
done
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
