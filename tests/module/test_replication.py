# SPDX-License-Identifier: MIT
"""What replicas and the append-only file receive, and that it is enough."""
import random
import re
import signal
import time

import pytest

from conftest import free_port, in_step, info, rewritten, running, until
from resp import is_error, keys

# Written before a command is answered, so that it can be read immediately.
AOF = {"appendonly": "yes", "appendfsync": "always", "aof-use-rdb-preamble": "no"}

CREATIONS = {
    "reserve": [["BF.RESERVE", "f", 0.003, 500, "EXPANSION", 3], ["BF.ADD", "f", "a"]],
    "add": [["BF.ADD", "f", "a"]],
    "madd": [["BF.MADD", "f", *keys(500)]],
    "insert": [["BF.INSERT", "f", "ERROR", 0.02, "CAPACITY", 50, "ITEMS", *keys(300)]],
    "insert nothing": [["BF.INSERT", "f", "CAPACITY", 50]],
    "nonscaling": [["BF.INSERT", "f", "CAPACITY", 5, "NONSCALING", "ITEMS", *keys(20)],
                   ["BF.MADD", "f", *keys(20)]],
    "tightening": [["BF.RESERVE", "f", 0.01, 50, "TIGHTENING", 0.3], ["BF.MADD", "f", *keys(500)]],
    "counting": [["BF.RESERVE", "f", 0.01, 500, "COUNTING"], ["BF.MADD", "f", *keys(50)],
                 ["BF.MADD", "f", *keys(50)], ["BF.REMOVE", "f", *keys(20)]],
    "window": [["BF.RESERVE", "f", 0.01, 100, "WINDOW", 4], ["BF.MADD", "f", *keys(50)],
               ["BF.MADD", "f", *keys(50)], ["BF.MADD", "f", *keys(500)]],
    "clear": [["BF.MADD", "f", *keys(500)], ["BF.CLEAR", "f"], ["BF.ADD", "f", "a"]],
    "merge": [["BF.RESERVE", "g", 0.01, 500], ["BF.MADD", "g", *keys(50)], ["BF.MERGE", "f", "g"],
              ["BF.MADD", "g", *keys(50, "x")], ["BF.MERGE", "f", "g"]],
}


@pytest.fixture(scope="module")
def pair():
    """A primary and a replica whose settings differ in everything."""
    with running(port=free_port()) as first:
        with running("ERROR_RATE", "0.2", "INITIAL_SIZE", "7",
                     replicaof=f"127.0.0.1 {first.port}",
                     **{"bf.layout": "classic", "bf.bf-expansion-factor": "5",
                        "bf.memory-limit": "300"}) as second:
            in_step(first, second)
            yield first, second


def assert_equal(first, second, *names):
    in_step(first, second)
    for name in names:
        assert first("DEBUG", "DIGEST-VALUE", name) == second("DEBUG", "DIGEST-VALUE", name), name
    assert first("DEBUG", "DIGEST") == second("DEBUG", "DIGEST")


@pytest.mark.parametrize("name", CREATIONS)
@pytest.mark.parametrize("layout", ["blocked", "classic"])
def test_a_replica_is_equal_whatever_its_settings(pair, layout, name):
    first, second = pair
    first("FLUSHALL")
    first("CONFIG", "SET", "bf.layout", layout)
    for command in CREATIONS[name]:
        assert not is_error(first(*command))
    assert_equal(first, second, "f")
    assert second("BF.INFO", "f") == first("BF.INFO", "f")
    assert second("TYPE", "f") == first("TYPE", "f")


def test_a_random_workload(pair):
    first, second = pair
    seed = random.randrange(1 << 32)
    print("seed", seed)
    dice = random.Random(seed)
    first("FLUSHALL")
    for _ in range(400):
        name = f"f{dice.randrange(6)}"
        items = [f"k{dice.randrange(3000)}" for _ in range(dice.randrange(1, 60))]
        first("CONFIG", "SET", "bf.layout", dice.choice(["blocked", "classic"]))
        first(*dice.choice([
            ["BF.ADD", name, items[0]], ["BF.MADD", name, *items],
            ["BF.INSERT", name, "CAPACITY", dice.randrange(1, 300), "ITEMS", *items],
            ["BF.RESERVE", name, dice.random() / 4 + 1e-9, dice.randrange(1, 400), "IFNOTEXISTS"],
            ["BF.RESERVE", name, 0.01, 60, "NONSCALING"],
            ["BF.RESERVE", name, 0.01, 60, "COUNTING"], ["BF.REMOVE", name, *items],
            ["BF.CLEAR", name], ["COPY", name, f"f{dice.randrange(6)}"],
            ["BF.MERGE", name, f"f{dice.randrange(6)}"], ["DEL", name], ["EXPIRE", name, 1000]]))
    assert_equal(first, second)


