/* SPDX-License-Identifier: MIT
 *
 * test_damaged_view.c - damaged bits of views and mapped files: found by whoever reads them, and
 * nothing else is read
 */
#define _POSIX_C_SOURCE 200809L
#include "any_filter.h"
#include "cases.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kind/checked_pieces.h"
#include "kind_check.h"
#include "native_file.h"
#include "subjects.h"
#include "umbel_experimental.h"
#include "umbel_never.h"

/* Adds beyond the first layer of a scalable filter give it packed hashes and another filter. */
static const struct {
    umbel_params params;
    uint64_t keys;
} samples[] = {
    {{.kind = UMBEL_KIND_BLOCKED, .bytes = 3500000}, 100000},
    {{.kind = UMBEL_KIND_LINE, .bytes = 3500000}, 100000},
    {{.kind = UMBEL_KIND_CLASSIC, .bytes = 3500000, .hashes = 7}, 100000},
    {{.kind = UMBEL_KIND_COUNTING, .bytes = 3500000}, 100000},
    {{.kind = UMBEL_KIND_STATIC, .fpr = 1e-9}, 800000},
    {{.kind = UMBEL_KIND_TIGHT, .fpr = 1e-9}, 800000},
    {{.kind = UMBEL_KIND_EXACT, .fpr = 1e-9}, 800000},
    {{.kind = UMBEL_KIND_SCALABLE, .capacity = 300000, .fpr = 1e-5}, 1200000},
    {{.kind = UMBEL_KIND_WINDOW, .capacity = 800000, .fpr = 1e-5}, 800000},
};
enum { SAMPLES = sizeof samples / sizeof *samples, CLEAR = 4096, ABSENT = 2 };

typedef struct sample {
    uint8_t *bytes, *good;
    size_t len;
    uint64_t at, pieces, keys; /* where the payload begins */
    umbel_filter *whole;       /* decoded before the damage */
} sample;

static umbel_key key_at(const uint64_t *number) {
    return (umbel_key){number, sizeof *number};
}

static sample make_sample(size_t kind) {
    sample s = {.keys = samples[kind].keys};
    uint64_t *numbers = malloc(s.keys * sizeof *numbers);
    umbel_key *keys = malloc(s.keys * sizeof *keys);
    umbel_filter *f = NULL;
    assert_true(numbers && keys);
    for (uint64_t i = 0; i < s.keys; i++) {
        numbers[i] = check_key(1, i);
        keys[i] = key_at(&numbers[i]);
    }
    assert_ok(build_from(&samples[kind].params, NULL, keys, s.keys, &f, NULL));
    s.bytes = bytes_of(f, &s.len);
    s.good = malloc(s.len);
    assert_non_null(s.good);
    memcpy(s.good, s.bytes, s.len);
    assert_ok(umbel_decode(s.good, s.len, UMBEL_LOAD, NULL, NULL, &s.whole, NULL));
    s.at = native_get(s.bytes, 96, 8);
    s.pieces = (native_get(s.bytes, 104, 8) + UMBELI_PIECE - 1) / UMBELI_PIECE;
    assert_true(s.pieces >= 3);
    umbel_free(f);
    free(keys);
    free(numbers);
    return s;
}

/* Each is made once, and mended by whoever damages it. */
static sample made[SAMPLES];

static int make_samples(void **state) {
    (void)state;
    for (size_t i = 0; i < SAMPLES; i++) made[i] = make_sample(i);
    return 0;
}

static int free_samples(void **state) {
    (void)state;
    for (size_t i = 0; i < SAMPLES; i++) {
        umbel_free(made[i].whole);
        free(made[i].bytes);
        free(made[i].good);
    }
    return 0;
}

/* Clears what was set, and sets what was not: twice is not mended. */
static void damage(sample *s, uint64_t piece) {
    uint64_t from = s->at + piece * UMBELI_PIECE;
    uint64_t left = native_get(s->bytes, 104, 8) - piece * UMBELI_PIECE;
    for (uint64_t i = 0; i < left && i < 64 * CLEAR; i++) {
        s->bytes[from + i] = s->good[from + i] ^ 0xff;
    }
}

static void mend(sample *s) {
    memcpy(s->bytes, s->good, s->len);
}

