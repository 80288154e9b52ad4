#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""ask_python.py FILE - the Python module as a program of the kit."""
import sys

import umbel


def main(path):
    try:
        filter = umbel.Filter.load(path)
    except (umbel.Error, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    for line in sys.stdin:
        print("yes" if filter.has_text(bytes.fromhex(line)) else "no")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
