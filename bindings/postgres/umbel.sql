-- SPDX-License-Identifier: MIT
-- umbel 0.4: Bloom filters as values
\echo Use "CREATE EXTENSION umbel" to load this file. \quit

-- The type: a native umbel file.  EXTERNAL, because bits do not compress and slices are read.
CREATE TYPE umbel;
CREATE FUNCTION umbel_in(cstring) RETURNS umbel
    AS 'MODULE_PATHNAME', 'umbel_pg_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION umbel_out(umbel) RETURNS cstring
    AS 'MODULE_PATHNAME', 'umbel_pg_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION umbel_recv(internal) RETURNS umbel
    AS 'MODULE_PATHNAME', 'umbel_pg_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION umbel_send(umbel) RETURNS bytea
    AS 'MODULE_PATHNAME', 'umbel_pg_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE TYPE umbel (
    INPUT = umbel_in, OUTPUT = umbel_out, RECEIVE = umbel_recv, SEND = umbel_send,
    INTERNALLENGTH = VARIABLE, STORAGE = external
);
COMMENT ON TYPE umbel IS 'a Bloom filter or one of its kin, as a native umbel file';

CREATE FUNCTION umbel(bytea) RETURNS umbel
    AS 'MODULE_PATHNAME', 'umbel_pg_from_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bytea(umbel) RETURNS bytea
    AS 'MODULE_PATHNAME', 'umbel_pg_to_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE CAST (bytea AS umbel) WITH FUNCTION umbel(bytea);
CREATE CAST (umbel AS bytea) WITH FUNCTION bytea(umbel);

CREATE FUNCTION umbel_version() RETURNS text
    AS 'MODULE_PATHNAME', 'umbel_pg_version' LANGUAGE C STABLE PARALLEL SAFE;

-- How to make a filter, besides capacity and rate.  Aggregates take no named arguments; this does.
CREATE TYPE umbel_options AS (
    kind text, recipe text, secret text, seed bigint, hashes integer, bytes double precision
);
CREATE FUNCTION umbel_with(
    kind text DEFAULT NULL, recipe text DEFAULT NULL, secret text DEFAULT NULL,
    seed bigint DEFAULT NULL, hashes integer DEFAULT NULL, bytes double precision DEFAULT NULL
) RETURNS umbel_options LANGUAGE sql IMMUTABLE PARALLEL SAFE
    -- Not a string, whose names would be looked up later, when restoring a dump has no search_path.
    RETURN ROW(kind, recipe, secret, seed, hashes, bytes)::umbel_options;

