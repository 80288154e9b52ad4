#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# labels: checks
# The checks must be able to fail: each rule is broken once, in a small tree made for it.

setup() {
    root=$BATS_TEST_TMPDIR/tree
    scripts=$BATS_TEST_DIRNAME/../../scripts
    mkdir -p "$root"/include "$root"/src/core "$root"/src/kind "$root"/src/format \
        "$root"/cli/base "$root"/cli/filter "$root"/cli/report "$root"/tables
    put include/umbel.h '#define UMBEL_API __attribute__((visibility("default")))' \
        'UMBEL_API int umbel_one(int (*f)(void));' \
        '/* UMBEL_API int umbel_gone(void); */' 'UMBEL_API const char *umbel_two' '    (void);'
    put src/core/bits.h '#include <stdint.h>'
    put src/kind/classic.c '#include "core/bits.h"' '#include "umbel.h"'
    put src/kind/blocked_avx2.c '#include <immintrin.h>'
    put cli/main.c '#include "report/summary.h"' '#include "umbel.h"'
    put cli/base/error.h
    put cli/filter/filter_file.c '#include "base/error.h"'
    put cli/report/summary.h '#include "base/error.h"'
}

# put FILE LINE... - a file of these lines below an SPDX line.
put() {
    { echo '/* SPDX-License-Identifier: MIT */'; printf '%s\n' "${@:2}"; } >"$root/$1"
}

# The layer check must fail with this message.
breaks() {
    run "$scripts/check-layers" "$root"
    echo "$output"
    [ "$status" -eq 1 ]
    [ "$(echo "$output" | wc -l)" -eq 1 ]
    [[ $output == *"$1"* ]]
}

