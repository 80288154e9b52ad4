# SPDX-License-Identifier: MIT
"""The SQLite extension, in Python's sqlite3 and in the shell."""
import json
import os
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

from conftest import CORPORA, ROOT, SQLITE, inputs_of, sanitizer


@pytest.fixture
def db():
    connection = connect()
    yield connection
    connection.close()


def connect(path=":memory:"):
    connection = sqlite3.connect(path)
    connection.enable_load_extension(True)
    connection.load_extension(str(SQLITE.with_suffix("")))
    connection.executescript("PRAGMA trusted_schema = OFF")
    return connection


def one(db, query, *values):
    ((value,),) = db.execute(query, values).fetchall()
    return value


def fill(db, count, name="k"):
    db.execute(f"CREATE TABLE {name}(i INTEGER PRIMARY KEY, t TEXT)")
    db.executemany(f"INSERT INTO {name} VALUES (?, ?)", ((i, f"line {i}") for i in range(1, count + 1)))


def lines(count):
    return "".join(f"line {i}\n" for i in range(1, count + 1)).encode()


def refusal(db, query, *values):
    with pytest.raises(sqlite3.Error) as refused:
        db.execute(query, values).fetchall()
    return str(refused.value)


def test_every_form_of_the_question(db):
    fill(db, 5000)
    db.execute("CREATE TABLE f AS SELECT umbel(t, 5000, 0.001) AS v FROM k")
    blob = one(db, "SELECT v FROM f")
    forms = [
        ("SELECT count(*) FROM k WHERE umbel_contains((SELECT v FROM f), {})", ()),
        ("SELECT count(*) FROM k, f WHERE umbel_contains(v, {})", ()),
        ("SELECT count(*) FROM f CROSS JOIN k WHERE umbel_contains(v, {})", ()),
        ("SELECT count(*) FROM k WHERE umbel_contains(?, {})", (blob,)),
        ("SELECT count(*) FROM k WHERE umbel_contains((SELECT umbel_decode(v) FROM f), {})", ()),
        ("SELECT count(*) FROM k WHERE umbel_contains((SELECT umbel(t, 5000, 0.001) FROM k), {})", ()),
        ("WITH g AS MATERIALIZED (SELECT v FROM f) SELECT count(*) FROM k, g WHERE umbel_contains(v, {})", ()),
    ]
    for form, values in forms:
        assert one(db, form.format("t"), *values) == 5000, form
        assert one(db, form.format("t || '!'"), *values) < 25, form


def test_keys_by_type(db):
    db.execute("CREATE TABLE x(v)")
    db.executemany("INSERT INTO x VALUES (?)", [(7,), ("7",), (b"7",), (None,), (-1,)])
    f = one(db, "SELECT umbel(v, 100, 1e-6) FROM x WHERE typeof(v) = 'integer'")
    assert one(db, "SELECT umbel_contains(?, 7)", f) == 1
    assert one(db, "SELECT recipe FROM umbel_info(?)", f) == "line type=int64"
    assert one(db, "SELECT umbel_contains(?, '7')", f) == 1  # what a program binds as text
    assert "not a valid int64" in refusal(db, "SELECT umbel_contains(?, 'seven')", f)
    assert one(db, "SELECT umbel_contains(?, x'0700000000000000')", f) == 1
    assert one(db, "SELECT umbel_contains(?, x'ffffffffffffffff')", f) == 1
    text = one(db, "SELECT umbel(v, 100, 1e-6) FROM x WHERE typeof(v) = 'text'")
    assert one(db, "SELECT umbel_contains(?, x'37')", text) == 1
    # An integer would be another key than the text that prints the same: not a "no", but an error.
    assert "CAST(key AS TEXT)" in refusal(db, "SELECT umbel_contains(?, 7)", text)
    assert one(db, "SELECT umbel_contains(?, CAST(7 AS TEXT))", text) == 1
    for call in ("umbel(v, 100, 1e-6)", "umbel_build(v, 1e-6)"):
        mixed = f"SELECT {call} FROM (SELECT v FROM x WHERE typeof(v) IN ('integer', 'text') ORDER BY typeof(v) = 'integer')"
        assert "CAST(key AS TEXT)" in refusal(db, mixed)
        f = one(db, f"SELECT {call} FROM (SELECT v FROM x WHERE typeof(v) IN ('integer', 'text') ORDER BY typeof(v))")
        assert one(db, "SELECT keys FROM umbel_info(?)", f) == 2  # 7 and '7' are one key, and -1
    assert one(db, "SELECT umbel_contains(?, NULL)", text) is None
    blob = one(db, "SELECT umbel(v, 100, 1e-6) FROM x WHERE typeof(v) = 'blob'")
    assert one(db, "SELECT recipe FROM umbel_info(?)", blob) == "line type=bytea"
    for key in (b"7", "7", r"\x37", r"\067"):  # texts as PostgreSQL reads bytea
        assert one(db, "SELECT umbel_contains(?, ?)", blob, key) == 1
    assert "key" in refusal(db, "SELECT umbel_contains(?, 1.5)", text)
    assert one(db, "SELECT umbel(v, 10, 0.1) FROM x WHERE 0") is None
    assert one(db, "SELECT keys FROM umbel_info((SELECT umbel(NULL, 10, 0.1) FROM x))") == 0