def offset(server):
    return int(info(server, "replication")["master_repl_offset"])


@pytest.mark.parametrize("layout", ["blocked", "classic"])
def test_what_changes_nothing_is_not_replicated(pair, layout):
    first, second = pair
    first("FLUSHALL")
    first("CONFIG", "SET", "bf.layout", layout)
    first("CONFIG", "SET", "repl-ping-replica-period", 3600)
    first("BF.INSERT", "f", "CAPACITY", 100, "NONSCALING", "ITEMS", *keys(100))
    while not is_error(first("BF.ADD", "f", "more" + str(random.random()))):
        pass
    in_step(first, second)
    before = offset(first)
    for command in [["BF.ADD", "f", "k1"], ["BF.MADD", "f", *keys(100)],
                    ["BF.INSERT", "f", "ITEMS", *keys(100)], ["BF.ADD", "f", "certainly new"],
                    ["BF.RESERVE", "f", 0.01, 5], ["BF.RESERVE", "f", 0.01, 5, "IFNOTEXISTS"],
                    ["BF.EXISTS", "f", "x"], ["BF.LOADCHUNK", "f", 1, "x"], ["BF.REMOVE", "f", "x"],
                    ["BF.MERGE", "f", "none"], ["BF.INSERT", "h", "NOCREATE", "ITEMS", "x"]]:
        first(*command)
    assert offset(first) == before
    first("CONFIG", "SET", "repl-ping-replica-period", 10)


def test_a_backlog_without_replicas_hears_everything(new_server, new_replica, layout):
    """Where nobody listens, classic filters are not replicated as a whole."""
    primary = new_server(port=free_port())
    replica = new_replica(primary)
    for name in "fg":
        primary("BF.RESERVE", name, 0.01, 5000, "LAYOUT", layout,
                *(["SEED", "0123456789abcdef"] if layout == "blocked" else []))
        primary("BF.MADD", name, *keys(500, name))
    primary("BF.RESERVE", "h", 0.01, 5000, "LAYOUT", layout)
    primary("BF.ADD", "h", "x")
    in_step(primary, replica)
    replica.process.send_signal(signal.SIGSTOP)
    primary("CLIENT", "KILL", "TYPE", "REPLICA")
    while info(primary, "replication")["connected_slaves"] != "0":
        time.sleep(0.02)
    assert primary("BF.MERGE", "f", "g") == primary("BF.CLEAR", "h") == "OK"
    replica.process.send_signal(signal.SIGCONT)
    while info(primary, "replication")["connected_slaves"] == "0":
        time.sleep(0.02)
    in_step(primary, replica)
    assert info(primary, "stats")["sync_partial_ok"] == "1"
    assert primary("DEBUG", "DIGEST") == replica("DEBUG", "DIGEST")
    assert sum(replica("BF.MEXISTS", "f", *keys(500, "g"))) == 500


def commands_in(server):
    """The append-only file as a list of commands."""
    files = sorted(server.directory.glob("appendonlydir/*.incr.aof"))
    data = b"".join(p.read_bytes() for p in files)
    found = []
    at = 0
    while at < len(data):
        count = int(re.match(rb"\*(\d+)\r\n", data[at:])[1])
        at = data.index(b"\n", at) + 1
        words = []
        for _ in range(count):
            end = data.index(b"\r\n", at)
            size = int(data[at + 1:end])
            words.append(data[end + 2:end + 2 + size])
            at = end + 4 + size
        found.append(words)
    return [f for f in found if f[0].upper().startswith(b"BF.")]


