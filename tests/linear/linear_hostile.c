/* SPDX-License-Identifier: MIT
 *
 * linear_hostile.c - the worst file of each format: decoding it, and whatever is done with the
 *                    filter next, takes work and memory in proportion to its length
 */
#include "cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "any_filter.h"
#include "core/bits.h"
#include "native_file.h"
#include "steps.h"
#include "umbel_experimental.h"
#include "umbel_foreign.h"
#include "watched_memory.h"

/* Per byte of the file, and besides; a filter that grows may take more: see `growth`. */
enum { STEPS_PER_BYTE = 64, STEPS = 1500000, BYTES_PER_BYTE = 8, BYTES = 64 << 10 };
enum { SMALL_LAYER = 1 << 20 };

static const char *name;
static umbel_foreign as;
static watched_memory memory;
static unsigned fill = 0xff; /* of the bits: every key is in, or none */

typedef struct cost {
    const char *what;
    uint64_t steps;
    size_t len, held;
} cost;

static cost begin(const char *what, size_t len) {
    memory.peak = memory.now;
    return (cost){what, steps_taken(), len, memory.now};
}

/* `growth`: bytes that the file itself says the next layer may have. */
static void end(cost c, uint64_t growth) {
    uint64_t steps = steps_taken() - c.steps, bytes = memory.peak - c.held;
    uint64_t may = (uint64_t)STEPS_PER_BYTE * c.len + STEPS + growth;
    if (steps > may / 2) {
        print_message("# %-36s %-9s %8zu bytes %10llu steps\n", name, c.what, c.len,
                      (unsigned long long)steps);
    }
    if (steps > may) fail_msg("%s, %s: %llu steps", name, c.what, (unsigned long long)steps);
    if (bytes > (uint64_t)BYTES_PER_BYTE * c.len + BYTES + growth) {
        fail_msg("%s, %s: %llu bytes of memory", name, c.what, (unsigned long long)bytes);
    }
}

static void read_ops(const umbel_filter *f, size_t len) {
    umbel_info info;
    umbel_measurement now;
    uint64_t bits[64];
    uint8_t hits[64];
    umbel_key keys[64];
    for (size_t i = 0; i < 64; i++) keys[i] = (umbel_key){"0123456789abcdef" + i % 16, 1 + i % 16};
    cost c = begin("describe", len);
    umbel_describe(f, &info);
    end(c, 0);
    c = begin("measure", len);
    umbel_measure(f, &now);
    end(c, 0);
    c = begin("contains", len);
    (void)umbel_contains(f, "key", 3);
    end(c, 0);
    c = begin("contains many", len);
    umbel_contains_many(f, keys, 1, hits);
    end(c, 0);
    c = begin("probes", len);
    (void)umbel_probes(f, "key", 3, bits, 64);
    end(c, 0);
    c = begin("encode", len);
    size_t size = (size_t)umbel_encoded_size(f, UMBEL_FMT_ANY);
    uint8_t *bytes = malloc(size ? size : 1);
    assert_non_null(bytes);
    if (size) (void)umbel_encode(f, UMBEL_FMT_ANY, bytes, size, NULL);
    free(bytes);
    end(c, 0);
    assert_true(size <= 2 * len + 8192);
}

static void change_ops(umbel_filter *f, size_t len, uint64_t growth) {
    umbel_filter *twin = NULL;
    cost c = begin("copy", len);
    umbel_err e = umbel_copy(f, &twin, NULL);
    end(c, 0);
    if (!e) {
        c = begin("equal", len);
        (void)umbel_equal(f, twin);
        end(c, 0);
        c = begin("merge", len);
        (void)umbel_merge(twin, f, NULL);
        end(c, growth);
        c = begin("intersect", len);
        (void)umbel_intersect(twin, f, NULL);
        end(c, 0);
        c = begin("fold", len);
        (void)umbel_fold(twin, 0.5, NULL);
        end(c, 0);
        umbel_free(twin);
    }
    c = begin("add", len);
    (void)umbel_add(f, "a new key", 9, NULL, NULL);
    end(c, growth);
    c = begin("remove", len);
    (void)umbel_remove(f, "a new key", 9, NULL);
    end(c, 0);
    c = begin("set meta", len);
    (void)umbel_set_meta(f, "name", "value", NULL);
    end(c, 0);
    c = begin("advance", len);
    (void)umbel_advance(f, NULL);
    end(c, 0);
    c = begin("clear", len);
    (void)umbel_clear(f, NULL);
    end(c, growth);
}

