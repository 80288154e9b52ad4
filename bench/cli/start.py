#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""start.py [RUNS] - what a command costs before it does anything: beside `grep -q` for a key of a file of 1,000 lines.

CPU time (user and system) of whole processes, all commands in turns; ratios are valid for one run on one machine.
UMBEL, or build/umbel.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
UMBEL = os.environ.get("UMBEL") or str(ROOT / "build" / "umbel")
RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 500
MOST = 1.5


def cpu(command, null):
    actions = [(os.POSIX_SPAWN_DUP2, null, fd) for fd in (0, 1)]
    _, status, usage = os.wait4(os.posix_spawnp(command[0], command, os.environ, file_actions=actions), 0)
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"{' '.join(command)}: status {status}")
    return usage.ru_utime + usage.ru_stime


def main():
    with tempfile.TemporaryDirectory(prefix="umbel-start-") as folder:
        os.chdir(folder)
        key = "500@example.com"
        Path("keys").write_text("".join(f"{i}@example.com\n" for i in range(1000)))
        subprocess.run([UMBEL, "build", "-q", "-p", "1%", "-o", "f.umb", "keys"], check=True)
        commands = [["grep", "-q", key, "keys"], [UMBEL, "check", "-q", "f.umb", "-e", key], [UMBEL, "--version"],
                    [UMBEL, "info", "f.umb"], [UMBEL, "plan", "-n", "1M", "-p", "1%"], ["true"]]
        null = os.open(os.devnull, os.O_RDWR)
        times = [[] for _ in commands]
        for _ in range(RUNS):
            for spent, command in zip(times, commands):
                spent.append(cpu(command, null))
    sums = [sum(spent) for spent in times]
    for total, command in zip(sums, commands):
        print(f"{total / RUNS * 1e6:8.0f} us  {total / sums[0]:5.2f}  {' '.join(['umbel' if c == UMBEL else c for c in command])}")
    return any(total > MOST * sums[0] for total in sums)


if __name__ == "__main__":
    sys.exit(main())
