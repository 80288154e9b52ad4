/* SPDX-License-Identifier: MIT
 *
 * test_cli_filter_file.c - filters that the command opens: mapped, loaded, or unpacked from gzip
 */
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/bits.h"
#include "filter/filter_file.h"
#include "filter/gzipped_filter.h"
#include "foreign.h"
#include "golden.h"
#include "gzip.h"
#include "umbel_foreign.h"

/* ---- Mapped and loaded files ---- */

static const char name[] = "tests/golden/dcso/a.bloom";

static unsigned mappings(void) {
    char line[1024];
    unsigned n = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps)) n += strstr(line, name) != NULL;
    fclose(maps);
    return n;
}

/* Closed in another order than they were opened in. */
static void test_close(void **state) {
    (void)state;
    cli_settings s = {.format = UMBEL_FMT_DCSO};
    umbel_filter *f[3];
    for (unsigned i = 0; i < 3; i++) f[i] = cli_filter_open(name, &s);
    assert_int_equal(mappings(), 3);
    umbel_free(f[1]);
    assert_true(umbel_contains(f[0], "key1", 4) && umbel_contains(f[2], "key1", 4));
    umbel_free(f[0]);
    assert_int_equal(mappings(), 1);
    assert_true(umbel_contains(f[2], "key1", 4));
    umbel_free(f[2]);
    assert_int_equal(mappings(), 0);
}

static void test_loaded_filters_borrow_nothing(void **state) {
    (void)state;
    cli_settings s = {.format = UMBEL_FMT_DCSO};
    umbel_filter *f = cli_filter_load(name, &s);
    assert_int_equal(mappings(), 0);
    assert_true(umbel_contains(f, "key1", 4));
    umbel_free(f);
}

/* ---- Gzipped files of the format dcso: unpacked, damaged, and bombs ---- */

enum { HEADER = 48 };

/* Unpacks, from memory of just that size, and decodes what comes out. */
static umbel_err decode(const uint8_t *gz, size_t gz_len, const umbel_opts *opts) {
    static const umbel_opts no_opts = {0};
    uint8_t *copy = malloc(gz_len ? gz_len : 1), *bytes = NULL;
    assert_non_null(copy);
    if (gz_len) memcpy(copy, gz, gz_len);
    size_t len = 0;
    umbel_diag diag = {0};
    umbel_filter *f = NULL;
    if (!opts) opts = &no_opts;
    umbel_err e = cli_gunzip_filter(copy, gz_len, opts, &bytes, &len, &diag);
    if (e) {
        assert_null(bytes);
        assert_non_null(diag.what);
        assert_true(diag.offset <= gz_len);
    } else {
        e = umbel_decode(bytes, len, &(umbel_foreign){.format = UMBEL_FMT_DCSO}, opts, &f, NULL);
        umbel_free(f);
        if (opts->alloc) {
            opts->alloc->free(opts->alloc->ctx, bytes);
        } else {
            free(bytes);
        }
    }
    free(copy);
    return e;
}

static void gzipped_files_are_read(void **state) {
    (void)state;
    const char *paths[] = {"dcso/a.bloom", "dcso/c.bloom", "dcso/crlf.bloom"};
    for (size_t i = 0; i < 3; i++) {
        size_t len, gz_len, got_len;
        uint8_t *bytes = golden_file(paths[i], &len), *gz = gzip(bytes, len, 9, &gz_len),
                *got = NULL;
        umbel_diag diag;
        assert_true(cli_is_gzipped(gz, gz_len) && !cli_is_gzipped(bytes, len));
        assert_false(cli_is_gzipped(gz, 1));
        umbel_opts opts = {0};
        assert_int_equal(cli_gunzip_filter(gz, gz_len, &opts, &got, &got_len, &diag), UMBEL_OK);
        assert_int_equal(got_len, len);
        assert_memory_equal(got, bytes, len);
        free(bytes);
        free(gz);
        free(got);
    }
}

/* Bits and data of all lengths around those at which more memory is taken. */
static void all_lengths_are_read(void **state) {
    (void)state;
    const size_t lengths[] = {0, 1, 4000, 4047, 4048, 4049, 4095, 4096, 4097, 16384, 70000, 300000};
    enum { N = sizeof lengths / sizeof lengths[0] };
    for (size_t i = 0; i < N * N; i++) {
        umbel_filter *f = foreign_create(
            (umbel_foreign){.format = UMBEL_FMT_DCSO, .capacity = lengths[i / N] + 1, .fpr = 0.02});
        size_t data_len = lengths[i % N], len, gz_len, got_len;
        uint8_t *data = calloc(data_len + 1, 1), *got = NULL;
        assert_non_null(data);
        for (size_t k = 0; k < data_len; k++) data[k] = (uint8_t)(k * k >> 7);
        assert_int_equal(umbel_set_data(f, data, data_len, NULL), UMBEL_OK);
        uint8_t *bytes = foreign_bytes(f, &len), *gz = gzip(bytes, len, 9, &gz_len);
        umbel_opts opts = {.max_bytes = len};
        umbel_diag diag;
        assert_int_equal(cli_gunzip_filter(gz, gz_len, &opts, &got, &got_len, &diag), UMBEL_OK);
        assert_int_equal(got_len, len);
        assert_memory_equal(got, bytes, len);
        opts.max_bytes--;
        assert_int_equal(decode(gz, gz_len, &opts), UMBEL_ELIMIT);
        umbel_free(f);
        free(data);
        free(bytes);
        free(gz);
        free(got);
    }
}

