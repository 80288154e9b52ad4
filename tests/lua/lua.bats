# SPDX-License-Identifier: MIT
# umbel for Lua: one suite, three interpreters.

# suite INTERPRETER FOLDER
suite() {
    command -v "$1" > /dev/null || skip "$1 is not installed"
    build=$(cd "$(dirname "${UMBEL:-build/umbel}")" && pwd)
    [ -e "$build/lua/$2" ] || skip "built without $1"
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