def test_files_of_the_command(db, umbel, tmp_path):
    fill(db, 20000)
    ours, theirs = tmp_path / "ours.umb", tmp_path / "theirs.umb"
    ours.write_bytes(one(db, "SELECT umbel(t, 20000, 0.01) FROM k"))
    umbel("build", "-q", "-n", 20000, "-p", "1%", "-o", theirs, stdin=lines(20000))
    assert b"equal" in umbel("cmp", ours, theirs)
    assert umbel("check", "-c", ours, stdin=lines(20000)).strip() == b"20000"
    ask = "SELECT count(*) FROM k WHERE umbel_contains(umbel_open(?), t)"
    assert one(db, ask, str(theirs)) == 20000
    assert "No such file" in refusal(db, ask, str(tmp_path / "none"))
    # SQLite makes a pointer that goes through a table NULL.
    assert one(db, "WITH g AS MATERIALIZED (SELECT umbel_open(?) AS v) SELECT umbel_contains(v, 'line 1') FROM g",
               str(ours)) is None


def test_kinds_and_options(db):
    fill(db, 3000)
    for kind in ("blocked", "classic", "counting", "line", "scalable", "window"):
        f = one(db, f"SELECT umbel(t, 3000, 0.001, 'kind={kind}', 'seed=7') FROM k")
        assert one(db, "SELECT count(*) FROM k WHERE umbel_contains(?, t)", f) == 3000
        assert db.execute("SELECT kind, seed FROM umbel_info(?)", (f,)).fetchall() == [(kind, 7)]
    for kind in ("static", "tight"):
        f = one(db, f"SELECT umbel_build(t, 0.001, 'kind={kind}') FROM k")
        assert one(db, "SELECT count(*) FROM k WHERE umbel_contains(?, t)", f) == 3000
        assert db.execute("SELECT kind, keys FROM umbel_info(?)", (f,)).fetchall() == [(kind, 3000)]
        assert refusal(db, f"SELECT umbel(t, 3000, 0.001, 'kind={kind}') FROM k") \
            == "kind: is built once, from all the keys: umbel_build(key, fpr)"
    c = one(db, "SELECT umbel(t, 10, 1e-6, 'kind=counting') FROM (SELECT 'a' AS t UNION ALL SELECT 'b' "
                "UNION ALL SELECT 'b')")
    assert db.execute("SELECT umbel_count(?1, 'a'), umbel_count(?1, 'b'), umbel_count(?1, 'c')",
                      (c,)).fetchall() == [(1, 2, 0)]
    for wrong in ("kind=heap", "colour=red", "seed=x", "bytes", "secret"):
        assert wrong in refusal(db, f"SELECT umbel(t, 10, 0.1, '{wrong}') FROM k")
    for wrong in ("0, 0.1", "10, 1.5", "-3, 0.1", "10.5, 0.1", "10", "NULL, NULL"):
        assert refusal(db, f"SELECT umbel(t, {wrong}) FROM k")


