# SPDX-License-Identifier: MIT
"""ask.py FILE WHERE - the installed module, which has to be below WHERE, knows the filter of 1 to 1000"""
import platform
import sys

import umbel

path, where = sys.argv[1:]
assert umbel.__file__.startswith(where), umbel.__file__
keys = umbel.Filter.open(path)
assert all(str(i) in keys for i in range(1, 1001)) and "1001" not in keys
print(f"{umbel.__version__} on {platform.machine()}")
