# SPDX-License-Identifier: MIT
"""Filters outlive the server: RDB, the append-only file, DUMP and COPY; and what the server asks
about them: memory, digests, freeing."""
import re
import struct
import time
from pathlib import Path

import pytest

import forms
import rdb
from conftest import can_defragment, info, rdb_version, rewrite, umbel_read, until
from resp import is_error, keys

ITEMS = keys(3000)
ROOT = Path(__file__).parent.parent.parent

# How filters of every sort are made, and how many of ITEMS they are then guaranteed to hold.
FILTERS = {
    "empty": ([["BF.RESERVE", "empty", 0.01, 5000]], 0),
    "blocked": ([["BF.RESERVE", "blocked", 0.01, 50000], ["BF.MADD", "blocked", *ITEMS]], 3000),
    "small": ([["BF.MADD", "small", *ITEMS[:60]]], 60),
    "grown": ([["BF.MADD", "grown", *ITEMS]], 3000),
    "replaced": ([["BF.MADD", "replaced", *keys(70000)]], 3000),
    "strict": ([["BF.RESERVE", "strict", 0.0001, 700, "EXPANSION", 1],
                ["BF.MADD", "strict", *ITEMS]], 3000),
    "tight": ([["BF.RESERVE", "tight", 0.01, 100, "TIGHTENING", 0.5],
               ["BF.MADD", "tight", *ITEMS]], 3000),
    "fixed": ([["BF.RESERVE", "fixed", 0.01, 5000, "NONSCALING"],
               ["BF.MADD", "fixed", *ITEMS]], 3000),
    "counting": ([["BF.RESERVE", "counting", 0.01, 9000, "COUNTING"],
                  ["BF.MADD", "counting", *ITEMS], ["BF.MADD", "counting", *ITEMS[:50]],
                  ["BF.REMOVE", "counting", *ITEMS[2000:]]], 2000),
    "window": ([["BF.RESERVE", "window", 0.01, 4000, "WINDOW", 5],
                ["BF.MADD", "window", *ITEMS]], 3000),
    "classic": ([["BF.RESERVE", "classic", 0.01, 50000, "LAYOUT", "classic"],
                 ["BF.MADD", "classic", *ITEMS]], 3000),
    "classic grown": ([["BF.RESERVE", "classic grown", 0.01, 100, "LAYOUT", "classic"],
                       ["BF.MADD", "classic grown", *ITEMS]], 3000),
    "classic fixed": ([["BF.RESERVE", "classic fixed", 0.01, 5000, "NONSCALING",
                        "LAYOUT", "classic"], ["BF.MADD", "classic fixed", *ITEMS]], 3000),
}


def fill(server, names=FILTERS):
    for name in names:
        for command in FILTERS[name][0]:
            assert not is_error(server(*command)), command


def state(server, names=FILTERS):
    """Everything that can be observed of the filters."""
    seen = {}
    for name in names:
        answers = server("BF.MEXISTS", name, *ITEMS, *keys(2000, "x"))
        seen[name] = (server("TYPE", name), server("DEBUG", "DIGEST-VALUE", name),
                      server("BF.INFO", name), server("BF.DEBUG", name), answers)
    return seen


def check(server, before, names=FILTERS):
    """Everything is as before, and continues as it would have."""
    assert state(server, names) == before
    for name in names:
        count = FILTERS[name][1]
        assert before[name][-1][:count] == [1] * count, name


def grow(server, names=FILTERS):
    for name in names:
        server("BF.MADD", name, *keys(1500, "more"))


# ---- Files -------------------------------------------------------------------------------------

@pytest.mark.not_reloaded("a reload saves, too")
def test_saving_in_the_background_while_keys_come(new_server):
    server = new_server()
    fill(server)
    before = state(server)
    server("CONFIG", "SET", "rdb-key-save-delay", 20000)  # microseconds per key
    assert server("BGSAVE") == "Background saving started"
    grow(server)
    server("CONFIG", "SET", "rdb-key-save-delay", 0)
    until(lambda: info(server, "persistence")["rdb_bgsave_in_progress"] == "0", "it does not end")
    assert info(server, "persistence")["rdb_last_bgsave_status"] == "ok"
    server("DEBUG", "RELOAD", "NOSAVE")
    check(server, before)