-- Values are compared as the bytes of their files, by the server's own functions for bytea: nothing is decoded,
-- so no secret is needed, and DISTINCT, GROUP BY, UNION and logical replication work.  The order means nothing.
CREATE FUNCTION umbel_eq(umbel, umbel) RETURNS boolean
    AS 'byteaeq' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE FUNCTION umbel_ne(umbel, umbel) RETURNS boolean
    AS 'byteane' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE FUNCTION umbel_lt(umbel, umbel) RETURNS boolean
    AS 'bytealt' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE FUNCTION umbel_le(umbel, umbel) RETURNS boolean
    AS 'byteale' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE FUNCTION umbel_gt(umbel, umbel) RETURNS boolean
    AS 'byteagt' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE FUNCTION umbel_ge(umbel, umbel) RETURNS boolean
    AS 'byteage' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE FUNCTION umbel_cmp(umbel, umbel) RETURNS integer
    AS 'byteacmp' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE FUNCTION umbel_hash(umbel) RETURNS integer
    AS 'hashvarlena' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE FUNCTION umbel_hash(umbel, bigint) RETURNS bigint
    AS 'hashvarlenaextended' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE OPERATOR = (LEFTARG = umbel, RIGHTARG = umbel, FUNCTION = umbel_eq,
                   COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR <> (LEFTARG = umbel, RIGHTARG = umbel, FUNCTION = umbel_ne,
                   COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR < (LEFTARG = umbel, RIGHTARG = umbel, FUNCTION = umbel_lt,
                   COMMUTATOR = >, NEGATOR = >=, RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR <= (LEFTARG = umbel, RIGHTARG = umbel, FUNCTION = umbel_le,
                   COMMUTATOR = >=, NEGATOR = >, RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR > (LEFTARG = umbel, RIGHTARG = umbel, FUNCTION = umbel_gt,
                   COMMUTATOR = <, NEGATOR = <=, RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR >= (LEFTARG = umbel, RIGHTARG = umbel, FUNCTION = umbel_ge,
                   COMMUTATOR = <=, NEGATOR = <, RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR CLASS umbel_hash_ops DEFAULT FOR TYPE umbel USING hash AS
    OPERATOR 1 =, FUNCTION 1 umbel_hash(umbel), FUNCTION 2 umbel_hash(umbel, bigint);
CREATE OPERATOR CLASS umbel_ops DEFAULT FOR TYPE umbel USING btree AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 umbel_cmp(umbel, umbel);


-- Whole filters.
CREATE FUNCTION umbel_same_bits(umbel, umbel) RETURNS boolean
    AS 'MODULE_PATHNAME', 'umbel_pg_same_bits' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE FUNCTION umbel_union(umbel, umbel) RETURNS umbel
    AS 'MODULE_PATHNAME', 'umbel_pg_merge' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE FUNCTION umbel_intersect(umbel, umbel) RETURNS umbel
    AS 'MODULE_PATHNAME', 'umbel_pg_intersect' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;

CREATE FUNCTION umbel_info(
    umbel, OUT kind text, OUT layout text, OUT recipe text, OUT capacity bigint, OUT fpr double precision,
    OUT keys double precision, OUT keys_error double precision, OUT rate double precision,
    OUT bytes bigint, OUT hashes integer, OUT layers integer, OUT seed bigint,
    OUT secret_fingerprint text
) AS 'MODULE_PATHNAME', 'umbel_pg_info' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;

CREATE FUNCTION umbel_plan(
    capacity double precision DEFAULT NULL, fpr double precision DEFAULT NULL,
    bytes double precision DEFAULT NULL, kind text DEFAULT NULL,
    OUT kind text, OUT capacity bigint, OUT fpr double precision, OUT bytes bigint,
    OUT bits_per_key double precision, OUT hashes integer, OUT fits_a_value boolean, OUT why text
) AS 'MODULE_PATHNAME', 'umbel_pg_plan' LANGUAGE C IMMUTABLE PARALLEL SAFE;

-- A file on the server, mapped: for roles that were granted it.  Volatile, or the planner would copy it
-- into a constant to estimate with.
CREATE FUNCTION umbel_file(path text) RETURNS umbel
    AS 'MODULE_PATHNAME', 'umbel_pg_file' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
REVOKE ALL ON FUNCTION umbel_file(text) FROM PUBLIC;

-- What aggregates are made of.
CREATE FUNCTION umbel_combine(internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'umbel_pg_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION umbel_serialise(internal) RETURNS bytea
    AS 'MODULE_PATHNAME', 'umbel_pg_serialise' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION umbel_deserialise(bytea, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'umbel_pg_deserialise' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION umbel_final(internal) RETURNS umbel
    AS 'MODULE_PATHNAME', 'umbel_pg_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION umbel_build_final(internal) RETURNS umbel
    AS 'MODULE_PATHNAME', 'umbel_pg_build_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION umbel_union_add(internal, umbel) RETURNS internal
    AS 'MODULE_PATHNAME', 'umbel_pg_union_add' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE umbel_union(umbel) (
    SFUNC = umbel_union_add, STYPE = internal, SSPACE = 1000000, FINALFUNC = umbel_final,
    COMBINEFUNC = umbel_combine, SERIALFUNC = umbel_serialise, DESERIALFUNC = umbel_deserialise,
    PARALLEL = SAFE
);

COMMENT ON TYPE umbel_options IS 'how umbel_agg and umbel_build_agg make a filter: what umbel_with returns';
COMMENT ON FUNCTION umbel_in(cstring) IS 'input: the hexadecimal text of a native file, checked';
COMMENT ON FUNCTION umbel_out(umbel) IS 'output: the native file as hexadecimal text';
COMMENT ON FUNCTION umbel_recv(internal) IS 'binary input, checked';
COMMENT ON FUNCTION umbel_send(umbel) IS 'binary output';
COMMENT ON FUNCTION umbel(bytea) IS 'a native file as a filter; damaged ones are refused';
COMMENT ON FUNCTION bytea(umbel) IS 'the native file of a filter';
COMMENT ON FUNCTION umbel_version() IS 'the version of the library';
COMMENT ON FUNCTION umbel_with(text, text, text, bigint, integer, double precision) IS 'options of umbel_agg and umbel_build_agg, by name';
COMMENT ON FUNCTION umbel_eq(umbel, umbel) IS 'implementation of =: the same file';
COMMENT ON FUNCTION umbel_ne(umbel, umbel) IS 'implementation of <>';
COMMENT ON FUNCTION umbel_lt(umbel, umbel) IS 'implementation of <: the order of bytes';
COMMENT ON FUNCTION umbel_le(umbel, umbel) IS 'implementation of <=';
COMMENT ON FUNCTION umbel_gt(umbel, umbel) IS 'implementation of >';
COMMENT ON FUNCTION umbel_ge(umbel, umbel) IS 'implementation of >=';
COMMENT ON FUNCTION umbel_cmp(umbel, umbel) IS 'less-equal-greater, for btree';
COMMENT ON FUNCTION umbel_hash(umbel) IS 'hash of a value, for hash joins and DISTINCT; not of its keys';
COMMENT ON FUNCTION umbel_hash(umbel, bigint) IS 'hash of a value with a seed';
COMMENT ON FUNCTION umbel_same_bits(umbel, umbel) IS 'whether two filters answer alike for every key: layout, seed, secret and bits; counts and metadata may differ';
COMMENT ON FUNCTION umbel_union(umbel, umbel) IS 'the keys of both; they must be made alike';
COMMENT ON FUNCTION umbel_intersect(umbel, umbel) IS 'what is in both, and perhaps a little more; they must be made alike';
COMMENT ON FUNCTION umbel_info(umbel) IS 'what a filter is, how many keys it has and how often it is wrong now';
COMMENT ON FUNCTION umbel_plan(double precision, double precision, double precision, text) IS 'what a filter would be: two of capacity, rate and bytes';
COMMENT ON FUNCTION umbel_file(text) IS 'a file on the server, mapped; for roles that were granted it';
COMMENT ON FUNCTION umbel_combine(internal, internal) IS 'part of aggregates';
COMMENT ON FUNCTION umbel_serialise(internal) IS 'part of aggregates';
COMMENT ON FUNCTION umbel_deserialise(bytea, internal) IS 'part of aggregates';
COMMENT ON FUNCTION umbel_final(internal) IS 'part of aggregates';
COMMENT ON FUNCTION umbel_build_final(internal) IS 'part of umbel_build_agg';
COMMENT ON FUNCTION umbel_union_add(internal, umbel) IS 'part of umbel_union';
COMMENT ON AGGREGATE umbel_union(umbel) IS 'the keys of all filters of a column, which must be made alike';
COMMENT ON OPERATOR = (umbel, umbel) IS 'the same file';
COMMENT ON OPERATOR <> (umbel, umbel) IS 'not the same file';
COMMENT ON OPERATOR < (umbel, umbel) IS 'order of bytes';
COMMENT ON OPERATOR <= (umbel, umbel) IS 'order of bytes';
COMMENT ON OPERATOR > (umbel, umbel) IS 'order of bytes';
COMMENT ON OPERATOR >= (umbel, umbel) IS 'order of bytes';
