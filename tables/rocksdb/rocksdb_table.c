/* SPDX-License-Identifier: MIT
 *
 * rocksdb_table.c - the filters of a RocksDB table
 *
 *   footer        checksum type; handles of metaindex and index, as LevelDB's, or from version 6 on
 *                 3e 00 7a 00, the footer's own checksum, base of all checksums, size of the
 *                 metaindex, which ends at the footer; format version; magic
 *   metaindex     fullfilter.<policy> -> the filter; partitionedfilter.<policy> -> an index of the
 *                 partitions; rocksdb.properties; from version 6 on also rocksdb.index
 *
 * Page: docs/tables.md.  Checked against RocksDB 7.8.3 (versions 2 to 5) and 9.7.4 (version 6).
 */
#include "tables/rocksdb/rocksdb_table.h"

#include <string.h>

#include "core/bits.h"
#include "core/diag.h"
#include "umbel_foreign.h"

enum { MIN_VERSION = 2, MAX_VERSION = 6, CONTEXT_VERSION = 6, MAX_SUM = 4, HANDLES = 40 };
enum { KEY_ROOM = 80, PROMISED_EMPTY = 5 };

static const uint64_t magic = UINT64_C(0x88e241b785f4cff7);
static const uint64_t plain_magics[] = {
    UINT64_C(0x8242229663bf9564), UINT64_C(0x4f3418eb7a8f13b8), /* plain tables */
    UINT64_C(0x926789d0c5f17873),                               /* cuckoo tables */
};

static uint64_t magic_of(const uint8_t *bytes, size_t len) {
    return len >= UMBELI_ROCKS_FOOTER ? umbeli_load_le64(bytes + len - 8) : 0;
}

static bool is_other(uint64_t found) {
    for (size_t i = 0; i < sizeof plain_magics / sizeof *plain_magics; i++) {
        if (found == plain_magics[i]) return true;
    }
    return false;
}

static bool recognise(const uint8_t *bytes, size_t len) {
    uint64_t found = magic_of(bytes, len);
    return found == magic || is_other(found);
}

/* ---- Footer ---- */

/* Version 6: the metaindex ends at the footer, which has a checksum over itself (with zeros in the
 * checksum's place). */
static umbel_err read_new_footer(const umbel_table *t, umbeli_handle *meta, umbel_diag *diag) {
    umbeli_rocks *own = t->own;
    uint64_t at = t->len - UMBELI_ROCKS_FOOTER;
    uint8_t copy[UMBELI_ROCKS_FOOTER];
    memcpy(copy, t->bytes + at, sizeof copy);
    uint32_t stored = umbeli_load_le32(copy + 5), size = umbeli_load_le32(copy + 13);
    own->base = umbeli_load_le32(copy + 9);
    umbeli_store_le32(copy + 5, 0);
    if (memcmp(copy + 1, "\x3e\0\x7a", 4) != 0) {
        return umbeli_bad(diag, at + 1, "the footer is damaged");
    }
    if (own->base == 0 || umbeli_rocks_checksum(own, copy, sizeof copy, at) != stored) {
        return umbeli_bad(diag, at + 5, "the footer's checksum is wrong");
    }
    if (umbeli_load_le64(copy + 33) != 0) {
        return umbeli_unknown(diag, at + 33, "a feature of a later RocksDB");
    }
    if (size + UINT64_C(5) > at) return umbeli_bad(diag, at + 13, "the metaindex is cut off");
    *meta = (umbeli_handle){at - UMBELI_ROCKS_TRAILER - size, size};
    return UMBEL_OK;
}

static umbel_err read_footer(const umbel_table *t, umbeli_handle *meta, umbeli_handle *index,
                             umbel_diag *diag) {
    umbeli_rocks *own = t->own;
    uint64_t found = magic_of(t->bytes, t->len);
    if (is_other(found)) {
        return umbeli_unknown(diag, t->len - 8,
                              "a plain or cuckoo table of RocksDB, which has no filter block");
    }
    if (found != magic) {
        return umbeli_bad(diag, t->len > 8 ? t->len - 8 : 0, "no RocksDB magic number");
    }
    const uint8_t *footer = t->bytes + t->len - UMBELI_ROCKS_FOOTER;
    uint64_t at = t->len - UMBELI_ROCKS_FOOTER;
    own->version = umbeli_load_le32(footer + 41);
    own->checksum = footer[0];
    if (own->version < MIN_VERSION || own->version > MAX_VERSION) {
        return umbeli_unknown(diag, at + 41,
                              own->version == 7 ? "format_version: 7; only 2 to 6 are read"
                                                : "format_version: only 2 to 6 are read");
    }
    if (own->checksum > MAX_SUM) {
        return umbeli_unknown(diag, at, "checksum: a type that is not known");
    }
    if (own->version >= CONTEXT_VERSION) return read_new_footer(t, meta, diag);
    umbeli_reader r = umbeli_reader_over(footer + 1, HANDLES);
    if (!umbeli_take_handle(&r, meta) || !umbeli_take_handle(&r, index)) {
        return umbeli_bad(diag, at, "the footer's handles are damaged");
    }
    return UMBEL_OK;
}

