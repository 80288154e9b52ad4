#!/bin/sh
# SPDX-License-Identifier: MIT
# static.sh FOLDER - the static commands in FOLDER, each alone in an empty root: they are small enough, need
# nothing, and do what the command does.  That of arm64 runs under qemu, whose libraries are the only ones there.
set -eu
folder=$(cd "$1" && pwd)
golden=$(cd "$(dirname "$0")/../golden" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
most=$((4 << 20))

# Emulator and libraries, below a folder that only it looks at.
put_emulator() { # ROOT PROGRAM
    for file in "$2" $(ldd "$2" | grep -o '/[^ ]*'); do
        mkdir -p "$1$(dirname "$file")"
        cp -L "$file" "$1$file"
    done
}

try() { # PROGRAM [EMULATOR]
    root=$tmp/$(basename "$1")
    mkdir -p "$root/tmp"
    cp "$1" "$root/umbel"
    [ "$(stat -c %s "$1")" -le $most ] || fail "$1 has $(stat -c %s "$1") bytes, more than 4 MiB"
    readelf -d "$1" | grep -q NEEDED && fail "$1 needs a library"
    readelf -l "$1" | grep -q INTERP && fail "$1 needs a loader"
    emulator=${2:+$(command -v "$2")} || fail "no $2 (scripts/setup static)"
    [ -z "$emulator" ] || put_emulator "$root" "$emulator"
    seq 1000 >"$root/keys"
    seq 500 1500 | gzip >"$root/some.gz"
    cp "$golden/table/keys300.ldb" "$root"
    umbel() { unshare -r chroot "$root" $emulator /umbel "$@"; }
    umbel build -q -p 1e-6 -o /keys.umb /keys
    [ "$(umbel check -c /keys.umb /keys)" = 1000 ] || fail "$1 check"
    [ "$(umbel check -c /keys.umb /some.gz)" = 501 ] || fail "$1 gzip"
    [ "$(umbel build -q -p 1e-6 --kind tight -o - /keys | umbel check -c - -e 7)" = 1 ] || fail "$1 pipe"
    umbel table /keys300.ldb >/dev/null || fail "$1 table"
    umbel info --json /keys.umb | grep -q '"kind"' || fail "$1 info"
    said=$(umbel push /keys.umb --redis 127.0.0.1:1 --key k 2>&1) && fail "$1 push"
    echo "$said" | grep -q 'Connection refused' || fail "$1 push: $said"
    # The same bytes whatever the machine.
    sha256sum <"$root/keys.umb" >>"$tmp/sums"
    echo "$(basename "$1"): $(stat -c %s "$1") bytes, works in an empty root"
}

try "$folder/umbel-$(uname -m)"
[ ! -e "$folder/umbel-aarch64" ] || [ "$(uname -m)" = aarch64 ] || try "$folder/umbel-aarch64" qemu-aarch64
[ "$(sort -u "$tmp/sums" | wc -l)" = 1 ] || fail "the machines build different filters"
