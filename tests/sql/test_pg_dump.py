# SPDX-License-Identifier: MIT
"""What a database holds survives pg_dump and a restore, during which search_path is empty."""
import subprocess

import psycopg2
import pytest

HOLD = """
CREATE TABLE visits AS SELECT 'www' || i || '.example' AS host, i FROM generate_series(1, 2000) i;
CREATE TABLE seen AS SELECT i % 4 AS day, umbel_agg(host, 1000, 0.001, umbel_with(recipe => 'domain')) AS hosts
  FROM visits GROUP BY 1;
CREATE MATERIALIZED VIEW per_day AS SELECT i % 4 AS day,
       umbel_agg(host, 1000, 0.001, umbel_with(kind => 'line', seed => 7)) AS hosts FROM visits GROUP BY 1;
CREATE MATERIALIZED VIEW numbers AS SELECT umbel_build_agg(i, 0.001, umbel_with(kind => 'tight')) AS f FROM visits;
CREATE VIEW again AS SELECT v.host FROM visits v, seen s WHERE s.day = v.i % 4 AND v.host <@ s.hosts;
CREATE TABLE allowed (host text CHECK (umbel_contains(umbel_union(NULL::umbel, NULL), host) IS NULL));
CREATE INDEX made_with ON visits (((umbel_with(recipe => host)).recipe));
CREATE FUNCTION options() RETURNS umbel_options LANGUAGE sql IMMUTABLE RETURN umbel_with(bytes => 4096);
"""
DIGEST = """
SELECT md5(string_agg(d, ' ' ORDER BY d)) FROM (
    SELECT day || md5(hosts::bytea) AS d FROM seen UNION ALL SELECT day || md5(hosts::bytea) FROM per_day
    UNION ALL SELECT md5(f::bytea) FROM numbers UNION ALL SELECT host FROM again
    UNION ALL SELECT (options()).bytes::text) x
"""


def program(cluster, name, *arguments, stdin=None):
    """One of PostgreSQL's own programs, as the server's user."""
    done = subprocess.run(
        cluster.user.command([str(cluster.bin / name), "-h", str(cluster.socket), "-U", "postgres",
                              *map(str, arguments)]),
        input=stdin, capture_output=True, env=cluster.environment, cwd=cluster.folder, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@pytest.mark.parametrize("form", ["plain", "custom"])
def test_a_dump_restores(cluster, db, connect, form):
    db(HOLD)
    before, name = db.one(DIGEST), db.one("SELECT current_database()")
    dump = program(cluster, "pg_dump", "-F", form, name)
    restored = f"{name[:50]}_restored"
    admin = connect()
    admin(f'CREATE DATABASE "{restored}"')
    if form == "plain":
        program(cluster, "psql", "-Xq", "-v", "ON_ERROR_STOP=1", "-d", restored, stdin=dump)
    else:
        program(cluster, "pg_restore", "--exit-on-error", "-d", restored, stdin=dump)
    connection = cluster.connect(restored)
    with connection.cursor() as cursor:
        cursor.execute(DIGEST)
        assert cursor.fetchone()[0] == before
        # As autovacuum and, since 17, REFRESH do.
        cursor.execute("SET search_path = ''; REFRESH MATERIALIZED VIEW public.per_day")
        cursor.execute("RESET search_path")
        cursor.execute(DIGEST)
        assert cursor.fetchone()[0] == before
    connection.close()


def test_a_foreign_server_evaluates_the_options(cluster, db):
    """postgres_fdw sets the search_path of its connections to pg_catalog."""
    db(HOLD)
    db("CREATE EXTENSION postgres_fdw")
    db(f"CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '{cluster.socket}', dbname '"
       + db.one("SELECT current_database()") + "', extensions 'umbel');"
       "CREATE USER MAPPING FOR postgres SERVER far OPTIONS (user 'postgres');"
       "CREATE VIEW made AS SELECT (umbel_with(seed => i)).seed AS s FROM visits;"
       "CREATE FOREIGN TABLE far_made (s bigint) SERVER far OPTIONS (table_name 'made');")
    assert db.one("SELECT sum(s) FROM far_made") == 2000 * 2001 // 2


def test_the_largest_value_is_dumped_and_restored(cluster, db, connect, umbel):
    """As text it is twice as long, and pg_dump's buffer for a row has 1 GiB."""
    file = cluster.folder / "largest.umb"
    umbel("build", "-q", "-n", 1000, "--bytes", "499M", "--kind", "blocked", "-o", file, stdin=b"ada\n")
    file.chmod(0o644)
    name = db.one("SELECT current_database()")
    try:
        db("CREATE TABLE large AS SELECT repeat('x', 1000000) AS other, umbel_file(%s) AS f", str(file))
        restored = f"{name[:50]}_restored"
        db(f'CREATE DATABASE "{restored}"')
        command = " ".join(f"{cluster.bin / program} -h {cluster.socket} -U postgres {more}" for program, more in (
            ("pg_dump", f"{name} |"), ("psql", f"-Xq -v ON_ERROR_STOP=1 -d {restored}")))
        done = subprocess.run(cluster.user.command(["bash", "-o", "pipefail", "-c", command]), stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, env=cluster.environment, cwd=cluster.folder, check=False)
        assert done.returncode == 0, done.stderr.decode()
        connection = cluster.connect(restored)
        with connection.cursor() as cursor:
            cursor.execute("SELECT 'ada' <@ f, 'eve' <@ f, (umbel_info(f)).bytes FROM large")
            assert cursor.fetchall() == [(True, False, 499 << 20)]
        connection.close()
    finally:
        file.unlink()
        db("DROP TABLE IF EXISTS large")


def test_a_value_that_could_not_be_dumped_is_refused(db, cluster, umbel):
    """By every way into the type."""
    file = cluster.folder / "beyond.umb"
    umbel("build", "-q", "-n", 1000, "--bytes", "505M", "--kind", "blocked", "-o", file, stdin=b"ada\n")
    file.chmod(0o644)
    try:
        db("CREATE TABLE large (f umbel)")
        for way in (f"umbel_file('{file}')", f"pg_read_binary_file('{file}')::umbel",
                    "umbel_agg('a'::text, NULL, NULL, umbel_with(kind => 'blocked', bytes => 505 * 1048576))"):
            with pytest.raises(psycopg2.errors.ProgramLimitExceeded, match="larger than a value that can be dumped"):
                db(f"INSERT INTO large SELECT {way}")
        assert db.one(f"SELECT 'ada' <@ umbel_file('{file}')") is True
    finally:
        file.unlink()
