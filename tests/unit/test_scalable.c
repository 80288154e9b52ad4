/* SPDX-License-Identifier: MIT
 *
 * test_scalable.c - scalable filters: the rate holds at any length, limits, batches, files
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "any_filter.h"
#include "core/cpu.h"
#include "hashing.h"
#include "kind/chain/chain.h"
#include "kind_check.h"
#include "native_file.h"
#include "plan/plan.h"
#include "umbel_foreign.h"

static void shares_add_up(void **state) {
    (void)state;
    double sum = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        double share = umbeli_scalable_share(i);
        assert_true(share > 0 && (i == 0 || share <= umbeli_scalable_share(i - 1)));
        sum += share;
    }
    assert_true(fabs(sum - 1) < 1e-12);
}

/* At other rates and expansions too: the last layer filled to its capacity. */
static void keeps_every_promise(void **state) {
    (void)state;
    const double rates[] = {0.2, 0.05, 0.001};
    const uint32_t expansions[] = {1, 2, 4};
    for (size_t i = 0; i < 3; i++) {
        umbel_filter *f = check_create((umbel_params){.kind = UMBEL_KIND_SCALABLE,
                                                      .bytes = 4096,
                                                      .fpr = rates[i],
                                                      .scalable.expansion = expansions[i]});
        check_add(f, 1, 0, 20000);
        assert_int_equal(check_found(f, 1, 0, 20000), 20000);
        umbel_info info;
        umbel_measurement now = measured(f);
        umbel_describe(f, &info);
        assert_true(info.layers > 2);
        check_rate(f, 2, 500000, rates[i], now.rate);
        umbel_free(f);
    }
}

/* One by one, in batches of any size, by hash: the same filter and the same answers. */
static void batches_do_as_single_adds(void **state) {
    (void)state;
    enum { N = 60000 };
    umbel_params params = {.kind = UMBEL_KIND_SCALABLE, .bytes = 4096, .fpr = 0.02};
    umbel_filter *one = check_create(params), *many = check_create(params);
    umbel_filter *hashed = check_create(params);
    uint64_t *numbers = malloc(N * sizeof *numbers), *hashes = malloc(N * sizeof *hashes);
    umbel_key *keys = malloc(N * sizeof *keys);
    uint8_t *single = malloc(N), *batch = malloc(N);
    assert_true(numbers);
    assert_true(hashes);
    assert_true(keys);
    assert_true(single);
    assert_true(batch);
    for (uint64_t i = 0; i < N; i++) { /* a third of them are repeated */
        uint64_t random = check_key(9, i);
        numbers[i] = check_key(1, random % 3 ? i : random % (i + 1));
        keys[i] = (umbel_key){&numbers[i], 8};
        hashes[i] = one_hash(one, &numbers[i], 8);
        bool was_new;
        assert_int_equal(umbel_add(one, &numbers[i], 8, &was_new, NULL), UMBEL_OK);
        single[i] = was_new;
    }
    for (size_t at = 0, n; at < N; at += n) {
        n = 1 + (size_t)(check_key(8, at) % 5000);
        n = n < N - at ? n : N - at;
        assert_int_equal(umbel_add_many(many, keys + at, n, batch + at, NULL, NULL), UMBEL_OK);
    }
    assert_memory_equal(single, batch, N);
    assert_true(umbel_equal(one, many));
    assert_int_equal(umbel_add_hashes(hashed, hashes, N, NULL, NULL, NULL), UMBEL_OK);
    assert_true(umbel_equal(one, hashed));
    umbel_contains_hashes(many, hashes, N, batch);
    for (size_t i = 0; i < N; i++) assert_true(batch[i] && umbel_contains_hash(one, hashes[i]));
    umbel_free(one);
    umbel_free(many);
    umbel_free(hashed);
    free(numbers);
    free(hashes);
    free(keys);
    free(single);
    free(batch);
}

