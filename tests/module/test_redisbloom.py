# SPDX-License-Identifier: MIT
"""RedisBloom's data by every road, in both directions: RDB and append-only files, the stream from a
primary to its replicas, dumps and their pieces."""
import contextlib
import copy
import re
import socket
import struct
import threading

import pytest

import rdb
from conftest import free_port, in_step, info, rdb_version, rewrite, rewritten
from redisbloom import RedisBloom, to_file
from resp import Client, encode, is_error, keys

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


def load_files(new_server, files):
    server = new_server(**SETTINGS)
    (server.directory / "appendonlydir").mkdir()
    for name, content in files.items():
        (server.directory / "appendonlydir" / name).write_bytes(content)
    return server.restart(appendonly="yes")


def dumps(server):
    return {name: server("DUMP", name) for name in server("KEYS", "*")}


def goes_on(server, theirs, later):
    """Both take the same items from here on, and refuse the same."""
    both = copy.deepcopy(theirs)
    for name in both.filters:
        before = len(both.accepted[name])
        both("BF.MADD", name, *later)
        replies = server("BF.MADD", name, *later)
        accepted = len(both.accepted[name]) - before
        assert [is_error(r) for r in replies] == [False] * accepted + [True] * (accepted < len(later))
    assert_theirs(server, both)
    return both


def by_rdb_file(new_server, source, theirs):
    server = new_server(**SETTINGS)
    file = server.directory / "dump.rdb"
    server.stop()
    if source:
        assert source("SAVE") == "OK"
        file.write_bytes((source.directory / "dump.rdb").read_bytes())
        for name in theirs.filters:  # it has what RedisBloom itself would have written
            assert theirs.dump(name)[1:-10] in file.read_bytes()
    else:
        file.write_bytes(theirs.preamble())
    return server.start()


def by_restore(new_server, source, theirs):
    server = new_server(**SETTINGS)
    for name in theirs.filters:
        payload = source("DUMP", name) if source else theirs.dump(name)
        assert server("RESTORE", name, 0, payload) == "OK"
    return server


def by_migrate(new_server, source, theirs):
    source = source or by_restore(new_server, None, theirs)
    server = new_server(**SETTINGS, port=free_port())
    assert source("MIGRATE", "127.0.0.1", server.port, "", 0, 60000, "KEYS", *theirs.filters) == "OK"
    assert source("DBSIZE") == 0
    return server


def pieces_of(source, name):
    at = 0
    while True:
        at, piece = source("BF.SCANDUMP", name, at)
        if at == 0:
            return
        yield b"BF.LOADCHUNK", name, at, piece


def by_pieces(new_server, source, theirs):
    server = new_server(**SETTINGS)
    pieces = theirs.rewritten()
    if source:
        assert [piece for name in theirs.filters for piece in pieces_of(source, name)] == pieces
    for piece in pieces:
        assert server(*piece) == "OK"
    return server


@pytest.mark.parametrize("road", [by_rdb_file, by_restore, by_migrate, by_pieces])
def test_every_road(new_server, theirs, road):
    """From RedisBloom to umbel, where it continues, and from there, unchanged, to another."""
    theirs.version = rdb.OLDEST
    server = road(new_server, None, theirs)
    assert_theirs(server, theirs)
    both = goes_on(server, theirs, keys(60, "later"))
    server = road(new_server, server, both)
    assert_theirs(server, both)
    goes_on(server, both, keys(60, "much later"))


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


@pytest.mark.parametrize("form", ["rewritten", "preamble", "several files"])
def test_its_append_only_file_after_a_rewrite(new_server, theirs, form):
    """Chunks or an RDB file, and then commands again."""
    both = RedisBloom()
    for command in workload():
        both(*command)
    more = [("BF.MADD", name, *keys(100, "later")) for name in both.filters]
    more.append(("BF.ADD", "after the rewrite", "x"))
    for command in more:
        both(*command)
    if form == "several files":  # as servers write them since Redis 7
        files = {"appendonly.aof.1.base.rdb": theirs.preamble(),
                 "appendonly.aof.1.incr.aof": to_file(more),
                 "appendonly.aof.manifest": b"file appendonly.aof.1.base.rdb seq 1 type b\n"
                                            b"file appendonly.aof.1.incr.aof seq 1 type i\n"}
        first, second = (load_files(new_server, files) for _ in range(2))
    else:
        rest = to_file(more)
        file = (theirs.preamble() + rest if form == "preamble"
                else to_file(theirs.rewritten()) + rest)
        first, second = (load(new_server, file) for _ in range(2))
    assert_theirs(first, both)
    assert dumps(first) == dumps(second)


