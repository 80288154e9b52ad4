# SPDX-License-Identifier: MIT
# labels: asan
"""Every argument at its limits, and beyond: an error reply, unchanged keys, a live server."""
import os
import re
from pathlib import Path

import pytest

from conftest import MODULE, free_port, in_step, until
from resp import is_error, keys

WRONG_TYPE = "WRONGTYPE Operation against a key holding the wrong kind of value"


@pytest.mark.parametrize("error", ["nan", "NaN", "-nan", "inf", "-inf", "1e400", "-1", "0", "1", "",
                                   " 0.1", "0.1x", "0x1p-3000", "1e-400"])
def test_rates_that_are_none(server, layout, error):
    assert server("BF.RESERVE", "f", error, 100) in (
        "ERR bad error rate", "ERR error rate must be in the range (0.000000, 1.000000)")
    assert server("BF.INSERT", "f", "ERROR", error, "ITEMS", "a") == "Bad error rate"
    assert server("EXISTS", "f") == 0


@pytest.mark.parametrize("error", ["1e-300", "1e-100", "1e-18", "5e-324"])
def test_tiny_rates_are_made_or_refused(server, layout, error):
    reply = server("BF.RESERVE", "f", error, 100)
    if reply == "OK":
        assert server("BF.MADD", "f", "a", "b") == [1, 1]
        assert server("BF.MEXISTS", "f", "a", "b", "c") == [1, 1, 0]
    else:
        assert is_error(reply, "ERR could not create filter")
        assert server("EXISTS", "f") == 0
    assert server.alive()


def test_rates_that_leave_nothing_for_growing(server):
    assert is_error(server("BF.RESERVE", "f", 1e-18, 3), "error: lower than 64 bits of hash allow")
    assert server("BF.RESERVE", "f", 1e-17, 3) == "OK"
    reply = server("BF.MADD", "f", *keys(9))
    assert reply == [1, 1, 1, "ERR false positive degrades to 0 on scale out"]
    assert server("BF.MEXISTS", "f", *keys(3)) == [1, 1, 1]
    assert server("BF.RESERVE", "g", 1e-16, 3) == "OK"
    assert server("BF.MADD", "g", *keys(9)) == [1] * 9


@pytest.mark.parametrize("capacity", ["0", "-1", "1073741825", "9223372036854775807",
                                      "9223372036854775808", "1.5", "", "1e3"])
def test_capacities_that_are_none(server, layout, capacity):
    reply = server("BF.RESERVE", "f", 0.01, capacity)
    assert reply in ("ERR bad capacity", "ERR capacity must be in the range [1, 1073741824]")
    assert server("BF.INSERT", "f", "CAPACITY", capacity, "ITEMS", "a") == "Bad capacity"
    assert server("EXISTS", "f") == 0


def test_the_smallest_filter(server, layout):
    assert server("BF.RESERVE", "f", 0.01, 1) == "OK"
    assert server("BF.ADD", "f", "a") == 1
    assert server("BF.EXISTS", "f", "a") == 1


def test_the_largest_capacity_under_a_limit(server, layout):
    server("CONFIG", "SET", "bf.memory-limit", "64mb")
    assert server("BF.RESERVE", "f", 0.01, 1 << 30) == \
        "ERR operation exceeds bloom object memory limit"
    assert server("EXISTS", "f") == 0


@pytest.mark.parametrize("expansion", ["-1", "32769", "x", "", "9999999999999999999"])
def test_expansions_that_are_none(server, layout, expansion):
    reply = server("BF.RESERVE", "f", 0.01, 100, "EXPANSION", expansion)
    assert reply in ("ERR bad expansion", "ERR expansion must be in the range [0, 32768]")
    assert server("BF.INSERT", "f", "EXPANSION", expansion, "ITEMS", "a") == "Bad expansion"
    assert server("EXISTS", "f") == 0


