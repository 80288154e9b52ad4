/* SPDX-License-Identifier: MIT
 *
 * umbel_lua.c - umbel.lua's interface for Lua 5.3 and 5.4, which have no FFI (haproxy uses them)
 *
 * The interface is described in umbel.lua, and one suite tests both.
 */
#define _POSIX_C_SOURCE 200809L /* strtok_r */
#include <lauxlib.h>
#include <lua.h>
#include <stdlib.h>
#include <string.h>

#include "umbel_recipe.h"

#define TYPE "umbel.list"

static umbel_list **list_at(lua_State *L, int index) {
    return luaL_testudata(L, index, TYPE);
}

static void push_reason(lua_State *L, umbel_err e, const umbel_diag *diag) {
    char text[256];
    lua_pushstring(L, umbel_explain(e, diag, text, sizeof text));
}

/* Where the file is damaged, nothing is certain, so that the library says yes. */
static int ask(lua_State *L, umbel_recipe_use use) {
    umbel_list **list = list_at(L, 1);
    size_t len = 0;
    umbel_diag diag = {0};
    const char *text = lua_type(L, 2) == LUA_TSTRING ? lua_tolstring(L, 2, &len) : NULL;
    bool found = list && *list && text && umbel_list_has(*list, use, text, len);
    umbel_err e = found ? umbel_damage(umbel_list_filter(*list), &diag) : UMBEL_OK;
    if (!e) {
        lua_pushboolean(L, found);
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

static int info(lua_State *L) {
    umbel_list **list = list_at(L, 1);
    char text[256] = "";
    lua_newtable(L);
    if (!list || !*list) return 1;
    lua_pushinteger(L, (lua_Integer)umbel_list_replaced(*list));
    lua_setfield(L, -2, "replaced");
    umbel_list_text(*list, text, sizeof text);
    for (char *rest = text, *word; (word = strtok_r(rest, " ", &rest));) {
        char *value = strchr(word, '=');
        if (!value) continue;
        *value++ = 0;
        if (!lua_stringtonumber(L, value)) lua_pushstring(L, value);
        lua_setfield(L, -2, word);
    }
    umbel_diag diag = {0};
    umbel_err e = umbel_list_status(*list, &diag);
    lua_pushboolean(L, e != UMBEL_OK);
    lua_setfield(L, -2, "stale");
    if (!e) return 1;
    push_reason(L, e, &diag);
    lua_setfield(L, -2, "reason");
    return 1;
}

static int close_list(lua_State *L) {
    umbel_list **list = list_at(L, 1);
    if (!list) return 0;
    umbel_list_close(*list);
    *list = NULL;
    return 0;
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
    umbel_list **list = lua_newuserdata(L, sizeof *list);
    *list = NULL;
    luaL_setmetatable(L, TYPE);
    umbel_err e = umbel_list_open(path, NULL, list, &diag);
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
    return 1;
}
