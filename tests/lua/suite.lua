-- SPDX-License-Identifier: MIT
--
-- suite.lua FOLDER MAKE_LIST - umbel for Lua, whichever it is: LuaJIT's by FFI or the module in C
--
-- FOLDER is empty and writable, MAKE_LIST the program of tests/edge that builds the lists.

local folder, command = arg[1], arg[2]
local umbel = require("umbel")
local passed, failed = 0, 0

local function check(what, ok)
    if ok then
        passed = passed + 1
    else
        failed = failed + 1
        print("not ok: " .. what)
    end
end

local function write(name, text)
    local f = assert(io.open(folder .. "/" .. name, "wb"))
    f:write(text)
    f:close()
end

local function build(name, lines, recipe)
    write("lines", table.concat(lines, "\n") .. "\n")
    local line = ("%s %s/%s %s 1e-9 %s/lines"):format(command, folder, name, recipe or "line", folder)
    local ok = os.execute(line)
    assert(ok == true or ok == 0, line)
    return folder .. "/" .. name
end

local function wait_for(condition)
    local last = os.time() + 5
    while os.time() < last do
        if condition() then return true end
    end
    return condition()
end

check("version", type(umbel.version) == "string" and umbel.version:match("^%d+%.%d+%.%d+$"))

-- What cannot be opened is a nil and a sentence.
local none, why = umbel.open(folder .. "/none.umb")
check("a missing file", none == nil and why:find("none.umb", 1, true))
write("text.umb", "not a filter\n")
none, why = umbel.open(folder .. "/text.umb")
check("not a filter", none == nil and type(why) == "string")
none, why = umbel.open(nil)
check("no path", none == nil and type(why) == "string")

-- Names of domains: the name and its parents.
local path = build("bad.umb", {"bad.example", "ads.test"}, "domain")
local bad = assert(umbel.open(path))
check("a listed name", bad:contains("bad.example"))
check("below it", bad:contains("a.b.bad.example"))
check("capitals, final dot", bad:contains("WWW.Ads.Test."))
check("a URL", bad:contains("https://www.ads.test:8443/x?y"))
check("another name", not bad:contains("good.example"))
check("the parent alone", not bad:contains("example"))
check("similar", not bad:contains("notbad.example"))
check("empty", not bad:contains(""))
check("long", not bad:contains(("a."):rep(5000) .. "org"))
check("NUL", not bad:contains("bad.exa\0mple"))
check("a line of a hosts file", bad:line("0.0.0.0 ads.test # ads"))
check("a comment", not bad:line("# ads.test"))
local info = bad:info()
check("info", info.kind == "tight" and info.keys == 2 and info.replaced == 0 and info.bytes > 0)

local none = umbel.open("no such file") or umbel.none
check("nothing is in none", not (none:contains("bad.example") or none:host("bad.example") or none:line("bad.example")))
check("none says nothing", next(none:info()) == nil)
none:close()
check("none is closed for nobody", not umbel.none:contains("bad.example"))