/* Everything that can be done with these bytes; returns what decoding them says. */
static umbel_err use(const text *t, uint64_t growth) {
    umbel_filter *f = NULL;
    watch_memory(&memory, 0);
    cost c = begin("recognise", t->len);
    umbel_err e = umbel_decode(t->bytes, t->len, UMBEL_MAP, NULL, &memory.opts, &f, NULL);
    end(c, 0);
    umbel_free(f);
    c = begin("verify", t->len);
    (void)umbel_decode(t->bytes, t->len, UMBEL_VERIFY, &as, NULL, NULL, NULL);
    end(c, 0);
    f = NULL;
    c = begin("view", t->len);
    e = umbel_decode(t->bytes, t->len, UMBEL_MAP, &as, &memory.opts, &f, NULL);
    end(c, 0);
    if (!e) read_ops(f, t->len);
    umbel_free(f);
    f = NULL;
    c = begin("decode", t->len);
    e = umbel_decode(t->bytes, t->len, UMBEL_LOAD, &as, &memory.opts, &f, NULL);
    end(c, 0);
    if (!e) {
        read_ops(f, t->len);
        change_ops(f, t->len, growth);
    }
    umbel_free(f);
    assert_int_equal(memory.blocks, 0);
    return e;
}

static void text_u(text *t, uint64_t value, size_t width) {
    for (size_t i = 0; i < width; i++) text_byte(t, (unsigned)(value >> 8 * i) & 0xff);
}

static void text_f(text *t, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    text_u(t, bits, 8);
}

static void text_fill(text *t, unsigned byte, size_t n) {
    for (size_t i = 0; i < n; i++) text_byte(t, byte);
}

/* ---- Native ------------------------------------------------------------------------------- */

enum { AT_KIND = 16, AT_HASHES = 28, AT_BITS = 48, AT_CAPACITY = 56, AT_RATE = 64, AT_ADDED = 72 };
enum { AT_OFFSET = 96, AT_LEN = 104, AT_PARAMS_LEN = 116, FIXED = 128, PAYLOAD = 4096 };

/* A native file with this payload, its bits all set, and these parameters of the kind. */
static text native(umbel_kind kind, uint32_t hashes, uint64_t len, const text *params) {
    text t = {0};
    umbel_filter *f = NULL;
    umbel_params ada = {.kind = UMBEL_KIND_BLOCKED, .bytes = 32};
    assert_ok(umbel_create(&ada, NULL, &f, NULL));
    uint8_t head[8192];
    assert_ok(umbel_encode(f, UMBEL_FMT_NATIVE, head, sizeof head, NULL));
    umbel_free(f);
    text_put(&t, head, FIXED);
    text_put(&t, params->bytes, params->len);
    text_fill(&t, 0, (8 - t.len % 8) % 8 + 8);
    native_set(t.bytes, 12, 4, t.len);
    native_set(t.bytes, AT_KIND, 4, kind);
    native_set(t.bytes, AT_HASHES, 4, hashes);
    native_set(t.bytes, AT_BITS, 8, 8 * len);
    native_set(t.bytes, AT_PARAMS_LEN, 4, params->len);
    native_set(t.bytes, AT_LEN, 8, len);
    native_set(t.bytes, AT_ADDED, 8, UINT64_MAX);
    uint64_t at = (t.len + PAYLOAD - 1) / PAYLOAD * PAYLOAD;
    native_set(t.bytes, AT_OFFSET, 8, at);
    text_fill(&t, 0, at - t.len);
    text_fill(&t, fill, len);
    text_fill(&t, 0, 8 * ((len + (1 << 20) - 1) >> 20) + 8);
    return t;
}

