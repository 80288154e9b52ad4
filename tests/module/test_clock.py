# SPDX-License-Identifier: MIT
# labels: asan
"""Windows that forget by the clock: the primary decides, everybody else follows.  TTL of new
filters, and the counters of INFO."""
import time

import pytest

from conftest import free_port, in_step, info, rewritten, until
from resp import as_dict, is_error, keys


def stats(server, key):
    return {k.decode() if isinstance(k, bytes) else k: v
            for k, v in as_dict(server("BF.STATS", key)).items()}


def went_by(server, key, seconds):
    """As if the newest generation had begun so much earlier."""
    since = stats(server, key)["Newest since"]
    assert server("BF.ADVANCE", key, 0, since - seconds) == "OK"


def test_items_are_forgotten_by_age(server):
    began = time.time()
    assert server("BF.RESERVE", "f", 0.001, 1000, "WINDOW", "24h/1h") == "OK"
    assert server("BF.INFO", "f", "WINDOW") == ["1d/1h"]
    assert server("BF.INFO", "f", "LAYOUT") == ["blocked"]
    server("BF.MADD", "f", *keys(100, "old"))
    for _ in range(24):
        went_by(server, "f", 3600)
        server("BF.ADD", "f", "again")
    assert server("BF.MEXISTS", "f", *keys(100, "old")) == [1] * 100  # 24 hours and less than one more
    went_by(server, "f", 3600)
    # Nobody has added anything; 100 trials at 0.1% are 8 hits or more two times in 10^13.
    assert sum(server("BF.MEXISTS", "f", *keys(100, "old"))) < 8
    assert server("BF.EXISTS", "f", "again") == 1
    s = stats(server, "f")
    assert s["Window step"] == 3600
    assert int(began) <= s["Newest since"] <= time.time() + 1
    went_by(server, "f", 365 * 86400)
    assert server("BF.EXISTS", "f", "again") == 0
    assert server("BF.ADD", "f", "again") == 1


def test_it_goes_by_itself(server):
    assert server("BF.RESERVE", "f", 0.001, 1000, "WINDOW", "2s/1s") == "OK"
    server("BF.MADD", "f", *keys(50))
    until(lambda: not any(server("BF.MEXISTS", "f", *keys(50))), "it does not go")


def test_a_clock_that_is_set_back_forgets_nothing(server):
    began = time.time()
    server("BF.RESERVE", "f", 0.001, 1000, "WINDOW", "24h/1h")
    server("BF.MADD", "f", *keys(50))
    went_by(server, "f", -365 * 86400)  # the newest generation is a year ahead
    assert server("BF.MEXISTS", "f", *keys(50)) == [1] * 50
    assert int(began) <= stats(server, "f")["Newest since"] <= time.time() + 1
    went_by(server, "f", 3600)
    server("BF.ADD", "f", "more")
    assert server("BF.MEXISTS", "f", *keys(50)) == [1] * 50


def test_replicas_and_files_follow_the_primary(new_server, new_replica):
    primary = new_server(port=free_port(), appendonly="yes", aof_use_rdb_preamble="no")
    replica = new_replica(primary)
    primary("BF.INSERT", "f", "CAPACITY", 500, "WINDOW", "4h/1h", "TTL", 5000, "ITEMS", *keys(60))
    for i in range(3):
        went_by(primary, "f", 3600)
        primary("BF.MADD", "f", *keys(20, f"later{i}"))
    in_step(primary, replica)
    digest = primary("DEBUG", "DIGEST-VALUE", "f")
    assert replica("DEBUG", "DIGEST-VALUE", "f") == digest
    left = [s("PTTL", "f") for s in (primary, replica, primary)]
    assert left == sorted(left, reverse=True) and left[-1] > 4_000_000
    # Reading advances on the primary, and never on a replica.
    went_by(primary, "f", 36000)
    in_step(primary, replica)
    assert sum(replica("BF.MEXISTS", "f", *keys(60))) > 50
    assert sum(primary("BF.MEXISTS", "f", *keys(60))) == 0
    in_step(primary, replica)
    assert sum(replica("BF.MEXISTS", "f", *keys(60))) == 0
    primary("BF.MADD", "f", *keys(30))
    in_step(primary, replica)
    digest = primary("DEBUG", "DIGEST-VALUE", "f")
    assert replica("DEBUG", "DIGEST-VALUE", "f") == digest
    primary.restart()
    assert primary("DEBUG", "DIGEST-VALUE", "f") == digest
    rewritten(primary)
    primary.restart()
    assert primary("DEBUG", "DIGEST-VALUE", "f") == digest and primary("TTL", "f") > 4000


