#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The table of README.md: its rows are those of bench/cli/alternatives.py (DuckDB's only if it is installed), the
Chinese README has the same figures, and a run with a tenth of the lines gives a tenth of them: CPU time within a factor of
eight, because hash tables of another size meet other caches, memory within three.
"""
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(r"^\| [^|]+ \| ([^|]+) \| ([\d.,]+) s \| ([\d.,]+) MiB \| ", re.M)


def rows(text):
    return [(how, float(cpu.replace(",", "")), float(memory.replace(",", "")))
            for how, cpu, memory in ROW.findall(text)]


def main():
    said = rows((ROOT / "README.md").read_text(encoding="utf-8"))
    chinese = rows((ROOT / "README.zh-CN.md").read_text(encoding="utf-8"))
    run = subprocess.run([sys.executable, ROOT / "bench/cli/alternatives.py", "1e6"],
                         stdout=subprocess.PIPE, text=True, check=True).stdout
    print("".join(f"# {line}\n" for line in run.splitlines()), end="")
    seen = rows(run)
    left_out = re.findall(r"^left out: (.+)$", run, re.M)
    wrong = []
    if [row[1:] for row in said] != [row[1:] for row in chinese]:
        wrong.append("the two languages have different figures")
    said = [row for row in said if not any(name in row[0] for name in left_out)]
    if [row[0] for row in said] != [row[0] for row in seen]:
        wrong.append("the README has other rows than the script")
    for (how, cpu, memory), (_, small_cpu, small_memory) in zip(said, seen):
        if not cpu / 8 <= 10 * small_cpu + 0.1 <= cpu * 8 + 0.8:
            wrong.append(f"{how}: {cpu} s in the README, {small_cpu} for a tenth")
        # What a program takes without any lines does not shrink with them.
        if memory > 300 and not memory / 3 <= 10 * small_memory <= memory * 3:
            wrong.append(f"{how}: {memory} MiB in the README, {small_memory} for a tenth")
    print("".join(f"{line}\n" for line in wrong), end="")
    return 1 if wrong or not said else 0


if __name__ == "__main__":
    sys.exit(main())
