/* SPDX-License-Identifier: MIT
 *
 * redisbloom_dump.c - the header and the chunks of SCANDUMP
 *
 *   offset   size  header field, little-endian      offset   size  field of each link
 *   0        8     keys in all                      +0       8     bytes
 *   8        4     links                            +8       8     bits
 *   12       4     options                          +16      8     keys in it
 *   16       4     growth                           +24      8     error, IEEE double
 *   20 + 53i 53    link i                           +32      8     bits per entry, IEEE double
 *                                                   +40      4     probes per key
 *                                                   +44      8     entries
 *                                                   +52      1     n2
 *
 * Page: docs/formats/redisbloom.md.
 */
#include "format/redisbloom/redisbloom_dump.h"

#include <string.h>

#include "core/diag.h"
#include "core/size.h"
#include "kind/classic/classic.h"

enum { HEADER_FIXED = 20, HEADER_LINK = 53, AT_COUNT = 8, CHUNK_MAX = 16 * 1024 * 1024 };
enum { OPTIONS_KNOWN = 15, N2_MAX = 63 };

/* ---- Header ---- */

/* Link i of a header that is long enough. */
static umbeli_layer read_link(const uint8_t *bytes, size_t len, uint32_t i) {
    umbeli_reader r = umbeli_reader_over(bytes, len);
    umbeli_layer link = {0};
    umbeli_take(&r, HEADER_FIXED + (uint64_t)i * HEADER_LINK);
    link.bytes = umbeli_take_u64le(&r);
    link.nbits = umbeli_take_u64le(&r);
    link.keys = umbeli_take_u64le(&r);
    link.rate = umbeli_take_f64le(&r);
    link.bits_per_entry = umbeli_take_f64le(&r);
    link.hashes = umbeli_take_u32le(&r);
    link.capacity = umbeli_take_u64le(&r);
    link.n2 = umbeli_take_u8(&r);
    return link;
}

/* RedisBloom's own checks, and those of the fields that it does not check. */
static umbel_err check_link(const umbeli_layer *link, uint64_t at, umbel_diag *diag) {
    if (link->bytes == 0 || link->bytes > INT64_MAX / 8) {
        return umbeli_bad(diag, at, "bytes: 0 or too many");
    }
    if (link->nbits != link->bytes * 8) {
        return umbeli_bad(diag, at + 8, "bits: disagrees with bytes");
    }
    if (!(link->rate > 0 && link->rate < 1)) {
        return umbeli_bad(diag, at + 24, "error: must be in (0, 1)");
    }
    /* umbel 0.3's module wrote 0 where it follows from the error. */
    double probes = umbeli_redisbloom_hashes(umbeli_redisbloom_bits_per_entry(link));
    if (!(probes >= 1 && probes <= UMBELI_REDISBLOOM_HASHES_MAX)) {
        return umbeli_bad(diag, at + 32, "bits per entry: must give 1 to 1080 probes");
    }
    if (link->hashes != (uint32_t)probes) {
        return umbeli_bad(diag, at + 40, "probes: disagrees with bits per entry");
    }
    if (link->n2 > N2_MAX || (link->n2 && link->nbits < UINT64_C(1) << link->n2)) {
        return umbeli_bad(diag, at + 52, "n2: more bits than the link has");
    }
    return UMBEL_OK;
}

/* Checks link i and adds it to the sums. */
static umbel_err sum_link(umbeli_redisbloom_head *h, uint32_t i, const umbeli_layer *link,
                          uint64_t *keys, umbel_diag *diag) {
    uint64_t at = HEADER_FIXED + (uint64_t)i * HEADER_LINK;
    umbel_err e = check_link(link, at, diag);
    if (e) return e;
    /* Each link has half the rate of the one before, and so one more probe.  There are at most
     * 1080 probes, so a lookup never has to visit very many links. */
    if (link->hashes < i) return umbeli_bad(diag, at + 40, "probes: too few for so late a link");
    if (!umbeli_size_add(*keys, link->keys, keys)) {
        return umbeli_bad(diag, at + 16, "keys: overflow");
    }
    if (!umbeli_size_add(h->bytes, link->bytes, &h->bytes) || h->bytes > INT64_MAX / 8) {
        return umbeli_bad(diag, at, "bytes: too many");
    }
    return UMBEL_OK;
}

