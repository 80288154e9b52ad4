# SPDX-License-Identifier: MIT
# labels: asan threads
"""Merges in a thread: others are served meanwhile, and whatever they do to the keys, the outcome is
that of a merge at one moment.

Merges last here because bf.hold-merges keeps the thread from beginning: what it reads afterwards it
finds as everybody has left it, and a sanitizer sees what should not be gone."""
import os
import resource
import select
import time
from pathlib import Path

import pytest

from conftest import free_port, in_step, info, rewritten, until
from resp import as_dict, is_error, keys

pytestmark = pytest.mark.not_reloaded("it needs merges that go on, of filters that take long to reload")

MIB = 0.25  # per filter
SANITIZER = bool(os.environ.get("REDIS_PRELOAD"))
FEW = 300
SEED = "0123456789abcdef"
TRY_AGAIN = "TRYAGAIN "


def capacity(mib):
    return int(mib * 2**20 * 8 / 11.1)


def reserve(server, *names, layout="blocked", mib=MIB):
    """Large filters that can be merged; each has keys of its name."""
    extra = ["LAYOUT", "classic"] if layout == "classic" else ["LAYOUT", layout, "SEED", SEED]
    for name in names:
        assert server("BF.RESERVE", name, 0.01, capacity(mib), *extra) == "OK"
        server("BF.MADD", name, *keys(FEW, name))


def has(server, name, *whose):
    """Whether all keys of these filters are in; or, if it is so, none of any."""
    asked = [key for other in whose for key in keys(FEW, other)]
    found = sum(server("BF.MEXISTS", name, *asked))
    assert found == len(asked) or found < FEW / 2, found
    return found == len(asked)


def blocked(reply):
    text = reply.decode() if isinstance(reply, bytes) else reply
    return int(text.split("blocked_clients:")[1].split()[0])


def hold(server, word="yes"):
    assert server("CONFIG", "SET", "bf.hold-merges", word) == "OK"


@pytest.fixture(autouse=True)
def in_threads(shared_server):
    if shared_server.process.poll() is None:
        hold(shared_server, "no")
        shared_server("CONFIG", "SET", "bf.background-merge-from", 0)


class Merging:
    """A merge that is on its way.  `do` does something meanwhile; `answer` lets it and all others
    end and is the merge's own."""

    def __init__(self, server, *names, protocol=2):
        self.server = server
        self.client = server.client(protocol)
        self.id = self.client("CLIENT", "ID")
        self.other = server.client()
        self.other("CONFIG", "SET", "bf.background-merge-from", 0)
        hold(self.other)
        before = blocked(self.other("INFO", "clients"))
        self.client.send("BF.MERGE", *names)
        self.wait_for(before + 1)

    def is_over(self):
        return bool(select.select([self.client.socket], [], [], 0)[0])

    def do(self, *commands):
        """Replies to commands of which the first runs while the merge does."""
        assert not self.is_over()
        return self.other.many(commands)

    def wait_for(self, count):
        """Waits until that many clients are blocked."""
        while blocked(self.other("INFO", "clients")) < count:
            assert not self.is_over()

    def let_go(self):
        hold(self.other, "no")

    def answer(self):
        self.let_go()
        return self.client.read().plain()


def digest(server, *names):
    return server("DEBUG", "DIGEST-VALUE", *names)


# ---- Meanwhile ---------------------------------------------------------------------------------

@pytest.mark.parametrize("names, protocol", [("da", 2), ("na", 3), ("nab", 2), ("dabc", 3)])
def test_others_are_served(server, layout, names, protocol):
    """And see nothing of the merge before its end."""
    reserve(server, *"abcd", layout=layout)
    before = digest(server, *"abcd")
    merging = Merging(server, *names, protocol=protocol)
    assert info(server, "bf")["bf_merges_running"] == "1"
    for _ in range(20):
        assert server("PING") == "PONG"
        assert has(server, "d", "d") and not has(server, "d", "a", "b")
    assert digest(server, *"abcd") == before and server("EXISTS", "n") == 0
    assert merging.answer() == "OK"
    assert info(server, "bf")["bf_merges_running"] == "0"
    assert has(server, names[0], *names[1:])
    assert has(server, "a", "a") and not has(server, "a", "b")