static void promise(text *t, uint64_t capacity, double rate) {
    uint64_t bits;
    memcpy(&bits, &rate, sizeof bits);
    native_set(t->bytes, AT_CAPACITY, 8, capacity);
    native_set(t->bytes, AT_RATE, 8, bits);
    native_resum(t->bytes, t->len);
}

static const double tiny_rate = 4.9e-324, high_rate = 0.9999999999999999;

static void plain_kinds(void **state) {
    (void)state;
    static const struct {
        const char *name;
        umbel_kind kind;
        uint32_t hashes;
        uint64_t len;
    } all[] = {
        {"blocked", UMBEL_KIND_BLOCKED, 8, 32},
        {"blocked, larger", UMBEL_KIND_BLOCKED, 8, 1 << 18},
        {"classic", UMBEL_KIND_CLASSIC, 1024, 1},
        {"classic, larger", UMBEL_KIND_CLASSIC, 1024, 1 << 18},
        {"counting", UMBEL_KIND_COUNTING, 8, 128},
        {"counting, larger", UMBEL_KIND_COUNTING, 8, 1 << 18},
    };
    static const uint64_t capacities[] = {0, 1, 1000, UINT64_C(1) << 53, UINT64_MAX};
    static const double rates[] = {0, 0.01, tiny_rate, high_rate};
    as = (umbel_foreign){.format = UMBEL_FMT_NATIVE};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        name = all[i].name;
        text t = native(all[i].kind, all[i].hashes, all[i].len, &(text){0});
        for (size_t k = 0; k < 20; k++) {
            promise(&t, capacities[k % 5], rates[k / 5]);
            assert_ok(use(&t, 0));
        }
        free(t.bytes);
    }
}

/* Layers of these blocks, each full. */
static text scalable(uint32_t expansion, uint32_t layers, uint64_t blocks, uint64_t capacity) {
    text params = {0};
    text_u(&params, expansion, 4), text_u(&params, 64, 4), text_u(&params, layers, 4);
    text_u(&params, 0, 4);
    for (uint32_t i = 0; i < layers; i++) {
        text_u(&params, blocks, 8), text_u(&params, capacity, 8), text_u(&params, capacity, 8);
    }
    text t = native(UMBEL_KIND_SCALABLE, 8, 32 * blocks * layers, &params);
    free(params.bytes);
    return t;
}

static void scalables(void **state) {
    (void)state;
    static const uint64_t capacities[] = {1, 8, 20, 40, 100, 1000, UINT64_C(1) << 40, UINT64_MAX};
    static const uint32_t expansions[] = {1, 2, 1024};
    as = (umbel_foreign){.format = UMBEL_FMT_NATIVE};
    name = "scalable";
    fill = 0; /* so that the key is new, and another layer is needed */
    for (size_t e = 0; e < 3; e++) {
        for (size_t c = 0; c < 8; c++) {
            for (uint64_t blocks = 1; blocks < 5000; blocks *= 4096) {
                for (uint32_t layers = 1; layers <= 64; layers *= 63) {
                    text t = scalable(expansions[e], layers, blocks, capacities[c] * blocks);
                    promise(&t, 0, high_rate);
                    uint64_t times =
                        2 * expansions[e] < 64 * layers ? 2 * expansions[e] : 64 * layers;
                    (void)use(&t, SMALL_LAYER + times * 32 * blocks);
                    promise(&t, 0, tiny_rate);
                    (void)use(&t, SMALL_LAYER + times * 32 * blocks);
                    free(t.bytes);
                }
            }
        }
    }
}

