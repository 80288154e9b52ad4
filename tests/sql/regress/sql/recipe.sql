-- SPDX-License-Identifier: MIT
-- Recipes: how a text becomes a key, on both sides alike.
CREATE EXTENSION IF NOT EXISTS umbel;
CREATE TABLE bad AS SELECT umbel_agg(d, 100, 0.0001, umbel_with(recipe => 'domain')) AS f
  FROM (VALUES ('Ads.Example.'), ('tracker.test'), (NULL)) v(d);
SELECT (umbel_info(f)).recipe FROM bad;
-- A name is asked with each of its parents.
SELECT n, n <@ f AS found FROM bad, unnest('{ads.example,www.ads.example,ADS.EXAMPLE.,example,tracker.test.org}'::text[]) n;

-- Fields, JSON and case.
CREATE TABLE made AS SELECT umbel_agg(l, 100, 0.0001, umbel_with(recipe => 'field=2 lower')) AS field,
    umbel_build_agg(j, 0.0001, umbel_with(recipe => 'json=.user.mail')) AS json
  FROM (VALUES ('1 Ada x', '{"user":{"mail":"ada@example.org"}}'), ('2 Bob', '{"user":{}}')) v(l, j);
SELECT (umbel_info(field)).recipe, (umbel_info(json)).recipe, (umbel_info(json)).keys FROM made;
SELECT '77 ADA' <@ field AS yes, '77 eve' <@ field AS no, '77' <@ field IS NULL AS has_no_field, 'ada'::bytea <@ field AS key
  FROM made;
SELECT '{"user":{"mail":"ada@example.org"}, "x":1}' <@ json AS yes, '{"user":{"mail":null}}' <@ json IS NULL AS none FROM made;
SELECT 'no json' <@ json FROM made;

-- Integers have a recipe, so that the command's lines of digits ask the same keys.
CREATE TABLE ints AS SELECT umbel_agg(i, 1000, 0.0001) AS f FROM generate_series(1, 1000) i;
SELECT (umbel_info(f)).recipe, 7 <@ f AS int, '7' <@ f AS text, '0700000000000000'::text <@ f AS other FROM ints;
SELECT 'seven' <@ f FROM ints;

-- What does not go together.
SELECT 7 <@ field FROM made;
SELECT umbel_agg(7, 10, 0.1, umbel_with(recipe => 'domain'));
SELECT umbel_agg('a'::bytea, 10, 0.1, umbel_with(recipe => 'domain'));
SELECT umbel_agg('a'::text, 10, 0.1, umbel_with(recipe => 'colour=red'));
SELECT umbel_agg('a'::text, 10, 0.1, umbel_with(recipe => 'column=user'));
SELECT umbel_union(v) FROM (SELECT f AS v FROM bad UNION ALL SELECT field FROM made) x;
