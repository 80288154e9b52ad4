/* SPDX-License-Identifier: MIT
 *
 * leveldb_filters.c - the filter block of a LevelDB table
 *
 *   [filter]... [u32 offset of each filter] [u32 offset of these] [u8 base_lg]
 *
 * Filter i covers the data blocks that start in [i << base_lg, (i+1) << base_lg).
 */
#include <string.h>

#include "core/bits.h"
#include "core/diag.h"
#include "tables/leveldb/leveldb_table.h"
#include "umbel_foreign.h"

static uint64_t shifted(uint64_t i, uint8_t base_lg) {
    return i > UINT64_MAX >> base_lg ? UINT64_MAX : i << base_lg;
}

/* How LevelDB would interpret these bytes, and whether they are valid. */
static umbel_table_state state_of(const umbeli_sstable *own, const uint8_t *bytes, size_t len,
                                  const char **wrong) {
    if (len == 0) return UMBEL_TABLE_EMPTY;
    uint8_t last = bytes[len - 1];
    if (own->policy == UMBELI_POLICY_SPLIT) {
        if (last == UMBELI_SPLIT_TAG && len > 1 && len % 32 == 1) return UMBEL_TABLE_FILTER;
        *wrong = "umbel.SplitBlock: not whole 32-byte blocks followed by the byte 1";
        return UMBEL_TABLE_UNREADABLE;
    }
    if (len == 1) {
        *wrong = "a filter of one byte, in which LevelDB finds no key";
        return UMBEL_TABLE_EMPTY;
    }
    if (last >= 1 && last <= 30) return UMBEL_TABLE_FILTER;
    *wrong = last ? "k: above 30, a reserved encoding" : "k: zero, so every key would match";
    return UMBEL_TABLE_UNREADABLE;
}

/* *free_from is the end of the filters before it.  Filters must not overlap: otherwise the same
 * bytes could be many filters, each of them to be read. */
static umbel_err add_filter(umbel_table *t, const umbeli_block *b, uint32_t array, uint32_t i,
                            uint32_t *free_from) {
    const umbeli_sstable *own = t->own;
    const uint8_t *word = b->bytes + array + 4 * (size_t)i;
    uint64_t at = b->offset + (b->unpacked ? 0 : array + 4 * (uint64_t)i);
    uint32_t start = umbeli_load_le32(word), limit = umbeli_load_le32(word + 4);
    const char *wrong = NULL;
    umbeli_place p = {.seen = {.type = "string",
                               .offset = b->offset + (b->unpacked ? 0 : start),
                               .first = shifted(i, own->base_lg),
                               .end = shifted((uint64_t)i + 1, own->base_lg)}};
    if (start < limit && start < *free_from) {
        p.seen.state = UMBEL_TABLE_UNREADABLE;
        wrong = "a filter begins inside the one before it";
    } else if (start <= limit && limit <= array) {
        *free_from = limit;
        p.bytes = b->bytes + start;
        p.seen.len = limit - start;
        p.seen.state = state_of(own, p.bytes, limit - start, &wrong);
        if (wrong) at = p.seen.offset;
    } else if (start == limit) {
        p.seen.state = UMBEL_TABLE_EMPTY;
        wrong = "an offset beyond the filters";
    } else {
        p.seen.state = UMBEL_TABLE_UNREADABLE;
        wrong =
            start > limit ? "the offsets of filters go backwards" : "an offset beyond the filters";
    }
    umbel_err e = umbeli_table_add(t, &p);
    if (!e && wrong) e = umbeli_table_note(t, UMBEL_ECORRUPT, at, wrong);
    return e;
}

umbel_err umbeli_sstable_filters(umbel_table *t) {
    umbeli_sstable *own = t->own;
    uint32_t free_from = 0;
    const umbeli_block *b = &own->filters;
    uint64_t last = b->offset + (b->unpacked ? 0 : b->len);
    if (b->len < 5) {
        return umbeli_table_note(t, UMBEL_ECORRUPT, b->offset,
                                 "the filter block is shorter than 5 bytes");
    }
    uint8_t base_lg = b->bytes[b->len - 1];
    uint32_t array = umbeli_load_le32(b->bytes + b->len - 5);
    if (array > b->len - 5) {
        return umbeli_table_note(t, UMBEL_ECORRUPT, last - (b->unpacked ? 0 : 5),
                                 "the array of offsets begins beyond the filter block");
    }
    if (base_lg >= 64) { /* LevelDB shifts by it anyway, which is undefined */
        return umbeli_table_note(t, UMBEL_ECORRUPT, last - (b->unpacked ? 0 : 1),
                                 "base_lg: 64 or more");
    }
    own->base_lg = base_lg;
    umbel_err e = UMBEL_OK;
    if ((b->len - 5 - array) % 4) {
        e = umbeli_table_note(t, UMBEL_ECORRUPT, b->offset,
                              "the last entry of the array of offsets is incomplete");
    }
    uint64_t n = (b->len - 5 - array) / 4, max = (b->offset >> base_lg) + 1;
    if (n > max && !e) {
        e = umbeli_table_note(t, UMBEL_ECORRUPT, b->offset, "more filters than there is data for");
        n = max;
    }
    for (uint32_t i = 0; i < n && !e; i++) e = add_filter(t, b, array, i, &free_from);
    return e;
}

/* With Parquet's header in front, the blocks are a filter that umbel.h can read. */
static umbel_err split_filter(const umbel_table *t, const umbeli_place *p, umbel_filter **out,
                              umbel_diag *diag) {
    umbel_opts opts = umbeli_table_opts(t);
    uint64_t bits = p->seen.len - 1;
    umbel_foreign like = {.format = UMBEL_FMT_PARQUET, .bytes = bits};
    umbel_filter *empty = NULL;
    umbel_err e = umbel_create_foreign(&like, &opts, &empty, diag);
    if (e) return e;
    size_t len = (size_t)umbel_encoded_size(empty, UMBEL_FMT_PARQUET);
    uint8_t *whole = umbeli_new(&t->settings, len);
    e = whole ? umbel_encode(empty, UMBEL_FMT_PARQUET, whole, len, diag)
              : umbeli_fail(diag, UMBEL_ENOMEM, "a filter");
    if (!e) {
        memcpy(whole + len - bits, p->bytes, (size_t)bits);
        e = umbel_decode(whole, len, UMBEL_LOAD, &(umbel_foreign){.format = UMBEL_FMT_PARQUET},
                         &opts, out, diag);
    }
    umbeli_delete(&t->settings, whole);
    umbel_free(empty);
    return e;
}

umbel_err umbeli_sstable_filter(const umbel_table *t, const umbeli_place *p, umbel_filter **out,
                                umbel_diag *diag) {
    const umbeli_sstable *own = t->own;
    if (own->policy == UMBELI_POLICY_SPLIT) return split_filter(t, p, out, diag);
    return umbeli_table_view(t, p, &(umbel_foreign){.format = UMBEL_FMT_LEVELDB}, out, diag);
}