def test_creation_is_one_command_with_everything(new_server):
    server = new_server(**AOF)
    server("BF.ADD", "f", "a")
    server("BF.RESERVE", "g", 0.001, 500, "TIGHTENING", 0.25)
    server("BF.RESERVE", "c", 0.001, 500, "LAYOUT", "classic", "NONSCALING")
    server("BF.INSERT", "n", "ERROR", 1e-9, "CAPACITY", 2, "NONSCALING", "ITEMS", *"abcd")
    server("BF.MADD", "n", "a", "b", "c")
    server("BF.MADD", "f", "a", "b", "c")
    f, g, c, n, more = commands_in(server)
    assert f[:-3] == [b"BF.INSERT", b"f", b"ERROR", b"0.01", b"CAPACITY", b"100", b"EXPANSION",
                      b"auto", b"LAYOUT", b"blocked", b"SEED"]
    assert len(f[-3]) == 16 and f[-2:] == [b"ITEMS", b"a"]
    assert g[:-1] == [b"BF.RESERVE", b"g", b"0.001", b"500", b"EXPANSION", b"auto", b"LAYOUT",
                      b"blocked", b"TIGHTENING", b"0.25", b"SEED"]
    assert c == [b"BF.RESERVE", b"c", b"0.001", b"500", b"NONSCALING"]
    assert n[-3:] == [b"ITEMS", b"a", b"b"]
    assert more == [b"BF.MADD", b"f", b"a", b"b", b"c"]
    assert len({f[-3], g[-1], n[-4]}) == 3  # each has its own secret


def test_part_of_a_batch_is_replicated_as_what_was_done(new_server):
    server = new_server(**AOF)
    server("BF.RESERVE", "f", 1e-9, 3, "NONSCALING")
    assert len(server("BF.MADD", "f", "a", "b", "c", "d", "e")) == 4
    assert commands_in(server)[-1] == [b"BF.MADD", b"f", b"a", b"b", b"c"]


@pytest.mark.parametrize("layout", ["blocked", "classic"])
def test_replaying_the_file_ignores_limits(new_server, layout):
    server = new_server(**AOF, **{"bf.layout": layout})
    server("BF.MADD", "f", *keys(3000))
    server("BF.RESERVE", "g", 0.01, 100000)
    before = server("DEBUG", "DIGEST")
    server.restart(**{"bf.memory-limit": "100", "bf.bf-initial-size": "9"})
    assert server("DEBUG", "DIGEST") == before
    assert is_error(server("BF.RESERVE", "h", 0.01, 100000), "memory limit")


def test_inside_a_transaction_and_a_script(pair):
    first, second = pair
    first("FLUSHALL")
    first("CONFIG", "SET", "bf.layout", "blocked")
    client = first.client()
    client("MULTI")
    client("BF.ADD", "f", "a")
    client("BF.ADD", "f", "a")
    client("BF.MADD", "f", "a", "b")
    assert client("EXEC") == [1, 0, [0, 1]]
    assert first("EVAL", "return redis.call('BF.ADD', KEYS[1], 'x')", 1, "g") == 1
    assert_equal(first, second, "f", "g")


def full_resync(primary, replica):
    """Makes the replica need all data again, from the primary that it knows already."""
    done = int(info(primary, "stats")["sync_full"])
    client = primary.client()
    client("MULTI")
    client("CLIENT", "KILL", "TYPE", "replica")
    client("SET", "more than the backlog", "x" * 100_000)
    client("EXEC")
    until(lambda: int(info(primary, "stats")["sync_full"]) > done,
          "the replica does not ask for all data")


@pytest.mark.not_reloaded("it needs its own moment of loading")
@pytest.mark.parametrize("layout", ["blocked", "classic"])
def test_a_replica_answers_while_it_loads(new_server, new_replica, layout):
    """With swapdb a replica reads the new data next to the old and answers from the old."""
    primary = new_server(port=free_port(), repl_backlog_size=16384, repl_diskless_sync="yes",
                         **{"bf.layout": layout})
    replica = new_replica(primary, repl_diskless_load="swapdb",
                          loading_process_events_interval_bytes=1024)
    names, old, new = keys(40, "f"), keys(500, "old"), keys(500, "new")
    for name in names:
        primary("BF.RESERVE", name, 1e-7, 700)
        primary("BF.MADD", name, *old)
    in_step(primary, replica)
    replica("CONFIG", "SET", "key-load-delay", 50000)  # microseconds
    full_resync(primary, replica)
    for name in names:
        primary("BF.MADD", name, *new)
    beside = 0
    while info(replica, "replication")["master_link_status"] != "up":
        for name in names[beside % 40], "f0":
            assert replica("BF.MEXISTS", name, *old) == [1] * 500
        assert is_error(replica("BF.ADD", "f0", "x"), "READONLY")
        beside += info(replica, "persistence").get("async_loading") == "1"
    assert beside > 0
    assert "not aware of async replication" not in replica.log()
    replica("CONFIG", "SET", "key-load-delay", 0)
    assert_equal(primary, replica, *names)
    for name in names:
        assert replica("BF.MEXISTS", name, *old, *new) == [1] * 1000
    figures = [{k: v for k, v in info(s, "bf").items() if k in ("bf_filters", "bf_items")}
               for s in (primary, replica)]
    assert figures[0] == figures[1] and figures[0]["bf_filters"] == "40"


