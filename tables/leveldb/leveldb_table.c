/* SPDX-License-Identifier: MIT
 *
 * leveldb_table.c - the filters of a LevelDB table
 *
 *   footer        varints: metaindex offset, size, index offset, size; zeros up to byte 40; magic
 *   metaindex     entry filter.<policy name> -> where the filter block is
 *
 * Page: docs/tables.md.  Checked against LevelDB 1.23.
 */
#include "tables/leveldb/leveldb_table.h"

#include <string.h>

#include "core/bits.h"
#include "core/diag.h"
#include "umbel_foreign.h"

enum { HANDLES = 40, KEY_ROOM = 64 };

static const uint64_t magic = UINT64_C(0xdb4775248b80fb57);

static bool recognise(const uint8_t *bytes, size_t len) {
    return len >= UMBELI_SSTABLE_FOOTER && umbeli_load_le64(bytes + len - 8) == magic;
}

/* ---- Blocks by name ---- */

static umbeli_policy policy_of(const uint8_t *name, size_t len) {
    static const char builtin[] = "filter.leveldb.BuiltinBloomFilter2";
    static const char split[] = "filter.umbel.SplitBlock";
    if (len == sizeof builtin - 1 && !memcmp(name, builtin, len)) return UMBELI_POLICY_BUILTIN;
    if (len == sizeof split - 1 && !memcmp(name, split, len)) return UMBELI_POLICY_SPLIT;
    return UMBELI_POLICY_NONE;
}

/* Finds the filters; *h stays zero if there are none that we understand. */
static umbel_err find_filters(umbel_table *t, const umbeli_block *metaindex, umbeli_handle *h) {
    umbeli_sstable *own = t->own;
    uint8_t key[KEY_ROOM];
    umbeli_entries it = umbeli_entries_of(metaindex);
    umbel_err e = UMBEL_OK;
    while (!e && umbeli_entries_next(&it)) {
        umbeli_entries_key(&it, key, KEY_ROOM);
        if (it.key_len >= 8 && memcmp(key, "rocksdb.", 8) == 0) {
            e = umbeli_table_note(
                t, UMBEL_EVERSION, metaindex->offset,
                "a RocksDB table of format version 0, whose filters are not read");
        }
        if (it.key_len < 7 || memcmp(key, "filter.", 7) != 0) continue;
        umbeli_policy policy = it.key_len < KEY_ROOM ? policy_of(key, it.key_len) : 0;
        umbeli_reader r = umbeli_reader_over(it.value, it.value_len);
        umbeli_handle where;
        if (policy == UMBELI_POLICY_NONE) {
            e = umbeli_table_note(t, UMBEL_EVERSION, metaindex->offset,
                                  "filters of an unknown policy");
        } else if (!umbeli_take_handle(&r, &where)) {
            e = umbeli_table_note(t, UMBEL_ECORRUPT, metaindex->offset,
                                  "metaindex: the handle of the filters is cut short");
        } else if (own->policy == UMBELI_POLICY_NONE) {
            own->policy = policy;
            *h = where;
        }
    }
    if (it.wrong) e = umbeli_table_note(t, UMBEL_ECORRUPT, metaindex->offset, it.wrong);
    return e;
}

static umbel_err read_or_note(umbel_table *t, umbeli_handle h, umbeli_block *out) {
    umbel_diag why = {0};
    return umbeli_table_note_loss(t, umbeli_block_read(t, h, out, &why), &why);
}

static bool overlap(umbeli_handle a, umbeli_handle b) {
    /* Sizes that overflow are noted where the block is read. */
    bool behind = b.offset >= a.offset && b.offset - a.offset >= a.size;
    bool before = a.offset >= b.offset && a.offset - b.offset >= b.size;
    return a.size && b.size && !behind && !before;
}

/* ---- Data blocks ---- */