static umbel_filter *view_of(const sample *s) {
    umbel_filter *f = NULL;
    assert_ok(umbel_decode(s->bytes, s->len, UMBEL_MAP, NULL, NULL, &f, NULL));
    return f;
}

/* How many of n keys of a stream are found, one by one; never fewer than in the whole filter. */
static uint64_t ask_each(const sample *s, const umbel_filter *f, uint64_t stream, uint64_t n) {
    uint64_t found = 0;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t number = check_key(stream, i);
        bool has = umbel_contains(f, &number, sizeof number);
        if (!has) assert_false(umbel_contains(s->whole, &number, sizeof number));
        if (!has) assert_int_equal(umbel_count(f, &number, sizeof number), 0);
        found += has;
    }
    return found;
}

static void test_single_keys(void **state) {
    (void)state;
    for (size_t kind = 0; kind < SAMPLES; kind++) {
        sample *s = &made[kind];
        const uint64_t places[] = {0, s->pieces / 2, s->pieces - 1};
        for (size_t i = 0; i < 3; i++) {
            umbel_diag diag = {0};
            damage(s, places[i]);
            umbel_filter *f = view_of(s);
            assert_ok(umbel_damage(f, &diag));
            assert_int_equal(ask_each(s, f, 1, 50000), 50000);
            ask_each(s, f, ABSENT, 1000);
            assert_int_equal(umbel_damage(f, &diag), UMBEL_ECORRUPT);
            assert_int_equal(diag.offset, s->at + places[i] * UMBELI_PIECE);
            assert_string_equal(diag.field, "payload checksum");
            umbel_free(f);
            mend(s);
        }
        mend(s);
    }
}

/* Batches of every size from one key to more than there are pieces, by key and by hash. */
static void test_batches(void **state) {
    (void)state;
    enum { MOST = 4096 };
    static uint64_t numbers[MOST], hashes[MOST];
    static umbel_key keys[MOST];
    static uint8_t hit[MOST];
    for (size_t i = 0; i < MOST; i++) {
        numbers[i] = check_key(1, i);
        keys[i] = key_at(&numbers[i]);
    }
    for (size_t kind = 0; kind < SAMPLES; kind++) {
        sample *s = &made[kind];
        damage(s, 0);
        damage(s, s->pieces - 1);
        for (size_t n = 1; n <= MOST; n = n == 1 ? 2 : n == 2 ? MOST : n + 1) {
            umbel_filter *by_key = view_of(s), *by_hash = view_of(s);
            for (size_t from = 0; from < MOST; from += n) {
                umbel_contains_many(by_key, keys + from, n, hit + from);
            }
            for (size_t i = 0; i < MOST; i++) assert_int_equal(hit[i], 1);
            assert_int_equal(umbel_damage(by_key, NULL), UMBEL_ECORRUPT);
            if (takes_hashes(by_hash)) {
                assert_ok(umbel_hash_many(by_hash, keys, MOST, hashes, NULL));
                memset(hit, 0, sizeof hit);
                for (size_t from = 0; from < MOST; from += n) {
                    umbel_contains_hashes(by_hash, hashes + from, n, hit + from);
                }
                for (size_t i = 0; i < MOST; i++) assert_int_equal(hit[i], 1);
                assert_int_equal(umbel_damage(by_hash, NULL), UMBEL_ECORRUPT);
            }
            umbel_free(by_key);
            umbel_free(by_hash);
        }
        mend(s);
    }
}

/* Nothing is damaged: the answers are those of a decoded filter, opening reads nothing, a key of a
 * block only its piece, and a batch everything; then the kind's own operations are back. */
static void test_sound_files(void **state) {
    (void)state;
    for (size_t kind = 0; kind < SAMPLES; kind++) {
        sample *s = &made[kind];
        umbel_filter *f = view_of(s);
        uint64_t number = check_key(1, 0), some = 0;
        assert_int_equal(umbeli_pieces_checked(f), 0);
        assert_true(umbel_contains(f, &number, sizeof number));
        some = umbeli_pieces_checked(f);
        assert_true(some >= 1);
        umbel_kind blocks = samples[kind].params.kind;
        if (blocks == UMBEL_KIND_BLOCKED || blocks == UMBEL_KIND_LINE) assert_true(some == 1);
        for (uint64_t i = 0; i < 20000; i++) {
            number = check_key(ABSENT, i);
            assert_int_equal(umbel_contains(f, &number, sizeof number),
                             umbel_contains(s->whole, &number, sizeof number));
        }
        assert_int_equal(umbeli_pieces_checked(f), s->pieces);
        assert_ptr_equal(f->ops->contains, s->whole->ops->contains);
        umbel_free(f);
        f = view_of(s);
        assert_int_equal(check_found(f, 1, 0, 1000), 1000);
        assert_int_equal(umbeli_pieces_checked(f), s->pieces);
        assert_ptr_equal(f->ops->contains_many, s->whole->ops->contains_many);
        assert_ok(umbel_damage(f, NULL));
        assert_true(umbel_equal(f, s->whole));
        umbel_free(f);
        mend(s);
    }
}

