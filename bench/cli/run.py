#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run.py [LINES] - the command compared with its peers on one file of URLs, with the bars it must
reach.

Needs the umbel command (UMBEL, or build/umbel) and, from Debian, golang-github-dcso-bloom-cli,
gawk, coreutils, a C compiler and libxxhash-dev; a missing peer is left out and named.  Times are
CPU seconds (user and system) of one thread, the best of three runs for umbel, so that a busy
machine matters little.  Ratios are valid for one run on one machine.
"""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
UMBEL = os.environ.get("UMBEL") or str(ROOT / "build" / "umbel")
LINES = int(float(sys.argv[1])) if len(sys.argv) > 1 else 1000000
FAILED = []


def cpu(command, stdin=None, env=None):
    """CPU seconds and peak memory in MiB of a command; its output is discarded."""
    with open(stdin or os.devnull, "rb") as source:
        child = subprocess.Popen(command, stdin=source, stdout=subprocess.DEVNULL,
                                 env={**os.environ, **(env or {})})
        _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{command[0]} failed with {child.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def best(command, **how):
    return min(cpu(command, **how) for _ in range(3))


def row(what, mine, peer, name, bar, least):
    """One line of the table.  With `least` the bar is a lower limit of peer / mine, otherwise an
    upper limit of mine / peer."""
    ratio = peer / mine if least else mine / peer
    good = ratio >= bar if least else ratio <= bar
    if not good:
        FAILED.append(what)
    print(f"{what:<34} {mine / LINES * 1e9:8.1f} {peer / LINES * 1e9:9.1f} {name:<22} "
          f"{ratio:6.2f} {'>=' if least else '<='} {bar:<5} {'ok' if good else 'MISSED'}")


def missing(what, name):
    print(f"{what:<34} left out: no {name}")


def split_hash(directory, urls):
    program = directory / "split_hash"
    sources = [ROOT / "bench/cli/split_hash.c", *sorted((ROOT / "cli/lines").glob("split_*.c"))]
    subprocess.run(["cc", "-O3", "-std=c11", "-I", ROOT / "cli", "-o", program, *sources], check=True)
    runs = [subprocess.run([program, urls], check=True, capture_output=True, text=True).stdout.split()
            for _ in range(3)]
    return min(float(r[0]) for r in runs), min(float(r[1]) for r in runs)


def main():
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as name:
        directory = Path(name)
        urls, mine, theirs = directory / "urls.txt", directory / "f.umb", directory / "f.bloom"
        with open(urls, "w", encoding="ascii") as out:
            for i in range(LINES):
                out.write(f"https://www.example{i % 1000}.com/path/{i}/page-{i * 7}.html\n")
        print(f"{LINES} lines, {urls.stat().st_size / LINES:.0f} bytes each; ns a line, one thread")
        print(f"{'':<34} {'umbel':>8} {'peer':>9} {'':<22} ratio    bar")
        build = best([UMBEL, "build", "-q", "-f", "-n", str(LINES), "-p", "1%", "-o", mine, urls])
        reading, in_memory = split_hash(directory, urls)
        row("build, by split and hash of a file", build[0], reading, "split + hash, read", 2.2, False)
        print(f"{'':<34} {'':8} {in_memory / LINES * 1e9:9.1f} the same, in memory")
        check = best([UMBEL, "check", mine, urls])
        uniq = best([UMBEL, "uniq", "-q", "-n", str(LINES), urls])
        if shutil.which("bloom"):
            cpu(["bloom", "create", "-p", "0.01", "-n", str(LINES), theirs])
            row("build, by DCSO's bloom insert", build[0],
                cpu(["bloom", "insert", theirs], stdin=urls)[0], "bloom insert", 40, True)
            row("check, by DCSO's bloom check", check[0],
                cpu(["bloom", "check", theirs], stdin=urls)[0], "bloom check", 80, True)
        else:
            missing("build, check", "bloom (golang-github-dcso-bloom-cli)")
        if shutil.which("gawk"):
            row("uniq, by gawk", uniq[0], cpu(["gawk", "!s[$0]++", urls])[0], "gawk '!s[$0]++'", 20, True)
        else:
            missing("uniq", "gawk")
        row("uniq, by sort -u", uniq[0],
            cpu(["sort", "--parallel=1", "-u", urls], env={"LC_ALL": "C"})[0], "LC_ALL=C sort -u", 8, True)
        size = mine.stat().st_size / 2**20
        for what, peak in (("build", build[1]), ("check", check[1])):
            print(f"{what}: {peak:.0f} MiB of memory, {peak - size:.0f} besides the filter "
                  f"(at most 64: {'ok' if peak - size <= 64 else 'MISSED'})")
            if peak - size > 64:
                FAILED.append(f"memory of {what}")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