static void gzip_of_several_members(void **state) {
    (void)state;
    size_t len, first_len, second_len;
    uint8_t *bytes = golden_file("dcso/a.bloom", &len);
    uint8_t *first = gzip(bytes, 50, 9, &first_len),
            *second = gzip(bytes + 50, len - 50, 9, &second_len);
    uint8_t *both = malloc(first_len + second_len + 1);
    assert_non_null(both);
    memcpy(both, first, first_len);
    memcpy(both + first_len, second, second_len);
    both[first_len + second_len] = 0;
    assert_int_equal(decode(both, first_len + second_len, NULL), UMBEL_OK);
    assert_int_equal(decode(both, first_len + second_len + 1, NULL), UMBEL_ECORRUPT); /* trailing */
    assert_int_equal(decode(both, first_len, NULL), UMBEL_ECORRUPT);
    free(bytes);
    free(first);
    free(second);
    free(both);
}

static void damaged_gzip_is_refused(void **state) {
    (void)state;
    size_t len, gz_len;
    uint8_t *bytes = golden_file("dcso/c.bloom", &len), *gz = gzip(bytes, len, 9, &gz_len);
    for (size_t cut = 0; cut < gz_len; cut++) {
        assert_int_equal(decode(gz, cut, NULL), UMBEL_ECORRUPT);
    }
    for (size_t at = 10; at < gz_len; at++) { /* after gzip's header, some of which is free */
        gz[at] ^= 0x41;
        umbel_err e = decode(gz, gz_len, NULL);
        assert_true(e == UMBEL_ECORRUPT || e == UMBEL_EVERSION);
        gz[at] ^= 0x41;
    }
    for (size_t failing = 1;; failing++) { /* memory runs out at every point */
        foreign_memory m;
        foreign_memory_start(&m, 0, failing);
        umbel_err e = decode(gz, gz_len, &m.opts);
        assert_int_equal(m.blocks, 0);
        if (e == UMBEL_OK) break;
        assert_int_equal(e, UMBEL_ENOMEM);
    }
    free(bytes);
    free(gz);
}

/* As in files that are not gzipped, whether the bits end inside a piece of 4096 bytes or at its
 * end. */
static void bits_behind_the_last_are_refused(void **state) {
    (void)state;
    const size_t words[] = {8, 120, 4088, 4096, 4104, 8192};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        for (unsigned used = 1; used < 64; used += 31) { /* of the last word */
            size_t golden_len, len = HEADER + words[i], gz_len;
            uint8_t *head = golden_file("dcso/a.bloom", &golden_len), *bytes = calloc(len, 1);
            assert_non_null(bytes);
            memcpy(bytes, head, HEADER);
            umbeli_store_le64(bytes + 32, words[i] * 8 - 64 + used);
            const umbel_foreign dcso = {.format = UMBEL_FMT_DCSO};
            const unsigned set[] = {used - 1, used, 63};
            for (size_t bit = 0; bit < 3; bit++) {
                umbeli_store_le64(bytes + len - 8, UINT64_C(1) << set[bit]);
                umbel_err want = bit == 0 ? UMBEL_OK : UMBEL_ECORRUPT;
                uint8_t *gz = gzip(bytes, len, 9, &gz_len);
                assert_int_equal(decode(gz, gz_len, NULL), want);
                assert_int_equal(umbel_verify(bytes, len, &dcso, NULL), want);
                free(gz);
            }
            free(head);
            free(bytes);
        }
    }
}

/* A header that claims `bits`, then `zeros` bytes, gzipped. */
static uint8_t *bomb(uint64_t bits, size_t zeros, size_t *gz_len) {
    size_t len;
    uint8_t *head = golden_file("dcso/a.bloom", &len), *bytes = calloc(HEADER + zeros, 1);
    assert_non_null(bytes);
    memcpy(bytes, head, HEADER);
    umbeli_store_le64(bytes + 32, bits);
    uint8_t *gz = gzip(bytes, HEADER + zeros, 9, gz_len);
    free(head);
    free(bytes);
    return gz;
}