def test_large_filters_are_rewritten_in_pieces(new_server):
    server = new_server(appendonly="yes", aof_use_rdb_preamble="no")
    for name, layout in ("large", "blocked"), ("classic", "classic"):
        server("BF.RESERVE", name, 0.01, 20000000, "LAYOUT", layout)
        server("BF.MADD", name, *ITEMS)
    server("BF.ADD", "small", "a")
    before = [server("DEBUG", "DIGEST-VALUE", name) for name in ("large", "classic", "small")]
    rewrite(server)
    base = next(server.directory.glob("appendonlydir/*.base.aof")).read_bytes()
    names = re.findall(rb"\*\d\r\n\$\d+\r\n(BF\.\w+)\r\n\$\d+\r\n(\w+)\r\n", base)
    # a head and two pieces of at most 16 MiB
    assert sorted(names) == [(b"BF.LOAD", b"small")] + [(b"BF.LOADCHUNK", b"classic")] * 3 + [
        (b"BF.LOADCHUNK", b"large")] * 3
    server.restart()
    assert [server("DEBUG", "DIGEST-VALUE", name)
            for name in ("large", "classic", "small")] == before
    for name in "large", "classic":
        assert server("BF.MEXISTS", name, *ITEMS) == [1] * len(ITEMS)


# ---- Keys --------------------------------------------------------------------------------------

def test_digests_tell_filters_apart(server):
    fill(server)
    digests = [server("DEBUG", "DIGEST-VALUE", name)[0] for name in FILTERS]
    for name in FILTERS:
        # Secrets are random, so that one in a hundred times a single item is a false positive.
        assert any(server("BF.ADD", name, f"one more {i}") for i in range(10))
        digests += server("DEBUG", "DIGEST-VALUE", name)
    assert len(set(digests)) == 2 * len(FILTERS)
    for seed in "0123456789abcdef", "another secret..":
        for name in "a", "b":
            server("DEL", name)
            server("BF.RESERVE", name, 0.01, 100, "SEED", seed)
            server("BF.ADD", name, "x")
        digests += {d for name in "ab" for d in server("DEBUG", "DIGEST-VALUE", name)}
    assert len(set(digests)) == len(digests) == 2 * len(FILTERS) + 2


def used(server):
    return int(info(server, "memory")["used_memory"])


@pytest.mark.not_reloaded("it measures memory")
@pytest.mark.parametrize("error", [0.01, 0.0001])
def test_memory_usage_is_what_the_server_lost(server, layout, error):
    # RedisBloom's, per item; at low rates the blocked layout takes whole cache lines.
    bits = {0.01: 11.02, 0.0001: 23.3 if layout == "blocked" else 20.6}[error]
    names, capacity = keys(8), 3000000  # many, because the server's memory use fluctuates
    before = used(server)
    for name in names:
        server("BF.RESERVE", name, error, capacity)
    lost = used(server) - before
    usage = [server("MEMORY", "USAGE", name) for name in names]
    # The server's own buffers come and go by the hundred kilobytes, a hundredth of this.  The allocator's size
    # classes are up to a quarter apart; in the classic layout that is not counted, as in RedisBloom.
    if layout == "blocked":
        assert abs(sum(usage) - lost) < 0.1 * lost
    else:
        assert 0.9 * lost / 1.25 < sum(usage) < 1.1 * lost
    assert bits * capacity / 8 < min(usage) <= max(usage) < 1.25 * bits * capacity / 8 + 4096


