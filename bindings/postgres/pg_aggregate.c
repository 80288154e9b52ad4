/* SPDX-License-Identifier: MIT
 *
 * pg_aggregate.c - filters from rows: umbel_agg, umbel_build_agg, umbel_union
 *
 * The state of all three is a `build` in the aggregate's memory context.  Between processes it
 * travels as the bytes of a native file: bits depend only on parameters and keys, so merging what
 * workers made gives the bits that one process would have made.
 */
#include "pg_umbel.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/builtins.h"

enum { BATCH = 256 };

typedef struct build {
    MemoryContext context;
    umbel_filter *filter;        /* NULL while there is only a builder or a piece */
    umbel_builder *builder;      /* kinds that are built once, from all keys      */
    const struct varlena *piece; /* deserialised: a partial filter, not decoded   */
    double capacity, fpr;        /* as the first row says                         */
    const umbel_recipe *recipe;
    const char *recipe_text; /* of a builder, which has no filter yet */
    bool by_hash;
    uint32_t pending;       /* hashes that wait ...                            */
    uint64_t hashes[BATCH]; /* ... because a batch overlaps its cache misses   */
} build;

static MemoryContext aggregate_context(FunctionCallInfo fcinfo) {
    MemoryContext context;
    if (!AggCheckCallContext(fcinfo, &context)) elog(ERROR, "not called as an aggregate");
    return context;
}

static build *build_new(MemoryContext context) {
    build *b = MemoryContextAllocZero(context, sizeof *b);
    b->context = context;
    return b;
}

static void flush(build *b) {
    umbel_diag diag = {0};
    umbel_err e = umbel_add_hashes(b->filter, b->hashes, b->pending, NULL, NULL, &diag);
    b->pending = 0;
    if (e) pgu_fail(e, &diag);
}

static void add(build *b, umbel_key key) {
    umbel_diag diag = {0};
    umbel_err e = UMBEL_OK;
    if (b->by_hash) {
        e = umbel_hash_many(b->filter, &key, 1, &b->hashes[b->pending++], &diag);
        if (b->pending == BATCH) flush(b);
    } else if (b->filter) {
        e = umbel_add(b->filter, key.data, key.len, NULL, &diag);
    } else {
        e = umbel_builder_add(b->builder, &key, 1, &diag);
    }
    if (e) pgu_fail(e, &diag);
}

/* ---- parameters ---------------------------------------------------------------------------- */

/* A column of umbel_options as text; NULL if it is null. */
static char *option(HeapTupleHeader options, const char *name) {
    bool null;
    Datum value = GetAttributeByName(options, name, &null);
    return null ? NULL : text_to_cstring(DatumGetTextPP(value));
}

/* Reads how a filter is to be made; returns its recipe. */
static char *read_options(umbel_params *p, umbel_opts *opts, HeapTupleHeader options) {
    bool null;
    Datum value;
    char *kind = option(options, "kind"), *secret = option(options, "secret");
    if (kind) p->kind = pgu_kind(kind);
    if (secret) opts->secret = pgu_secret_named(secret, CurrentMemoryContext);
    value = GetAttributeByName(options, "seed", &null);
    if (!null) p->seed = (uint64_t)DatumGetInt64(value);
    value = GetAttributeByName(options, "hashes", &null);
    if (!null) p->hashes = (uint32_t)pgu_whole(DatumGetInt32(value), "hashes");
    value = GetAttributeByName(options, "bytes", &null);
    if (!null) p->bytes = pgu_whole(DatumGetFloat8(value), "bytes");
    return option(options, "recipe");
}

static double number_or(FunctionCallInfo fcinfo, int arg, double otherwise) {
    return PG_ARGISNULL(arg) ? otherwise : PG_GETARG_FLOAT8(arg);
}

/* Rows after the first cannot set parameters, and may not contradict them. */
static void insist_on_constants(FunctionCallInfo fcinfo, const build *b, int fpr) {
    double capacity = fpr > 2 ? number_or(fcinfo, 2, 0) : 0;
    if (unlikely(capacity != b->capacity || number_or(fcinfo, fpr, 0) != b->fpr)) {
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("capacity and rate must be the same in every row of a filter")));
    }
}

