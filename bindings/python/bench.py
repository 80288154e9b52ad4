#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench.py [KEYS] - ns per key of the Python module, one at a time and in batches.

Keys are str of 50 characters, every second of them in a filter that is as full as planned.  Every
way is timed ROUNDS times in turn, in time of the CPU, and its best and its median are printed: the
machine may be busy.
"""
import array
import platform
import random
import statistics
import sys
import time

import umbel

ROUNDS = 9
keys_wanted = int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000


def url(random_bits):
    return f"https://example.org/{random_bits:030x}"


bits = random.Random(1).getrandbits
mixed = [url(bits(120)) for _ in range(keys_wanted)]
present = mixed[::2] + [url(bits(120)) for _ in range(keys_wanted - len(mixed[::2]))]
assert len(present[0]) == 50 and len(present) == keys_wanted
seen = umbel.Filter(keys_wanted, 0.01)
seen.update(present)
empty = umbel.Filter(keys_wanted, 0.01)
data = "".join(mixed).encode()
offsets = array.array("i", range(0, len(data) + 1, 50))
hashes = seen.hash_many(mixed)
out = bytearray(len(mixed))
python_set = set(present)


def one_at_a_time_in():
    for key in mixed:
        key in seen  # noqa: B015


def one_at_a_time_in_a_set():
    for key in mixed:
        key in python_set  # noqa: B015


def one_at_a_time_in_nothing():
    for key in mixed:
        pass


def one_at_a_time_add():
    add = empty.add
    for key in mixed:
        add(key)


def loop_that_keeps_answers():
    return [key in seen for key in mixed]


ways = {
    "for key in keys: pass": one_at_a_time_in_nothing,
    "for key in keys: key in f": one_at_a_time_in,
    "[key in f for key in keys]": loop_that_keeps_answers,
    "for key in keys: f.add(key)": one_at_a_time_add,
    "f.contains_many(keys)": lambda: seen.contains_many(mixed),
    "f.add_many(keys)": lambda: empty.add_many(mixed),
    "f.update(keys)": lambda: empty.update(mixed),
    "f.contains_many((data, offsets))": lambda: seen.contains_many((data, offsets)),
    "f.contains_hashes(hashes, out=)": lambda: seen.contains_hashes(hashes, out=out),
    "for key in keys: key in a_set": one_at_a_time_in_a_set,
}


def main():
    times = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            start = time.process_time_ns()
            way()
            times[name].append((time.process_time_ns() - start) / len(mixed))
    loop = times.pop("for key in keys: pass")
    print(f"umbel {umbel.__version__}, CPython {platform.python_version()}, "
          f"{len(mixed)} str of 50 characters, half of them in the filter of {seen.info.bytes} "
          f"bytes; ns per key, best and median of {ROUNDS}")
    for name, ns in times.items():
        print(f"  {name:34} {min(ns):7.1f} {statistics.median(ns):7.1f}")
    print(f"  (the loop itself takes {min(loop):.1f})")
    each = [a / b for a, b in zip(times["[key in f for key in keys]"], times["f.contains_many(keys)"])]
    print(f"  a batch is {statistics.median(each):.1f} times as fast as the loop that keeps answers")


main()
