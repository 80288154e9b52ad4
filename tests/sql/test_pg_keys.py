# SPDX-License-Identifier: MIT
"""Texts as keys of other types: PostgreSQL's own parsers say what a text means."""
import random

import psycopg2
import pytest

import test_sqlite

SHAPES = {"uuid": ("0123456789abcdefABCDEF", "{}-g "), "bytea": ("0123456789abcdef\\\\x", "xyz \t\\'é")}


def texts(kind, n):
    """Valid ones, and some that a slip or two made of them."""
    chance = random.Random(7)
    plain, odd = SHAPES[kind]
    for i in range(n):
        if kind == "uuid":
            digits = "".join(chance.choices(plain, k=32))
            groups = [digits[at:at + 4] for at in range(0, 32, 4)]
            text = groups[0] + "".join(chance.choice(("", "-")) + g for g in groups[1:])
            text = "{" + text + "}" if chance.random() < 0.3 else text
        else:
            raw = bytes(chance.choices(range(256), k=chance.randrange(9)))
            text = "\\x" + raw.hex(" ") if i % 2 else "".join(
                f"\\{b:03o}" if b > 126 or b < 32 else "\\\\" if b == 92 else chr(b) for b in raw)
        for _ in range(chance.choice((0, 0, 1, 2))):
            at = chance.randrange(len(text) + 1)
            text = text[:at] + chance.choice(plain + odd) * chance.randrange(2) + text[at + chance.randrange(2):]
        yield text


@pytest.mark.parametrize("kind", SHAPES)
def test_a_text_means_what_it_means_to_postgresql(db, kind):
    """The filter of the value and the filter of the text through the recipe have the same bits."""
    build = (f"umbel_agg(%s::{kind}, 10, 0.01)", f"umbel_agg(%s::text, 10, 0.01, umbel_with(recipe => 'line type={kind}'))")
    valid = 0
    for text in texts(kind, 400):
        answers = []
        for form in build:
            try:
                answers.append(db.one(f"SELECT ({form})::bytea", text).tobytes())
            except psycopg2.DataError:
                answers.append(None)
        assert answers[0] == answers[1], text
        valid += answers[0] is not None
    assert 100 < valid < 390