@pytest.mark.skipif(SANITIZER, reason="reads much memory that only zeros are in")
@pytest.mark.parametrize("names, mib", [("nab", 16), ("dab", 32 / 3), ("da", 64)])
def test_small_ones_are_done_at_once(new_server, names, mib):
    """From 32 MiB on, or 128 where nothing is copied, a thread does it."""
    server = new_server()
    hold(server)
    reserve(server, *"abd", mib=0.97 * mib)
    assert server("BF.MERGE", *names) == "OK"  # although threads do not begin
    server("FLUSHALL")
    reserve(server, *"abd", mib=1.03 * mib)
    client, other = server.client(), server.client()
    client.send("BF.MERGE", *names)
    while info(other, "bf")["bf_merges_running"] == "0":
        assert not select.select([client.socket], [], [], 0)[0]
    hold(other, "no")
    assert client.read().plain() == "OK" and has(server, names[0], *names[1:])


@pytest.mark.parametrize("kind", [[], ["COUNTING"], ["EXPANSION", "auto"], ["WINDOW", "9s/1s"],
                                  ["LAYOUT", "classic"]])
def test_while_it_really_reads(server, kind):
    """Nothing holds these back: the thread and the server are at the same values together."""
    secret = ["SEED", SEED] if "classic" not in kind else []
    for name in "abd":
        server("BF.RESERVE", name, 0.01, capacity(MIB), *secret, *kind)
        server("BF.MADD", name, *keys(FEW, name))
    reads = [["BF.MEXISTS", "a", *keys(20, "a")], ["BF.CARD", "a"], ["BF.STATS", "a"],
             ["COPY", "a", "b", "REPLACE"], ["MEMORY", "USAGE", "a"], ["DUMP", "a"]]
    changes = [["COPY", "a", "b", "REPLACE"], ["RENAME", "b", "a"], ["UNLINK", "b"],
               ["MULTI"], ["BF.ADD", "a", "x"], ["EXEC"], ["BF.ADD", "d", "x"]]
    client, n = server.client(), "n" if "WINDOW" in kind else "d"
    for meanwhile in 5 * [reads, changes]:
        server("DEL", "n")
        client.send("BF.MERGE", n, "a")
        for command in meanwhile:
            assert not is_error(server(*command))
        assert client.read().plain() == "OK" and has(server, "a", "a")
        assert has(server, n, "a")


@pytest.mark.parametrize("command", [
    ["COPY", "d", "e"], ["COPY", "a", "e"], ["BGSAVE"], ["DUMP", "a"], ["DEBUG", "DIGEST"],
    ["DEBUG", "RELOAD"], ["BGREWRITEAOF"]])
def test_what_only_reads_goes_on(server, command):
    reserve(server, *"abd")
    merging = Merging(server, *"dab")
    one, card, kind, items, *rest = merging.do(
        ["BF.EXISTS", "d", "d1"], ["BF.CARD", "a"], ["TYPE", "d"], ["BF.INFO", "d", "ITEMS"],
        ["MEMORY", "USAGE", "a"], ["BF.STATS", "d"], ["BF.SCANDUMP", "a", 1], ["PERSIST", "d"],
        ["EXPIRE", "d", 1000], command)
    assert (one, card, kind, items) == (1, FEW, "umbel-bf-", [FEW])
    assert not any(map(is_error, rest))
    assert merging.answer() == "OK"
    assert has(server, "d", "a", "b", "d") and server("TTL", "d") > 0
    if server("EXISTS", "e"):
        assert not has(server, "e", "b")
    until(lambda: info(server, "persistence")["rdb_bgsave_in_progress"] == "0", "BGSAVE does not end")
    rewritten(server)


# ---- Commands that write -----------------------------------------------------------------------

WRITES = [["BF.ADD", "{}", "x"], ["BF.MADD", "{}", "y", "z"], ["BF.CLEAR", "{}"],
          ["BF.INSERT", "{}", "ITEMS", "x"], ["BF.LOADCHUNK", "{}", 1001, "x" * 1000]]


