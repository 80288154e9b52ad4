# SPDX-License-Identifier: MIT
"""Measuring on a machine that others use: with --alone they wait, on every processor.

What is measured has a higher real-time priority than loops that do nothing and keep the processors, so
nothing else runs, nor uses the caches, but for the twentieth of each second that Linux leaves to others.
For root, and for seconds.
"""
import contextlib
import os
import subprocess
import sys
from pathlib import Path

WANTED = "--alone" in sys.argv
if WANTED:
    sys.argv.remove("--alone")


def set_policy(pids, policy, priority):
    for pid in pids:
        for task in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(ProcessLookupError):
                os.sched_setscheduler(int(task.name), policy, os.sched_param(priority))


@contextlib.contextmanager
def alone(*pids):
    """While it lasts, only these processes, this one and what they start have the processors."""
    if not WANTED:
        yield
        return
    pids = (os.getpid(), *pids)
    set_policy(pids, os.SCHED_FIFO, 2)
    keepers = [subprocess.Popen(["timeout", "120", "taskset", "-c", str(cpu), "chrt", "-f", "1",
                                 "sh", "-c", "while :; do :; done"]) for cpu in os.sched_getaffinity(0)]
    try:
        yield
    finally:
        for keeper in keepers:
            keeper.terminate()
            keeper.wait()
        set_policy(pids, os.SCHED_OTHER, 0)


def circumstances():
    return (f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors"
            + (", but the others waited (--alone)" if WANTED else ""))