# Of each type of docs/sql.md that has a column in PostgreSQL: what a column holds, and texts that a server takes,
# some of which mean something else under other settings.
VALUES = {
    "smallint": "(i * 7919 % 65536 - 32768)::smallint",
    "integer": "(i::bigint * 2654435761 % 4294967296 - 2147483648)::integer",
    "bigint": "i::bigint * 4611686018427387 - 4611686018427387904",
    "uuid": "md5(i::text)::uuid",
    "bytea": "substr(decode(md5(i::text), 'hex'), 1, i % 17)",
    "date": "CASE i WHEN 1 THEN 'infinity' WHEN 2 THEN '-infinity' WHEN 3 THEN '4714-11-24 BC' WHEN 4 THEN '5874897-12-31'"
            " ELSE date '4000-01-01 BC' + i * 9973 END",
    "timestamp": "CASE i WHEN 1 THEN 'infinity' WHEN 2 THEN '-infinity' WHEN 3 THEN '4714-11-24 00:00:00 BC'"
                 " WHEN 4 THEN '294246-12-31 23:59:59.999999'"
                 " ELSE timestamp '2000-01-01 BC' + i * interval '41 days 7:13:11.000007' END",
    "timestamptz": "CASE i WHEN 1 THEN 'infinity' WHEN 2 THEN '-infinity' WHEN 3 THEN '294246-12-31 23:59:59.999999+00'"
                   " ELSE timestamptz '1700-01-01 BC' + i * interval '39 days 7:13:11.25' END",
    "inet": "CASE i % 3 WHEN 0 THEN set_masklen(inet '0.0.0.0' + i::bigint * 8589869 % 4294967295, i % 33) ELSE"
            " set_masklen((regexp_replace(substr(md5(i::text), 1, 8 + i % 25), '(....)(?=.)', '\\1:', 'g')"
            " || CASE WHEN i % 25 < 21 THEN '::' ELSE '' END)::inet, i % 129) END",
    "numeric": "CASE i WHEN 1 THEN 'NaN' WHEN 2 THEN 'Infinity' WHEN 3 THEN '-Infinity' WHEN 4 THEN 1e130000"
               " WHEN 5 THEN 1e-16000 WHEN 6 THEN 0.00 ELSE trunc(random()::numeric * 10::numeric ^ (i % 40 - 20), i % 30) END",
}
TEXTS = {
    "smallint": "7,+7,007, 7,0x7,7.0,1e1", "integer": "7,-0,0b11,1_000", "bigint": "7,٧",
    "uuid": "c4ca4238a0b923820dcc509a6f75849b,C4CA4238-A0B9-2382-0DCC-509A6F75849B", "bytea": "\\x41,A,\\101,\\X41",
    "date": "2026-02-01,2026-2-1,20260201,01/02/2026,1/2/26,Feb 1 2026,2026-32,2026-02-01 BC,2026-02-01 12:30,today,epoch,"
            "2026-02-01 AD,0001-01-01,J2461073,2026.032,INFINITY,+infinity,2026-02-01T00:00",
    "timestamp": "2026-02-01 12:30,2026-02-01T12:30:05.5,2026-02-01 12:30:05+02,2026-02-01 12:30:05Z,2026-02-01,01/02/2026 12:30,"
                 "2026-02-01 24:00,2026-02-01 12:30:60,2026-02-01 12:30:05.1234565,2026-02-01 01:30 PM,20260201T123005,epoch",
    "timestamptz": "2026-02-01 12:30,2026-02-01 12:30:05Z,2026-02-01 12:30:05+02,2026-02-01 12:30:05 +0200,2026-02-01 12:30:05-03:30,"
                   "2026-02-01 12:30:05 CET,2026-02-01 12:30:05 Europe/Paris,2026-02-01,2026-02-01 12:30:05+15:59:59,"
                   "2026-02-01T12:30:05.5-00,2026-02-01 12:30:05 + 02,2026-02-01 12:30:05+020000",
    "inet": "192.0.2.1,192.0.2.1/32,192.0.2.1/24,192.0.2/24,10/8,192.0.2.01,::1,::0001,::1/128,::ffff:192.0.2.1,0x7f.1,"
            "2001:DB8::1,192.0.2.1/024,1:2:3:4:5:6:7::,::2:3:4:5:6:7:8,1::,192.0.2.1/33",
    "numeric": "1,1.0,+1,1e0,10e-1,.5,5.,-0,0e5,nan,inf,-inf,infinity,NaN,1_000,0x10, 1,1 ,00012.3400",
}
SETTINGS = ("SET DateStyle = 'ISO, MDY'", "SET DateStyle = 'SQL, DMY'", "SET DateStyle = 'German'",
            "SET TimeZone = 'Europe/Paris'; SET IntervalStyle = 'iso_8601'", "SET TimeZone = 'America/St_Johns'",
            "SET bytea_output = 'escape'")


