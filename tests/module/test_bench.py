# SPDX-License-Identifier: MIT
"""bench/redis still runs; what it measures on so few keys means nothing.

labels: slow
"""
import os
import subprocess
import sys
from pathlib import Path

from conftest import MODULE


def run(*args):
    done = subprocess.run([sys.executable, "bench/redis/run.py", *args], capture_output=True,
                          text=True, stdin=subprocess.DEVNULL, check=False, timeout=800,
                          env={**os.environ, "UMBEL_MODULE": str(Path(MODULE).resolve())})
    assert done.returncode == 0 or done.stderr.startswith("above the bar: "), done.stderr
    return done.stdout


def test_benchmark_prints_its_table():
    table = run("3200")
    for row in ("BF.MEXISTS 100, present", "BF.MADD 100, new", "BF.EXISTS, absent",
                "bits per key, MEMORY USAGE", "SAVE, rdbcompression no", "grown from 100 keys",
                "SET during BF.ADDs"):
        assert row in table
    # The plain way finds the same: it reads the same bits.
    (rates,) = (line.split()[-4:] for line in table.splitlines() if "- false positives" in line)
    assert rates[1] == rates[2]


def test_many_small_filters():
    lines = run("many", "8000").splitlines()
    for keys in (10, 100):
        sizes = {name: line.split()[-4:] for line in lines for name in ("blocked", "classic")
                 if line.startswith(f"{keys} keys, {name}")}
        (allocations,) = (line.split()[-2] for line in lines
                          if line.startswith(f"{keys} keys, RedisBloom"))
        for _, used, _, _ in sizes.values():
            assert float(used) <= float(allocations)
        assert float(sizes["blocked"][3]) <= float(sizes["classic"][3])


def test_how_long_commands_block():
    lines = run("block", "1").splitlines()
    assert {line[:24].strip() for line in lines} >= {"BF.STATS", "BF.MERGE", "COPY", "DUMP", "DEL"}


def test_processor_time_of_small_filters():
    lines = run("cpu", "80").splitlines()
    assert {line[:34].strip() for line in lines} >= {"BF.ADD that makes the key", "BF.EXISTS, absent, of 10 items",
                                                     "BF.RESERVE of 100,000,000"}