static void windows(void **state) {
    (void)state;
    static const uint64_t capacities[] = {1, 20, 1000, UINT64_C(1) << 40, UINT64_MAX / 255};
    as = (umbel_foreign){.format = UMBEL_FMT_NATIVE};
    name = "window";
    for (size_t c = 0; c < 5; c++) {
        for (uint32_t manual = 0; manual < 2; manual++) {
            text params = {0};
            text_u(&params, 256, 4), text_u(&params, 255, 4), text_u(&params, manual, 4);
            text_u(&params, 0, 4), text_u(&params, capacities[c], 8);
            for (size_t i = 0; i < 256; i++) {
                text_u(&params, manual ? UINT64_MAX : capacities[c], 8);
            }
            text t = native(UMBEL_KIND_WINDOW, 8, 32 * 256, &params);
            promise(&t, 255 * capacities[c], high_rate);
            (void)use(&t, 0);
            free(t.bytes);
            free(params.bytes);
        }
    }
}

static void built_once(void **state) {
    (void)state;
    as = (umbel_foreign){.format = UMBEL_FMT_NATIVE};
    name = "static";
    for (uint32_t shard_bits = 0; shard_bits <= 16; shard_bits += 8) {
        text params = {0};
        uint64_t shards = UINT64_C(1) << shard_bits, each = (4 * 32 + 7) / 8;
        text_u(&params, shards, 4), text_u(&params, 0, 4), text_u(&params, 1, 4);
        text_u(&params, 32, 4), text_u(&params, 0, 4), text_u(&params, 0, 4);
        text t = native(UMBEL_KIND_STATIC, 4, (shards + 7) / 8 * 8 + shards * each, &params);
        promise(&t, UINT64_MAX, 0.5);
        assert_ok(use(&t, 0));
        free(t.bytes);
        free(params.bytes);
    }
    name = "tight";
    for (uint32_t shard_bits = 0; shard_bits <= 12; shard_bits += 6) {
        text params = {0};
        uint64_t shards = UINT64_C(1) << shard_bits;
        text_byte(&params, 32), text_byte(&params, 0);
        for (size_t i = 0; i < 8; i++) {
            if (i > 0) text_byte(&params, (uint8_t)shard_bits);
            text_byte(&params, 1), text_byte(&params, 255);
        }
        /* A threshold byte in all levels but the last, then 32 words per block. */
        uint64_t len = (7 * shards + 7) / 8 * 8 + 8 * 32 * (7 * shards + 1);
        text t = native(UMBEL_KIND_TIGHT, 1, len, &params);
        promise(&t, UINT64_MAX, 0.5);
        assert_ok(use(&t, 0));
        free(t.bytes);
        free(params.bytes);
    }
}

/* ---- Other systems ------------------------------------------------------------------------ */

