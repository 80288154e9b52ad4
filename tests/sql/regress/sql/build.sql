-- SPDX-License-Identifier: MIT
-- Aggregates: kinds, options, parallel plans, partitions, union.
CREATE EXTENSION IF NOT EXISTS umbel;
CREATE TABLE url AS SELECT i, 'https://example.org/' || i AS url FROM generate_series(1, 50000) i;
ANALYZE url;
CREATE TABLE serial AS SELECT umbel_agg(url, 50000, 0.01) AS v FROM url;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS off) SELECT umbel_agg(url, 50000, 0.01) FROM url;
EXPLAIN (COSTS off) SELECT umbel_build_agg(url, 0.01) FROM url;
-- From 17 on, plans show parameters in another way.
CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS off) ' || query LOOP
    line := regexp_replace(line, ' \(returns .*\)', '');
    line := regexp_replace(line, '<@ (\$\d|\(InitPlan 1\).col1)', '<@ the subquery');
    IF line !~ 'Params Evaluated' THEN RETURN NEXT line; END IF;
  END LOOP;
END $$;
SELECT plan('SELECT count(*) FROM url WHERE url <@ (SELECT v FROM serial)');
SELECT umbel_same_bits((SELECT v FROM serial), umbel_agg(url, 50000, 0.01)) AS kind FROM url;
SELECT k, umbel_same_bits(umbel_agg(url, 50000, 0.01, umbel_with(kind => k, seed => 7)),
       (SELECT umbel_agg(url, 50000, 0.01, umbel_with(kind => k, seed => 7))
          FROM (SELECT url FROM url OFFSET 0) alone)) AS parallel_is_serial
  FROM url, unnest('{blocked,classic,counting,line}'::text[]) k GROUP BY k ORDER BY k;
SELECT i % 3 AS g, round((umbel_info(umbel_agg(url, 20000, 0.01))).keys / 100) AS hundreds
  FROM url GROUP BY g ORDER BY g;

-- Partitions, each aggregated on its own.
CREATE TABLE part (i int, url text) PARTITION BY RANGE (i);
CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (1) TO (20000);
CREATE TABLE part_2 PARTITION OF part FOR VALUES FROM (20000) TO (60000);
INSERT INTO part SELECT * FROM url;
ANALYZE part;
SET enable_partitionwise_aggregate = on;
SELECT umbel_same_bits((SELECT v FROM serial), umbel_agg(url, 50000, 0.01)) AS partitions FROM part;
SET max_parallel_workers_per_gather = 0;
EXPLAIN (COSTS off) SELECT umbel_agg(url, 50000, 0.01) FROM part;
SELECT umbel_same_bits((SELECT v FROM serial), umbel_agg(url, 50000, 0.01)) AS partitions FROM part;
SELECT umbel_same_bits((SELECT v FROM serial), umbel_union(v)) AS united
  FROM (SELECT umbel_agg(url, 50000, 0.01) AS v FROM url GROUP BY i % 7) x;
SELECT umbel_same_bits(umbel_union(a.v, b.v), serial.v) AS two, umbel_same_bits(umbel_intersect(serial.v, b.v), b.v) AS common
  FROM serial, (SELECT umbel_agg(url, 50000, 0.01) v FROM part_1) a,
               (SELECT umbel_agg(url, 50000, 0.01) v FROM part_2) b;
-- A running filter.
SELECT i, round((umbel_info(umbel_agg(url, 100, 0.01) OVER (ORDER BY i))).keys) AS keys FROM url LIMIT 3;

-- Built once, from keys that are counted, in one process.
SELECT (x).kind, (x).keys, (x).fpr FROM (
  SELECT umbel_info(umbel_build_agg(url, 0.01)) FROM url UNION ALL
  SELECT umbel_info(umbel_build_agg(url, 0.001, umbel_with(kind => 'tight'))) FROM url) i(x);
SELECT count(*) FROM url WHERE url <@ (SELECT umbel_build_agg(url, 0.01) FROM url);
SELECT (umbel_info(umbel_agg(i, 1000, NULL, umbel_with(bytes => 4096, kind => 'blocked')))).bytes FROM url;
SELECT kind, capacity, fpr, bytes, fits_a_value FROM umbel_plan(2e9, 0.01);
SELECT kind, bytes, fits_a_value FROM umbel_plan(1e6, fpr => 0.001, kind => 'tight');
SELECT capacity FROM umbel_plan(bytes => 1048576, fpr => 0.01);