def test_the_largest_expansion(server, layout):
    server("CONFIG", "SET", "bf.memory-limit", "1mb")
    assert server("BF.RESERVE", "f", 1e-6, 1, "EXPANSION", 32768) == "OK"
    assert server("BF.MADD", "f", "a", "b", "c") == [1, 1, 1]
    assert server("BF.INFO", "f", "CAPACITY") == [32769]
    reply = server("BF.MADD", "f", *keys(40000))  # the next layer is for 2^30 keys
    assert len(reply) < 40000 and is_error(reply[-1], "memory limit")


def test_growth_beyond_the_limit_stops_with_an_error(server, layout):
    server("CONFIG", "SET", "bf.memory-limit", 4000)
    server("BF.RESERVE", "f", 1e-9, 100)
    reply = server("BF.MADD", "f", *keys(10000))
    done = len(reply) - 1
    assert 90 < done < 5000
    assert reply[-1] == "ERR operation exceeds bloom object memory limit"
    assert server("BF.MEXISTS", "f", *keys(done)) == [1] * done
    assert server("BF.ADD", "f", "k1") == 0
    before = server("BF.CARD", "f")
    assert is_error(server("BF.ADD", "f", "certainly new"), "memory limit")
    assert server("BF.CARD", "f") == before
    # Raising the limit lets it continue.
    server("CONFIG", "SET", "bf.memory-limit", 0)
    assert server("BF.ADD", "f", "certainly new") == 1


def resident(server):
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return 1024 * int(re.search(r"VmRSS:\s+(\d+)", status)[1])


@pytest.mark.not_reloaded("loading touches all of it")
def test_a_large_filter_touches_no_memory_before_it_is_used(server, layout):
    before = resident(server)
    assert server("BF.RESERVE", "f", 0.01, 100_000_000) == "OK"
    assert server("MEMORY", "USAGE", "f") > 100_000_000
    assert server("BF.MADD", "f", *keys(100)) == [1] * 100
    assert resident(server) - before < 50_000_000


def memory(what):
    with open("/proc/meminfo", encoding="ascii") as f:
        return int(re.search(rf"{what}:\s*(\d+) kB", f.read())[1]) * 1024


@pytest.mark.skipif(memory("MemAvailable") > 150 << 30, reason="there is too much memory")
def test_more_memory_than_there_is(server, layout):
    """190 GB: the kernel would promise them and then kill the server."""
    assert is_error(server("BF.RESERVE", "f", "1e-300", 1 << 30), "ERR ")
    assert is_error(server("BF.INSERT", "f", "ERROR", "1e-300", "CAPACITY", 1 << 30, "ITEMS", "a"))
    assert server("EXISTS", "f") == 0 and server.alive()


@pytest.mark.not_reloaded("it fills memory that nothing has touched; a reload touches it")
@pytest.mark.skipif(memory("MemAvailable") > 150 << 30, reason="there is too much memory")
def test_more_filters_than_there_is_memory_for(server, layout):
    """Each fits, and none has touched its memory when the next one comes.  What is available changes
    with whatever else runs here; the whole does not."""
    enough = memory("MemAvailable") >> 32
    most = (memory("MemTotal") + memory("SwapTotal")) >> 30
    made = [server("BF.RESERVE", f"f{i}", 0.01, 900_000_000) for i in range(most + 2)]  # 1.1 GiB
    assert is_error(made[-1], "Insufficient memory") and server.alive()
    assert made[0] == "OK" or enough < 2


@pytest.fixture
def container():
    """A control group that may use a gigabyte; the path of it."""
    for mount, limit in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
                         ("/sys/fs/cgroup", "memory.max")):
        group = Path(mount) / f"umbel-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            (group / limit).write_text(str(1 << 30))
            yield group
            return
        except OSError:
            continue
        finally:
            # As long as a process in it is about to end.
            until(lambda: group.rmdir() is None, "a process stays in it")
    pytest.skip("no control group can be made here (it takes root)")


