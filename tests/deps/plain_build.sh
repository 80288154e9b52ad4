#!/bin/sh
# SPDX-License-Identifier: MIT
# The library needs no build system: one compiler command builds a program with it, which runs.
set -eu
cd "$(dirname "$0")/../.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

${CC:-cc} -O2 src/*/*.c src/*/*/*.c tests/consumer/consumer.c -Iinclude -Isrc -o "$tmp/consumer" \
    -lm -lpthread
"$tmp/consumer"