static void others(void **state) {
    (void)state;
    for (size_t len = 8; len <= 1 << 18; len *= 128) {
        text t = {0};
        text_fill(&t, 0xff, len);
        text_byte(&t, 30);
        static const umbel_format tails[] = {UMBEL_FMT_LEVELDB, UMBEL_FMT_COREKV, UMBEL_FMT_BADGER};
        for (size_t i = 0; i < 3; i++) {
            name = "leveldb, corekv, badger";
            as = (umbel_foreign){.format = tails[i]};
            assert_ok(use(&t, 0));
        }
        t.len--;
        name = "clickhouse";
        as = (umbel_foreign){.format = UMBEL_FMT_CLICKHOUSE, .hashes = 1024};
        if (use(&t, 0)) {
            as.hashes = 20;
            assert_ok(use(&t, 0));
        }
        free(t.bytes);

        t = (text){0};
        name = "guava";
        as = (umbel_foreign){.format = UMBEL_FMT_GUAVA};
        text_byte(&t, 1), text_byte(&t, 255);
        for (int i = 3; i >= 0; i--) text_byte(&t, (unsigned)(len / 8 >> 8 * i) & 0xff);
        text_fill(&t, 0xff, len);
        for (unsigned strategy = 0; strategy < 2; strategy++) {
            t.bytes[0] = (uint8_t)strategy;
            assert_ok(use(&t, 0));
        }
        free(t.bytes);

        name = "spark";
        as = (umbel_foreign){.format = UMBEL_FMT_SPARK};
        for (unsigned version = 1; version <= 2; version++) {
            t = (text){0};
            for (int i = 3; i >= 0; i--) text_byte(&t, i ? 0 : version);
            for (int i = 3; i >= 0; i--) text_byte(&t, (1024u >> 8 * i) & 0xff);
            if (version == 2) text_fill(&t, 7, 4);
            for (int i = 3; i >= 0; i--) text_byte(&t, (unsigned)(len / 8 >> 8 * i) & 0xff);
            text_fill(&t, 0xff, len);
            assert_ok(use(&t, 0));
            free(t.bytes);
        }

        name = "datasketches";
        as = (umbel_foreign){.format = UMBEL_FMT_DATASKETCHES};
        t = (text){0};
        text_put(&t, "\4\1\25\0", 4);
        text_u(&t, 1024, 4), text_u(&t, 7, 8), text_u(&t, len / 8, 8), text_u(&t, UINT64_MAX, 8);
        text_fill(&t, 0xff, len / 8 * 8);
        assert_ok(use(&t, 0));
        free(t.bytes);

        name = "rocksdb";
        as = (umbel_foreign){.format = UMBEL_FMT_ROCKSDB};
        static const uint8_t ends[][5] = {{0xff, 0, 30, 0, 0},         {0xfe, 1, 2, 0, 0},
                                          {0xfe, 1, 0xff, 0xff, 0xff}, {30, 1, 0, 0, 0},
                                          {127, 1, 0, 0, 0},           {0, 0, 0, 0, 0}};
        size_t bits_len = 512; /* one line or many: a power of two */
        while (2 * bits_len <= len) bits_len *= 2;
        for (size_t i = 0; i < 6 + 4; i++) {
            t = (text){0};
            text_fill(&t, 0xff, bits_len);
            if (i < 6) {
                text_put(&t, ends[i], 5);
            } else { /* lines of 8 to 512 bytes, all but the first of which some processor has */
                text_byte(&t, 30), text_u(&t, bits_len / (8u << 2 * (i - 6)), 4);
            }
            assert_ok(use(&t, 0));
            free(t.bytes);
        }

        name = "dcso";
        as = (umbel_foreign){.format = UMBEL_FMT_DCSO};
        static const double rates[] = {tiny_rate, 0.01, high_rate};
        for (size_t i = 0; i < 6; i++) {
            t = (text){0};
            text_u(&t, 1, 8), text_u(&t, i % 2 ? UINT64_MAX : 1, 8), text_f(&t, rates[i / 2]);
            text_u(&t, 1024, 8), text_u(&t, 8 * len, 8), text_u(&t, UINT64_MAX, 8);
            text_fill(&t, 0xff, len);
            text_fill(&t, 'd', len); /* its data */
            assert_ok(use(&t, 0));
            free(t.bytes);
        }

        /* Its length follows from what the caller says, here nearly the most probes there are. */
        name = "gocrc32";
        as = (umbel_foreign){.format = UMBEL_FMT_GOCRC32, .capacity = 1 + len / 180, .fpr = 1e-300};
        umbel_filter *f = NULL;
        assert_ok(umbel_create_foreign(&as, NULL, &f, NULL));
        t = (text){0};
        text_fill(&t, 0xff, (size_t)umbel_encoded_size(f, UMBEL_FMT_GOCRC32) - 8);
        text_fill(&t, 0, 8); /* bits after the last are 0 */
        umbel_free(f);
        assert_ok(use(&t, 0));
        free(t.bytes);
    }
}

/* Unknown fields of structs in lists in structs, then the bits. */
static void parquet_header(void **state) {
    (void)state;
    static const uint8_t rest[] = {0x15, 0x40, 0x1c, 0x1c, 0,    0, 0x1c,
                                   0x1c, 0,    0,    0x1c, 0x1c, 0, 0};
    name = "parquet";
    as = (umbel_foreign){.format = UMBEL_FMT_PARQUET};
    for (size_t fields = 1; fields < 200000; fields *= 20) {
        text t = {0};
        text_put(&t, rest, sizeof rest);
        text_byte(&t, 0x19), text_byte(&t, 0xf0 | 12), text_varint(&t, fields);
        for (size_t i = 0; i < fields; i++) text_byte(&t, 0);
        text_byte(&t, 0);
        text_fill(&t, 0xff, 32);
        umbel_err e = use(&t, 0);
        assert_int_equal(e, fields < 200 ? UMBEL_OK : UMBEL_ECORRUPT);
        free(t.bytes);
    }
}

