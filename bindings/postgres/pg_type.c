/* SPDX-License-Identifier: MIT
 *
 * pg_type.c - the type umbel: its text and binary forms, casts, union, intersection
 *
 * A value is a native file.  Every way into the type goes through checked(), so a value is valid.
 */
#include "pg_umbel.h"

#include "utils/builtins.h"

PG_MODULE_MAGIC;

void _PG_init(void);
void _PG_init(void) {
    pgu_define_settings();
    pgu_define_cache();
}

static Datum checked(Datum bytes) {
    struct varlena *value = PG_DETOAST_DATUM_PACKED(bytes);
    umbel_diag diag = {0};
    pgu_insist_on_size(VARSIZE_ANY_EXHDR(value));
    umbel_err e = umbel_decode(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value), UMBEL_VERIFY,
                               &pgu_native, NULL, NULL, &diag);
    if (e) pgu_fail(e, &diag);
    return PointerGetDatum(value);
}

PG_FUNCTION_INFO_V1(umbel_pg_in);
PG_FUNCTION_INFO_V1(umbel_pg_out);
PG_FUNCTION_INFO_V1(umbel_pg_recv);
PG_FUNCTION_INFO_V1(umbel_pg_send);
PG_FUNCTION_INFO_V1(umbel_pg_from_bytea);
PG_FUNCTION_INFO_V1(umbel_pg_to_bytea);
PG_FUNCTION_INFO_V1(umbel_pg_same_bits);
PG_FUNCTION_INFO_V1(umbel_pg_merge);
PG_FUNCTION_INFO_V1(umbel_pg_intersect);

Datum umbel_pg_in(PG_FUNCTION_ARGS) {
    return checked(DirectFunctionCall1(byteain, PG_GETARG_DATUM(0)));
}

/* Always hexadecimal, whatever bytea_output says: the other form would be longer still. */
Datum umbel_pg_out(PG_FUNCTION_ARGS) {
    struct varlena *value = PG_GETARG_VARLENA_PP(0);
    Size len = VARSIZE_ANY_EXHDR(value);
    char *text = palloc_extended(2 * len + 3, MCXT_ALLOC_HUGE);
    text[0] = '\\';
    text[1] = 'x';
    hex_encode(VARDATA_ANY(value), len, text + 2);
    text[2 * len + 2] = 0;
    PG_RETURN_CSTRING(text);
}

Datum umbel_pg_recv(PG_FUNCTION_ARGS) {
    return checked(DirectFunctionCall1(bytearecv, PG_GETARG_DATUM(0)));
}

Datum umbel_pg_send(PG_FUNCTION_ARGS) {
    PG_RETURN_BYTEA_P(PG_GETARG_BYTEA_P_COPY(0));
}

Datum umbel_pg_from_bytea(PG_FUNCTION_ARGS) {
    return checked(PG_GETARG_DATUM(0));
}

/* Detoasted, because it may be a mapped file. */
Datum umbel_pg_to_bytea(PG_FUNCTION_ARGS) {
    PG_RETURN_BYTEA_P(PG_GETARG_VARLENA_PP(0));
}

static umbel_filter *opened(FunctionCallInfo fcinfo, int arg, umbel_how how) {
    return pgu_open(how, PG_GETARG_VARLENA_PP(arg), CurrentMemoryContext);
}

Datum umbel_pg_same_bits(PG_FUNCTION_ARGS) {
    umbel_diag diag = {0};
    const umbel_filter *a = opened(fcinfo, 0, UMBEL_MAP), *b = opened(fcinfo, 1, UMBEL_MAP);
    bool same = umbel_equal(a, b);
    umbel_err e = umbel_damage(a, &diag);
    if (!e) e = umbel_damage(b, &diag);
    if (e) pgu_fail(e, &diag);
    PG_RETURN_BOOL(same);
}

static struct varlena *combined(FunctionCallInfo fcinfo,
                                umbel_err (*combine)(umbel_filter *, const umbel_filter *,
                                                     umbel_diag *)) {
    umbel_diag diag = {0};
    umbel_filter *into = opened(fcinfo, 0, UMBEL_LOAD);
    umbel_err e = combine(into, opened(fcinfo, 1, UMBEL_MAP), &diag);
    if (e) pgu_fail(e, &diag);
    return pgu_encode(into);
}

Datum umbel_pg_merge(PG_FUNCTION_ARGS) {
    PG_RETURN_POINTER(combined(fcinfo, umbel_merge));
}

Datum umbel_pg_intersect(PG_FUNCTION_ARGS) {
    PG_RETURN_POINTER(combined(fcinfo, umbel_intersect));
}