static umbel_err count_keys(umbel_table *t, umbeli_handle h) {
    const umbeli_sstable *own = t->own;
    umbeli_block data;
    uint64_t keys = 0;
    umbel_err e = read_or_note(t, h, &data);
    if (e || !data.bytes) return e;
    umbeli_entries it = umbeli_entries_of(&data);
    while (umbeli_entries_next(&it)) keys++;
    if (it.wrong) e = umbeli_table_note(t, UMBEL_ECORRUPT, h.offset, it.wrong);
    uint64_t i = h.offset >> own->base_lg;
    if (i < t->count) t->places[i].seen.keys += keys;
    umbeli_block_end(t, &data);
    return e;
}

/* Visits every data block once, in order.  Overlapping blocks are refused: a crafted file could use
 * them to have the same bytes read over and over. */
static umbel_err read_data(umbel_table *t, uint64_t end) {
    const umbeli_sstable *own = t->own;
    uint64_t free_from = 0;
    umbel_err e = UMBEL_OK;
    umbeli_entries it = umbeli_entries_of(&own->index);
    while (!e && umbeli_entries_next(&it)) {
        umbeli_reader r = umbeli_reader_over(it.value, it.value_len);
        umbeli_handle h;
        if (!umbeli_take_handle(&r, &h)) {
            e = umbeli_table_note(t, UMBEL_ECORRUPT, own->index.offset,
                                  "index: the handle of a block is cut short");
        } else if (h.offset < free_from) {
            e = umbeli_table_note(t, UMBEL_ECORRUPT, h.offset,
                                  "a data block begins inside the one before it");
        } else if (h.offset > end || h.size > end - h.offset) {
            e = umbeli_table_note(t, UMBEL_ECORRUPT, h.offset,
                                  "a data block overlaps what follows the data");
        } else {
            free_from = h.offset + h.size;
            e = count_keys(t, h);
        }
    }
    if (it.wrong) e = umbeli_table_note(t, UMBEL_ECORRUPT, own->index.offset, it.wrong);
    return e;
}

/* ---- Open ---- */

static umbel_err read_footer(const umbel_table *t, umbeli_handle *metaindex, umbeli_handle *index,
                             umbel_diag *diag) {
    if (t->len < UMBELI_SSTABLE_FOOTER) {
        return umbeli_bad(diag, t->len, "too short for a LevelDB table");
    }
    size_t at = t->len - UMBELI_SSTABLE_FOOTER;
    if (!recognise(t->bytes, t->len)) {
        return umbeli_bad(diag, t->len - 8, "no LevelDB magic number");
    }
    umbeli_reader r = umbeli_reader_over(t->bytes + at, HANDLES);
    if (!umbeli_take_handle(&r, metaindex) || !umbeli_take_handle(&r, index)) {
        return umbeli_bad(diag, at, "the footer's handles are damaged");
    }
    return UMBEL_OK;
}

static umbel_err open_sstable(umbel_table *t, const umbel_table_hints *hints, umbel_diag *diag) {
    (void)hints;
    umbeli_handle meta, index, filters = {0};
    umbel_err e = read_footer(t, &meta, &index, diag);
    if (e) return e;
    umbeli_sstable *own = t->own = umbeli_new(&t->settings, sizeof *own);
    if (!own) return umbeli_fail(diag, UMBEL_ENOMEM, "the table");
    own->base_lg = UMBELI_SSTABLE_BASE_LG;
    umbeli_block metaindex;
    e = read_or_note(t, meta, &metaindex);
    if (!e && metaindex.bytes) e = find_filters(t, &metaindex, &filters);
    umbeli_block_end(t, &metaindex);
    if (!e) e = read_or_note(t, index, &own->index);
    if (!e && own->policy) e = read_or_note(t, filters, &own->filters);
    if (!e && (overlap(meta, index) || overlap(meta, filters) || overlap(index, filters))) {
        e = umbeli_table_note(t, UMBEL_ECORRUPT, t->len - UMBELI_SSTABLE_FOOTER,
                              "metaindex, index and filters overlap");
    }
    if (!e && own->filters.bytes) e = umbeli_sstable_filters(t);
    uint64_t data_end = own->filters.bytes ? filters.offset : meta.offset;
    if (!e && own->index.bytes) e = read_data(t, data_end);
    return e ? umbeli_fail(diag, e, "the filters of the table") : UMBEL_OK;
}