class Primary:
    """A server that knows how to have a replica, and nothing else: its data is a stream."""

    def __init__(self, stream, data=RedisBloom()):
        self.data = data.preamble()
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
                link.sendall(b"+FULLRESYNC %s 0\r\n$%d\r\n%s" % (b"a" * 40, len(self.data),
                                                                    self.data))
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
    rewritten(replica)
    replica.restart(replicaof="no one")
    assert_theirs(replica, theirs)


def test_a_replica_that_comes_later(new_server, theirs):
    """The primary already has filters, which it sends as an RDB file, and continues."""
    both = copy.deepcopy(theirs)
    more = [("BF.MADD", name, *keys(100, "later")) for name in both.filters]
    more.append(("BF.INSERT", "new", "CAPACITY", "30", "NONSCALING", "ITEMS", *keys(50)))
    for command in more:
        both(*command)
    primary = Primary(to_file(more), theirs)
    replica = new_server(**SETTINGS, replicaof=f"127.0.0.1 {primary.port}")
    assert primary.done.wait(60), replica.log()
    primary.stop()
    assert_theirs(replica, both)
    replica("REPLICAOF", "NO", "ONE")
    goes_on(replica, both, keys(60, "much later"))


def test_clients_of_a_replica_that_was_promoted_get_the_layout_that_is_set(new_server):
    server = load(new_server, to_file([("BF.ADD", "old", "x")]))
    server("BF.ADD", "new", "x")
    assert [server("TYPE", name) for name in ("old", "new")] == ["MBbloom--", "umbel-bf-"]


# ---- To RedisBloom -----------------------------------------------------------------------------

CLASSIC = ["LAYOUT", "classic"]
FAR = 4102444800000  # 2100
HERE = [
    ["BF.RESERVE", "a", 0.001, 50, *CLASSIC], ["BF.MADD", "a", *keys(400)],
    ["BF.RESERVE", "b", 0.1234567890123, 77, "EXPANSION", 3, *CLASSIC, "IFNOTEXISTS"],
    ["BF.RESERVE", "b", 0.01, 77, "IFNOTEXISTS"], ["BF.ADD", "b", "x"],
    ["BF.RESERVE", "c", 0.01, 60, "NONSCALING", *CLASSIC], ["BF.MADD", "c", *keys(200)],
    ["BF.RESERVE", "d", 0.9, 60, "EXPANSION", 0, *CLASSIC], ["BF.INSERT", "d", "ITEMS", *keys(99)],
    ["BF.INSERT", "e", *CLASSIC, "CAPACITY", 20, "NONSCALING", "ITEMS", *keys(90)],
    ["BF.INSERT", "f", "ERROR", 1e-9, *CLASSIC, "ITEMS", *keys(300)],
    ["BF.INSERT", "g", *CLASSIC, "VALIDATESCALETO", 1000, "CAPACITY", 30],
    ["BF.INSERT", "g", *CLASSIC, "NOCREATE", "CAPACITY", 9, "ITEMS", *keys(200)],
    ["BF.INSERT", "g", "COUNTING", "Iwhatever", "y", "z"],
    # Filters that nobody reserved; the setting of the layout is CLASSIC when they come.
    ["BF.ADD", "h", "x"], ["BF.MADD", "i", *keys(500)], ["BF.INSERT", "j", "ITEMS", *keys(500)],
    ["BF.MADD", "i", *keys(10)], ["BF.MADD", "i", *keys(600)],
    # Commands that RedisBloom does not have.
    ["BF.RESERVE", "l", 0.01, 900, *CLASSIC], ["BF.MADD", "l", *keys(300)], ["COPY", "l", "m"],
    ["PEXPIREAT", "m", FAR], ["BF.CLEAR", "m"], ["BF.MADD", "m", *keys(200, "other")],
    ["BF.MERGE", "m", "l"], ["BF.MERGE", "n", "l", "m"], ["BF.MERGE", "n", "l", "m"],
    ["BF.CLEAR", "l"], ["BF.MADD", "n", *keys(500)],
    # Names that RedisBloom takes for options.
    ["BF.RESERVE", "expansion", 0.01, 200, *CLASSIC], ["BF.MADD", "expansion", *keys(300)],
    ["BF.RESERVE", "NonScaling", 0.02, 50, "NONSCALING", *CLASSIC], ["BF.ADD", "NonScaling", "x"],
    ["BF.INSERT", "nonscaling", *CLASSIC, "CAPACITY", 40],
]


