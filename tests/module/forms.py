# SPDX-License-Identifier: MIT
"""Every form that a value of the server can have, as one table: how it grows, by how many layers it
has grown (around each change of form: value_unboxed.h), and what happened to it.  Secrets, items and
the beginnings of windows are fixed, so two servers that are filled alike have the same values."""
import functools
import math
import struct
import time
from pathlib import Path

import rdb
from conftest import info
from resp import as_dict, is_error, keys

ROOT = Path(__file__).parent.parent.parent
SEED = "0123456789abcdef"
MOST = 4000  # items
ITEMS = keys(MOST, "i")
ABSENT = keys(100, "absent")
CAPACITY = 4

# A classic value has a handle from its 33rd layer on, and any number of layers; a blocked one at
# most 64.  With EXPANSION 1 and this capacity, 70 layers take some 300 items.
STEPS = {1: [1, 2, 31, 32, 33, 34, 63, 64, 65, 70], 2: [1, 2, 3, 8], 4: [1, 2, 5]}
BLOCKED_STEPS = {**STEPS, 1: [1, 2, 3, 31, 32, 33, 63, 64]}


class Form:
    """`reserve`: how it is made.  It then gets items until it has this many layers, or so many."""

    def __init__(self, name, reserve, layers=0, items=0, growth=None):
        self.name, self.reserve, self.layers, self.items = name, reserve, layers, items
        self.first_is_full = layers > 0 or name in ("tightening", "low rate")
        self.growth = growth  # RedisBloom's, of those that it could have made as well

    def make(self, server, name):
        """An empty one; returns what is in it nevertheless."""
        assert server("BF.RESERVE", name, *self.reserve) == "OK", self.name
        return []

    def fill(self, server, name):
        """Half in batches, half one by one: those are different paths.  Returns the items."""
        if not self.layers:
            items = ITEMS[:self.items]
            half = len(items) // 2
            replies = [server("BF.MADD", name, *items[:half])] if half else []
            replies += server.many(["BF.ADD", name, i] for i in items[half:])
            assert not any(is_error(r) for r in replies), self.name
            return items[-50:] if "WINDOW" in self.reserve else items  # what it must remember
        used = 0
        while server("BF.INFO", name, "FILTERS")[0] < self.layers:
            batch = ITEMS[used:used + (3 if used % 2 else 1)]
            assert not is_error(server("BF.MADD" if len(batch) > 1 else "BF.ADD", name, *batch))
            used += len(batch)
        return ITEMS[:used]


class Automatic(Form):
    """One with further layers after its first table of hashes.  That takes up to seven million
    keys: here the dump of a small one is given another head, with `later` in it, and their bits."""

    def __init__(self, name, reserve, items, later, sizes):
        super().__init__(name, reserve, items=items)
        self.later, self.sizes = later, sizes

    def make(self, server, name):
        items = keys(60, name)
        super().make(server, name)
        server("BF.MADD", name, *items)
        head, bits = (server("BF.SCANDUMP", name, i)[1] for i in (0, 1))
        server("DEL", name)
        table, secret = head[9:-20], head[-20:-4]  # docs/formats/redis.md
        head = (head[:4] + bytes([head[4] & ~16]) + head[5:8] + bytes([1 + len(self.sizes)]) + table
                + self.later + secret)
        payload = rdb.encode("umbel-bf-", 2, [head, bits, *map(bytes, self.sizes)])
        assert server("RESTORE", name, 0, payload) == "OK"
        return items



