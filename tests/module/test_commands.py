# SPDX-License-Identifier: MIT
# labels: asan
"""Adds and lookups beyond RedisBloom's recorded replies, and what surrounds the commands."""
import math
import re
import threading

import pytest

from conftest import about, info, until
from resp import Error, as_dict, is_error, keys


@pytest.mark.parametrize("count", [1, 255, 256, 257, 1024, 1025, 3000])
def test_batches_of_every_size(server, layout, count):
    assert server("BF.RESERVE", "f", 1e-6, 10000) == "OK"
    assert server("BF.MADD", "f", *keys(count)) == [1] * count
    assert server("BF.MADD", "f", *keys(count)) == [0] * count
    assert server("BF.MEXISTS", "f", *keys(count)) == [1] * count
    assert server("BF.MEXISTS", "f", *keys(count, "absent")) == [0] * count
    assert server("BF.CARD", "f") == count


def test_an_item_twice_in_one_call(server, layout):
    assert server("BF.MADD", "f", "a", "b", "a", "a", "b") == [1, 1, 0, 0, 0]
    assert server("BF.CARD", "f") == 2


def test_items_are_bytes(server, layout):
    items = [b"", b"\0", b"\0\0", b"a\0b", b"a\0c", bytes(range(256)), b"x" * 100000]
    server("BF.RESERVE", "f", 1e-9, 1000)
    assert server("BF.MADD", "f", *items) == [1] * len(items)
    assert server("BF.MEXISTS", "f", *items) == [1] * len(items)
    assert server("BF.EXISTS", "f", b"a\0d") == 0
    assert server("BF.ADD", "f", b"") == 0


def test_a_huge_item(server, layout):
    huge = b"0123456789abcdef" * (1 << 20)  # 16 MiB
    assert server("BF.ADD", "f", huge) == 1
    assert server("BF.EXISTS", "f", huge) == 1
    assert server("BF.EXISTS", "f", huge[:-1]) == 0


def test_the_largest_item_that_the_server_takes(server, layout):
    largest = b"0123456789abcdef" * (1 << 25)  # 512 MiB
    assert server("BF.ADD", "f", largest) == 1
    assert server("BF.MEXISTS", "f", largest, "a") == [1, 0]
    assert server.alive()


def test_growing_keeps_every_item_and_the_rate(server, layout):
    n = 20000
    for i in range(0, n, 1000):
        server("BF.MADD", "f", *(f"k{j}" for j in range(i, i + 1000)))
    assert server("BF.INFO", "f", "FILTERS")[0] > (1 if layout == "blocked" else 3)
    assert server("BF.MEXISTS", "f", *keys(n)) == [1] * n
    false = sum(server("BF.MEXISTS", "f", *keys(n, "absent")))
    # 1% was promised; the secrets of blocked filters differ, so seven sigma: of a Poisson variable with this
    # mean, one in 10^9 is above.
    assert false < 0.01 * n + 7 * math.sqrt(0.01 * n)
    assert server("BF.CARD", "f") > n * 0.98


def test_a_full_filter_still_knows_its_items(server, layout):
    server("BF.RESERVE", "f", 1e-9, 3, "NONSCALING")
    assert server("BF.MADD", "f", "a", "b", "c", "a", "d", "e") == [
        1, 1, 1, 0, Error("ERR non scaling filter is full")]
    assert server("BF.ADD", "f", "b") == 0
    assert server("BF.ADD", "f", "d") == "ERR non scaling filter is full"
    assert server("BF.CARD", "f") == 3


def test_insert_properties(server, layout):
    assert server("BF.INSERT", "f", "CAPACITY", 500, "ERROR", 0.002, "EXPANSION", 3,
                  "ITEMS", "a") == [1]
    assert server("BF.INFO", "f", "CAPACITY") == [500]
    assert server("BF.INFO", "f", "EXPANSION") == [3]
    assert float(server("BF.INFO", "f", "ERROR")[0]) == 0.002
    # Properties given for an existing filter change nothing.
    assert server("BF.INSERT", "f", "CAPACITY", 9, "ITEMS", "a", "b") == [0, 1]
    assert server("BF.INFO", "f", "CAPACITY") == [500]


