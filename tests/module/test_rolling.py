# SPDX-License-Identifier: MIT
"""A rolling upgrade from RedisBloom, node by node, as docs/guides/from-redisbloom.md has it: three
shards of two nodes, in which the nodes that still have RedisBloom are its model (redisbloom.py)."""
import copy
import time

import pytest

from conftest import free_port, in_step
from redisbloom import RedisBloom, to_file
from resp import is_error, keys
from test_redisbloom import Follower, Primary

SHARDS = 3


def old_words(shard):
    yield "BF.RESERVE", "reserved", "0.001", "400"
    yield "BF.INSERT", "odd", "NONSCALING", "EXPANSION", "7", "CAPACITY", "60", "ITEMS", *keys(90)
    for i in range(6):
        yield "BF.MADD", "grown", *keys(100, f"{shard}:{i}:")
        yield "BF.MADD", "reserved", *keys(50, f"{shard}:{i}:")


class Shard:
    """Its model, which has all that the old primary has taken."""

    def __init__(self, number):
        self.number, self.model = number, RedisBloom()
        self.words = list(old_words(number))
        for words in self.words:
            self.model(*words)

    def assert_equal(self, server):
        for name in self.model.filters:
            dump = server("DUMP", name)
            self.model.version = int.from_bytes(dump[-10:-8], "little")
            assert dump == self.model.dump(name), name


@pytest.mark.parametrize("shard", [Shard(i) for i in range(SHARDS)], ids=lambda s: str(s.number))
def test_node_by_node(new_server, new_replica, shard):
    # 1. The replica of an old primary gets umbel.so, with bf.layout classic, and follows.
    primary = Primary(to_file(shard.words))
    new = new_server(port=free_port(), replicaof=f"127.0.0.1 {primary.port}",
                     repl_diskless_sync="no", rdbcompression="no", **{"bf.layout": "classic"})
    assert primary.done.wait(60), new.log()
    shard.assert_equal(new)
    # 2. It is promoted; the old primary becomes its replica and takes every word.
    primary.stop()
    new("REPLICAOF", "NO", "ONE")
    follower = Follower(new)
    old = copy.deepcopy(shard.model)
    for words in (["BF.MADD", "grown", *keys(400, "more")], ["BF.RESERVE", "fresh", 0.01, 100],
                  ["BF.MADD", "fresh", *keys(300)], ["COPY", "fresh", "copied"],
                  ["COPY", "grown", "copied", "REPLACE"], ["BF.MERGE", "merged", "fresh"],
                  ["BF.INSERT", "odd too", "EXPANSION", 0, "ITEMS", "x"]):
        assert not is_error(new(*words)), words
    new("SET", "the", "end")
    for words in follower.until([b"SET", b"the", b"end"]):
        if words[0].upper().startswith((b"BF.", b"DEL")):
            old(*words)
    shard.model = old
    assert sorted(old.filters) == sorted(n.encode() for n in (
        "reserved", "odd", "grown", "fresh", "copied", "merged", "odd too"))
    shard.assert_equal(new)
    # 3. The old primary gets umbel.so as well, and then new filters may be blocked.
    last = new_replica(new, rdbcompression="no", **{"bf.layout": "classic"})
    shard.assert_equal(last)
    for node in new, last:
        node("CONFIG", "SET", "bf.layout", "blocked")
    new("BF.ADD", "blocked", "x")
    in_step(new, last)
    assert last("BF.EXISTS", "blocked", "x") == 1 and last("TYPE", "blocked") == "umbel-bf-"
    shard.assert_equal(last)


def test_the_log_tells_who_could_not_follow(new_server, new_replica):
    primary = new_server(port=free_port())
    new_replica(primary)
    for _ in range(500):  # it is online when it has said how far it is
        if "it needs umbel.so" in primary.log():
            break
        time.sleep(0.02)
    assert "it needs umbel.so" in primary.log()
    classic = new_server(port=free_port(), **{"bf.layout": "classic"})
    new_replica(classic)
    classic("SET", "x", "y")
    assert classic("WAIT", 1, 10000) == 1
    assert "it needs umbel.so" not in classic.log()