/* A key answers for the pieces that it touches: the others may be damaged. */
static void test_answers_from_sound_pieces(void **state) {
    (void)state;
    sample *s = &made[0];
    damage(s, 1);
    umbel_filter *f = view_of(s);
    uint64_t found = ask_each(s, f, ABSENT, 3000); /* of four pieces, one third of a MiB short */
    assert_true(found > 600 && found < 1200);      /* 900 expected, with a deviation of 25 */
    umbel_free(f);
    mend(s);
}

/* What reads all bits fails, and nothing saves them with fresh sums. */
static void test_nothing_launders_damage(void **state) {
    (void)state;
    for (size_t kind = 0; kind < SAMPLES; kind++) {
        sample *s = &made[kind];
        umbel_traits traits;
        umbel_filter *out = NULL, *into = NULL;
        umbel_never *never = NULL;
        umbel_diag diag = {0};
        bool yes = false;
        uint8_t *room = malloc(s->len);
        assert_non_null(room);
        umbel_kind_traits(samples[kind].params.kind, &traits);
        damage(s, 1);
        umbel_filter *f = view_of(s);
        assert_int_equal(umbel_copy(f, &out, &diag), UMBEL_ECORRUPT);
        assert_int_equal(diag.offset, s->at + UMBELI_PIECE);
        umbel_free(f);
#define REFUSED(call)                             \
    do {                                          \
        f = view_of(s);                           \
        assert_int_equal((call), UMBEL_ECORRUPT); \
        umbel_free(f);                            \
    } while (0)
        REFUSED(umbel_encode(f, UMBEL_FMT_NATIVE, room, s->len, NULL));
        REFUSED(umbel_fd_write(f, UMBEL_FMT_NATIVE, STDOUT_FILENO, NULL));
        REFUSED(umbel_file_save(f, UMBEL_FMT_NATIVE, "/nonexistent/x", NULL));
        if (traits.counts) REFUSED(umbel_snapshot(f, &out, NULL));
        if (traits.merges) {
            assert_ok(umbel_copy(s->whole, &into, NULL));
            REFUSED(umbel_merge(into, f, NULL));
            REFUSED(umbel_is_subset(f, into, &yes, NULL));
            REFUSED(umbel_is_subset(into, f, &yes, NULL));
            if (into->ops->intersect) REFUSED(umbel_intersect(into, f, NULL));
            assert_true(umbel_equal(into, s->whole)); /* failure changed nothing */
            umbel_free(into);
        }
        assert_ok(umbel_never_new(&samples[kind].params, NULL, &never, NULL));
        REFUSED(umbel_never_finish(never, f, NULL, NULL));
        umbel_never_free(never);
        f = view_of(s);
        assert_false(umbel_equal(f, f));
        assert_false(umbel_is_empty(f));
        umbel_free(f);
        free(room);
        mend(s);
    }
}

static void test_unchecked(void **state) {
    (void)state;
    sample *s = &made[0];
    umbel_filter *f = NULL;
    damage(s, 1);
    assert_ok(umbel_decode(s->bytes, s->len, UMBEL_MAP, NULL, &(umbel_opts){.unchecked = true}, &f,
                           NULL));
    assert_true(check_found(f, 1, 0, 20000) < 20000);
    assert_ok(umbel_damage(f, NULL));
    umbel_free(f);
    mend(s);
}