def test_union(db):
    fill(db, 3000)
    parts = "(SELECT umbel(t, 3000, 0.01) AS v FROM k GROUP BY i % 7)"
    united = one(db, f"SELECT umbel_union(v) FROM {parts}")
    assert one(db, "SELECT count(*) FROM k WHERE umbel_contains(?, t)", united) == 3000
    assert "seeds differ" in refusal(
        db, f"SELECT umbel_union(v) FROM (SELECT v FROM {parts} UNION ALL "
            "SELECT umbel(t, 3000, 0.01, 'seed=1') FROM k)")


def test_recipes(db):
    db.execute("CREATE TABLE d(n TEXT)")
    db.executemany("INSERT INTO d VALUES (?)", [("Ads.Example.",), ("tracker.test",)])
    f = one(db, "SELECT umbel(n, 100, 0.0001, 'recipe=domain') FROM d")
    assert one(db, "SELECT recipe FROM umbel_info(?)", f) == "domain"
    for name, found in (("ads.example", 1), ("www.ADS.example", 1), ("example", 0)):
        assert one(db, "SELECT umbel_contains(?, ?)", f, name) == found
        assert one(db, "SELECT umbel_contains(umbel_decode(?), ?)", f, name) == found
    j = one(db, "SELECT umbel_build(column1, 0.0001, 'recipe=json=.mail') FROM (VALUES ('{\"mail\":\"a@b\"}'), ('{}'))")
    assert db.execute("SELECT recipe, keys FROM umbel_info(?)", (j,)).fetchall() == [("json=.mail", 1)]
    assert one(db, "SELECT umbel_contains(?, '{\"mail\":\"a@b\"}')", j) == 1
    assert one(db, "SELECT umbel_contains(?, x'614062')", j) == 1  # the key itself
    assert one(db, "SELECT umbel_contains(?, '{}')", j) is None
    assert "not JSON" in refusal(db, "SELECT umbel_contains(?, 'text')", j)
    assert "recipe: the filters make keys" in refusal(
        db, "SELECT umbel_union(column1) FROM (VALUES (?), ((SELECT umbel(n, 100, 0.0001) FROM d)))", f)
    for wrong in ("recipe=colour=red", "recipe=column=user", "recipe="):
        for call in ("umbel(n, 100, 0.01, ?)", "umbel_build(n, 0.01, ?)"):
            assert refusal(db, f"SELECT {call} FROM d", wrong)
    # Malformed rows are an error, not a gap.
    assert "not a valid int64" in refusal(db, "SELECT umbel(n, 10, 0.1, 'recipe=line type=int64') FROM d")


def test_tables(db):
    assert db.execute("SELECT kind, bytes FROM umbel_plan(2e9, 0.01)").fetchall() == [("line", 2524979200)]
    assert db.execute("SELECT capacity FROM umbel_plan WHERE p = 0.01 AND room = 1048576").fetchall() == [(795047,)]
    assert db.execute("SELECT kind FROM umbel_plan(1e6, 0.001, NULL, 'tight')").fetchall() == [("tight",)]
    fill(db, 100)
    db.execute("CREATE TABLE f AS SELECT i % 4 AS d, umbel(t, 100, 0.01) AS v FROM k GROUP BY d")
    assert db.execute("SELECT f.d, round(keys) FROM f, umbel_info(f.v)").fetchall() == [
        (0, 25), (1, 25), (2, 25), (3, 25)]
    for wrong in ("umbel_plan(10)", "umbel_plan(-1, 0.1)", "umbel_plan(10, 0.1, NULL, 'heap')", "umbel_info",
                  "umbel_info(x'00')"):
        assert refusal(db, f"SELECT * FROM {wrong}")