static void close_sstable(umbel_table *t) {
    umbeli_sstable *own = t->own;
    if (!own) return;
    umbeli_block_end(t, &own->index);
    umbeli_block_end(t, &own->filters);
    umbeli_delete(&t->settings, own);
}

/* ---- Seeking in the index block ---- */

enum { INTERNAL = 8 };

/* Looks at the new bytes only: prefixes may be long, and shared by very many entries. */
int umbeli_seek_compare(umbeli_seek *s, const umbeli_entries *it, size_t user) {
    memcpy(s->key + it->shared, it->suffix, it->suffix_len);
    if (it->shared <= s->equal) {
        s->equal = it->shared;
        while (s->equal < it->key_len && s->equal < s->len &&
               s->key[s->equal] == s->target[s->equal]) {
            s->equal++;
        }
    }
    size_t common = s->equal < user ? s->equal : user;
    if (common == s->len) return user > common;
    if (common == user) return -1;
    return s->key[common] < s->target[common] ? -1 : 1;
}

/* The data block that holds the key if any does, as LevelDB's Seek finds it; *found false: the key
 * is after the last one.  UMBEL_ECORRUPT when the index is too damaged to say. */
static umbel_err seek_block(const umbel_table *t, const void *key, size_t len, bool *found,
                            umbeli_handle *block) {
    const umbeli_sstable *own = t->own;
    *found = false;
    if (!own->index.bytes) return UMBEL_ECORRUPT;
    umbeli_seek s = {.target = key, .len = len};
    s.key = umbeli_new(&t->settings, own->index.len + 1);
    if (!s.key) return UMBEL_ENOMEM;
    umbel_err e = UMBEL_OK;
    umbeli_entries it = umbeli_entries_of(&own->index);
    while (!e && !*found && umbeli_entries_next(&it)) {
        if (it.key_len < INTERNAL) {
            e = UMBEL_ECORRUPT;
        } else if (umbeli_seek_compare(&s, &it, it.key_len - INTERNAL) >= 0) {
            umbeli_reader r = umbeli_reader_over(it.value, it.value_len);
            if (umbeli_take_handle(&r, block)) {
                *found = true;
            } else {
                e = UMBEL_ECORRUPT;
            }
        }
    }
    umbeli_delete(&t->settings, s.key);
    return !e && it.wrong ? UMBEL_ECORRUPT : e;
}

/* ---- Keys ---- */

static umbel_err check(const umbel_table *t, const char *column, const void *key, size_t len,
                       uint8_t *may, umbel_table_answer *answer, umbel_diag *diag) {
    const umbeli_sstable *own = t->own;
    umbeli_handle block = {0};
    if (column) return umbeli_invalid(diag, "column: a LevelDB table has none");
    umbel_err e = seek_block(t, key, len, &answer->has_block, &block);
    if (e == UMBEL_ENOMEM) return umbeli_fail(diag, e, "a key");
    if (e) { /* without its index the file may hold any key, anywhere */
        answer->may_contain = true;
        return umbeli_table_ask(t, 0, key, len, may, diag);
    }
    if (!answer->has_block) return UMBEL_OK;
    answer->block = block.offset;
    answer->len = block.size;
    uint64_t i = block.offset >> own->base_lg;
    answer->may_contain = i >= t->count || t->places[i].seen.state >= UMBEL_TABLE_NONE;
    if (i >= t->count) return UMBEL_OK;
    e = umbeli_table_ask_place(t, &t->places[i], key, len, &may[i], diag);
    if (!may[i]) answer->has_block = false;
    return e;
}

const umbeli_table_ops umbeli_sstable_ops = {
    .system = UMBEL_TABLE_LEVELDB,
    .name = "leveldb",
    .recognise = recognise,
    .open = open_sstable,
    .close = close_sstable,
    .filter = umbeli_sstable_filter,
    .check = check,
};
