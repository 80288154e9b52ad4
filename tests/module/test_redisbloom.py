# SPDX-License-Identifier: MIT
"""RedisBloom's data by way of commands: append-only files and the stream from a primary to its
replicas."""
import contextlib
import socket
import threading

import pytest

from conftest import rewrite
from redisbloom import RedisBloom, to_file
from resp import encode, keys

SETTINGS = {"rdbcompression": "no"}  # so that dumps can be compared byte for byte


# ---- From RedisBloom ---------------------------------------------------------------------------

def batches(n, prefix, size=50):
    names = keys(n, prefix)
    return [names[i:i + size] for i in range(0, n, size)]


def workload():
    """What RedisBloom logs and replicates: every command as it came, also one that met a full
    filter.  Filters that cannot grow are filled until they are full."""
    yield "BF.RESERVE", "grows", "0.01", "200"
    yield "BF.RESERVE", "steep", "0.001", "30", "EXPANSION", "4"
    yield "bf.reserve", "lower", "0.02", "60", "nonscaling"
    for i in range(20):
        yield "BF.RESERVE", f"fixed{i}", "0.01", str(100 + i), "NONSCALING"
    yield "BF.ADD", "added", "first"
    yield "BF.MADD", "madded", "first", "second"
    yield "BF.INSERT", "inserted", "CAPACITY", "70", "ERROR", "0.005", "ITEMS", "first"
    yield "BF.INSERT", "tight", "CAPACITY", "90", "NONSCALING", "ITEMS", "first"
    yield "BF.INSERT", "early", "EXPANSION", "3", "ITEMS", *keys(250, "early")
    for name in ("grows", "steep", "lower", "added", "madded", "inserted", "tight",
                 *(f"fixed{i}" for i in range(20))):
        for batch in batches(300, name):
            yield "BF.MADD", name, *batch
        yield "BF.ADD", name, "one more"
        yield "BF.INSERT", name, "NOCREATE", "ITEMS", "and", "another"


@pytest.fixture(scope="module")
def theirs():
    bloom = RedisBloom()
    for command in workload():
        bloom(*command)
    full = [n for n in bloom.filters if 250 > len(bloom.accepted[n]) > 59]
    assert len(full) > 20
    return bloom


def assert_theirs(server, theirs):
    """Every item that RedisBloom accepted is there, and so is every other bit of it."""
    theirs.version = int.from_bytes(server("DUMP", "added")[-10:-8], "little")
    for name in theirs.filters:
        items = theirs.accepted[name]
        assert server("TYPE", name) == "MBbloom--", name
        assert server("BF.MEXISTS", name, *items) == [1] * len(items), name
        assert server("DUMP", name) == theirs.dump(name), name


def load(new_server, file, **settings):
    server = new_server(**SETTINGS, **settings)
    (server.directory / "appendonly.aof").write_bytes(file)
    return server.restart(appendonly="yes")


def dumps(server):
    return {name: server("DUMP", name) for name in server("KEYS", "*")}


@pytest.mark.parametrize("layout", ["blocked", "classic"])
def test_its_append_only_file(new_server, theirs, layout):
    file = to_file(workload())
    first, second = (load(new_server, file, **{"bf.layout": layout}) for _ in range(2))
    assert_theirs(first, theirs)
    assert dumps(first) == dumps(second)
    # From now on it is umbel's own file.
    rewrite(first)
    before = dumps(first)
    assert dumps(first.restart()) == before


@pytest.mark.parametrize("form", ["rewritten", "preamble"])
def test_its_append_only_file_after_a_rewrite(new_server, theirs, form):
    """Chunks or an RDB file, and then commands again."""
    both = RedisBloom()
    for command in workload():
        both(*command)
    more = [("BF.MADD", name, *keys(100, "later")) for name in both.filters]
    more.append(("BF.ADD", "after the rewrite", "x"))
    for command in more:
        both(*command)
    if form == "preamble":
        file = theirs.preamble() + to_file(more)
    else:
        file = to_file([*theirs.rewritten(), *more])
    first, second = (load(new_server, file) for _ in range(2))
    assert_theirs(first, both)
    assert dumps(first) == dumps(second)


class Primary:
    """A server that knows how to have a replica, and nothing else: its data is a stream."""

    def __init__(self, stream):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.stream, self.done, self.stopped = stream, threading.Event(), False
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while not self.stopped:
            try:
                with self.listener.accept()[0] as link, contextlib.suppress(OSError, ValueError):
                    self.serve(link, link.makefile("rb"))
            except OSError:
                return

    @staticmethod
    def words(lines):
        line = lines.readline()
        while line in (b"\n", b"\r\n"):
            line = lines.readline()
        count, words = int(line[1:]), []
        for _ in range(count):
            size = int(lines.readline()[1:])
            words.append(lines.read(size + 2)[:-2])
        return words

    def serve(self, link, lines):
        while not self.stopped:
            words = self.words(lines)
            command = words[0].upper()
            if command == b"PSYNC":
                empty = RedisBloom().preamble()
                link.sendall(b"+FULLRESYNC %s 0\r\n$%d\r\n%s" % (b"a" * 40, len(empty), empty))
                link.sendall(self.stream + encode("REPLCONF", "GETACK", "*"))
            elif words[:2] == [b"REPLCONF", b"ACK"]:
                if int(words[2]) >= len(self.stream):
                    self.done.set()
            else:
                link.sendall(b"+PONG\r\n" if command == b"PING" else b"+OK\r\n")

    def stop(self):
        self.stopped = True
        self.listener.close()


@pytest.mark.parametrize("layout", ["blocked", "classic"])
def test_its_replication_stream(new_server, theirs, layout):
    replicas = []
    for _ in range(2):
        primary = Primary(to_file(workload()))
        replica = new_server(**SETTINGS, **{"bf.layout": layout}, appendonly="yes",
                             replicaof=f"127.0.0.1 {primary.port}")
        assert primary.done.wait(60), replica.log()
        primary.stop()
        replicas.append(replica)
    assert_theirs(replicas[0], theirs)
    assert dumps(replicas[0]) == dumps(replicas[1])
    # What the replica logged in turn is as good.
    replica = replicas[0]
    replica("REPLICAOF", "NO", "ONE")
    replica.restart(replicaof="no one")
    assert_theirs(replica, theirs)


def test_clients_of_a_replica_that_was_promoted_get_the_layout_that_is_set(new_server):
    server = load(new_server, to_file([("BF.ADD", "old", "x")]))
    server("BF.ADD", "new", "x")
    assert [server("TYPE", name) for name in ("old", "new")] == ["MBbloom--", "umbel-bf-"]
