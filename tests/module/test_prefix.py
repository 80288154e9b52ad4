# SPDX-License-Identifier: MIT
"""umbel.so with `prefix`, alone and in one server with RedisBloom, then in RedisBloom's place.

RedisBloom is $REDISBLOOM, its redisbloom.so, where that is given: Debian has none, so usually it is neighbour.c,
which takes the same names."""
import os
import subprocess
from pathlib import Path

import pytest

from conftest import MODULE, about, free_port, in_step, info, rewrite
from resp import is_error

GIVEN = os.environ.get("REDISBLOOM")
BESIDE = GIVEN or os.environ.get("UMBEL_NEIGHBOUR", "build/tests/module/neighbour.so")
COMMAND = os.environ.get("UMBEL", "build/umbel")
UMBEL, THEIRS = Path(MODULE).resolve(), Path(BESIDE).resolve()
UM = ("prefix", "UM")

pytestmark = pytest.mark.not_reloaded("the modules are what is tested")


def both(new_server, first="umbel", **settings):
    """A server with the two modules in this order."""
    if first == "umbel":
        return new_server(module=THEIRS, loadmodule=f"{UMBEL} prefix UM", **settings)
    return new_server(*UM, loadmodule=THEIRS, **settings)


def fill(server):
    assert server("BF.ADD", "theirs", "a") == 1 and server("CF.ADD", "cuckoo", "b") == 1
    assert server("UM.ADD", "ours", "c") == 1
    assert server("UM.RESERVE", "grown", "0.01", 100, "LAYOUT", "blocked") == "OK"
    assert not is_error(server("UM.MADD", "grown", *range(1000)))
    assert server("UM.RESERVE", "classic", "0.01", 100, "LAYOUT", "classic") == "OK"
    assert server("UM.MADD", "classic", "d", "e") == [1, 1]
    assert server("UM.RESERVE", "large", "0.0001", 10000000) == "OK"  # too large for one command of the AOF
    assert server("UM.ADD", "large", "f") == 1


def whole(server):
    assert server("BF.EXISTS", "theirs", "a") == server("CF.EXISTS", "cuckoo", "b") == 1
    assert server("BF.EXISTS", "theirs", "c") == server("CF.EXISTS", "cuckoo", "c") == 0
    assert server("UM.MEXISTS", "ours", "c", "nobody") == [1, 0]
    assert server("UM.MEXISTS", "grown", *range(1000)) == [1] * 1000
    assert server("UM.MEXISTS", "classic", "d", "e", "nobody") == [1, 1, 0]
    assert server("UM.EXISTS", "large", "f") == 1
    types = [server("TYPE", name) for name in ("theirs", "cuckoo", "ours", "grown", "classic", "large")]
    assert types == ["MBbloom--", "MBbloomCF", "umbel-bf-", "umbel-bf-", "umbel-cl-", "umbel-bf-"]


@pytest.mark.parametrize("first", ["umbel", "RedisBloom"])
@pytest.mark.parametrize("aof", ["no", "rewritten", "preamble", "commands"])
def test_keys_of_both_survive_a_restart(new_server, first, aof):
    server = both(new_server, first, appendonly="no" if aof == "no" else "yes",
                  aof_use_rdb_preamble="yes" if aof == "preamble" else "no")
    fill(server)
    if aof == "no":
        assert server("SAVE") == "OK"
    elif aof != "commands":
        rewrite(server)
    digest = server("DEBUG", "DIGEST-VALUE", "ours", "grown", "classic", "large")
    server.restart()
    whole(server)
    assert server("DEBUG", "DIGEST-VALUE", "ours", "grown", "classic", "large") == digest


@pytest.mark.parametrize("first", ["umbel", "RedisBloom"])
def test_replicas_follow_both(new_server, first):
    primary = both(new_server, first, port=free_port())
    assert primary("UM.ADD", "before", "x") == 1
    replica = both(new_server, "RedisBloom", port=free_port(), replicaof=f"127.0.0.1 {primary.port}")
    in_step(primary, replica)
    fill(primary)
    assert primary("UM.MERGE", "merged", "grown") == "OK"
    assert primary("UM.INSERT", "inserted", "CAPACITY", 5, "ITEMS", *"abcdefg") == [1] * 7
    assert primary("COPY", "classic", "copied") == 1
    assert primary("UM.CLEAR", "copied") == "OK"
    in_step(primary, replica)
    whole(replica)
    assert replica("UM.MEXISTS", "merged", *range(1000)) == [1] * 1000
    names = [name for name in primary("KEYS", "*") if not name.startswith((b"theirs", b"cuckoo"))]
    for name in names:
        assert primary("DEBUG", "DIGEST-VALUE", name) == replica("DEBUG", "DIGEST-VALUE", name), name
    assert "unknown command" not in replica.log()