/* Adds until refused; the keys before stay in, the others are not partly in. */
static uint64_t fill(umbel_filter *f, umbel_err expected) {
    for (uint64_t i = 0; i < 1000000; i++) {
        uint64_t key = check_key(1, i);
        umbel_info before, after;
        umbel_measurement before_now;
        umbel_measurement after_now;
        umbel_err e = umbel_add(f, &key, 8, NULL, NULL);
        if (!e) continue;
        assert_int_equal(e, expected);
        umbel_describe(f, &before);
        umbel_measure(f, &before_now);
        assert_int_equal(umbel_add(f, &key, 8, NULL, NULL), expected);
        umbel_describe(f, &after);
        umbel_measure(f, &after_now);
        assert_true(before_now.bits_set == after_now.bits_set && before.bytes == after.bytes);
        assert_int_equal(check_found(f, 1, 0, i), i);
        check_rate(f, 2, 100000, before.fpr, 0);
        key = check_key(1, 0); /* it has this one: nothing to refuse */
        assert_int_equal(umbel_add(f, &key, 8, NULL, NULL), UMBEL_OK);
        return i;
    }
    fail_msg("never full");
    return 0;
}

static void limits(void **state) {
    (void)state;
    umbel_params params = {
        .kind = UMBEL_KIND_SCALABLE, .bytes = 4096, .fpr = 0.01, .scalable.max_layers = 3};
    umbel_filter *f = check_create(params);
    uint64_t three = fill(f, UMBEL_EFULL);
    umbel_info info = described(f);
    assert_int_equal(info.layers, 3);
    assert_int_equal(umbel_clear(f, NULL), UMBEL_OK);
    assert_true(umbel_is_empty(f));
    umbel_describe(f, &info);
    assert_int_equal(info.layers, 1);
    assert_int_equal(info.bytes, 4096);
    assert_int_equal(info.keys_added, 0);
    assert_int_equal(check_found(f, 1, 0, 100), 0);
    assert_true(fabs((double)fill(f, UMBEL_EFULL) - (double)three) < 0.05 * (double)three);
    umbel_free(f);

    params.scalable.max_layers = 0;
    const umbel_opts opts = {.max_bytes = 50000};
    assert_int_equal(umbel_create(&params, &opts, &f, NULL), UMBEL_OK);
    fill(f, UMBEL_EFULL);
    umbel_describe(f, &info);
    assert_true(info.bytes <= 50000 && info.bytes > 20000);
    umbel_free(f);
}

/* From a file it grows by at most 64 times what is there, unless the caller has set a limit. */
static void files_of_strangers(void **state) {
    (void)state;
    umbel_params params = {
        .kind = UMBEL_KIND_SCALABLE, .capacity = 10000, .fpr = 0.01, .scalable.expansion = 1024};
    umbel_filter *own = check_create(params), *read = NULL;
    for (uint64_t i = 0; i < 9000; i++) {
        assert_int_equal(umbel_add(own, &i, 8, NULL, NULL), UMBEL_OK);
    }
    size_t len = (size_t)umbel_encoded_size(own, UMBEL_FMT_NATIVE);
    uint8_t *bytes = malloc(len);
    assert_non_null(bytes);
    assert_int_equal(umbel_encode(own, UMBEL_FMT_NATIVE, bytes, len, NULL), UMBEL_OK);
    const umbel_opts opts[] = {{0}, {.max_bytes = 1 << 20}, {.max_bytes = 64 << 20}};
    const umbel_err wanted[] = {UMBEL_ELIMIT, UMBEL_EFULL, UMBEL_OK};
    for (size_t i = 0; i < 3; i++) {
        umbel_err e = UMBEL_OK;
        assert_int_equal(umbel_decode(bytes, len, UMBEL_LOAD, NULL, &opts[i], &read, NULL),
                         UMBEL_OK);
        for (uint64_t key = 1 << 30; key < (1 << 30) + 2000 && !e; key++) {
            e = umbel_add(read, &key, 8, NULL, NULL);
        }
        assert_int_equal(e, wanted[i]);
        umbel_free(read);
    }
    for (uint64_t key = 1 << 30; key < (1 << 30) + 2000; key++) {
        assert_int_equal(umbel_add(own, &key, 8, NULL, NULL), UMBEL_OK);
    }
    umbel_free(own);
    free(bytes);
}

