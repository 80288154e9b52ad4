# SPDX-License-Identifier: MIT
"""A rolling upgrade of a cluster from RedisBloom, node by node and under writes, as
docs/guides/from-redisbloom.md has it.  Nodes that still have RedisBloom are its model (redisbloom.py).

labels: slow
"""
import contextlib
import threading
import time

import pytest

from conftest import MODULE, PATIENCE, free_port, in_step, info, until
from redisbloom import RedisBloom, Refused
from resp import Client, Error, encode, is_error, keys
from test_redisbloom import Follower, Primary

SHARDS = 3


# ---- The old side ------------------------------------------------------------------------------

class OldPrimary(Primary):
    """A model with clients, whose commands are its stream, word by word.  Who has its lock has
    paused it."""

    def __init__(self):
        self.model, self.lock, self.moved_to = RedisBloom(), threading.Lock(), None
        self.replicas, self.sent, self.acknowledged = [], 0, 0
        super().__init__(b"")

    def run(self):
        with contextlib.suppress(OSError):
            while True:
                link = self.listener.accept()[0]
                threading.Thread(target=self.talk, args=[link], daemon=True).start()

    def talk(self, link):
        with link, contextlib.suppress(OSError, ValueError):
            lines = link.makefile("rb")
            while not self.stopped:
                words = self.words(lines)
                if words[0].upper() == b"PSYNC":
                    with self.lock:
                        self.follow(link)
                elif words[:2] == [b"REPLCONF", b"ACK"]:
                    self.acknowledged = int(words[2])
                else:
                    link.sendall(self.answer(words))

    def answer(self, words):
        """Writers want to know whether their words were taken, and no more."""
        command = words[0].upper()
        if command == b"AUTH":
            return b"-ERR\r\n"
        if not command.startswith(b"BF."):
            return b"+PONG\r\n" if command == b"PING" else b"+OK\r\n"
        with self.lock:
            if self.moved_to:
                return b"-MOVED 0 127.0.0.1:%d\r\n" % self.moved_to
            try:
                self.model(*words)
            except Refused:
                return b"-ERR\r\n"
            self.send(*words)
        return b"+OK\r\n"

    def follow(self, link):
        data = self.model.preamble()
        link.sendall(b"+FULLRESYNC %s %d\r\n$%d\r\n%s" % (b"a" * 40, self.sent, len(data), data))
        self.replicas.append(link)
        self.send("SELECT", 0)

    def send(self, *words):
        data = encode(*words)
        self.sent += len(data)
        for link in self.replicas:
            with contextlib.suppress(OSError):
                link.sendall(data)

    @contextlib.contextmanager
    def paused(self):
        """Until its replica has everything, as before a failover, and then for as long as the
        context lasts; clients wait."""
        with self.lock:
            all_of_it = self.sent
            self.send("REPLCONF", "GETACK", "*")
            until(lambda: self.acknowledged >= all_of_it, "the replica does not follow")
            yield


# ---- Clients -----------------------------------------------------------------------------------

class Writer(threading.Thread):
    """Adds items to an old filter and to new ones for as long as it is wanted, and knows which were
    acknowledged.  Who has its lock has paused it."""

    def __init__(self, tag, port):
        super().__init__(daemon=True)
        self.tag, self.port, self.client = tag, port, None
        self.acknowledged, self.batches, self.wrong = {}, 0, None
        self.lock, self.over = threading.Lock(), threading.Event()
        self.start()

    def run(self):
        try:
            while not self.over.wait(0.005):
                with self.lock:
                    for name in "written", f"made{self.batches // 25}":
                        items = keys(5, f"{self.batches}:")
                        self.write("BF.MADD", self.tag + name, *items)
                        self.acknowledged.setdefault(self.tag + name, []).extend(items)
                    self.batches += 1
        except AssertionError as e:
            self.wrong = e

    def write(self, *words):
        def taken():
            client, self.client = self.client or Client(("127.0.0.1", self.port)), None
            reply = client(*words)
            if is_error(reply, "MOVED"):
                self.port = int(reply.rsplit(":", 1)[1])
                return False
            assert not is_error(reply) or is_error(reply, "CLUSTERDOWN"), reply
            assert not any(isinstance(r, Error) for r in reply), reply
            self.client = client
            return not is_error(reply)
        until(taken, f"{words[:2]} is not taken at {self.port}")

    def batch(self):
        """Waits until the filters have got more."""
        now = self.batches
        until(lambda: self.wrong or self.batches > now + 25, "nothing is written any more")
        assert not self.wrong, self.wrong

    def end(self):
        self.over.set()
        self.join(PATIENCE)
        assert not self.wrong and not self.is_alive(), self.wrong


