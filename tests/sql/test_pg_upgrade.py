# SPDX-License-Identifier: MIT
"""From PostgreSQL 15 to 18, which scripts/get-server builds from Debian's source package: by pg_upgrade, and by a dump."""
import os
import subprocess
from pathlib import Path

import pytest

from cluster import Cluster
from conftest import ROOT, new_cluster
from test_pg_dump import DIGEST, HOLD, program

NEWER = "postgresql-18"
MORE = """
CREATE TABLE typed AS SELECT umbel_agg(i, 1000, 1e-6) AS n, umbel_agg(date '2026-01-01' + i, 1000, 1e-6) AS d,
       umbel_agg(inet '10.0.0.0' + i, 1000, 1e-6) AS a, umbel_agg(i / 8.0, 1000, 1e-6) AS m FROM generate_series(1, 500) i;
CREATE TABLE indexed AS SELECT day, hosts FROM seen;
CREATE INDEX by_hash ON indexed USING hash (hosts);
CREATE VIEW joined AS SELECT a.day FROM indexed a JOIN indexed b ON a.hosts = b.hosts;
"""
HELD = """SELECT bool_and(i <@ n AND date '2026-01-01' + i <@ d AND inet '10.0.0.0' + i <@ a AND i / 8.0 <@ m)
          AND NOT bool_or(i + 500 <@ n AND date '2028-01-01' + i <@ d) FROM typed, generate_series(1, 500) i"""


@pytest.fixture(scope="module")
def newer():
    """pg_config of the newer server, and the extension for it."""
    got = subprocess.run([ROOT / "scripts" / "get-server", NEWER], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         text=True, check=False)
    if got.returncode:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(f"{NEWER} could not be had: build/servers/{NEWER}.log")
    config = Path(got.stdout.split()[1]).with_name("pg_config")
    out = ROOT / "build" / NEWER
    out.mkdir(exist_ok=True)
    subprocess.run(["make", "-s", "-C", ROOT, "postgres-extension", f"PG_CONFIG={config}", f"POSTGRES_OUT={out}"], check=True)
    return {"extension": out / "umbel.so", "program": config}


def check(db, before):
    assert db.one("SHOW server_version").startswith("18.")
    assert db.one(DIGEST) == before
    assert db.one(HELD)
    assert db.one("SELECT count(*) FROM joined") == 4
    # REFRESH has an empty search_path since 17.
    db("REFRESH MATERIALIZED VIEW per_day; REFRESH MATERIALIZED VIEW numbers")
    assert db.one(DIGEST) == before
    db("SET enable_seqscan = off")
    assert db.one("SELECT count(*) FROM indexed WHERE hosts = (SELECT hosts FROM seen WHERE day = 3)") == 1
    db("RESET enable_seqscan; UPDATE typed SET n = umbel_add_key(n, 9000)")
    assert db.one("SELECT 9000 <@ n AND '9000' <@ n FROM typed")


def test_pg_upgrade(connect, newer):
    old = new_cluster()
    new = None
    try:
        db = connect(old)
        db(HOLD + MORE)
        # 15.20 marks every column so; pg_dump of a release before that one, which Debian's newer suites still have, would
        # take the mark for an option.
        db("UPDATE pg_attribute SET attoptions = NULL WHERE attoptions[1] LIKE 'pg_attver=%'")
        before, name = db.one(DIGEST), db.one("SELECT current_database()")
        new = Cluster(**newer)
        old.halt()
        new.halt()
        where = new.folder / "upgrade"
        where.mkdir()
        new.user.give(where)
        done = subprocess.run(
            new.user.command([str(new.bin / "pg_upgrade"), "-b", str(old.bin), "-B", str(new.bin), "-d", str(old.data),
                              "-D", str(new.data), "-s", str(where), "-U", "postgres"]),
            env=new.environment, cwd=where, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        new.start()
        connection = new.connect(name)
        check(type(db)(connection), before)
        connection.close()
    finally:
        for server in filter(None, (old, new)):
            server.stop()


def test_a_dump_goes_into_a_newer_server(cluster, db, connect, newer):
    db(HOLD + MORE)
    before, name = db.one(DIGEST), db.one("SELECT current_database()")
    new = Cluster(**newer)
    try:
        there = connect(new)
        there("DROP EXTENSION umbel")
        program(new, "psql", "-Xq", "-v", "ON_ERROR_STOP=1", "-d", there.one("SELECT current_database()"),
                stdin=program(cluster, "pg_dump", name))
        check(there, before)
    finally:
        new.stop()