def table():
    classic, seed = ["LAYOUT", "classic"], ["LAYOUT", "blocked", "SEED", SEED]
    began = int(time.time()) // 86400 * 86400  # the same on all servers
    forms = []
    for growth, counts in STEPS.items():
        forms += [Form(f"classic x{growth}, {n} layers",
                       [0.01, CAPACITY, "EXPANSION", growth, *classic], n, growth=growth)
                  for n in counts]
    for growth, counts in BLOCKED_STEPS.items():
        forms += [Form(f"blocked x{growth}, {n} layers",
                       [0.01, CAPACITY, "EXPANSION", growth, *seed], n) for n in counts]
    # A single layer of 64 KiB or more is not small, even if it is classic.
    for capacity, size in (50, "small"), (60000, "large"):
        for layout, words in ("classic", classic), ("blocked", seed):
            theirs = 0 if layout == "classic" else None
            forms.append(Form(f"{layout} fixed, {size}", [0.01, capacity, "NONSCALING", *words],
                              items=40, growth=theirs))
            forms.append(Form(f"{layout} reserved, {size}", [0.01, capacity, *words], items=20,
                              growth=2 if layout == "classic" else None))
    # Nobody reserved it: a table of hashes, which is small up to 700 keys.
    forms += [Form(f"automatic, {n} keys", [0.01, 100, *seed], items=n)
              for n in (0, 1, 99, 100, 101, 699, 700, 701, 1500, MOST)]
    forms.append(Form("automatic, another rate", [0.002, 30, *seed], items=250))
    # A blocked layer needs a handle.  Of each: kind, words, hashes, capacity, keys, rate.
    forms += [
        Automatic("automatic, a filter", [0.01, 100, *seed], 200,
                  b"\x01\x80\x01\x08\xf4\x03\0" + struct.pack("<d", 0.001), [1024]),
        Automatic("automatic, three tables", [0.01, 100, *seed], 1100,
                  b"\x06\x30\x19\x63\0" + b"\x06\x80\x04\x1f\xe8\x07\0", [384, 4096])]
    forms += [
        Form("tightening", [0.01, 50, "TIGHTENING", 0.5, *seed], items=300),
        Form("low rate", [1e-7, 50, *seed], items=300),
        Form("counting", [0.01, 500, "COUNTING", *seed], items=300),
        Form("window", [0.01, 100, "WINDOW", 4, *seed], items=250),
        Form("window by time", [0.01, 500, "WINDOW", f"360d/90d@{began}", *seed], items=250),
    ]
    return forms


FORMS = table()


# ---- What happened to it -----------------------------------------------------------------------

def copied(server, form, name, base):
    assert server("COPY", base, name) == 1
    return list(form.members)


def restored(server, form, name, base):
    assert server("RESTORE", name, 0, server("DUMP", base)) == "OK"
    return list(form.members)


def cleared(server, form, name, base):
    assert server("COPY", base, name) == 1 and server("BF.CLEAR", name) == "OK"
    return []


def removed(server, form, name, base):
    """Some items are counted twice, and others removed."""
    assert server("COPY", base, name) == 1
    server("BF.MADD", name, *form.members[200:])
    assert server("BF.REMOVE", name, *form.members[:100]) == [1] * 100
    return form.members[100:]


def begun(server, form, name, base):
    """Its head has come by BF.LOADCHUNK, its bits have not."""
    assert server("BF.LOADCHUNK", name, 1, server("BF.SCANDUMP", base, 0)[1]) == "OK"
    return []


def merged(server, form, name, base):
    """Into an empty one, which so gets layers of another; and, where there is room, into some."""
    own = form.make(server, name)
    some = [] if form.first_is_full else keys(5, "other")
    if some:
        server("BF.MADD", name, *some)
    assert server("BF.MERGE", name, base) == "OK", form.name
    return form.members + own + some


def imported(server, form, name, base):
    """As RedisBloom would have dumped it."""
    assert server("RESTORE", name, 0, redisblooms(form).dump(rdb.OLDEST)) == "OK"
    return list(form.members)


def odd(server, form, name, base):
    """Links whose bits per entry are those of another mathematical library, which a value without a
    handle cannot say; and then layers of one that has none."""
    theirs = rdb.Bloom(CAPACITY, 0.01, form.growth)
    link = theirs.links[0]
    link["each"] = math.nextafter(link["each"], 0)
    assert server("RESTORE", name, 0, theirs.dump(rdb.OLDEST)) == "OK"
    assert server("BF.MERGE", name, base) == "OK"
    return list(form.members)


