#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""ask_python.py FILE - the Python module as a program of the kit."""
import sys

import umbel


def may_have(filter, text):
    state, key = umbel.record_key(filter.recipe, text, use="key", lookup=True)
    while state == "key" and key not in filter:
        key = key.partition(b".")[2] if filter.recipe == "domain" else b""
        state = "key" if key else "nothing"
    return state == "key"


def main(path):
    try:
        filter = umbel.Filter.load(path)
    except (umbel.Error, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    for line in sys.stdin:
        print("yes" if may_have(filter, bytes.fromhex(line)) else "no")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