/* ---- Metaindex ---- */

typedef struct places_of_blocks {
    umbeli_handle index, filters, properties;
    bool has_filters, has_properties;
} places_of_blocks;

static bool begins(const uint8_t *key, size_t len, const char *with) {
    size_t n = strlen(with);
    return len >= n && memcmp(key, with, n) == 0;
}

static bool is(const uint8_t *key, size_t len, const char *name) {
    return len == strlen(name) && begins(key, len, name);
}

/* A policy that is not RocksDB's own, or a form that it has abandoned, is noted by name. */
static umbel_err use_entry(umbel_table *t, const uint8_t *key, size_t len, umbeli_handle h,
                           uint64_t at, places_of_blocks *b) {
    umbeli_rocks *own = t->own;
    if (is(key, len, "rocksdb.properties")) {
        b->properties = h;
        b->has_properties = true;
    } else if (is(key, len, "rocksdb.index")) {
        b->index = h;
    } else if (is(key, len, "fullfilter.rocksdb.BuiltinBloomFilter") ||
               is(key, len, "partitionedfilter.rocksdb.BuiltinBloomFilter")) {
        b->filters = h;
        b->has_filters = true;
        own->partitioned = key[0] == 'p';
    } else if (begins(key, len, "filter.")) {
        return umbeli_table_note(t, UMBEL_EVERSION, at,
                                 "block-based filters, which RocksDB no longer has");
    } else if (begins(key, len, "fullfilter.") || begins(key, len, "partitionedfilter.")) {
        return umbeli_table_note(t, UMBEL_EVERSION, at, "filters of an unknown policy");
    }
    return UMBEL_OK;
}

static umbel_err read_metaindex(umbel_table *t, const umbeli_block *metaindex,
                                places_of_blocks *b) {
    uint8_t key[KEY_ROOM];
    umbel_err e = UMBEL_OK;
    umbeli_entries it = umbeli_entries_of(metaindex);
    while (!e && umbeli_entries_next(&it)) {
        umbeli_entries_key(&it, key, KEY_ROOM);
        umbeli_reader r = umbeli_reader_over(it.value, it.value_len);
        umbeli_handle h;
        size_t len = it.key_len < KEY_ROOM ? it.key_len : KEY_ROOM;
        if (umbeli_take_handle(&r, &h)) {
            e = use_entry(t, key, len, h, metaindex->offset, b);
        } else {
            e = umbeli_table_note(t, UMBEL_ECORRUPT, metaindex->offset,
                                  "metaindex: the handle of a block is cut short");
        }
    }
    if (!e && it.wrong) e = umbeli_table_note(t, UMBEL_ECORRUPT, metaindex->offset, it.wrong);
    return e;
}

static umbel_err read_or_note(umbel_table *t, umbeli_handle h, umbeli_block *out) {
    umbel_diag why = {0};
    return umbeli_table_note_loss(t, umbeli_rocks_block(t, h, out, &why), &why);
}

/* ---- Filters ---- */

/* Reads what the filter's own bytes say; a filter in which RocksDB would let every key match is
 * noted. */
static umbel_err add_filter(umbel_table *t, const umbeli_block *b, umbeli_place *p) {
    umbel_diag why = {0};
    p->bytes = b->bytes;
    p->seen.len = b->len;
    umbel_err e = umbel_decode(b->bytes, b->len, UMBEL_VERIFY,
                               &(umbel_foreign){.format = UMBEL_FMT_ROCKSDB}, NULL, NULL, &why);
    p->seen.state = e                          ? UMBEL_TABLE_UNREADABLE
                    : b->len <= PROMISED_EMPTY ? UMBEL_TABLE_EMPTY
                                               : UMBEL_TABLE_FILTER;
    if (e) {
        why.offset = b->unpacked ? b->offset : b->offset + why.offset;
        e = umbeli_table_note_diag(t, e, &why);
    }
    return e ? e : umbeli_table_add(t, p);
}