@pytest.mark.parametrize("target", "dan")
def test_writes_wait(server, layout, target):
    """They come after the merge, and one after the other."""
    commands = [[str(word).format(target) for word in command] for command in WRITES]
    into = "n" if target == "n" else "d"
    reserve(server, *"abd", layout=layout)
    merging = Merging(server, into, *"ab")
    writers = [server.client() for _ in commands]
    for i, (writer, command) in enumerate(zip(writers, commands)):
        writer.send(*command)
        merging.wait_for(i + 2)
    assert merging.do(["PING"]) == ["PONG"]
    assert merging.answer() == "OK"
    replies = [writer.read().plain() for writer in writers]
    assert not any(map(is_error, replies))
    after = digest(server, *"abdn")
    server("FLUSHALL")
    reserve(server, *"abd", layout=layout)
    assert server("MULTI") == "OK"  # where everything is done synchronously
    server("BF.MERGE", into, *"ab")
    for command in commands:
        server(*command)
    assert server("EXEC") == ["OK", *replies]
    assert digest(server, *"abdn") == after


def test_creations_of_keys_that_exist_are_refused(server):
    reserve(server, *"abd")
    merging = Merging(server, *"dab")
    second, third = server.client(), server.client()
    second.send("BF.RESERVE", "a", 0.01, 100)
    third.send("BF.LOAD", "d", "x")
    assert merging.answer() == "OK"
    assert second.read().plain() == "ERR item exists"
    assert is_error(third.read().plain(), "BUSYKEY")


@pytest.mark.parametrize("target, into", ["dd", "ad", "nn"])
@pytest.mark.parametrize("way", ["transaction", "script"])
def test_writes_that_cannot_wait_settle_it(server, layout, target, into, way):
    reserve(server, *"abd", layout=layout)
    merging = Merging(server, into, *"ab")
    if way == "script":
        replies = merging.do(["EVAL", "return redis.call('BF.ADD', KEYS[1], 'x')", 1, target],
                             ["BF.EXISTS", target, "x"])
        assert replies == [1, 1]
    else:
        replies = merging.do(["MULTI"], ["BF.ADD", target, "x"], ["BF.EXISTS", into, "a1"], ["EXEC"])
        assert replies[-1] == [1, 1]  # the merge came first
    assert merging.answer() == "OK"
    assert has(server, into, "a", "b")
    assert server("BF.EXISTS", into, "x") == (target == into)


def test_two_at_once(server, layout):
    reserve(server, *"abcdefg", layout=layout)
    first, second, third = (Merging(server, *names) for names in ("dab", "ecf", "gdc"))
    assert info(server, "bf")["bf_merges_running"] == "2"
    assert second.answer() == first.answer() == third.answer() == "OK"
    assert has(server, "d", *"abd") and has(server, "e", *"cef")
    assert has(server, "g", *"abcdg")  # it had to wait for d
    assert not has(server, "d", "c") and not has(server, "a", "b")


def test_two_make_the_same_key(server):
    reserve(server, *"abcd")
    first, second = (Merging(server, *names) for names in ("nab", "ncd"))
    assert info(server, "bf")["bf_merges_running"] == "1"
    assert first.answer() == second.answer() == "OK"
    assert has(server, "n", *"abcd")


# ---- What a server does by itself --------------------------------------------------------------

# The command, what the merge of a and b into d then answers, and whose keys d has then.
OVERTAKEN = [
    (["DEL", "a"], "ERR not found", "d"), (["UNLINK", "a", "d"], "ERR not found", None),
    (["DEL", "d"], "OK", "ab"), (["UNLINK", "d"], "OK", "ab"),
    (["RENAME", "a", "e"], "ERR not found", "d"), (["RENAME", "c", "d"], "OK", "abc"),
    (["RENAME", "c", "a"], "OK", "cbd"), (["COPY", "c", "d", "REPLACE"], "OK", "abc"),
    (["FLUSHALL"], "ERR not found", None), (["FLUSHALL", "ASYNC"], "ERR not found", None),
    (["FLUSHDB", "SYNC"], "ERR not found", None), (["SWAPDB", 0, 1], "ERR not found", None),
    (["MOVE", "a", 1], "ERR not found", "d"), (["PEXPIRE", "a", 1], "ERR not found", "d"),
    (["PEXPIRE", "d", 1], "OK", "ab"), (["SET", "a", "text"], "WRONGTYPE", "d"),
    (["SET", "d", "text"], "WRONGTYPE", None), (["RESTORE", "d", 0, "{dump}", "REPLACE"], "OK", "abc"),
]