/* From few keys to many: what it takes, what it finds, and that a copy from a file continues as it
 * would have itself. */
static void grows_in_little_memory(void **state) {
    (void)state;
    enum { STEP = 1000, N = 800000 };
    umbel_filter *f = check_create((umbel_params){.kind = UMBEL_KIND_SCALABLE, .fpr = 0.01});
    umbel_filter *copy = NULL;
    umbel_info info;
    for (uint64_t n = 0; n < N; n += STEP) {
        check_add(f, 1, n, STEP);
        if (copy) check_add(copy, 1, n, STEP);
        umbel_describe(f, &info);
        if (n > 10000) assert_true(info.bytes * 8 <= 22 * (n + 1)); /* at every size */
        if (n % 190000 == 0 || n == 650000) {                       /* with every form of a layer */
            size_t len = (size_t)umbel_encoded_size(f, UMBEL_FMT_NATIVE);
            uint8_t *bytes = malloc(len);
            assert_non_null(bytes);
            umbel_free(copy);
            assert_int_equal(umbel_encode(f, UMBEL_FMT_NATIVE, bytes, len, NULL), UMBEL_OK);
            assert_int_equal(umbel_decode(bytes, len, UMBEL_LOAD, NULL, NULL, &copy, NULL),
                             UMBEL_OK);
            free(bytes);
        }
    }
    assert_int_equal(info.layers, 3);
    assert_true(umbel_equal(f, copy));
    assert_int_equal(check_found(f, 1, 0, N), N);
    check_rate(f, 2, 500000, 0.01, measured(f).rate);
    umbel_free(f);
    umbel_free(copy);
}

/* Bytes that no writer leaves: refused, or, where nobody looked, never read outside. */
static void damaged_hashes(void **state) {
    (void)state;
    umbel_filter *f = check_create((umbel_params){.kind = UMBEL_KIND_SCALABLE, .fpr = 0.01});
    check_add(f, 1, 0, 30000);
    umbeli_chain *c = (umbeli_chain *)f;
    umbeli_layer *l = &c->layers[1];
    assert_int_equal(c->count, 2);
    assert_true(umbeli_is_packed(l));
    assert_true(l->probes->check(l, l->bits));
    uint64_t random = 1;
    for (uint64_t round = 0; round < 50; round++) {
        for (uint64_t i = 0; i < l->bytes; i++) {
            random = check_key(round + 3, i);
            l->bits[i] = round == 0 ? 0xff : round == 1 ? 0 : (uint8_t)random;
            if (round > 1 && i % 256 < 2) l->bits[i] = 0; /* not full */
        }
        if (round != 1) assert_false(l->probes->check(l, l->bits));
        (void)check_found(f, 2, 0, 3000);
        l->packed.room = round == 0 ? 0 : 9;
        for (uint64_t i = 0; i < 9 && round; i++) {
            uint64_t key = check_key(90 + round, i);
            (void)umbel_add(f, &key, 8, NULL, NULL);
        }
    }
    umbel_free(f);
}

/* A filter that continues with an empty layer of packed hashes. */
static umbeli_chain *chain_with(uint64_t bytes, uint32_t bits, uint64_t capacity) {
    umbel_filter *f = check_create((umbel_params){.kind = UMBEL_KIND_SCALABLE, .fpr = 0.01});
    umbeli_chain *c = (umbeli_chain *)f;
    umbeli_layer layer = {
        .probes = &umbeli_probes_packed,
        .short_chunks = true,
        .bytes = bytes,
        .nbits = 8 * bytes,
        .hashes = bits,
        .capacity = capacity,
    };
    assert_int_equal(umbeli_chain_append(c, &layer, 0), UMBEL_OK);
    f->shape.hashes = UMBELI_BLOCK_LANES; /* of the first layer */
    return c;
}

