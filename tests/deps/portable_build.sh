#!/bin/sh
# SPDX-License-Identifier: MIT
# The library without each of the things that src/core/platform.h names, and without all of them: it
# compiles without a warning, does not call what is missing, and makes the same filters.  For
# wasm32-wasi it compiles and links.
set -eu
cd "$(dirname "$0")/../.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cc=${CC:-cc}
warn="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror"
flags="-std=c11 -O0 -D_FILE_OFFSET_BITS=64 -ffp-contract=off $warn -Iinclude -Isrc"
sources=$(find src -name '*.c')
# All that the guards can change; the rest is compiled once.
guarded=$(grep -l '"core/platform.h"' $sources)

object_of() { echo "$(basename "$1" .c).o"; }

# compile FOLDER FLAGS SOURCE...: objects, as many at a time as there are processors.
compile() {
    folder=$1
    shift
    more=$1
    shift
    mkdir -p "$folder"
    printf '%s\n' "$@" | xargs -P "$(nproc)" -I{} sh -c \
        "$compiler $flags $more -c {} -o $folder/\$(basename {} .c).o"
}

# run_with FOLDER: links the programs with the objects there, before those of the whole build.
run_with() {
    others=
    for source in $sources; do
        object=$(object_of "$source")
        [ -e "$1/$object" ] || others="$others $tmp/whole/$object"
    done
    for program in consumer portable; do
        $cc "$tmp/programs/$program.o" "$1"/*.o $others -lm -o "$1/$program"
    done
    "$1/consumer" >/dev/null
    mkdir "$1/files"
    "$1/portable" "$1/files" >"$1/said"
    [ "$(ls "$1/files")" = f.umb ] || { echo "left behind: $(ls "$1/files")"; exit 1; }
}

# says FOLDER YES: what the whole build said, but for temporary files.
says() {
    sed "s/^temporary files: .*/temporary files: $2/" "$tmp/whole/said" | cmp - "$1/said"
}

compiler=$cc
compile "$tmp/programs" "" tests/consumer/consumer.c tests/deps/portable.c
compile "$tmp/whole" "" $sources
run_with "$tmp/whole"
says "$tmp/whole" yes

# without "NAME..." "FUNCTION..." YES: a build that lacks these, and calls none of the functions.
without() {
    folder=$tmp/without-$(echo "$1" | tr ' ' '-')
    compile "$folder" "$(echo " $1" | sed 's/ / -DUMBEL_NO_/g')" $guarded
    for function in $2; do
        if nm -u "$folder"/*.o | grep -qw "$function"; then
            echo "without $1: $function is called"
            exit 1
        fi
    done
    run_with "$folder"
    says "$folder" "$3"
    echo "without $1: the same filters"
}

without MMAP "mmap mmap64 munmap" yes
without HUGE_PAGES "" yes
without PREFETCH "" yes
without ATOMICS "" yes
without THREADS "pthread_create pthread_join" yes
without TMPFILE "" yes
without MKSTEMP "mkstemp mkstemp64" yes
without "TMPFILE MKSTEMP" "mkstemp mkstemp64" no
without FLOCK flock yes
without DIRECTORY_SYNC "" yes
without FILE_MODES "fchmod fsetxattr" yes
without EXTENDED_ATTRIBUTES "fsetxattr lgetxattr llistxattr" yes
without PROCESS_IDS getpid yes
all=$(sed -n 's/.*!defined(UMBEL_NO_\([A-Z_]*\)).*/\1/p' src/core/platform.h | tr '\n' ' ')
[ "$(echo $all | wc -w)" -eq 12 ] || { echo "a guard is not tested: $all"; exit 1; }
without "${all% }" "mmap mmap64 madvise pthread_create mkstemp mkstemp64 flock fchmod fsetxattr getpid" no

# ---- WebAssembly ----

headers=/usr/include/wasm32-wasi
[ -d $headers ] || { echo "wasi-libc is missing (scripts/setup test)"; exit 1; }
mkdir "$tmp/include" # xxhash.h alone: the headers next to it are another system's
ln -s "$(echo '#include <xxhash.h>' | $cc -E -M -xc - | grep -o '/[^ ]*/xxhash\.h')" "$tmp/include"
flags="$flags --target=wasm32-wasi -nostdlibinc -isystem $headers -isystem $tmp/include"
compiler=clang
compile "$tmp/wasm" "" $sources tests/deps/portable.c
clang --target=wasm32-wasi "$tmp"/wasm/*.o -lm -o "$tmp/portable.wasm"
echo "wasm32-wasi: compiles and links"
