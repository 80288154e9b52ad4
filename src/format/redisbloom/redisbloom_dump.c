/* SPDX-License-Identifier: MIT
 *
 * redisbloom_dump.c - the header of SCANDUMP and its pieces
 *
 *   offset   size  header field, little-endian      offset   size  field of each link
 *   0        8     keys in all                      +0       8     bytes
 *   8        4     links                            +8       8     bits
 *   12       4     options                          +16      8     keys in it
 *   16       4     growth                           +24      8     error, IEEE double
 *   20 + 53i 53    link i                           +32      8     bits an entry, IEEE double
 *                                                   +40      4     probes a key
 *                                                   +44      8     entries
 *                                                   +52      1     n2
 *
 * Page: docs/formats/redisbloom.md.
 */
#include "format/redisbloom/redisbloom_dump.h"

#include <math.h>
#include <string.h>

#include "core/diag.h"
#include "core/size.h"
#include "kind/classic/classic.h"

enum { HEADER_FIXED = 20, HEADER_LINK = 53, CHUNK_MOST = 16 * 1024 * 1024 };
enum { OPTIONS_KNOWN = 15, N2_MOST = 63 };

/* ---- Header ---- */

static umbel_err bad(umbel_diag *diag, uint64_t offset, const char *what) {
    return umbeli_fail_at(diag, UMBEL_ECORRUPT, offset, what);
}

/* Link i of a header that is known to be long enough. */
static umbeli_redisbloom_link read_link(const uint8_t *bytes, size_t len, uint32_t i) {
    umbeli_reader r = umbeli_reader_over(bytes, len);
    umbeli_redisbloom_link link = {0};
    umbeli_take(&r, HEADER_FIXED + (uint64_t)i * HEADER_LINK);
    link.bytes = umbeli_take_u64le(&r);
    link.bits = umbeli_take_u64le(&r);
    link.size = umbeli_take_u64le(&r);
    link.error = umbeli_take_f64le(&r);
    link.bits_per_entry = umbeli_take_f64le(&r);
    link.hashes = umbeli_take_u32le(&r);
    link.entries = umbeli_take_u64le(&r);
    link.n2 = umbeli_take_u8(&r);
    return link;
}

/* RedisBloom's own checks, and what it leaves to luck. */
static umbel_err check_link(const umbeli_redisbloom_link *link, uint64_t at, umbel_diag *diag) {
    if (link->bytes == 0 || link->bytes > INT64_MAX / 8) {
        return bad(diag, at, "bytes: none, or more than there can be");
    }
    if (link->bits != link->bytes * 8) return bad(diag, at + 8, "bits: not those of the bytes");
    if (!(link->error > 0 && link->error < 1)) return bad(diag, at + 24, "error: not in (0, 1)");
    double probes = ceil(0.693147180559945 * link->bits_per_entry);
    if (!(probes >= 1 && probes <= UMBELI_CLASSIC_MAX_HASHES)) {
        return bad(diag, at + 32, "bits an entry: not a number that gives 1 to 1024 probes");
    }
    if (link->hashes != (uint32_t)probes) {
        return bad(diag, at + 40, "probes: not those of the bits an entry");
    }
    if (link->n2 > N2_MOST || (link->n2 && link->bits < UINT64_C(1) << link->n2)) {
        return bad(diag, at + 52, "n2: more bits than the link has");
    }
    return UMBEL_OK;
}

static umbel_err check_links(const uint8_t *bytes, size_t len, umbeli_redisbloom_head *h,
                             umbel_diag *diag) {
    uint64_t keys = 0;
    for (uint32_t i = 0; i < h->count; i++) {
        uint64_t at = HEADER_FIXED + (uint64_t)i * HEADER_LINK;
        umbeli_redisbloom_link link = read_link(bytes, len, i);
        umbel_err e = check_link(&link, at, diag);
        if (e) return e;
        if (!umbeli_size_add(keys, link.size, &keys)) return bad(diag, at + 16, "keys: overflow");
        if (!umbeli_size_add(h->bytes, link.bytes, &h->bytes) || h->bytes > INT64_MAX / 8) {
            return bad(diag, at, "bytes: more than there can be");
        }
    }
    return keys == h->keys ? UMBEL_OK : bad(diag, 0, "keys: not the sum of the links'");
}

