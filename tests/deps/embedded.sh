#!/bin/sh
# SPDX-License-Identifier: MIT
# embedded.sh [MACHINE]... - the library in one file on other machines: i386 (with and without threads and
# mappings), arm64 and riscv64 under qemu, Windows (mingw-w64) in wine.  Each compiles it without a warning
# and runs programs that use files, threads and the planner; the files that they write are the same, byte for
# byte, as those of this machine.  Part of make check-cross, which installs what it needs.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d)
trap 'WINEPREFIX=$tmp/wine wineserver -k 2>/dev/null || :; rm -rf "$tmp"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
"$root/scripts/amalgamate" "$tmp" >/dev/null
mkdir "$tmp/include" # xxhash.h alone: what lies next to it belongs to this system
cp /usr/include/xxhash.h "$tmp/include"
[ ! -e /usr/include/xxh3.h ] || cp /usr/include/xxh3.h "$tmp/include"
cd "$tmp"
# -O1: what gcc says beyond that about code it has inlined differs from system to system.
common="-std=c11 -O1 -Wall -Wextra -Werror -Iinclude -I."

try() { # NAME COMPILER LINKING RUNNER ARGUMENT
    $2 $common -c umbel.c -o "$1.o" || fail "$1: umbel.c"
    for program in consumer whole_use; do
        $2 $common "$root/tests/consumer/$program.c" "$1.o" -o "$1-$program.exe" $3 || fail "$1: $program"
    done
    $4 "./$1-consumer.exe" >"$1.out" 2>"$1.err" || { cat "$1.err"; fail "$1: consumer"; }
    grep -q 'ada in, bob out' "$1.out" || fail "$1: consumer says $(cat "$1.out")"
    for again in 1 2; do # the second time over a file
        $4 "./$1-whole_use.exe" "$1.umb" $5 >"$1.out" 2>&1 || { cat "$1.out"; fail "$1: whole_use"; }
    done
    [ "$1" = here ] || cmp here.umb "$1.umb" || fail "$1: another filter"
    [ "$(find . -name "$1.umb*" | wc -l)" = 1 ] || fail "$1: something is left next to the file"
    echo "$1: compiles, runs, writes the same bytes"
}

[ $# -gt 0 ] || set -- i386 arm64 riscv64 windows
try here gcc "-lm -lpthread" "" ""
for machine; do
    case $machine in
    i386)
        sys=$root/build/cross/roots/i386
        loader="-Wl,--dynamic-linker,$sys/lib/ld-linux.so.2 -Wl,--disable-new-dtags,-rpath,$sys/lib/i386-linux-gnu"
        cc="gcc -m32 -msse2 -mfpmath=sse -Wno-psabi --sysroot=$sys -B$sys/usr/lib/i386-linux-gnu"
        try i386 "$cc" "-lm -lpthread $loader" "" ""
        try i386-bare "$cc -DUMBEL_NO_THREADS -DUMBEL_NO_MMAP" "-lm $loader" "" ""
        ;;
    arm64) try arm64 aarch64-linux-gnu-gcc "-static -lm -lpthread" qemu-aarch64 "" ;;
    riscv64) try riscv64 riscv64-linux-gnu-gcc "-static -lm -lpthread -latomic" qemu-riscv64 "" ;;
    windows)
        wine=$(command -v wine64 || command -v wine) || fail "no wine (scripts/setup cross)"
        export WINEPREFIX="$tmp/wine" WINEDEBUG=-all
        $wine wineboot -i >wine.log 2>&1 || { cat wine.log; fail wine; }
        # Temporary files while a static filter is built are refused there.
        try windows x86_64-w64-mingw32-gcc-posix "-static -lm -lpthread" "$wine" memory
        try windows-bare "x86_64-w64-mingw32-gcc-posix -DUMBEL_NO_THREADS" "-static -lm -lpthread" "$wine" memory
        ;;
    *) fail "no machine called $machine" ;;
    esac
done