/* Only text goes through a recipe that one can choose. */
static const char *recipe_for(pgu_reader read, const char *given) {
    if (given && read != pgu_key_text) {
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("recipe: for keys of type text only"), errhint("Cast the key to text.")));
    }
    return given ? given : pgu_recipe_of(read);
}

static void set_recipe(umbel_filter *filter, const char *recipe) {
    umbel_diag diag = {0};
    umbel_err e = umbel_set_recipe(filter, recipe, &diag);
    if (e) pgu_fail(e, &diag);
}

static void insist_on_merging(umbel_kind kind) {
    umbel_traits traits;
    if (!umbel_kind_traits(kind, &traits) || traits.merges) return; /* AUTO chooses one that does */
    ereport(ERROR,
            (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
             errmsg("kind: filters of kind %s do not merge, so workers cannot share the work",
                    umbel_kind_name(kind)),
             errhint("umbel_build_agg() makes static and tight filters in one process, and counts "
                     "the keys itself; umbel_agg() makes the other kinds.")));
}

/* ---- umbel_agg ----------------------------------------------------------------------------- */

static build *begin(FunctionCallInfo fcinfo, MemoryContext context, pgu_reader read) {
    build *b = build_new(context);
    umbel_params p = {0};
    umbel_diag diag = {0};
    umbel_opts opts = pgu_opts(context);
    const char *recipe = NULL;
    b->capacity = number_or(fcinfo, 2, 0);
    b->fpr = number_or(fcinfo, 3, 0);
    if (PG_NARGS() > 4 && !PG_ARGISNULL(4)) {
        recipe = read_options(&p, &opts, PG_GETARG_HEAPTUPLEHEADER(4));
    }
    p.capacity = pgu_whole(b->capacity, "capacity");
    p.fpr = b->fpr;
    insist_on_merging(p.kind);
    umbel_err e = umbel_create(&p, &opts, &b->filter, &diag);
    if (e) pgu_fail(e, &diag);
    set_recipe(b->filter, recipe_for(read, recipe));
    b->recipe = pgu_recipe(umbel_get_recipe(b->filter), context);
    umbel_info info;
    umbel_describe(b->filter, &info);
    b->by_hash = info.takes_hashes;
    return b;
}

static Datum aggregate(FunctionCallInfo fcinfo, pgu_reader read) {
    uint64_t number;
    umbel_key key;
    MemoryContext context = aggregate_context(fcinfo);
    build *b = PG_ARGISNULL(0) ? begin(fcinfo, context, read) : (build *)PG_GETARG_POINTER(0);
    insist_on_constants(fcinfo, b, 3);
    if (!PG_ARGISNULL(1) && read(PG_GETARG_DATUM(1), b->recipe, &number, &key)) add(b, key);
    PG_RETURN_POINTER(b);
}

/* ---- umbel_build_agg ----------------------------------------------------------------------- */

static build *begin_builder(FunctionCallInfo fcinfo, MemoryContext context, pgu_reader read) {
    build *b = build_new(context);
    umbel_params p = {.kind = UMBEL_KIND_STATIC};
    umbel_diag diag = {0};
    umbel_opts opts = pgu_opts(context);
    const char *recipe = NULL;
    b->fpr = number_or(fcinfo, 2, 0);
    if (PG_NARGS() > 3 && !PG_ARGISNULL(3)) {
        recipe = read_options(&p, &opts, PG_GETARG_HEAPTUPLEHEADER(3));
    }
    p.fpr = b->fpr;
    umbel_traits traits;
    if (!umbel_kind_traits(p.kind, &traits) || !traits.built_once) {
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("kind: umbel_build_agg makes static and tight filters, not %s",
                               umbel_kind_name(p.kind)),
                        errhint("umbel_agg() makes the kinds that merge.")));
    }
    umbel_err e = umbel_builder_new(&p, &opts, &b->builder, &diag);
    if (e) pgu_fail(e, &diag);
    b->recipe_text = MemoryContextStrdup(context, recipe_for(read, recipe));
    b->recipe = pgu_recipe(b->recipe_text, context);
    return b;
}

static Datum aggregate_once(FunctionCallInfo fcinfo, pgu_reader read) {
    uint64_t number;
    umbel_key key;
    MemoryContext context = aggregate_context(fcinfo);
    build *b =
        PG_ARGISNULL(0) ? begin_builder(fcinfo, context, read) : (build *)PG_GETARG_POINTER(0);
    insist_on_constants(fcinfo, b, 2);
    if (!PG_ARGISNULL(1) && read(PG_GETARG_DATUM(1), b->recipe, &number, &key)) add(b, key);
    PG_RETURN_POINTER(b);
}