def test_size_is_a_property_of_the_filter(server, layout):
    """As RedisBloom has it, whatever the allocator gave; so it is the same on every server."""
    server("BF.ADD", "f", "a")
    assert layout == "blocked" or server("BF.INFO", "f", "SIZE") == [32 + 64 + 144]
    server("BF.MADD", "f", *ITEMS)
    layers = server("BF.DEBUG", "f")[1:]
    bits = sum(int(re.search(rb"bytes:(\d+)", layer)[1]) for layer in layers)
    assert len(layers) > (1 if layout == "blocked" else 3)
    assert server("BF.INFO", "f", "SIZE") == [32 + 64 * len(layers) + bits]


@pytest.mark.not_reloaded("it measures memory")
@pytest.mark.parametrize("items", [1, 10, 100])
def test_small_filters_cost_no_more_than_redisblooms(server, layout, items):
    """272 bytes there, with what the server needs for a key of one letter; in the RDB file 188."""
    server("BF.MADD", "f", *keys(items))
    assert server("MEMORY", "USAGE", "f") <= 272
    assert server("BF.INFO", "f", "FILTERS") == [1]
    for i in range(100):  # the first copies also take what the server needs for its clients
        server("COPY", "f", f"first{i}")
    before = used(server)
    for i in range(1000):
        server("COPY", "f", f"copy{i}")
    # RedisBloom's three allocations of 32, 64 and 160 bytes; key, entry and object of the server.
    assert used(server) - before < 1000 * (256 + 140)
    # Type, module, version and checksum; the blocked layout has a secret of 16 bytes as well, and takes no more.
    assert len(server("DUMP", "f")) - 1 - 9 - 10 <= 188


@pytest.mark.not_reloaded("it measures memory")
@pytest.mark.parametrize("items", [1, 60, 100, 101, 700, 1500, 20000, 100000])
def test_memory_usage_of_filters_that_nobody_reserved(server, items):
    """Exact but for what the server needs for a key, whatever the allocator rounds up to."""
    server("BF.MADD", "f", *keys(items))
    for i in range(20):
        server("COPY", "f", f"first{i}")
    before, usage = used(server), server("MEMORY", "USAGE", "f")
    for i in range(50):
        server("COPY", "f", f"copy{i}")
    assert abs((used(server) - before) / 50 - usage) < 150 + 0.002 * usage


@pytest.mark.not_reloaded("it measures memory")
def test_memory_comes_back(server, layout):
    def rounds(n):
        for _ in range(n):
            server("BF.MADD", "f", *ITEMS)
            server("COPY", "f", "g")
            server("BF.CLEAR", "g")
            server("DEL", "f", "g")
        return used(server)
    before = rounds(20)
    assert rounds(80) - before < 400000  # a filter has 8000 bytes, and there are two
    filters = info(server, "modules")
    for name in "filters", "layers", "items", "capacity", "bytes":
        assert filters[f"bf_{name}"] == "0", filters


@pytest.mark.not_reloaded("a reload frees, too")
def test_large_filters_are_freed_in_the_background(server, layout):
    server("BF.RESERVE", "small", 0.01, 1000)
    server("BF.RESERVE", "large", 0.01, 5000000)
    start = int(info(server, "memory")["lazyfreed_objects"])
    server("UNLINK", "small")
    assert int(info(server, "memory")["lazyfreed_objects"]) == start
    server("UNLINK", "large")
    until(lambda: int(info(server, "memory")["lazyfreed_objects"]) == start + 1,
          "the large filter was not freed lazily")


