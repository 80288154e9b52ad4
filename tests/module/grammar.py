# SPDX-License-Identifier: MIT
"""RedisBloom's grammar as a table: the words of each command, and every command that they make.

grammar.py SOCKET - prints what a server that has RedisBloom answers to all of them, as it is recorded
in tests/golden/redisbloom/grammar-*.txt: for each outcome the reply, the filter that there is then
(options, growth and each link's capacity, rate, probes and bytes), and the commands that lead to it.
"""
import itertools
import struct
import sys

from resp import Client

ERRORS = ["0.01", "0.25", "0.3", "0.9", "1", "0", "-1", "abc", "1e-320", ""]
CAPACITIES = ["1", "100", "0", "-1", "x", "1.5", ""]
RESERVE_WORDS = ["EXPANSION", "nonscaling", "FOO", "ITEMS", "CAPACITY", "2", "0", "-1", "32769", "x"]
INSERT_WORDS = [["CAPACITY", "50"], ["CAPACITY", "0"], ["ERROR", "0.3"], ["ERROR", "2"],
                ["EXPANSION", "0"], ["EXPANSION", "3"], ["EXPANSION", "-1"], ["NONSCALING"],
                ["NOCREATE"], ["FOO"], ["Exp", "5"], ["erx", "0.02"], ["nonsense"], ["cx", "60"],
                ["NOCREATE", "NONSCALING", "EXPANSION", "7"], ["ifnotexists"]]
ENDS = [["ITEMS", "a", "b"], ["I", "a"], ["ITEMS"], []]
CHUNKS = [("-1", "abc"), ("0", "abc"), ("1", ""), ("1", "a"), ("1", "abcdef"), ("2", "a"), ("2", "abc"),
          ("145", ""), ("144", ""), ("146", "ab"), ("x", "a"), ("9223372036854775807", "a")]


def commands():
    """(setup, command); every one is about the key k, which does not exist before the setup."""
    make, string = ("BF.ADD", "k", "there"), ("SET", "k", "text")
    for error, capacity in itertools.product(ERRORS, CAPACITIES):
        yield None, ("BF.RESERVE", "k", error, capacity)
        yield None, ("BF.RESERVE", "k", error, capacity, "NONSCALING")
    yield None, ("BF.RESERVE", "k", "0.9", "1073741825")
    for n in range(4):
        for words in itertools.product(RESERVE_WORDS, repeat=n):
            if n < 3 or "EXPANSION" in words[:2]:
                yield None, ("BF.RESERVE", "k", "0.01", "100", *words)
            if n == 2 and "EXPANSION" in words:
                yield make, ("BF.RESERVE", "k", "0.01", "100", *words)
    for n in range(3):
        for groups in itertools.product(INSERT_WORDS, repeat=n):
            for end in ENDS if n < 2 else ENDS[:1]:
                yield None, ("BF.INSERT", "k", *itertools.chain(*groups), *end)
    for groups in INSERT_WORDS:
        for setup in make, string:
            yield setup, ("BF.INSERT", "k", *groups, "ITEMS", "a")
    for setup in None, make, string:
        for words in ("BF.RESERVE", "k", "0.01", "100"), ("BF.RESERVE", "k", "x", "100"), (
                "BF.ADD", "k", "a"), ("BF.MADD", "k", "a", "there"), ("BF.EXISTS", "k", "a"), (
                "BF.CARD", "k"), ("BF.INFO", "k", "EXPANSION"), ("BF.INFO", "k", "FOO"), ("BF.ADD", "k"):
            yield setup, words
        for at in "0", "1", "144", "145", "146", "-5", "x", "":
            yield setup, ("BF.SCANDUMP", "k", at)
        for chunk in CHUNKS:
            yield setup, ("BF.LOADCHUNK", "k", *chunk)


def made(client):
    """The filter in k, from its header; nothing if there is none."""
    reply = client("BF.SCANDUMP", "k", "0")
    if not isinstance(reply, list):
        return ""
    _, count, options, growth = struct.unpack_from("<QIII", reply[1])
    links = [struct.unpack_from("<QQQddIQB", reply[1], 20 + 53 * i) for i in range(count)]
    return f"{options} {growth} " + ", ".join(
        f"{entries} {error!r} {hashes} {size}" for size, _, _, error, _, hashes, entries, _ in links)


def outcome(client, setup, command):
    client("DEL", "k")
    if setup:
        client(*setup)
    return client.text(*command), made(client)


def show(words):
    return " ".join(w or "''" for w in words)


def record(client):
    found = {}
    for setup, command in commands():
        before = f" after {show(setup)}" if setup else ""
        found.setdefault(outcome(client, setup, command), []).append(show(command) + before)
    for (reply, filter_), said in found.items():
        yield f"{reply}  =>  {filter_}"
        yield from (f"  {line}" for line in said)


def recorded(text):
    """{command: (reply, filter)} of such a file."""
    found, result = {}, None
    for line in text.splitlines():
        if line.startswith("  "):
            found[line.strip()] = result
        else:
            result = tuple(line.split("  =>  "))
    return found


if __name__ == "__main__":
    print("\n".join(record(Client(sys.argv[1]))))