/* No writer adds to a filter of kept bits, but a file may end with one. */
static void kept_bits_take_keys_alike(void **state) {
    (void)state;
    enum { KEYS = 3000 };
    umbel_filter *f[2];
    for (int one_by_one = 0; one_by_one < 2; one_by_one++) {
        umbeli_chain *c = chain_with(4096, 20, 1);
        f[one_by_one] = &c->base;
        umbeli_layer layer = {
            .probes = &umbeli_probes_blocked,
            .bytes = 8192,
            .nbits = 8 * 8192,
            .hashes = UMBELI_BLOCK_LANES,
            .known_bits = 20,
            .capacity = 2 * KEYS,
        };
        assert_int_equal(umbeli_chain_append(c, &layer, 0), UMBEL_OK);
        for (uint64_t i = 0; i < KEYS && one_by_one; i++) {
            uint64_t key = check_key(1, i);
            assert_int_equal(umbel_add(&c->base, &key, 8, NULL, NULL), UMBEL_OK);
        }
        if (!one_by_one) check_add(&c->base, 1, 0, KEYS);
        for (uint64_t i = 0; i < KEYS; i++) {
            uint64_t key = check_key(1, i);
            assert_true(umbel_contains(&c->base, &key, 8));
        }
        assert_int_equal(check_found(&c->base, 1, 0, KEYS), KEYS);
        assert_int_equal(c->layers[2].keys, umbeli_keys_added(&c->base));
        assert_true(c->layers[2].keys > KEYS - 100);
    }
    assert_true(umbel_equal(f[0], f[1]));
    umbel_free(f[0]);
    umbel_free(f[1]);
}

static uint8_t *file_of(const umbel_filter *f, size_t *len) {
    *len = (size_t)umbel_encoded_size(f, UMBEL_FMT_NATIVE);
    uint8_t *bytes = malloc(*len);
    assert_non_null(bytes);
    assert_int_equal(umbel_encode(f, UMBEL_FMT_NATIVE, bytes, *len, NULL), UMBEL_OK);
    return bytes;
}

/* Decodes a file; `wrong`: what is said about it, NULL if it is right. */
static void assert_file(const uint8_t *bytes, size_t len, const char *wrong) {
    umbel_filter *f = NULL;
    umbel_diag diag = {.what = NULL};
    umbel_err e = umbel_decode(bytes, len, UMBEL_LOAD, NULL, NULL, &f, &diag);
    if (!e != !wrong) fail_msg("%s instead of %s", e ? sentence(&diag) : "accepted", wrong);
    if (wrong) assert_string_equal(sentence(&diag), wrong);
    umbel_free(f);
}

/* By docs/formats/native-kinds.md: 16 chunks of hashes of 20 bits have 197 slots, 256 possible
 * upper parts and lower parts of 8 bits, so those of the hashes 4 and 5 are the bits from 469 and
 * from 477 on. */
static void a_file_has_each_hash_once(void **state) {
    (void)state;
    enum { BITS = 20, LOWER = 16 + 197 + 256, LOW = 8 };
    static const struct {
        uint32_t bit;
        const char *wrong;
    } flips[] = {
        {LOWER + LOW + 1, NULL},                             /* 4 and 7 */
        {LOWER + LOW, "layer: its hashes are not in order"}, /* 4 and 4 */
        {LOWER, "layer: its hashes are not in order"},       /* 5 and 5 */
        {LOWER + 1, "layer: its hashes are not in order"},   /* 6 and 5 */
    };
    const uint64_t hashes[] = {UINT64_C(4) << (64 - BITS), UINT64_C(5) << (64 - BITS)};
    umbeli_chain *c = chain_with(4096, BITS, 100);
    size_t len;
    assert_int_equal(umbel_add_hashes(&c->base, hashes, 2, NULL, NULL, NULL), UMBEL_OK);
    assert_int_equal(c->layers[1].keys, 2);
    uint8_t *bytes = file_of(&c->base, &len);
    uint8_t *layer = bytes + native_get(bytes, 96, 8) + c->layers[0].bytes;
    assert_int_equal(layer[0], 2);
    assert_file(bytes, len, NULL);
    for (size_t i = 0; i < sizeof flips / sizeof *flips; i++) {
        layer[flips[i].bit / 8] ^= (uint8_t)(1u << flips[i].bit % 8);
        native_resum(bytes, len);
        assert_file(bytes, len, flips[i].wrong);
        layer[flips[i].bit / 8] ^= (uint8_t)(1u << flips[i].bit % 8);
    }
    umbel_free(&c->base);
    free(bytes);
}