def test_null_in_gives_null_out(db):
    fill(db, 10)
    for call in ("umbel_contains(NULL, t)", "umbel_contains(NULL, NULL)", "umbel_contains(umbel_decode(NULL), t)",
                 "umbel_count(NULL, t)", "umbel_contains(umbel_open(NULL), t)", "umbel_decode(NULL)"):
        assert db.execute(f"SELECT {call} FROM k LIMIT 1").fetchall() == [(None,)], call
    f = one(db, "SELECT umbel(t, 10, 0.01) FROM k")
    assert db.execute("SELECT umbel_contains(?1, NULL), umbel_count(?1, NULL)", (f,)).fetchall() == [(None, None)]
    assert one(db, "SELECT umbel_contains(umbel_decode(?), 'line 1')", f) == 1  # a pointer is no NULL
    assert one(db, "SELECT umbel_union(v) IS NULL FROM (SELECT NULL AS v)") == 1
    assert one(db, "SELECT umbel_contains(umbel_union(column1), 'line 1') FROM (VALUES (NULL), (?))", f) == 1
    # A table with a filter for some rows only: the others are not lost, as in PostgreSQL.
    db.execute("CREATE TABLE some(d, v)")
    db.execute("INSERT INTO some VALUES (1, ?), (2, NULL)", (f,))
    assert db.execute("SELECT d, kind FROM some, umbel_info(v) ORDER BY d").fetchall() == [(1, "blocked"), (2, None)]


def test_values_as_texts_have_the_recipes_of_postgresql(db):
    """SQLite has no types for them; a recipe says what the texts are.  tests/golden/recipes has their keys."""
    rows = [line.split("\t") for line in (ROOT / "tests/golden/recipes/meanings.tsv").read_text().splitlines()[1:]]
    tried = 0
    for recipe, use, _, text, state, key, _ in rows:
        asked = "" if text == "empty" else bytes.fromhex(text).decode(errors="surrogateescape")
        if not recipe.startswith("line type=") or use != "record" or not asked.isascii() or "\0" in asked:
            continue
        call = "SELECT umbel(?, 10, 1e-9, ?)"
        if state == "malformed":
            assert "not" in refusal(db, call, asked, f"recipe={recipe}")
        else:
            f = one(db, call, asked, f"recipe={recipe}")
            assert db.execute("SELECT umbel_contains(?1, ?2), umbel_contains(?1, ?3)",
                              (f, asked, b"" if key == "empty" else bytes.fromhex(key))).fetchall() == [(1, 1)]
        tried += 1
    assert tried > 300


def test_secrets(db):
    fill(db, 1000)
    assert "secret" in refusal(db, "SELECT umbel_secret('password')")
    db.execute("SELECT umbel_secret(?)", (bytes(range(16)),)).fetchall()
    f = one(db, "SELECT umbel(t, 1000, 0.001, 'secret') FROM k")
    assert one(db, "SELECT count(*) FROM k WHERE umbel_contains(?, t)", f) == 1000
    other = connect()
    assert "secret" in refusal(other, "SELECT umbel_contains(?, 'a')", f)
    other.execute("SELECT umbel_secret(?)", (bytes(16),)).fetchall()
    assert "secret" in refusal(other, "SELECT umbel_contains(?, 'a')", f)
    other.execute("SELECT umbel_secret(?)", (bytes(range(16)),)).fetchall()
    assert one(other, "SELECT umbel_contains(?, 'line 1')", f) == 1
    other.close()


def test_files_are_for_the_program_only(db, tmp_path):
    """A database that somebody sent may not open files through its views and triggers."""
    db.execute("CREATE VIEW spy AS SELECT umbel_contains(umbel_open('/etc/passwd'), 'a')")
    assert "unsafe use of umbel_open" in refusal(db, "SELECT * FROM spy")
    db.execute("CREATE TEMP TABLE t(x)")
    db.execute("CREATE VIEW fine AS SELECT umbel_contains((SELECT umbel('a', 10, 0.1)), 'a')")
    assert one(db, "SELECT * FROM fine") == 1


def test_limit_before_the_work(db):
    fill(db, 10)
    assert "12637634560" in refusal(db, "SELECT umbel(t, 1e10, 0.01) FROM k")
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 3 << 20)
    assert "more than a blob may have" in refusal(db, "SELECT umbel(t, 1e7, 0.01) FROM k")
    assert one(db, "SELECT length(umbel(t, 1e5, 0.01)) FROM k") > 100000


