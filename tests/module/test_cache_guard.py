# SPDX-License-Identifier: MIT
"""contrib/cache-guard with a real PostgreSQL, on a small scale.

labels: slow
"""
import re
import subprocess
import sys

import pytest


def test_filter_keeps_absent_ids_from_the_database():
    done = subprocess.run([sys.executable, "contrib/cache-guard/guard.py", "2000", "1000"],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                          timeout=800)
    if done.returncode == 77:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout + done.stderr
    absent = int(re.search(r"(\d+) of them for ids that do not exist", done.stdout)[1])
    present = 1000 - absent
    queries = {name: int(re.search(rf"^{name} +(\d+) ", done.stdout, re.M)[1])
               for name in ("cache", "cache, absence cached", "filter, then cache")}
    assert absent > 800
    # An id that exists is queried once; all others reach the database, except repeated ones.
    assert queries["cache"] >= absent + 1
    assert queries["cache, absence cached"] > 0.9 * absent
    # One in a thousand absent ids may pass the filter.
    assert 1 <= queries["filter, then cache"] <= present + 12