/* Partitions follow one another: if they could overlap, the same bytes could be many of them, each
 * to be read. */
static umbel_err add_partition(umbel_table *t, umbeli_handle h, uint64_t *free_from) {
    umbeli_place p = {.seen = {.state = UMBEL_TABLE_UNREADABLE,
                               .type = "string",
                               .offset = h.offset,
                               .first = t->count,
                               .end = (uint64_t)t->count + 1}};
    umbeli_block b = {0};
    umbel_err e;
    if (h.offset < *free_from) {
        e = umbeli_table_note(t, UMBEL_ECORRUPT, h.offset,
                              "a filter begins inside the one before it");
    } else {
        e = read_or_note(t, h, &b);
    }
    if (e) return e;
    if (b.bytes) *free_from = h.offset + h.size;
    if (b.bytes && !b.unpacked) return add_filter(t, &b, &p);
    if (b.unpacked) {
        umbeli_block_end(t, &b);
        e = umbeli_table_note(t, UMBEL_EVERSION, h.offset, "a filter that is compressed");
    }
    return e ? e : umbeli_table_add(t, &p);
}

static umbel_err add_partitions(umbel_table *t) {
    const umbeli_rocks *own = t->own;
    uint64_t free_from = 0;
    umbel_err e = UMBEL_OK;
    umbeli_index_entries i = umbeli_index_of(own, &own->filters, true);
    while (!e && umbeli_index_next(&i)) e = add_partition(t, i.handle, &free_from);
    if (!e && i.it.wrong) e = umbeli_table_note(t, UMBEL_ECORRUPT, own->filters.offset, i.it.wrong);
    return e;
}

static umbel_err add_filters(umbel_table *t, const places_of_blocks *b) {
    umbeli_rocks *own = t->own;
    umbeli_place whole = {
        .seen = {.state = b->has_filters ? UMBEL_TABLE_UNREADABLE : UMBEL_TABLE_NONE,
                 .type = "string",
                 .offset = b->filters.offset,
                 .end = own->data_len,
                 .keys = own->keys}};
    umbel_err e = b->has_filters ? read_or_note(t, b->filters, &own->filters) : UMBEL_OK;
    if (e) return e;
    if (!own->filters.bytes) return umbeli_table_add(t, &whole);
    return own->partitioned ? add_partitions(t) : add_filter(t, &own->filters, &whole);
}

/* ---- Open ---- */

static umbel_err open_rocks(umbel_table *t, const umbel_table_hints *hints, umbel_diag *diag) {
    (void)hints;
    umbeli_handle meta = {0};
    places_of_blocks b = {.has_filters = false};
    umbeli_block metaindex;
    umbeli_rocks *own = t->own = umbeli_new(&t->settings, sizeof *own);
    if (!own) return umbeli_fail(diag, UMBEL_ENOMEM, "the table");
    umbel_err e = read_footer(t, &meta, &b.index, diag);
    if (e) return e;
    e = umbeli_rocks_footer_facts(t);
    if (e) return umbeli_fail(diag, e, "the table");
    e = read_or_note(t, meta, &metaindex);
    bool lost = !e && !metaindex.bytes;
    if (!e && metaindex.bytes) e = read_metaindex(t, &metaindex, &b);
    umbeli_block_end(t, &metaindex);
    own->user_keys = own->version >= 3;
    own->deltas = own->version >= 4;
    if (b.has_properties) { /* until they are read, nothing is known that would allow a "no" */
        own->order = UMBELI_ORDER_UNKNOWN;
        own->asks = UMBELI_ASKS_NOTHING;
    }
    if (!e && b.has_properties) e = umbeli_rocks_properties(t, b.properties);
    if (!e && !lost) e = read_or_note(t, b.index, &own->index);
    if (!e && !lost) e = add_filters(t, &b);
    return e ? umbeli_fail(diag, e, "the filters of the table") : UMBEL_OK;
}

static void close_rocks(umbel_table *t) {
    umbeli_rocks *own = t->own;
    if (!own) return;
    umbeli_rocks_facts_end(t);
    umbeli_block_end(t, &own->index);
    umbeli_block_end(t, &own->filters);
    umbeli_delete(&t->settings, own);
}

static umbel_err filter_of(const umbel_table *t, const umbeli_place *p, umbel_filter **out,
                           umbel_diag *diag) {
    return umbeli_table_view(t, p, &(umbel_foreign){.format = UMBEL_FMT_ROCKSDB}, out, diag);
}