PG_FUNCTION_INFO_V1(umbel_pg_build_final);

Datum umbel_pg_build_final(PG_FUNCTION_ARGS) {
    umbel_diag diag = {0};
    umbel_filter *filter = NULL;
    if (PG_ARGISNULL(0)) PG_RETURN_NULL();
    build *b = (build *)PG_GETARG_POINTER(0);
    CHECK_FOR_INTERRUPTS();
    umbel_err e = umbel_builder_finish(b->builder, &filter, &diag);
    if (e) pgu_fail(e, &diag);
    set_recipe(filter, b->recipe_text);
    PG_RETURN_POINTER(pgu_encode(filter));
}

#define KEY_TYPE(type)                                 \
    PG_FUNCTION_INFO_V1(umbel_pg_add_##type);          \
    PG_FUNCTION_INFO_V1(umbel_pg_build_##type);        \
    Datum umbel_pg_add_##type(PG_FUNCTION_ARGS) {      \
        return aggregate(fcinfo, pgu_key_##type);      \
    }                                                  \
    Datum umbel_pg_build_##type(PG_FUNCTION_ARGS) {    \
        return aggregate_once(fcinfo, pgu_key_##type); \
    }

PGU_KEY_TYPES(KEY_TYPE)

/* ---- merging, and passing between processes --------------------------------------------- */

PG_FUNCTION_INFO_V1(umbel_pg_union_add);
PG_FUNCTION_INFO_V1(umbel_pg_combine);
PG_FUNCTION_INFO_V1(umbel_pg_serialise);
PG_FUNCTION_INFO_V1(umbel_pg_deserialise);
PG_FUNCTION_INFO_V1(umbel_pg_final);

static build *merged(build *b, const struct varlena *piece, MemoryContext context) {
    umbel_diag diag = {0};
    if (!b) {
        b = build_new(context);
        b->filter = pgu_open(UMBEL_LOAD, piece, context);
        return b;
    }
    CHECK_FOR_INTERRUPTS();
    umbel_filter *from = pgu_open(UMBEL_MAP, piece, CurrentMemoryContext);
    umbel_err e = umbel_merge(b->filter, from, &diag);
    umbel_free(from);
    if (e) pgu_fail(e, &diag);
    return b;
}

static struct varlena *encoded(build *b) {
    if (b->pending) flush(b);
    return pgu_encode(b->filter);
}

Datum umbel_pg_union_add(PG_FUNCTION_ARGS) {
    MemoryContext context = aggregate_context(fcinfo);
    build *b = PG_ARGISNULL(0) ? NULL : (build *)PG_GETARG_POINTER(0);
    if (!PG_ARGISNULL(1)) b = merged(b, PG_GETARG_VARLENA_PP(1), context);
    if (!b) PG_RETURN_NULL();
    PG_RETURN_POINTER(b);
}

Datum umbel_pg_combine(PG_FUNCTION_ARGS) {
    MemoryContext context = aggregate_context(fcinfo);
    build *b = PG_ARGISNULL(0) ? NULL : (build *)PG_GETARG_POINTER(0);
    build *other = PG_ARGISNULL(1) ? NULL : (build *)PG_GETARG_POINTER(1);
    if (b && b->pending) flush(b);
    if (other) b = merged(b, other->piece ? other->piece : encoded(other), context);
    if (!b) PG_RETURN_NULL();
    PG_RETURN_POINTER(b);
}

Datum umbel_pg_serialise(PG_FUNCTION_ARGS) {
    PG_RETURN_BYTEA_P(encoded((build *)PG_GETARG_POINTER(0)));
}

/* combine() follows within the same row and decodes it. */
Datum umbel_pg_deserialise(PG_FUNCTION_ARGS) {
    build *b = build_new(CurrentMemoryContext);
    b->piece = PG_GETARG_VARLENA_PP(0);
    PG_RETURN_POINTER(b);
}

Datum umbel_pg_final(PG_FUNCTION_ARGS) {
    if (PG_ARGISNULL(0)) PG_RETURN_NULL();
    PG_RETURN_POINTER(encoded((build *)PG_GETARG_POINTER(0)));
}
