#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""turns.py [LINES] - the command in turns with an earlier version of itself (BEFORE, another umbel
command) and with a program that does one of its tasks in a single loop (by_hand_avx2.c, needs AVX2 and
libxxhash-dev).

CPU seconds (user and system) and wall-clock seconds, medians of ROUNDS turns (7), each with one
thread, then two threads against one and against what two busy processes get here at the same moment.
STATE=KEYS also makes a state of that many keys and adds one line to it.
"""
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from run import ROOT, UMBEL

LINES = int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000
BEFORE = os.environ.get("BEFORE")
ROUNDS = int(os.environ.get("ROUNDS", "7"))
STATE = int(float(os.environ.get("STATE", "0")))


def timed(command, piped=None):
    """CPU seconds, wall-clock seconds and peak MiB.  `piped`: a file that cat sends it."""
    source = subprocess.Popen(["cat", piped], stdout=subprocess.PIPE) if piped else None
    begin = time.monotonic()
    child = subprocess.Popen(command, stdin=source.stdout if source else subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    took = time.monotonic() - begin
    child.returncode = os.waitstatus_to_exitcode(status)
    if source:
        source.stdout.close()
        source.wait()
    if child.returncode not in (0, 3):
        sys.exit(f"{command} failed with {child.returncode}")
    return usage.ru_utime + usage.ru_stime, took, usage.ru_maxrss / 1024


def in_turns(*runs):
    """The medians of each run: CPU, clock, MiB."""
    got = [[] for _ in runs]
    for _ in range(ROUNDS):
        for run, all_of in zip(runs, got):
            all_of.append(run())
    return [[statistics.median(x) for x in zip(*all_of)] for all_of in got]


def compile_by_hand(folder):
    program = folder / "by_hand"
    sources = [ROOT / "bench/cli/by_hand_avx2.c", *sorted((ROOT / "cli/lines").glob("split_*.c"))]
    subprocess.run(["cc", "-O3", "-mavx2", "-std=c11", "-I", ROOT / "cli", "-I", ROOT / "src",
                    "-o", program, *sources],
                   check=True)
    return program


def versions(folder, urls, hand):
    f, old, h = folder / "f.umb", folder / "old.umb", folder / "hand"
    tasks = [
        ("build -n", ["build", "-q", "-f", "-n", str(LINES), "-p", "1%", "-o", "F", urls], None, "build"),
        ("build", ["build", "-q", "-f", "-p", "1%", "-o", "F", urls], None, None),
        ("build, a pipe", ["build", "-q", "-f", "-p", "1%", "-o", folder / "p.umb"], urls, None),
        ("build -n, a pipe", ["build", "-q", "-f", "-n", str(LINES), "-o", folder / "p.umb"], urls, None),
        ("check -c", ["check", "-c", "F", urls], None, None),
        ("check", ["check", "F", urls], None, "check"),
        ("uniq", ["uniq", "-q", urls], None, None),
        ("uniq -n", ["uniq", "-q", "-n", str(LINES), urls], None, "uniq"),
    ]
    print(f"{'ns of CPU per line, one thread':<32} {'before':>8} {'now':>8} {'ratio':>6} {'by hand':>8} "
          f"{'ratio':>6}   MiB before, now")
    for name, arguments, piped, by_hand in tasks:
        runs = []
        for umbel, filter in ((UMBEL, f), (BEFORE, old)):
            if umbel:
                command = [umbel, arguments[0], "-j1"] + [filter if a == "F" else a for a in arguments[1:]]
                runs.append(lambda c=command: timed(c, piped))
        if by_hand:
            runs.append(lambda: timed([hand, by_hand, h, urls]))
        results = in_turns(*runs)
        now = results[0]
        before = results[1] if BEFORE else None
        peer = results[-1] if by_hand else None
        print(f"{name:<32} {before[0] / LINES * 1e9 if before else 0:8.1f} {now[0] / LINES * 1e9:8.1f} "
              f"{now[0] / before[0] if before else 0:6.2f} "
              + (f"{peer[0] / LINES * 1e9:8.1f} {now[0] / peer[0]:6.2f}" if peer else f"{'':15}")
              + f"   {before[2] if before else 0:.0f} {now[2]:.0f}", flush=True)


SPIN = "x = 0\nfor i in range({}): x += i"


def two_spinners(rounds):
    begin = time.monotonic()
    both = [subprocess.Popen([sys.executable, "-c", SPIN.format(rounds)]) for _ in range(2)]
    for child in both:
        child.wait()
    return time.monotonic() - begin


def threads(folder, urls):
    """Each turn also measures what two processes that share nothing get of this machine."""
    f, rounds = folder / "f.umb", 4_000_000
    print(f"\n{'seconds by the clock':<32} {'-j1':>8} {'-j2':>8} {'times':>6}   two own processes; share")
    for name, arguments in (
            ("build -n", ["build", "-q", "-f", "-n", str(LINES), "-o", f, urls]),
            ("build", ["build", "-q", "-f", "-o", f, urls]),
            ("check -c", ["check", "-c", f, urls]),
            ("check", ["check", f, urls])):
        one, two, given = [], [], []
        for _ in range(ROUNDS):
            one.append(timed([UMBEL, arguments[0], "-j1", *arguments[1:]])[1])
            two.append(timed([UMBEL, arguments[0], "-j2", *arguments[1:]])[1])
            alone = timed([sys.executable, "-c", SPIN.format(rounds)])[1]
            given.append(2 * alone / two_spinners(rounds))
        one, two, given = map(statistics.median, (one, two, given))
        print(f"{name:<32} {one:8.3f} {two:8.3f} {one / two:6.2f}   {given:.2f}; {one / two / given:.0%}",
              flush=True)


def state(folder):
    print(f"\none new line in a state of {STATE:,} keys: CPU seconds, clock, MiB beyond the file")
    for name, umbel in (("before", BEFORE), ("now", UMBEL)):
        if not umbel:
            continue
        path = folder / f"{name}-state.umb"
        keys = subprocess.Popen(["seq", str(STATE)], stdout=subprocess.PIPE)
        subprocess.run([umbel, "uniq", "-q", "-n", str(STATE), "--state", path], stdin=keys.stdout,
                       stdout=subprocess.DEVNULL, check=True)
        keys.wait()
        size, got = path.stat().st_size / 2**20, []
        for i in range(ROUNDS):
            line = folder / "line"
            line.write_text(f"new {i}\n")
            got.append(timed([umbel, "uniq", "-q", "--state", path, line]))
        cpu, clock, peak = (statistics.median(x) for x in zip(*got))
        print(f"{name:<32} {cpu:8.3f} {clock:8.3f} {peak - size:8.1f}   (file {size:.0f} MiB)", flush=True)
        path.unlink()


def main():
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as name:
        folder = Path(name)
        urls = folder / "urls.txt"
        with open(urls, "w", encoding="ascii") as out:
            for i in range(LINES):
                out.write(f"https://www.example{i % 1000}.com/path/{i}/page-{i * 7}.html\n")
        versions(folder, urls, compile_by_hand(folder))
        threads(folder, urls)
        if STATE:
            state(folder)


if __name__ == "__main__":
    main()
