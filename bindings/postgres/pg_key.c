/* SPDX-License-Identifier: MIT
 *
 * pg_key.c - datums as keys, and lookups
 *
 * A text goes through the filter's recipe, usually "line": the key is its bytes, whatever the
 * collation.  Integers of every width are eight bytes, little-endian, so that int4 7 and int8 7 are
 * one key; other types have the forms of umbel_typed_key.  Their filters say so in the recipe, through
 * which the same value as text finds the same key; asking a filter of another type is an error, not a
 * "no".  A bytea is the key itself, in every filter.
 */
#include "pg_umbel.h"

#include <sys/socket.h> /* AF_INET */

#include "common/int.h"
#include "port/pg_bswap.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/inet.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"
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

bool pgu_key_bytea(Datum datum, const umbel_recipe *recipe, uint64_t *number, umbel_key *key) {
    struct varlena *bytes = PG_DETOAST_DATUM_PACKED(datum);
    (void)recipe;
    (void)number;
    *key = (umbel_key){VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes)};
    return true;
}

bool pgu_key_text(Datum datum, const umbel_recipe *recipe, uint64_t *number, umbel_key *key) {
    pgu_key_bytea(datum, NULL, number, key);
    return !recipe || applied(recipe, UMBEL_USE_RECORD, key);
}

static const struct {
    pgu_reader read;
    const char *recipe, *type;
} typed[] = {
    {pgu_key_bytea, "line type=bytea", "bytea"},
    {pgu_key_bigint, "line type=int64", "bigint"},
    {pgu_key_integer, "line type=int64", "integer"},
    {pgu_key_smallint, "line type=int64", "smallint"},
    {pgu_key_uuid, "line type=uuid", "uuid"},
    {pgu_key_date, "line type=date", "date"},
    {pgu_key_timestamp, "line type=timestamp", "timestamp"},
    {pgu_key_timestamptz, "line type=timestamptz", "timestamptz"},
    {pgu_key_inet, "line type=inet", "inet"},
    {pgu_key_numeric, "line type=numeric", "numeric"},
};

const char *pgu_recipe_of(pgu_reader read) {
    for (size_t i = 0; i < lengthof(typed); i++) {
        if (typed[i].read == read) return typed[i].recipe;
    }
    return "line";
}

/* The widest type whose keys have this recipe; others are for texts. */
static const char *type_of(const char *recipe) {
    for (size_t i = 0; i < lengthof(typed); i++) {
        if (strcmp(typed[i].recipe, recipe) == 0) return typed[i].type;
    }
    return "text";
}

static void insist_on(const umbel_recipe *recipe, pgu_reader read) {
    const char *text = recipe ? umbel_recipe_text(recipe) : "line";
    size_t i = 0;
    while (typed[i].read != read) i++;
    if (likely(strcmp(text, typed[i].recipe) == 0)) return;
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("key: of type %s, but the filter's keys are not", typed[i].type),
                    errdetail("The filter's recipe is \"%s\".", text),
                    errhint("Cast the key to %s.", type_of(text))));
}

/* Two's complement, little-endian. */
static bool as_word(int64 value, size_t size, uint64_t *number, umbel_key *key) {
    *number = (uint64_t)value;
#ifdef WORDS_BIGENDIAN
    *number = pg_bswap64(*number);
#endif
    *key = (umbel_key){number, size};
    return true;
}

bool pgu_key_smallint(Datum datum, const umbel_recipe *recipe, uint64_t *number, umbel_key *key) {
    insist_on(recipe, pgu_key_smallint);
    return as_word(DatumGetInt16(datum), 8, number, key);
}

bool pgu_key_integer(Datum datum, const umbel_recipe *recipe, uint64_t *number, umbel_key *key) {
    insist_on(recipe, pgu_key_integer);
    return as_word(DatumGetInt32(datum), 8, number, key);
}

bool pgu_key_bigint(Datum datum, const umbel_recipe *recipe, uint64_t *number, umbel_key *key) {
    insist_on(recipe, pgu_key_bigint);
    return as_word(DatumGetInt64(datum), 8, number, key);
}

bool pgu_key_uuid(Datum datum, const umbel_recipe *recipe, uint64_t *number, umbel_key *key) {
    (void)number;
    insist_on(recipe, pgu_key_uuid);
    *key = (umbel_key){DatumGetUUIDP(datum)->data, UUID_LEN};
    return true;
}

/* Days since 1970, not 2000; the infinities are the ends of the range here as there. */
bool pgu_key_date(Datum datum, const umbel_recipe *recipe, uint64_t *number, umbel_key *key) {
    DateADT day = DatumGetDateADT(datum);
    insist_on(recipe, pgu_key_date);
    if (!DATE_NOT_FINITE(day)) day += POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE;
    return as_word(day, 4, number, key);
}

