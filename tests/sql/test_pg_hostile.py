# SPDX-License-Identifier: MIT
"""Hostile values, failing and cancelled queries: errors, a server that is alive, nothing leaked."""
import contextlib
import threading
import time
from pathlib import Path

import psycopg2
import pytest

from conftest import CORPORA, ROOT, inputs_of, new_cluster

ROUNDS = 10000
# Every way to use a value, whose result does not matter.
USES = """SELECT 'a' <@ f, f @> 7, umbel_count(f, 'b'), (umbel_info(f)).rate, f = f, f::text::umbel = f
            FROM (SELECT %s::bytea::umbel AS f OFFSET 0) x"""
MERGES = "SELECT umbel_union(f) FROM (SELECT %s::bytea::umbel AS f FROM generate_series(1, 2)) x"
# A series in the select list is not collected first.
ENDLESS = "(SELECT generate_series(1, 1000000000) AS i) endless"
REFUSALS = {"22023", "22P02", "22P03", "0A000", "42804", "55000", "54000"}


def attempt(db, query, *values):
    """The SQLSTATE, or None; anything else is a dead server."""
    try:
        db(query, *values)
        return None
    except psycopg2.Error as error:
        assert error.pgcode and not error.pgcode.startswith("57P"), error
        return error.pgcode


@pytest.mark.parametrize("pack", CORPORA, ids=lambda p: p.stem)
def test_corpora_as_bytea(db, pack):
    seen = set()
    for data in inputs_of(pack):
        for query in (USES, MERGES):
            seen.add(attempt(db, query, psycopg2.Binary(data)))
    assert seen <= REFUSALS | {None}, seen
    if pack.stem == "decode_native":
        assert None in seen  # some of it is valid
    assert db.one("SELECT 1") == 1


def test_corpora_under_valgrind(connect, tmp_path):
    """A separate backend, with every native input; our errors are those with our file in the stack."""
    server = new_cluster()
    try:
        connect(server)("CREATE TABLE f AS SELECT umbel_agg('x'::text, 5000, 0.01) AS v")
        name = connect(server).one("SELECT current_database()")
        for database in (connect(server),):
            database.connection.close()
        server.halt()
        native = next(p for p in CORPORA if p.stem == "decode_native")
        script = ["SELECT 'x' <@ v FROM f;", "SELECT umbel_agg(i, 1000, 0.01) = umbel_agg(i, 1000, 0.01) "
                  "FROM generate_series(1, 1000) i;", "SELECT umbel_build_agg(i, 0.01)::text <> '' "
                  "FROM generate_series(1, 3000) i;"]
        for data in inputs_of(native):
            script += [(query % f"'\\x{data.hex()}'").replace("\n", " ") + ";" for query in (USES, MERGES)]
        log, output = server.backend(name, "\n".join(script) + "\n", ["valgrind", "--num-callers=30"])
        assert "umbel" in output and output.count("not an umbel file") > 20, output[-2000:]
        ours = [e for e in log.split("==\n") if "umbel.so" in e and "at 0x" in e]
        assert not ours, ours[0]
    finally:
        server.stop()


def memory(db):
    """Bytes of the session: what its contexts hold, and what the system gave it."""
    pid = db.one("SELECT pg_backend_pid()")
    status = Path(f"/proc/{pid}/status").read_text()
    resident = int(status.split("RssAnon:")[1].split()[0]) * 1024
    return int(db.one("SELECT sum(total_bytes) FROM pg_backend_memory_contexts")), resident


FAILING = [
    "SELECT umbel_agg((1 / (30 - i))::text, 5000, 0.01) FROM generate_series(1, 40) i",
    "SELECT umbel_build_agg((1 / (30 - i))::text, 0.01) FROM generate_series(1, 40) i",
    "SELECT umbel_union(v) FROM (SELECT v FROM f UNION ALL SELECT v FROM g) x",
    "SELECT 1 / (NOT 'x' <@ v)::int FROM f",
    "SELECT umbel_union(v, w) FROM (SELECT f.v, g.v FROM f, g) x(v, w)",
    "SELECT umbel_agg('a'::text, 1e11, 0.01)",
    "SELECT set_byte(v::bytea, 4200, 1)::umbel FROM f",
    "SELECT umbel_file('/no/such/file')",
]


