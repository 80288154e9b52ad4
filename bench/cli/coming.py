#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""coming.py [LINES] - what each row of docs/guides/coming-from.md costs, on LINES (a million) lines; prints
the rows of its table with these figures.

Times are CPU seconds (user and system) of all processes of a row, so that a busy machine matters less;
memory is that of the largest.  Needs gawk, GNU grep, coreutils and jq.
"""
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from run import ROOT, UMBEL, cpu

LINES = int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000
FLOOR = 20  # MiB: a child begins with what this program takes
PAGE = ROOT / "docs" / "guides" / "coming-from.md"
ROW = re.compile(r"^\| `(.*?)` \| `((?:umbel|cat) .*?)` \| .*? \| (.*?) \|$", re.M)


def url(i):
    return f"https://www.example{i % 1000}.com/path/{i}/page-{i * 7}.html\n"


def make(folder):
    """Half of the lines are repetitions; the lists are 5% of the lines."""
    draw = random.Random(1)

    def write(name, lines):
        with open(folder / name, "w", encoding="ascii") as out:
            out.writelines(lines)

    keys = [draw.randrange(2 * LINES // 3) for _ in range(LINES)]
    write("urls.txt", (url(i) for i in keys))
    write("list.txt", (url(i) for i in range(0, LINES, 20)))
    write("today.txt", (url(i) for i in range(LINES // 10, LINES + LINES // 10)))
    write("yesterday.txt", (url(i) for i in range(LINES)))
    write("access.log", (f'10.{i % 200}.{i % 77}.{i % 251} - - [19/Nov/2026:21:42:06 +0000] "GET /page/{i % 5000} HTTP/1.1" 200 {i % 9999}\n'
                         for i in keys))
    write("users.txt", (f'"user{i}@example.org"\n' for i in range(100)))
    write("events.json", (f'{{"time":1795124526,"user":{{"email":"user{i}@example.org"}},"action":"view"}}\n' for i in keys))


def cost(command, folder):
    (folder / "umbel").unlink(missing_ok=True)
    (folder / "umbel").symlink_to(UMBEL)
    env = {"LC_ALL": "C", "PATH": f"{folder}:{os.environ['PATH']}"}
    seconds, peak = cpu(["bash", "-c", f"cd '{folder}'; {{ {command}; }} 2> /dev/null; true"], env=env)
    for made in folder.glob("*.umb"):
        made.unlink()
    memory = f"{peak:,.0f} MiB" if peak > FLOOR else f"below {FLOOR} MiB"
    return f"{seconds:.{1 if seconds >= 1 else 2}f} s, {memory}"


def main():
    rows = ROW.findall(PAGE.read_text(encoding="utf-8"))
    assert len(rows) > 12, len(rows)
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as name:
        folder = Path(name)
        if os.fork() == 0:  # its memory would be counted
            make(folder)
            os._exit(0)
        assert os.wait()[1] == 0
        for old, new, lost in rows:
            was, now = (cost(command.replace("\\|", "|"), folder) for command in (old, new))
            print(f"| `{old}` | `{new}` | {was}; {now} | {lost} |", flush=True)


if __name__ == "__main__":
    main()
