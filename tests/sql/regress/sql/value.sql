-- SPDX-License-Identifier: MIT
-- The type: text, binary and bytea forms; equality; what is not a filter.
CREATE EXTENSION umbel;
CREATE TABLE word (id int, w text);
INSERT INTO word SELECT i, 'word ' || i FROM generate_series(1, 10000) i;
CREATE TABLE f AS SELECT umbel_agg(w, 10000, 0.01) AS v FROM word;

-- A value is the native file, whichever way it goes out and in.
SELECT substr(v::bytea, 1, 8), length(v::bytea) FROM f;
SELECT v::text::umbel = v AS text, v::bytea::umbel = v AS bytea,
       v::text::umbel::bytea = v::bytea AS bytes, v <> v AS different FROM f;
SELECT (SELECT v FROM f) = umbel_agg(w, 10000, 0.01) AS same,
       (SELECT v FROM f) = umbel_agg(w || '!', 10000, 0.01) AS other FROM word;
SELECT typstorage, typlen FROM pg_type WHERE typname = 'umbel';
CREATE TABLE copied (v umbel);
COPY (SELECT v FROM f) TO PROGRAM 'cat > copied.bin' WITH (FORMAT binary);
COPY copied FROM 'copied.bin' WITH (FORMAT binary);
SELECT copied.v = f.v AS binary_copy FROM copied, f;

-- Two bits of one byte turned, at every part of the file.
CREATE FUNCTION damaged(b bytea, at int) RETURNS bytea IMMUTABLE LANGUAGE sql AS
    'SELECT set_byte(b, at, get_byte(b, at) # 17)';
SELECT damaged(v::bytea, 0)::umbel FROM f;
SELECT damaged(v::bytea, 20)::umbel FROM f;
SELECT damaged(v::bytea, 5000)::umbel FROM f;
SELECT damaged(v::bytea, length(v::bytea) - 1)::umbel FROM f;
SELECT substr(v::bytea, 1, 5000)::umbel FROM f;
SELECT (v::bytea || '\x00')::umbel FROM f;
SELECT ''::umbel;
SELECT 'ada'::umbel;
SELECT '\x0102030405'::umbel;
SELECT '\xzz'::umbel;

-- NULLs and empty sets.
SELECT umbel_agg(w, 10, 0.01) IS NULL AS no_rows FROM word WHERE false;
SELECT (umbel_info(umbel_agg(NULL::text, 10, 0.01))).keys FROM word;
SELECT NULL::umbel IS NULL AS n, umbel_contains(NULL, 'a') IS NULL AS c, NULL::text <@ v IS NULL AS k
  FROM f;
SELECT umbel_union(NULL::umbel) IS NULL AS all_null FROM word;
DROP EXTENSION umbel CASCADE;
CREATE EXTENSION umbel;
