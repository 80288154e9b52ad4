/* SPDX-License-Identifier: MIT
 *
 * type_redisbloom.c - MBbloom--: RedisBloom's own type, as stored in RDB files
 *
 * UINT keys, links, options, growth; then for each link UINT entries, DOUBLE error, UINT hashes,
 * DOUBLE bits per entry, UINT bits, n2, STRING bits, UINT keys.  Options came with encoding 2,
 * growth with 4; encoding 0 has neither bits nor n2.  What is read is validated exactly like the
 * header that BF.SCANDUMP returns.
 */
#include <string.h>

#include "core/diag.h"
#include "storage/dump.h"
#include "storage/types.h"
#include "value/server_memory.h"
#include "value/value_unboxed.h"

enum { GROWTH_BEFORE_4 = 2, FIRST_ROOM = 16 };

/* ---- Saving ---- */

void bf_redisbloom_save(RedisModuleIO *io, void *value) {
    const bf_value *v = value;
    bf_room room;
    const umbeli_chain *c = bf_value_chain(v, &room);
    umbeli_redisbloom_head head = umbeli_redisbloom_head_of(&c->base);
    RedisModule_SaveUnsigned(io, head.keys);
    RedisModule_SaveUnsigned(io, head.count);
    RedisModule_SaveUnsigned(io, head.options);
    RedisModule_SaveUnsigned(io, head.growth);
    for (uint32_t i = 0; i < head.count; i++) {
        const umbeli_layer *link = &c->layers[i];
        RedisModule_SaveUnsigned(io, link->capacity);
        RedisModule_SaveDouble(io, link->rate);
        RedisModule_SaveUnsigned(io, link->hashes);
        RedisModule_SaveDouble(io, umbeli_redisbloom_bits_per_entry(link));
        RedisModule_SaveUnsigned(io, 8 * link->bytes);
        RedisModule_SaveUnsigned(io, link->n2);
        RedisModule_SaveStringBuffer(io, (const char *)link->bits, (size_t)link->bytes);
        RedisModule_SaveUnsigned(io, link->keys);
    }
}

/* ---- Loading ---- */

/* Links read so far; their bits are the server's strings.  The list grows with the input: a count
 * is not trusted before its links have arrived. */
typedef struct links {
    umbeli_layer *list;
    size_t count, cap;
} links;

static bool make_room(links *l) {
    if (l->count < l->cap) return true;
    size_t cap = l->cap + l->cap / 8 + FIRST_ROOM; /* little more than the input justifies */
    umbeli_layer *more = bf_memory_new(cap * sizeof *more);
    if (!more) return false;
    if (l->count) memcpy(more, l->list, l->count * sizeof *more);
    bf_memory_delete(l->list);
    l->list = more;
    l->cap = cap;
    return true;
}

static bool load_link(RedisModuleIO *io, int encver, links *l) {
    if (!make_room(l)) return false;
    umbeli_layer link = {.capacity = RedisModule_LoadUnsigned(io)};
    link.rate = RedisModule_LoadDouble(io);
    uint64_t hashes = RedisModule_LoadUnsigned(io), n2 = 0;
    link.bits_per_entry = RedisModule_LoadDouble(io);
    if (encver > 0) {
        link.nbits = RedisModule_LoadUnsigned(io);
        n2 = RedisModule_LoadUnsigned(io);
    }
    if (RedisModule_IsIOError(io)) return false;
    size_t len = 0;
    link.bits = (uint8_t *)RedisModule_LoadStringBuffer(io, &len);
    if (!link.bits) return false;
    link.bytes = len;
    if (encver == 0) link.nbits = 8 * link.bytes;
    link.keys = RedisModule_LoadUnsigned(io);
    link.hashes = (uint32_t)hashes;
    link.n2 = (uint8_t)n2;
    l->list[l->count++] = link;
    return !RedisModule_IsIOError(io) && hashes <= UINT32_MAX && n2 <= UINT8_MAX;
}

static bool load_fields(RedisModuleIO *io, int encver, umbeli_redisbloom_head *h, links *l) {
    uint64_t keys = RedisModule_LoadUnsigned(io), count = RedisModule_LoadUnsigned(io);
    uint64_t options = encver >= 2 ? RedisModule_LoadUnsigned(io) : 0;
    uint64_t growth = encver >= 4 ? RedisModule_LoadUnsigned(io) : GROWTH_BEFORE_4;
    if (RedisModule_IsIOError(io)) return false;
    if (count > UINT32_MAX || options > UINT32_MAX || growth > UINT32_MAX) return false;
    *h = (umbeli_redisbloom_head){
        .keys = keys,
        .count = (uint32_t)count,
        .options = (uint32_t)options,
        .growth = (uint32_t)growth,
    };
    while (l->count < count) {
        if (!load_link(io, encver, l)) return false;
    }
    return true;
}

/* Makes a value of the links read; NULL with a message if they do not form a valid chain. */
static bf_value *assemble(umbeli_redisbloom_head *h, const links *l, umbel_diag *diag) {
    umbeli_settings settings = bf_memory_settings(0, NULL);
    settings.plain = true;
    umbel_filter *f = NULL;
    bf_value *v = NULL;
    umbel_err e = umbeli_redisbloom_from_links(h, l->list, &settings, &f, diag);
    if (e) return NULL;
    const umbeli_chain *c = umbeli_chain_of(f);
    for (size_t i = 0; i < l->count; i++) {
        memcpy(c->layers[i].bits, l->list[i].bits, (size_t)l->list[i].bytes);
    }
    return bf_redisbloom_value(f, &v, diag) ? NULL : v;
}

static void free_links(links *l) {
    for (size_t i = 0; i < l->count; i++) RedisModule_Free(l->list[i].bits);
    bf_memory_delete(l->list);
}

void *bf_redisbloom_load(RedisModuleIO *io, int encver) {
    links l = {0};
    umbeli_redisbloom_head h;
    umbel_diag diag = {.what = "cut short, or out of range"};
    bf_value *v = NULL;
    if (encver < 0 || encver > BF_REDISBLOOM_ENCVER) {
        diag.what = "unknown version";
    } else if (load_fields(io, encver, &h, &l)) {
        v = assemble(&h, &l, &diag);
    }
    if (!v) bf_refuse_dump(io, "RedisBloom", &diag);
    free_links(&l);
    return v;
}
