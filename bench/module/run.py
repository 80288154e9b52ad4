#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run.py [KEYS [MODULE]] - what umbel.so costs a server, beside a module that does nothing.

CPU time of the server's main thread for each item, the best of several rounds that take turns, and
how many times that of the empty module.  Single commands go 100 at a time, batches of 100 items 16 at
a time.  Filters of KEYS capacity (1e7), half full of 16-byte items.  Needs redis-server, pytest and a
C compiler.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/module"))
from conftest import info, running  # noqa: E402
from resp import encode  # noqa: E402

ROUNDS = 5
BATCH, BATCHES = 100, 2000
SINGLES = 40000


def build_empty(directory):
    path = Path(directory) / "empty.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", f"-I{ROOT}/module", "-o", path,
                    ROOT / "bench/module/empty_module.c", ROOT / "module/api.c"], check=True)
    return path


def cpu(server):
    figures = info(server, "cpu")
    return float(figures["used_cpu_user_main_thread"]) + float(figures["used_cpu_sys_main_thread"])


class Load:
    """Commands in pieces of `depth`, each sent at once and answered before the next.  An item costs
    the best of all rounds; `floor` names the load to compare with."""

    def __init__(self, name, floor, commands, depth):
        self.name, self.floor, self.best = name, floor, float("inf")
        self.items = sum(len(c) - 2 for c in commands)
        pieces = [commands[i:i + depth] for i in range(0, len(commands), depth)]
        self.pieces = [(b"".join(encode(*c) for c in piece), len(piece)) for piece in pieces]

    def run(self, server, client):
        before = cpu(server)
        for data, count in self.pieces:
            client.socket.sendall(data)
            for _ in range(count):
                skip_reply(client)
        self.best = min(self.best, (cpu(server) - before) / self.items * 1e9)


def skip_reply(client):
    line = client.input.readline()
    if line[:1] == b"-":
        raise RuntimeError(line)
    if line[:1] == b"*":
        for _ in range(int(line[1:])):
            client.input.readline()


def items(start, count, step=1):
    return [b"item%012d" % i for i in range(start, start + count * step, step)]


def single(name, command, key, pool):
    return Load(name, "empty command", [[command, key, i] for i in pool[:SINGLES]], 100)


def batched(name, command, key, pool):
    return Load(name, "empty loop",
                [[command, key, *pool[i:i + BATCH]] for i in range(0, len(pool), BATCH)], 16)


def fill(server, key, keys):
    client = server.client()
    for start in range(0, keys, 100000):
        client.many(["BF.MADD", key, *items(s, 1000)] for s in range(start, start + 100000, 1000))


def loads_of(server, keys, name, error, layout):
    """Makes a filter and what is asked of it."""
    key = name.replace(" ", "")
    server("BF.RESERVE", key, error, keys, "LAYOUT", layout)
    fill(server, key, keys // 2)
    hits = items(0, BATCHES * BATCH, max(1, keys // 2 // (BATCHES * BATCH)))
    misses = items(keys, BATCHES * BATCH)
    yield single(f"BF.EXISTS {name} hit", "BF.EXISTS", key, hits)
    yield single(f"BF.EXISTS {name} miss", "BF.EXISTS", key, misses)
    yield batched(f"BF.MEXISTS {name} hit", "BF.MEXISTS", key, hits)
    yield batched(f"BF.MEXISTS {name} miss", "BF.MEXISTS", key, misses)
    yield single(f"BF.ADD {name} known", "BF.ADD", key, hits)
    yield batched(f"BF.MADD {name} known", "BF.MADD", key, hits)


def add_new(server, client, keys, name):
    """New items change the filter, so each can be added but once."""
    load = None
    for r in range(ROUNDS):
        fresh = items(2 * keys + r * BATCHES * BATCH, BATCHES * BATCH)
        again = batched(f"BF.MADD {name} new", "BF.MADD", name.replace(" ", ""), fresh)
        again.best = load.best if load else again.best
        again.run(server, client)
        load = again
    return load


def measure(server, keys):
    filters = [("1 %", 0.01, "blocked"), ("0.01 %", 0.0001, "blocked"),
               ("1 % classic", 0.01, "classic")]
    pool = items(0, BATCHES * BATCH)
    loads = [single("empty command", "empty.one", "1%", pool),
             batched("empty loop", "empty.many", "1%", pool)]
    for one in filters:
        loads += loads_of(server, keys, *one)
    client = server.client()
    for _ in range(ROUNDS):
        for load in loads:
            load.run(server, client)
    return loads + [add_new(server, client, keys, name) for name, _, _ in filters]


def main():
    keys = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000
    module = sys.argv[2] if len(sys.argv) > 2 else ROOT / "build/module/umbel.so"
    with tempfile.TemporaryDirectory() as directory, running(module=module) as server:
        if server("MODULE", "LOAD", str(build_empty(directory))) != "OK":
            sys.exit("run.py: the empty module cannot be loaded")
        loads = measure(server, keys)
    best = {load.name: load.best for load in loads}
    for load in loads:
        print(f"{load.name:28} {load.best:6.0f} ns  {load.best / best[load.floor]:5.2f} x")


main()