static umbel_err check_options(const umbeli_redisbloom_head *h, umbel_diag *diag) {
    const char *what = NULL;
    if (h->options & ~(uint32_t)OPTIONS_KNOWN) {
        what = "options: unknown option";
    } else if (!(h->options & UMBELI_REDISBLOOM_FORCE64)) {
        what = "options: 32-bit hashes are not supported";
    } else if (h->options & UMBELI_REDISBLOOM_ENTRIES_ARE_BITS) {
        what = "options: entries as bits are not supported";
    }
    return what ? umbeli_unknown(diag, 12, what) : UMBEL_OK;
}

static umbel_err check_sum(const umbeli_redisbloom_head *h, uint64_t keys, umbel_diag *diag) {
    return keys == h->keys ? UMBEL_OK : umbeli_bad(diag, 0, "keys: not the sum over the links");
}

umbel_err umbeli_redisbloom_read_header(const uint8_t *bytes, size_t len, umbeli_redisbloom_head *h,
                                        umbel_diag *diag) {
    umbeli_reader r = umbeli_reader_over(bytes, len);
    uint64_t keys = 0;
    *h = (umbeli_redisbloom_head){.keys = umbeli_take_u64le(&r)};
    h->count = umbeli_take_u32le(&r);
    h->options = umbeli_take_u32le(&r);
    h->growth = umbeli_take_u32le(&r);
    if (r.failed) return umbeli_bad(diag, len, "the header is cut off");
    if (h->count == 0) return umbeli_bad(diag, AT_COUNT, "links: none");
    uint64_t want = HEADER_FIXED + (uint64_t)h->count * HEADER_LINK;
    if (len != want) {
        return umbeli_bad(diag, len < want ? len : AT_COUNT,
                          "header length: disagrees with the number of links");
    }
    umbel_err e = check_options(h, diag);
    for (uint32_t i = 0; i < h->count && !e; i++) {
        umbeli_layer link = read_link(bytes, len, i);
        e = sum_link(h, i, &link, &keys, diag);
    }
    return e ? e : check_sum(h, keys, diag);
}

umbel_err umbeli_redisbloom_from_header(const uint8_t *bytes, size_t len,
                                        const umbeli_redisbloom_head *h, const uint8_t *borrow,
                                        const umbeli_settings *settings, umbel_filter **out,
                                        umbel_diag *diag) {
    umbeli_layer *links = umbeli_new(settings, h->count * sizeof *links);
    if (!links) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for the links");
    for (uint32_t i = 0; i < h->count; i++) links[i] = read_link(bytes, len, i);
    umbel_err e =
        umbeli_redisbloom_new(links, h->count, h->options, h->growth, borrow, settings, out, diag);
    umbeli_delete(settings, links);
    return e;
}

umbel_err umbeli_redisbloom_from_links(umbeli_redisbloom_head *h, const umbeli_layer *links,
                                       const umbeli_settings *settings, umbel_filter **out,
                                       umbel_diag *diag) {
    uint64_t keys = 0;
    h->bytes = 0;
    if (h->count == 0) return umbeli_bad(diag, AT_COUNT, "links: none");
    umbel_err e = check_options(h, diag);
    for (uint32_t i = 0; i < h->count && !e; i++) e = sum_link(h, i, &links[i], &keys, diag);
    if (!e) e = check_sum(h, keys, diag);
    if (e) return e;
    return umbeli_redisbloom_new(links, h->count, h->options, h->growth, NULL, settings, out, diag);
}

size_t umbeli_redisbloom_header_len(const uint8_t *bytes, size_t len) {
    if (len < HEADER_FIXED) return len;
    uint64_t declared = HEADER_FIXED + HEADER_LINK * (uint64_t)umbeli_load_le32(bytes + AT_COUNT);
    return declared < len ? (size_t)declared : len;
}

uint64_t umbeli_redisbloom_header_size(uint32_t links) {
    return HEADER_FIXED + (uint64_t)links * HEADER_LINK;
}

