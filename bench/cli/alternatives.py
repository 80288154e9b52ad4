#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""alternatives.py [LINES] - the table "Why not ..." of README.md: umbel next to the usual ways to do the
same, on LINES (10 million) URLs, one after the other.

Times are CPU seconds (user and system), so that a busy machine matters less; memory is the peak of
resident memory.  Needs gawk, GNU grep, sort and g++.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from run import UMBEL, cpu

LINES = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000
HASH_SET = """
#include <fstream>
#include <iostream>
#include <string>
#include <unordered_set>
// FILE: its different lines; LIST FILE: the lines of FILE that are in LIST
int main(int argc, char **argv) {
    std::ios::sync_with_stdio(false);
    std::unordered_set<std::string> seen;
    std::ifstream first(argv[1]);
    for (std::string line; std::getline(first, line);) {
        if (seen.insert(line).second && argc == 2) std::cout << line << '\\n';
    }
    if (argc == 2) return 0;
    std::ifstream second(argv[2]);
    for (std::string line; std::getline(second, line);) {
        if (seen.count(line)) std::cout << line << '\\n';
    }
}
"""

# 64-bit hashes of the lines alone: wrong about one pair of lines in 2^64.
HASHES = """
#include <fstream>
#include <functional>
#include <iostream>
#include <string>
#include <unordered_set>
int main(int, char **argv) {
    std::ios::sync_with_stdio(false);
    std::unordered_set<size_t> seen;
    std::ifstream in(argv[1]);
    for (std::string line; std::getline(in, line);) {
        if (seen.insert(std::hash<std::string>()(line)).second) std::cout << line << '\\n';
    }
}
"""


def row(what, how, command, note, **more):
    seconds, peak = cpu(command, **more)
    print(f"| {what} | {how} | {seconds:.{1 if seconds >= 1 else 2}f} s | {peak:,.0f} MiB | {note} |", flush=True)


def main():
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as name:
        folder = Path(name)
        urls, listed, program = folder / "urls.txt", folder / "listed.txt", folder / "hash_set"
        with open(urls, "w", encoding="ascii") as out:
            for i in range(LINES):
                out.write(f"https://www.example{i % 1000}.com/path/{i}/page-{i * 7}.html\n")
        with open(listed, "w", encoding="ascii") as out:
            for i in range(0, LINES, 20):
                out.write(f"https://www.example{i % 1000}.com/path/{i}/page-{i * 7}.html\n")
        hashes = folder / "hashes"
        for path, source in ((program, HASH_SET), (hashes, HASHES)):
            path.with_suffix(".cc").write_text(source)
            subprocess.run(["g++", "-O2", "-o", path, path.with_suffix(".cc")], check=True)
        print(f"{LINES:,} URLs of {urls.stat().st_size / LINES:.0f} bytes\n")
        print("| job | with | CPU time | memory | |\n|---|---|--:|--:|---|")
        what = "the different lines"
        uniq = [UMBEL, "uniq", "-n", str(LINES), "-p", "0.1%", urls]
        subprocess.run([*uniq, f"--json={folder}/report"], stdout=subprocess.DEVNULL, check=True)
        lost = json.loads((folder / "report").read_text())["lost_estimated"] / LINES
        row(what, "`umbel uniq -n 10M -p 0.1%`", [*uniq, "-q"], f"{lost:.4%} lost, and it says so")
        row(what, "`sort -u`", ["sort", "--parallel=1", "-u", urls], "sorted", env={"LC_ALL": "C"})
        row(what, "`awk '!s[$0]++'` (gawk)", ["gawk", "!s[$0]++", urls], "exact")
        row(what, "a hash set (C++)", [program, urls], "exact")
        row(what, "a hash set of 64-bit hashes (C++)", [hashes, urls], "exact but for 1 pair in 2^64")
        what = f"which are in a list of {LINES // 20:,}"
        filter_ = folder / "listed.umb"
        subprocess.run([UMBEL, "build", "-q", "-p", "1e-6", "-o", filter_, listed], check=True)
        row(what, "`umbel check`, a filter for 1 in a million", [UMBEL, "check", filter_, urls],
            f"{filter_.stat().st_size / 2**20:.1f} MiB instead of {listed.stat().st_size / 2**20:.0f}")
        row(what, "`grep -Fxf`", ["grep", "-Fxf", listed, urls], "exact", env={"LC_ALL": "C"})
        row(what, "a hash set (C++)", [program, listed, urls], "exact")
        safe = [UMBEL, "uniq", "-q", "-n", str(LINES), "-p", "1e-9", "--kind", "auto"]
        with subprocess.Popen(["seq", str(LINES)], stdout=subprocess.PIPE) as numbers:
            kept = subprocess.run(safe, stdin=numbers.stdout, stdout=subprocess.PIPE, check=True).stdout.count(b"\n")
        print(f"\nOf {LINES:,} different lines `umbel uniq -p 1e-9 --kind auto` lost {LINES - kept:,}.")


if __name__ == "__main__":
    main()
