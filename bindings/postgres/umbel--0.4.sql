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

-- Whole filters.
CREATE FUNCTION umbel_equal(umbel, umbel) RETURNS boolean
    AS 'MODULE_PATHNAME', 'umbel_pg_equal' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE FUNCTION umbel_unequal(umbel, umbel) RETURNS boolean
    AS 'MODULE_PATHNAME', 'umbel_pg_unequal' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE OPERATOR = (LEFTARG = umbel, RIGHTARG = umbel, FUNCTION = umbel_equal,
                   COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel);
CREATE OPERATOR <> (LEFTARG = umbel, RIGHTARG = umbel, FUNCTION = umbel_unequal,
                    COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel);
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

-- Keys of type text.
CREATE FUNCTION umbel_contains(umbel, text) RETURNS boolean
    AS 'MODULE_PATHNAME', 'umbel_pg_contains_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
CREATE FUNCTION umbel_within(text, umbel) RETURNS boolean
    AS 'MODULE_PATHNAME', 'umbel_pg_within_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
CREATE FUNCTION umbel_count(umbel, text) RETURNS integer
    AS 'MODULE_PATHNAME', 'umbel_pg_count_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
CREATE OPERATOR <@ (LEFTARG = text, RIGHTARG = umbel, FUNCTION = umbel_within,
                    COMMUTATOR = @>, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR @> (LEFTARG = umbel, RIGHTARG = text, FUNCTION = umbel_contains,
                    COMMUTATOR = <@, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE FUNCTION umbel_add(internal, text, double precision, double precision) RETURNS internal
    AS 'MODULE_PATHNAME', 'umbel_pg_add_text' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION umbel_add(internal, text, double precision, double precision, umbel_options)
    RETURNS internal AS 'MODULE_PATHNAME', 'umbel_pg_add_text' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION umbel_build(internal, text, double precision) RETURNS internal
    AS 'MODULE_PATHNAME', 'umbel_pg_build_text' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION umbel_build(internal, text, double precision, umbel_options) RETURNS internal
    AS 'MODULE_PATHNAME', 'umbel_pg_build_text' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE umbel_agg(key text, capacity double precision, fpr double precision) (
    SFUNC = umbel_add, STYPE = internal, SSPACE = 1000000, FINALFUNC = umbel_final,
    COMBINEFUNC = umbel_combine, SERIALFUNC = umbel_serialise, DESERIALFUNC = umbel_deserialise,
    PARALLEL = SAFE
);
CREATE AGGREGATE umbel_agg(key text, capacity double precision, fpr double precision,
                           options umbel_options) (
    SFUNC = umbel_add, STYPE = internal, SSPACE = 1000000, FINALFUNC = umbel_final,
    COMBINEFUNC = umbel_combine, SERIALFUNC = umbel_serialise, DESERIALFUNC = umbel_deserialise,
    PARALLEL = SAFE
);
CREATE AGGREGATE umbel_build_agg(key text, fpr double precision) (
    SFUNC = umbel_build, STYPE = internal, SSPACE = 1000000, FINALFUNC = umbel_build_final,
    FINALFUNC_MODIFY = READ_WRITE
);
CREATE AGGREGATE umbel_build_agg(key text, fpr double precision, options umbel_options) (
    SFUNC = umbel_build, STYPE = internal, SSPACE = 1000000, FINALFUNC = umbel_build_final,
    FINALFUNC_MODIFY = READ_WRITE
);

-- Keys of type bytea.
CREATE FUNCTION umbel_contains(umbel, bytea) RETURNS boolean
    AS 'MODULE_PATHNAME', 'umbel_pg_contains_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
CREATE FUNCTION umbel_within(bytea, umbel) RETURNS boolean
    AS 'MODULE_PATHNAME', 'umbel_pg_within_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
CREATE FUNCTION umbel_count(umbel, bytea) RETURNS integer
    AS 'MODULE_PATHNAME', 'umbel_pg_count_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
CREATE OPERATOR <@ (LEFTARG = bytea, RIGHTARG = umbel, FUNCTION = umbel_within,
                    COMMUTATOR = @>, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR @> (LEFTARG = umbel, RIGHTARG = bytea, FUNCTION = umbel_contains,
                    COMMUTATOR = <@, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE FUNCTION umbel_add(internal, bytea, double precision, double precision) RETURNS internal
    AS 'MODULE_PATHNAME', 'umbel_pg_add_bytes' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION umbel_add(internal, bytea, double precision, double precision, umbel_options)
    RETURNS internal AS 'MODULE_PATHNAME', 'umbel_pg_add_bytes' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION umbel_build(internal, bytea, double precision) RETURNS internal
    AS 'MODULE_PATHNAME', 'umbel_pg_build_bytes' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION umbel_build(internal, bytea, double precision, umbel_options) RETURNS internal
    AS 'MODULE_PATHNAME', 'umbel_pg_build_bytes' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE umbel_agg(key bytea, capacity double precision, fpr double precision) (
    SFUNC = umbel_add, STYPE = internal, SSPACE = 1000000, FINALFUNC = umbel_final,
    COMBINEFUNC = umbel_combine, SERIALFUNC = umbel_serialise, DESERIALFUNC = umbel_deserialise,
    PARALLEL = SAFE
);
CREATE AGGREGATE umbel_agg(key bytea, capacity double precision, fpr double precision,
                           options umbel_options) (
    SFUNC = umbel_add, STYPE = internal, SSPACE = 1000000, FINALFUNC = umbel_final,
    COMBINEFUNC = umbel_combine, SERIALFUNC = umbel_serialise, DESERIALFUNC = umbel_deserialise,
    PARALLEL = SAFE
);
CREATE AGGREGATE umbel_build_agg(key bytea, fpr double precision) (
    SFUNC = umbel_build, STYPE = internal, SSPACE = 1000000, FINALFUNC = umbel_build_final,
    FINALFUNC_MODIFY = READ_WRITE
);
CREATE AGGREGATE umbel_build_agg(key bytea, fpr double precision, options umbel_options) (
    SFUNC = umbel_build, STYPE = internal, SSPACE = 1000000, FINALFUNC = umbel_build_final,
    FINALFUNC_MODIFY = READ_WRITE
);

-- Keys of type bigint.
CREATE FUNCTION umbel_contains(umbel, bigint) RETURNS boolean
    AS 'MODULE_PATHNAME', 'umbel_pg_contains_number' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
CREATE FUNCTION umbel_within(bigint, umbel) RETURNS boolean
    AS 'MODULE_PATHNAME', 'umbel_pg_within_number' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
CREATE FUNCTION umbel_count(umbel, bigint) RETURNS integer
    AS 'MODULE_PATHNAME', 'umbel_pg_count_number' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
CREATE OPERATOR <@ (LEFTARG = bigint, RIGHTARG = umbel, FUNCTION = umbel_within,
                    COMMUTATOR = @>, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR @> (LEFTARG = umbel, RIGHTARG = bigint, FUNCTION = umbel_contains,
                    COMMUTATOR = <@, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE FUNCTION umbel_add(internal, bigint, double precision, double precision) RETURNS internal
    AS 'MODULE_PATHNAME', 'umbel_pg_add_number' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION umbel_add(internal, bigint, double precision, double precision, umbel_options)
    RETURNS internal AS 'MODULE_PATHNAME', 'umbel_pg_add_number' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION umbel_build(internal, bigint, double precision) RETURNS internal
    AS 'MODULE_PATHNAME', 'umbel_pg_build_number' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION umbel_build(internal, bigint, double precision, umbel_options) RETURNS internal
    AS 'MODULE_PATHNAME', 'umbel_pg_build_number' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE umbel_agg(key bigint, capacity double precision, fpr double precision) (
    SFUNC = umbel_add, STYPE = internal, SSPACE = 1000000, FINALFUNC = umbel_final,
    COMBINEFUNC = umbel_combine, SERIALFUNC = umbel_serialise, DESERIALFUNC = umbel_deserialise,
    PARALLEL = SAFE
);
CREATE AGGREGATE umbel_agg(key bigint, capacity double precision, fpr double precision,
                           options umbel_options) (
    SFUNC = umbel_add, STYPE = internal, SSPACE = 1000000, FINALFUNC = umbel_final,
    COMBINEFUNC = umbel_combine, SERIALFUNC = umbel_serialise, DESERIALFUNC = umbel_deserialise,
    PARALLEL = SAFE
);
CREATE AGGREGATE umbel_build_agg(key bigint, fpr double precision) (
    SFUNC = umbel_build, STYPE = internal, SSPACE = 1000000, FINALFUNC = umbel_build_final,
    FINALFUNC_MODIFY = READ_WRITE
);
CREATE AGGREGATE umbel_build_agg(key bigint, fpr double precision, options umbel_options) (
    SFUNC = umbel_build, STYPE = internal, SSPACE = 1000000, FINALFUNC = umbel_build_final,
    FINALFUNC_MODIFY = READ_WRITE
);

-- Keys of type uuid.
CREATE FUNCTION umbel_contains(umbel, uuid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'umbel_pg_contains_uuid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
CREATE FUNCTION umbel_within(uuid, umbel) RETURNS boolean
    AS 'MODULE_PATHNAME', 'umbel_pg_within_uuid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
CREATE FUNCTION umbel_count(umbel, uuid) RETURNS integer
    AS 'MODULE_PATHNAME', 'umbel_pg_count_uuid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
CREATE OPERATOR <@ (LEFTARG = uuid, RIGHTARG = umbel, FUNCTION = umbel_within,
                    COMMUTATOR = @>, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR @> (LEFTARG = umbel, RIGHTARG = uuid, FUNCTION = umbel_contains,
                    COMMUTATOR = <@, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE FUNCTION umbel_add(internal, uuid, double precision, double precision) RETURNS internal
    AS 'MODULE_PATHNAME', 'umbel_pg_add_uuid' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION umbel_add(internal, uuid, double precision, double precision, umbel_options)
    RETURNS internal AS 'MODULE_PATHNAME', 'umbel_pg_add_uuid' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION umbel_build(internal, uuid, double precision) RETURNS internal
    AS 'MODULE_PATHNAME', 'umbel_pg_build_uuid' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION umbel_build(internal, uuid, double precision, umbel_options) RETURNS internal
    AS 'MODULE_PATHNAME', 'umbel_pg_build_uuid' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE umbel_agg(key uuid, capacity double precision, fpr double precision) (
    SFUNC = umbel_add, STYPE = internal, SSPACE = 1000000, FINALFUNC = umbel_final,
    COMBINEFUNC = umbel_combine, SERIALFUNC = umbel_serialise, DESERIALFUNC = umbel_deserialise,
    PARALLEL = SAFE
);
CREATE AGGREGATE umbel_agg(key uuid, capacity double precision, fpr double precision,
                           options umbel_options) (
    SFUNC = umbel_add, STYPE = internal, SSPACE = 1000000, FINALFUNC = umbel_final,
    COMBINEFUNC = umbel_combine, SERIALFUNC = umbel_serialise, DESERIALFUNC = umbel_deserialise,
    PARALLEL = SAFE
);
CREATE AGGREGATE umbel_build_agg(key uuid, fpr double precision) (
    SFUNC = umbel_build, STYPE = internal, SSPACE = 1000000, FINALFUNC = umbel_build_final,
    FINALFUNC_MODIFY = READ_WRITE
);
CREATE AGGREGATE umbel_build_agg(key uuid, fpr double precision, options umbel_options) (
    SFUNC = umbel_build, STYPE = internal, SSPACE = 1000000, FINALFUNC = umbel_build_final,
    FINALFUNC_MODIFY = READ_WRITE
);
