#!/bin/sh
# SPDX-License-Identifier: MIT
# installed.sh BUILD - installs the build tree BUILD into a prefix as make install does, uses
# everything from there, and removes it: afterwards the prefix is as it was.
set -eu
build=$1
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

step() { echo "-- $*"; }
fail() { echo "FAILED: $*"; exit 1; }

prefix=$tmp/prefix
mkdir -p "$prefix/share/man/man1"
echo 'another package' >"$prefix/share/man/man1/other.1"
umask 022
"$root/scripts/install-files" install "$build" "$prefix" "$tmp/record" >/dev/null
# Twice, as after an update.
"$root/scripts/install-files" install "$build" "$prefix" "$tmp/record" >/dev/null
libdir=$(dirname "$(find "$prefix" -name libumbel.a)")
export PKG_CONFIG_PATH="$libdir/pkgconfig"
has() { [ -e "$libdir/lib$1.so" ]; }
# Programs of a user know nothing of our build tree.
cd "$tmp"

step command
umbel=$prefix/bin/umbel
printf 'ada\nbob\n' >names
"$umbel" build -o names.umb names 2>/dev/null
[ "$(printf 'bob\neve\n' | "$umbel" check names.umb)" = bob ] || fail "umbel check"
"$umbel" table "$root/tests/golden/table/keys300.ldb" >/dev/null || fail "umbel table"
[ "$(echo bob | "$umbel" serve --squid names.umb)" = "OK tag=names" ] || fail "umbel serve"
said=$("$umbel" push names.umb --redis 127.0.0.1:1 --key k 2>&1) && fail "umbel push"
echo "$said" | grep -q 'Connection refused' || fail "umbel push: $said"
version=$("$umbel" --version | cut -d ' ' -f 2)

step man pages and completions
for page in man1/umbel.1 man1/umbel-build.1 man3/umbel.3 man3/umbel_add.3 man7/umbel-kinds.7 \
    man7/umbel-formats.7; do
    [ -e "$prefix/share/man/$page" ] || fail "$page is not installed"
done
if command -v man >/dev/null && [ -z "$(man -w ls 2>&1 >/dev/null)" ]; then
    [ "$(MANPATH=$prefix/share/man man -w umbel)" = "$prefix/share/man/man1/umbel.1" ] || fail "man umbel"
fi
answer=$(bash -c '. "$1"; COMP_WORDS=(umbel pl); COMP_CWORD=1; _umbel; echo "${COMPREPLY[@]}"' - \
    "$prefix/share/bash-completion/completions/umbel")
[ "$answer" = plan ] || fail "bash's completion answers '$answer'"
if command -v zsh >/dev/null; then zsh -n "$prefix/share/zsh/site-functions/_umbel"; fi
if command -v fish >/dev/null; then fish -n "$prefix/share/fish/vendor_completions.d/umbel.fish"; fi

# both NAME SOURCE PACKAGE ARGUMENT... - builds SOURCE with the shared and the static libraries of
# pkg-config's PACKAGE and runs it.
both() {
    name=$1 source=$2 package=$3
    shift 3
    case $source in *.c) standard="-x c -std=c11" ;; *) standard=-std=c++17 ;; esac
    [ "$(pkg-config --modversion "$package")" = "$version" ] || fail "version of $package.pc"
    $cc $standard -Wall -Wextra "$source" -x none -o "$name" $(pkg-config --cflags --libs "$package")
    LD_LIBRARY_PATH=$libdir "./$name" "$@"
    # Every library static: pkg-config must name all that these need.
    rm -rf "$name" database
    mkdir database
    $cc $standard "$source" -x none -static -o "$name" \
        $(pkg-config --static --cflags --libs "$package") 2>log || { cat log; fail "$name, static"; }
    "./$name" "$@"
    rm -rf database
    mkdir database
}

mkdir database
for pair in gcc:g++ clang:clang++; do
    cc=${pair%:*}
    cxx=${pair#*:}
    command -v "$cxx" >/dev/null || fail "$cxx is not installed (scripts/setup test)"
    step "$cc and $cxx, pkg-config"
    both consumer "$here/consumer.c" umbel
    $cc -std=c11 -Wall -Wextra "$root/contrib/dedupe.c" -o dedupe $(pkg-config --cflags --libs umbel)
    [ "$(printf 'ada\nbob\nada\n' | LD_LIBRARY_PATH=$libdir ./dedupe 2>/dev/null)" = "$(cat names)" ] ||
        fail "contrib/dedupe.c"
    $cxx -std=c++17 -Wall -Wextra "$root/contrib/blocklist.cpp" -o blocklist \
        $(pkg-config --cflags --libs umbel)
    answer=$(LD_LIBRARY_PATH=$libdir ./blocklist list.umb bad.example -- good.example bad.example)
    [ "$answer" = "fine   good.example
listed bad.example" ] || fail "contrib/blocklist.cpp: $answer"
    if has umbel-table; then
        both table_consumer "$here/table_consumer.c" umbel-table "$root/tests/golden/table/keys300.ldb"
    fi
    if has umbel-sign; then
        both sign_consumer "$here/sign_consumer.c" umbel-sign "$root/tests/golden/minisign/list" \
            RWREYQazd5Bd4fnocBacS23YlqbCFrlH+CPGbwemgFgScPH+Z5Of7wHU
    fi
    if has umbel-leveldb; then
        both leveldb_c "$here/leveldb_consumer.c" umbel-leveldb database/c
        cc=$cxx
        both leveldb_cxx "$here/leveldb_consumer.cc" umbel-leveldb database
    fi
done

step CMake
cmake -S "$here" -B cmake -DCMAKE_PREFIX_PATH="$prefix" -DWANTED="$version" >log && cmake --build cmake >>log ||
    { cat log; fail "find_package(umbel)"; }
for program in with_shared with_static; do "cmake/$program"; done
if has umbel-leveldb; then cmake/leveldb_with_shared database; fi

module=$libdir/redis/modules/umbel.so
if [ -e "$module" ]; then
    step module
    "$here/try_module.sh" "$module"
fi

step uninstall
"$root/scripts/install-files" uninstall "$tmp/record"
left=$(cd "$prefix" && find . ! -type d)
[ "$left" = ./share/man/man1/other.1 ] || fail "left in the prefix: $left"
left=$(cd "$prefix" && find . -type d | sort | tr '\n' ' ')
[ "$left" = ". ./share ./share/man ./share/man/man1 " ] || fail "folders left in the prefix: $left"
if "$root/scripts/install-files" uninstall "$tmp/record" 2>/dev/null; then fail "uninstalled twice"; fi
echo "everything was used and removed"