@pytest.mark.not_reloaded("a reload leaves no pieces")
@pytest.mark.parametrize("layout", ["blocked", "classic"])
def test_filters_are_moved_where_memory_is_in_pieces(new_server, layout):
    server = new_server(**{"bf.layout": layout, "active-defrag-ignore-bytes": "1",
                           "active-defrag-threshold-lower": "1", "active-defrag-threshold-upper": "2",
                           "active-defrag-cycle-min": "50", "active-defrag-cycle-max": "75"})
    if not can_defragment(server):
        pytest.skip("the server was built without its own jemalloc")
    names = keys(3000, "f")
    for name in names:
        server("BF.MADD", name, *ITEMS[:600])
    server("DEL", *(name for i, name in enumerate(names) if i % 4))
    rest = names[::4]
    before = [server("DEBUG", "DIGEST-VALUE", name) for name in rest]
    # The server measures it ten times a second.
    def in_pieces():
        return int(info(server, "memory")["allocator_frag_bytes"])
    time.sleep(0.5)
    in_pieces_before = in_pieces()
    assert server("CONFIG", "SET", "activedefrag", "yes") == "OK"
    # Some filters may stay: those in the pages that the others are moved to.
    def moved():
        server("BF.MADD", "f0", *ITEMS[:600])
        moves = int(info(server, "bf")["bf_defrag_moves"])
        return moves > len(rest) / 2 and in_pieces() < in_pieces_before / 2
    until(moved, "they stay in pieces")
    assert [server("DEBUG", "DIGEST-VALUE", name) for name in rest] == before
    for name in rest:
        assert server("BF.MEXISTS", name, *ITEMS[:600]) == [1] * 600


# ---- RedisBloom's bytes ------------------------------------------------------------------------

@pytest.fixture
def plain(server):
    """Payloads are written without compression."""
    server("CONFIG", "SET", "rdbcompression", "no")
    yield server
    server("CONFIG", "SET", "rdbcompression", "yes")


@pytest.mark.parametrize("capacity, error, growth, items", [
    (100, 0.01, 2, 2000), (1, 0.1, 2, 100), (50, 0.001, 1, 300), (7, 0.25, 4, 200),
    (1000, 1e-7, 0, 1000), (20, 0.003, 32768, 60)])
def test_redisbloom_values_come_and_go_unchanged(plain, capacity, error, growth, items):
    theirs = rdb.Bloom(capacity, error, growth)
    names = [f"item {i}".encode() for i in range(items)]
    for name in names:
        theirs.add(name)
    version = rdb_version(plain)
    payload = theirs.dump(version)
    assert plain("RESTORE", "old", 0, theirs.dump(rdb.OLDEST)) == "OK"
    assert plain("DUMP", "old") == payload
    assert plain("RESTORE", "f", 0, payload) == "OK"
    assert plain("TYPE", "f") == "MBbloom--"
    assert plain("BF.MEXISTS", "f", *names) == [1] * items
    assert plain("DUMP", "f") == payload
    # And a filter that was filled here has the same bytes.
    words = ["EXPANSION", growth] if growth else ["NONSCALING"]
    plain("BF.RESERVE", "g", repr(error), capacity, *words, "LAYOUT", "classic")
    plain("BF.MADD", "g", *names)
    assert plain("DUMP", "g") == payload
    assert plain("DEBUG", "DIGEST-VALUE", "f", "g")[0] == plain("DEBUG", "DIGEST-VALUE", "g")[0]
    if growth:  # both keep growing alike
        for name in names:
            theirs.add(b"more " + name)
        plain("BF.MADD", "f", *[b"more " + name for name in names])
        assert plain("DUMP", "f") == theirs.dump(version)


def test_redisblooms_own_dumps(plain):
    version = rdb_version(plain)
    rows = (ROOT / "tests/golden/redisbloom/filters.tsv").read_text().splitlines()[1:]
    for row in rows:
        header, iterator, chunk = (bytes.fromhex(x) if i != 1 else int(x)
                                   for i, x in enumerate(row.split("\t")[6:9]))
        count, links, options, growth = struct.unpack_from("<QIII", header)
        link = struct.unpack_from("<QQQddIQB", header, 20)
        size, bits, items, error, each, hashes, entries, n2 = link
        payload = rdb.encode("MBbloom--", 4, [count, links, options, growth, entries, error, hashes,
                                              each, bits, n2, chunk, items], version)
        assert (links, size) == (1, len(chunk))
        assert plain("RESTORE", "f", 0, payload) == "OK"
        assert plain("BF.SCANDUMP", "f", 0) == [1, header]
        assert plain("BF.SCANDUMP", "f", 1) == [iterator, chunk]
        assert plain("DUMP", "f") == payload
        plain("DEL", "f")
    assert len(rows) == 2