/* ---- RedisBloom --------------------------------------------------------------------------- */

typedef struct link {
    uint64_t bytes, keys, entries;
    double rate, bits_per_entry;
    uint32_t probes;
    uint8_t n2;
} link;

static text redisbloom(uint32_t count, uint32_t options, uint32_t growth, const link *links) {
    text t = {0};
    uint64_t keys = 0, bytes = 0;
    for (uint32_t i = 0; i < count; i++) keys += links[i].keys, bytes += links[i].bytes;
    text_put(&t, "UMBRBLM1", 8);
    text_u(&t, 20 + 53 * (uint64_t)count, 8);
    text_u(&t, keys, 8), text_u(&t, count, 4), text_u(&t, options, 4), text_u(&t, growth, 4);
    for (uint32_t i = 0; i < count; i++) {
        const link *l = &links[i];
        text_u(&t, l->bytes, 8), text_u(&t, 8 * l->bytes, 8), text_u(&t, l->keys, 8);
        text_f(&t, l->rate), text_f(&t, l->bits_per_entry), text_u(&t, l->probes, 4);
        text_u(&t, l->entries, 8), text_byte(&t, l->n2);
    }
    text_fill(&t, fill, bytes);
    return t;
}

static void redisbloom_links(void **state) {
    (void)state;
    as = (umbel_foreign){.format = UMBEL_FMT_REDISBLOOM};
    name = "redisbloom, many links";
    enum { MANY = 100000, MOST = 1024 };
    link *links = calloc(MANY, sizeof *links);
    assert_non_null(links);
    for (size_t i = 0; i < MANY; i++) links[i] = (link){1, 0, 1, 0.5, 1.4426950408889634, 1, 0};
    text t = redisbloom(MANY, 5, 1, links);
    assert_int_equal(use(&t, 0), UMBEL_ECORRUPT);
    free(t.bytes);
    /* As many as there can be, with probes that nearly all succeed. */
    name = "redisbloom, most links";
    fill = 0x7f;
    for (uint32_t i = 0; i < MOST; i++) {
        double each = (i + 1) / 0.693147180559945 - 1e-9;
        links[i] = (link){64, 0, 1, pow(0.5, i + 1), each, i + 1, 0};
    }
    t = redisbloom(MOST, 5, 1, links);
    assert_ok(use(&t, SMALL_LAYER));
    free(t.bytes);
    free(links);
}

/* A link of eight bytes that claims to be full of very many keys. */
static void redisbloom_growth(void **state) {
    (void)state;
    as = (umbel_foreign){.format = UMBEL_FMT_REDISBLOOM};
    name = "redisbloom, growth";
    fill = 0;
    static const double rates[] = {0.5, 0.25, 0.01, 1e-9, high_rate, 1e-300};
    static const uint32_t growths[] = {1, 2, 32768, UINT32_MAX};
    for (size_t r = 0; r < 6; r++) {
        double each = -log(rates[r]) / 0.480453013918201;
        uint32_t probes = (uint32_t)ceil(0.693147180559945 * each);
        for (size_t g = 0; g < 4; g++) {
            for (unsigned shift = 0; shift < 64; shift += 3) {
                uint64_t entries = UINT64_C(1) << shift;
                link one = {8, entries, entries, rates[r], each, probes, 0};
                text t = redisbloom(1, 5, growths[g], &one);
                (void)use(&t, SMALL_LAYER + (growths[g] > 32768 ? 0 : 8 * 64));
                free(t.bytes);
            }
        }
    }
}

int linear_hostile(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_kinds),      cmocka_unit_test(scalables),
        cmocka_unit_test(windows),          cmocka_unit_test(built_once),
        cmocka_unit_test(others),           cmocka_unit_test(parquet_header),
        cmocka_unit_test(redisbloom_links), cmocka_unit_test(redisbloom_growth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