@pytest.mark.parametrize("command, answer, whose", OVERTAKEN)
def test_keys_that_are_gone(server, command, answer, whose):
    """The merge is then that of what the keys hold afterwards."""
    reserve(server, *"abcd")
    if "{dump}" in command:
        server("CONFIG", "SET", "rdbcompression", "yes")
        dump = server("DUMP", "c")
        command = [dump if word == "{dump}" else word for word in command]
    merging = Merging(server, *"dab")
    assert not is_error(*merging.do(command))
    time.sleep(0.002)  # what expires has
    got = merging.answer()
    assert got == answer or is_error(got, answer)
    if whose:
        assert has(server, "d", *whose)
        assert not any(has(server, "d", other) for other in set("abcd") - set(whose))
    elif server("TYPE", "d") != "string":
        assert server("EXISTS", "d") == 0
    assert server("SWAPDB", 0, 1) == "OK" if command[0] == "SWAPDB" else True
    assert server.alive()


def test_a_key_that_was_away_and_is_back(server):
    """Nobody may take a filter for the one that was there before."""
    reserve(server, *"abd")
    merging = Merging(server, *"dab")
    assert merging.do(["FLUSHALL"], *[["BF.RESERVE", name, 0.01, capacity(MIB), "SEED", SEED]
                                      for name in "abd"]) == ["OK"] * 4
    assert merging.answer() == "OK"
    assert server("BF.CARD", "d") == 0 and not has(server, "d", *"abd")


def test_a_key_that_came_meanwhile(server):
    reserve(server, *"abc")
    merging = Merging(server, *"nab")
    assert merging.do(["RENAME", "c", "n"]) == ["OK"]
    assert merging.answer() == "OK"
    assert has(server, "n", *"abc")


def test_memory_comes_back(server):
    def taken():
        return int(info(server, "bf")["bf_bytes"])
    reserve(server, *"abd")
    before = taken()
    merging = Merging(server, *"dab")
    merging.do(["DEL", "d"], ["DEL", "a"])
    assert merging.answer() == "ERR not found"
    assert Merging(server, "n", "b").answer() == "OK"
    server("FLUSHALL")
    assert before > 2.5 * MIB * 2**20 and taken() == 0


def test_the_module_stays(server):
    reserve(server, *"abd")
    merging = Merging(server, *"dab")
    assert is_error(*merging.do(["MODULE", "UNLOAD", "bf"]))
    assert merging.answer() == "OK" and has(server, "d", *"abd")


def test_evicted_keys(server):
    reserve(server, *"abd")
    merging = Merging(server, *"dab")
    merging.do(["CONFIG", "SET", "maxmemory-policy", "allkeys-random", "maxmemory", 1])
    until(lambda: merging.other("DBSIZE") == 0, "nothing is evicted")
    merging.do(["CONFIG", "SET", "maxmemory-policy", "noeviction", "maxmemory", 0])
    assert merging.answer() == "ERR not found" and server("DBSIZE") == 0


# ---- Clients and servers that go ---------------------------------------------------------------

def test_a_client_that_leaves_takes_its_merge_along(server, layout):
    reserve(server, *"abd", layout=layout)
    before = digest(server, "d")
    merging = Merging(server, *"dab")
    writer = server.client()
    writer.send("BF.ADD", "a", "x")
    merging.wait_for(2)
    assert merging.do(["CLIENT", "KILL", "ID", merging.id]) == [1]
    merging.let_go()
    assert writer.read().plain() == 1
    assert digest(server, "d") == before and server("BF.EXISTS", "a", "x") == 1
    assert blocked(server("INFO", "clients")) == 0


def test_one_that_waits_may_leave(server):
    reserve(server, *"abd")
    merging = Merging(server, *"dab")
    writer = server.client()
    number = writer("CLIENT", "ID")
    writer.send("BF.ADD", "a", "x")
    merging.wait_for(2)
    assert merging.do(["CLIENT", "KILL", "ID", number]) == [1]
    assert merging.answer() == "OK"
    assert has(server, "d", *"abd") and server("BF.EXISTS", "a", "x") == 0


def test_a_pause_keeps_servers_from_writing(new_server, new_replica):
    """The one before a failover: a server that writes in it ends itself."""
    server = new_server(port=free_port())
    replica = new_replica(server)
    reserve(server, *"abd")
    merging = Merging(server, *"dab")
    writer = server.client()
    writer.send("BF.ADD", "a", "x")
    merging.wait_for(2)
    assert merging.do(["CLIENT", "PAUSE", 60000, "WRITE"]) == ["OK"]
    assert is_error(merging.answer(), TRY_AGAIN) and is_error(writer.read().plain(), TRY_AGAIN)
    assert server("CLIENT", "UNPAUSE") == "OK"
    assert not has(server, "d", "a")
    assert Merging(server, *"dab").answer() == "OK"
    in_step(server, replica)
    assert digest(server, *"abd") == digest(replica, *"abd")


