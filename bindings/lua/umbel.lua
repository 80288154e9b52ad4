-- SPDX-License-Identifier: MIT
--
-- umbel.lua - query a list from LuaJIT: dnsdist, knot-resolver, nginx, pdns-recursor, rspamd
--
--   local umbel = require("umbel")
--   local bad = assert(umbel.open("/var/lib/umbel/bad.umb"))
--   if bad:contains("www.example.com") then ... end
--
--   umbel.open(path)     a list, or nil and why not
--   list:contains(key)   whether the list has it or, for domain names, one of its parents;
--                        nil and a reason if the file is damaged where the answer is
--   list:host(name)      likewise for a host from DNS or mail, whatever bytes are in it
--   list:line(text)      likewise for a whole line, in which the recipe finds the key
--   list:info()          a table: kind, keys, bytes, replaced, exceptions, stale and, if the file
--                        that is there now is not used, reason
--   list:close()
--   umbel.version
--
-- When the file is replaced, the new one answers within a second; if it cannot be read, the old
-- one.  A lookup never raises an error: what is not a string is in no list.  Lua 5.3 and 5.4 have
-- the same module in C (umbel_lua.c).

local ffi = require("ffi")

ffi.cdef [[
typedef struct umbel_list umbel_list;
typedef struct umbel_filter umbel_filter;
typedef struct umbel_lua_diag { const char *what; uint64_t offset, need; int sys; char field[36]; uint64_t more[8]; } umbel_lua_diag;
int umbel_list_open(const char *path, const void *opts, umbel_list **out, umbel_lua_diag *diag);
void umbel_list_close(umbel_list *list);
bool umbel_list_has(umbel_list *list, int use, const char *text, size_t len);
uint64_t umbel_list_replaced(const umbel_list *list);
int umbel_list_status(const umbel_list *list, umbel_lua_diag *diag);
int umbel_damage(const umbel_filter *filter, umbel_lua_diag *diag);
const umbel_filter *umbel_list_filter(const umbel_list *list);
const char *umbel_explain(int err, const umbel_lua_diag *diag, char *text, size_t cap);
const char *umbel_version(void);
size_t umbel_list_text(const umbel_list *list, char *text, size_t cap);
]]

-- The name that the loader knows after `apt install libumbel...`, or a path for tests.
local function load_library()
    local named = os.getenv("UMBEL_LIBRARY")
    local last
    for _, name in ipairs(named and {named} or {"@SONAME@", "umbel"}) do
        local ok, library = pcall(ffi.load, name)
        if ok then return library end
        last = library
    end
    error("umbel: " .. tostring(last))
end

local C = load_library()
local USE_RECORD, USE_KEY, USE_HOST = 0, 1, 3
local has = C.umbel_list_has

local function reason_of(err, diag)
    local text = ffi.new("char[256]")
    return ffi.string(C.umbel_explain(err, diag, text, 256))
end

-- Where the file is damaged, nothing is certain, so that the library says yes.
local function found(handle)
    local diag = ffi.new("umbel_lua_diag")
    local err = C.umbel_damage(C.umbel_list_filter(handle), diag)
    if err == 0 then return true end
    return nil, reason_of(err, diag)
end

local list = {}
list.__index = list

-- All look alike so that LuaJIT compiles each into the caller.
function list:contains(key)
    if type(key) ~= "string" or self.handle == nil then return false end
    if has(self.handle, USE_KEY, key, #key) then return found(self.handle) end
    return false
end

function list:host(name)
    if type(name) ~= "string" or self.handle == nil then return false end
    if has(self.handle, USE_HOST, name, #name) then return found(self.handle) end
    return false
end

function list:line(text)
    if type(text) ~= "string" or self.handle == nil then return false end
    if has(self.handle, USE_RECORD, text, #text) then return found(self.handle) end
    return false
end

function list:info()
    if self.handle == nil then return {} end
    local text = ffi.new("char[256]")
    local t = {replaced = tonumber(C.umbel_list_replaced(self.handle))}
    local n = tonumber(C.umbel_list_text(self.handle, text, 256))
    for name, value in ffi.string(text, math.min(n, 255)):gmatch("(%w+)=(%S+)") do
        t[name] = tonumber(value) or value
    end
    local diag = ffi.new("umbel_lua_diag")
    local err = C.umbel_list_status(self.handle, diag)
    t.stale = err ~= 0
    if t.stale then t.reason = reason_of(err, diag) end
    return t
end

function list:close()
    if self.handle ~= nil then
        C.umbel_list_close(ffi.gc(self.handle, nil))
        self.handle = nil
    end
end

local umbel = {version = ffi.string(C.umbel_version())}

function umbel.open(path)
    if type(path) ~= "string" then return nil, "umbel: the path is not a string" end
    local out = ffi.new("umbel_list *[1]")
    local diag = ffi.new("umbel_lua_diag")
    local err = C.umbel_list_open(path, nil, out, diag)
    if err ~= 0 then
        return nil, path .. ": " .. reason_of(err, diag)
    end
    return setmetatable({handle = ffi.gc(out[0], C.umbel_list_close)}, list)
end

return umbel