/* The first MiB is read at once: what is no larger cannot be opened when it is damaged. */
static void test_one_piece(void **state) {
    (void)state;
    const uint64_t sizes[] = {4096, UMBELI_PIECE, UMBELI_PIECE + 32};
    for (size_t i = 0; i < 3; i++) {
        umbel_filter *small = check_create((umbel_params){.bytes = sizes[i]}), *f = NULL;
        size_t len;
        umbel_diag diag = {0};
        uint8_t *bytes = bytes_of(small, &len);
        bytes[4096 + 77] ^= 1;
        umbel_err e = umbel_decode(bytes, len, UMBEL_MAP, NULL, NULL, &f, &diag);
        assert_int_equal(e, sizes[i] > UMBELI_PIECE ? UMBEL_OK : UMBEL_ECORRUPT);
        if (e) assert_int_equal(diag.offset, 4096);
        umbel_free(f);
        f = NULL;
        bytes[4096 + 77] ^= 1;
        bytes[len - 9] ^= 1; /* a sum */
        assert_int_equal(umbel_decode(bytes, len, UMBEL_MAP, NULL, NULL, &f, NULL), UMBEL_ECORRUPT);
        umbel_free(small);
        free(bytes);
    }
}

/* As rsync --inplace leaves it: zeros in the middle, then a lookup in the mapped file. */
static void test_mapped_file(void **state) {
    (void)state;
    char path[] = "/tmp/umbel-damaged-XXXXXX";
    const char zeros[CLEAR] = {0};
    sample *s = &made[0];
    umbel_filter *f = NULL;
    umbel_diag diag = {0};
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, s->bytes, s->len), (ssize_t)s->len);
    assert_int_equal(pwrite(fd, zeros, CLEAR, (off_t)(s->at + 2 * UMBELI_PIECE + CLEAR)), CLEAR);
    close(fd);
    assert_ok(umbel_file_open(path, UMBEL_MAP, NULL, NULL, &f, NULL));
    assert_int_equal(check_found(f, 1, 0, s->keys), s->keys);
    assert_int_equal(umbel_damage(f, &diag), UMBEL_ECORRUPT);
    assert_int_equal(diag.offset, s->at + 2 * UMBELI_PIECE);
    umbel_free(f);
    f = NULL;
    assert_int_equal(umbel_file_open(path, UMBEL_LOAD, NULL, NULL, &f, NULL), UMBEL_ECORRUPT);
    assert_int_equal(umbel_file_open(path, UMBEL_EDIT, NULL, NULL, &f, NULL), UMBEL_ECORRUPT);
    unlink(path);
    mend(s);
}

/* ---- a nearly empty filter that is changed -------------------------------------------------- */

static const umbel_params roomy[] = {
    {.kind = UMBEL_KIND_BLOCKED, .bytes = 50000000},
    {.kind = UMBEL_KIND_LINE, .bytes = 50000000},
    {.kind = UMBEL_KIND_CLASSIC, .bytes = 50000001, .hashes = 3},
    {.kind = UMBEL_KIND_COUNTING, .bytes = 50000000},
    {.kind = UMBEL_KIND_SCALABLE, .capacity = 20000000, .fpr = 1e-3, .scalable.expansion = 2},
    {.kind = UMBEL_KIND_WINDOW, .capacity = 20000000, .fpr = 1e-3},
};
enum { ROOMY = sizeof roomy / sizeof *roomy };
static char roomy_path[] = "/tmp/umbel-roomy-XXXXXX";

/* A file with one key, and the filter that it was saved from. */
static umbel_filter *save_roomy(size_t kind) {
    umbel_filter *f = NULL;
    strcpy(roomy_path + strlen(roomy_path) - 6, "XXXXXX");
    int fd = mkstemp(roomy_path);
    assert_true(fd >= 0);
    close(fd);
    assert_ok(umbel_create(&roomy[kind], NULL, &f, NULL));
    assert_ok(umbel_add(f, "first", 5, NULL, NULL));
    assert_ok(umbel_file_save(f, UMBEL_FMT_NATIVE, roomy_path, NULL));
    return f;
}

static void assert_file_equals(umbel_filter *f) {
    umbel_filter *loaded = NULL;
    size_t lengths[2];
    assert_ok(umbel_file_open(roomy_path, UMBEL_LOAD, NULL, NULL, &loaded, NULL));
    uint8_t *saved = bytes_of(loaded, &lengths[0]), *expected = bytes_of(f, &lengths[1]);
    assert_int_equal(lengths[0], lengths[1]);
    assert_memory_equal(saved, expected, lengths[0]);
    free(saved), free(expected);
    umbel_free(loaded);
}