def test_a_server_becomes_a_replica(new_server):
    primary, server = new_server(port=free_port()), new_server()
    primary("SET", "known", "yes")
    reserve(server, *"abd")
    merging = Merging(server, *"dab")
    assert merging.do(["REPLICAOF", "127.0.0.1", primary.port]) == ["OK"]
    assert is_error(merging.answer(), "UNBLOCKED")
    in_step(primary, server)
    assert server("DBSIZE") == 1 and server.alive()


def test_a_primary_and_its_replica_change_places(new_server):
    """What the new primary has gone on with comes to one that is still merging."""
    first, second = new_server(port=free_port()), new_server(port=free_port())
    reserve(first, *"abd")
    second("REPLICAOF", "127.0.0.1", first.port)
    assert first("BF.MERGE", *"nab") == "OK"
    in_step(first, second)
    merging = Merging(first, *"dab")
    assert second("REPLICAOF", "NO", "ONE") == "OK"
    assert merging.do(["REPLICAOF", "127.0.0.1", second.port]) == ["OK"]
    assert is_error(merging.client.read().plain(), "UNBLOCKED")
    assert second("BF.MADD", "d", *keys(FEW, "more")) and second("BF.ADD", "a", "more") == 1
    in_step(second, first)
    assert info(second, "stats")["sync_partial_ok"] == "1"
    assert has(first, "d", "d", "more") and not has(first, "d", "a")
    assert digest(first, *"abd") == digest(second, *"abd")


def test_a_failover(new_server, new_replica):
    first = new_server(port=free_port())
    second = new_replica(first)
    reserve(first, *"abd")
    in_step(first, second)
    merging = Merging(first, *"dab")
    assert merging.do(["FAILOVER"]) == ["OK"]
    until(lambda: [info(server, "replication")["role"] for server in (merging.other, second)]
          == ["slave", "master"], "there is no failover")
    assert is_error(merging.client.read().plain(), "UNBLOCKED")
    assert second("BF.ADD", "a", "more") == 1
    in_step(second, first)
    merging.let_go()
    assert second("BF.ADD", "d", "more") == 1
    in_step(second, first)
    assert has(first, "d", "d") and not has(first, "d", "a")
    assert digest(first, *"abd") == digest(second, *"abd")


@pytest.mark.parametrize("how", ["NOSAVE", "SAVE"])
def test_a_server_ends(new_server, how):
    server = new_server()
    reserve(server, *"abd")
    merging = Merging(server, *"dab")
    merging.other.send("SHUTDOWN", how)
    assert server.process.wait(60) == 0
    assert "BUG REPORT" not in server.log()


def test_keys_that_leave_a_cluster(new_server):
    """They may be on another node by now: nobody makes them here again."""
    server = new_server(port=free_port(), cluster_enabled="yes", cluster_port=free_port())
    assert server("CLUSTER", "ADDSLOTSRANGE", 0, 16383) == "OK"
    while is_error(server("GET", "x")):  # until it knows
        time.sleep(0.02)
    names = a, b, d = "{t}a", "{t}b", "{t}d"
    reserve(server, *names)
    merging, writer = Merging(server, d, a, b), server.client()
    writer.send("BF.ADD", d, "x")
    merging.wait_for(2)
    assert merging.do(["DEL", d]) == [1]
    assert is_error(merging.answer(), TRY_AGAIN) and is_error(writer.read().plain(), TRY_AGAIN)
    assert server("EXISTS", d) == 0
    merging = Merging(server, d, a, b)
    writer.send("BF.ADD", a, "x")
    assert merging.answer() == "OK" and writer.read().plain() == 1
    assert has(server, d, a, b)


# ---- Replicas and the append-only file ---------------------------------------------------------

