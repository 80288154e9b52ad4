#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""ask_umbel_read.py FILE - scripts/umbel-read as a program of the kit; it knows no recipe but "line"."""
import subprocess
import sys
from pathlib import Path

READER = [sys.executable, Path(__file__).resolve().parent.parent.parent / "scripts/umbel-read"]


def main(path):
    info = subprocess.run([*READER, "--info", path], capture_output=True, text=True, check=False)
    if info.returncode or not info.stdout.endswith("recipe line\n"):
        print(info.stderr or "a recipe", file=sys.stderr, end="")
        return 2
    keys = sys.stdin.read()
    said = subprocess.run([*READER, "--hex", path], input=keys, capture_output=True, text=True, check=False)
    if said.returncode == 2:
        print(said.stderr, file=sys.stderr, end="")
        return 2
    found = said.stdout.split("\n")[:-1]  # in the order in which they were asked
    for key in keys.split("\n")[:-1]:
        yes = bool(found) and found[0] == key
        print("yes" if yes else "no")
        del found[:yes]
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
