#!/bin/sh
# SPDX-License-Identifier: MIT
# subproject.sh - umbel below another project changes nothing there; and its switches switch
set -eu
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
quietly() {
    "$@" >"$tmp/log" 2>&1 </dev/null || { cat "$tmp/log"; exit 1; }
}
unset CMAKE_BUILD_TYPE
quietly cmake -S subproject -B "$tmp/parent" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DUMBEL_SOURCE="$root" -DCMAKE_INSTALL_PREFIX="$tmp/prefix"
quietly cmake --build "$tmp/parent" -j "${JOBS:-2}" --target parent
quietly cmake --install "$tmp/parent"
installed=$(cd "$tmp/prefix" && find . -type f)
[ "$installed" = ./bin/parent ] || { echo "installed in the parent's prefix: $installed"; exit 1; }
rm -rf "$tmp/parent/umbel" # what was installed is all that a user of the program has
quietly "$tmp/prefix/bin/parent"
grep -q 'umbel_objects.*-O2\|-O2.*umbel_objects' "$tmp/parent/compile_commands.json" ||
    { echo "compiled without -O, because the parent has no build type"; exit 1; }

quietly cmake -S "$root" -B "$tmp/small" -DUMBEL_BUILD_TABLE=OFF -DUMBEL_BUILD_TESTS=OFF -DUMBEL_BUILD_MODULE=OFF \
    -DUMBEL_WITH_ISAL=OFF -DUMBEL_WITH_HIREDIS=OFF -DUMBEL_WITH_LEVELDB=OFF -DUMBEL_WITH_SODIUM=OFF
grep -q 'umbel umbel_command; with: *$' "$tmp/log" || { tail -5 "$tmp/log"; exit 1; }
