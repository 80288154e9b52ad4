# SPDX-License-Identifier: MIT
"""Beyond one machine: partial filters of two servers, through postgres_fdw."""
import pytest

from conftest import new_cluster


@pytest.fixture
def remote():
    server = new_cluster()
    yield server
    server.stop()


def test_two_servers_make_one_filter(cluster, remote, connect):
    here, there = connect(), connect(remote)
    url = "'https://example.org/' || i"
    here(f"CREATE TABLE visits AS SELECT i, {url} AS url FROM generate_series(1, 60000) i")
    there(f"CREATE TABLE visits AS SELECT i, {url} AS url FROM generate_series(40001, 100000) i")
    there("CREATE VIEW part AS SELECT umbel_agg(url, 100000, 0.01) AS urls FROM visits")
    name = there.one("SELECT current_database()")
    here(f"""CREATE EXTENSION postgres_fdw;
        CREATE SERVER other FOREIGN DATA WRAPPER postgres_fdw
            OPTIONS (host '{remote.socket}', dbname '{name}', extensions 'umbel');
        CREATE USER MAPPING FOR postgres SERVER other OPTIONS (user 'postgres');
        CREATE FOREIGN TABLE other_part (urls umbel) SERVER other OPTIONS (table_name 'part');
        CREATE FOREIGN TABLE other_visits (i int, url text) SERVER other OPTIONS (table_name 'visits');
        CREATE TABLE united AS SELECT umbel_union(urls) AS urls FROM (
            SELECT umbel_agg(url, 100000, 0.01) AS urls FROM visits
            UNION ALL SELECT urls FROM other_part) parts""")
    # 0 missing, and the bits of one machine.
    assert here.one(f"SELECT count(*) FROM united, generate_series(1, 100000) i WHERE {url} <@ urls") == 100000
    assert here.one(f"""SELECT umbel_same_bits(united.urls, (SELECT umbel_agg({url}, 100000, 0.01)
                        FROM generate_series(1, 100000) i)) FROM united""")
    # Lookups are pushed down to where the rows are: the filter travels, not the table.
    plan = "\n".join(r[0] for r in here(
        "EXPLAIN (VERBOSE, COSTS off) SELECT count(*) FROM other_visits WHERE url <@ (SELECT urls FROM united)"))
    assert "Remote SQL" in plan and "OPERATOR(public.<@)" in plan, plan
    assert here.one("SELECT count(*) FROM other_visits WHERE url <@ (SELECT urls FROM united)") == 60000


def test_partitions_on_two_servers(cluster, remote, connect):
    here, there = connect(), connect(remote)
    there("CREATE TABLE p2 (i int, url text); INSERT INTO p2 SELECT i, 'u' || i FROM generate_series(5001, 9000) i")
    name = there.one("SELECT current_database()")
    here(f"""CREATE EXTENSION postgres_fdw;
        CREATE SERVER other FOREIGN DATA WRAPPER postgres_fdw
            OPTIONS (host '{remote.socket}', dbname '{name}', extensions 'umbel');
        CREATE USER MAPPING FOR postgres SERVER other OPTIONS (user 'postgres');
        CREATE TABLE visits (i int, url text) PARTITION BY RANGE (i);
        CREATE TABLE p1 PARTITION OF visits FOR VALUES FROM (1) TO (5001);
        CREATE FOREIGN TABLE p2 PARTITION OF visits FOR VALUES FROM (5001) TO (9001) SERVER other;
        INSERT INTO p1 SELECT i, 'u' || i FROM generate_series(1, 5000) i;
        SET enable_partitionwise_aggregate = on""")
    assert here.one("""SELECT umbel_same_bits(umbel_agg(url, 9000, 0.01), (SELECT umbel_agg('u' || i, 9000, 0.01)
                       FROM generate_series(1, 9000) i)) FROM visits""")
