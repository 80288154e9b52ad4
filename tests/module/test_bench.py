# SPDX-License-Identifier: MIT
"""bench/redis still runs; what it measures on so few keys means nothing.

labels: slow
"""
import os
import subprocess
import sys
from pathlib import Path

from conftest import MODULE


def test_benchmark_prints_its_table():
    done = subprocess.run([sys.executable, "bench/redis/run.py", "3200"], capture_output=True,
                          text=True, stdin=subprocess.DEVNULL, check=False, timeout=240,
                          env={**os.environ, "UMBEL_MODULE": str(Path(MODULE).resolve())})
    assert done.returncode == 0 or done.stderr.startswith("above the bar: "), done.stderr
    for row in ("BF.MEXISTS 100, present", "BF.MADD 100, new", "BF.EXISTS, absent",
                "bits per key, MEMORY USAGE", "SAVE, rdbcompression no", "grown from 100 keys"):
        assert row in done.stdout