def test_insert_without_items_makes_the_filter(server, layout):
    assert server("BF.INSERT", "f", "CAPACITY", 77) == []
    assert server("BF.INFO", "f", "CAPACITY") == [77]
    assert server("BF.INSERT", "g") == []
    assert server("BF.INFO", "g", "CAPACITY") == [100]
    assert server("BF.INSERT", "h", "NOCREATE") == "ERR not found"
    assert server("EXISTS", "h") == 0


def test_insert_words_by_their_first_letters(server):
    assert server("BF.INSERT", "f", "Cap", 5, "err", 0.5, "exp", 4, "Inow", "a") == [1]
    assert server("BF.INFO", "f", "CAPACITY") == [5]
    assert server("BF.INFO", "f", "EXPANSION") == [4]
    assert server("BF.INSERT", "g", "nxc", "I", "a") == "ERR not found"
    assert server("BF.INSERT", "h", "nons", "er", 1e-9, "C", 1, "I", "a", "b")[1] == \
        "ERR non scaling filter is full"


def test_rates_above_a_quarter_are_capped(server, layout):
    assert server("BF.RESERVE", "f", 0.9, 10) == "OK"
    assert float(server("BF.INFO", "f", "ERROR")[0]) == 0.25
    logged = server.log().count("above 0.25")
    assert logged > 0
    server("BF.INSERT", "f", "ERROR", 0.9, "ITEMS", "a")  # creates nothing: not worth a line
    assert server.log().count("above 0.25") == logged


# ---- Around the commands ------------------------------------------------------------------------

def test_commands_are_documented(server):
    names = {c.decode() for c in server("COMMAND", "LIST", "FILTERBY", "MODULE", "bf")}
    assert len(names) == 18 and "bf.add" in names
    for name, flat in zip(*[iter(server("COMMAND", "DOCS", *sorted(names)))] * 2):
        doc = as_dict(flat)
        assert doc[b"summary"] and doc[b"complexity"].startswith(b"O("), name
        assert as_dict(doc[b"arguments"][0])[b"type"] == b"key", name
        assert doc[b"module"] == b"bf"


@pytest.mark.parametrize("name", ["bf.reserve", "bf.insert"])
def test_expansion_is_documented_as_it_is_taken(server, name):
    """A number as in RedisBloom's documentation, or the word."""
    (doc,) = server("COMMAND", "DOCS", name)[1:]
    arguments = {a[b"name"]: a for a in map(as_dict, as_dict(doc)[b"arguments"])}
    expansion = arguments[b"expansion"]
    assert (expansion[b"type"], expansion[b"token"]) == (b"oneof", b"EXPANSION")
    assert [as_dict(a)[b"type"] for a in expansion[b"arguments"]] == [b"integer", b"pure-token"]
    for i, value in enumerate([3, "auto", "AUTO"]):
        assert server("BF.RESERVE", f"f{i}", 0.01, 100, "EXPANSION", value) == "OK"


@pytest.mark.parametrize("name, flags", [
    ("bf.reserve", "write denyoom module"), ("bf.madd", "write denyoom module"),
    ("bf.insert", "write denyoom module"), ("bf.loadchunk", "write denyoom module"),
    ("bf.exists", "readonly module fast"), ("bf.mexists", "readonly module fast"),
    ("bf.card", "readonly module fast"), ("bf.info", "readonly module fast"),
    ("bf.scandump", "readonly module fast"), ("bf.stats", "readonly module"),
    ("bf.clear", "write module")])
def test_command_flags(server, name, flags):
    assert set(server("COMMAND", "INFO", name)[0][2]) == set(flags.split())


@pytest.mark.parametrize("name, categories", [
    ("bf.add", {"@write"}), ("bf.clear", {"@write"}), ("bf.loadchunk", {"@write"}),
    ("bf.exists", {"@read", "@fast"}), ("bf.stats", {"@read", "@slow"})])
def test_categories_where_servers_let_modules_have_them(server, name, categories):
    known = about(server)
    wanted = categories if known.categories else set()
    if known.new_categories:
        wanted = wanted | {"@bloom"}
    assert set(server("COMMAND", "INFO", name)[0][6]) == wanted


def test_keys_of_a_merge_are_known(server):
    assert server("COMMAND", "GETKEYS", "BF.MERGE", "d", "s1", "s2") == [b"d", b"s1", b"s2"]
    flags = server("COMMAND", "GETKEYSANDFLAGS", "BF.MERGE", "d", "s1", "s2")
    assert [set(f) for _, f in flags] == [{"RW", "insert"}, {"RO", "access"}, {"RO", "access"}]


