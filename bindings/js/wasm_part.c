/* SPDX-License-Identifier: MIT
 *
 * wasm_part.c - a part of ClickHouse is several files, but here there is only one: it is recognised,
 * and refused by name
 */
#include "core/diag.h"
#include "tables/clickhouse/clickhouse_part.h"

static umbel_err open_part(umbel_table *t, const umbel_table_hints *hints, umbel_diag *diag) {
    (void)t, (void)hints;
    return umbeli_fail(diag, UMBEL_ENOTSUP, "a part of ClickHouse is several files");
}

static void close_part(umbel_table *t) {
    (void)t;
}

const umbeli_table_ops umbeli_part_ops = {
    .system = UMBEL_TABLE_CLICKHOUSE,
    .name = "clickhouse",
    .recognise = umbeli_chain_starts,
    .open = open_part,
    .close = close_part,
};