/* Microseconds since 1970, which the last 47 years of the type do not have. */
static bool as_moment(Timestamp moment, uint64_t *number, umbel_key *key) {
    const int64 from_2000 = (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY;
    if (!TIMESTAMP_NOT_FINITE(moment) && pg_add_s64_overflow(moment, from_2000, &moment)) {
        ereport(ERROR, (errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
                        errmsg("key: timestamps after the year 294246 have none")));
    }
    return as_word(moment, 8, number, key);
}

bool pgu_key_timestamp(Datum datum, const umbel_recipe *recipe, uint64_t *number, umbel_key *key) {
    insist_on(recipe, pgu_key_timestamp);
    return as_moment(DatumGetTimestamp(datum), number, key);
}

bool pgu_key_timestamptz(Datum datum, const umbel_recipe *recipe, uint64_t *number,
                         umbel_key *key) {
    insist_on(recipe, pgu_key_timestamptz);
    return as_moment(DatumGetTimestampTz(datum), number, key);
}

/* The address, and the length of a network's prefix. */
bool pgu_key_inet(Datum datum, const umbel_recipe *recipe, uint64_t *number, umbel_key *key) {
    inet *address = DatumGetInetPP(datum);
    size_t size = ip_addrsize(address);
    uint8_t *bytes = palloc(size + 1);
    (void)number;
    insist_on(recipe, pgu_key_inet);
    memcpy(bytes, ip_addr(address), size);
    if (ip_bits(address) < ip_maxbits(address)) bytes[size++] = ip_bits(address);
    *key = (umbel_key){bytes, size};
    return true;
}

bool pgu_key_numeric(Datum datum, const umbel_recipe *recipe, uint64_t *number, umbel_key *key) {
    umbel_diag diag = {0};
    (void)number;
    insist_on(recipe, pgu_key_numeric);
    char *text = DatumGetCString(DirectFunctionCall1(numeric_out, datum));
    size_t len = strlen(text), cap = 2 * len + 16;
    void *bytes = palloc(cap);
    umbel_err e = umbel_typed_key(UMBEL_TYPE_NUMERIC, text, len, bytes, cap, &key->len, &diag);
    if (e) pgu_fail(e, &diag);
    key->data = bytes;
    return true;
}

/* ---- lookups ------------------------------------------------------------------------------- */

static bool asked_text(Datum datum, const umbel_recipe *recipe, uint64_t *number, umbel_key *key) {
    pgu_key_bytea(datum, NULL, number, key);
    return !recipe || applied(recipe, UMBEL_USE_LOOKUP, key);
}

static inline pgu_reader asked_as(pgu_reader read) {
    return read == pgu_key_text ? asked_text : read;
}

/* NULL where there is no key to look up. */
static Datum contains(FunctionCallInfo fcinfo, int filter, int key, pgu_reader read) {
    uint64_t number;
    uint8_t found;
    umbel_key k;
    umbel_diag diag = {0};
    const pgu_asked *asked = pgu_filter(fcinfo, filter);
    if (!read(PG_GETARG_DATUM(key), asked->recipe, &number, &k)) PG_RETURN_NULL();
    umbel_err e = umbel_lookup_keys(asked->lookup, &k, NULL, 1, NULL, &found, NULL, &diag);
    if (e) pgu_fail(e, &diag);
    PG_RETURN_BOOL(found);
}

static Datum count(FunctionCallInfo fcinfo, pgu_reader read) {
    uint64_t number;
    umbel_key k;
    umbel_diag diag = {0};
    const pgu_asked *asked = pgu_filter(fcinfo, 0);
    if (!read(PG_GETARG_DATUM(1), asked->recipe, &number, &k)) PG_RETURN_NULL();
    uint32 times = umbel_count(asked->filter, k.data, k.len);
    umbel_err e = umbel_damage(asked->filter, &diag);
    if (e) pgu_fail(e, &diag);
    PG_RETURN_INT32((int32)times);
}

/* The filter with one more key: a copy. */
static Datum with_key(FunctionCallInfo fcinfo, pgu_reader read) {
    uint64_t number;
    umbel_key k;
    umbel_diag diag = {0};
    umbel_filter *filter = pgu_open(UMBEL_LOAD, PG_GETARG_VARLENA_PP(0), CurrentMemoryContext);
    const umbel_recipe *recipe = pgu_recipe(umbel_get_recipe(filter), CurrentMemoryContext);
    if (!read(PG_GETARG_DATUM(1), recipe, &number, &k)) PG_RETURN_DATUM(PG_GETARG_DATUM(0));
    umbel_err e = umbel_add(filter, k.data, k.len, NULL, &diag);
    if (e) pgu_fail(e, &diag);
    PG_RETURN_POINTER(pgu_encode(filter));
}

#define KEY_TYPE(type)                                           \
    PG_FUNCTION_INFO_V1(umbel_pg_contains_##type);               \
    PG_FUNCTION_INFO_V1(umbel_pg_within_##type);                 \
    PG_FUNCTION_INFO_V1(umbel_pg_count_##type);                  \
    PG_FUNCTION_INFO_V1(umbel_pg_add_key_##type);                \
    Datum umbel_pg_contains_##type(PG_FUNCTION_ARGS) {           \
        return contains(fcinfo, 0, 1, asked_as(pgu_key_##type)); \
    }                                                            \
    Datum umbel_pg_within_##type(PG_FUNCTION_ARGS) {             \
        return contains(fcinfo, 1, 0, asked_as(pgu_key_##type)); \
    }                                                            \
    Datum umbel_pg_count_##type(PG_FUNCTION_ARGS) {              \
        return count(fcinfo, asked_as(pgu_key_##type));          \
    }                                                            \
    Datum umbel_pg_add_key_##type(PG_FUNCTION_ARGS) {            \
        return with_key(fcinfo, pgu_key_##type);                 \
    }

PGU_KEY_TYPES(KEY_TYPE)

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