/* Hashes of b bits are kept in fewer than 2^(b - 4) chunks. */
static void files_have_hashes_for_their_chunks(void **state) {
    (void)state;
    enum { CHUNK = 256 };
    for (uint32_t bits = 12; bits < 15; bits++) {
        for (uint64_t more = 0; more < 2; more++) {
            uint64_t chunks = (UINT64_C(1) << (bits - 4)) - 1 + more;
            umbeli_chain *c = chain_with(CHUNK * chunks, bits, 1);
            size_t len;
            uint8_t *bytes = file_of(&c->base, &len);
            assert_file(bytes, len, more ? "layer: invalid size" : NULL);
            umbel_free(&c->base);
            free(bytes);
        }
    }
}

/* Hashes that were made to share a chunk: the layer moves into more memory while it has less than
 * 8 bytes for each key and for 4096 more, and is then left for another. */
static void flood(uint64_t others) {
    enum { PER_KEY = 8, FREE_KEYS = 4096, FIRST = 4096, BITS = 25, LOW = 64 - BITS };
    const uint64_t first = UINT64_C(0x123) << 52;
    umbeli_chain *c = chain_with(FIRST, BITS, 45000);
    uint64_t bytes = FIRST, keys = 0, i = 0, n = 0, all[4096];
    for (; c->newest == 1; i++) {
        const umbeli_layer *l = &c->layers[1];
        keys = l->keys, bytes = l->bytes;
        all[n] = i < others ? check_key(1, i) : first + ((i - others) << LOW);
        assert_int_equal(umbel_add_hashes(&c->base, &all[n++], 1, NULL, NULL, NULL), UMBEL_OK);
        l = &c->layers[1];
        if (l->bytes == bytes) continue;
        uint64_t octave = FIRST, before; /* there are four sizes to an octave */
        while (2 * octave < l->bytes) octave *= 2;
        before = l->bytes - octave / 4;
        assert_true(before / PER_KEY < keys + FREE_KEYS);
    }
    assert_true(bytes > FIRST && bytes / PER_KEY >= keys + FREE_KEYS);
    for (i = 0; i < n; i++) assert_true(umbel_contains_hash(&c->base, all[i]));
    umbel_free(&c->base);
}

static void flooded_chunks_take_bounded_memory(void **state) {
    (void)state;
    flood(0);
    for (uint64_t others = 600; others < 900; others++) flood(others); /* one is at the bound */
}

/* Packed layers take what the processor has at every call. */
static void packed_kernels_agree(void **state) {
    (void)state;
    const uint32_t allowed[] = {0, UMBELI_CPU_AVX2, UINT32_MAX};
    umbel_filter *f[3];
    uint64_t found[3];
    for (size_t i = 0; i < 3; i++) {
        umbeli_cpu_limit(allowed[i]);
        f[i] = check_create((umbel_params){.kind = UMBEL_KIND_SCALABLE, .fpr = 0.3});
        check_add(f[i], 1, 0, 100000);
        assert_int_equal(check_found(f[i], 1, 0, 100000), 100000);
        found[i] = check_found(f[i], 2, 0, 100000);
    }
    umbeli_cpu_limit(UINT32_MAX);
    assert_true(umbel_equal(f[0], f[1]) && umbel_equal(f[0], f[2]));
    assert_true(found[0] > 0);
    assert_int_equal(found[0], found[1]);
    assert_int_equal(found[0], found[2]);
    for (size_t i = 0; i < 3; i++) umbel_free(f[i]);
}