static bool fact_of(const umbel_table *t, size_t i, umbel_table_fact *fact) {
    const umbeli_rocks *own = t->own;
    if (i >= own->nfacts) return false;
    *fact = own->facts[i];
    return true;
}

/* ---- Queries ---- */

/* What is in the filter for this key: false when that is not known, and everything matches. */
static bool asked(const umbeli_rocks *own, umbel_key key, umbel_key *entry) {
    *entry = key;
    switch (own->asks) {
    case UMBELI_ASKS_KEY: return true;
    case UMBELI_ASKS_FIXED: entry->len = own->prefix_len; return key.len >= own->prefix_len;
    case UMBELI_ASKS_CAPPED:
        if (key.len > own->prefix_len) entry->len = own->prefix_len;
        return true;
    default: return false;
    }
}

/* The data block that a reader would continue to; in an index of two levels it is found in the
 * second. */
static umbel_err find_block(const umbel_table *t, umbel_key key, umbel_table_answer *answer) {
    const umbeli_rocks *own = t->own;
    umbel_table reader = *t; /* counts what is decompressed here; others may be reading the table */
    umbeli_handle h = {0};
    umbeli_block second = {0};
    size_t number;
    if (!own->index.bytes || own->order == UMBELI_ORDER_UNKNOWN) return UMBEL_OK;
    umbel_err e = umbeli_index_seek(t, &own->index, false, key, &answer->has_block, &number, &h);
    if (!e && answer->has_block && own->index_type == UMBELI_INDEX_TWO_LEVELS) {
        answer->has_block = false;
        e = umbeli_rocks_block(&reader, h, &second, NULL);
        if (!e) e = umbeli_index_seek(t, &second, false, key, &answer->has_block, &number, &h);
        umbeli_block_end(&reader, &second);
    }
    if (e) answer->has_block = false;
    answer->block = answer->has_block ? h.offset : 0;
    answer->len = answer->has_block ? h.size : 0;
    return e == UMBEL_ENOMEM ? e : UMBEL_OK;
}

/* Asks the partition that the key belongs to; *one is false when that cannot be found. */
static umbel_err ask_partition(const umbel_table *t, umbel_key key, umbel_key entry, bool known,
                               uint8_t *may, bool *one, umbel_diag *diag) {
    const umbeli_rocks *own = t->own;
    umbeli_handle h;
    size_t i = 0;
    bool found;
    *one = false;
    if (!own->partitioned || !own->filters.bytes || own->order == UMBELI_ORDER_UNKNOWN) {
        return UMBEL_OK;
    }
    umbel_err e = umbeli_index_seek(t, &own->filters, true, key, &found, &i, &h);
    if (e == UMBEL_ENOMEM) return umbeli_fail(diag, e, "a key");
    if (e || i >= t->count) return UMBEL_OK;
    *one = true;
    may[i] = t->places[i].seen.state != UMBEL_TABLE_EMPTY;
    return known ? umbeli_table_ask_place(t, &t->places[i], entry.data, entry.len, &may[i], diag)
                 : UMBEL_OK;
}

static umbel_err check(const umbel_table *t, const char *column, const void *bytes, size_t len,
                       uint8_t *may, umbel_table_answer *answer, umbel_diag *diag) {
    umbel_key key = {bytes, len}, entry;
    bool known = asked(t->own, key, &entry), one;
    if (column) return umbeli_invalid(diag, "column: a RocksDB table has none");
    umbel_err e = ask_partition(t, key, entry, known, may, &one, diag);
    if (!e && !one && known) e = umbeli_table_ask(t, 0, entry.data, entry.len, may, diag);
    if (e) return e;
    bool any = t->count == 0;
    for (size_t i = 0; i < t->count; i++) {
        if (!one && !known) may[i] = t->places[i].seen.state != UMBEL_TABLE_EMPTY;
        any |= may[i];
    }
    answer->may_contain = any;
    if (!any) return UMBEL_OK;
    e = find_block(t, key, answer);
    return e ? umbeli_fail(diag, e, "a key") : UMBEL_OK;
}

const umbeli_table_ops umbeli_rocks_ops = {
    .system = UMBEL_TABLE_ROCKSDB,
    .name = "rocksdb",
    .recognise = recognise,
    .open = open_rocks,
    .close = close_rocks,
    .filter = filter_of,
    .check = check,
    .fact = fact_of,
};