-- The table of lookups that every binding has.
local golden, listed, rows = "tests/golden/recipes/", {}, 0
for line in io.lines(golden .. "listed.txt") do listed[#listed + 1] = line end
local hosts = assert(umbel.open(build("hosts.umb", listed, "domain")))
for line in io.lines(golden .. "lookups.tsv") do
    local hex, key, host, record, what = line:match("^(%S+)\t(%S+)\t(%S+)\t(%S+)\t(.*)$")
    if hex ~= "text" then
        local text = hex == "empty" and "" or hex:gsub("..", function(x) return string.char(tonumber(x, 16)) end)
        rows = rows + 1
        check(what .. ": key", hosts:contains(text) == (key == "yes"))
        check(what .. ": host", hosts:host(text) == (host == "yes"))
        check(what .. ": line", hosts:line(text) == (record == "yes"))
    end
end
check("the table has rows", rows > 40)

-- Filters of every recipe.
golden, rows = "tests/golden/lookups/", 0
for line in io.lines(golden .. "answers.tsv") do
    local name, text, key, record, _, what = line:match("^([^\t]*)\t([^\t]*)\t(%S+)\t(%S+)\t(%S+)\t(.*)$")
    if name ~= "file" then
        local list = assert(umbel.open(golden .. name .. ".umb"))
        rows = rows + 1
        check(name .. ", " .. what .. ": key", list:contains(text) == (key == "yes"))
        check(name .. ", " .. what .. ": line", list:line(text) == (record == "yes"))
        list:close()
    end
end
check("the golden table has rows", rows > 50)

check("not stale", info.stale == false and info.reason == nil)

-- A mapped list with a hole: yes, or nil and why, never no.
local hollow = assert(umbel.open(folder .. "/hollow.umb"))
local missing, reasons = 0, 0
for i = 1, 2000 do
    local found, reason = hollow:contains(tostring(i))
    if found == false then missing = missing + 1 end
    if found == nil and reason:find("payload checksum", 1, true) then reasons = reasons + 1 end
end
check("no wrong no", missing == 0)
check("reasons", reasons > 0)
local line, sentence = hollow:line("1")
check("a line of a damaged list", line == nil and type(sentence) == "string")
check("info of a damaged list", hollow:info().stale and hollow:info().reason:find("payload checksum", 1, true))
hollow:close()

-- Nothing raises an error.
for _, wrong in ipairs({1, true, {}, print}) do
    check("a " .. type(wrong), bad:contains(wrong) == false and bad:host(wrong) == false and bad:line(wrong) == false)
end
check("nil", bad:contains(nil) == false)

-- Keys that are lines, bytes and all.
local lines = assert(umbel.open(build("lines.umb", {"one two", "caf\195\169"})))
check("a key", lines:contains("one two") and lines:contains("caf\195\169"))
check("no key", not lines:contains("one") and not lines:contains("ONE TWO"))

-- Replaced by another list, then by nonsense, then removed.
build("bad.umb", {"new.example"}, "domain")
check("reloads", wait_for(function() return bad:contains("new.example") end))
check("forgets the old", not bad:contains("bad.example"))
check("counts", bad:info().replaced == 1)
write("bad.umb", "nonsense\n")
local still = true
wait_for(function() still = still and bad:contains("new.example") return false end)
check("keeps the old when the new is nonsense", still)
os.remove(path)
check("and when there is none", bad:contains("new.example"))
build("bad.umb", {"third.example"}, "domain")
check("until there is one", wait_for(function() return bad:contains("third.example") end))

bad:close()
check("closed", bad:contains("third.example") == false and bad:host("third.example") == false and bad:line("third.example") == false)
bad:close()
lines = nil
collectgarbage()

-- The time of a question: four labels, not listed, each label asked.
local big = {}
for i = 1, 100000 do big[i] = "host" .. i .. ".zone" .. i % 977 .. ".test" end
local large = assert(umbel.open(build("large.umb", big, "domain")))
local names, best = {}, 1e9
for i = 1, 1000 do names[i] = "www.host" .. i .. ".absent" .. i .. ".org" end
for _ = 1, 30 do
    local from, found = os.clock(), 0
    for _ = 1, 10 do
        for i = 1, 1000 do
            if large:contains(names[i]) then found = found + 1 end
        end
    end
    best = math.min(best, (os.clock() - from) / 10000)
    assert(found == 0)
end
print(("a question about four labels takes %.0f ns"):format(best * 1e9))
-- Far below what a look at the file would take; a busy processor takes several times the usual 0.4.
check("at most 20 microseconds", best <= 20e-6)

print(("%s: %d passed, %d failed"):format(rawget(_G, "jit") and jit.version or _VERSION, passed, failed))
os.exit(failed == 0 and 0 or 1)
