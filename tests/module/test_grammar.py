# SPDX-License-Identifier: MIT
# labels: asan
"""What RedisBloom 2.6.28 and 8 answered to every command of their grammar (grammar.py), and the filters
that they then had, is what we answer and have."""
from pathlib import Path

import pytest

from conftest import free_port
from grammar import commands, made, outcome, recorded, show
from rdb import Bloom
from redisbloom import to_file
from resp import keys
from test_redisbloom import Primary

GOLDEN = Path(__file__).parent.parent / "golden/redisbloom"


def differs(command):
    """Where we deliberately answer differently: docs/redis-commands.md, "Differences"."""
    words = command.split(" after ")[0].split()
    no_items = words[0] == "BF.INSERT" and not any(w[0] in "Ii" for w in words[2:])
    return no_items


def known(version):
    return recorded((GOLDEN / f"grammar-{version}.txt").read_text())


def test_replies_and_filters_are_those_of_8(server):
    assert server("CONFIG", "SET", "bf.layout", "classic") == "OK"
    client, theirs, wrong = server.client(), known("8"), []
    for setup, command in commands():
        name = show(command) + (f" after {show(setup)}" if setup else "")
        got = outcome(client, setup, command)
        if got != theirs[name] and not differs(name):
            wrong.append(f"{name}\n  theirs {theirs[name]}\n  ours   {got}")
    assert not wrong, f"{len(wrong)} differ\n" + "\n".join(wrong[:40])
    assert len(theirs) > 900


def accepted(version):
    """Commands that made or changed a filter, each about a different key, and the filters."""
    theirs, said, filters = known(version), [], {}
    for setup, command in commands():
        name = show(command) + (f" after {show(setup)}" if setup else "")
        reply, filter_ = theirs[name]
        if setup or reply.startswith("-") or not filter_ or "1073741825" in command:
            continue
        if version == "8" and {"0.3", "0.9"} & set(command):
            continue  # 8 caps these at 0.25 and repeats them as they are, 2 does not: see below
        key = f"k{len(said)}"
        said.append((command[0], key, *command[2:]))
        filters[key] = filter_
    return said, filters


def assert_has(server, filters):
    client = server.client()
    wrong = []
    for key, filter_ in filters.items():
        client("DEL", "k")
        client("RENAME", key, "k")
        if made(client) != filter_:
            wrong.append(f"{key}: theirs {filter_}, ours {made(client)}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("layout", ["blocked", "classic"])
@pytest.mark.parametrize("version", ["2.6.28", "8"])
def test_its_append_only_file(new_server, version, layout):
    said, filters = accepted(version)
    server = new_server(appendonly="no", **{"bf.layout": layout})
    path = server.directory / "theirs.aof"
    server.stop()
    path.write_bytes(to_file(said))
    server.settings.update({"appendonly": "yes", "appendfilename": "theirs.aof"})
    server.start()
    assert_has(server, filters)


@pytest.mark.parametrize("version", ["2.6.28", "8"])
def test_its_replication_stream(new_server, version):
    said, filters = accepted(version)
    primary = Primary(to_file(said))
    replica = new_server(replicaof=f"127.0.0.1 {primary.port}")
    assert primary.done.wait(60), replica.log()
    primary.stop()
    replica("REPLICAOF", "NO", "ONE")
    assert_has(replica, filters)


@pytest.mark.parametrize("error", ["0.3", "0.5", "0.9"])
def test_rates_that_8_caps_lose_nothing(new_server, error):
    """What 2 accepts fills a filter of this rate, what 8 accepts one of 0.25: both fit."""
    theirs = {name: Bloom(3000, rate, 0) for name, rate in (("two", float(error)), ("eight", 0.25))}
    server = new_server()
    said, kept = [], {}
    for name, bloom in theirs.items():
        kept[name] = [k for k in keys(3000) if bloom.add(k.encode())]
        said += [("BF.RESERVE", name, error, "3000", "NONSCALING"), ("BF.MADD", name, *kept[name])]
    primary = Primary(to_file(said))
    server("REPLICAOF", "127.0.0.1", primary.port)
    assert primary.done.wait(60), server.log()
    primary.stop()
    for name, items in kept.items():
        assert 0 not in server("BF.MEXISTS", name, *items)


@pytest.mark.parametrize("words, growth", [(["NONSCALING", "EXPANSION", 7], 7), (["EXPANSION", 0], 0),
                                           (["EXPANSION", 5, "NONSCALING"], 5)])
def test_a_filter_that_does_not_grow_keeps_its_expansion(new_server, new_replica, words, growth):
    """NONSCALING wins, and the header has the expansion, also on replicas and in the append-only file."""
    primary = new_server(port=free_port(), **{"bf.layout": "classic"}, appendonly="yes")
    replica = new_replica(primary)
    assert primary("BF.INSERT", "k", *words, "CAPACITY", 2, "ITEMS", "a", "b", "c")[:2] == [1, 1]
    assert primary("WAIT", 1, 10000) == 1
    assert made(primary.client()).split()[:2] == ["13", str(growth)]
    for other in replica, primary.restart():
        assert made(other.client()) == made(primary.client())
        assert other("BF.MEXISTS", "k", "a", "b") == [1, 1]