static void kernels_agree(void **state) {
    (void)state;
    check_kernels_agree((umbel_params){.kind = UMBEL_KIND_SCALABLE, .bytes = 4096, .fpr = 0.01});
    check_kernels_agree((umbel_params){
        .kind = UMBEL_KIND_SCALABLE, .bytes = 4096, .fpr = 0.01, .scalable.expansion = 2});
}

static void parameters(void **state) {
    (void)state;
    const umbel_params bad[] = {
        {.kind = UMBEL_KIND_SCALABLE},
        {.kind = UMBEL_KIND_SCALABLE, .bytes = 4096},
        {.kind = UMBEL_KIND_SCALABLE, .capacity = 100, .bytes = 4096},
        {.kind = UMBEL_KIND_SCALABLE, .capacity = 100, .fpr = 0.01, .concurrent = true},
        {.kind = UMBEL_KIND_SCALABLE, .capacity = 100, .fpr = 0.01, .hashes = 7},
        {.kind = UMBEL_KIND_SCALABLE, .capacity = 100, .fpr = 0.01, .scalable.max_layers = 65},
        {.kind = UMBEL_KIND_SCALABLE, .capacity = 100, .fpr = 0.01, .scalable.expansion = 1025},
        {.kind = UMBEL_KIND_SCALABLE, .capacity = 100, .fpr = 1e-20},
        {.kind = UMBEL_KIND_SCALABLE, .capacity = UINT64_MAX, .fpr = 0.01},
        {.kind = UMBEL_KIND_SCALABLE, .bytes = 31, .fpr = 0.01},
        {.kind = UMBEL_KIND_SCALABLE, .capacity = 10000, .bytes = 100, .fpr = 0.01},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        umbel_filter *f = NULL;
        umbel_diag diag = {.what = NULL};
        umbel_err e = umbel_create(&bad[i], NULL, &f, &diag);
        if (e != UMBEL_EINVAL) fail_msg("parameters %zu: %s", i, umbel_err_name(e));
        assert_true(f == NULL && diag.what != NULL);
    }
    umbel_filter *f = check_create((umbel_params){.kind = UMBEL_KIND_SCALABLE, .fpr = 0.01});
    umbel_filter *other = check_create((umbel_params){.kind = UMBEL_KIND_SCALABLE, .fpr = 0.01});
    umbel_diag diag;
    assert_int_equal(umbel_merge(f, other, &diag), UMBEL_ENOTSUP);
    assert_non_null(strstr(sentence(&diag), "layers"));
    assert_int_equal(umbel_intersect(f, other, &diag), UMBEL_ENOTSUP);
    assert_int_equal(umbel_fold(f, 0.1, &diag), UMBEL_ENOTSUP);
    assert_true(umbel_equal(f, other));
    umbel_free(f);
    umbel_free(other);
}

