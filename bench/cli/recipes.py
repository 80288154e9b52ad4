#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""recipes.py [LINES] - what it costs to find the key in a line: `umbel check -c` with a recipe next to
the tool that people would cut the field out with.

Needs the umbel command (UMBEL, or build/umbel), cut, mlr and jq; a missing peer is left out and named.
With BEFORE, another umbel command, its times are taken in turns with those of the first.  Times are
CPU seconds (user and system) of one thread, the best of five runs (of one for jq and mlr).
"""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from run import UMBEL, cpu

LINES = int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000
BEFORE = os.environ.get("BEFORE")
ROUNDS = 5

# Name, file, options of build, whether 0.2 had it, the peer.
RECIPES = [
    ("line", "lines", [], True, ["cat"]),
    ("field=2 delimiter=tab", "tabs", ["-t", "\\t", "-k", "2"], True, ["cut", "-f2"]),
    ("field=2 (white space)", "tabs", ["-k", "2"], True, ["gawk", "{print $2}"]),
    ("field=1,3 delimiter=tab", "tabs", ["-t", "\\t", "-k", "1,3"], False, ["cut", "-f1,3"]),
    ("csv field=2", "csv", ["--csv", "--header", "-k", "2"], True,
     ["mlr", "--icsv", "--ojson", "cut", "-f", "url"]),
    ("csv column=url", "csv", ["--csv", "--header", "-k", "url"], True, None),
    ("json=.user.url", "json", ["--json-key", ".user.url"], False, ["jq", "-r", ".user.url"]),
    ("line lower", "lines", ["--lower"], True, ["tr", "A-Z", "a-z"]),
    ("line sha1", "lines", ["--sha1"], False, None),
]


def write_files(folder):
    url = lambda i: f"https://www.example{i % 1000}.com/path/{i}/page-{i * 7}.html"
    with open(folder / "lines", "w") as lines, open(folder / "tabs", "w") as tabs, \
            open(folder / "csv", "w") as csv, open(folder / "json", "w") as json:
        csv.write("id,url,note\n")
        for i in range(LINES):
            lines.write(url(i) + "\n")
            tabs.write(f"{i}\t{url(i)}\tnote-{i % 77}\n")
            csv.write(f'{i},"{url(i)}",note-{i % 77}\n' if i % 8 == 0 else f"{i},{url(i)},note-{i % 77}\n")
            json.write(f'{{"id": {i}, "tags": ["a", "b\\n"], "user": {{"name": "n{i}", "url": "{url(i)}"}}}}\n')


def best(commands):
    """The least CPU time of each command, in turns."""
    times = [[] for _ in commands]
    for _ in range(ROUNDS):
        for i, command in enumerate(commands):
            times[i].append(cpu(command)[0])
    return [min(t) / LINES * 1e9 for t in times]


def main():
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as name:
        folder = Path(name)
        write_files(folder)
        print(f"{LINES:,} lines, ns of CPU per line of `umbel check -c`, one thread\n")
        print(f"| recipe | {'before | ' if BEFORE else ''}umbel | peer | |\n|---|{'--:|' if BEFORE else ''}--:|--:|---|")
        for recipe, source, options, in_02, peer in RECIPES:
            path, header = folder / source, ["--header"] if source == "csv" else []
            filter_ = folder / "f.umb"
            build = [*options, "-q", "-f", "-n", str(LINES), "-p", "1%", "-o", filter_, path]
            commands = []
            if BEFORE and in_02:
                old = folder / "old.umb"
                subprocess.run([BEFORE, "build", *build[:-2], old, path], check=True)
                commands.append([BEFORE, "check", "-c", *header, old, path])
            subprocess.run([UMBEL, "build", *build], check=True)
            commands.append([UMBEL, "check", "-c", filter_, path])
            times = best(commands)
            before = f"{times[0]:.1f} | " if len(times) == 2 else "- | " if BEFORE else ""
            if peer and shutil.which(peer[0]):
                theirs = f"{cpu([*peer, *([] if peer[0] == 'tr' else [path])], stdin=path)[0] / LINES * 1e9:.1f}"
            else:
                theirs = "-"
            label = f"`{' '.join(peer)}`" + ("" if shutil.which(peer[0]) else " (not installed)") if peer else ""
            print(f"| `{recipe}` | {before}{times[-1]:.1f} | {theirs} | {label} |", flush=True)


if __name__ == "__main__":
    main()
