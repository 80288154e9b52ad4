#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""alternatives.py [LINES] - the table "Why not ..." of README.md: umbel next to the usual ways to do the
same, on LINES (10 million) URLs, one after the other.

Times are CPU seconds (user and system), so that a busy machine matters less; memory is the peak of
resident memory, which for those that map their input has the input in it.  Needs gawk, GNU grep, sort, g++ and tsl::robin_set;
DuckDB is left out unless `scripts/setup interop` has installed it.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from run import ROOT, UMBEL, cpu

LINES = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000
INTEROP = ROOT / "build" / "interop"  # where `scripts/setup interop` puts DuckDB

# A robin-hood table: open addressing, with the hashes next to views of the text, which is mapped.
HASH_SET = """
#include <cstring>
#include <iostream>
#include <string_view>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <tsl/robin_set.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

struct xxh3 {
    size_t operator()(std::string_view s) const { return XXH3_64bits(s.data(), s.size()); }
};

template <class F> static void each_line(const char *path, F f) {
    int fd = open(path, O_RDONLY);
    struct stat about;
    fstat(fd, &about);
    char *at = static_cast<char *>(mmap(nullptr, about.st_size, PROT_READ, MAP_PRIVATE, fd, 0)), *end = at + about.st_size;
    for (char *next; at < end; at = next + 1) {
        next = static_cast<char *>(memchr(at, '\\n', end - at));
        f(std::string_view(at, next - at));
    }
}

static void print(std::string_view line) { std::cout << line << '\\n'; }

// lines FILE: its different lines; hashes FILE: by 64 bits of their hashes; listed LIST FILE: lines of FILE that are in LIST
int main(int argc, char **argv) {
    std::ios::sync_with_stdio(false);
    tsl::robin_set<std::string_view, xxh3, std::equal_to<std::string_view>, std::allocator<std::string_view>, true> seen;
    tsl::robin_set<uint64_t> hashes;
    if (argv[1][0] == 'h') each_line(argv[2], [&](auto line) { if (hashes.insert(xxh3()(line)).second) print(line); });
    if (argv[1][0] != 'h') each_line(argv[2], [&](auto line) { if (seen.insert(line).second && argc == 3) print(line); });
    if (argc == 4) each_line(argv[3], [&](auto line) { if (seen.count(line)) print(line); });
}
"""

# SQL and nothing else; one thread, like the others.
DUCKDB = """
import { DuckDBInstance } from '@duckdb/node-api';
const connection = await (await DuckDBInstance.create(':memory:')).connect();
await connection.run('SET threads = 1');
const lines = (path) => `read_csv('${path}', columns = {'line': 'VARCHAR'}, header = false, delim = '\\t', quote = '')`;
const [urls, listed] = process.argv.slice(2);
await connection.run(`COPY (SELECT ${listed ? '' : 'DISTINCT'} line FROM ${lines(urls)} ` +
    (listed ? `WHERE line IN (FROM ${lines(listed)})` : '') + `) TO '/dev/stdout' (HEADER false, QUOTE '')`);
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
        program.with_suffix(".cc").write_text(HASH_SET)
        subprocess.run(["g++", "-O2", "-march=native", "-o", program, program.with_suffix(".cc")], check=True)
        script = INTEROP / "alternatives.mjs"
        duckdb = ["node", script, urls] if (INTEROP / "node_modules/@duckdb").exists() else None
        if duckdb:
            script.write_text(DUCKDB)
        print(f"{LINES:,} URLs of {urls.stat().st_size / LINES:.0f} bytes\n")
        print("| job | with | CPU time | memory | |\n|---|---|--:|--:|---|")
        what = "the different lines"
        uniq = [UMBEL, "uniq", "-n", str(LINES), "-p", "0.1%", urls]
        subprocess.run([*uniq, f"--json={folder}/report"], stdout=subprocess.DEVNULL, check=True)
        lost = json.loads((folder / "report").read_text())["lost_estimated"] / LINES
        row(what, "`umbel uniq -n 10M -p 0.1%`", [*uniq, "-q"], f"{lost:.4%} lost, and it says so")
        safe = [UMBEL, "uniq", "-n", str(LINES), "-p", "1e-9", "--kind", "auto", urls]
        with subprocess.Popen([*safe, "-q"], stdout=subprocess.PIPE) as lines:  # their memory is not to count below
            kept = int(subprocess.run(["wc", "-l"], stdin=lines.stdout, stdout=subprocess.PIPE, check=True).stdout)
        row(what, "`umbel uniq -n 10M -p 1e-9 --kind auto`", [*safe, "-q"], f"{LINES - kept:,} lost")
        row(what, "`sort -u`", ["sort", "--parallel=1", "-u", urls], "sorted", env={"LC_ALL": "C"})
        row(what, "`awk '!s[$0]++'` (gawk)", ["gawk", "!s[$0]++", urls], "exact")
        row(what, "a robin-hood set of lines (C++)", [program, "lines", urls], "exact")
        row(what, "a robin-hood set of 64-bit hashes (C++)", [program, "hashes", urls], "exact but for 1 pair in 2^64")
        if duckdb:
            row(what, "DuckDB, `SELECT DISTINCT`", duckdb, "exact")
        what = f"which are in a list of {LINES // 20:,}"
        filter_ = folder / "listed.umb"
        subprocess.run([UMBEL, "build", "-q", "-p", "1e-6", "-o", filter_, listed], check=True)
        row(what, "`umbel check`, a filter for 1 in a million", [UMBEL, "check", filter_, urls],
            f"{filter_.stat().st_size / 2**20:.1f} MiB instead of {listed.stat().st_size / 2**20:.0f}")
        row(what, "`grep -Fxf`", ["grep", "-Fxf", listed, urls], "exact", env={"LC_ALL": "C"})
        row(what, "a robin-hood set of lines (C++)", [program, "listed", listed, urls], "exact")
        if duckdb:
            row(what, "DuckDB, `WHERE ... IN`", [*duckdb, listed], "exact")
        else:
            print("\nleft out: DuckDB")


if __name__ == "__main__":
    main()