def test_errors_leak_nothing(db):
    db("CREATE TABLE f AS SELECT umbel_agg('x'::text, 10000, 0.01) AS v;"
       "CREATE TABLE g AS SELECT umbel_agg('x'::text, 5000, 0.01) AS v")
    before = after = None
    for _ in range(3):  # what is taken once is taken in the first rounds; a leak never ends
        before = after
        for i in range(ROUNDS // 2):
            assert attempt(db, FAILING[i % len(FAILING)])
        after = memory(db)
    assert after[0] <= before[0] + 64 * 1024, (before, after)
    assert after[1] <= before[1] + 1024 * 1024, (before, after)


def test_timeouts_leak_nothing(db):
    endless = [f"SELECT umbel_agg(i, 100000, 0.01) FROM {ENDLESS}",
               f"SELECT umbel_build_agg(i, 0.01) FROM {ENDLESS}",
               f"SELECT count(*) FROM {ENDLESS} WHERE i <@ (SELECT v FROM f)"]
    db("CREATE TABLE f AS SELECT umbel_agg('x'::text, 100000, 0.01) AS v")

    def time_out(rounds):
        db("SET statement_timeout = 1")
        for i in range(rounds):
            assert attempt(db, endless[i % 3]) == "57014"
        while attempt(db, "SET statement_timeout = 0"):
            pass  # on a busy machine, this takes more than a millisecond, too
        return memory(db)

    before, after = time_out(200), time_out(ROUNDS // 5)
    assert after[0] <= before[0] + 64 * 1024, (before, after)
    assert after[1] <= before[1] + 4 * 1024 * 1024, (before, after)


def test_cancels_leak_nothing(db):
    """Queries that cancel themselves in the middle of their rows, in a loop within the server: 10,000 take seconds."""
    stop = "CASE WHEN i % 300 = 0 THEN pg_cancel_backend(pg_backend_pid())::int ELSE i END"
    cancelled = [f"umbel_agg({stop}, 5000, 0.01) FROM generate_series(1, 400) i",
                 f"umbel_build_agg({stop}, 0.01) FROM generate_series(1, 400) i",
                 f"count(*) FROM generate_series(1, 400) i WHERE ({stop}) <@ (SELECT v FROM f)",
                 f"umbel_agg(({stop})::text, 5000, 0.01, umbel_with(recipe => 'line lower')) FROM generate_series(1, 400) i"]
    tried = "".join(f"""BEGIN PERFORM {query}; EXCEPTION WHEN query_canceled THEN count := count + 1; END;
                        """ for query in cancelled)
    db("CREATE TABLE f AS SELECT umbel_agg(1, 100000, 0.01) AS v")
    db(f"""CREATE FUNCTION rounds(wanted int) RETURNS int LANGUAGE plpgsql AS $$
           DECLARE count int := 0;
           BEGIN WHILE count < wanted LOOP {tried} END LOOP; RETURN count; END $$""")
    assert db.one("SELECT rounds(200)") == 200
    before = memory(db)
    assert db.one(f"SELECT rounds({ROUNDS})") == ROUNDS
    after = memory(db)
    assert after[0] <= before[0] + 64 * 1024, (before, after)
    assert after[1] <= before[1] + 4 * 1024 * 1024, (before, after)


@contextlib.contextmanager
def cancelled_after(seconds, db, other):
    """The query in it is cancelled that long after the server began with it, when ever that is."""
    pid = db.connection.get_backend_pid()

    def cancel():
        while other.one("SELECT state FROM pg_stat_activity WHERE pid = %s", pid) != "active":
            time.sleep(0.01)
        time.sleep(seconds)
        other("SELECT pg_cancel_backend(%s)", pid)

    canceller = threading.Thread(target=cancel, daemon=True)
    canceller.start()
    yield
    canceller.join()


def test_cancelled_in_the_middle(connect):
    db, other = connect(), connect()
    with cancelled_after(0.3, db, other):
        assert attempt(db, "SELECT umbel_agg(i, 1e8, 0.01) FROM " + ENDLESS) == "57014"
    assert db.one("SELECT 1") == 1


def test_cancelled_in_parallel_workers(connect):
    db, other = connect(), connect()
    db("CREATE TABLE t AS SELECT i FROM generate_series(1, 2000000) i; ANALYZE t;"
       "SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0;"
       "SET min_parallel_table_scan_size = 0")
    for _ in range(5):
        with cancelled_after(0.1, db, other):
            assert attempt(db, "SELECT umbel_agg(a.i, 1e7, 0.01) FROM t a, t b") == "57014"
    assert db.one("SELECT count(*) FROM t WHERE i <@ (SELECT umbel_agg(i, 2e6, 0.01) FROM t)") == 2000000


def test_out_of_memory(connect):
    """A server whose processes may have 400 MB of address space, which is less than a value may have."""
    server = new_cluster(["shared_buffers=16MB"], wrapper=["prlimit", f"--as={400 << 20}"])
    try:
        db = connect(server)
        for query in ("SELECT umbel_agg(i, NULL, NULL, umbel_with(kind => 'blocked', bytes => 450 * 1048576))"
                      " FROM generate_series(1, 10) i",
                      "SELECT umbel_build_agg(i, 0.01) FROM " + ENDLESS):
            assert attempt(db, query) == "53200"
            assert db.one("SELECT 7 <@ umbel_agg(i, 10, 0.01) FROM generate_series(1, 10) i")
    finally:
        server.stop()


def test_a_value_beyond_the_cache_goes_with_the_transaction(db):
    db("SET umbel.cache_size = '1MB'")
    db("CREATE TABLE f AS SELECT d, umbel_agg(i, 1000000, 0.01) AS v"
       " FROM generate_series(1, 10) i, generate_series(1, 5) d GROUP BY d")
    assert db.one("SELECT count(*) FROM f, generate_series(1, 10) i WHERE i <@ v") == 50
    held = db.one("SELECT coalesce(sum(total_bytes), 0) FROM pg_backend_memory_contexts c"
                  " WHERE name LIKE 'umbel%%' OR to_jsonb(c) ->> 'parent' LIKE 'umbel%%'")  # 18 has no parent
    assert held < 1 << 20, held


def test_table_of_lookups(db):
    """Lines of a list and texts that are looked up, as in every other binding: a refused text is a no."""
    golden = ROOT / "tests" / "golden" / "recipes"
    listed = [line for line in (golden / "listed.txt").read_text().splitlines() if not line.startswith("#")]
    db("CREATE TABLE listed AS SELECT umbel_agg(d, 100, 1e-9, umbel_with(recipe => 'domain')) AS f FROM unnest(%s) d", listed)
    rows = [line.split("\t") for line in (golden / "lookups.tsv").read_text().splitlines()[1:]]
    assert len(rows) > 40
    for text, _, _, record, what in rows:
        asked = "" if text == "empty" else bytes.fromhex(text).decode()
        if "\0" in asked:
            continue  # no text of PostgreSQL has one
        try:
            found = db.one("SELECT f @> %s::text FROM listed", asked)
        except psycopg2.Error as error:
            assert error.pgcode == "22P02", error
            found = None
        assert bool(found) == (record == "yes"), what


def test_golden_lookups(db):
    """Filters of every recipe and texts, as in every other face; NULL, or an error, where a text has no key."""
    golden = ROOT / "tests" / "golden" / "lookups"
    rows = [line.split("\t") for line in (golden / "answers.tsv").read_text(encoding="utf-8").splitlines()[1:]]
    assert len(rows) > 50
    db("CREATE TABLE golden (name text PRIMARY KEY, f umbel)")
    for name in {row[0] for row in rows}:
        db("INSERT INTO golden VALUES (%s, %s::bytea::umbel)", name, (golden / f"{name}.umb").read_bytes())
    for name, text, _, record, _, what in rows:
        for form in "f @> %s::text", "%s::text <@ f", "umbel_contains(f, %s::text)":
            try:
                found = db.one(f"SELECT {form} FROM golden WHERE name = %s", text, name)
            except psycopg2.Error as error:
                assert error.pgcode == "22P02", error
                found = None
            assert {True: "yes", False: "no", None: "none"}[found] == record, (name, what, form)
