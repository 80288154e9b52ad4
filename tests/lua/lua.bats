# SPDX-License-Identifier: MIT
# umbel for Lua: one suite, three interpreters.

# hollow_list UMBEL FILE: more than 64 MiB, so that it is mapped, most of them zeros that were not
hollow_list() {
    seq 2000 | "$1" build -q --kind blocked -n 60000000 -p 1% -o "$2"
    dd if=/dev/zero of="$2" bs=1M seek=2 count=60 conv=notrunc 2> "$2.log"
}

# suite INTERPRETER FOLDER
suite() {
    command -v "$1" > /dev/null || skip "$1 is not installed"
    build=$(cd "$(dirname "${UMBEL:-build/umbel}")" && pwd)
    [ -e "$build/lua/$2" ] || skip "built without $1"
    hollow_list "$build/umbel" "$BATS_TEST_TMPDIR/hollow.umb"
    UMBEL_LIBRARY=$build/libumbel.so LUA_PATH="$build/lua/$2/?.lua" LUA_CPATH="$build/lua/$2/?.so" \
        "$1" tests/lua/suite.lua "$BATS_TEST_TMPDIR" "$build/tests/make_list"
}

@test "LuaJIT, by FFI" {
    suite luajit jit
}

@test "Lua 5.3" {
    suite lua5.3 5.3
}

@test "Lua 5.4" {
    suite lua5.4 5.4
}