def test_a_copy_is_what_it_was_copied_from(new_server, new_replica):
    """Replicas copy first and forget afterwards, although the module looks at copies before COPY is
    replicated."""
    primary = new_server(port=free_port())
    replica = new_replica(primary)
    primary("BF.RESERVE", "classic", 0.01, 100, "LAYOUT", "classic")
    assert primary("COPY", "classic", "d") == 1  # from here on it does
    primary("BF.RESERVE", "w", 0.001, 1000, "WINDOW", "8s/1s")
    primary("BF.MADD", "w", *keys(50))
    since = stats(primary, "w")["Newest since"]
    until(lambda: int(primary("TIME")[0]) > since, "the clock stands still")
    assert primary("COPY", "w", "c") == 1

    def same():
        in_step(primary, replica)
        return all(primary("DEBUG", "DIGEST-VALUE", name) == replica("DEBUG", "DIGEST-VALUE", name)
                   for name in "wcd")
    assert same()
    assert primary("BF.EXISTS", "w", "k1") == primary("BF.EXISTS", "c", "k1") == 1
    assert stats(primary, "c")["Newest since"] > since and same()


def test_copies_and_dumps_keep_the_clock(server):
    server("BF.RESERVE", "f", 0.001, 1000, "WINDOW", "24h/1h")
    server("BF.MADD", "f", *keys(50))
    server("COPY", "f", "g")
    assert server("RESTORE", "h", 0, server("DUMP", "f")) == "OK"
    at, pieces = 0, []
    while True:
        at, piece = server("BF.SCANDUMP", "f", at)
        if not at:
            break
        pieces.append((at, piece))
    for at, piece in pieces:
        assert server("BF.LOADCHUNK", "i", at, piece) == "OK"
    for name in "ghi":
        assert server("BF.MEXISTS", name, *keys(50)) == [1] * 50
        assert stats(server, name)["Window step"] == 3600
        went_by(server, name, 26 * 3600)
        assert sum(server("BF.MEXISTS", name, *keys(50))) == 0


@pytest.mark.parametrize("window", ["24h/", "/1h", "x", "0h/1h", "1h/0s", "300h/1h", "1h/1h@x", "-1h/1h",
                                    "99999999999999999999h/1h", "24h/1h junk"])
def test_windows_that_are_none(server, window):
    assert is_error(server("BF.RESERVE", "f", 0.01, 100, "WINDOW", window), "ERR window must be")
    assert server("EXISTS", "f") == 0


@pytest.mark.parametrize("layout", ["blocked", "classic"])
def test_filters_that_expire(server, layout):
    assert server("BF.RESERVE", "f", 0.01, 100, "TTL", 100, "LAYOUT", layout) == "OK"
    assert 95 < server("TTL", "f") <= 100
    assert server("BF.RESERVE", "f", 0.01, 100, "TTL", 900, "IFNOTEXISTS") == "OK"
    assert server("TTL", "f") <= 100
    for wrong in 0, -1, "x", 1 << 40:
        assert server("BF.RESERVE", "g", 0.01, 100, "TTL", wrong) == "ERR invalid expire time"


def test_counters(server):
    before = {k: int(v) for k, v in info(server, "modules").items() if k.startswith("bf_")}
    server("BF.INSERT", "n", "CAPACITY", 2, "NONSCALING", "ITEMS", *"abcd")
    server("CONFIG", "SET", "bf.memory-limit", 1000)
    server("BF.RESERVE", "big", 0.01, 100000)
    server("CONFIG", "SET", "bf.memory-limit", 0)
    server("BF.MADD", "grows", *keys(1500))
    server("BF.LOAD", "bad", "nonsense")
    for name in "ab":
        server("BF.RESERVE", name, 0.01, 1000, "SEED", "0123456789abcdef")
    server("BF.MERGE", "a", "b")
    server("BF.RESERVE", "w", 0.01, 100, "WINDOW", "4h/1h")
    went_by(server, "w", 7200)
    server("BF.ADD", "w", "x")
    after = {k: int(v) for k, v in info(server, "modules").items() if k.startswith("bf_")}
    grown = {k: after[k] - before[k] for k in after}
    assert grown["bf_refused_full"] == 1 and grown["bf_refused_memory"] == 1
    assert grown["bf_layers_added"] >= 1 and grown["bf_dumps_refused"] == 1
    assert grown["bf_merges"] == 1 and after["bf_merges_running"] == 0
    assert grown["bf_windows_advanced"] == 2