@pytest.mark.not_reloaded("it fills memory that nothing has touched; a reload touches it")
def test_more_filters_than_a_container_has_memory_for(container, new_server):
    """Each is below the limit of one filter; all of them, once in use, would be the server's end."""
    server = new_server(module=None)
    (container / "cgroup.procs").write_text(str(server.process.pid))
    assert server("MODULE", "LOAD", str(Path(MODULE).resolve())) == "OK"
    made = [server("BF.RESERVE", f"f{i}", 0.01, 200_000_000) for i in range(5)]  # 263 MiB each
    assert made[0] == "OK" and is_error(made[-1], "Insufficient memory")
    assert server("BF.MADD", "f0", *keys(50000)) and server.alive()
    server.stop()


@pytest.mark.not_reloaded("it fills memory that nothing has touched; a reload touches it")
def test_replicas_do_what_a_larger_primary_did(container, new_server):
    """Whether there is enough memory shows when it is used; a refusal would make them differ."""
    replica, primary = new_server(module=None), new_server(port=free_port())
    (container / "cgroup.procs").write_text(str(replica.process.pid))
    assert replica("MODULE", "LOAD", str(Path(MODULE).resolve())) == "OK"
    assert replica("REPLICAOF", "127.0.0.1", primary.port) == "OK"
    in_step(primary, replica)
    names = keys(5, "f")
    for name in names:
        assert primary("BF.RESERVE", name, 0.01, 200_000_000) == "OK"
        assert primary("BF.ADD", name, "x") == 1
    in_step(primary, replica)
    assert [replica("BF.INFO", name) for name in names] == [primary("BF.INFO", name)
                                                           for name in names]
    replica.stop()


@pytest.mark.not_reloaded("it fills memory that nothing has touched; a reload touches it")
def test_one_large_filter_is_evicted_and_nothing_else(new_server):
    """What is only freed later would cost other keys their life."""
    server = new_server(maxmemory="200mb", **{"maxmemory-policy": "volatile-ttl",
                                              "lazyfree-lazy-eviction": "no"})
    for i in range(3):
        assert server("BF.RESERVE", f"f{i}", 0.01, 60_000_000) == "OK"  # 80 MB
        server("BF.MADD", f"f{i}", *keys(50000))
        server("EXPIRE", f"f{i}", 1000 + i)
    assert sorted(server("KEYS", "*")) == [b"f1", b"f2"]


@pytest.mark.not_reloaded("it fills memory that nothing has touched; a reload touches it")
def test_what_was_deleted_is_no_reason_to_refuse_writes(new_server):
    server = new_server(maxmemory="200mb")
    for i in range(10):
        assert server("BF.RESERVE", "f", 0.01, 60_000_000) == "OK"
        assert server("BF.RESERVE", "g", 0.01, 60_000_000) == "OK"
        server("BF.MADD", "f", *keys(50000))
        assert server("BF.CLEAR", "f") == "OK"
        assert server("BF.ADD", "f", "a") == 1, i
        assert server("DEL", "f", "g") == 2


@pytest.mark.parametrize("command", [
    ["BF.RESERVE", "f"], ["BF.RESERVE", "f", "0.1"], ["BF.ADD", "f"], ["BF.ADD", "f", "a", "b"],
    ["BF.MADD", "f"], ["BF.INSERT"], ["BF.EXISTS", "f"], ["BF.EXISTS", "f", "a", "b"],
    ["BF.MEXISTS", "f"], ["BF.CARD"], ["BF.CARD", "f", "g"], ["BF.INFO"],
    ["BF.INFO", "f", "SIZE", "SIZE"], ["BF.DEBUG"], ["BF.DEBUG", "f", "g"], ["BF.STATS"],
    ["BF.SCANDUMP", "f"], ["BF.SCANDUMP", "f", "0", "0"], ["BF.LOADCHUNK", "f", "1"],
    ["BF.LOADCHUNK", "f", "1", "a", "b"], ["BF.LOAD", "f"], ["BF.MERGE", "f"], ["BF.CLEAR"],
    ["BF.REMOVE", "f"], ["BF.COUNT", "f"]])
def test_wrong_numbers_of_arguments(server, command):
    name = command[0].lower()
    assert server(*command) == f"ERR wrong number of arguments for '{name}' command"
    assert server("DBSIZE") == 0


