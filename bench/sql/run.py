#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run.py [ROWS] [--alone] - what filters in SQL cost, next to IN, EXISTS with an index, and contrib/bloom.

ROWS rows (1e6) are looked up in a filter of five times as many keys, and in one that fits the processor's
cache.  Times are medians, lookups and bare scans in turns, and ratios are to the first bare scan; lookups are
measured by CPU time, which a busy machine stretches less than the clock; --alone lets the machine's other
work wait meanwhile (bench/alone.py).  Ends with the bars.
"""
import os
import sqlite3
import statistics
import sys
import time
from contextlib import nullcontext
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests" / "sql"), str(ROOT / "bench")]
from alone import alone, circumstances  # noqa: E402
from cluster import Cluster  # noqa: E402

ROWS = int(float(sys.argv[1])) if len(sys.argv) > 1 else 1000000
KEYS = 5 * ROWS
RUNS = 5


def median(action, *pids):
    times = []
    for _ in range(RUNS):
        with alone(*pids):
            start = time.perf_counter()
            action()
            times.append((time.perf_counter() - start) * 1000)
    return statistics.median(times)


class Process:
    """Measures by the CPU time of one process."""

    def __init__(self, pid):
        self.pid, self.file = pid, Path(f"/proc/{pid}/schedstat")

    def now(self):
        return int(self.file.read_text().split()[0]) / 1e6

    def medians(self, *actions, runs=7):
        """Of actions that take turns, so that a busy moment falls on all of them."""
        times = [[] for _ in actions]
        for _ in range(runs):
            with alone(self.pid) if len(actions) > 1 else nullcontext():  # the slow ones come singly
                for mine, action in zip(times, actions):
                    start = self.now()
                    action()
                    mine.append(self.now() - start)
        return [statistics.median(mine) for mine in times]

    def median(self, action):
        return self.medians(action, runs=3)[0]


class Table:
    def __init__(self, title, base=None):
        print(f"\n{title}")
        self.base = base

    def line(self, name, ms, note=""):
        if self.base is None:
            self.base = ms
        print(f"  {name:58} {ms:9.0f} ms {ms / self.base:8.2f} x  {note}", flush=True)
        return ms / self.base


def postgres():
    server = Cluster(ROOT / "build" / "postgres" / "umbel.so",
                     ["work_mem=256MB", "shared_buffers=1GB", "max_parallel_workers_per_gather=0", "jit=off"])
    try:
        return measure_postgres(server.connect().cursor(), server.server.pid)
    finally:
        server.stop()


def measure_postgres(cursor, server):
    def run(query):
        cursor.execute(query)
        return cursor.fetchone() if cursor.description else None

    def size(what):
        return f"{run(f'SELECT {what}')[0] / 1e6:.1f} MB"

    def index_size(name):
        return size(f"pg_relation_size('{name}')")

    run("CREATE EXTENSION umbel; CREATE EXTENSION bloom")
    run(f"CREATE TABLE keys AS SELECT 'https://example.org/page/' || i AS url FROM generate_series(1, {KEYS}) i")
    run(f"CREATE TABLE asked AS SELECT 'https://example.com/none/' || i AS url FROM generate_series(1, {ROWS}) i")
    run("VACUUM ANALYZE keys")
    run("VACUUM ANALYZE asked")
    bars = []

    run("CREATE TABLE nothing AS SELECT ''::text AS v")
    backend = Process(run("SELECT pg_backend_pid()")[0])

    def clock(action):
        return median(action, server, backend.pid)  # workers inherit the server's priority

    build = Table(f"PostgreSQL {run('SHOW server_version')[0]}: a filter of {KEYS:,} URLs, 1%, by the clock")
    make = f"SELECT umbel_agg(url, {KEYS}, 0.01) FROM keys"
    build.line("SELECT count(url)", clock(lambda: run("SELECT count(url) FROM keys")))
    workers = []
    for n, name in enumerate(("one process", "one worker", "two workers")):
        run(f"SET max_parallel_workers_per_gather = {n}")
        workers.append(clock(lambda: run(make)))
        build.line(f"umbel_agg, {name}", workers[-1])
    faster = workers[0] / workers[2]
    bars.append(("two workers build at least 1.6 times as fast", faster, faster >= 1.6))
    run(f"CREATE TABLE parallel AS SELECT umbel_agg(url, {KEYS}, 0.01) AS v FROM keys")
    run("SET max_parallel_workers_per_gather = 0")
    run(f"CREATE TABLE f AS SELECT umbel_agg(url, {KEYS}, 0.01) AS v FROM keys")
    run("CREATE TABLE small AS SELECT umbel_agg(url, 50000, 0.01) AS v FROM (SELECT url FROM keys LIMIT 50000) x")
    same = run("SELECT f.v = parallel.v FROM f, parallel")[0]
    bars.append(("parallel = serial", same, same))
    build.line("umbel_build_agg, static", clock(lambda: run("SELECT umbel_build_agg(url, 0.01) FROM keys")))
    print(f"  the filter: {size('length(v::bytea) FROM f')}")

    ask = Table(f"{ROWS:,} absent URLs")
    run("PREPARE many AS SELECT count(*) FROM asked, f WHERE umbel_contains(v, url)")
    forms = [("bare scan: length(url) > 0", "SELECT count(*) FROM asked WHERE length(url) > 0"),
             ("bare scan: url <> ''", "SELECT count(*) FROM asked WHERE url <> ''"),
             ("bare scan: count(*)", "SELECT count(*) FROM asked"),
             ("url <@ (SELECT v FROM f)", "SELECT count(*) FROM asked WHERE url <@ (SELECT v FROM f)"),
             ("the same, 50,000 keys", "SELECT count(*) FROM asked WHERE url <@ (SELECT v FROM small)"),
             ("bare join: FROM asked, nothing WHERE url <> v", "SELECT count(*) FROM asked, nothing WHERE url <> v"),
             ("FROM asked, f WHERE url <@ v", "SELECT count(*) FROM asked, f WHERE url <@ v"),
             ("the same, prepared", "EXECUTE many")]
    times = backend.medians(*[lambda query=query: run(query) for _, query in forms])
    ratios = [ask.line(name, ms) for (name, _), ms in zip(forms, times)]
    bars.append(("a lookup at most 1.3 times the bare scan", ratios[3], ratios[3] <= 1.3))
    bars.append(("the same in a filter that fits the cache", ratios[4], ratios[4] <= 1.3))
    run("PREPARE single(text) AS SELECT $1 <@ v FROM f")
    run("EXECUTE single('a')")

    def thousand():
        for i in range(1000):
            run(f"EXECUTE single('{i}')")
    print(f"  {'one key per prepared statement':58} {clock(thousand):9.0f} us each, the client included", flush=True)
    start = time.perf_counter()
    run("CREATE INDEX keys_hash ON keys USING hash (url)")
    hashed = f"index: {time.perf_counter() - start:.0f} s, {index_size('keys_hash')}"
    ask.line("url IN (SELECT url FROM keys)",
             backend.median(lambda: run("SELECT count(*) FROM asked WHERE url IN (SELECT url FROM keys)")))
    run("SET enable_hashjoin = off; SET enable_mergejoin = off")
    exists = "SELECT count(*) FROM asked a WHERE EXISTS (SELECT FROM keys k WHERE k.url = a.url)"
    ask.line("EXISTS over a hash index", backend.median(lambda: run(exists)), hashed)
    run("RESET enable_hashjoin; RESET enable_mergejoin; DROP INDEX keys_hash")
    start = time.perf_counter()
    run("CREATE INDEX keys_bloom ON keys USING bloom (url)")
    made = f"index: {time.perf_counter() - start:.0f} s, {index_size('keys_bloom')}"
    run("SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off")
    few = "SELECT count(*) FROM (SELECT url FROM asked LIMIT 20) a WHERE EXISTS (SELECT FROM keys k WHERE k.url = a.url)"
    ask.line("EXISTS over contrib/bloom, from 20 rows", backend.median(lambda: run(few)) * ROWS / 20, made)
    return bars


def sqlite():
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension(str(ROOT / "build" / "sqlite" / "umbel"))

    def run(query, *values):
        return db.execute(query, values).fetchone()

    series = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c LIMIT {}) SELECT '{}' || i AS url FROM c"
    run("CREATE TABLE keys AS " + series.format(ROWS, "https://example.org/page/"))
    run("CREATE TABLE asked AS " + series.format(ROWS, "https://example.com/none/"))
    build = Table(f"SQLite {sqlite3.sqlite_version}: a filter for {KEYS:,} URLs, 1%, of {ROWS:,}")
    build.line("SELECT count(length(url))", median(lambda: run("SELECT count(length(url)) FROM keys")))
    make = f"SELECT umbel(url, {KEYS}, 0.01) FROM keys"
    build.line("umbel(url, n, p)", median(lambda: run(make)))
    run(f"CREATE TABLE f AS SELECT umbel(url, {KEYS}, 0.01) AS v FROM keys")
    run("CREATE TABLE small AS SELECT umbel(url, 50000, 0.01) AS v FROM (SELECT url FROM keys LIMIT 50000)")
    blob = run("SELECT v FROM f")[0]
    path = ROOT / "build" / "sqlite" / "bench.umb"
    path.write_bytes(blob)
    ask = Table(f"{ROWS:,} absent URLs in a filter of {len(blob) / 1e6:.1f} MB")
    forms = [("bare scan: length(url) > 0", "SELECT count(*) FROM asked WHERE length(url) > 0", ()),
             ("bare scan: url < 'i'", "SELECT count(*) FROM asked WHERE url < 'i'", ()),
             ("umbel_contains((SELECT umbel_decode(v) FROM f), url)",
              "SELECT count(*) FROM asked WHERE umbel_contains((SELECT umbel_decode(v) FROM f), url)", ()),
             ("the same, 50,000 keys",
              "SELECT count(*) FROM asked WHERE umbel_contains((SELECT umbel_decode(v) FROM small), url)", ()),
             ("umbel_contains(?, url)", "SELECT count(*) FROM asked WHERE umbel_contains(?, url)", (blob,)),
             ("umbel_contains(umbel_open('file'), url)",
              "SELECT count(*) FROM asked WHERE umbel_contains(umbel_open(?), url)", (str(path),)),
             ("url IN (SELECT url FROM keys)", "SELECT count(*) FROM asked WHERE url IN (SELECT url FROM keys)", ())]
    here = Process(os.getpid())
    times = here.medians(*[lambda f=f: run(f[1], *f[2]) for f in forms])
    times = [ask.line(form[0], ms) for form, ms in zip(forms, times)]
    few = "SELECT count(*) FROM (SELECT url FROM asked LIMIT 200) WHERE {}"
    ask.line("umbel_contains((SELECT v FROM f), url), from 200 rows",
             here.median(lambda: run(few.format("umbel_contains((SELECT v FROM f), url)"))) * ROWS / 200)
    ask.line("substr((SELECT v FROM f), 1, 1) < url, from 200 rows",
             here.median(lambda: run(few.format("substr((SELECT v FROM f), 1, 1) < url"))) * ROWS / 200,
             "SQLite copies the blob for each row")
    path.unlink()
    return [("SQLite, pointer: at most 1.5 times the bare scan", times[2], times[2] <= 1.5),
            ("the same in a filter that fits the cache", times[3], times[3] <= 1.5)]


def main():
    bars = postgres() + sqlite()
    print(f"\n{circumstances()}")
    for name, value, kept in bars:
        print(f"  {'kept' if kept else 'MISSED':7} {name}: {value if isinstance(value, bool) else round(value, 2)}")


main()