def test_the_pause_of_a_classic_merge_is_accounted_for(new_server):
    """It is replicated as a whole, after the command: the slow log has little of that time."""
    server = new_server(appendonly="yes", **{"latency-monitor-threshold": "1"})
    reserve(server, "a", "b", layout="classic", mib=48)
    start = time.monotonic()
    assert server("BF.MERGE", "c", "a", "b") == "OK"
    pause = until(lambda: int(info(server, "bf")["bf_merge_pause_ms"]), "nothing is accounted for")
    # Copying so much takes more than a millisecond, and none before or after the merge counts.
    assert 0 < pause <= 1000 * (time.monotonic() - start) + 1
    (event,) = (e for e in server("LATENCY", "LATEST") if e[0] == b"bf-merge")
    assert event[3] == pause
    assert ("kept clients waiting" in server.log()) == (pause >= 100)


def test_replicas_and_files_agree(new_server, new_replica, layout):
    """While writers do what they can to come in between."""
    server = new_server(port=free_port(), appendonly="yes", appendfsync="no",
                        **{"bf.layout": layout})
    replica = new_replica(server)
    reserve(server, *"abcd", layout=layout)
    server("EXPIRE", "d", 10000)
    for names in "dab", "nab", "cd", "da":
        merging = Merging(server, *names)
        writers = [server.client() for _ in names]
        for name, writer in zip(names, writers):
            writer.send("BF.MADD", name, *keys(50, f"{names} {name} "))
        merging.do(["BF.ADD", "c", f"beside {names}"] if "c" not in names else ["PING"],
                   ["MULTI"], ["BF.ADD", names[-1], f"within {names}"], ["EXEC"])
        assert merging.answer() == "OK"
        assert all(sum(writer.read().plain()) >= 48 for writer in writers)
        assert has(server, names[0], *names[1:])
    everything = digest(server, *"abcdn")
    assert 0 < server("TTL", "d") <= 10000
    in_step(server, replica)
    assert digest(replica, *"abcdn") == everything
    assert 0 < replica("TTL", "d") <= 10000
    replica.stop()
    rewritten(server)
    server.restart()
    assert digest(server, *"abcdn") == everything


# What is done, after a step of the clock, to a window w that is being copied to n.
ACROSS_A_STEP = [
    [], [["BF.EXISTS", "w", "x"]], [["BF.MEXISTS", "w", "x", "y"]], [["BF.CARD", "w"]],
    [["BF.INFO", "w"]], [["BF.STATS", "w"]], [["BF.SCANDUMP", "w", 0]], [["BF.DEBUG", "w"]],
    [["COPY", "w", "c"], ["BF.EXISTS", "c", "x"]], [["RENAME", "w", "v"], ["BF.EXISTS", "v", "x"]],
    [["EVAL", "return redis.call('BF.EXISTS', KEYS[1], 'x')", 1, "w"]],
    [["MULTI"], ["BF.EXISTS", "w", "x"], ["EXEC"]],
    [["MULTI"], ["BF.ADD", "w", "x"], ["EXEC"]], [["SWAPDB", 0, 1], ["SWAPDB", 0, 1]],
]
WAITING_ACROSS_A_STEP = [["BF.ADD", "w", "x"], ["BF.MADD", "w", "x", "y"], ["BF.MERGE", "m", "w"],
                         ["BF.CLEAR", "w"], ["BF.ADVANCE", "w", 1, 1000]]


def newest_since(server, name):
    return as_dict(server("BF.STATS", name))["Newest since"]