@pytest.mark.parametrize("command", [
    ["BF.RESERVE", "s", 0.01, 10], ["BF.RESERVE", "s", 0.01, 10, "IFNOTEXISTS"],
    ["BF.ADD", "s", "a"], ["BF.MADD", "s", "a"], ["BF.INSERT", "s", "ITEMS", "a"], ["BF.CARD", "s"],
    ["BF.INFO", "s"], ["BF.INFO", "s", "SIZE"], ["BF.DEBUG", "s"], ["BF.STATS", "s"],
    ["BF.SCANDUMP", "s", 0], ["BF.LOADCHUNK", "s", 1, "x"], ["BF.LOAD", "s", "x"],
    ["BF.MERGE", "s", "f"], ["BF.MERGE", "f", "s"], ["BF.CLEAR", "s"], ["BF.REMOVE", "s", "a"],
    ["BF.COUNT", "s", "a"]])
@pytest.mark.parametrize("make", [
    ["SET", "s", "x"], ["SADD", "s", "x"], ["XADD", "s", "*", "a", "b"]])
def test_keys_of_other_types_are_left_alone(server, make, command):
    server(*make)
    server("BF.ADD", "f", "a")
    before = server("DUMP", "s")
    assert server(*command) == WRONG_TYPE
    assert server("DUMP", "s") == before


@pytest.mark.parametrize("command", [
    ["BF.INFO", "no"], ["BF.DEBUG", "no"], ["BF.STATS", "no"], ["BF.SCANDUMP", "no", 0],
    ["BF.LOADCHUNK", "no", 2, "x"], ["BF.MERGE", "f", "no"], ["BF.MERGE", "no", "no"],
    ["BF.CLEAR", "no"], ["BF.REMOVE", "no", "a"]])
def test_missing_keys(server, command):
    server("BF.ADD", "f", "a")
    assert server(*command) == "ERR not found"
    assert server("DBSIZE") == 1


@pytest.mark.parametrize("words, error", [
    (["LAYOUT"], "ERR syntax error"),
    (["LAYOUT", "round"], "ERR layout must be blocked or classic"),
    (["SEED", "short"], "ERR invalid seed"),
    (["SEED", "x" * 17], "ERR invalid seed"),
    (["SEED", "x" * 33], "ERR invalid seed"),
    (["SEED", ""], "ERR invalid seed"),
    (["TIGHTENING", "x"], "ERR bad tightening ratio"),
    (["TIGHTENING", "1"], "ERR (0 < tightening ratio range < 1)"),
    (["TIGHTENING", "0"], "ERR (0 < tightening ratio range < 1)"),
    (["TIGHTENING", "nan"], "ERR bad tightening ratio"),
    (["WINDOW", "0"], "ERR window must be in the range [1, 255]"),
    (["WINDOW", "256"], "ERR window must be in the range [1, 255]"),
    (["WINDOW", "x"],
     "ERR window must be 1 to 255 generations, or a duration and a step (24h/1h)"),
    (["COUNTING", "WINDOW", "8"], "ERR a filter is either counting or a window"),
    (["COUNTING", "EXPANSION", "2"], "ERR counting filters and windows cannot expand"),
    (["WINDOW", "8", "EXPANSION", "2"], "ERR counting filters and windows cannot expand"),
    (["LAYOUT", "classic", "COUNTING"],
     "ERR COUNTING, WINDOW, SEED and TIGHTENING need LAYOUT blocked"),
    (["LAYOUT", "classic", "SEED", "0123456789abcdef"],
     "ERR COUNTING, WINDOW, SEED and TIGHTENING need LAYOUT blocked"),
    (["NONSCALING", "VALIDATESCALETO", "1000"],
     "ERR cannot use NONSCALING and VALIDATESCALETO options together"),
    (["VALIDATESCALETO", "x"], "ERR bad capacity"),
    (["VALIDATESCALETO", "0"], "ERR bad capacity"),
    (["EXPANSION", "2", "NOSUCH", "words", "here"], "Unknown argument received"),
])
def test_words_that_do_not_go_together(server, words, error):
    assert server("BF.RESERVE", "f", 0.01, 100, *words) == error
    assert server("EXISTS", "f") == 0
