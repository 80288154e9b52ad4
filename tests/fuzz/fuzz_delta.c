/* SPDX-License-Identifier: MIT
 *
 * fuzz_delta.c - deltas: hostile bytes, and lists that follow real ones, against a model
 *
 *   byte  what
 *   0     1: the rest is a delta, whose lengths and checksum are put right; 2: it follows a delta,
 *         as its signature does, whose length and checksum are put right; else a history
 *   1...  of a history, two bytes for each change of one of 256 keys: its number; 0 in the lowest
 *         two bits ends a delta, and 4 gives it a signature
 */
#include <stdlib.h>
#include <string.h>

#include "core/bits.h"
#include "format/delta/delta_build.h"
#include "format/delta/delta_chain.h"
#include "format/delta/delta_parts.h"
#include "hash/xxh.h"
#include "target.h"

enum { KEYS = 256, AT_LEN = 16, AT_BASE = 24, CHECKSUM = 8, FIXED = 160, MOST_DELTAS = 40 };

static const umbeli_settings settings = {.threads = 1};
static const umbeli_delta_base base = {1, 2};

/* ---- hostile bytes ------------------------------------------------------------------------ */

/* A chain of one delta answers any question. */
static void use_chain(const uint8_t *bytes, size_t len) {
    umbeli_delta_chain *chain = NULL;
    uint64_t hashes[KEYS];
    uint8_t hit[KEYS], one;
    if (umbeli_delta_chain_new(bytes, len, &base, &settings, &chain, NULL)) return;
    for (size_t i = 0; i < KEYS; i++) {
        hashes[i] = umbel_mix(i);
        hit[i] = i % 2;
    }
    umbeli_delta_chain_ask(chain, hashes, KEYS, hit);
    for (size_t i = 0; i < KEYS; i++) {
        one = i % 2;
        umbeli_delta_chain_ask(chain, &hashes[i], 1, &one);
        insist(one == hit[i], "a key has the same answer alone");
    }
    umbeli_delta_chain_free(chain);
}

static void hostile(const uint8_t *bytes, size_t len) {
    uint8_t *delta = some_bytes(len);
    memcpy(delta, bytes, len);
    use_chain(delta, len);
    if (len >= FIXED + CHECKSUM) {
        umbeli_store_le64(delta + AT_LEN, len);
        umbeli_store_le64(delta + AT_BASE, base.header);
        umbeli_store_le64(delta + AT_BASE + 8, base.trailer);
        umbeli_store_le64(delta + AT_BASE + 16, base.trailer);
        umbeli_store_le64(delta + len - CHECKSUM, umbeli_xxh3_64(delta, len - CHECKSUM, 0));
        use_chain(delta, len);
    }
    free(delta);
}

/* ---- histories ---------------------------------------------------------------------------- */

typedef struct history {
    bool in[KEYS], before[KEYS];
    uint8_t *bytes; /* all deltas */
    size_t len;
    umbeli_delta last;
} history;

