# SPDX-License-Identifier: MIT
# labels: asan
"""What RedisBloom does not have: counting, windows, seeds, merging, statistics."""
import math

import pytest

from resp import as_dict, is_error, keys


def stats(server, key):
    """BF.STATS as dicts, numbers as numbers."""
    def convert(flat):
        figures = as_dict(flat)
        return {k: float(v) if isinstance(v, bytes) else v for k, v in figures.items()}
    top = convert(server("BF.STATS", key))
    top["Layers"] = [convert(layer) for layer in top["Layers"]]
    return top


def test_reserve_if_not_exists(server, layout):
    assert server("BF.RESERVE", "f", 0.01, 100, "IFNOTEXISTS") == "OK"
    server("BF.ADD", "f", "a")
    assert server("BF.RESERVE", "f", 0.1, 999, "IFNOTEXISTS") == "OK"
    assert server("BF.INFO", "f", "CAPACITY") == [100] and server("BF.EXISTS", "f", "a") == 1
    assert server("BF.RESERVE", "f", 0.01, 100) == "ERR item exists"


def test_layouts_can_be_chosen_per_filter(server):
    server("BF.RESERVE", "b", 0.01, 100, "LAYOUT", "blocked")
    server("BF.RESERVE", "c", 0.01, 100, "layout", "Classic")
    assert [server("TYPE", k) for k in "bc"] == ["umbel-bf-", "MBbloom--"]
    server("CONFIG", "SET", "bf.layout", "classic")
    server("BF.ADD", "d", "a")
    server("BF.RESERVE", "e", 0.01, 100, "COUNTING")  # only one layout can count
    assert [server("TYPE", k) for k in "de"] == ["MBbloom--", "umbel-bf-"]
    for k in "bcde":
        server("BF.MADD", k, *keys(50))
        assert server("BF.MEXISTS", k, *keys(50)) == [1] * 50


def test_counting_filters_forget_what_is_removed(server):
    server("BF.RESERVE", "f", 0.001, 1000, "COUNTING", "SEED", "0123456789abcdef")
    server("BF.MADD", "f", *keys(500))
    server("BF.MADD", "f", *keys(100))
    assert server("BF.COUNT", "f", "k0", "k499", "absent") == [2, 1, 0]
    assert server("BF.REMOVE", "f", *keys(500)) == [1] * 500
    assert server("BF.MEXISTS", "f", *keys(100)) == [1] * 100
    assert sum(server("BF.MEXISTS", "f", *keys(500))) < 110
    assert server("BF.REMOVE", "f", "absent", "k0", "k0") == [0, 1, 0]
    assert server("BF.REMOVE", "f", *keys(100)) == [0] + [1] * 99
    assert server("BF.CARD", "f") == 0


def test_only_counting_filters_remove(server, layout):
    server("BF.ADD", "f", "a")
    assert server("BF.REMOVE", "f", "a") == "ERR only filters with COUNTING can remove"
    assert server("BF.EXISTS", "f", "a") == 1
    assert server("BF.COUNT", "f", "a", "b") == [1, 0]
    assert server("BF.COUNT", "no", "a", "b") == [0, 0]


def test_windows_forget_by_themselves(server):
    server("BF.RESERVE", "f", 0.001, 1000, "WINDOW", 4)
    for i in range(0, 10000, 100):
        server("BF.MADD", "f", *(f"k{j}" for j in range(i, i + 100)))
    assert server("BF.MEXISTS", "f", *(f"k{j}" for j in range(9000, 10000))) == [1] * 1000
    assert sum(server("BF.MEXISTS", "f", *keys(1000))) < 20
    assert server("BF.INFO", "f", "CAPACITY") == [1000]


def test_clear_empties_and_keeps_the_filter(server, layout):
    server("BF.RESERVE", "f", 0.001, 100)
    server("BF.MADD", "f", *keys(1000))
    assert server("BF.INFO", "f", "FILTERS")[0] > 1
    server("EXPIRE", "f", 1000)
    assert server("BF.CLEAR", "f") == "OK"
    assert server("BF.MEXISTS", "f", *keys(1000)) == [0] * 1000
    assert server("BF.CARD", "f") == 0
    assert server("BF.INFO", "f", "CAPACITY") == [100] and server("BF.INFO", "f", "FILTERS") == [1]
    assert server("TTL", "f") > 0
    assert sum(server("BF.MADD", "f", *keys(1000))) > 990