@pytest.mark.parametrize("pack", CORPORA, ids=lambda p: p.stem)
def test_corpora_as_blobs(db, pack):
    accepted = 0
    for data in inputs_of(pack):
        for query in ("SELECT umbel_contains(?1, 'a'), umbel_count(?1, 7), umbel_contains(umbel_decode(?1), 'b')",
                      "SELECT * FROM umbel_info(?1)", "SELECT umbel_union(?1) FROM (VALUES (1), (2))"):
            try:
                db.execute(query, (data,)).fetchall()
                accepted += 1
            except sqlite3.Error:
                pass
    assert accepted or pack.stem != "decode_native"
    assert one(db, "SELECT umbel_contains((SELECT umbel('a', 10, 0.1)), 'a')") == 1


def test_no_filter_is_taken_for_another(db):
    """More filters of one size than a connection keeps, asked in turns."""
    fill(db, 2000)
    filters = [one(db, "SELECT umbel(t, 2000, 0.0001) FROM k WHERE i % 20 = ?", i) for i in range(20)]
    for _ in range(3):
        for i, f in enumerate(filters):
            assert one(db, "SELECT count(*) FROM k WHERE umbel_contains(?, t)", f) in range(100, 103), i


def test_damage_is_seen(db):
    fill(db, 2000)
    good = one(db, "SELECT umbel(t, 2000, 0.0001) FROM k")
    for at in (0, 20, 5000, len(good) - 1):
        bad = bytearray(good)
        bad[at] ^= 1
        assert refusal(connect(), "SELECT umbel_contains(?, 'line 1')", bytes(bad))


