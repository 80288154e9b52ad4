#!/bin/sh
# SPDX-License-Identifier: MIT
# The source archive builds where there is no git, what it builds works, and it packs itself again.
set -eu
cd "$(dirname "$0")/../.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

archive=$(scripts/make-dist "$tmp/first")
[ "$(scripts/make-dist "$tmp/again" | xargs cmp "$archive")" = "" ]
mkdir "$tmp/bin"
printf '#!/bin/sh\necho "git was called" >&2\nexit 1\n' >"$tmp/bin/git"
chmod +x "$tmp/bin/git"
PATH=$tmp/bin:$PATH
tar -xzf "$archive" -C "$tmp"
cd "$tmp/$(basename "$archive" .tar.gz)"
[ ! -e build ] && [ ! -e .git ]
# Quickly, not optimised; the rest as make does it.
cmake --preset plain -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0 -DUMBEL_BUILD_MODULE=OFF >"$tmp/log" &&
    cmake --build build -j 2 >>"$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }
printf 'ada\nbob\n' | build/umbel build -o "$tmp/names.umb" 2>/dev/null
[ "$(printf 'bob\neve\n' | build/umbel check "$tmp/names.umb")" = bob ]

[ "$(find . -xtype l)" = "" ] # no link points nowhere
cmp "$archive" "$(scripts/make-dist "$tmp/second")"
echo "$(tar -tzf "$archive" | wc -l) files"
