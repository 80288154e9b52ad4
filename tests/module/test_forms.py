# SPDX-License-Identifier: MIT
"""Every form of a value (forms.py) on every road that a value can take: what arrives has the same
items, digest and figures, and goes on growing in the same way."""
import pytest

import forms
from conftest import free_port, in_step, rdb_version, rewrite, running
from redisbloom import RedisBloom
from resp import keys

pytestmark = pytest.mark.not_reloaded("it compares with what was never loaded")

# ---- Roads -------------------------------------------------------------------------------------

def reloaded(server, members):
    assert server("DEBUG", "RELOAD") == "OK"


def saved(server, members):
    assert server("SAVE") == "OK"
    server.restart()


def restored(server, members):
    for name in members:
        payload = server("DUMP", name)
        server("DEL", name)
        assert server("RESTORE", name, 0, payload) == "OK", name
        assert server("DUMP", name) == payload, name


def scanned(server, name):
    """What BF.SCANDUMP returns, with the iterators that BF.LOADCHUNK takes."""
    iterator, pieces = 0, []
    while True:
        iterator, piece = server("BF.SCANDUMP", name, iterator)
        if iterator == 0:
            return pieces
        pieces.append((iterator, piece))


def loaded_in_chunks(server, members):
    for name in members:
        pieces = scanned(server, name)
        server("DEL", name)
        replies = server.many(["BF.LOADCHUNK", name, *piece] for piece in pieces)
        assert replies == ["OK"] * len(pieces), name


def loaded(server, members):
    for name in members:
        whole = b"".join(piece for _, piece in scanned(server, name))
        assert server("BF.LOAD", name, whole) == "BUSYKEY Target key name already exists."
        server("DEL", name)
        assert server("BF.LOAD", name, whole) == "OK", name


def copied(server, members):
    for name in members:
        digest = server("DEBUG", "DIGEST-VALUE", name)
        assert server("COPY", name, "copy") == 1
        assert server("DEBUG", "DIGEST-VALUE", "copy") == digest, name
        server("BF.MADD", name, *keys(5, "only in the original"))
        assert server("DEBUG", "DIGEST-VALUE", "copy") == digest, name
        assert server("RENAME", "copy", name) == "OK"


def rewritten(server, members):
    rewrite(server)
    server.restart()


def replayed(server, members):
    server.restart()


ROADS = {
    "RELOAD": (reloaded, {}),
    "SAVE": (saved, {}),
    "RESTORE": (restored, {}),
    "LOADCHUNK": (loaded_in_chunks, {}),
    "LOAD": (loaded, {}),
    "COPY": (copied, {}),
    "AOF": (replayed, {"appendonly": "yes"}),
    "AOF, rewritten": (rewritten, {"appendonly": "yes", "aof-use-rdb-preamble": "no"}),
    "AOF, rewritten with a preamble": (rewritten, {"appendonly": "yes",
                                                   "aof-use-rdb-preamble": "yes"}),
}


@pytest.fixture(scope="module")
def expected():
    """The items of each, its state, and its replies and state after growing, where it was never
    stored."""
    with running() as server:
        members = forms.populate(server)
        before = forms.state(server, members)
        forms.check_totals(server, members)
        replies = forms.grow(server, members)
        forms.check_totals(server, members)
        yield members, before, replies, forms.state(server, members)


def assert_as_expected(server, expected):
    members, before, replies, after = expected
    assert server("DBSIZE") == len(members)
    assert forms.differences(before, forms.state(server, members)) == []
    forms.check_totals(server, members)
    grown = forms.grow(server, members)
    assert [name for name in members if grown[name] != replies[name]] == []
    assert forms.differences(after, forms.state(server, members)) == []


@pytest.mark.parametrize("road", ROADS)
def test_every_form_survives(expected, new_server, road):
    travel, settings = ROADS[road]
    server = new_server(**settings)
    assert forms.populate(server) == expected[0]
    travel(server, expected[0])
    assert_as_expected(server, expected)


@pytest.mark.parametrize("comes", ["before", "after"])
def test_every_form_reaches_a_replica(expected, new_server, new_replica, comes):
    """By its commands, and by a full synchronization."""
    primary = new_server(port=free_port())
    replica = new_replica(primary) if comes == "before" else None
    forms.populate(primary)
    replica = replica or new_replica(primary)
    in_step(primary, replica)
    assert primary("DEBUG", "DIGEST") == replica("DEBUG", "DIGEST")
    replica("REPLICAOF", "NO", "ONE")
    assert_as_expected(replica, expected)


def test_redisbloom_reads_what_has_its_layout(new_server):
    """What it could have made is byte for byte what it would have written; and it takes all headers
    and bits, as far as it checks them."""
    server = new_server(rdbcompression="no")
    members = forms.populate(server)
    reader, version = RedisBloom(), rdb_version(server)
    made = {form.name: form for form in forms.FORMS if form.growth is not None}
    classic = [name for name in members if server("TYPE", name) == "MBbloom--"]
    assert len(made) > 20 and len(classic) > 5 * len(made)
    for name in classic:
        for iterator, piece in scanned(server, name):
            reader("BF.LOADCHUNK", name, iterator, piece)
        assert reader.filters[name.encode()].dump(version) == server("DUMP", name), name
        if name in made:
            assert forms.redisblooms(made[name]).dump(version) == server("DUMP", name), name
