/* SPDX-License-Identifier: MIT
 *
 * fuzz_decode_foreign.c - the filters of other systems
 *
 *   byte    what
 *   0       the format's number; 0: it is to be recognised
 *   1       1: lengths and sums within the bytes are made to agree; 2: the bytes are gzipped first
 *   2..3    keys        5  variant        7      hashes
 *   4       fpr         6  bits_per_key   8..15  seed        of what it is decoded as
 *   16...   what is decoded
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "../support/watched_memory.h"
#include "core/bits.h"
#include "target.h"
#include "umbel_foreign.h"

enum { AGREE = 1, GZIP = 2, HEAD = 16, LONGEST = 1 << 16, GZIP_WINDOW = 15 + 16 };

typedef struct text {
    uint8_t *bytes;
    size_t len;
} text;

/* Zeros where there was nothing. */
static void resize(text *t, size_t len) {
    uint8_t *bytes = some_bytes(len);
    memset(bytes, 0, len);
    memcpy(bytes, t->bytes, len < t->len ? len : t->len);
    free(t->bytes);
    *t = (text){bytes, len};
}

/* ---- Making fields consistent ---- */

static void agree_guava(text *t) {
    if (t->len < 6) return;
    size_t words = (t->len - 6) / 8;
    resize(t, 6 + 8 * words);
    for (unsigned i = 0; i < 4; i++) t->bytes[2 + i] = (uint8_t)(words >> (24 - 8 * i));
}

static void agree_spark(text *t) {
    if (t->len < 16) return;
    size_t header = t->bytes[3] == 2 ? 16 : 12, words = (t->len - header) / 8;
    resize(t, header + 8 * words);
    for (unsigned i = 0; i < 4; i++) {
        t->bytes[header - 4 + i] = (uint8_t)(words >> (24 - 8 * i));
    }
}

static void agree_datasketches(text *t) {
    enum { HEADER = 32, WORDS_AT = 16, EMPTY = 24, FLAG_EMPTY = 4 };
    if (t->len < HEADER) return;
    bool empty = t->bytes[3] & FLAG_EMPTY;
    size_t words = (t->len - HEADER) / 8;
    memcpy(t->bytes, empty ? "\3\1\25\4" : "\4\1\25\0", 4);
    memset(t->bytes + 6, 0, 2);
    memset(t->bytes + WORDS_AT + 4, 0, 4);
    if (empty) {
        resize(t, EMPTY);
        return;
    }
    resize(t, HEADER + 8 * words);
    umbeli_store_le32(t->bytes + WORDS_AT, (uint32_t)words);
    if (umbeli_load_le64(t->bytes + EMPTY) > 64 * words) memset(t->bytes + EMPTY, 0xff, 8);
}

/* What a reader finds first is the kind of filter; most lengths are not whole lines of that
 * kind. */
static void agree_rocksdb(text *t) {
    if (t->len < 69 || t->bytes[t->len - 5] != 0xff) return;
    uint8_t last[5];
    memcpy(last, t->bytes + t->len - 5, 5);
    resize(t, (t->len - 5) / 64 * 64 + 5);
    memcpy(t->bytes + t->len - 5, last, 5);
}

static void agree_gocrc32(text *t, const umbel_foreign *like) {
    umbel_plan plan;
    if (umbel_plan_foreign(like, &plan, NULL) || plan.bits > 8 * LONGEST) return;
    resize(t, (size_t)(plan.bits + 63) / 64 * 8);
    for (uint64_t bit = plan.bits; bit < 8 * t->len; bit++) {
        t->bytes[bit / 8] &= (uint8_t) ~(1u << bit % 8);
    }
}

static void agree_dcso(text *t) {
    enum { HEADER = 48, BITS_AT = 32 };
    if (t->len < HEADER) return;
    uint64_t bits = umbeli_load_le64(t->bytes + BITS_AT) % (8 * LONGEST);
    size_t need = HEADER + (size_t)(bits + 63) / 64 * 8;
    umbeli_store_le64(t->bytes, 1);
    umbeli_store_le64(t->bytes + BITS_AT, bits);
    if (t->len < need) resize(t, need);
    for (uint64_t bit = bits; bit % 64; bit++) {
        t->bytes[HEADER + bit / 8] &= (uint8_t) ~(1u << bit % 8);
    }
}