umbel_err umbeli_redisbloom_read_header(const uint8_t *bytes, size_t len, umbeli_redisbloom_head *h,
                                        umbel_diag *diag) {
    umbeli_reader r = umbeli_reader_over(bytes, len);
    *h = (umbeli_redisbloom_head){.keys = umbeli_take_u64le(&r)};
    h->count = umbeli_take_u32le(&r);
    h->options = umbeli_take_u32le(&r);
    h->growth = umbeli_take_u32le(&r);
    if (r.failed) return bad(diag, len, "the header is cut off");
    if (h->count == 0) return bad(diag, 8, "links: none");
    uint64_t want = HEADER_FIXED + (uint64_t)h->count * HEADER_LINK;
    if (len != want) {
        return bad(diag, len < want ? len : 8, "header length: not that of so many links");
    }
    if (h->options & ~(uint32_t)OPTIONS_KNOWN) {
        return umbeli_fail_at(diag, UMBEL_EVERSION, 12, "options: an unknown one is set");
    }
    if (!(h->options & UMBELI_REDISBLOOM_FORCE64)) {
        return umbeli_fail_at(diag, UMBEL_EVERSION, 12,
                              "options: 32-bit hashes are not known here");
    }
    if (h->options & UMBELI_REDISBLOOM_ENTRIES_ARE_BITS) {
        return umbeli_fail_at(diag, UMBEL_EVERSION, 12, "options: entries as bits, not known here");
    }
    return check_links(bytes, len, h, diag);
}

umbel_err umbeli_redisbloom_from_header(const uint8_t *bytes, size_t len,
                                        const umbeli_redisbloom_head *h, const uint8_t *borrow,
                                        const umbeli_settings *memory, umbel_filter **out,
                                        umbel_diag *diag) {
    umbeli_redisbloom_link *links = umbeli_new(memory, h->count * sizeof *links);
    if (!links) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for the links");
    for (uint32_t i = 0; i < h->count; i++) links[i] = read_link(bytes, len, i);
    umbel_err e =
        umbeli_redisbloom_new(links, h->count, h->options, h->growth, borrow, memory, out, diag);
    umbeli_delete(memory, links);
    return e;
}

uint64_t umbeli_redisbloom_header_size(const umbel_filter *f) {
    return HEADER_FIXED + (uint64_t)umbeli_redisbloom_of(f)->count * HEADER_LINK;
}

void umbeli_redisbloom_put_header(const umbel_filter *f, umbeli_writer *w) {
    const umbeli_redisbloom *c = umbeli_redisbloom_of(f);
    umbeli_put_u64le(w, umbeli_keys_added(f));
    umbeli_put_u32le(w, c->count);
    umbeli_put_u32le(w, c->options);
    umbeli_put_u32le(w, c->growth);
    for (uint32_t i = 0; i < c->count; i++) {
        const umbeli_redisbloom_link *link = &c->links[i];
        umbeli_put_u64le(w, link->bytes);
        umbeli_put_u64le(w, link->bits);
        umbeli_put_u64le(w, link->size);
        umbeli_put_f64le(w, link->error);
        umbeli_put_f64le(w, link->bits_per_entry);
        umbeli_put_u32le(w, link->hashes);
        umbeli_put_u64le(w, link->entries);
        umbeli_put_u8(w, link->n2);
    }
}

/* ---- Chunks ---- */

/* The link that byte `offset` of all bits belongs to, or NULL. */
static const umbeli_redisbloom_link *link_at(const umbel_filter *f, uint64_t offset) {
    const umbeli_redisbloom *c = umbeli_redisbloom_of(f);
    for (uint32_t i = 0; i < c->count; i++) {
        if (offset < c->links[i].at + c->links[i].bytes) return &c->links[i];
    }
    return NULL;
}

void umbeli_redisbloom_chunk(const umbel_filter *f, int64_t iterator, int64_t *next,
                             const uint8_t **bytes, size_t *len) {
    const umbeli_redisbloom_link *link = iterator > 0 ? link_at(f, (uint64_t)iterator - 1) : NULL;
    *next = 0;
    *bytes = NULL;
    *len = 0;
    if (!link) return;
    uint64_t offset = (uint64_t)iterator - 1, left = link->at + link->bytes - offset;
    *len = left < CHUNK_MOST ? (size_t)left : CHUNK_MOST;
    *bytes = f->data + offset;
    *next = iterator + (int64_t)*len;
}

umbel_err umbeli_redisbloom_load_header(const uint8_t *bytes, size_t len,
                                        const umbeli_settings *memory, umbel_filter **out,
                                        umbel_diag *diag) {
    umbeli_redisbloom_head h;
    umbel_err e = umbeli_redisbloom_read_header(bytes, len, &h, diag);
    return e ? e : umbeli_redisbloom_from_header(bytes, len, &h, NULL, memory, out, diag);
}

umbel_err umbeli_redisbloom_load_chunk(umbel_filter *f, int64_t iterator, const uint8_t *bytes,
                                       size_t len, umbel_diag *diag) {
    bool fits = iterator > 0 && (uint64_t)iterator - 1 >= len;
    uint64_t offset = fits ? (uint64_t)iterator - 1 - len : 0;
    const umbeli_redisbloom_link *link = fits ? link_at(f, offset) : NULL;
    if (!link) return umbeli_fail(diag, UMBEL_EINVAL, "invalid offset - no link found");
    if (len > link->at + link->bytes - offset) {
        return umbeli_fail(diag, UMBEL_EINVAL, "invalid chunk - Too big for current filter");
    }
    if (len) memcpy(f->data + offset, bytes, len);
    return UMBEL_OK;
}