@pytest.mark.parametrize("way", ["RESTORE", "BF.LOAD", "RDB file"])
def test_links_that_were_saved_without_their_bits_per_entry(new_server, way):
    """tests/golden/redisbloom/zeros.tsv: what no release could load is what RedisBloom makes."""
    _, row = (ROOT / "tests/golden/redisbloom/zeros.tsv").read_text().splitlines()
    count, links, payload, dump = row.split("\t")
    items, payload, dump = keys(int(count)), bytes.fromhex(payload), bytes.fromhex(dump)
    theirs = rdb.Bloom(4, 0.01, 1)
    for item in items:
        theirs.add(item.encode())
    server = new_server(rdbcompression="no")
    if way == "RESTORE":
        assert server("RESTORE", "f", 0, payload) == "OK"
    elif way == "BF.LOAD":
        assert server("BF.LOAD", "f", dump) == "OK"
    else:
        server.stop()
        (server.directory / "dump.rdb").write_bytes(rdb.file({b"f": payload}))
        server.start()
    assert server("BF.INFO", "f", "FILTERS") == [int(links)]
    assert server("BF.MEXISTS", "f", *items) == [1] * len(items)
    assert server("DUMP", "f") == theirs.dump(rdb_version(server))


@pytest.mark.parametrize("encver", [2, 3])
def test_older_encodings_of_redisbloom(plain, encver):
    theirs = rdb.Bloom(100, 0.01)
    for i in range(500):
        theirs.add(b"%d" % i)
    values = theirs.values()
    payload = rdb.encode("MBbloom--", encver, values[:3] + values[4:])
    assert plain("RESTORE", "f", 0, payload) == "OK"
    assert plain("BF.MEXISTS", "f", *range(500)) == [1] * 500
    assert plain("DUMP", "f") == theirs.dump(rdb_version(plain))


def test_filters_with_native_heads(plain):
    """Those that grow have a compact head from then on; and nothing reads other encodings."""
    rows = list(forms.native_heads())
    for name, count, *parts in rows:
        for other in 0, 1, 3:
            assert is_error(plain("RESTORE", name, 0, rdb.encode("umbel-bf-", other, parts)))
        assert plain("RESTORE", name, 0, rdb.encode("umbel-bf-", 2, parts)) == "OK"
        assert plain("BF.MEXISTS", name, *keys(count)) == [1] * count
        assert plain("BF.CARD", name) >= count * 0.98
        again, encver, (head, *_) = rdb.decode(plain("DUMP", name))
        assert (again, encver) == ("umbel-bf-", 2)
        assert head == parts[0] if name == "nonscaling" else head[:4] == b"UMBF"
        digest = plain("DEBUG", "DIGEST-VALUE", name)
        assert plain("RESTORE", "again", 0, plain("DUMP", name)) == "OK"
        assert plain("DEBUG", "DIGEST-VALUE", "again") == digest
        plain("BF.MADD", name, *keys(300, "more"))
        plain("BF.MADD", "again", *keys(300, "more"))
        assert plain("DUMP", name) == plain("DUMP", "again")
        plain("DEL", name, "again")
    assert len(rows) == 4


def packed(hashes, size, bits):
    """A layer of packed hashes of at most 2048 bytes, which is one chunk."""
    kept = sorted({x >> 64 - bits for x in hashes})
    room, slots, low = 8 * size - 16, 0, 0
    for n in range(bits):
        uppers = ((1 << bits) - 1 >> n) + 1
        if uppers < room and (room - uppers) // (n + 1) > slots:
            slots, low = (room - uppers) // (n + 1), n
    whole = len(kept)
    for i, x in enumerate(kept):
        whole |= 1 << 16 + (x >> low) + i
        whole |= (x & (1 << low) - 1) << 16 + slots + ((1 << bits) - 1 >> low) + 1 + i * low
    return slots, whole.to_bytes(size, "little")


