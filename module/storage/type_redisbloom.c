/* SPDX-License-Identifier: MIT
 *
 * type_redisbloom.c - MBbloom--: RedisBloom's own type, as its RDB files hold it
 *
 * UINT keys, links, options, growth; then for each link UINT entries, DOUBLE error, UINT hashes,
 * DOUBLE bits an entry, UINT bits, n2, STRING bits, UINT keys.  Options came with encoding 2,
 * growth with 4; encoding 0 has neither bits nor n2.  What was read is put together as the header
 * that BF.SCANDUMP gives, and judged as such.
 */
#include "storage/type_redisbloom.h"

#include <string.h>

#include "core/bits.h"
#include "core/diag.h"
#include "format/redisbloom/redisbloom_dump.h"
#include "format/redisbloom/redisbloom_link.h"
#include "storage/types.h"
#include "value/server_memory.h"
#include "value/value_internal.h"

enum { GROWTH_BEFORE_4 = 2, FIRST_ROOM = 4096 };

/* ---- Out ---- */

void bf_redisbloom_save(RedisModuleIO *io, void *value) {
    const umbel_filter *f = ((const bf_value *)value)->newest;
    const umbeli_redisbloom *c = umbeli_redisbloom_of(f);
    RedisModule_SaveUnsigned(io, umbeli_keys_added(f));
    RedisModule_SaveUnsigned(io, c->count);
    RedisModule_SaveUnsigned(io, c->options);
    RedisModule_SaveUnsigned(io, c->growth);
    for (uint32_t i = 0; i < c->count; i++) {
        const umbeli_redisbloom_link *link = &c->links[i];
        RedisModule_SaveUnsigned(io, link->entries);
        RedisModule_SaveDouble(io, link->error);
        RedisModule_SaveUnsigned(io, link->hashes);
        RedisModule_SaveDouble(io, link->bits_per_entry);
        RedisModule_SaveUnsigned(io, link->bits);
        RedisModule_SaveUnsigned(io, link->n2);
        RedisModule_SaveStringBuffer(io, (const char *)f->data + link->at, (size_t)link->bytes);
        RedisModule_SaveUnsigned(io, link->size);
    }
}

/* ---- In ---- */

/* A buffer that grows as input comes, so that no count is believed before its links are there. */
typedef struct buffer {
    uint8_t *bytes;
    size_t len, cap;
    bool failed;
} buffer;

static bool append(void *ctx, const void *bytes, size_t len) {
    buffer *b = ctx;
    if (b->failed) return false;
    if (len > b->cap - b->len) {
        size_t cap = b->cap * 2 > b->len + len ? b->cap * 2 : b->len + len;
        uint8_t *more = bf_memory_new(cap < FIRST_ROOM ? FIRST_ROOM : cap);
        b->failed = !more;
        if (!more) return false;
        if (b->len) memcpy(more, b->bytes, b->len);
        bf_memory_delete(b->bytes);
        b->bytes = more;
        b->cap = cap < FIRST_ROOM ? FIRST_ROOM : cap;
    }
    memcpy(b->bytes + b->len, bytes, len);
    b->len += len;
    return true;
}

/* The bits of a link as the server gave them. */
typedef struct string {
    char *bytes;
    size_t len;
} string;

/* One link: its fields behind the header so far, its bits behind the strings. */
static bool load_link(RedisModuleIO *io, int encver, umbeli_writer *header, buffer *strings) {
    uint64_t entries = RedisModule_LoadUnsigned(io);
    double error = RedisModule_LoadDouble(io);
    uint64_t hashes = RedisModule_LoadUnsigned(io);
    double each = RedisModule_LoadDouble(io);
    uint64_t nbits = 0, n2 = 0, keys;
    string bits = {NULL, 0};
    if (encver > 0) {
        nbits = RedisModule_LoadUnsigned(io);
        n2 = RedisModule_LoadUnsigned(io);
    }
    if (RedisModule_IsIOError(io)) return false;
    bits.bytes = RedisModule_LoadStringBuffer(io, &bits.len);
    if (!bits.bytes) return false;
    if (!append(strings, &bits, sizeof bits)) {
        RedisModule_Free(bits.bytes);
        return false;
    }
    keys = RedisModule_LoadUnsigned(io);
    if (encver == 0) nbits = 8 * (uint64_t)bits.len;
    if (RedisModule_IsIOError(io) || hashes > UINT32_MAX || n2 > UINT8_MAX) return false;
    umbeli_put_u64le(header, bits.len);
    umbeli_put_u64le(header, nbits);
    umbeli_put_u64le(header, keys);
    umbeli_put_f64le(header, error);
    umbeli_put_f64le(header, each);
    umbeli_put_u32le(header, (uint32_t)hashes);
    umbeli_put_u64le(header, entries);
    umbeli_put_u8(header, (uint8_t)n2);
    return !header->failed;
}

