/* SPDX-License-Identifier: MIT
 *
 * leveldb_filter_writer.c - LevelDB's filter block, built in the order of its table builder
 *
 * A filter is emitted for every 2 KiB of the file that a new data block has passed: one for the
 * pending keys, then empty ones.  Only the hashes of keys are kept.
 */
#include <string.h>

#include "core/bits.h"
#include "core/diag.h"
#include "hash/foreign_hash.h"
#include "tables/leveldb/leveldb_raw.h"
#include "tables/leveldb/leveldb_table.h"

struct umbel_leveldb_block {
    umbeli_settings settings;
    uint32_t bits_per_key;
    bool finished;
    uint64_t started; /* offset of the last data block started */
    uint8_t *bytes;   /* filters so far, then the whole block */
    size_t len, cap;
    uint32_t *offsets;
    size_t noffsets, offsets_cap;
    uint32_t *hashes; /* of keys pending for the next filter */
    size_t nhashes, hashes_cap;
};

umbel_err umbel_leveldb_block_new(uint32_t bits_per_key, const umbel_opts *opts,
                                  umbel_leveldb_block **out, umbel_diag *diag) {
    umbeli_settings settings;
    umbel_err e = umbeli_settings_from(opts, &settings, diag);
    if (e) return e;
    if (bits_per_key > INT32_MAX) {
        return umbeli_invalid(diag, "bits_per_key: does not fit LevelDB's int");
    }
    umbel_leveldb_block *b = umbeli_new(&settings, sizeof *b);
    if (!b) return umbeli_fail(diag, UMBEL_ENOMEM, "the builder");
    b->settings = settings;
    b->bits_per_key = bits_per_key;
    *out = b;
    return UMBEL_OK;
}

void umbel_leveldb_block_free(umbel_leveldb_block *b) {
    if (!b) return;
    umbeli_settings settings = b->settings;
    umbeli_delete(&settings, b->bytes);
    umbeli_delete(&settings, b->offsets);
    umbeli_delete(&settings, b->hashes);
    umbeli_delete(&settings, b);
}

/* Appends `more` zeroed bytes. */
static umbel_err extend(umbel_leveldb_block *b, size_t more) {
    if (more > UINT32_MAX - b->len) return UMBEL_EFULL; /* offsets have 32 bits */
    if (b->len + more > b->cap) {
        size_t cap = b->cap * 2 > b->len + more ? b->cap * 2 : b->len + more;
        uint8_t *larger = umbeli_new(&b->settings, cap);
        if (!larger) return UMBEL_ENOMEM;
        if (b->len) memcpy(larger, b->bytes, b->len);
        umbeli_delete(&b->settings, b->bytes);
        b->bytes = larger;
        b->cap = cap;
    }
    b->len += more;
    return UMBEL_OK;
}

static umbel_err grow_words(umbel_leveldb_block *b, uint32_t **words, size_t count, size_t *cap) {
    void *array = *words;
    umbel_err e = umbeli_array_grow(&b->settings, &array, sizeof **words, count, cap);
    *words = array;
    return e;
}

/* Emits a filter of the pending keys, or an empty one. */
static umbel_err emit(umbel_leveldb_block *b) {
    umbel_err e = grow_words(b, &b->offsets, b->noffsets, &b->offsets_cap);
    size_t start = b->len;
    if (!e && b->nhashes) {
        size_t len = umbeli_leveldb_fill_len(b->nhashes, b->bits_per_key);
        e = len ? extend(b, len) : UMBEL_EFULL;
        if (e) return e;
        umbeli_leveldb_fill(b->bytes + start, len, b->bits_per_key, b->hashes, b->nhashes);
        b->nhashes = 0;
    }
    if (!e) b->offsets[b->noffsets++] = (uint32_t)start;
    return e;
}

umbel_err umbel_leveldb_block_start(umbel_leveldb_block *b, uint64_t offset) {
    uint64_t filters = offset >> UMBELI_SSTABLE_BASE_LG;
    if (b->finished || offset < b->started) return UMBEL_EINVAL;
    if (filters > UINT32_MAX / 4 || filters * 4 > UINT32_MAX - b->len) return UMBEL_EFULL;
    umbel_err e = UMBEL_OK;
    while (!e && b->noffsets < filters) e = emit(b);
    if (!e) b->started = offset;
    return e;
}

umbel_err umbel_leveldb_block_add(umbel_leveldb_block *b, const void *key, size_t len) {
    if (b->finished) return UMBEL_EINVAL;
    umbel_err e = grow_words(b, &b->hashes, b->nhashes, &b->hashes_cap);
    if (!e) b->hashes[b->nhashes++] = umbeli_leveldb_hash(key, len);
    return e;
}

umbel_err umbel_leveldb_block_finish(umbel_leveldb_block *b, const void **bytes, size_t *len) {
    umbel_err e = UMBEL_OK;
    if (!b->finished) {
        if (b->nhashes) e = emit(b);
        size_t array = b->len;
        if (!e) e = extend(b, 4 * b->noffsets + 5);
        if (e) return e;
        for (size_t i = 0; i < b->noffsets; i++) {
            umbeli_store_le32(b->bytes + array + 4 * i, b->offsets[i]);
        }
        umbeli_store_le32(b->bytes + b->len - 5, (uint32_t)array);
        b->bytes[b->len - 1] = UMBELI_SSTABLE_BASE_LG;
        b->finished = true;
    }
    *bytes = b->bytes;
    *len = b->len;
    return UMBEL_OK;
}