def run_here(server):
    server("CONFIG", "SET", "bf.layout", "classic")
    for command in HERE:
        assert not is_error(server(*command)), command
    # A dump that is loaded, and filters of the other layout among them.
    header = server("BF.SCANDUMP", "a", 0)[1]
    assert server("BF.LOADCHUNK", "k", 1, header) == "OK"
    iterator = 1
    while True:
        iterator, piece = server("BF.SCANDUMP", "a", iterator)
        if not iterator:
            break
        assert server("BF.LOADCHUNK", "k", iterator, piece) == "OK"
    assert server("BF.LOAD", "o", server("BF.SCANDUMP", "n", 0)[1]
                  + server("BF.SCANDUMP", "n", 1)[1]) == "OK"
    assert server("PEXPIRETIME", "m") == FAR
    server("BF.RESERVE", "blocked", 0.01, 100, "LAYOUT", "blocked")
    server("BF.INSERT", "blocked too", "LAYOUT", "blocked", "ITEMS", "x")


NAMES = sorted([c.encode() for c in "abcdefghijklmno"]
               + [b"expansion", b"NonScaling", b"nonscaling"])


def commands_of(data):
    """RESP arrays of bulk strings, one after the other."""
    at, found = 0, []
    while at < len(data):
        count = int(re.match(rb"\*(\d+)\r\n", data[at:at + 20])[1])
        at = data.index(b"\n", at) + 1
        words = []
        for _ in range(count):
            end = data.index(b"\r\n", at)
            size = int(data[at + 1:end])
            words.append(data[end + 2:end + 2 + size])
            at = end + 4 + size
        found.append(words)
    return found


def replay(commands, server):
    """RedisBloom takes every word, and has the same bits."""
    bloom = RedisBloom(rdb_version(server))
    said = [c for c in commands if c[0].upper().startswith((b"BF.", b"DEL", b"COPY"))]
    for words in said:
        if words[0].upper() == b"COPY":  # the server's own, which RedisBloom refuses
            assert words[2] in bloom.filters  # its outcome was replicated before
        elif words[1].startswith(b"blocked"):
            assert b"LAYOUT" in words and b"SEED" in words or words[0] == b"BF.LOAD"
        else:
            bloom(*words)
    assert sorted(bloom.filters) == NAMES
    for name in NAMES:
        assert server("DUMP", name) == bloom.dump(name), name
    return said


def aof(server, part):
    files = sorted(server.directory.glob(f"appendonlydir/*.{part}"))
    return b"".join(f.read_bytes() for f in files)


def test_the_append_only_file_in_its_words(new_server):
    server = new_server(**SETTINGS, appendonly="yes", appendfsync="always",
                        aof_use_rdb_preamble="no")
    run_here(server)
    said = replay(commands_of(aof(server, "incr.aof")), server)
    assert [b"BF.RESERVE", b"a", b"0.001", b"50", b"EXPANSION", b"2"] in said
    assert [b"BF.RESERVE", b"c", b"0.01", b"60", b"NONSCALING"] in said
    d = next(words for words in said if words[1] == b"d")  # no words have an expansion of 0
    assert d[0] == b"BF.LOADCHUNK" and struct.unpack_from("<II", d[3], 12) == (13, 0)
    assert [b"BF.INSERT", b"h", b"ERROR", b"0.01", b"CAPACITY", b"100", b"EXPANSION", b"2",
            b"ITEMS", b"x"] in said
    assert [b"BF.MADD", b"g", b"y", b"z"] in said
    assert said.count([b"DEL", b"m"]) == 3  # copied, cleared, merged
    assert not any(words[0] in (b"BF.MERGE", b"BF.CLEAR", b"BF.LOAD") for words in said)
    rewrite(server)
    replay(commands_of(aof(server, "base.aof")), server)
    # And umbel itself reads it, whatever the layout of new filters is by then.
    server.restart(**{"bf.layout": "blocked"})
    replay(commands_of(aof(server, "base.aof")), server)
    assert server("PEXPIRETIME", "m") == FAR