static bool load_fields(RedisModuleIO *io, int encver, umbeli_writer *header, buffer *strings) {
    uint64_t keys = RedisModule_LoadUnsigned(io), count = RedisModule_LoadUnsigned(io);
    uint64_t options = encver >= 2 ? RedisModule_LoadUnsigned(io) : 0;
    uint64_t growth = encver >= 4 ? RedisModule_LoadUnsigned(io) : GROWTH_BEFORE_4;
    if (RedisModule_IsIOError(io)) return false;
    if (count > UINT32_MAX || options > UINT32_MAX || growth > UINT32_MAX) return false;
    umbeli_put_u64le(header, keys);
    umbeli_put_u32le(header, (uint32_t)count);
    umbeli_put_u32le(header, (uint32_t)options);
    umbeli_put_u32le(header, (uint32_t)growth);
    for (uint64_t i = 0; i < count; i++) {
        if (!load_link(io, encver, header, strings)) return false;
    }
    return !header->failed;
}

/* The chain of a header and bits that were read; NULL with words if they are not one.  The header
 * says of each link that it has as many bytes as its string. */
static bf_value *assemble(const buffer *header, const buffer *strings, umbel_diag *diag) {
    umbel_opts opts = {.alloc = &bf_memory};
    umbeli_memory memory;
    umbeli_redisbloom_head h;
    umbel_filter *f = NULL;
    bf_value *v = NULL;
    umbel_err e = umbeli_redisbloom_read_header(header->bytes, header->len, &h, diag);
    if (!e) e = umbeli_settings_from(&opts, &memory, diag);
    if (!e) {
        e = umbeli_redisbloom_from_header(header->bytes, header->len, &h, NULL, &memory, &f, diag);
    }
    if (e) return NULL;
    uint8_t *to = f->data;
    for (size_t at = 0; at < strings->len; at += sizeof(string)) {
        string bits;
        memcpy(&bits, strings->bytes + at, sizeof bits);
        memcpy(to, bits.bytes, bits.len);
        to += bits.len;
    }
    return bf_redisbloom_value(f, &v, diag) ? NULL : v;
}

static void free_strings(buffer *strings) {
    for (size_t at = 0; at < strings->len; at += sizeof(string)) {
        string bits;
        memcpy(&bits, strings->bytes + at, sizeof bits);
        RedisModule_Free(bits.bytes);
    }
    bf_memory_delete(strings->bytes);
}

void *bf_redisbloom_load(RedisModuleIO *io, int encver) {
    buffer header = {0}, strings = {0};
    umbeli_writer to_header = {.sink = append, .ctx = &header};
    umbel_diag diag = {.what = "cut off, or out of range"};
    bf_value *v = NULL;
    if (encver < 0 || encver > BF_REDISBLOOM_ENCVER) {
        diag.what = "an unknown version";
    } else if (load_fields(io, encver, &to_header, &strings)) {
        v = assemble(&header, &strings, &diag);
    }
    if (!v) RedisModule_LogIOError(io, "warning", "a filter of RedisBloom: %s", diag.what);
    bf_memory_delete(header.bytes);
    free_strings(&strings);
    return v;
}

enum { HEADER_FIXED = 20, HEADER_LINK = 53, HEADER_COUNT = 8 };

umbel_err bf_redisbloom_value(umbel_filter *chain, bf_value **out, umbel_diag *diag) {
    const umbeli_redisbloom *c = umbeli_redisbloom_of(chain);
    bool grows = !(c->options & UMBELI_REDISBLOOM_NO_SCALING);
    bf_params params = {
        .layout = BF_REDISBLOOM,
        .error = chain->shape.fpr,
        .capacity = c->links[0].entries,
        .expansion = grows ? c->growth : 0,
    };
    bf_value *v = bf_value_of(&params, &chain, 1);
    if (!v) {
        umbel_free(chain);
        return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for a filter");
    }
    *out = v;
    return UMBEL_OK;
}

size_t bf_redisbloom_head_len(const uint8_t *bytes, size_t len) {
    if (len < HEADER_FIXED) return len;
    uint64_t said = HEADER_FIXED + HEADER_LINK * (uint64_t)umbeli_load_le32(bytes + HEADER_COUNT);
    return said < len ? (size_t)said : len;
}
