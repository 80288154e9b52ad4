/* SPDX-License-Identifier: MIT
 *
 * pg_key.c - datums as keys, and lookups
 *
 * A text goes through the filter's recipe, usually "line": the key is its bytes, whatever the
 * collation.  Integers of every width are eight bytes, little-endian, so that int4 7 and int8 7 are
 * one key; a uuid its 16 bytes.  Their filters say so in the recipe, through which the same value as
 * text finds the same key; asking a filter of another type is an error, not a "no".  A bytea is the
 * key itself, in every filter.
 */
#include "pg_umbel.h"

#include "port/pg_bswap.h"
#include "utils/builtins.h"
#include "utils/uuid.h"

/* ---- recipes ------------------------------------------------------------------------------- */

static void free_recipe(void *recipe) {
    umbel_recipe_free(recipe);
}

const umbel_recipe *pgu_recipe(const char *text, MemoryContext context) {
    umbel_recipe *recipe = NULL;
    umbel_diag diag = {0};
    if (strcmp(text, "line") == 0) return NULL;
    MemoryContextCallback *end = MemoryContextAllocZero(context, sizeof *end);
    umbel_err e = umbel_recipe_parse(text, &recipe, &diag);
    if (e) pgu_fail(e, &diag);
    *end = (MemoryContextCallback){.func = free_recipe, .arg = recipe};
    MemoryContextRegisterResetCallback(context, end);
    return umbel_recipe_traits(recipe) & UMBEL_RECIPE_LINE ? NULL : recipe;
}

static bool applied(const umbel_recipe *recipe, umbel_recipe_use use, umbel_key *key) {
    uint8_t state;
    if (umbel_recipe_traits(recipe) & (UMBEL_RECIPE_HEADER | UMBEL_RECIPE_COLUMNS)) {
        ereport(ERROR,
                (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                 errmsg("recipe: \"%s\" is for files with a header, which a value does not have",
                        umbel_recipe_text(recipe)),
                 errhint("Name the field by its number, or pass the key as bytea.")));
    }
    void *scratch = palloc(umbel_recipe_room(recipe, 1, key->len) + 1);
    if (umbel_recipe_apply(recipe, use, key, 1, scratch, &state)) return true;
    if (state == UMBEL_FOUND_MALFORMED) {
        ereport(ERROR, (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
                        errmsg("key: not %s", umbel_recipe_expects(recipe)),
                        errdetail("The filter's recipe is \"%s\".", umbel_recipe_text(recipe))));
    }
    return false;
}

/* ---- datums -------------------------------------------------------------------------------- */

bool pgu_key_bytes(Datum datum, const umbel_recipe *recipe, uint64_t *number, umbel_key *key) {
    struct varlena *bytes = PG_DETOAST_DATUM_PACKED(datum);
    (void)recipe;
    (void)number;
    *key = (umbel_key){VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes)};
    return true;
}

bool pgu_key_text(Datum datum, const umbel_recipe *recipe, uint64_t *number, umbel_key *key) {
    pgu_key_bytes(datum, NULL, number, key);
    return !recipe || applied(recipe, UMBEL_USE_RECORD, key);
}

static void insist_on(const umbel_recipe *recipe, const char *wanted, const char *type) {
    const char *text = recipe ? umbel_recipe_text(recipe) : "line";
    if (strcmp(text, wanted) == 0) return;
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("key: of type %s, but the filter's keys are not", type),
                    errdetail("The filter's recipe is \"%s\".", text),
                    errhint("Cast the key to text, which goes through the recipe.")));
}

bool pgu_key_number(Datum datum, const umbel_recipe *recipe, uint64_t *number, umbel_key *key) {
    insist_on(recipe, PGU_NUMBERS, "integer");
    *number = (uint64_t)DatumGetInt64(datum);
#ifdef WORDS_BIGENDIAN
    *number = pg_bswap64(*number);
#endif
    *key = (umbel_key){number, sizeof *number};
    return true;
}

bool pgu_key_uuid(Datum datum, const umbel_recipe *recipe, uint64_t *number, umbel_key *key) {
    (void)number;
    insist_on(recipe, PGU_UUIDS, "uuid");
    *key = (umbel_key){DatumGetUUIDP(datum)->data, UUID_LEN};
    return true;
}

/* ---- lookups ------------------------------------------------------------------------------- */

static bool asked_text(Datum datum, const umbel_recipe *recipe, uint64_t *number, umbel_key *key) {
    pgu_key_bytes(datum, NULL, number, key);
    return !recipe || applied(recipe, UMBEL_USE_LOOKUP, key);
}

