/* SPDX-License-Identifier: MIT
 *
 * pg_key.c - datums as keys, and asking for them
 *
 * Text and bytea are their bytes, whatever the collation.  Integers of every width are eight bytes,
 * little-endian, so that int4 7 and int8 7 are one key.  A uuid is its 16 bytes.
 */
#include "pg_umbel.h"

#include "port/pg_bswap.h"
#include "utils/builtins.h"
#include "utils/uuid.h"

umbel_key pgu_key_bytes(Datum datum, uint64_t *number) {
    struct varlena *text = PG_DETOAST_DATUM_PACKED(datum);
    (void)number;
    return (umbel_key){VARDATA_ANY(text), VARSIZE_ANY_EXHDR(text)};
}

umbel_key pgu_key_number(Datum datum, uint64_t *number) {
    *number = (uint64_t)DatumGetInt64(datum);
#ifdef WORDS_BIGENDIAN
    *number = pg_bswap64(*number);
#endif
    return (umbel_key){number, sizeof *number};
}

umbel_key pgu_key_uuid(Datum datum, uint64_t *number) {
    (void)number;
    return (umbel_key){DatumGetUUIDP(datum)->data, UUID_LEN};
}

static bool contains(FunctionCallInfo fcinfo, int filter, int key, pgu_reader read) {
    uint64_t number;
    const umbel_filter *f = pgu_filter(fcinfo, filter);
    umbel_key k = read(PG_GETARG_DATUM(key), &number);
    return umbel_contains(f, k.data, k.len);
}

static uint32_t count(FunctionCallInfo fcinfo, pgu_reader read) {
    uint64_t number;
    const umbel_filter *f = pgu_filter(fcinfo, 0);
    umbel_key k = read(PG_GETARG_DATUM(1), &number);
    return umbel_count(f, k.data, k.len);
}

#define KEY_TYPE(type, read)                           \
    PG_FUNCTION_INFO_V1(umbel_pg_contains_##type);     \
    PG_FUNCTION_INFO_V1(umbel_pg_within_##type);       \
    PG_FUNCTION_INFO_V1(umbel_pg_count_##type);        \
    Datum umbel_pg_contains_##type(PG_FUNCTION_ARGS) { \
        PG_RETURN_BOOL(contains(fcinfo, 0, 1, read));  \
    }                                                  \
    Datum umbel_pg_within_##type(PG_FUNCTION_ARGS) {   \
        PG_RETURN_BOOL(contains(fcinfo, 1, 0, read));  \
    }                                                  \
    Datum umbel_pg_count_##type(PG_FUNCTION_ARGS) {    \
        PG_RETURN_INT32((int32)count(fcinfo, read));   \
    }

KEY_TYPE(bytes, pgu_key_bytes)
KEY_TYPE(number, pgu_key_number)
KEY_TYPE(uuid, pgu_key_uuid)

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