@pytest.mark.parametrize("first", ["umbel", "RedisBloom"])
def test_each_refuses_the_others_keys(new_server, first):
    server = both(new_server, first)
    fill(server)
    assert str(server("UM.ADD", "theirs", "x")).startswith("WRONGTYPE")
    assert str(server("UM.ADD", "cuckoo", "x")).startswith("WRONGTYPE")
    assert is_error(server("BF.ADD", "ours", "x")) and is_error(server("CF.ADD", "ours", "x"))
    assert is_error(server("BF.ADD", "classic", "x"))
    whole(server)


def test_the_names_that_a_server_shows(new_server):
    server = both(new_server)
    named = [dict(zip(module[::2], module[1::2])) for module in server("MODULE", "LIST")]
    names = {module[b"name"]: module[b"path"] for module in named}  # some servers have their own
    ours = {b"bf": str(THEIRS).encode(), b"um": str(UMBEL).encode()}
    assert {name: path for name, path in names.items() if name in ours or path in ours.values()} == ours
    assert "um_filters" in info(server, "um") and "bf_filters" not in info(server, "everything")
    events = server.client()
    server("CONFIG", "SET", "notify-keyspace-events", "KEA")
    assert events("PSUBSCRIBE", "__keyevent@0__:*")
    server("UM.ADD", "f", "x")
    heard = [events.read().value[2].value for _ in range(2)]
    assert heard == [b"__keyevent@0__:um.reserve", b"__keyevent@0__:um.add"]
    (docs,) = server("COMMAND", "INFO", "UM.ADD")
    assert docs[0] == b"um.add"
    categories = server("ACL", "CAT")
    assert (b"um" in categories) == about(server).new_categories


def test_settings_have_the_prefix_and_no_other(new_server):
    server = both(new_server)
    shown = server("CONFIG", "GET", "um.*")
    names = {name for name in shown[::2]}
    assert names >= {b"um.error-rate", b"um.initial-size", b"um.expansion-factor", b"um.layout", b"um.memory-limit"}
    assert not any(b"cf-" in name or b"bf-" in name for name in names)
    assert server("CONFIG", "SET", "um.layout", "classic", "um.error-rate", "0.001", "um.initial-size", 500) == "OK"
    server("UM.ADD", "f", "x")
    assert server("TYPE", "f") == "umbel-cl-" and server("UM.INFO", "f", "CAPACITY") == [500]
    assert b"`initial-size` must be in the range" in str(server("CONFIG", "SET", "um.initial-size", 0)).encode()
    assert new_server(*UM, "ERROR_RATE", "0.2", "initial-size", "7")("UM.ADD", "f", "x") == 1


@pytest.mark.parametrize("arguments", [
    ["prefix", ""], ["prefix", "1a"], ["prefix", "a.b"], ["prefix", "a b"], ["prefix"], ["prefix", "a" * 17],
    ["prefix", "UM", "prefix", "um"], ["prefix", "UM", "prefix", "BF"], ["prefix", "UM", "bf-error-rate", "0.1"],
    ["prefix", "UM", "cf-bucket-size", "2"], ["prefix", "A", "prefix", "B", "prefix", "C", "prefix", "D", "prefix", "E"]])
def test_prefixes_that_are_refused(new_server, arguments):
    with pytest.raises(RuntimeError, match="(not accepted: |the argument )"):
        new_server(*(f'"{word}"' if " " in word or not word else word for word in arguments))


def test_without_a_prefix_the_log_names_it(new_server):
    with pytest.raises(RuntimeError, match="prefix UM"):
        new_server(loadmodule=THEIRS)
    with pytest.raises(RuntimeError, match="loaded already"):
        new_server(*UM, loadmodule=f"{UMBEL}")
    with pytest.raises(RuntimeError, match="the command cf.(add|reserve) exists"):  # not silently one or the other
        new_server("prefix", "CF", loadmodule=THEIRS)