static void put_links(const umbeli_redisbloom_head *h, const umbeli_layer *links,
                      umbeli_writer *w) {
    umbeli_put_u64le(w, h->keys);
    umbeli_put_u32le(w, h->count);
    umbeli_put_u32le(w, h->options);
    umbeli_put_u32le(w, h->growth);
    for (uint32_t i = 0; i < h->count; i++) {
        const umbeli_layer *link = &links[i];
        umbeli_put_u64le(w, link->bytes);
        umbeli_put_u64le(w, link->bytes * 8);
        umbeli_put_u64le(w, link->keys);
        umbeli_put_f64le(w, link->rate);
        umbeli_put_f64le(w, umbeli_redisbloom_bits_per_entry(link));
        umbeli_put_u32le(w, link->hashes);
        umbeli_put_u64le(w, link->capacity);
        umbeli_put_u8(w, link->n2);
    }
}

umbeli_redisbloom_head umbeli_redisbloom_head_of(const umbel_filter *f) {
    const umbeli_redisbloom *r = umbeli_redisbloom_of(f);
    return (umbeli_redisbloom_head){
        .keys = umbeli_keys_added(f),
        .count = r->chain.count,
        .options = r->options,
        .growth = r->growth,
    };
}

void umbeli_redisbloom_put_header(const umbel_filter *f, umbeli_writer *w) {
    umbeli_redisbloom_head h = umbeli_redisbloom_head_of(f);
    put_links(&h, umbeli_chain_of(f)->layers, w);
}

/* ---- Chunks ---- */

/* The payload from `offset` as far as a chunk may extend: to the end of the layer where dumps show
 * layers, else as far as it is contiguous.  *layer is NULL in the latter case. */
static uint8_t *run_at(const umbel_filter *f, uint64_t offset, uint64_t *len,
                       umbeli_layer **layer) {
    *layer = NULL;
    if (!f->ops->policy || !f->ops->policy->layered) return umbeli_filter_run(f, offset, len);
    *layer = umbeli_chain_layer_at(umbeli_chain_of(f), &offset);
    if (!*layer) return NULL;
    *len = (*layer)->bytes - offset;
    return (*layer)->bits + offset;
}

void umbeli_redisbloom_chunk(const umbel_filter *f, int64_t iterator, int64_t *next,
                             const uint8_t **bytes, size_t *len) {
    umbeli_layer *layer;
    uint64_t left = 0;
    *next = 0;
    *len = 0;
    *bytes = iterator > 0 ? run_at(f, (uint64_t)iterator - 1, &left, &layer) : NULL;
    if (!*bytes) return;
    *len = left < CHUNK_MAX ? (size_t)left : CHUNK_MAX;
    *next = iterator + (int64_t)*len;
}

/* Bits after the last one of a classic filter must be 0. */
static bool ends_clean(const umbel_filter *f, uint8_t last) {
    unsigned used = f->shape.kind == UMBEL_KIND_CLASSIC ? f->shape.bits % 8 : 0;
    return used == 0 || !(last >> used);
}

umbel_err umbeli_redisbloom_load_chunk(umbel_filter *f, int64_t iterator, const uint8_t *bytes,
                                       size_t len, umbel_diag *diag) {
    bool fits = iterator > 0 && (uint64_t)iterator - 1 >= len;
    uint64_t offset = fits ? (uint64_t)iterator - 1 - len : 0, left = 0;
    umbeli_layer *layer = NULL;
    uint8_t *to = fits ? run_at(f, offset, &left, &layer) : NULL;
    if (!to) return umbeli_invalid(diag, "invalid offset - no link found");
    if (len > left) return umbeli_invalid(diag, "invalid chunk - Too big for current filter");
    /* A layer that keeps hashes must come whole and in order, so that no lookup takes longer than
     * in one that was filled here. */
    bool checked = layer && layer->probes->check;
    if (checked && (len != layer->bytes || !layer->probes->check(layer, bytes))) {
        return umbeli_invalid(diag, "received bad data");
    }
    if (len && len == left && !ends_clean(f, bytes[len - 1])) {
        return umbeli_invalid(diag, "received bad data");
    }
    if (len) memcpy(to, bytes, len);
    if (layer) umbeli_chain_recount((umbeli_chain *)f, layer);
    return UMBEL_OK;
}