def test_a_hole_in_a_file(db, umbel, tmp_path):
    """Zeros in the middle of a mapped file: an error, never a wrong "no"."""
    fill(db, 20000)
    path = tmp_path / "hole.umb"
    umbel("build", "-q", "-n", 2000000, "-p", "0.01%", "-o", path, stdin=lines(20000))
    ask = "SELECT count(*) FROM k WHERE umbel_contains(umbel_open(?), t)"
    assert one(db, ask, str(path)) == 20000
    with open(path, "r+b") as file:
        file.seek(path.stat().st_size // 2)
        file.write(bytes(1 << 20))
    assert "payload checksum" in refusal(db, ask, str(path))
    assert "payload checksum" in refusal(db, ask.replace("umbel_contains", "umbel_count"), str(path))


def resident():
    return int(Path("/proc/self/status").read_text().split("RssAnon:")[1].split()[0])


def test_errors_leak_nothing(db):
    fill(db, 40)
    f = one(db, "SELECT umbel(t, 5000, 0.01) FROM k")
    failing = ["SELECT umbel(abs(CASE i WHEN 30 THEN -9223372036854775808 ELSE i END), 5000, 0.01) FROM k",
               "SELECT umbel_build(CASE i WHEN 30 THEN 1.5 ELSE i END, 0.01) FROM k",
               "SELECT umbel_union(CASE i WHEN 30 THEN x'00' ELSE ?1 END) FROM k",
               "SELECT umbel_contains(?1 || x'00', 'a')", "SELECT umbel_decode(substr(?1, 2))",
               "SELECT umbel(t, 1e12, 0.01) FROM k", "SELECT umbel_open('/no/such/file')",
               "SELECT * FROM umbel_info(x'01')"]
    rounds = 200 if sanitizer() else 10000

    def turn(count):
        for i in range(count):
            query = failing[i % len(failing)]
            refusal(db, query, *([f] if "?1" in query else []))
    turn(1000)
    before = resident()
    turn(rounds)
    # AddressSanitizer keeps what was freed.
    assert sanitizer() or resident() - before < 4096, (before, resident())


def test_interrupted(db):
    deadline = time.monotonic() + 0.2
    db.set_progress_handler(lambda: time.monotonic() > deadline, 1000)
    endless = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT umbel(i, 1e6, 0.01) FROM c"
    assert "interrupted" in refusal(db, endless)
    db.set_progress_handler(None, 0)
    assert one(db, "SELECT umbel_contains((SELECT umbel('a', 10, 0.1)), 'a')") == 1


@pytest.mark.skipif(bool(sanitizer()), reason="times mean nothing under AddressSanitizer")
def test_decoded_once(db):
    """With the blob as a parameter, a pointer or a file: 100,000 lookups in 6 MB, not 100,000 decodings
    (which would take minutes)."""
    fill(db, 100000)
    db.execute("CREATE TABLE f AS SELECT umbel(t, 5000000, 0.01) AS v FROM k")
    start = time.process_time()  # what else the machine does takes none of it
    assert one(db, "SELECT count(*) FROM k WHERE umbel_contains((SELECT umbel_decode(v) FROM f), t)") == 100000
    assert one(db, "SELECT count(*) FROM k WHERE umbel_contains(?, t)", one(db, "SELECT v FROM f")) == 100000
    assert time.process_time() - start < 10


def test_the_shell():
    script = f""".load {SQLITE.with_suffix('')}
SELECT umbel_contains((SELECT umbel(value, 100, 0.001) FROM json_each('["ada","bob"]')), 'ada');
SELECT kind FROM umbel_plan(1e6, 0.01);
"""
    done = subprocess.run(["sqlite3", "-bail"], input=script, capture_output=True, text=True, check=False,
                          env={**os.environ, **sanitizer()})
    assert done.stdout == "1\nblocked\n", done.stderr


def test_compiled_in(tmp_path):
    """The single file, in a program that links SQLite."""
    program = tmp_path / "program.c"
    program.write_text("""
#include <sqlite3.h>
#include <stdio.h>
int sqlite3_umbel_init(sqlite3 *, char **, const sqlite3_api_routines *);
static int show(void *u, int n, char **v, char **c) { (void)u; (void)n; (void)c; return puts(v[0]) < 0; }
int main(void) {
    sqlite3 *db;
    char *error = NULL;
    sqlite3_auto_extension((void (*)(void))sqlite3_umbel_init);
    sqlite3_open(":memory:", &db);
    return sqlite3_exec(db, "SELECT umbel_contains((SELECT umbel('a', 10, 0.01)), 'a')", show, NULL, &error);
}
""")
    single = ROOT / "build" / "sqlite" / "single"
    subprocess.run(["gcc", "-DSQLITE_CORE", f"-I{single}", single / "umbel_sqlite.c", program, "-o",
                    tmp_path / "program", "-lsqlite3", "-lm", "-lpthread"], check=True)
    assert subprocess.check_output([tmp_path / "program"], text=True) == "1\n"


def test_table_of_lookups(db):
    """Lines of a list and texts that are looked up, as in every other binding: a refused text is a no."""
    golden = ROOT / "tests" / "golden" / "recipes"
    listed = [line for line in (golden / "listed.txt").read_text().splitlines() if not line.startswith("#")]
    blob = one(db, f"SELECT umbel(value, 100, 1e-9, 'recipe=domain') FROM json_each('{json.dumps(listed)}')")
    rows = [line.split("\t") for line in (golden / "lookups.tsv").read_text().splitlines()[1:]]
    assert len(rows) > 40
    for text, _, _, record, what in rows:
        asked = "" if text == "empty" else bytes.fromhex(text).decode()
        try:
            found = one(db, "SELECT umbel_contains(?, ?)", blob, asked)
        except sqlite3.Error as error:
            assert "not a domain name" in str(error), error
            found = None
        assert bool(found) == (record == "yes"), what


def test_golden_lookups(db):
    """Filters of every recipe and texts, as in every other face; NULL, or an error, where a text has no key."""
    golden = ROOT / "tests" / "golden" / "lookups"
    rows = [line.split("\t") for line in (golden / "answers.tsv").read_text(encoding="utf-8").splitlines()[1:]]
    assert len(rows) > 50
    for name, text, _, record, _, what in rows:
        file = golden / f"{name}.umb"
        for form, value in ("?", file.read_bytes()), ("umbel_decode(?)", file.read_bytes()), ("umbel_open(?)", str(file)):
            try:
                found = one(db, f"SELECT umbel_contains({form}, ?)", value, text)
            except sqlite3.Error as error:
                assert "key: not " in str(error), error
                found = None
            assert {1: "yes", 0: "no", None: "none"}[found] == record, (name, what, form)
