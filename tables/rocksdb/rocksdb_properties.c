/* SPDX-License-Identifier: MIT
 *
 * rocksdb_properties.c - the properties block: names and values, of which a few say how to read the
 * rest of the file
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/bits.h"
#include "core/diag.h"
#include "tables/rocksdb/rocksdb_table.h"

/* ---- Values ---- */

static bool is_one_of(const char *name, const char *const *names) {
    while (*names && strcmp(name, *names) != 0) names++;
    return *names != NULL;
}

/* Most values are varints; these are texts, or fixed numbers. */
static bool value_of(const char *name, const uint8_t *bytes, size_t len, uint64_t *number) {
    static const char *const texts[] = {"rocksdb.filter.policy",
                                        "rocksdb.column.family.name",
                                        "rocksdb.comparator",
                                        "rocksdb.merge.operator",
                                        "rocksdb.prefix.extractor.name",
                                        "rocksdb.property.collectors",
                                        "rocksdb.compression",
                                        "rocksdb.compression_options",
                                        "rocksdb.creating.db.identity",
                                        "rocksdb.creating.session.identity",
                                        "rocksdb.creating.host.identity",
                                        "rocksdb.block.based.table.whole.key.filtering",
                                        "rocksdb.block.based.table.prefix.filtering",
                                        NULL};
    static const char *const fixed[] = {"rocksdb.block.based.table.index.type",
                                        "rocksdb.external_sst_file.version",
                                        "rocksdb.external_sst_file.global_seqno", NULL};
    if (is_one_of(name, fixed) && (len == 4 || len == 8)) {
        *number = len == 4 ? umbeli_load_le32(bytes) : umbeli_load_le64(bytes);
        return true;
    }
    umbeli_reader r = umbeli_reader_over(bytes, len);
    return strncmp(name, "rocksdb.", 8) == 0 && !is_one_of(name, texts) &&
           umbeli_take_varint(&r, number) && umbeli_left(&r) == 0;
}

/* Text as it is; bytes that are not text in hexadecimal. */
static void write_text(char *to, const uint8_t *bytes, size_t len) {
    static const char digits[] = "0123456789abcdef";
    bool plain = true;
    for (size_t i = 0; i < len; i++) plain &= bytes[i] >= ' ' && bytes[i] < 127;
    for (size_t i = 0; i < len; i++) {
        if (plain) {
            *to++ = (char)bytes[i];
        } else {
            *to++ = digits[bytes[i] >> 4];
            *to++ = digits[bytes[i] & 15];
        }
    }
    *to = 0;
}

/* ---- What they mean ---- */

static void set_prefix(umbeli_rocks *own, const char *name) {
    static const char fixed[] = "rocksdb.FixedPrefix.", capped[] = "rocksdb.CappedPrefix.";
    bool is_fixed = strncmp(name, fixed, sizeof fixed - 1) == 0;
    if (own->asks != UMBELI_ASKS_NOTHING) return; /* whole keys are asked for */
    if (is_fixed || strncmp(name, capped, sizeof capped - 1) == 0) {
        const char *digits = name + (is_fixed ? sizeof fixed : sizeof capped) - 1;
        char *end;
        unsigned long long len = strtoull(digits, &end, 10);
        if (end == digits || *end || len > UINT32_MAX) return;
        own->asks = is_fixed ? UMBELI_ASKS_FIXED : UMBELI_ASKS_CAPPED;
        own->prefix_len = (size_t)len;
    } else if (strcmp(name, "rocksdb.Noop") == 0) {
        own->asks = UMBELI_ASKS_KEY;
    }
}

static void set_order(umbeli_rocks *own, const char *name) {
    own->order = strcmp(name, "leveldb.BytewiseComparator") == 0          ? UMBELI_ORDER_BYTES
                 : strcmp(name, "rocksdb.ReverseBytewiseComparator") == 0 ? UMBELI_ORDER_REVERSE
                                                                          : UMBELI_ORDER_UNKNOWN;
}

static uint64_t number_named(const umbeli_rocks *own, const char *name) {
    for (size_t i = 0; i < own->nfacts; i++) {
        if (strcmp(own->facts[i].name, name) == 0) return own->facts[i].number;
    }
    return 0;
}

static const char *text_named(const umbeli_rocks *own, const char *name) {
    for (size_t i = 0; i < own->nfacts; i++) {
        if (strcmp(own->facts[i].name, name) == 0) return own->facts[i].text;
    }
    return NULL;
}

static void conclude(umbeli_rocks *own) {
    const char *order = text_named(own, "rocksdb.comparator");
    const char *extractor = text_named(own, "rocksdb.prefix.extractor.name");
    const char *whole = text_named(own, "rocksdb.block.based.table.whole.key.filtering");
    own->keys = number_named(own, "rocksdb.num.filter_entries");
    if (!own->keys) own->keys = number_named(own, "rocksdb.num.entries");
    own->data_len = number_named(own, "rocksdb.data.size");
    own->user_keys = number_named(own, "rocksdb.index.key.is.user.key") != 0;
    own->deltas = number_named(own, "rocksdb.index.value.is.delta.encoded") != 0;
    own->index_type = (uint32_t)number_named(own, "rocksdb.block.based.table.index.type");
    own->order = UMBELI_ORDER_BYTES;
    own->asks = UMBELI_ASKS_KEY;
    if (order) set_order(own, order);
    if (whole && strcmp(whole, "0") == 0) own->asks = UMBELI_ASKS_NOTHING;
    if (extractor) set_prefix(own, extractor);
}