@pytest.mark.parametrize("kind", VALUES)
def test_a_key_is_found(db, umbel, tmp_path, kind):
    """What the column holds is found as a value, as the text that the server prints for it, in a statement, as an
    untyped parameter and by the command; a value that is absent is not."""
    db("SELECT setseed(0.5)")
    db(f"CREATE TABLE k AS SELECT i, {VALUES[kind]} AS v FROM generate_series(1, 2000) i")
    assert db.one("SELECT pg_typeof(v) = %s::regtype FROM k LIMIT 1", kind)
    db("CREATE TABLE f AS SELECT umbel_agg(v, 3000, 1e-9) AS f, umbel_build_agg(v, 1e-9) AS s FROM k WHERE i % 4 > 0 OR i < 9")
    there = "i % 4 > 0 OR i < 9 OR EXISTS (SELECT FROM k o WHERE o.v = k.v AND (o.i % 4 > 0 OR o.i < 9))"
    for ask in ("v <@ f", "f @> v", "v <@ s", "v::text <@ f", "umbel_contains(f, v)", "umbel_count(f, v) > 0"):
        assert db.one(f"SELECT count(*) FROM k, f WHERE ({ask}) IS DISTINCT FROM ({there})") == 0, ask
    db("PREPARE untyped AS SELECT $1 <@ f FROM f")
    for (text,) in db("SELECT v::text FROM k WHERE i BETWEEN 1 AND 20 AND (i % 4 > 0 OR i < 9)"):
        assert db.one("SELECT %s <@ f FROM f", text) is True, text
        assert db.one(f"EXECUTE untyped('{text}')") is True, text
    recipe = db.one("SELECT (umbel_info(f)).recipe FROM f")
    assert recipe == f"line type={'int64' if 'int' in kind else kind}"
    assert db.one("SELECT umbel_same_bits(f, (SELECT umbel_agg(v::text, 3000, 1e-9, umbel_with(recipe => %s)) FROM k"
                  " WHERE i %% 4 > 0 OR i < 9)) FROM f", recipe)
    path = tmp_path / "f.umb"
    path.write_bytes(db.one("SELECT f::bytea FROM f"))
    asked = db.one("SELECT string_agg(v::text, E'\\n') FROM k")
    assert int(umbel("check", "-c", path, stdin=asked.encode())) == db.one(f"SELECT count(*) FROM k WHERE {there}")


@pytest.mark.parametrize("kind", TEXTS)
def test_a_text_is_no_wrong_no(db, kind):
    """What the server reads from a text, under any settings, is found by that text, or the text is refused."""
    refused = found = 0
    db("CREATE TABLE f (f umbel)")
    for setting in SETTINGS:
        db(setting)
        for text in TEXTS[kind].split(","):
            db("DELETE FROM f")
            try:
                db(f"INSERT INTO f SELECT umbel_agg(%s::{kind}, 10, 1e-9)", text)
            except psycopg2.DataError:
                continue
            for spelled in {text, db.one(f"SELECT %s::{kind}::text", text)}:
                try:
                    assert db.one("SELECT %s <@ f FROM f", spelled) is True, (setting, spelled)
                    found += 1
                except psycopg2.DataError as error:
                    assert error.pgcode == "22P02", error
                    refused += 1
        db("RESET ALL")
    assert found >= 6, (found, refused)


@pytest.mark.parametrize("kind", ["text", *VALUES])
def test_filters_of_sqlite_merge_with_ours(db, kind):
    """One half of the keys there, the other here: united by either, the bits of one filter of all."""
    db("SELECT setseed(0.25)")
    db(f"CREATE TABLE k AS SELECT i, {VALUES.get(kind, 'md5(i::text)')} AS v FROM generate_series(1, 1000) i")
    other = test_sqlite.connect()
    there = "v" if "int" in kind or kind in ("text", "bytea") else "v::text"
    rows = [(bytes(v) if isinstance(v, memoryview) else v,) for (v,) in db(f"SELECT {there} FROM k WHERE i % 2 = 0")]
    other.execute("CREATE TABLE k(v)")
    other.executemany("INSERT INTO k VALUES (?)", rows)
    recipe = f", 'recipe=line type={kind}'" if there == "v::text" else ""
    theirs = test_sqlite.one(other, f"SELECT umbel(v, 1000, 1e-6{recipe}) FROM k")
    ours = bytes(db.one("SELECT umbel_agg(v, 1000, 1e-6)::bytea FROM k WHERE i % 2 = 1"))
    both = test_sqlite.one(other, "SELECT umbel_union(column1) FROM (VALUES (?), (?))", ours, theirs)
    other.close()
    for united in (both, bytes(db.one("SELECT umbel_union(%s::bytea::umbel, %s::bytea::umbel)::bytea", theirs, ours))):
        assert db.one("SELECT umbel_same_bits(%s::bytea::umbel, umbel_agg(v, 1000, 1e-6)) FROM k", united)


