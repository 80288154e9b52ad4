/* SPDX-License-Identifier: MIT */
#include "core/bits.h"
#include "core/diag.h"
#include "tables/crc32c.h"
#include "tables/leveldb/leveldb_table.h"

enum { TYPE_PLAIN = 0, TYPE_SNAPPY = 1, TYPE_ZSTD = 2 };

bool umbeli_take_handle(umbeli_reader *r, umbeli_handle *h) {
    return umbeli_take_varint(r, &h->offset) && umbeli_take_varint(r, &h->size);
}

bool umbeli_block_inside(const umbel_table *t, umbeli_handle h, size_t footer) {
    uint64_t end = t->len - footer;
    return h.offset <= end && h.size <= end - h.offset &&
           end - h.offset - h.size >= UMBELI_SSTABLE_TRAILER;
}

umbel_err umbeli_block_unpack(umbel_table *t, umbeli_packing packing, umbeli_reader packed,
                              uint64_t claim, uint64_t offset, umbeli_block *out,
                              umbel_diag *diag) {
    umbeli_unpacked u;
    umbel_err e = umbeli_unpack(t, packing, packed.bytes + packed.pos, packed.len - packed.pos,
                                claim, offset, &u, diag);
    if (!e) *out = (umbeli_block){u.bytes, u.len, offset, u.bytes};
    return e;
}

umbel_err umbeli_block_read(umbel_table *t, umbeli_handle h, umbeli_block *out, umbel_diag *diag) {
    *out = (umbeli_block){0};
    if (!umbeli_block_inside(t, h, UMBELI_SSTABLE_FOOTER)) {
        return umbeli_bad(diag, h.offset, "a block extends beyond the file");
    }
    const uint8_t *block = t->bytes + h.offset, *trailer = block + h.size;
    uint32_t crc = umbeli_crc32c_mask(umbeli_crc32c(block, (size_t)h.size + 1));
    if (crc != umbeli_load_le32(trailer + 1)) {
        return umbeli_bad(diag, h.offset, "the checksum of a block is wrong");
    }
    umbeli_reader packed = umbeli_reader_over(block, (size_t)h.size);
    switch (*trailer) {
    case TYPE_PLAIN: *out = (umbeli_block){block, (size_t)h.size, h.offset, NULL}; return UMBEL_OK;
    case TYPE_SNAPPY:
    case TYPE_ZSTD:
        return umbeli_block_unpack(
            t, *trailer == TYPE_ZSTD ? UMBELI_PACKED_ZSTD : UMBELI_PACKED_SNAPPY, packed,
            UINT64_MAX, h.offset, out, diag);
    default:
        return umbeli_unknown(diag, h.offset + h.size,
                              "a block compressed in a way that is not supported");
    }
}

void umbeli_block_end(umbel_table *t, umbeli_block *b) {
    if (b->unpacked) {
        t->held -= b->len;
        umbeli_delete(&t->settings, b->unpacked);
    }
    *b = (umbeli_block){0};
}

umbeli_entries umbeli_entries_of(const umbeli_block *b) {
    umbeli_entries it = {.values = true};
    size_t len = b->len;
    uint64_t restarts = len < 4 ? 0 : umbeli_load_le32(b->bytes + len - 4);
    if (len < 4 || restarts > (len - 4) / 4) {
        it.in = umbeli_reader_over(b->bytes, 0);
        it.wrong = "a block too short for its restart points";
    } else {
        it.in = umbeli_reader_over(b->bytes, len - 4 - 4 * (size_t)restarts);
    }
    return it;
}

bool umbeli_entries_next(umbeli_entries *it) {
    uint64_t shared, suffix_len, value_len = 0;
    if (it->wrong || umbeli_left(&it->in) == 0) return false;
    if (!umbeli_take_varint(&it->in, &shared) || !umbeli_take_varint(&it->in, &suffix_len) ||
        (it->values && !umbeli_take_varint(&it->in, &value_len))) {
        it->wrong = "an entry of a block is cut short";
        return false;
    }
    it->suffix = umbeli_take(&it->in, suffix_len);
    it->value = umbeli_take(&it->in, value_len);
    if (!it->suffix || !it->value) {
        it->wrong = "an entry extends past the end of its block";
        return false;
    }
    if (shared > it->key_len) {
        it->wrong = "a key shares more bytes than the previous key has";
        return false;
    }
    it->shared = (size_t)shared;
    it->suffix_len = (size_t)suffix_len;
    it->value_len = (size_t)value_len;
    it->key_len = it->shared + it->suffix_len;
    return true;
}

void umbeli_entries_key(const umbeli_entries *it, uint8_t *key, size_t room) {
    for (size_t i = 0; i < it->suffix_len && it->shared + i < room; i++) {
        key[it->shared + i] = it->suffix[i];
    }
}