def test_acl_rules_for_reading_and_writing(server):
    server("ACL", "SETUSER", "reader", "on", "nopass", "%R~*", "+@all")
    server("BF.ADD", "f", "a")
    client = server.client()
    client("AUTH", "reader", "")
    assert client("BF.EXISTS", "f", "a") == 1
    assert is_error(client("BF.ADD", "f", "b"), "NOPERM")
    assert is_error(client("BF.CLEAR", "f"), "NOPERM")
    assert is_error(client("BF.MERGE", "g", "f"), "NOPERM")
    server("ACL", "DELUSER", "reader")


@pytest.mark.not_reloaded("a reload changes what is watched")
def test_watch_sees_changes_alone(server):
    server("BF.ADD", "f", "a")
    client = server.client()
    for command, aborts in [(["BF.ADD", "f", "a"], False), (["BF.MADD", "f", "a", "a"], False),
                            (["BF.EXISTS", "f", "a"], False), (["BF.ADD", "f", "b"], True),
                            (["BF.CLEAR", "f"], True), (["BF.MADD", "f", "a", "c"], True),
                            (["BF.RESERVE", "f", "0.1", "5", "IFNOTEXISTS"], False),
                            (["BF.MERGE", "f", "f"], True)]:
        client("WATCH", "f")
        server(*command)
        client("MULTI")
        client("PING")
        assert (client("EXEC") is None) == aborts, command


def test_events(server):
    server("CONFIG", "SET", "notify-keyspace-events", "KEAd")
    listener = server.client()
    listener("PSUBSCRIBE", "__keyspace@0__:*")
    server("BF.RESERVE", "f", 0.01, 100, "SEED", "0123456789abcdef", "COUNTING")
    server("BF.ADD", "f", "a")
    server("BF.REMOVE", "f", "absent")
    server("BF.REMOVE", "f", "a")
    server("BF.CLEAR", "f")
    server("BF.ADD", "g", "a")
    server("BF.ADD", "g", "a")
    server("BF.MERGE", "h", "g")
    head = server("BF.SCANDUMP", "g", 0)[1]
    server("BF.LOADCHUNK", "i", 1, head)
    server("SET", "end", "1")
    seen = []
    while True:
        _, _, channel, event = listener.read().plain()
        if event == b"set":
            break
        if event.startswith(b"bf."):
            seen.append((channel[-1:].decode(), event.decode()))
    assert seen == [("f", "bf.reserve"), ("f", "bf.add"), ("f", "bf.remove"), ("f", "bf.clear"),
                    ("g", "bf.reserve"), ("g", "bf.add"), ("h", "bf.merge"), ("i", "bf.load")]


def test_info_section(server):
    def section():
        # What is freed in the background counts until then.
        until(lambda: info(server, "memory")["lazyfree_pending_objects"] == "0", "old filters are not freed")
        return {k: int(v) for k, v in re.findall(r"(bf_\w+):(\d+)", server("INFO", "bf").decode())}
    empty = section()
    assert len(empty) == 14 and empty["bf_defrag_moves"] == 0
    assert empty["bf_filters"] == empty["bf_items"] == empty["bf_bytes"] == 0
    server("BF.RESERVE", "f", 0.01, 1000)
    server("BF.MADD", "f", *keys(500))
    server("BF.MADD", "g", *keys(500))
    now = section()
    assert now["bf_filters"] == 2
    assert now["bf_layers"] == 1 + server("BF.INFO", "g", "FILTERS")[0]
    assert now["bf_items"] == server("BF.CARD", "f") + server("BF.CARD", "g")
    assert now["bf_capacity"] == 1000 + server("BF.INFO", "g", "CAPACITY")[0]
    assert now["bf_bytes"] > 1500
    server("BF.MERGE", "f", "f")
    server("BF.MERGE", "h", "f", "f")
    server("BF.MERGE", "h", "f")
    server("BF.CLEAR", "f")
    server("BF.CLEAR", "g")
    now = section()
    assert (now["bf_filters"], now["bf_items"]) == (3, server("BF.CARD", "h"))
    server("FLUSHALL")
    for name in "bf_filters", "bf_layers", "bf_items", "bf_capacity", "bf_bytes":
        assert section()[name] == empty[name]
    assert "bf_" not in server("INFO", "server").decode()


