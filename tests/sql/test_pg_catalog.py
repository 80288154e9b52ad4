# SPDX-License-Identifier: MIT
"""What PostgreSQL's own catalogues say of the extension, and the operations that look things up there."""
import time

from conftest import new_cluster

MEMBERS = """
SELECT pg_describe_object(classid, objid, 0) AS what, classid::regclass::text AS kind, objid
  FROM pg_depend WHERE deptype = 'e' AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'umbel')
"""


def test_every_function_is_marked_for_parallel_plans(db):
    unsafe = db(f"SELECT what, proparallel FROM ({MEMBERS}) m JOIN pg_proc p ON p.oid = m.objid "
                "WHERE m.kind = 'pg_proc' AND proparallel <> 's'")
    assert unsafe == []
    assert db.one(f"SELECT count(*) FROM ({MEMBERS}) m WHERE kind = 'pg_proc'") > 70


def test_everything_that_people_can_name_has_a_comment(db):
    silent = db(f"""SELECT what FROM ({MEMBERS}) m WHERE kind IN ('pg_proc', 'pg_type', 'pg_operator')
                    AND what !~ '\\[\\]$' AND obj_description(objid, kind) IS NULL""")
    assert [row[0] for row in silent] == []


def test_filters_are_grouped_joined_and_sorted(db):
    db("""CREATE TABLE f AS SELECT i, umbel_agg((i / 2)::text, 100, 0.01) AS v FROM generate_series(0, 5) i
          GROUP BY i""")
    assert db.one("SELECT count(DISTINCT v) FROM f") == 3
    assert db("SELECT count(*) FROM f GROUP BY v") == [(2,)] * 3
    assert db.one("SELECT count(*) FROM (SELECT v FROM f UNION SELECT v FROM f) x") == 3
    assert db.one("SELECT count(*) FROM (SELECT v FROM f EXCEPT SELECT v FROM f WHERE i < 2) x") == 2
    for off in ("hashjoin", "mergejoin"):
        db(f"SET enable_nestloop = off; SET enable_{off} = off")
        assert db.one("SELECT count(*) FROM f a JOIN f b USING (v)") == 12
        db("RESET ALL")
    assert db("SELECT v FROM f ORDER BY v") == db("SELECT v FROM f ORDER BY v::bytea")
    db("CREATE INDEX ON f USING hash (v); SET enable_seqscan = off")
    assert db.one("SELECT count(*) FROM f WHERE v = (SELECT v FROM f WHERE i = 3)") == 2


def test_equal_means_the_same_file_and_same_bits_means_the_same_answers(db):
    """A set that was merged with itself has the bits that it had, though its count of additions differs."""
    db("CREATE TABLE f AS SELECT umbel_agg(i::text, 1000, 0.01) AS v FROM generate_series(1, 500) i")
    assert db("SELECT v = v, v <> v, umbel_same_bits(v, v), umbel_same_bits(v, umbel_union(v, v)) FROM f") \
        == [(True, False, True, True)]
    assert db("SELECT umbel_same_bits(v, umbel_add_key(v, 'new')), v = umbel_add_key(v, 'new') FROM f") \
        == [(False, False)]


def test_a_key_is_added_in_sql(db):
    db("""CREATE TABLE f AS SELECT umbel_agg('a'::text, 100, 1e-6) AS t, umbel_agg(1, 100, 1e-6) AS n,
          umbel_agg('\\x01'::bytea, 100, 1e-6) AS b, umbel_agg(gen_random_uuid(), 100, 1e-6) AS u,
          umbel_agg('a.example'::text, 100, 1e-6, umbel_with(recipe => 'domain')) AS d,
          umbel_build_agg('a'::text, 0.01) AS s""")
    db("""UPDATE f SET t = umbel_add_key(t, 'b'), n = umbel_add_key(n, 2), b = umbel_add_key(b, '\\x02'::bytea),
          u = umbel_add_key(u, '00000000-0000-0000-0000-000000000001'::uuid), d = umbel_add_key(d, 'B.example.')""")
    assert db("""SELECT 'a' <@ t, 'b' <@ t, 'c' <@ t, 1 <@ n, 2 <@ n, 3 <@ n, '\\x02'::bytea <@ b,
                 '00000000-0000-0000-0000-000000000001'::uuid <@ u, 'www.b.example' <@ d FROM f""") \
        == [(True, True, False, True, True, False, True, True, True)]
    assert db.one("SELECT (umbel_info(umbel_add_key(t, 'd'))).keys > (umbel_info(t)).keys FROM f")
    db("""CREATE FUNCTION why(statement text) RETURNS text LANGUAGE plpgsql AS $$
          BEGIN EXECUTE statement; RETURN 'no error'; EXCEPTION WHEN OTHERS THEN RETURN sqlerrm; END $$""")
    assert db.one("SELECT why('SELECT umbel_add_key(s, ''b'') FROM f')") not in ("no error", "")
    assert "type integer" in db.one("SELECT why('SELECT umbel_add_key(t, 7) FROM f')")