/* The sums in the header, and as many bits after it as it says. */
static void agree_redisbloom(text *t) {
    enum { FRAME = 16, FIXED = 20, LINK = 53, MAX_LINKS = 40 };
    if (t->len < FRAME + FIXED + LINK) return;
    uint32_t links = umbeli_load_le32(t->bytes + FRAME + 8) % MAX_LINKS;
    if (links > (t->len - FRAME - FIXED) / LINK)
        links = (uint32_t)((t->len - FRAME - FIXED) / LINK);
    uint64_t header = FIXED + (uint64_t)links * LINK, keys = 0, bytes = 0;
    for (uint32_t i = 0; i < links; i++) {
        uint8_t *link = t->bytes + FRAME + FIXED + i * LINK;
        uint64_t own = umbeli_load_le64(link) % 4096, each = umbeli_load_le64(link + 32);
        double bits_each;
        memcpy(&bits_each, &each, sizeof each);
        double probes = ceil(0.693147180559945 * bits_each);
        umbeli_store_le64(link, own);
        umbeli_store_le64(link + 8, 8 * own);
        if (probes >= 0 && probes < 1e6) umbeli_store_le32(link + 40, (uint32_t)probes);
        keys += umbeli_load_le64(link + 16);
        bytes += own;
    }
    memcpy(t->bytes, "UMBRBLM1", 8);
    umbeli_store_le64(t->bytes + 8, header);
    umbeli_store_le64(t->bytes + FRAME, keys);
    umbeli_store_le32(t->bytes + FRAME + 8, links);
    resize(t, (size_t)(FRAME + header + bytes));
}

static void agree(text *t, const umbel_foreign *like) {
    switch (like->format) {
    case UMBEL_FMT_GUAVA: agree_guava(t); break;
    case UMBEL_FMT_GOCRC32: agree_gocrc32(t, like); break;
    case UMBEL_FMT_DCSO: agree_dcso(t); break;
    case UMBEL_FMT_ROCKSDB: agree_rocksdb(t); break;
    case UMBEL_FMT_SPARK: agree_spark(t); break;
    case UMBEL_FMT_DATASKETCHES: agree_datasketches(t); break;
    case UMBEL_FMT_REDISBLOOM: agree_redisbloom(t); break;
    default: break;
    }
}

static void gzip(text *t) {
    z_stream z = {.next_in = t->bytes, .avail_in = (uInt)t->len};
    int e = deflateInit2(&z, 1, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY);
    insist(e == Z_OK, "zlib works");
    size_t room = deflateBound(&z, t->len);
    uint8_t *zipped = some_bytes(room);
    z.next_out = zipped;
    z.avail_out = (uInt)room;
    insist(deflate(&z, Z_FINISH) == Z_STREAM_END, "zlib keeps its bound");
    free(t->bytes);
    *t = (text){zipped, room};
    resize(t, z.total_out);
    deflateEnd(&z);
}

/* DataSketches' empty filters have a size, and no bits that justify it: opts.max_bytes bounds it. */
static bool names_its_size(const text *t) {
    return t->len == 24 && memcmp(t->bytes, "\3\1\25\4", 4) == 0;
}

/* ---- */

/* Any number of a format; 0, that of none, and umbel's own: to be recognised. */
static umbel_format_info format_of(uint8_t number, umbel_format *format) {
    umbel_format_info info, last;
    umbel_format count = UMBEL_FMT_NATIVE;
    while (umbel_format_describe(count + 1, &last)) count++;
    *format = number % (count + 1u);
    if (*format == UMBEL_FMT_NATIVE) *format = UMBEL_FMT_ANY;
    umbel_format_describe(*format, &info);
    return info;
}

static umbel_foreign like_of(const uint8_t *head) {
    static const double rates[] = {0,      0.01, 0.5,  0.9,  0.025,    1e-6, 0.999999,
                                   1e-300, 1,    -0.1, 1e-3, INFINITY, NAN};
    umbel_foreign like = {0};
    if (format_of(head[0], &like.format).needs) {
        like.capacity = umbeli_load_le16(head + 2);
        like.fpr = rates[head[4] % (sizeof rates / sizeof rates[0])];
        like.variant = head[5];
        like.bits_per_key = head[6];
        like.hashes = head[7] | (head[4] & 0x80 ? 0x3f0u : 0);
        like.seed = umbeli_load_le64(head + 8);
    }
    return like;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len) {
    if (len < HEAD) return 0;
    umbel_foreign like = like_of(bytes);
    text t = {some_bytes(len - HEAD), len - HEAD};
    memcpy(t.bytes, bytes + HEAD, t.len);
    if (bytes[1] & AGREE) agree(&t, &like);
    if (bytes[1] & GZIP) gzip(&t);
    uint64_t max = 2 * t.len + (1 << 13); /* a handle and a copy or two */
    if (names_its_size(&t)) max += USE_MAX_BYTES;
    use_bytes(&like, NULL, t.bytes, t.len, max);
    free(t.bytes);
    return 0;
}
