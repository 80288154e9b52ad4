/* SPDX-License-Identifier: MIT
 *
 * pg_report.c - umbel_info and umbel_plan: what a filter is, and what one would be
 */
#include "pg_umbel.h"

#include "access/htup_details.h"
#include "funcapi.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(umbel_pg_info);
PG_FUNCTION_INFO_V1(umbel_pg_plan);
PG_FUNCTION_INFO_V1(umbel_pg_version);

static Datum row(FunctionCallInfo fcinfo, Datum *values, bool *nulls) {
    TupleDesc shape;
    if (get_call_result_type(fcinfo, NULL, &shape) != TYPEFUNC_COMPOSITE) {
        elog(ERROR, "not called where a row is expected");
    }
    return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(shape), values, nulls));
}

Datum umbel_pg_info(PG_FUNCTION_ARGS) {
    umbel_info info;
    umbel_measurement now;
    const umbel_filter *filter = pgu_filter(fcinfo, 0)->filter;
    umbel_describe(filter, &info);
    umbel_measure(filter, &now);
    Datum values[] = {
        CStringGetTextDatum(umbel_kind_name(info.kind)),
        CStringGetTextDatum(info.layout),
        CStringGetTextDatum(umbel_get_recipe(filter)),
        Int64GetDatum((int64)info.capacity),
        Float8GetDatum(info.fpr),
        Float8GetDatum(now.keys),
        Float8GetDatum(now.keys_error),
        Float8GetDatum(now.rate),
        Int64GetDatum((int64)info.bytes),
        Int32GetDatum((int32)info.hashes),
        Int32GetDatum((int32)info.layers),
        Int64GetDatum((int64)info.seed),
        CStringGetTextDatum(psprintf("%016llx", (unsigned long long)info.fingerprint)),
    };
    bool nulls[lengthof(values)] = {
        [3] = info.capacity == 0, [4] = info.fpr == 0, [12] = info.fingerprint == 0};
    return row(fcinfo, values, nulls);
}

Datum umbel_pg_plan(PG_FUNCTION_ARGS) {
    umbel_plan plan = {0};
    umbel_diag diag = {0};
    if (!PG_ARGISNULL(0)) plan.capacity = pgu_whole(PG_GETARG_FLOAT8(0), "capacity");
    if (!PG_ARGISNULL(1)) plan.fpr = PG_GETARG_FLOAT8(1);
    if (!PG_ARGISNULL(2)) plan.bytes = pgu_whole(PG_GETARG_FLOAT8(2), "bytes");
    if (!PG_ARGISNULL(3)) plan.kind = pgu_kind(text_to_cstring(PG_GETARG_TEXT_PP(3)));
    umbel_err e = umbel_plan_solve(&plan, &diag);
    if (e) pgu_fail(e, &diag);
    Datum values[] = {
        CStringGetTextDatum(umbel_kind_name(plan.kind)),
        Int64GetDatum((int64)plan.capacity),
        Float8GetDatum(plan.fpr),
        Int64GetDatum((int64)plan.bytes),
        Float8GetDatum(plan.bits_per_key),
        Int32GetDatum((int32)plan.hashes),
        BoolGetDatum(plan.bytes <= pgu_opts(CurrentMemoryContext).max_bytes),
        CStringGetTextDatum(plan.why),
    };
    bool nulls[lengthof(values)] = {0};
    return row(fcinfo, values, nulls);
}

Datum umbel_pg_version(PG_FUNCTION_ARGS) {
    (void)fcinfo;
    PG_RETURN_TEXT_P(cstring_to_text(umbel_version()));
}