@test "layers: a tree that keeps the rules passes" {
    run "$scripts/check-layers" "$root"
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "layers: an include upwards" {
    put src/core/bits.c '#include "kind/classic.h"'
    breaks 'src/core/bits.c:2: core may not include "kind/classic.h"'
}

@test "layers: a message that names something of C" {
    put src/core/bits.c 'static const char *said = "kind: made with umbel_builder";'
    breaks 'src/core/bits.c:2: "kind: made with umbel_builder" speaks of C'
    sed -i 2d "$root/src/core/bits.c"
    put src/core/bits.c 'static const char *said = "the bits need more than opts.max_bytes";'
    breaks 'src/core/bits.c:2: "the bits need more than opts.max_bytes" speaks of C'
}

@test "layers: an include without its layer" {
    put src/kind/classic.c '#  include "bits.h"'
    breaks 'src/kind/classic.c:2: "bits.h" is not written from src/'
}

@test "layers: a folder that is not a layer" {
    mkdir "$root/src/misc"
    put src/misc/odd.c
    breaks 'src/misc/odd.c: not in a layer'
}

@test "layers: the command reaches into the library" {
    put cli/main.c '#include "core/bits.h"'
    breaks 'cli/main.c:2: cli may not include "core/bits.h"'
}

@test "layers: a room of the command reaches up to another" {
    put cli/filter/filter_file.c '#include "report/summary.h"'
    breaks 'cli/filter/filter_file.c:2: cli/filter may not include "report/summary.h": report lies above it'
}

@test "layers: a room of the command reaches up to main" {
    put cli/main.h
    put cli/filter/filter_file.c '#include "main.h"'
    breaks 'cli/filter/filter_file.c:2: "main.h" is in none of the rooms'
}

@test "layers: a folder that is not a room of the command" {
    mkdir "$root/cli/misc"
    put cli/misc/odd.c
    breaks 'cli/misc/odd.c: not in a room of the command'
}

@test "layers: a public header reaches into the library" {
    put include/umbel.h '#include "core/bits.h"'
    breaks 'include/umbel.h:2: include may not include "core/bits.h"'
}

@test "layers: the library reaches up to the tables" {
    put tables/table.h
    put src/kind/classic.c '#include "tables/table.h"'
    breaks 'src/kind/classic.c:2: "tables/table.h" is not written from src/'
}

@test "layers: a room with too many files" {
    for i in $(seq 23); do put "tables/file$i.c"; done
    breaks 'tables: 23 files in one room'
}

@test "layers: a codec includes another" {
    put src/format/native.c 'const umbeli_codec umbeli_codec_native = {0};'
    put src/format/other.c '#include "format/native.h"'
    breaks 'src/format/other.c:2: a codec includes another one'
}

@test "layers: intrinsics outside their kernel" {
    put src/kind/classic.c '#include <immintrin.h>'
    breaks 'src/kind/classic.c:2: <immintrin.h> belongs'
}

@test "layers: a kernel chosen at compile time" {
    put src/kind/classic.c '#ifdef __AVX2__' '#endif'
    breaks 'src/kind/classic.c:2: __AVX2__'
}

@test "layers: an option that no command takes" {
    mkdir -p "$root/cli/options" "$root/cli/command"
    put cli/options/option_list.h 'FLAG(FORCE, "f", "force", force, "")' 'CHOICE(ASK, "", "ask", "")'
    put cli/command/cmd_add.c 'static const uint8_t options[] = {OPT_FORCE_ALL, OPT_ASK, OPT_END};'
    breaks 'cli/options/option_list.h:2: no command takes OPT_FORCE:'
}

@test "layers: one name for two files" {
    put src/kind/bits.h
    breaks 'src/kind/bits.h: the same name as src/core/bits.h'
}

@test "layers: a file called util" {
    put src/core/util.c
    breaks 'src/core/util.c: a file called util'
}

@test "layers: no SPDX line" {
    echo 'int x;' >"$root/src/core/bits.c"
    breaks 'src/core/bits.c:1: no SPDX line'
}

# symbols CODE - runs the check on a shared and a static library of this code.
symbols() {
    echo "$1" | gcc -c -fPIC -fvisibility=hidden -I"$root/include" -x c - -o "$root/lib.o"
    gcc -shared "$root/lib.o" -o "$root/lib.so"
    ar rc "$root/lib.a" "$root/lib.o"
    run "$scripts/check-symbols" "$root/lib.so" "$root/lib.a" "$root/include/umbel.h"
    echo "$output"
}

@test "symbols: equal sets pass" {
    symbols '#include <umbel.h>
        int umbel_one(int (*f)(void)) { return f(); } const char *umbel_two(void) { return ""; }
        int umbeli_hidden(void) { return 1; } static int mine(void) { return umbeli_hidden(); }
        int umbeli_more(void) { return mine(); }'
    [ "$status" -eq 0 ]
    [[ $output == "2 functions"* ]]
}

@test "symbols: declared but not exported, exported but not declared, without prefix" {
    symbols '#include <umbel.h>
        int umbel_one(int (*f)(void)) { return f(); } UMBEL_API int umbel_extra = 1;
        int stray(void) { return 1; }'
    [ "$status" -eq 1 ]
    [ "${lines[0]}" = "umbel_two is declared, but the library does not export it" ]
    [ "${lines[1]}" = "umbel_extra is exported, but no header declares it" ]
    [ "${lines[2]}" = "stray in the static library does not begin with umbel_ or umbeli_" ]
    [ "${#lines[@]}" -eq 3 ]
}

@test "what npm installs for tests is locked by checksums, and names no server" {
    python3 - << 'EOF'
import json
for folder in ("tests/interop", "tests/js/npm"):
    wanted = json.load(open(f"{folder}/package.json"))["dependencies"]
    lock = json.load(open(f"{folder}/package-lock.json"))["packages"]
    assert lock[""]["dependencies"] == wanted
    for name, package in lock.items():
        assert not name or package["integrity"].startswith("sha512-"), name
        assert "resolved" not in package, name
EOF
}