def test_the_append_only_file_after_a_preamble(new_server):
    server = new_server(**SETTINGS, appendonly="yes", appendfsync="always",
                        aof_use_rdb_preamble="yes")
    rewrite(server)
    run_here(server)
    replay(commands_of(aof(server, "incr.aof")), server)
    before = dumps(server)
    assert dumps(server.restart(**{"bf.layout": "blocked"})) == before


class Follower:
    """A replica that writes down what it is told."""

    def __init__(self, primary):
        self.client = Client(("127.0.0.1", primary.port))
        self.client("REPLCONF", "capa", "psync2")
        self.client.send("PSYNC", "?", -1)
        line = self.client.input.readline()
        assert line.startswith(b"+FULLRESYNC"), line
        while not (line := self.client.input.readline()).startswith(b"$"):
            pass
        self.client.input.read(int(line[1:]))

    def until(self, last):
        found = []
        while not found or found[-1] != last:
            found.append(self.client.read().plain())
        return found


def test_the_replication_stream_in_its_words(new_server, new_replica):
    primary = new_server(**SETTINGS, port=free_port(), repl_diskless_sync="no")
    follower = Follower(primary)
    run_here(primary)
    primary("SET", "the", "end")
    replay(follower.until([b"SET", b"the", b"end"]), primary)
    # An umbel replica has the same filters too.
    replica = new_replica(primary, **SETTINGS)
    primary("FLUSHALL")
    run_here(primary)
    in_step(primary, replica)
    assert primary("DEBUG", "DIGEST") == replica("DEBUG", "DIGEST")
    assert info(replica, "bf")["bf_items"] == info(primary, "bf")["bf_items"]


# ---- valkey-bloom ------------------------------------------------------------------------------

SEED = bytes(range(32))


def test_valkey_blooms_commands(new_server):
    """Until it rewrites its append-only file, that is made of commands which are understood here.
    It hashes differently, so these are other bits of the same items."""
    items, more = keys(80), keys(900, "more")
    file = to_file([
        ("BF.INSERT", "grows", "CAPACITY", "100", "ERROR", "0.01", "TIGHTENING", "0.5", "SEED", SEED,
         "EXPANSION", "2", "ITEMS", *items), ("BF.MADD", "grows", *more),
        ("BF.INSERT", "reserved", "CAPACITY", "1000", "ERROR", "0.001", "TIGHTENING", "0.5", "SEED",
         SEED, "NONSCALING"), ("BF.MADD", "reserved", *more)])
    server = load(new_server, file)
    assert server("BF.MEXISTS", "grows", *items, *more) == [1] * 980
    assert server("BF.MEXISTS", "reserved", *more) == [1] * 900
    assert server("TYPE", "grows") == server("TYPE", "reserved") == "umbel-bf-"


def test_what_its_rewritten_file_has(server):
    assert is_error(server("BF.LOAD", "f", b"\x01" + bytes(100)), "ERR received bad data")


# ---- Types that are not read -------------------------------------------------------------------

@pytest.mark.parametrize("name", ["bloomfltr", "MBbloomCF", "CMSk-TYPE", "TopK-TYPE", "TDIS-TYPE"])
def test_types_that_are_not_read(server, new_server, name):
    """Those of valkey-bloom, and RedisBloom's others: never half a file, or one without them."""
    payload = rdb.encode(name, 1, [1, 2, 0.01, bytes(64)], rdb_version(server))
    assert is_error(server("RESTORE", "f", 0, payload), "Bad data format")
    file = b"REDIS%04d\xfe\x00" % rdb.OLDEST + payload[:1] + b"\x01f" + payload[1:-10] + b"\xff"
    other = new_server()
    (other.directory / "dump.rdb").write_bytes(rdb.sign(file))
    other.stop()
    with pytest.raises(RuntimeError, match=name):
        other.start()