def test_bits_that_nobody_counted_are_replicated(pair):
    """A dump may say that it has no items, and still have bits."""
    first, second = pair
    first("FLUSHALL")
    first("BF.RESERVE", "f", 0.01, 100, "LAYOUT", "classic")
    empty = first("BF.SCANDUMP", "f", 0)[1]
    first("BF.MADD", "f", *keys(50))
    bits = first("BF.SCANDUMP", "f", 1)[1]
    assert first("BF.LOAD", "g", empty + bits) == "OK"
    assert first("BF.MERGE", "h", "g") == "OK"
    assert first("BF.CARD", "g") == 0
    in_step(first, second)
    for name in "g", "h":
        assert second("BF.MEXISTS", name, *keys(50)) == [1] * 50
        assert first("DEBUG", "DIGEST-VALUE", name) == second("DEBUG", "DIGEST-VALUE", name)


def test_secrets_differ_between_the_filters_of_a_replica(pair):
    """A promoted replica draws its own secrets."""
    first, second = pair
    first("FLUSHALL")
    in_step(first, second)
    second("REPLICAOF", "NO", "ONE")
    second("CONFIG", "SET", "bf.memory-limit", 0)
    for name in "ab":
        second("BF.RESERVE", name, 0.2, 1000, "LAYOUT", "blocked")
        second("BF.MADD", name, *keys(1000))
    answers = [second("BF.MEXISTS", name, *keys(2000, "absent")) for name in "ab"]
    assert answers[0] != answers[1]


def make_some(server, round_number):
    for i in range(3):
        assert server("BF.ADD", f"add{round_number}:{i}", "x") == 1
        assert server("BF.RESERVE", f"reserved{round_number}:{i}", 0.01, 1000) == "OK"
    return [f"{kind}{round_number}:{i}" for kind in ("add", "reserved") for i in range(3)]


def test_listeners_come_and_go():
    """Creations are told only while someone listens: whoever begins to listen, at whatever moment,
    misses none.  A filter that is not told of has another secret on the replica."""
    with running(port=free_port()) as first:
        names = make_some(first, 0)
        with running(port=free_port(), replicaof=f"127.0.0.1 {first.port}") as second:
            in_step(first, second)
            names += make_some(first, 1)
            assert_equal(first, second, *names)
            first("BGSAVE")
            first("CLIENT", "KILL", "TYPE", "replica")
            names += make_some(first, 2)  # it continues from the backlog
            assert_equal(first, second, *names)
            assert info(first, "stats")["sync_full"] == "1"

            first("CONFIG", "SET", "save", "3600 1")
            first.stop(signal.SIGTERM)  # it saves where the replica is, which continues from there
            first.start()
            names += make_some(first, 5)
            assert_equal(first, second, *names)

            second("REPLICAOF", "NO", "ONE")
            names += make_some(second, 3)
            first("REPLICAOF", "127.0.0.1", second.port)
            in_step(second, first)
            names += make_some(second, 4)
            assert_equal(second, first, *names)


def test_an_append_only_file_that_is_switched_on():
    with running(port=free_port()) as server:
        names = make_some(server, 0)
        server("CONFIG", "SET", "appendonly", "yes")
        names += make_some(server, 1)
        rewritten(server)
        names += make_some(server, 2)
        digest = server("DEBUG", "DIGEST")
        assert server("DEBUG", "LOADAOF") == "OK"
        assert server("DEBUG", "DIGEST") == digest
        assert server("DBSIZE") == len(names)
