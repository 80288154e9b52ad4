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
--   list:info()          a table: kind, keys, bytes, exceptions, replaced (how often), since (when
--                        the list in force was read, in seconds since 1970), stale and, if the file
--                        that is there now is not used or is damaged, reason
--   list:close()
--   umbel.none           a list with nothing in it, for `umbel.open(path) or umbel.none`
--   umbel.version
--
-- When the file is replaced, the new one answers within a second; if it cannot be read, the old
-- one.  A lookup never raises an error: what is not a string is in no list.  Lua 5.3 and 5.4 have
-- the same module in C (umbel_lua.c).

local ffi = require("ffi")

ffi.cdef [[
typedef struct umbel_source umbel_source;
typedef struct umbel_lookup umbel_lookup;
typedef struct umbel_filter umbel_filter;
typedef struct umbel_lua_diag { const char *what; uint64_t offset, need; int sys; char field[36]; uint64_t more[8]; } umbel_lua_diag;
typedef struct umbel_lua_key { const char *data; size_t len; } umbel_lua_key;
typedef struct umbel_lua_state { uint64_t replaced, refused, since; bool stale; uint64_t more[12]; } umbel_lua_state;
typedef struct umbel_lua_info {
    int kind, format, hash;
    const char *layout, *kernel;
    uint64_t seed, fingerprint, capacity;
    double fpr;
    uint64_t bits, bytes, keys_added;
    uint32_t hashes, layers, generations;
    bool grows, frozen, concurrent, manual;
    uint32_t exceptions;
    uint64_t more[16];
} umbel_lua_info;
int umbel_source_open(const char *path, const void *how, umbel_source **out, umbel_lua_diag *diag);
void umbel_source_close(umbel_source *source);
const umbel_lookup *umbel_source_now(umbel_source *source);
int umbel_source_status(const umbel_source *source, umbel_lua_state *state, umbel_lua_diag *diag);
int umbel_lookup_texts(const umbel_lookup *lookup, int use, const umbel_lua_key *texts, size_t n, uint8_t *hit,
                       uint8_t *states, umbel_lua_diag *diag);
const umbel_filter *umbel_lookup_filter(const umbel_lookup *lookup);
void umbel_describe(const umbel_filter *filter, umbel_lua_info *info);
const char *umbel_kind_name(int kind);
const char *umbel_explain(int err, const umbel_lua_diag *diag, char *text, size_t cap);
const char *umbel_version(void);
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
local now, lookup = C.umbel_source_now, C.umbel_lookup_texts
local asked, hit, diag = ffi.new("umbel_lua_key[1]"), ffi.new("uint8_t[1]"), ffi.new("umbel_lua_diag")

local function reason_of(err)
    local text = ffi.new("char[256]")
    return ffi.string(C.umbel_explain(err, diag, text, 256))
end

local list = {}
list.__index = list

-- All look alike so that LuaJIT compiles each into the caller.
function list:contains(key)
    if type(key) ~= "string" or self.handle == nil then return false end
    asked[0].data, asked[0].len = key, #key
    local err = lookup(now(self.handle), USE_KEY, asked, 1, hit, nil, diag)
    if err ~= 0 then return nil, reason_of(err) end
    return hit[0] == 1
end

function list:host(name)
    if type(name) ~= "string" or self.handle == nil then return false end
    asked[0].data, asked[0].len = name, #name
    local err = lookup(now(self.handle), USE_HOST, asked, 1, hit, nil, diag)
    if err ~= 0 then return nil, reason_of(err) end
    return hit[0] == 1
end

function list:line(text)
    if type(text) ~= "string" or self.handle == nil then return false end
    asked[0].data, asked[0].len = text, #text
    local err = lookup(now(self.handle), USE_RECORD, asked, 1, hit, nil, diag)
    if err ~= 0 then return nil, reason_of(err) end
    return hit[0] == 1
end

function list:info()
    if self.handle == nil then return {} end
    local info, state = ffi.new("umbel_lua_info"), ffi.new("umbel_lua_state")
    C.umbel_describe(C.umbel_lookup_filter(now(self.handle)), info)
    local err = C.umbel_source_status(self.handle, state, diag)
    return {
        kind = ffi.string(C.umbel_kind_name(info.kind)), keys = tonumber(info.keys_added),
        bytes = tonumber(info.bytes), exceptions = tonumber(info.exceptions),
        replaced = tonumber(state.replaced), since = tonumber(state.since),
        stale = err ~= 0, reason = err ~= 0 and reason_of(err) or nil,
    }
end

function list:close()
    if self.handle ~= nil then
        C.umbel_source_close(ffi.gc(self.handle, nil))
        self.handle = nil
    end
end

local umbel = {version = ffi.string(C.umbel_version()), none = setmetatable({}, list)}

function umbel.open(path)
    if type(path) ~= "string" then return nil, "umbel: the path is not a string" end
    local out = ffi.new("umbel_source *[1]")
    local err = C.umbel_source_open(path, nil, out, diag)
    if err ~= 0 then
        return nil, path .. ": " .. reason_of(err)
    end
    return setmetatable({handle = ffi.gc(out[0], C.umbel_source_close)}, list)
end

return umbel
