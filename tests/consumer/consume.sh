#!/bin/sh
# SPDX-License-Identifier: MIT
# consume.sh WAY BUILD - installs from the build tree BUILD to a place other than the configured
# one, then builds and runs consumer.c against that.
set -eu
way=$1
build=$2
here=$(cd "$(dirname "$0")" && pwd)
cc=${CC:-cc}

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
prefix=$tmp/installed
cmake --install "$build" --prefix "$prefix" >/dev/null
libdir=$(dirname "$(find "$prefix" -name libumbel.a)")
export PKG_CONFIG_PATH="$libdir/pkgconfig"

case $way in
pkg-config-shared)
    $cc -std=c11 "$here/consumer.c" -o "$tmp/consumer" $(pkg-config --cflags --libs umbel)
    readelf -d "$tmp/consumer" | grep -q 'NEEDED.*libumbel\.so\.0'
    LD_LIBRARY_PATH=$libdir "$tmp/consumer"
    if [ -e "$libdir/libumbel-table.so" ]; then
        $cc -std=c11 "$here/table_consumer.c" -o "$tmp/table_consumer" \
            $(pkg-config --cflags --libs umbel-table)
        LD_LIBRARY_PATH=$libdir "$tmp/table_consumer" tests/golden/table/keys300.ldb
    fi
    ;;
pkg-config-static)
    $cc -std=c11 -static "$here/consumer.c" -o "$tmp/consumer" \
        $(pkg-config --static --cflags --libs umbel)
    "$tmp/consumer"
    ;;
cmake)
    cmake -S "$here" -B "$tmp/build" -DCMAKE_PREFIX_PATH="$prefix" \
        -DWANTED="$(pkg-config --modversion umbel)" >"$tmp/log" &&
        cmake --build "$tmp/build" >>"$tmp/log" || { cat "$tmp/log"; exit 1; }
    readelf -d "$tmp/build/with_shared" | grep -q 'NEEDED.*libumbel\.so\.0'
    if readelf -d "$tmp/build/with_static" | grep -q 'NEEDED.*libumbel'; then
        echo "umbel::static was linked with the shared library"
        exit 1
    fi
    "$tmp/build/with_shared"
    "$tmp/build/with_static"
    for program in "$tmp"/build/table_with_*; do
        [ ! -x "$program" ] || "$program" tests/golden/table/keys300.ldb
    done
    ;;
files)
    # What is installed, and nothing else: the headers, of which two have a library of their own, libraries,
    # package files.
    for header in include/*.h bindings/cpp/umbel.hpp; do
        name=$(basename "$header")
        case $name in umbel_table.h | umbel_leveldb.h | umbel_sign.h) continue ;; esac
        test -e "$prefix/include/$name" || { echo "no $name"; exit 1; }
    done
    for header in "$prefix"/include/*; do
        name=$(basename "$header" .h)
        test -e "include/$name.h" || test -e "bindings/cpp/$name" || { echo "$name is not ours"; exit 1; }
        case $name in umbel | umbel_table | umbel_leveldb | umbel_sign) ;; *) continue ;; esac
        test -e "$libdir/lib$(echo "$name" | tr _ -).so" || { echo "$name.h has no library"; exit 1; }
        test -e "$libdir/pkgconfig/$(echo "$name" | tr _ -).pc" || { echo "no .pc of $name"; exit 1; }
    done
    for file in libumbel.a libumbel.so libumbel.so.0.4 pkgconfig/umbel.pc \
        cmake/umbel/umbelConfig.cmake cmake/umbel/umbelConfigVersion.cmake; do
        test -e "$libdir/$file" || { echo "$file is not installed"; exit 1; }
    done
    DESTDIR=$tmp/staged cmake --install "$build" >/dev/null
    find "$tmp/staged" -path '*/include/umbel.h' | grep -q . || {
        echo "DESTDIR is not respected"
        exit 1
    }
    ;;
*)
    echo "consume.sh: no way called '$way'" >&2
    exit 2
    ;;
esac