def events(form):
    """What can happen to a value of this form, with the end of its name."""
    out = [copied, restored, cleared, begun]
    if "COUNTING" in form.reserve:
        out.append(removed)
    if not form.name.startswith("window"):
        out.append(merged)
    if form.growth is not None:
        out.append(imported)
    if form.growth and form.layers:
        out.append(odd)
    return out


def redisblooms(form):
    """The filter that RedisBloom would have made of the same items."""
    return redisbloom_of(*form.reserve[:2], form.growth, tuple(form.members))


@functools.cache
def redisbloom_of(error, capacity, growth, members):
    theirs = rdb.Bloom(capacity, error, growth)
    for item in members:
        theirs.add(item.encode())
    return theirs


def native_heads():
    """Filters as `umbel push` sends them, with headers of native files, which the golden files' own
    writer has made: name, items, head, bits of each layer."""
    for row in (ROOT / "tests/golden/native/heads.tsv").read_text().splitlines()[1:]:
        name, count, *parts = row.split("\t")
        yield name, int(count), *map(bytes.fromhex, parts)


def from_elsewhere(server):
    out = {}
    for name, count, *parts in native_heads():
        name = f"pushed, {name}"
        assert server("RESTORE", name, 0, rdb.encode("umbel-bf-", 2, parts)) == "OK", name
        out[name] = keys(count)
    return out


def populate(server):
    """Makes all of them; returns the items of each by name."""
    members = from_elsewhere(server)
    for form in FORMS:
        own = form.make(server, form.name)
        form.members = members[form.name] = own + form.fill(server, form.name)
    for form in FORMS:
        for event in events(form):
            name = f"{form.name}, {event.__name__}"
            members[name] = event(server, form, name, form.name)
            # Some more, by the way that it took.
            more = keys(3, "afterwards")
            replies = server.many(["BF.ADD", name, i] for i in more)
            members[name] += [i for i, reply in zip(more, replies) if not is_error(reply)]
    return members


# ---- What can be seen of it --------------------------------------------------------------------

FIELDS = "ERROR", "TIGHTENING", "MAXSCALEDCAPACITY", "LAYOUT", "WINDOW", "EXCEPTIONS"


def state(server, members):
    """Everything except memory, which the allocator decides."""
    seen = {}
    for name, items in members.items():
        answers, *rest = server.many([
            ["BF.MEXISTS", name, *items, *ABSENT], ["TYPE", name], ["BF.INFO", name],
            *(["BF.INFO", name, field] for field in FIELDS), ["BF.DEBUG", name],
            ["BF.CARD", name], ["DEBUG", "DIGEST-VALUE", name], ["DUMP", name]])
        stats = as_dict(server("BF.STATS", name))
        assert stats.pop("Bytes") > 0
        assert answers[:len(items)] == [1] * len(items), name
        assert not any(is_error(r) for r in rest), (name, rest)
        seen[name] = [answers, *rest, stats]
    return seen


def check_totals(server, members):
    """INFO says of all values together what they say one by one."""
    now = info(server, "bf")
    assert int(now["bf_filters"]) == len(members)
    for total, field in ("layers", "FILTERS"), ("items", "ITEMS"), ("capacity", "CAPACITY"):
        each = server.many(["BF.INFO", name, field] for name in members)
        assert int(now[f"bf_{total}"]) == sum(value for value, in each), total


def grow(server, members):
    """All of them go on as they would have; those that are full refuse alike."""
    return {name: server.many([["BF.MADD", name, *keys(7, "next")],
                               *(["BF.ADD", name, i] for i in keys(6, "one"))])
            for name in members}


def differences(a, b):
    """The names and parts of states that are not equal, for people."""
    parts = ["answers", "type", "info", *FIELDS, "debug", "card", "digest", "dump", "stats"]
    return [(name, part, x, y) for name in a for part, x, y in zip(parts, a[name], b[name])
            if x != y]