static void add_some(umbel_filter *f) {
    umbel_key more[] = {{"second", 6}, {"third", 5}};
    uint64_t hash = one_hash(f, "fourth", 6);
    assert_ok(umbel_add(f, "next", 4, NULL, NULL));
    assert_ok(umbel_add_many(f, more, 2, NULL, NULL, NULL));
    if (takes_hashes(f)) assert_ok(umbel_add_hashes(f, &hash, 1, NULL, NULL, NULL));
}

/* Only what keys touch is read, and what is saved is what any other filter would save. */
static void test_edit_of_zeros(void **state) {
    (void)state;
    for (size_t kind = 0; kind < ROOMY; kind++) {
        umbel_filter *f = save_roomy(kind), *edited = NULL;
        assert_ok(umbel_file_open(roomy_path, UMBEL_EDIT, NULL, NULL, &edited, NULL));
        uint64_t all = umbeli_pieces_of(umbeli_filter_bytes(edited));
        uint64_t before = umbeli_pieces_checked(edited);
        assert_true(all > 20 && before < all / 2);
        add_some(edited);
        add_some(f);
        assert_true(umbeli_pieces_checked(edited) > before);
        assert_true(umbeli_pieces_checked(edited) < all);
        assert_ok(umbel_file_save(edited, UMBEL_FMT_NATIVE, roomy_path, NULL));
        assert_file_equals(f);
        if (umbel_advance(f, NULL) == UMBEL_OK) assert_ok(umbel_advance(edited, NULL));
        assert_ok(umbel_file_save(edited, UMBEL_FMT_NATIVE, roomy_path, NULL));
        assert_file_equals(f);
        assert_ok(umbel_clear(f, NULL));
        assert_ok(umbel_clear(edited, NULL));
        assert_ok(umbel_file_save(edited, UMBEL_FMT_NATIVE, roomy_path, NULL));
        assert_file_equals(f);
        umbel_free(edited);
        umbel_free(f);
        unlink(roomy_path);
    }
}

/* Where zeros are damaged nothing is added, and what nobody touches becomes zeros again. */
static void test_edit_of_damaged_zeros(void **state) {
    (void)state;
    umbel_filter *f = save_roomy(0), *edited = NULL;
    uint64_t bit, first, key = 0;
    assert_true(umbel_probes(f, "first", 5, &first, 1));
    do {
        key++;
        assert_true(umbel_probes(f, &key, sizeof key, &bit, 1));
    } while (bit / 8 / UMBELI_PIECE == first / 8 / UMBELI_PIECE);
    int fd = open(roomy_path, O_WRONLY);
    assert_int_equal(pwrite(fd, "x", 1, (off_t)(4096 + bit / 8 / UMBELI_PIECE * UMBELI_PIECE)), 1);
    close(fd);
    assert_ok(umbel_file_open(roomy_path, UMBEL_EDIT, NULL, NULL, &edited, NULL));
    umbel_diag diag = {0};
    assert_int_equal(umbel_add(edited, &key, sizeof key, NULL, &diag), UMBEL_ECORRUPT);
    assert_string_equal(diag.field, "payload checksum");
    assert_int_equal(umbel_file_save(edited, UMBEL_FMT_NATIVE, roomy_path, NULL), UMBEL_ECORRUPT);
    umbel_free(edited);
    assert_ok(umbel_file_open(roomy_path, UMBEL_EDIT, NULL, NULL, &edited, NULL));
    assert_ok(umbel_file_save(edited, UMBEL_FMT_NATIVE, roomy_path, NULL));
    assert_file_equals(f);
    umbel_free(edited);
    umbel_free(f);
    unlink(roomy_path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_single_keys),
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_sound_files),
        cmocka_unit_test(test_answers_from_sound_pieces),
        cmocka_unit_test(test_nothing_launders_damage),
        cmocka_unit_test(test_unchecked),
        cmocka_unit_test(test_one_piece),
        cmocka_unit_test(test_mapped_file),
        cmocka_unit_test(test_edit_of_zeros),
        cmocka_unit_test(test_edit_of_damaged_zeros),
    };
    return cmocka_run_group_tests(tests, make_samples, free_samples);
}
