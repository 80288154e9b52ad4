-- SPDX-License-Identifier: MIT
-- What is refused, with its SQLSTATE and hint.
CREATE EXTENSION IF NOT EXISTS umbel;
\set VERBOSITY default
CREATE FUNCTION why(query text) RETURNS TABLE (state text, message text, detail text, hint text)
LANGUAGE plpgsql AS $$ BEGIN
    EXECUTE query;
    state := 'not refused'; RETURN NEXT;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT,
                            detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN NEXT;
END $$;
\pset format unaligned
\pset fieldsep '\n    '
\t on
-- kinds
SELECT k, w.* FROM unnest('{static,tight,scalable,window,heap}'::text[]) k,
    why(format('SELECT umbel_agg(''a''::text, 10, 0.1, umbel_with(kind => %L))', k)) w;
SELECT k, w.* FROM unnest('{window,scalable,blocked}'::text[]) k,
    why(format('SELECT umbel_build_agg(''a''::text, 0.1, umbel_with(kind => %L))', k)) w;
-- parameters
SELECT * FROM why('SELECT umbel_agg(''a''::text, 0, 0.1)');
SELECT * FROM why('SELECT umbel_agg(''a''::text, 10, 1.5)');
SELECT * FROM why('SELECT umbel_agg(''a''::text, -3, 0.1)');
SELECT * FROM why('SELECT umbel_agg(''a''::text, 10.5, 0.1)');
SELECT * FROM why('SELECT umbel_agg(''a''::text, ''NaN'', 0.1)');
SELECT * FROM why('SELECT umbel_agg(''a''::text, 10, 0.1, umbel_with(bytes => 1))');
SELECT * FROM why('SELECT umbel_agg(i::text, i, 0.1) FROM generate_series(10, 11) i');
SELECT * FROM why('SELECT umbel_agg(''a''::text, 10, 0.1, umbel_with(colour => ''red''))');
SELECT * FROM why('SELECT umbel_plan(10)');
SELECT * FROM why('SELECT umbel_plan(1e9, bytes => 1e3)');
-- 1 GB, before the work: the last row, which fails, is not reached
SELECT * FROM why('SELECT umbel_agg((1 / (i - 100000))::text, 1e10, 0.01) FROM generate_series(1, 100000) i');
-- filters that do not go together
CREATE TABLE other AS SELECT umbel_agg('a'::text, 1000, 0.01) AS a, umbel_agg('a'::text, 100000, 0.01) AS size,
    umbel_agg('a'::text, 1000, 0.01, umbel_with(seed => 1)) AS seed,
    umbel_agg('a'::text, 1000, 0.01, umbel_with(kind => 'classic')) AS kind,
    umbel_build_agg('a'::text, 0.01) AS static;
SELECT c, w.* FROM unnest('{size,seed,kind,static}'::text[]) c,
    why(format('SELECT umbel_union(a, %I) FROM other', c)) w;
SELECT * FROM why('SELECT umbel_union(v) FROM (SELECT a AS v FROM other UNION ALL SELECT seed FROM other) x');
SELECT * FROM why('SELECT umbel_union(v) FROM (SELECT static AS v FROM other UNION ALL SELECT static FROM other) x');
-- files: only for those who were granted them
SELECT * FROM why('SELECT umbel_file(''/no/such/file'')');
CREATE ROLE umbel_reader;
SET ROLE umbel_reader;
SELECT state, message FROM why('SELECT umbel_file(''/no/such/file'')');
RESET ROLE;
GRANT EXECUTE ON FUNCTION umbel_file TO umbel_reader;
SET ROLE umbel_reader;
SELECT state FROM why('SELECT umbel_file(''/no/such/file'')');
SELECT state, message FROM why('SET umbel.secret_directory = ''/tmp''');
SELECT state, message ~ 'examine "umbel.secret_directory"$' AS named FROM why('SHOW umbel.secret_directory');
RESET ROLE;
DROP OWNED BY umbel_reader;
DROP ROLE umbel_reader;
-- secrets that are not there, and names that lead elsewhere
SELECT s, w.state FROM unnest('{nobody,../data/PG_VERSION,.,"",/etc/hostname}'::text[]) s,
    why(format('SELECT umbel_agg(''a''::text, 10, 0.1, umbel_with(secret => %L))', s)) w;
