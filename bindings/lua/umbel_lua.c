/* SPDX-License-Identifier: MIT
 *
 * umbel_lua.c - umbel.lua's interface for Lua 5.3 and 5.4, which have no FFI (haproxy uses them)
 *
 * The interface is described in umbel.lua, and one suite tests both.
 */
#include "umbel_lookup.h"
#include <lauxlib.h>
#include <lua.h>

#define TYPE "umbel.list"

static umbel_source **list_at(lua_State *L, int index) {
    return luaL_testudata(L, index, TYPE);
}

static void push_reason(lua_State *L, umbel_err e, const umbel_diag *diag) {
    char text[256];
    lua_pushstring(L, umbel_explain(e, diag, text, sizeof text));
}

static int ask(lua_State *L, umbel_recipe_use use) {
    umbel_source **list = list_at(L, 1);
    umbel_key text = {0};
    umbel_diag diag = {0};
    umbel_err e = UMBEL_OK;
    uint8_t hit = 0;
    if (list && *list && lua_type(L, 2) == LUA_TSTRING) {
        text.data = lua_tolstring(L, 2, &text.len);
        e = umbel_lookup_texts(umbel_source_now(*list), use, &text, 1, &hit, NULL, &diag);
    }
    if (!e) {
        lua_pushboolean(L, hit);
        return 1;
    }
    lua_pushnil(L);
    push_reason(L, e, &diag);
    return 2;
}

static int contains(lua_State *L) {
    return ask(L, UMBEL_USE_KEY);
}

static int host(lua_State *L) {
    return ask(L, UMBEL_USE_HOST);
}

static int line(lua_State *L) {
    return ask(L, UMBEL_USE_RECORD);
}

static void put_number(lua_State *L, const char *name, uint64_t number) {
    lua_pushinteger(L, (lua_Integer)number);
    lua_setfield(L, -2, name);
}

static int info(lua_State *L) {
    umbel_source **list = list_at(L, 1);
    umbel_source_state state;
    umbel_info info;
    umbel_diag diag = {0};
    lua_newtable(L);
    if (!list || !*list) return 1;
    umbel_describe(umbel_lookup_filter(umbel_source_now(*list)), &info);
    umbel_err e = umbel_source_status(*list, &state, &diag);
    lua_pushstring(L, umbel_kind_name(info.kind));
    lua_setfield(L, -2, "kind");
    put_number(L, "keys", info.keys_added);
    put_number(L, "bytes", info.bytes);
    put_number(L, "exceptions", info.exceptions);
    put_number(L, "replaced", state.replaced);
    put_number(L, "since", state.since);
    lua_pushboolean(L, e != UMBEL_OK);
    lua_setfield(L, -2, "stale");
    if (!e) return 1;
    push_reason(L, e, &diag);
    lua_setfield(L, -2, "reason");
    return 1;
}

static int close_list(lua_State *L) {
    umbel_source **list = list_at(L, 1);
    if (!list) return 0;
    umbel_source_close(*list);
    *list = NULL;
    return 0;
}

/* A list with nothing in it. */
static umbel_source **new_list(lua_State *L) {
    umbel_source **list = lua_newuserdata(L, sizeof *list);
    *list = NULL;
    luaL_setmetatable(L, TYPE);
    return list;
}

static int open_list(lua_State *L) {
    umbel_diag diag = {0};
    char text[256];
    const char *path = lua_type(L, 1) == LUA_TSTRING ? lua_tostring(L, 1) : NULL;
    if (!path) {
        lua_pushnil(L);
        lua_pushliteral(L, "umbel: the path is not a string");
        return 2;
    }
    umbel_err e = umbel_source_open(path, NULL, new_list(L), &diag);
    if (!e) return 1;
    lua_pushnil(L);
    lua_pushfstring(L, "%s: %s", path, umbel_explain(e, &diag, text, sizeof text));
    return 2;
}

__attribute__((visibility("default"))) int luaopen_umbel(lua_State *L);

int luaopen_umbel(lua_State *L) {
    static const luaL_Reg methods[] = {
        {"contains", contains}, {"host", host},       {"line", line}, {"info", info},
        {"close", close_list},  {"__gc", close_list}, {NULL, NULL}};
    luaL_newmetatable(L, TYPE);
    luaL_setfuncs(L, methods, 0);
    lua_pushvalue(L, -1);
    lua_setfield(L, -2, "__index");
    lua_newtable(L);
    lua_pushcfunction(L, open_list);
    lua_setfield(L, -2, "open");
    lua_pushstring(L, umbel_version());
    lua_setfield(L, -2, "version");
    (void)new_list(L);
    lua_setfield(L, -2, "none");
    return 1;
}