def test_windows_forget_after_the_merge(new_server, new_replica):
    """Nobody forgets a generation twice, or earlier than others."""
    server = new_server(port=free_port(), appendonly="yes", aof_use_rdb_preamble="no", databases=2)
    replica = new_replica(server)
    cases = [(f"{{{i}}}", meanwhile) for i, meanwhile in
             enumerate([*ACROSS_A_STEP, *([command] for command in WAITING_ACROSS_A_STEP)])]

    def named(tag, command):
        return [word + tag if word in tuple("wvncm") else word for word in command]
    mergings, waiting = [], []
    for tag, _ in cases:
        w = f"w{tag}"
        assert server("BF.RESERVE", w, 0.001, 1000, "WINDOW", "8s/1s", "SEED", SEED) == "OK"
        server("BF.MADD", w, *keys(FEW, w))
        mergings.append(Merging(server, f"n{tag}", w))
    names = [f"w{tag}" for tag, _ in cases]
    before, then = digest(server, *names), int(server("TIME")[0])
    until(lambda: int(server("TIME")[0]) > then, "the clock stands still")
    for tag, meanwhile in cases:
        commands = [named(tag, command) for command in meanwhile]
        if meanwhile and meanwhile[0] in WAITING_ACROSS_A_STEP:
            waiting.append(server.client())
            waiting[-1].send(*commands[0])
        elif meanwhile and meanwhile[0][0] not in ("MULTI", "RENAME", "SWAPDB"):
            assert not any(map(is_error, server.clients[0].many(commands)))
    until(lambda: blocked(server("INFO", "clients")) == len(mergings) + len(waiting),
          "commands that should wait do not")
    assert digest(server, *names) == before  # reading has changed nothing
    for tag, meanwhile in cases:
        if meanwhile and meanwhile[0][0] in ("MULTI", "RENAME", "SWAPDB"):
            assert not any(map(is_error, server.clients[0].many(named(tag, c) for c in meanwhile)))
    for (tag, meanwhile), merging in zip(cases, mergings):
        gone = meanwhile and meanwhile[0][0] == "RENAME"
        assert merging.answer() == ("ERR not found" if gone else "OK"), meanwhile
    for client in waiting:
        assert not is_error(client.read().plain())

    everything = [name + tag for tag, _ in cases for name in "wvncm"]
    in_step(server, replica)
    for name in everything:
        assert digest(server, name) == digest(replica, name), name
    for name in everything:  # all windows go on
        assert not server("EXISTS", name) or newest_since(server, name) > then
    in_step(server, replica)
    agreed = digest(server, *everything)
    assert digest(replica, *everything) == agreed
    server.restart()
    assert digest(server, *everything) == agreed


def test_a_replica_that_comes_meanwhile(new_server, new_replica, layout):
    server = new_server(port=free_port())
    reserve(server, *"abd", layout=layout)
    merging = Merging(server, *"dab")
    replica = new_replica(server)
    assert merging.answer() == "OK"
    in_step(server, replica)
    assert digest(replica, *"abd") == digest(server, *"abd")


# ---- Refused -----------------------------------------------------------------------------------

def test_all_or_nothing(server):
    reserve(server, *"abd")
    assert server("BF.RESERVE", "o", 0.01, capacity(MIB)) == "OK"  # under its own secret
    server("BF.RESERVE", "classic", 0.01, capacity(MIB), "LAYOUT", "classic")
    server("SET", "text", "x")
    before = digest(server, *"abdo")
    for third, error in [("o", "cannot be merged: the secrets differ"),
                         ("classic", "cannot be merged: the layouts differ"),
                         ("text", "WRONGTYPE"), ("none", "ERR not found")]:
        assert is_error(server("BF.MERGE", "d", "a", "b", third), error)
        assert is_error(server("BF.MERGE", "n", "a", "b", third), error)
    assert digest(server, *"abdo") == before and server("EXISTS", "n") == 0
    server("CONFIG", "SET", "bf.memory-limit", int(MIB * 2**20 / 2))
    for names in "dab", "da", "nab":
        assert server("BF.MERGE", *names) == "ERR operation exceeds bloom object memory limit"
    assert digest(server, *"abdo") == before and server("EXISTS", "n") == 0
    assert blocked(server("INFO", "clients")) == 0


@pytest.mark.parametrize("kind", [["COUNTING"], ["EXPANSION", "auto"]])
def test_other_kinds(server, kind):
    for name in "abd":
        server("BF.RESERVE", name, 0.01, capacity(MIB), "SEED", SEED, *kind)
        server("BF.MADD", name, *keys(FEW, name))
    assert server("BF.MERGE", "d", "a", "b") == "OK"
    assert has(server, "d", *"abd")


@pytest.mark.skipif(SANITIZER, reason="a sanitizer needs more memory than there is")
@pytest.mark.parametrize("more", [64, 4])
def test_without_memory_for_a_copy(new_server, more):
    """Nor, in the second case, for a thread: the source goes right into the destination."""
    server = new_server()
    reserve(server, *"abd", mib=96)
    size = int(Path(f"/proc/{server.process.pid}/statm").read_text().split()[0])
    limit = size * resource.getpagesize() + more * 2**20
    resource.prlimit(server.process.pid, resource.RLIMIT_AS, (limit, limit))
    assert server("BF.MERGE", "d", "a") == "OK"
    assert has(server, "d", *"ad")
    assert is_error(server("BF.MERGE", "n", "a"), "Insufficient memory")
    assert server("EXISTS", "n") == 0 and server.alive()