/* After a lookup: what it said counts. */
static void insist_on_undamaged(const pgu_asked *asked) {
    umbel_diag diag = {0};
    umbel_err e = umbel_damage(asked->filter, &diag);
    if (e) pgu_fail(e, &diag);
}

/* NULL where there is no key to look up. */
static Datum contains(FunctionCallInfo fcinfo, int filter, int key, pgu_reader read) {
    uint64_t number;
    umbel_key k;
    const pgu_asked *asked = pgu_filter(fcinfo, filter);
    if (!read(PG_GETARG_DATUM(key), asked->recipe, &number, &k)) PG_RETURN_NULL();
    bool found = umbel_contains(asked->filter, k.data, k.len);
    while (!found && asked->recipe && umbel_recipe_next(asked->recipe, &k)) {
        found = umbel_contains(asked->filter, k.data, k.len);
    }
    insist_on_undamaged(asked);
    PG_RETURN_BOOL(found);
}

static Datum count(FunctionCallInfo fcinfo, pgu_reader read) {
    uint64_t number;
    umbel_key k;
    const pgu_asked *asked = pgu_filter(fcinfo, 0);
    if (!read(PG_GETARG_DATUM(1), asked->recipe, &number, &k)) PG_RETURN_NULL();
    uint32 times = umbel_count(asked->filter, k.data, k.len);
    insist_on_undamaged(asked);
    PG_RETURN_INT32((int32)times);
}

/* The filter with one more key: a copy. */
static Datum with_key(FunctionCallInfo fcinfo, pgu_reader read) {
    uint64_t number;
    umbel_key k;
    umbel_diag diag = {0};
    umbel_filter *filter = pgu_open(umbel_decode, PG_GETARG_VARLENA_PP(0), CurrentMemoryContext);
    const umbel_recipe *recipe = pgu_recipe(umbel_get_recipe(filter), CurrentMemoryContext);
    if (!read(PG_GETARG_DATUM(1), recipe, &number, &k)) PG_RETURN_DATUM(PG_GETARG_DATUM(0));
    umbel_err e = umbel_add(filter, k.data, k.len, NULL, &diag);
    if (e) pgu_fail(e, &diag);
    PG_RETURN_POINTER(pgu_encode(filter));
}

#define KEY_TYPE(type, read, add)                      \
    PG_FUNCTION_INFO_V1(umbel_pg_contains_##type);     \
    PG_FUNCTION_INFO_V1(umbel_pg_within_##type);       \
    PG_FUNCTION_INFO_V1(umbel_pg_count_##type);        \
    PG_FUNCTION_INFO_V1(umbel_pg_add_key_##type);      \
    Datum umbel_pg_contains_##type(PG_FUNCTION_ARGS) { \
        return contains(fcinfo, 0, 1, read);           \
    }                                                  \
    Datum umbel_pg_within_##type(PG_FUNCTION_ARGS) {   \
        return contains(fcinfo, 1, 0, read);           \
    }                                                  \
    Datum umbel_pg_count_##type(PG_FUNCTION_ARGS) {    \
        return count(fcinfo, read);                    \
    }                                                  \
    Datum umbel_pg_add_key_##type(PG_FUNCTION_ARGS) {  \
        return with_key(fcinfo, add);                  \
    }

KEY_TYPE(text, asked_text, pgu_key_text)
KEY_TYPE(bytes, pgu_key_bytes, pgu_key_bytes)
KEY_TYPE(number, pgu_key_number, pgu_key_number)
KEY_TYPE(uuid, pgu_key_uuid, pgu_key_uuid)

/* ---- files --------------------------------------------------------------------------------- */

PG_FUNCTION_INFO_V1(umbel_pg_file);

/* The file stays mapped as long as the call site lives, usually the query. */
typedef struct open_file {
    char *path;
    MemoryContext context;
    Datum value;
} open_file;

Datum umbel_pg_file(PG_FUNCTION_ARGS) {
    char *path = text_to_cstring(PG_GETARG_TEXT_PP(0));
    open_file *file = fcinfo->flinfo->fn_extra;
    if (file && strcmp(file->path, path) == 0) PG_RETURN_DATUM(file->value);
    MemoryContext context =
        AllocSetContextCreate(fcinfo->flinfo->fn_mcxt, "umbel file", ALLOCSET_SMALL_SIZES);
    open_file *next = MemoryContextAlloc(context, sizeof *next);
    next->context = context;
    next->path = MemoryContextStrdup(context, path);
    next->value = pgu_mapped(pgu_open_file(path, context), context);
    if (file) MemoryContextDelete(file->context);
    fcinfo->flinfo->fn_extra = next;
    PG_RETURN_DATUM(next->value);
}