static int ascending(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static umbeli_sorted hashes_where(const bool *in, uint64_t *room) {
    umbeli_sorted s = {room, 0};
    for (size_t i = 0; i < KEYS; i++) {
        if (in[i]) room[s.n++] = umbel_mix(i);
    }
    qsort(room, s.n, sizeof *room, ascending);
    return s;
}

static void add_delta(history *h, double fpr, umbel_key text) {
    uint64_t before[KEYS], after[KEYS];
    uint8_t *bytes = NULL;
    umbeli_list_change change = {
        hashes_where(h->before, before), hashes_where(h->in, after), {NULL, 0}, {NULL, 0}};
    umbeli_delta d = {.base = base,
                      .fpr = fpr,
                      .number = h->last.number + 1,
                      .before = h->last.number ? h->last.sum : base.trailer};
    insist(umbeli_delta_build(&d, &change, &settings, &bytes, NULL) == UMBEL_OK, "it is built");
    umbeli_delta_part part = {.delta = {bytes, (size_t)d.len}, .len = (size_t)d.len};
    if (text.len) (void)umbeli_delta_part_sign(&part, text, NULL);
    h->bytes = realloc(h->bytes, h->len + part.len);
    umbeli_delta_part_write(&part, h->bytes + h->len);
    h->len += part.len;
    h->last = d;
    umbeli_delete(&settings, bytes);
}

/* No key of the list is missed, and none that has just left is found. */
static void check(const history *h, const bool *in_base) {
    umbeli_delta_chain *chain = NULL;
    uint64_t hashes[KEYS];
    uint8_t hit[KEYS];
    insist(umbeli_delta_chain_new(h->bytes, h->len, &base, &settings, &chain, NULL) == UMBEL_OK,
           "what was built is read");
    for (size_t i = 0; i < KEYS; i++) {
        hashes[i] = umbel_mix(i);
        hit[i] = in_base[i];
    }
    umbeli_delta_chain_ask(chain, hashes, KEYS, hit);
    for (size_t i = 0; i < KEYS; i++) {
        insist(!h->in[i] || hit[i], "a key of the list is found");
        insist(h->in[i] || !h->before[i] || !hit[i], "a key that left is not");
    }
    umbeli_delta_chain_free(chain);
}

static void live(const uint8_t *bytes, size_t len) {
    history h = {.bytes = NULL};
    bool in_base[KEYS];
    for (size_t i = 0; i < KEYS; i++) in_base[i] = h.in[i] = h.before[i] = i % 2;
    for (size_t i = 0; i + 1 < len && h.last.number < MOST_DELTAS; i += 2) {
        h.in[bytes[i]] ^= 1;
        if (bytes[i + 1] % 4) continue;
        add_delta(&h, 1.0 / (2 + bytes[i + 1]), (umbel_key){bytes, bytes[i + 1] & 4 ? len - i : 0});
        check(&h, in_base);
        memcpy(h.before, h.in, sizeof h.in);
    }
    free(h.bytes);
}

/* ---- hostile signatures ------------------------------------------------------------------- */

/* Whatever follows a delta, it is read as something or refused. */
static void follow(const history *h, const uint8_t *bytes, size_t len) {
    uint8_t *all = some_bytes(h->len + len);
    umbeli_delta_part part;
    memcpy(all, h->bytes, h->len);
    if (len) memcpy(all + h->len, bytes, len);
    if (!umbeli_delta_part_read(all, h->len + len, &part, NULL)) {
        insist(part.len <= h->len + len, "a part is within the bytes");
        insist(part.delta.len == h->len, "a signature is not a part of the delta");
    }
    use_chain(all, h->len + len);
    free(all);
}

static void hostile_signature(const uint8_t *bytes, size_t len) {
    static const uint8_t magic[] = {'U', 'M', 'B', 'S', 0x1a, '\r', '\n', 0};
    enum { TEXT = 16 };
    history h = {.in = {true}};
    add_delta(&h, 0.01, (umbel_key){NULL, 0});
    follow(&h, bytes, len);
    uint8_t *frame = some_bytes(TEXT + len + CHECKSUM);
    memcpy(frame, magic, sizeof magic);
    umbeli_store_le64(frame + sizeof magic, len);
    if (len) memcpy(frame + TEXT, bytes, len);
    umbeli_store_le64(frame + TEXT + len, umbeli_xxh3_64(frame, TEXT + len, 0));
    follow(&h, frame, TEXT + len + CHECKSUM);
    free(frame);
    free(h.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len) {
    if (len == 0) return 0;
    if (bytes[0] & 1) {
        hostile(bytes + 1, len - 1);
    } else if (bytes[0] & 2) {
        hostile_signature(bytes + 1, len - 1);
    } else {
        live(bytes + 1, len - 1);
    }
    return 0;
}