/* zlib itself takes about 48 KiB; nothing else may grow with what a small file claims. */
static void gzip_bombs_get_no_memory(void **state) {
    (void)state;
    enum { UNZIPPER = 64 * 1024, MIB = 1024 * 1024 };
    size_t gz_len;
    foreign_memory m;

    /* It claims a terabyte: no memory is allocated for it. */
    uint8_t *gz = bomb(UINT64_C(1) << 43, 64, &gz_len);
    foreign_memory_start(&m, UNZIPPER, 0);
    assert_int_equal(decode(gz, gz_len, &m.opts), UMBEL_ECORRUPT);
    free(gz);

    /* It claims as much as gzip could hold, but the data is not there. */
    gz = bomb(8 * MIB, 64, &gz_len);
    foreign_memory_start(&m, UNZIPPER, 0);
    assert_int_equal(decode(gz, gz_len, &m.opts), UMBEL_ECORRUPT);
    free(gz);

    /* Real zeros, but more than the caller allows. */
    gz = bomb(64 * (uint64_t)MIB, 8 * MIB, &gz_len);
    assert_true(gz_len < MIB);
    foreign_memory_start(&m, UNZIPPER, 0);
    m.opts.max_bytes = MIB;
    assert_int_equal(decode(gz, gz_len, &m.opts), UMBEL_ELIMIT);
    assert_int_equal(decode(gz, gz_len, NULL), UMBEL_OK);
    free(gz);

    /* Eighty megabytes of data after a small filter. */
    gz = bomb(64, 80 * MIB, &gz_len);
    assert_int_equal(decode(gz, gz_len, NULL), UMBEL_ELIMIT);
    foreign_memory_start(&m, UNZIPPER, 0);
    m.opts.max_bytes = 5000;
    assert_int_equal(decode(gz, gz_len, &m.opts), UMBEL_ELIMIT);
    free(gz);
}

/* Enough is enough, one byte less is not, and neither takes more.  Packed bytes say little about how
 * much they will be. */
static void limits_are_obeyed(void **state) {
    (void)state;
    enum { UNZIPPER = 64 * 1024 };
    umbel_filter *f =
        foreign_create((umbel_foreign){.format = UMBEL_FMT_DCSO, .capacity = 500000, .fpr = 0.01});
    size_t need, gz_len, len;
    uint8_t *plain = foreign_bytes(f, &need), *gz = gzip(plain, need, 9, &gz_len), *bytes = NULL;
    umbel_diag diag = {0};
    foreign_memory m;
    foreign_memory_start(&m, need + UNZIPPER, 0);
    m.opts.max_bytes = need;
    assert_int_equal(cli_gunzip_filter(gz, gz_len, &m.opts, &bytes, &len, &diag), UMBEL_OK);
    assert_int_equal(len, need);
    m.hook.free(m.hook.ctx, bytes);
    assert_int_equal(m.blocks, 0);
    for (uint64_t limit = need - 1; limit > 0; limit /= 3) {
        foreign_memory_start(&m, UNZIPPER, 0);
        m.opts.max_bytes = limit;
        assert_int_equal(cli_gunzip_filter(gz, gz_len, &m.opts, &bytes, &len, &diag), UMBEL_ELIMIT);
        assert_int_equal(diag.need, need);
        assert_int_equal(m.blocks, 0);
    }
    free(plain);
    free(gz);
    umbel_free(f);
}

/* Sizes at which memory for it is full, doubled, and bounded by the limit. */
static void data_up_to_the_limit(void **state) {
    (void)state;
    const size_t sizes[] = {8, 9, 4095, 4096, 4097, 8192, 100000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t gz_len, len;
        uint8_t *gz = bomb(64, 8 + sizes[i], &gz_len);
        for (size_t less = 0; less <= 1 && less + 8 <= sizes[i]; less++) {
            umbel_opts opts = {.max_bytes = 48 + 8 + sizes[i] - less}; /* header, bits, data */
            assert_int_equal(decode(gz, gz_len, &opts), less ? UMBEL_ELIMIT : UMBEL_OK);
        }
        uint8_t *bytes = NULL;
        umbel_diag diag = {0};
        assert_int_equal(cli_gunzip_filter(gz, gz_len, &(umbel_opts){0}, &bytes, &len, &diag),
                         UMBEL_OK);
        assert_int_equal(len, 48 + 8 + sizes[i]);
        free(bytes);
        free(gz);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_close),
        cmocka_unit_test(test_loaded_filters_borrow_nothing),
        cmocka_unit_test(gzipped_files_are_read),
        cmocka_unit_test(all_lengths_are_read),
        cmocka_unit_test(gzip_of_several_members),
        cmocka_unit_test(damaged_gzip_is_refused),
        cmocka_unit_test(gzip_bombs_get_no_memory),
        cmocka_unit_test(limits_are_obeyed),
        cmocka_unit_test(bits_behind_the_last_are_refused),
        cmocka_unit_test(data_up_to_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