/* ---- Reading ---- */

/* One allocation: the name, then the value as text. */
static umbel_err add_fact(umbel_table *t, const uint8_t *name, size_t name_len,
                          const uint8_t *value, size_t len) {
    enum { NUMBER = 24 };
    umbeli_rocks *own = t->own;
    void *facts = own->facts;
    umbel_err e = umbeli_table_grow(t, &facts, sizeof *own->facts, own->nfacts, &own->facts_cap);
    if (e) return e;
    own->facts = facts;
    size_t room = name_len + 1 + 2 * len + NUMBER;
    if (room > t->settings.max_bytes - t->held) return UMBEL_ELIMIT;
    char *text = umbeli_new(&t->settings, room);
    if (!text) return UMBEL_ENOMEM;
    t->held += room;
    umbel_table_fact *f = &own->facts[own->nfacts++];
    *f = (umbel_table_fact){.name = text, .text = text + name_len + 1};
    memcpy(text, name, name_len);
    text[name_len] = 0;
    f->is_number = value_of(text, value, len, &f->number);
    if (f->is_number) {
        snprintf(text + name_len + 1, NUMBER, "%llu", (unsigned long long)f->number);
    } else {
        write_text(text + name_len + 1, value, len);
    }
    return UMBEL_OK;
}

void umbeli_rocks_facts_end(umbel_table *t) {
    umbeli_rocks *own = t->own;
    for (size_t i = 0; i < own->nfacts; i++) {
        umbeli_delete(&t->settings, (char *)(uintptr_t)own->facts[i].name);
    }
    umbeli_delete(&t->settings, own->facts);
    own->facts = NULL;
    own->nfacts = 0;
}

static umbel_err read_entries(umbel_table *t, const umbeli_block *b) {
    enum { NAME = 256 }; /* longer names are the application's, and may be skipped */
    uint8_t name[NAME];
    umbel_err e = UMBEL_OK;
    umbeli_entries it = umbeli_entries_of(b);
    while (!e && umbeli_entries_next(&it)) {
        umbeli_entries_key(&it, name, NAME);
        if (it.key_len < NAME && !memchr(name, 0, it.key_len)) {
            e = add_fact(t, name, it.key_len, it.value, it.value_len);
        }
    }
    if (it.wrong) e = umbeli_table_note(t, UMBEL_ECORRUPT, b->offset, it.wrong);
    return e;
}

/* RocksDB writes the sequence number of an ingested file into this block, and leaves the checksum
 * as it was with 0 there. */
static bool is_ingested(const umbel_table *t, umbeli_handle h) {
    static const char name[] = "rocksdb.external_sst_file.global_seqno";
    enum { TAIL = 12, NUMBER = 8 }; /* names share a prefix: the last bytes are enough */
    const uint8_t *block = t->bytes + h.offset,
                  *tail = (const uint8_t *)name + sizeof name - 1 - TAIL;
    if (h.size < TAIL + NUMBER || h.size > UINT32_MAX) return false;
    for (size_t i = 0; i + TAIL + NUMBER <= h.size; i++) {
        if (block[i] != *tail || memcmp(block + i, tail, TAIL) != 0) continue;
        uint8_t *copy = umbeli_new(&t->settings, (size_t)h.size + 1);
        if (!copy) return false;
        memcpy(copy, block, (size_t)h.size + 1);
        memset(copy + i + TAIL, 0, NUMBER);
        uint32_t sum = umbeli_rocks_checksum(t->own, copy, (size_t)h.size + 1, h.offset);
        umbeli_delete(&t->settings, copy);
        return sum == umbeli_load_le32(block + h.size + 1);
    }
    return false;
}

static umbel_err add_text(umbel_table *t, const char *name, const char *text) {
    return add_fact(t, (const uint8_t *)name, strlen(name), (const uint8_t *)text, strlen(text));
}

umbel_err umbeli_rocks_footer_facts(umbel_table *t) {
    static const char *const sums[] = {"none", "crc32c", "xxhash", "xxhash64", "xxh3"};
    umbeli_rocks *own = t->own;
    char digits[12];
    snprintf(digits, sizeof digits, "%u", own->version);
    umbel_err e = add_text(t, "footer.format_version", digits);
    if (e) return e;
    own->facts[0].is_number = true;
    own->facts[0].number = own->version;
    return add_text(t, "footer.checksum", sums[own->checksum]);
}

umbel_err umbeli_rocks_properties(umbel_table *t, umbeli_handle h) {
    umbel_diag why = {0};
    umbeli_block b;
    umbel_err e = umbeli_rocks_block(t, h, &b, &why);
    if (e == UMBEL_ECORRUPT && umbeli_rocks_inside(t, h) && is_ingested(t, h)) {
        b = (umbeli_block){t->bytes + h.offset, (size_t)h.size, h.offset, NULL};
        e = UMBEL_OK;
    }
    if (e) return umbeli_table_note_loss(t, e, &why);
    e = read_entries(t, &b);
    umbeli_block_end(t, &b);
    if (!e) conclude(t->own);
    return e;
}
