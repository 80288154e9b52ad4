-- SPDX-License-Identifier: MIT
-- Keys of type @type@: the Makefile puts each type here.
CREATE FUNCTION umbel_contains(umbel, @type@) RETURNS boolean
    AS 'MODULE_PATHNAME', 'umbel_pg_contains_@type@' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
CREATE FUNCTION umbel_within(@type@, umbel) RETURNS boolean
    AS 'MODULE_PATHNAME', 'umbel_pg_within_@type@' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
CREATE FUNCTION umbel_count(umbel, @type@) RETURNS integer
    AS 'MODULE_PATHNAME', 'umbel_pg_count_@type@' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
CREATE OPERATOR <@ (LEFTARG = @type@, RIGHTARG = umbel, FUNCTION = umbel_within,
                    COMMUTATOR = @>, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE OPERATOR @> (LEFTARG = umbel, RIGHTARG = @type@, FUNCTION = umbel_contains,
                    COMMUTATOR = <@, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE FUNCTION umbel_add(internal, @type@, double precision, double precision) RETURNS internal
    AS 'MODULE_PATHNAME', 'umbel_pg_add_@type@' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION umbel_add(internal, @type@, double precision, double precision, umbel_options)
    RETURNS internal AS 'MODULE_PATHNAME', 'umbel_pg_add_@type@' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION umbel_build(internal, @type@, double precision) RETURNS internal
    AS 'MODULE_PATHNAME', 'umbel_pg_build_@type@' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION umbel_build(internal, @type@, double precision, umbel_options) RETURNS internal
    AS 'MODULE_PATHNAME', 'umbel_pg_build_@type@' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE umbel_agg(key @type@, capacity double precision, fpr double precision) (
    SFUNC = umbel_add, STYPE = internal, SSPACE = 1000000, FINALFUNC = umbel_final,
    COMBINEFUNC = umbel_combine, SERIALFUNC = umbel_serialise, DESERIALFUNC = umbel_deserialise,
    PARALLEL = SAFE
);
CREATE AGGREGATE umbel_agg(key @type@, capacity double precision, fpr double precision,
                           options umbel_options) (
    SFUNC = umbel_add, STYPE = internal, SSPACE = 1000000, FINALFUNC = umbel_final,
    COMBINEFUNC = umbel_combine, SERIALFUNC = umbel_serialise, DESERIALFUNC = umbel_deserialise,
    PARALLEL = SAFE
);
CREATE AGGREGATE umbel_build_agg(key @type@, fpr double precision) (
    SFUNC = umbel_build, STYPE = internal, SSPACE = 1000000, FINALFUNC = umbel_build_final,
    FINALFUNC_MODIFY = READ_WRITE, PARALLEL = SAFE
);
CREATE AGGREGATE umbel_build_agg(key @type@, fpr double precision, options umbel_options) (
    SFUNC = umbel_build, STYPE = internal, SSPACE = 1000000, FINALFUNC = umbel_build_final,
    FINALFUNC_MODIFY = READ_WRITE, PARALLEL = SAFE
);
CREATE FUNCTION umbel_add_key(umbel, @type@) RETURNS umbel
    AS 'MODULE_PATHNAME', 'umbel_pg_add_key_@type@' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;

COMMENT ON FUNCTION umbel_contains(umbel, @type@) IS 'certainly not, or perhaps';
COMMENT ON FUNCTION umbel_within(@type@, umbel) IS 'implementation of <@';
COMMENT ON FUNCTION umbel_count(umbel, @type@) IS 'how often the key is in a filter of kind counting, at most; else 1 or 0';
COMMENT ON OPERATOR <@ (@type@, umbel) IS 'certainly not in it, or perhaps';
COMMENT ON OPERATOR @> (umbel, @type@) IS 'certainly does not have it, or perhaps';
COMMENT ON FUNCTION umbel_add(internal, @type@, double precision, double precision) IS 'part of umbel_agg';
COMMENT ON FUNCTION umbel_add(internal, @type@, double precision, double precision, umbel_options) IS 'part of umbel_agg';
COMMENT ON FUNCTION umbel_build(internal, @type@, double precision) IS 'part of umbel_build_agg';
COMMENT ON FUNCTION umbel_build(internal, @type@, double precision, umbel_options) IS 'part of umbel_build_agg';
COMMENT ON AGGREGATE umbel_agg(@type@, double precision, double precision) IS 'a filter of the keys of a column: capacity, rate';
COMMENT ON AGGREGATE umbel_agg(@type@, double precision, double precision, umbel_options) IS 'a filter of the keys of a column: capacity, rate, umbel_with(...)';
COMMENT ON AGGREGATE umbel_build_agg(@type@, double precision) IS 'a static filter of the keys of a column, which it counts: rate';
COMMENT ON AGGREGATE umbel_build_agg(@type@, double precision, umbel_options) IS 'a static or tight filter of the keys of a column: rate, umbel_with(...)';
COMMENT ON FUNCTION umbel_add_key(umbel, @type@) IS 'the filter with one more key: a copy, so its cost is that of the whole filter';