def test_another_type_is_refused(db):
    """A key of a type that the filter does not hold is an error for every pair of types, never a "no"."""
    values = {"text": "'a'::text", "integer": "7", "numeric": "7.0", "uuid": "gen_random_uuid()", "inet": "inet '::1'",
              "date": "date '2026-01-01'", "timestamp": "timestamp '2026-01-01'", "timestamptz": "timestamptz '2026-01-01'"}
    for held, value in values.items():
        db("DROP TABLE IF EXISTS f")
        db(f"CREATE TABLE f AS SELECT umbel_agg({value}, 10, 1e-9) AS f")
        for asked, other in values.items():
            if asked in (held, "text"):
                continue
            with pytest.raises(psycopg2.DatabaseError) as refused:
                db(f"SELECT {other} <@ f FROM f")
            assert refused.value.pgcode == "42804", (held, asked)
    for none in ("1.5::float8", "true", "'{}'::json", "interval '1 day'", "time '12:00'", "'{1}'::int[]", "B'1'", "7::oid"):
        with pytest.raises(psycopg2.errors.UndefinedFunction):
            db(f"SELECT {none} <@ f FROM f")
        with pytest.raises(psycopg2.errors.UndefinedFunction):
            db(f"SELECT umbel_agg({none}, 10, 0.1)")


def test_types_that_are_texts_or_numbers(db):
    """char(n) is compared without its padding; cidr is inet; domains are what they are made of."""
    db("""CREATE DOMAIN code AS char(8); CREATE DOMAIN day AS date;
          CREATE TABLE k (c char(8), n name, v varchar(9), d code, t day, r cidr);
          INSERT INTO k VALUES ('ada', 'ada', 'ada', 'ada', '2026-01-01', '10.0.0.0/8');
          CREATE TABLE f AS SELECT umbel_agg(c, 10, 1e-9) c, umbel_agg(n, 10, 1e-9) n, umbel_agg(v, 10, 1e-9) v,
              umbel_agg(d, 10, 1e-9) d, umbel_agg(t, 10, 1e-9) t, umbel_agg(r, 10, 1e-9) r FROM k""")
    for column in "cnvdtr":
        assert db.one(f"SELECT k.{column} <@ f.{column} FROM k, f") is True, column
        assert db.one(f"SELECT %s <@ {column} FROM f", {"t": "2026-01-01", "r": "10.0.0.0/8"}.get(column, "ada"))
    assert db.one("SELECT c = n AND n = v AND v = d FROM f")
    assert db.one("SELECT inet '10.0.0.0/8' <@ r FROM f") is True


def test_what_a_driver_quotes(db):
    """psycopg2 writes values into the statement: '...' has no type, and becomes text."""
    db("CREATE TABLE k AS SELECT md5(i::text)::uuid AS u, decode(md5(i::text), 'hex') AS b FROM generate_series(1, 300) i")
    db("CREATE TABLE f AS SELECT umbel_agg(u, 300, 1e-6) AS u, umbel_agg(b, 300, 1e-6) AS b FROM k")
    for u, b in db("SELECT u::text, b::text FROM k"):
        assert db.one("SELECT %s <@ u AND %s <@ b FROM f", u, b) is True
    with pytest.raises(psycopg2.DataError, match="not a valid uuid"):
        db.one("SELECT %s <@ u FROM f", "no uuid")


def test_the_command_finds_uuids(db, umbel, tmp_path):
    path = tmp_path / "u.umb"
    path.write_bytes(db.one("SELECT umbel_agg(md5(i::text)::uuid, 300, 1e-6)::bytea FROM generate_series(1, 300) i"))
    asked = db.one("SELECT string_agg(md5(i::text)::uuid::text, E'\\n') FROM generate_series(201, 500) i")
    assert umbel("check", "-c", path, stdin=asked.encode()).strip() == b"100"