static void plans(void **state) {
    (void)state;
    umbel_plan plan = {.kind = UMBEL_KIND_SCALABLE, .capacity = 1000000, .fpr = 0.01};
    assert_int_equal(umbel_plan_solve(&plan, NULL), UMBEL_OK);
    assert_true(plan.rate <= 0.01 / 4 && plan.rate > 0.01 / 4.1);
    assert_true(fabs(plan.rate / umbel_plan_rate(&plan, 1000000) - 1) < 1e-9);
    assert_true(umbel_plan_rate(&plan, 0) == 0);
    double last = 0;
    for (uint64_t keys = 1; keys < 10000000000; keys *= 3) {
        double rate = umbel_plan_rate(&plan, keys);
        assert_true(rate >= last && rate <= 0.01);
        last = rate;
    }
    umbel_plan back = {.kind = UMBEL_KIND_SCALABLE, .capacity = 1000000, .bytes = plan.bytes};
    assert_int_equal(umbel_plan_solve(&back, NULL), UMBEL_OK);
    assert_true(back.fpr <= 0.01 && back.fpr > 0.0099);
    for (uint64_t keys = 10; keys < 10000000; keys += 1 + keys / 5) { /* what comes out goes in */
        umbel_plan again = {.kind = UMBEL_KIND_SCALABLE, .capacity = keys, .bytes = 3 * keys + 300};
        assert_int_equal(umbel_plan_solve(&again, NULL), UMBEL_OK);
        assert_int_equal(umbel_plan_solve(&again, NULL), UMBEL_OK);
    }
    umbel_plan max = {.kind = UMBEL_KIND_SCALABLE, .fpr = 0.01, .bytes = plan.bytes};
    assert_int_equal(umbel_plan_solve(&max, NULL), UMBEL_OK);
    assert_true(max.capacity >= 1000000 && max.capacity < 1010000);
    umbel_plan few = {
        .kind = UMBEL_KIND_SCALABLE, .capacity = 1000000, .fpr = 0.01, .bytes = 100000};
    assert_int_equal(umbel_plan_solve(&few, NULL), UMBEL_EINVAL);
    assert_int_equal(few.verdict, UMBEL_PLAN_BELOW_BOUND);
    few.bytes = 1000000;
    assert_int_equal(umbel_plan_solve(&few, NULL), UMBEL_EINVAL);
    assert_int_equal(few.verdict, UMBEL_PLAN_BEYOND_KIND);
}

static void files(void **state) {
    (void)state;
    umbel_filter *f = check_create((umbel_params){
        .kind = UMBEL_KIND_SCALABLE, .bytes = 256, .fpr = 0.05, .scalable.max_layers = 20});
    check_round_trip(f);
    check_add(f, 1, 0, 400);
    assert_int_equal(umbel_set_meta(f, "name", "value", NULL), UMBEL_OK);
    check_round_trip(f);
    check_bad_files(f);
    check_goes_on(f, 400, 5000);
    umbel_free(f);
}

static void memory_runs_out(void **state) {
    (void)state;
    const umbel_params params = {.kind = UMBEL_KIND_SCALABLE, .bytes = 1024, .fpr = 0.01};
    bool done = false;
    for (uint64_t fails = 0; !done; fails++) {
        check_memory m = {.fails = fails};
        umbel_alloc alloc = check_alloc(&m);
        umbel_filter *f = NULL, *copy = NULL;
        umbel_err e = umbel_create(&params, &(umbel_opts){.alloc = &alloc}, &f, NULL);
        for (uint64_t i = 0; i < 5000 && !e; i++) {
            uint64_t key = check_key(1, i);
            e = umbel_add(f, &key, 8, NULL, NULL);
            if (!e) continue;
            assert_int_equal(check_found(f, 1, 0, i), i);
            m.fails = UINT64_MAX; /* with memory again it continues */
            assert_int_equal(umbel_add(f, &key, 8, NULL, NULL), UMBEL_OK);
            assert_int_equal(check_found(f, 1, 0, i + 1), i + 1);
        }
        if (!e) e = umbel_copy(f, &copy, NULL);
        assert_true(e == UMBEL_OK || e == UMBEL_ENOMEM);
        done = e == UMBEL_OK;
        umbel_free(f);
        umbel_free(copy);
        assert_int_equal(m.out, 0);
        assert_true(fails < 100);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_add_up),
        cmocka_unit_test(keeps_every_promise),
        cmocka_unit_test(batches_do_as_single_adds),
        cmocka_unit_test(limits),
        cmocka_unit_test(files_of_strangers),
        cmocka_unit_test(grows_in_little_memory),
        cmocka_unit_test(damaged_hashes),
        cmocka_unit_test(a_file_has_each_hash_once),
        cmocka_unit_test(files_have_hashes_for_their_chunks),
        cmocka_unit_test(flooded_chunks_take_bounded_memory),
        cmocka_unit_test(kept_bits_take_keys_alike),
        cmocka_unit_test(packed_kernels_agree),
        cmocka_unit_test(kernels_agree),
        cmocka_unit_test(parameters),
        cmocka_unit_test(plans),
        cmocka_unit_test(files),
        cmocka_unit_test(memory_runs_out),
    };
    check_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
