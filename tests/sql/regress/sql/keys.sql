-- SPDX-License-Identifier: MIT
-- Keys of every type, and the forms of asking.
CREATE EXTENSION IF NOT EXISTS umbel;
CREATE TABLE k AS SELECT i, i::smallint AS i2, i::bigint AS i8, 'key ' || i AS t,
       convert_to('key ' || i, 'UTF8') AS b, md5(i::text)::uuid AS u, ('key ' || i)::varchar(20) AS vc
  FROM generate_series(1, 5000) i;
CREATE TABLE made AS SELECT umbel_agg(t, 5000, 0.001) t, umbel_agg(b, 5000, 0.001) b,
       umbel_agg(i, 5000, 0.001) i4, umbel_agg(i2, 5000, 0.001) i2, umbel_agg(i8, 5000, 0.001) i8,
       umbel_agg(u, 5000, 0.001) u, umbel_agg(vc, 5000, 0.001) vc FROM k;

-- Nothing is missing.
SELECT count(*) FILTER (WHERE k.t <@ made.t) t, count(*) FILTER (WHERE k.b <@ made.b) b,
       count(*) FILTER (WHERE k.i <@ made.i4) i4, count(*) FILTER (WHERE k.i2 <@ made.i2) i2,
       count(*) FILTER (WHERE k.i8 <@ made.i8) i8, count(*) FILTER (WHERE k.u <@ made.u) u,
       count(*) FILTER (WHERE made.t @> k.t) commuted,
       count(*) FILTER (WHERE umbel_contains(made.t, k.t)) called FROM k, made;
-- Text, bytea and varchar are their bytes; integers of any width are one key; the rest differ.
SELECT umbel_same_bits(t, b) AS text_is_bytea, t = vc AS varchar, i4 = i8 AND i4 = i2 AS widths, t = i4 AS text_int FROM made;
SELECT 7::smallint <@ i8 AS s, 7 <@ i8 AS i, 7::bigint <@ i8 AS b, '\x0700000000000000'::bytea <@ i8 AS bytes
  FROM made;
-- The same keys as texts, which is what PostgreSQL takes a quoted literal or an untyped parameter for.
SELECT count(*) FILTER (WHERE k.u::text <@ made.u) u, count(*) FILTER (WHERE upper(k.u::text) <@ made.u) upper,
       count(*) FILTER (WHERE '{' || replace(k.u::text, '-', '') || '}' <@ made.u) braces,
       count(*) FILTER (WHERE k.b::text <@ made.b) hex, count(*) FILTER (WHERE encode(k.b, 'escape') <@ made.b) escaped,
       count(*) FILTER (WHERE k.i::text <@ made.i4) i FROM k, made;
SELECT 'c4ca4238-a0b9-2382-0dcc-509a6f75849b' <@ u AS one, '00000000-0000-0000-0000-000000000001' <@ u AS absent,
       '\x6b65792031' <@ b AS hex, 'key 1' <@ b AS escape, 'k\145y 1' <@ b AS octal, '\x00' <@ b AS absent FROM made;
PREPARE untyped AS SELECT $1 <@ u FROM made;
EXECUTE untyped('c4ca4238a0b923820dcc509a6f75849b');
SELECT 'c4ca4238' <@ u FROM made;
SELECT '\x6' <@ b FROM made;
SELECT (umbel_info(u)).recipe AS u, (umbel_info(b)).recipe AS b, (umbel_info(i4)).recipe AS i, (umbel_info(t)).recipe AS t FROM made;
-- A type that the filter does not hold is an error; a bytea is the key itself.
SELECT 7 <@ t FROM made;
SELECT 7 <@ u FROM made;
SELECT 'c4ca4238-a0b9-2382-0dcc-509a6f75849b'::uuid <@ t FROM made;
SELECT 'c4ca4238-a0b9-2382-0dcc-509a6f75849b'::uuid <@ i4 FROM made;
SELECT '\xc4ca4238a0b923820dcc509a6f75849b'::bytea <@ u AS uuid, convert_to('key 1', 'UTF8') <@ t AS text FROM made;
-- Absent ones: about 5 of 5,000.
SELECT count(*) < 25 AS few FROM k, made WHERE (k.t || '!') <@ made.t;
-- A literal is text, and collations make no difference.
SELECT 'key 1' <@ t AS literal, 'key 1' COLLATE "C" <@ t AS c, 'KEY 1' <@ t AS upper FROM made;
SELECT 1.5 <@ t FROM made;

-- Counting filters count, others say 0 or 1.
CREATE TABLE c AS SELECT umbel_agg(t, 100, 0.0001, umbel_with(kind => 'counting')) AS v
  FROM (VALUES ('a'), ('b'), ('b'), (NULL)) x(t);
SELECT umbel_count(v, 'a') a, umbel_count(v, 'b') b, umbel_count(v, 'c') c FROM c;

-- The planner asks the filter about a column's statistics.
ANALYZE k;
CREATE FUNCTION estimate(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE plan json; BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN (plan->0->'Plan'->>'Plan Rows')::bigint;
END $$;
SELECT estimate(format('SELECT * FROM k WHERE t <@ %L::umbel', t::text)) > 4000 AS most FROM made;

-- Every form of the query gives the same count, prepared ones and PL/pgSQL included.
CREATE TABLE day AS SELECT d, umbel_agg(t, 1000, 0.0001) AS v FROM k, generate_series(0, 4) d
  WHERE i % 5 = d GROUP BY d;
SELECT count(*) FROM k, day WHERE day.d = k.i % 5 AND k.t <@ day.v;
SELECT count(*) FROM k WHERE t <@ (SELECT v FROM day WHERE d = 3);
SELECT count(*) FROM k WHERE t <@ (SELECT umbel_union(v) FROM day);
SELECT count(*) FROM k WHERE EXISTS (SELECT FROM day WHERE k.t <@ v);
SELECT sum((SELECT count(*) FROM k WHERE k.t <@ day.v AND k.i % 5 = day.d)) FROM day;
SET umbel.cache_size = 0;
SELECT count(*) FROM k, day WHERE day.d = k.i % 5 AND k.t <@ day.v;
RESET umbel.cache_size;
PREPARE ask(text, int) AS SELECT $1 <@ v FROM day WHERE d = $2;
EXECUTE ask('key 3', 3);
EXECUTE ask('key 3', 4);
UPDATE day SET v = (SELECT v FROM day WHERE d = 3) WHERE d = 4;
EXECUTE ask('key 3', 4);
DO $$ DECLARE f umbel; n int := 0; BEGIN
    SELECT v INTO f FROM day WHERE d = 1;
    FOR i IN 1..5000 LOOP IF ('key ' || i) <@ f THEN n := n + 1; END IF; END LOOP;
    RAISE NOTICE '% found', n;
    SELECT v INTO f FROM day WHERE d = 2;
    RAISE NOTICE '% %', 'key 2' <@ f, 'key 1' <@ f;
END $$;