@pytest.mark.parametrize("words", [["COUNTING"], ["WINDOW", 4]])
def test_clear_of_filters_that_do_not_grow(server, words):
    server("BF.RESERVE", "f", 0.001, 1000, *words)
    for _ in range(2):
        assert sum(server("BF.MADD", "f", *keys(900))) > 890
        assert server("BF.CLEAR", "f") == "OK"
        assert server("BF.MEXISTS", "f", *keys(900)) == [0] * 900
        assert server("BF.CARD", "f") == 0
    assert server("BF.INFO", "f", "CAPACITY") == [1000]


def test_merge(server, layout):
    seed = [] if layout == "classic" else ["SEED", "0123456789abcdef"]
    for name in "abc":
        server("BF.RESERVE", name, 0.0001, 3000, *seed)
        server("BF.MADD", name, *keys(300, name))
    server("EXPIRE", "a", 1000)
    assert server("BF.MERGE", "a", "b", "c", "a") == "OK"
    for name in "abc":
        assert server("BF.MEXISTS", "a", *keys(300, name)) == [1] * 300
    assert server("TTL", "a") > 0
    assert sum(server("BF.MEXISTS", "b", *keys(300, "a"))) < 5
    assert server("BF.MERGE", "new", "b", "c") == "OK"
    assert server("BF.MEXISTS", "new", *keys(300, "b"), *keys(300, "c")) == [1] * 600
    assert sum(server("BF.MEXISTS", "new", *keys(300, "a"))) < 5
    assert server("TYPE", "new") == server("TYPE", "a")


def test_merging_a_chain_with_its_copy_counts_no_item_twice(server, layout):
    """Every layer has then counted more than its capacity, so its items are estimated from its
    bits."""
    server("BF.RESERVE", "a", 0.01, 500)
    server("BF.MADD", "a", *keys(3200))
    server("COPY", "a", "b")
    before, layers = server("BF.CARD", "a"), server("BF.INFO", "a", "FILTERS")
    assert layers[0] >= 3
    assert server("BF.MERGE", "a", "b") == "OK"
    card = server("BF.CARD", "a")
    assert 0.9 * before < card < 1.1 * before
    assert server("BF.INFO", "a", "ITEMS") == [card]
    assert server("BF.INFO", "a", "FILTERS") == layers
    assert server("BF.INFO", "a", "CAPACITY") == server("BF.INFO", "b", "CAPACITY")
    total, *each = server("BF.DEBUG", "a")
    sizes = [dict(word.split(":") for word in line.decode().split()) for line in each]
    assert total == b"size:%d" % card
    assert sum(int(layer["size"]) for layer in sizes) == card
    assert all(int(layer["size"]) <= int(layer["capacity"]) for layer in sizes)
    assert server("BF.MEXISTS", "a", *keys(3200)) == [1] * 3200


def test_merge_takes_all_sources_or_none(server):
    for name in "ab":
        server("BF.RESERVE", name, 0.001, 100, "SEED", "0123456789abcdef")
        server("BF.MADD", name, *keys(20, name))
    server("BF.RESERVE", "other", 0.001, 100)  # under its own secret
    server("BF.RESERVE", "classic", 0.001, 100, "LAYOUT", "classic")
    before = server("DEBUG", "DIGEST-VALUE", "a")
    assert is_error(server("BF.MERGE", "a", "b", "other"), "ERR these filters cannot be merged: ")
    assert is_error(server("BF.MERGE", "a", "b", "classic"), "ERR these filters cannot be merged: ")
    assert server("BF.MERGE", "a", "b", "missing") == "ERR not found"
    assert server("DEBUG", "DIGEST-VALUE", "a") == before
    assert is_error(server("BF.MERGE", "new", "a", "other"))
    assert server("EXISTS", "new") == 0