# ---- The cluster -------------------------------------------------------------------------------

class Shard:
    """A primary and its replica, which have RedisBloom at first: the filters of the primary are in a
    model, whose port its node announces.  The node itself has no module; it keeps the place in the
    cluster, and its wrong password keeps it from following anybody."""

    def __init__(self, number, new_server):
        self.old, self.follower, self.writer = OldPrimary(), None, None
        node = {"module": None, "masterauth": "wrong", "cluster_enabled": "yes",
                "cluster_replica_no_failover": "yes",  # only when asked to
                "rdbcompression": "no", "repl_diskless_sync": "no"}
        self.primary, self.replica = (
            new_server(port=free_port(), cluster_port=free_port(), **node, **more)
            for more in ({"cluster_announce_port": self.old.port}, {}))
        self.slots = range(16384 * number // SHARDS, 16384 * (number + 1) // SHARDS)
        self.tag = next(f"{{{i}}}" for i in range(1000)
                        if self.primary("CLUSTER", "KEYSLOT", i) in self.slots)

    def nodes(self):
        return self.primary, self.replica

    def join(self, number, first):
        """Makes them nodes of the cluster to which `first` belongs."""
        assert self.primary("CLUSTER", "ADDSLOTSRANGE", self.slots[0], self.slots[-1]) == "OK"
        for i, node in enumerate(self.nodes()):
            assert node("CLUSTER", "SET-CONFIG-EPOCH", 2 * number + i + 1) == "OK"
            assert node("CLUSTER", "MEET", "127.0.0.1", first.port,
                        first.settings["cluster-port"]) == "OK"

    def settle(self):
        """One becomes the replica of the other, and clients come."""
        name = self.primary("CLUSTER", "MYID")
        until(lambda: self.replica("CLUSTER", "REPLICATE", name) == "OK", "they do not meet")
        for node in self.nodes():
            until(lambda n=node: b"cluster_state:ok" in n("CLUSTER", "INFO"), "it is not ready")
        client = Client(("127.0.0.1", self.old.port))
        for words in self.old_words():
            assert client(*words) == "OK"
        client.close()
        self.writer = Writer(self.tag, self.old.port)

    def old_words(self):
        tag = self.tag
        yield "BF.RESERVE", tag + "reserved", "0.001", "400"
        yield "BF.RESERVE", tag + "written", "0.001", "2000"
        yield ("BF.INSERT", tag + "odd", "NONSCALING", "EXPANSION", "7", "CAPACITY", "60", "ITEMS",
               *keys(90))
        for i in range(6):
            yield "BF.MADD", tag + "grown", *keys(100, f"{i}:")
            yield "BF.MADD", tag + "reserved", *keys(50, f"{i}:")

    @staticmethod
    def upgrade(node):
        """Restarts it with umbel.so, and the layout that RedisBloom knows."""
        for name in "masterauth", "cluster-announce-port":
            node.settings.pop(name, None)
        node.module = MODULE
        node.restart(**{"bf.layout": "classic"})
        until(lambda: info(node, "replication").get("master_link_status") == "up",
              "it does not follow")
        assert node("READONLY") == "OK"

    def fail_over(self, *how):
        """A server gives up after five seconds, which may be few on a busy machine."""
        asked = -PATIENCE

        def done():
            nonlocal asked
            if info(self.replica, "replication")["role"] == "master":
                return info(self.primary, "replication")["role"] == "slave"
            if time.monotonic() > asked + 6:
                asked = time.monotonic()
                self.replica("CLUSTER", "FAILOVER", *how)
            return False
        until(done, "the replica does not take over")
        self.primary, self.replica = self.replica, self.primary

    def fail_over_from_old(self):
        """Clients are held until the replica has everything and is the primary; then the old one
        follows it, and sends them there.  A real one does so when CLUSTER FAILOVER asks it; FORCE is
        because here it is not the node that has the data."""
        with self.old.paused():
            self.fail_over("FORCE")
            self.follower = Follower(self.primary)
            self.assert_equal(self.primary)
            self.old.moved_to = self.primary.port

    def every_word(self):
        """What only umbel has, or says in other words, reaches the old primary as well."""
        for words in (["BF.MADD", "grown", *keys(400, "more")], ["BF.RESERVE", "fresh", 0.01, 100],
                      ["BF.MADD", "fresh", *keys(300)], ["COPY", "fresh", "copied"],
                      ["COPY", "grown", "copied", "REPLACE"], ["BF.MERGE", "merged", "fresh"],
                      ["BF.INSERT", "odd too", "EXPANSION", 0, "ITEMS", "x"]):
            names = 2 if words[0] in ("COPY", "BF.MERGE") else 1
            words[1:1 + names] = [self.tag + w for w in words[1:1 + names]]
            assert not is_error(self.primary(*words)), words

    def catch_up(self):
        """Gives the old primary what its new one has sent so far."""
        end = [b"SET", f"{self.tag}end".encode(), b""]
        assert self.primary(*end) == "OK"
        for words in self.follower.until(end):
            if words[0].upper().startswith((b"BF.", b"DEL")):
                self.old.model(*words)
        assert {f"{self.tag}{name}".encode() for name in (
            "reserved", "odd", "grown", "fresh", "copied", "merged", "odd too", "written", "made0")
        } <= self.old.model.filters.keys()
        self.assert_equal(self.primary)

    def assert_equal(self, server):
        model = self.old.model
        for name in model.filters:
            dump = server("DUMP", name)
            model.version = int.from_bytes(dump[-10:-8], "little")
            assert dump == model.dump(name), name

    def assert_complete(self):
        in_step(*self.nodes())
        for node in self.nodes():
            assert node("READONLY") == "OK"
            for name, items in self.writer.acknowledged.items():
                assert node("BF.MEXISTS", name, *items) == [1] * len(items), name


@pytest.fixture
def shards(new_server):
    found = [Shard(i, new_server) for i in range(SHARDS)]
    try:
        for i, shard in enumerate(found):
            shard.join(i, found[0].primary)
        for shard in found:
            shard.settle()
        yield found
    finally:
        for shard in found:
            shard.old.stop()
            if shard.writer:
                shard.writer.over.set()


def test_node_by_node(shards):
    """The steps of the guide, each on all shards, while clients write to all."""
    def written():
        for shard in shards:
            shard.writer.batch()

    written()
    # 1, 2. The replicas get umbel.so, with bf.layout classic, and follow their old primaries.
    for shard in shards:
        shard.upgrade(shard.replica)
        with shard.old.paused():
            shard.assert_equal(shard.replica)
    written()
    # 3. They take over; the old primaries become their replicas and take every word.
    for shard in shards:
        shard.fail_over_from_old()
        shard.every_word()
    written()
    for shard in shards:
        with shard.writer.lock:
            shard.catch_up()
    # 4. The old primaries get umbel.so as well.
    for shard in shards:
        shard.follower.client.close()
        shard.old.stop()
        shard.upgrade(shard.replica)
        with shard.writer.lock:
            in_step(*shard.nodes())
            assert shard.replica("DEBUG", "DIGEST") == shard.primary("DEBUG", "DIGEST")
    written()
    for shard in shards:
        assert {shard.primary("TYPE", name) for name in list(shard.writer.acknowledged)} == {"MBbloom--"}
    # 5. New filters may be blocked, and the first primaries be primaries again.
    for shard in shards:
        for node in shard.nodes():
            assert node("CONFIG", "SET", "bf.layout", "blocked") == "OK"
    written()
    for shard in shards:
        shard.fail_over()
    written()
    for shard in shards:
        shard.writer.end()
        shard.assert_complete()
        last = shard.writer.batches // 25 - 1
        for node in shard.nodes():
            assert [node("TYPE", f"{shard.tag}{name}") for name in (
                "written", "made0", f"made{last}")] == ["MBbloom--", "MBbloom--", "umbel-bf-"]


def test_the_log_tells_who_could_not_follow(new_server, new_replica):
    primary = new_server(port=free_port())
    new_replica(primary)
    # It is online when it has said how far it is.
    until(lambda: "it needs umbel.so" in primary.log(), "the log does not tell")
    classic = new_server(port=free_port(), **{"bf.layout": "classic"})
    new_replica(classic)
    classic("SET", "x", "y")
    assert classic("WAIT", 1, 10000) == 1
    assert "it needs umbel.so" not in classic.log()
