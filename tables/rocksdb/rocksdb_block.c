/* SPDX-License-Identifier: MIT */
#include "core/bits.h"
#include "core/diag.h"
#include "hash/foreign_hash.h"
#include "hash/xxh.h"
#include "tables/crc32c.h"
#include "tables/rocksdb/rocksdb_table.h"

enum { SUM_NONE, SUM_CRC32C, SUM_XXH32, SUM_XXH64, SUM_XXH3 };
enum { TYPE_PLAIN = 0, TYPE_SNAPPY = 1, TYPE_ZLIB = 2, TYPE_BZIP2 = 3, TYPE_LZ4 = 4 };
enum { TYPE_LZ4HC = 5, TYPE_ZSTD = 7 };

/* XXH3 leaves out the last byte, which is a block's type, and adds it in its own way. */
static uint32_t xxh3_sum(const uint8_t *bytes, size_t len) {
    if (len == 0) return 0;
    return (uint32_t)umbeli_xxh3_64(bytes, len - 1, 0) ^ bytes[len - 1] * 0x6b9083d9u;
}

uint32_t umbeli_rocks_checksum(const umbeli_rocks *own, const uint8_t *bytes, size_t len,
                               uint64_t offset) {
    uint32_t place = own->base ? own->base ^ (uint32_t)((uint32_t)offset + (offset >> 32)) : 0;
    switch (own->checksum) {
    case SUM_CRC32C: return place + umbeli_crc32c_mask(umbeli_crc32c(bytes, len));
    case SUM_XXH32: return place + umbeli_xxh32(bytes, len);
    case SUM_XXH64: return place + (uint32_t)umbeli_xxh64(bytes, len, 0);
    case SUM_XXH3: return place + xxh3_sum(bytes, len);
    default: return place; /* SUM_NONE */
    }
}

static umbel_err unpack(umbel_table *t, uint8_t type, umbeli_handle h, umbeli_block *out,
                        umbel_diag *diag) {
    static const umbeli_packing packings[] = {
        [TYPE_SNAPPY] = UMBELI_PACKED_SNAPPY, [TYPE_ZLIB] = UMBELI_PACKED_DEFLATE,
        [TYPE_BZIP2] = UMBELI_PACKED_BZIP2,   [TYPE_LZ4] = UMBELI_PACKED_LZ4,
        [TYPE_LZ4HC] = UMBELI_PACKED_LZ4,     [TYPE_ZSTD] = UMBELI_PACKED_ZSTD,
    };
    umbeli_reader r = umbeli_reader_over(t->bytes + h.offset, (size_t)h.size);
    uint64_t claim = UINT64_MAX;
    if (type == 6 || type > TYPE_ZSTD) {
        return umbeli_unknown(diag, h.offset + h.size,
                              "a block compressed in a way that is not supported");
    }
    if (type != TYPE_SNAPPY && (!umbeli_take_varint(&r, &claim) || claim > UINT32_MAX)) {
        return umbeli_bad(diag, h.offset, "a block's size is cut short");
    }
    return umbeli_block_unpack(t, packings[type], r, claim, h.offset, out, diag);
}

bool umbeli_rocks_inside(const umbel_table *t, umbeli_handle h) {
    return umbeli_block_inside(t, h, UMBELI_ROCKS_FOOTER);
}

umbel_err umbeli_rocks_block(umbel_table *t, umbeli_handle h, umbeli_block *out, umbel_diag *diag) {
    *out = (umbeli_block){0};
    if (!umbeli_rocks_inside(t, h)) {
        return umbeli_bad(diag, h.offset, "a block extends beyond the file");
    }
    const uint8_t *block = t->bytes + h.offset, *trailer = block + h.size;
    uint32_t sum = umbeli_rocks_checksum(t->own, block, (size_t)h.size + 1, h.offset);
    if (sum != umbeli_load_le32(trailer + 1)) {
        return umbeli_bad(diag, h.offset, "the checksum of a block is wrong");
    }
    if (*trailer) return unpack(t, *trailer, h, out, diag);
    *out = (umbeli_block){block, (size_t)h.size, h.offset, NULL};
    return UMBEL_OK;
}

/* ---- Entries of an index ---- */

umbeli_index_entries umbeli_index_of(const umbeli_rocks *own, const umbeli_block *b, bool filters) {
    umbeli_index_entries i = {.it = umbeli_entries_of(b),
                              .deltas = own->deltas,
                              .first_keys = !filters && own->index_type == UMBELI_INDEX_FIRST_KEYS};
    i.it.values = !own->deltas;
    return i;
}

/* A number whose sign is its lowest bit. */
static bool take_signed(umbeli_reader *r, uint64_t *value) {
    uint64_t x;
    if (!umbeli_take_varint(r, &x)) return false;
    *value = x >> 1 ^ (0 - (x & 1));
    return true;
}

static bool take_value(umbeli_index_entries *i, umbeli_reader *r) {
    uint64_t size, len;
    if (!i->deltas || i->it.shared == 0) {
        if (!umbeli_take_handle(r, &i->handle)) return false;
    } else { /* the next block, and by how much it is larger */
        if (!take_signed(r, &size)) return false;
        i->handle.offset += i->handle.size + UMBELI_ROCKS_TRAILER;
        i->handle.size += size;
    }
    return !i->first_keys || (umbeli_take_varint(r, &len) && umbeli_take(r, len));
}

bool umbeli_index_next(umbeli_index_entries *i) {
    if (!umbeli_entries_next(&i->it)) return false;
    umbeli_reader value = umbeli_reader_over(i->it.value, i->it.value_len);
    if (!take_value(i, i->deltas ? &i->it.in : &value)) {
        i->it.wrong = "index: the handle of a block is cut short";
    }
    return !i->it.wrong;
}

umbel_err umbeli_index_seek(const umbel_table *t, const umbeli_block *b, bool filters,
                            umbel_key key, bool *found, size_t *number, umbeli_handle *handle) {
    const umbeli_rocks *own = t->own;
    size_t less = own->user_keys ? 0 : 8; /* sequence number and type */
    umbeli_index_entries i = umbeli_index_of(own, b, filters);
    umbeli_seek s = {.target = key.data, .len = key.len};
    *found = false;
    *number = SIZE_MAX;
    s.key = umbeli_new(&t->settings, b->len + 1);
    if (!s.key) return UMBEL_ENOMEM;
    while (!*found && umbeli_index_next(&i)) {
        if (i.it.key_len < less) {
            i.it.wrong = "index: a key is too short";
            break;
        }
        int after = umbeli_seek_compare(&s, &i.it, i.it.key_len - less);
        *found = own->order == UMBELI_ORDER_REVERSE ? after <= 0 : after >= 0;
        *handle = i.handle;
        ++*number;
    }
    umbeli_delete(&t->settings, s.key);
    return i.it.wrong || *number == SIZE_MAX ? UMBEL_ECORRUPT : UMBEL_OK;
}
