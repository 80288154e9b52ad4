/* SPDX-License-Identifier: MIT
 *
 * wasm_unpack.c - decompression for tables without the compression libraries: only snappy
 *
 * LevelDB compresses with snappy; nothing that is read here from a Parquet file is compressed, and
 * from a RocksDB table only the index, without which its filters can still be read.
 */
#include <string.h>

#include "core/diag.h"
#include "tables/unpack.h"

enum { SNAPPY_RATIO = 64 }; /* a copy of 64 bytes takes 2 at least */

typedef struct stream {
    const uint8_t *at, *end;
} stream;

static size_t left(const stream *s) {
    return (size_t)(s->end - s->at);
}

static bool varint(stream *s, uint64_t *value) {
    *value = 0;
    for (unsigned shift = 0; shift < 35 && s->at < s->end; shift += 7) {
        uint8_t byte = *s->at++;
        *value |= (uint64_t)(byte & 127) << shift;
        if (!(byte & 128)) return *value <= UINT32_MAX;
    }
    return false;
}

/* A little-endian number of n bytes. */
static bool number(stream *s, size_t n, size_t *value) {
    if (left(s) < n) return false;
    *value = 0;
    for (size_t i = 0; i < n; i++) *value |= (size_t)s->at[i] << (8 * i);
    s->at += n;
    return true;
}

static bool literal(stream *s, uint8_t tag, uint8_t **to, const uint8_t *limit) {
    size_t len = tag >> 2;
    if (len >= 60 && !number(s, len - 59, &len)) return false;
    if (len >= left(s) || len >= (size_t)(limit - *to)) return false;
    memcpy(*to, s->at, len + 1);
    *to += len + 1;
    s->at += len + 1;
    return true;
}

static bool copy(stream *s, uint8_t tag, const uint8_t *start, uint8_t **to, const uint8_t *limit) {
    size_t len = (tag >> 2) + 1u, back = 0;
    if ((tag & 3) == 1) {
        if (!number(s, 1, &back)) return false;
        len = ((tag >> 2) & 7) + 4u;
        back |= (size_t)(tag >> 5) << 8;
    } else if (!number(s, (tag & 3) == 2 ? 2 : 4, &back)) {
        return false;
    }
    if (back == 0 || back > (size_t)(*to - start) || len > (size_t)(limit - *to)) return false;
    for (size_t i = 0; i < len; i++, (*to)++) **to = *(*to - back); /* they may overlap */
    return true;
}

static bool unpack(stream *s, uint8_t *to, size_t len) {
    uint8_t *start = to, *limit = to + len;
    while (s->at < s->end) {
        uint8_t tag = *s->at++;
        bool fine = tag & 3 ? copy(s, tag, start, &to, limit) : literal(s, tag, &to, limit);
        if (!fine) return false;
    }
    return to == limit;
}

/* The page unpacks only snappy. */
static const char *refusal(umbeli_packing packing) {
    switch (packing) {
    case UMBELI_PACKED_LZ4: return "compressed with LZ4, which only the umbel command reads";
    case UMBELI_PACKED_ZSTD: return "compressed with Zstandard, which only the umbel command reads";
    case UMBELI_PACKED_DEFLATE: return "compressed with zlib, which only the umbel command reads";
    case UMBELI_PACKED_BZIP2: return "compressed with bzip2, which only the umbel command reads";
    default: return NULL;
    }
}

umbel_err umbeli_unpack(umbel_table *t, umbeli_packing packing, const uint8_t *bytes, size_t len,
                        uint64_t claim, uint64_t offset, umbeli_unpacked *out, umbel_diag *diag) {
    stream s = {bytes, bytes + len};
    uint64_t size;
    const char *refused = refusal(packing);
    if (refused) return umbeli_fail_at(diag, UMBEL_ENOTSUP, offset, refused);
    if (!varint(&s, &size) || size / SNAPPY_RATIO > len || (claim != UINT64_MAX && claim != size)) {
        return umbeli_fail_at(diag, UMBEL_ECORRUPT, offset,
                              "snappy: damaged, or the size is wrong");
    }
    if (size > t->settings.max_bytes - t->held) {
        return umbeli_fail_at(diag, UMBEL_ELIMIT, offset,
                              "decompressed, the file would exceed the memory limit");
    }
    uint8_t *to = umbeli_new(&t->settings, size ? (size_t)size : 1);
    if (!to) return umbeli_fail_at(diag, UMBEL_ENOMEM, offset, "a decompressed block");
    if (!unpack(&s, to, (size_t)size)) {
        umbeli_delete(&t->settings, to);
        return umbeli_fail_at(diag, UMBEL_ECORRUPT, offset, "snappy: damaged");
    }
    *out = (umbeli_unpacked){to, (size_t)size};
    t->held += (size_t)size;
    return UMBEL_OK;
}