def test_merging_more_than_there_is_room_for(server, layout):
    seed = [] if layout == "classic" else ["SEED", "0123456789abcdef"]
    for name in "ab":
        server("BF.RESERVE", name, 0.001, 100, "NONSCALING", *seed)
        server("BF.MADD", name, *keys(90, name))
    before = server("DEBUG", "DIGEST-VALUE", "a")
    for sources in ["b"], ["b", "b"]:
        assert is_error(server("BF.MERGE", "a", *sources), "ERR these filters cannot be merged: ")
        assert server("DEBUG", "DIGEST-VALUE", "a") == before
    server("CONFIG", "SET", "bf.memory-limit", 10)
    server("BF.CLEAR", "b")
    assert server("BF.MERGE", "a", "b") == "ERR operation exceeds bloom object memory limit"
    assert server("DEBUG", "DIGEST-VALUE", "a") == before


def test_filters_of_one_server_have_different_secrets(server):
    """Two filters with the same items have different false positives."""
    for name in "ab":
        server("BF.RESERVE", name, 0.2, 1000)
        server("BF.MADD", name, *keys(1000))
    answers = [server("BF.MEXISTS", name, *keys(2000, "absent")) for name in "ab"]
    assert answers[0] != answers[1]
    # An explicit seed makes them equal.
    for name in "cd":
        server("BF.RESERVE", name, 0.2, 1000, "SEED", "0123456789abcdef")
        server("BF.MADD", name, *keys(1000))
    answers = [server("BF.MEXISTS", name, *keys(2000, "absent")) for name in "cd"]
    assert answers[0] == answers[1]


@pytest.mark.parametrize("command", ["INFO", "DEBUG", "STATS"])
def test_the_secret_is_not_shown(server, command):
    seed = bytes(range(200, 216))
    client = server.client(3)
    assert client("BF.RESERVE", "f", 0.01, 100, "SEED", seed) == "OK"
    client.send(f"BF.{command}", "f")
    text = client.read().text().encode()
    assert seed not in text and seed.hex().encode() not in text.lower()


def test_tightening(server):
    server("BF.RESERVE", "f", 0.01, 100, "TIGHTENING", 0.5)
    server("BF.MADD", "f", *keys(1000))
    assert float(server("BF.INFO", "f", "TIGHTENING")[0]) == 0.5
    rates = [layer["Promised rate"] for layer in stats(server, "f")["Layers"]]
    assert len(rates) > 2 and sum(rates) <= 0.01 * (1 + 1e-9)
    server("BF.RESERVE", "own", 0.01, 100)
    server("BF.RESERVE", "fixed", 0.01, 100, "NONSCALING", "TIGHTENING", 0.5)
    server("BF.RESERVE", "classic", 0.01, 100, "LAYOUT", "classic")
    assert server("BF.INFO", "own", "TIGHTENING") == [None]
    assert server("BF.INFO", "fixed", "TIGHTENING") == [None]
    assert float(server("BF.INFO", "classic", "TIGHTENING")[0]) == 0.5


@pytest.mark.parametrize("error", [0.1, 0.01, 0.0003, 1e-9, 0.12345678901234567])
def test_rates_are_told_as_they_were_given(server, layout, error):
    server("BF.RESERVE", "f", error, 100)
    assert server("BF.INFO", "f", "ERROR") == [repr(error).encode()]
    assert server.client(3)("BF.INFO", "f", "ERROR") == {"Error rate": error}


def test_how_far_a_filter_can_grow(server, layout):
    server("CONFIG", "SET", "bf.memory-limit", "1mb")
    server("BF.RESERVE", "f", 0.01, 1000)
    most = server("BF.INFO", "f", "MAXSCALEDCAPACITY")[0]
    assert 1000 < most < 8 << 20
    assert is_error(server("BF.RESERVE", "g", 0.01, 1000, "VALIDATESCALETO", most + 1),
                    "ERR provided VALIDATESCALETO causes bloom object to exceed memory limit")
    assert server("EXISTS", "g") == 0
    assert server("BF.RESERVE", "g", 0.01, 1000, "VALIDATESCALETO", most) == "OK"
    assert server("BF.INSERT", "h", "CAPACITY", 1000, "VALIDATESCALETO", most, "ITEMS", "a") == [1]
    server("BF.RESERVE", "fixed", 0.01, 1000, "NONSCALING")
    assert server("BF.INFO", "fixed", "MAXSCALEDCAPACITY") == [None]