def test_unknown_promises_are_null_and_nothing_else_is(db):
    by_size = "umbel_agg('a'::text, NULL, NULL, umbel_with(kind => 'classic', bytes => 4096, hashes => 4))"
    assert db(f"SELECT kind, recipe, capacity, fpr FROM (SELECT (umbel_info({by_size})).*) i") \
        == [("classic", "line", None, None)]
    assert db("SELECT recipe, capacity, fpr FROM (SELECT (umbel_info(umbel_agg('a'::text, 100, 0.01))).*) i") \
        == [("line", 100, 0.01)]


def test_logical_replication_finds_rows_by_their_whole_value(connect):
    """REPLICA IDENTITY FULL compares every column by its type's equality; without one the worker stops."""
    logical = ["wal_level=logical"]
    source, target = new_cluster(logical), new_cluster(logical)
    try:
        here, there = connect(source), connect(target)
        for db in (here, there):
            db("CREATE TABLE seen (day int, urls umbel)")
        here("ALTER TABLE seen REPLICA IDENTITY FULL; CREATE PUBLICATION seen FOR TABLE seen")
        here("""INSERT INTO seen SELECT i % 3, umbel_agg('u' || i, 1000, 0.001)
                FROM generate_series(1, 300) i GROUP BY 1""")
        name = here.one("SELECT current_database()")
        there(f"""CREATE SUBSCRIPTION seen CONNECTION 'host={source.socket} user=postgres dbname={name}'
                  PUBLICATION seen""")
        digest = "SELECT md5(string_agg(day || md5(urls::bytea), ' ' ORDER BY day)) FROM seen"

        def caught_up():
            """A minute is for what hangs."""
            for _ in range(600):
                if here.one(digest) == there.one(digest):
                    return True
                time.sleep(0.1)
            return False

        assert caught_up()
        here("UPDATE seen SET urls = umbel_add_key(urls, 'late') WHERE day = 1; DELETE FROM seen WHERE day = 2")
        assert caught_up(), target.log.read_text()[-2000:]
        assert there("SELECT day, 'late' <@ urls FROM seen ORDER BY day") == [(0, False), (1, True)]
        there("DROP SUBSCRIPTION seen")
    finally:
        target.stop()
        source.stop()


def test_nothing_needs_the_search_path(db):
    """In a schema of its own, in sessions that do not look there, and after it moved to another schema."""
    db("DROP EXTENSION umbel; CREATE SCHEMA ext; CREATE SCHEMA other; CREATE EXTENSION umbel SCHEMA ext")
    db("CREATE ROLE plain_user; GRANT USAGE ON SCHEMA ext, other TO plain_user; SET search_path = ''")
    for schema in ("ext", "other"):
        db("SET ROLE plain_user")
        made = f"{schema}.umbel_agg(i, 100, 1e-6, {schema}.umbel_with(kind => 'line', seed => i / 1000)) AS f"
        made = f"(SELECT i % 2 AS g, {made} FROM pg_catalog.generate_series(1, 100) i GROUP BY 1) x"
        assert db(f"SELECT g, 7 OPERATOR({schema}.<@) f, ({schema}.umbel_info(f)).seed FROM {made} ORDER BY g") \
            == [(0, False, 0), (1, True, 0)]
        assert db.one(f"SELECT count(DISTINCT f) FROM {made}") == 2
        assert len(db(f"SELECT f FROM {made} UNION SELECT f FROM {made}")) == 2
        assert db.one(f"SELECT ({schema}.umbel_info({schema}.umbel_union(f))).keys FROM {made}") == 100
        assert db.one(f"SELECT {schema}.umbel_count({schema}.umbel_add_key(f, 900), 900) FROM {made} LIMIT 1") == 1
        db(f"RESET ROLE; ALTER EXTENSION umbel SET SCHEMA {'other' if schema == 'ext' else 'ext'}")
    db("REVOKE ALL ON SCHEMA ext, other FROM plain_user; DROP ROLE plain_user")