@pytest.mark.parametrize("preamble", ["yes", "no"])
def test_first_beside_it_then_instead_of_it(new_server, preamble):
    old = both(new_server, appendonly="yes", aof_use_rdb_preamble=preamble)
    server = new_server()  # makes what RedisBloom would have made
    server("BF.RESERVE", "made", "0.01", 100, "LAYOUT", "classic")
    server("BF.MADD", "made", "x", "y")
    dump = server("DUMP", "made")
    old("UM.ADD", "ours", "c")
    old("UM.RESERVE", "classic", "0.01", 100, "LAYOUT", "classic")
    old("UM.MADD", "classic", "d", "e")
    if GIVEN:
        assert old("RESTORE", "theirs", 0, dump) == "OK" and old("BF.EXISTS", "theirs", "x") == 1
    kept = old("DEBUG", "DIGEST-VALUE", "ours", "classic")
    moved = old("DUMP", "classic")
    rewrite(old)
    old("UM.ADD", "ours", "a command after the rewrite")
    # The same directory, with umbel.so in RedisBloom's place and the commands of before.
    old.stop(15)
    del old.settings["loadmodule"]
    old.module, old.module_args = UMBEL, ("prefix", "BF", "prefix", "UM")
    old.start()
    assert old("BF.EXISTS", "ours", "c") == old("UM.EXISTS", "ours", "c") == 1
    assert old("BF.MEXISTS", "classic", "d", "e") == [1, 1]
    assert old("BF.EXISTS", "ours", "a command after the rewrite") == 1
    assert old("DEBUG", "DIGEST-VALUE", "classic") == kept[1:]
    assert server("RESTORE", "moved", 0, moved) == "OK" and server("BF.EXISTS", "moved", "d") == 1
    assert server("TYPE", "moved") == "umbel-cl-" and server("COPY", "moved", "twin") == 1
    if GIVEN:
        assert old("UM.MEXISTS", "theirs", "x", "y") == [1, 1] and old("TYPE", "theirs") == "MBbloom--"
    # A new classic key has RedisBloom's type again, and the settings have its names.
    old("UM.RESERVE", "new", "0.01", 100, "LAYOUT", "classic")
    assert old("TYPE", "new") == "MBbloom--"
    assert old("CONFIG", "GET", "bf.layout") == [b"bf.layout", b"blocked"]
    # At last without the prefix: the file that is rewritten says BF.
    rewrite(old)
    old.module_args = ()
    old.restart()
    assert old("BF.EXISTS", "ours", "c") == 1 and old("BF.MEXISTS", "classic", "d", "e") == [1, 1]
    assert is_error(old("UM.EXISTS", "ours", "c"))


@pytest.mark.skipif(not GIVEN, reason="needs RedisBloom itself: REDISBLOOM=redisbloom.so")
def test_redisblooms_filters_move_bit_by_bit(new_server):
    """While it is there, by its own dump; then by a replica that has taken its place."""
    server = both(new_server, "RedisBloom", port=free_port())
    server("BF.RESERVE", "theirs", "0.001", 100)
    server("BF.MADD", "theirs", *range(5000))
    at = 0
    while True:
        at, chunk = server("BF.SCANDUMP", "theirs", at)
        if at == 0:
            break
        assert server("UM.LOADCHUNK", "moved", at, chunk) == "OK"
    assert server("TYPE", "moved") == "umbel-cl-"
    ask = range(100000)
    assert server("UM.MEXISTS", "moved", *ask) == server("BF.MEXISTS", "theirs", *ask)
    replica = new_server("prefix", "BF", "prefix", "UM", port=free_port(), replicaof=f"127.0.0.1 {server.port}")
    in_step(server, replica)
    server("BF.MADD", "theirs", *range(5000, 6000))
    server("BF.ADD", "new", "x")
    server("UM.MADD", "moved", *range(5000, 6000))
    in_step(server, replica)
    assert replica("BF.EXISTS", "new", "x") == 1
    assert replica("BF.MEXISTS", "theirs", *ask) == server("BF.MEXISTS", "theirs", *ask)
    assert replica("UM.MEXISTS", "moved", *ask) == server("UM.MEXISTS", "moved", *ask)


def test_loaded_while_the_server_runs(new_server):
    server = new_server(module=THEIRS)
    server("CF.ADD", "cuckoo", "b")
    assert server("MODULE", "LOAD", str(UMBEL), *UM) == "OK"
    assert server("UM.ADD", "ours", "c") == 1 and server("CF.EXISTS", "cuckoo", "b") == 1
    assert is_error(server("MODULE", "LOAD", str(UMBEL), "prefix", "OTHER"))
    assert server("UM.EXISTS", "ours", "c") == 1


def test_push_speaks_to_either(new_server, tmp_path):
    server = both(new_server)

    def umbel(*words, **how):
        return subprocess.run([COMMAND, *map(str, words)], capture_output=True, text=True, **how)

    def push(*more):
        return umbel("push", tmp_path / "f.umb", "--redis", server.socket_path, "--key", "f", *more)
    assert umbel("build", "-q", "-o", tmp_path / "f.umb", input="ada\nbob\n").returncode == 0
    done = push("--prefix", "UM")
    if "without hiredis" in done.stderr:
        pytest.skip("umbel was built without hiredis")
    assert done.returncode == 0, done.stderr
    assert server("UM.MEXISTS", "f", "ada", "bob", "eve") == [1, 1, 0] and server("TYPE", "f") == "umbel-bf-"
    assert push().returncode == 2  # RedisBloom does not take it
    for wrong in ("", "U M", "UM.", "x" * 17):
        done = push("--prefix", wrong)
        assert done.returncode == 2 and "is not a prefix" in done.stderr, done