def test_refused_merges_leave_the_totals_as_they_are(server):
    def totals():
        now = info(server, "bf")
        return [now[f"bf_{name}"] for name in ("filters", "layers", "items", "capacity", "bytes")]
    for i in range(6):
        server("BF.RESERVE", f"f{i}", 0.01, 100, "SEED", "0123456789abcdef")
        server("BF.MADD", f"f{i}", *keys(700, f"f{i} "))
    refused = 0
    for i in range(1, 6):  # a table of 18 bits of each hash breaks the promise with 2621 keys
        before = totals()
        if is_error(server("BF.MERGE", "f0", f"f{i}"), "cannot be merged"):
            refused += 1
            assert totals() == before
    assert refused > 1
    assert int(totals()[2]) == sum(server("BF.CARD", f"f{i}") for i in range(6))


class Meddler(threading.Thread):
    """Another client, which constantly tries to delete the filter."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.client, self.over, self.replies = server.client(), threading.Event(), []
        self.start()

    def run(self):
        while not self.over.is_set():
            self.replies.append(self.client("DEL", "f"))

    def end(self):
        self.over.set()
        self.join()


@pytest.fixture
def hasty(server):
    """With a threshold of 0, a long command yields at every pause."""
    server("CONFIG", "SET", "busy-reply-threshold", 0)
    yield server
    server("CONFIG", "SET", "busy-reply-threshold", 5000)


def test_a_long_command_lets_the_server_breathe(hasty, layout):
    n, client = 40000, hasty.client()
    client("BF.RESERVE", "g", 0.001, n)
    meddler = Meddler(hasty)
    new = client("BF.INSERT", "f", "ERROR", 0.001, "CAPACITY", n, "ITEMS", *keys(n))
    client("BF.MADD", "g", *keys(n))
    assert client("BF.MEXISTS", "g", *keys(n)) == [1] * n
    meddler.end()
    assert sum(new) > n * 0.995
    assert {str(r)[:5] for r in meddler.replies} <= {"0", "1", "BUSY "}
    assert hasty.alive()


@pytest.mark.parametrize("command", ["BF.MADD", "BF.MEXISTS", "BF.COUNT", "BF.REMOVE"])
def test_every_command_with_many_items_lets_the_server_breathe(hasty, command):
    client, names = hasty.client(), keys(40000)
    client("BF.RESERVE", "g", 0.001, 10_000_000, "COUNTING")
    client("BF.MADD", "g", *names[:9])
    meddler = Meddler(hasty)
    while not any(str(r).startswith("BUSY ") for r in meddler.replies):
        assert len(client(command, "g", *names)) == len(names)  # some time it asks in the right moment
    meddler.end()
    assert {str(r)[:5] for r in meddler.replies} == {"0", "BUSY "}
    assert hasty.alive()


def test_nothing_comes_between_the_commands_of_a_transaction(hasty, layout):
    n, client = 40000, hasty.client()
    meddler = Meddler(hasty)
    client("MULTI")
    client("BF.INSERT", "f", "ERROR", 0.001, "CAPACITY", n, "ITEMS", *keys(n))
    client("BF.MEXISTS", "f", *keys(n))
    new, there = client("EXEC")
    script = "local k = {} for i = 1, 7000 do k[i] = 'k' .. i end " \
             "for j = 1, 5 do redis.call('BF.MADD', KEYS[1], unpack(k)) end " \
             "return redis.call('BF.CARD', KEYS[1])"
    assert client("EVAL", script, 1, "f") > 6900
    meddler.end()
    assert sum(new) > n * 0.995 and there == [1] * n
    assert hasty.alive()


def test_scripts_and_transactions(server, layout):
    assert server("EVAL", "return redis.call('BF.ADD', KEYS[1], ARGV[1])", 1, "f", "a") == 1
    assert server("EVAL", "return redis.call('BF.MEXISTS', KEYS[1], 'a', 'b')", 1, "f") == [1, 0]
    server("MULTI")
    server("BF.MADD", "f", "b", "c")
    server("BF.CARD", "f")
    assert server("EXEC") == [[1, 1], 3]
