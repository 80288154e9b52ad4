#!/bin/sh
# SPDX-License-Identifier: MIT
# The library in one file: compiles without a warning with gcc and clang, holds the kernels, exports
# what the library exports, and a program runs with it.  Where a system lacks a header, the file does
# not ask for it.
set -eu
cd "$(dirname "$0")/../.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

scripts/amalgamate "$tmp"
cp tests/consumer/consumer.c tests/consumer/whole_use.c "$tmp"
cd "$tmp"
optimise=-O1 # once, for the warnings that need it; the other builds only have to compile
for cc in gcc clang; do
    command -v $cc >/dev/null || { echo "$cc is not installed (scripts/setup test)"; exit 1; }
    $cc $optimise -Wall -Wextra -Werror -c umbel.c -o umbel.o
    optimise=-O0
    $cc -I. consumer.c umbel.o -o consumer -lm -lpthread
    ./consumer
    $cc -I. whole_use.c umbel.o -o whole_use -lm -lpthread
    ./whole_use $cc.umb
    [ -z "${UMBEL:-}" ] || "$UMBEL" verify $cc.umb >/dev/null
    stray=$(nm --extern-only --defined-only --format=posix umbel.o | grep -v '^umbeli\?_' || :)
    [ -z "$stray" ] || { echo "$stray does not begin with umbel_ or umbeli_"; exit 1; }
    for function in $(sed -n 's/^UMBEL_API.*\b\(umbel_[a-z_]*\)(.*/\1/p' umbel.h); do
        nm umbel.o | grep -q " T $function\$" || { echo "no $function"; exit 1; }
    done
    if [ "$(uname -m)" = x86_64 ]; then
        nm umbel.o | grep -q 'umbeli_blocked_avx2$' || { echo "no AVX2 kernel"; exit 1; }
        # The instructions themselves, though the compiler was not told of them.
        objdump -d umbel.o >instructions
        grep -q 'vptest.*%ymm' instructions || { echo "no AVX2 instructions"; exit 1; }
    fi
done
cmp gcc.umb clang.umb

# As on a processor without our kernels and a system without mappings, threads or locks: the headers
# of these are traps.
mkdir -p traps/sys
for header in immintrin.h sys/mman.h sys/file.h pthread.h; do
    echo "#error $header does not exist on every system" >traps/$header
done
lacking="GENERIC NO_MMAP NO_HUGE_PAGES NO_THREADS NO_FLOCK"
gcc -Itraps $(printf -- '-DUMBEL_%s ' $lacking) -O0 -Wall -Wextra -Werror -c umbel.c -o bare.o
gcc -I. consumer.c bare.o -o consumer -lm
./consumer
# Other processors, where their compilers are installed (scripts/setup cross).
for machine in aarch64 riscv64; do
    ! command -v $machine-linux-gnu-gcc >/dev/null ||
        $machine-linux-gnu-gcc -O0 -Wall -Wextra -Werror -c umbel.c -o $machine.o
done