def test_stats_say_what_the_bits_say(server, layout):
    # One sample, the same in every run: the classic layout has no secret.
    seed = ["SEED", "0123456789abcdef"] if layout == "blocked" else []
    server("BF.RESERVE", "f", 0.01, 5000, "NONSCALING", *seed)
    server("BF.MADD", "f", *keys(5000))
    s = stats(server, "f")
    assert s["Layout"] == layout and s["Capacity"] == 5000 and len(s["Layers"]) == 1
    assert abs(s["Estimated keys"] - 5000) < 250
    assert s["Promised rate"] == 0.01 and 0.002 < s["Live rate"] <= 0.0115
    assert 0.2 < s["Fill"] < 0.6
    false = sum(server("BF.MEXISTS", "f", *keys(20000, "absent")))
    sigma = math.sqrt(20000 * s["Live rate"])
    assert abs(false - 20000 * s["Live rate"]) < 6 * sigma


def test_fill_is_a_share(server, layout):
    """Also of layers that keep hashes, which small filters are made of."""
    for n in 1, 10, 30, 100, 150, 1000, 5000:
        server("BF.MADD", "f", *keys(n))
        s = stats(server, "f")
        assert all(0 < of["Fill"] <= 1 for of in (s, *s["Layers"])), n


def test_stats_of_layers_add_up(server, layout):
    server("BF.MADD", "f", *keys(3000))
    s = stats(server, "f")
    assert len(s["Layers"]) == server("BF.INFO", "f", "FILTERS")[0] > 1
    assert s["Overfull"] == 0
    assert sum(layer["Keys"] for layer in s["Layers"]) == s["Keys"] == server("BF.CARD", "f")
    assert sum(layer["Capacity"] for layer in s["Layers"]) == s["Capacity"]
    assert sum(layer["Promised rate"] for layer in s["Layers"]) <= 0.01 * (1 + 1e-9)
    # Maps in RESP 3, and doubles as doubles.
    modern = server.client(3)("BF.STATS", "f")
    assert modern["Live rate"] == s["Live rate"]
    for layer in modern["Layers"]:
        assert layer["Kind"] == ("packed" if layout == "blocked" else "classic")


def test_a_whole_filter_in_one_string(server, layout):
    server("BF.MADD", "f", *keys(50))
    _, data = server("BF.SCANDUMP", "f", 0)
    data += server("BF.SCANDUMP", "f", 1)[1]
    assert server("BF.LOAD", "g", data) == "OK"
    assert server("DEBUG", "DIGEST-VALUE", "g") == server("DEBUG", "DIGEST-VALUE", "f")
    assert server("BF.LOAD", "g", data) == "BUSYKEY Target key name already exists."
    server("CONFIG", "SET", "bf.memory-limit", 10)
    assert server("BF.LOAD", "h", data) == "ERR operation exceeds bloom object memory limit"
    assert server("EXISTS", "h") == 0


def test_a_long_seed_is_one_as_well(server):
    """valkey-bloom's have 32 bytes: equal ones give equal filters, and both halves count."""
    seeds = {"a": b"x" * 32, "b": b"x" * 32, "c": b"y" + b"x" * 31, "d": b"x" * 31 + b"y"}
    for name, seed in seeds.items():
        assert server("BF.INSERT", name, "SEED", seed, "ITEMS", *keys(50)) == [1] * 50
    a, b, c, d = server("DEBUG", "DIGEST-VALUE", *"abcd")
    assert a == b and len({a, c, d}) == 3


def test_a_window_that_got_too_much_is_overfull(server):
    """A window by time refuses nothing: BF.STATS tells that it does not keep its promise."""
    server("BF.RESERVE", "w", 0.01, 1000, "WINDOW", "24h/1h")
    server("BF.MADD", "w", *keys(30))
    assert stats(server, "w")["Overfull"] == 0
    server("BF.MADD", "w", *keys(20000))
    assert stats(server, "w")["Overfull"] == 1