def coded(hashes, bits):
    """The same hashes in a file: the differences between them, less 1, by Rice's code."""
    kept, low, at, whole, after = sorted({x >> 64 - bits for x in hashes}), 0, 0, 0, 0
    while low + 1 < bits and len(kept) << low + 1 <= 1 << bits:
        low += 1
    for x in kept:
        ones, rest = x - after >> low, x - after & (1 << low) - 1
        whole |= ((1 << ones) - 1 | rest << ones + 1) << at
        at += ones + 1 + low
        after = x + 1
    return whole.to_bytes((at + 7) // 8, "little")


@pytest.mark.parametrize("count", [0, 7, 100, 141, 400, 690])
@pytest.mark.parametrize("rate", [0.01, 0.02])
def test_the_type_of_blocked_filters(plain, count, rate):
    """Made from docs/formats/redis.md alone: a single string; and a compact head with the bits of each
    layer, as BF.SCANDUMP has it, and DUMP had before 0.3."""
    secret, reader = b"0123456789abcdef", umbel_read()
    kept_bits = 18 if rate == 0.01 else 17
    plain("BF.RESERVE", "f", rate, 100, "SEED", secret)
    hashes = [reader.siphash13(name.encode(), *struct.unpack("<2Q", secret)) for name in keys(count)]
    for name in keys(count):
        plain("BF.ADD", "f", name)
    kept = len({x >> 64 - kept_bits for x in hashes})
    name, encver, (small,) = rdb.decode(plain("DUMP", "f"))
    assert (name, encver) == ("umbel-bf-", 2)
    unusual = b"\x01" if rate == 0.01 else b"\x03" + struct.pack("<dB", rate, 100)
    assert small == unusual + secret + struct.pack("<H", kept) + coded(hashes, kept_bits)
    assert rdb.encode(name, encver, [small], rdb_version(plain)) == plain("DUMP", "f")

    _, bits = plain("BF.SCANDUMP", "f", 1)
    slots, expected = packed(hashes, len(bits), kept_bits)
    assert bits == expected
    capacity = min(slots, 700)
    same = capacity == 100
    head = (b"UMBF\x87" + bytes([int(rate * 100)]) + b"\x02\x64\x01" + bytes([0x86 if same else 6])
            + number(len(bits) // 8) + bytes([kept_bits]) + (b"" if same else number(capacity))
            + number(kept) + secret)
    assert plain("BF.INFO", "f", "FILTERS") == [1]
    sealed = head[:4] + bytes([head[4] | 16]) + head[5:]
    seal = reader.xxh3_64(sealed) & 0xffffffff
    assert plain("BF.SCANDUMP", "f", 0) == [1, sealed + struct.pack("<I", seal)]
    assert plain("RESTORE", "g", 0, rdb.encode(name, encver, [head, bits], rdb_version(plain))) == "OK"
    assert plain("DUMP", "g") == plain("DUMP", "f")


def test_a_damaged_single_string(plain):
    """It is as long as its keys need, and they are in it."""
    plain("BF.MADD", "f", *keys(100))
    name, encver, (small,) = rdb.decode(plain("DUMP", "f"))
    for wrong in (small[:1], small[:18], small[:-1], small + b"\0", small[:17] + b"\x65" + small[18:],
                  small[:17] + b"\xff\xff" + small[19:], b"\x03" + small[1:], b"\x05" + small[1:],
                  b"\x03" + struct.pack("<dB", 2.0, 100) + small[1:],
                  b"\x03" + struct.pack("<dB", 0.01, 0) + small[1:]):
        reply = plain("RESTORE", "g", 0, rdb.encode(name, encver, [wrong], rdb_version(plain)))
        assert is_error(reply), wrong
    assert is_error(plain("RESTORE", "g", 0, rdb.encode(name, 1, [small], rdb_version(plain))))


def number(n):
    low = n & 127
    return bytes([low]) if n < 128 else bytes([low | 128]) + number(n >> 7)
