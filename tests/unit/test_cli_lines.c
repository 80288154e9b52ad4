/* SPDX-License-Identifier: MIT
 *
 * test_cli_lines.c - splitting kernels agree with a loop; gzip is decompressed
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cases.h"

#include <zlib.h>

#include "gzip.h"
#include "lines/split.h"
#include "lines/unpacker.h"

static uint64_t rng_state;

static uint64_t rng(void) {
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 7;
    return rng_state ^= rng_state << 17;
}

enum { MAX_TEXT = 700 };

static void expect_split(cli_split *split, const uint8_t *text, size_t len, uint8_t sep) {
    /* Copies of the exact size, so that the sanitizers see any overrun. */
    uint8_t *copy = malloc(len + 1);
    uint32_t *ends = malloc((len + CLI_SPLIT_SLACK) * sizeof *ends);
    assert_non_null(copy);
    assert_non_null(ends);
    memcpy(copy, text, len);
    size_t n = split(copy, len, sep, ends), seen = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] != sep) continue;
        assert_true(seen < n);
        assert_int_equal(ends[seen++], i);
    }
    assert_int_equal(n, seen);
    free(copy);
    free(ends);
}

static void kernels_agree(void **state) {
    (void)state;
    rng_state = (uint64_t)time(NULL) * 2654435761u + 1;
    print_message("seed %llu\n", (unsigned long long)rng_state);
    cli_split *const kernels[] = {cli_split_generic, cli_split_best()};
    static const uint8_t separators[] = {'\n', 0, 0x80, 0xff, 0x0b};
    for (int round = 0; round < 3000; round++) {
        uint8_t text[MAX_TEXT], sep = separators[rng() % sizeof separators];
        size_t len = rng() % MAX_TEXT;
        uint64_t density = rng() % 101; /* from none to nothing but separators */
        for (size_t i = 0; i < len; i++) {
            /* Values next to the separator, which a wrong carry would mistake for it. */
            uint8_t other = (uint8_t)(rng() % 4 ? rng() : sep + 1 - 2 * (rng() % 2));
            text[i] = rng() % 100 < density ? sep : other;
        }
        for (size_t k = 0; k < 2; k++) expect_split(kernels[k], text, len, sep);
    }
}

/* ---- gzip, with zlib and with ISA-L ------------------------------------------------------- */

static const cli_unpacker *const gunzips[] = {
    &cli_gunzip_zlib,
#ifdef UMBEL_WITH_ISAL
    &cli_gunzip_isal,
#endif
};

enum { TEXT = 200000 }; /* no more is ever decompressed */

typedef struct unpacked {
    uint8_t *bytes;
    size_t len;
    bool between; /* the input ended where a member did */
    const char *wrong;
} unpacked;

/* In pieces of random lengths, copied so that the sanitizers see any overrun. */
static unpacked gunzip(const cli_unpacker *how, const uint8_t *packed, size_t len, size_t piece) {
    unpacked got = {.bytes = malloc(TEXT + 1)};
    void *z = how->open(1 << 20);
    assert_true(z && got.bytes);
    for (size_t at = 0; !got.wrong;) {
        size_t n = len - at < piece ? len - at : 1 + rng() % piece, room = 1 + rng() % piece;
        if (n > len - at) n = len - at;
        uint8_t *in = malloc(n + !n), *out = malloc(room);
        assert_non_null(in);
        assert_non_null(out);
        memcpy(in, packed + at, n);
        cli_unpack_io io = {in, out, n, room};
        bool ended = false;
        got.wrong = how->step(z, &io, &ended);
        size_t taken = n - io.in_len, made = room - io.out_len;
        got.between = ended || (got.between && !taken);
        assert_true(made <= TEXT - got.len);
        memcpy(got.bytes + got.len, out, made);
        got.len += made;
        at += taken;
        free(in);
        free(out);
        if (at == len && !made) break;
    }
    how->close(z);
    return got;
}

static void make_text(uint8_t *text) {
    size_t at = 0;
    while (at < TEXT) {
        char line[64];
        int n = snprintf(line, sizeof line, "https://example.com/%llx/%u\n",
                         (unsigned long long)rng() % 1000003, (unsigned)(at % 977));
        for (int i = 0; i < n && at < TEXT; i++) text[at++] = (uint8_t)line[i];
    }
}

/* Members of every level, empty ones too, one after another. */
static void gunzip_joins_members(void **state) {
    (void)state;
    static uint8_t text[TEXT];
    rng_state = 88172645463325252u;
    make_text(text);
    static const size_t lengths[] = {70000, 0, 1, 100000, 29999, 0};
    static const int levels[] = {6, 6, 1, 9, 0, 1};
    uint8_t *all = NULL;
    size_t all_len = 0, from = 0;
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        size_t len;
        uint8_t *member = gzip(text + from, lengths[i], levels[i], &len);
        all = realloc(all, all_len + len);
        assert_non_null(all);
        memcpy(all + all_len, member, len);
        all_len += len;
        from += lengths[i];
        free(member);
    }
    assert_int_equal(from, TEXT);
    for (size_t i = 0; i < sizeof gunzips / sizeof *gunzips; i++) {
        for (size_t piece = 1; piece < 400000; piece = 7 * piece + 3) {
            unpacked got = gunzip(gunzips[i], all, all_len, piece);
            assert_null(got.wrong);
            assert_true(got.between);
            assert_int_equal(got.len, TEXT);
            assert_memory_equal(got.bytes, text, TEXT);
            free(got.bytes);
        }
    }
    free(all);
}

static void gunzip_notices_the_end(void **state) {
    (void)state;
    static const char text[] = "a few words, a few words, a few words and no more";
    size_t len;
    uint8_t *packed = gzip((const uint8_t *)text, sizeof text, 6, &len);
    for (size_t i = 0; i < sizeof gunzips / sizeof *gunzips; i++) {
        for (size_t cut = 1; cut < len; cut++) {
            unpacked got = gunzip(gunzips[i], packed, cut, 64);
            assert_null(got.wrong);
            assert_false(got.between);
            assert_true(got.len <= sizeof text);
            assert_memory_equal(got.bytes, text, got.len);
            free(got.bytes);
        }
    }
    free(packed);
}

/* `tail` after a member whose byte `at`, counted from the end if negative, was changed. */
static void expect_damage(long at, uint8_t change, const char *tail, size_t tail_len,
                          const char *wrong) {
    static uint8_t text[TEXT];
    rng_state = 1442695040888963407u;
    make_text(text);
    size_t len;
    uint8_t *packed = gzip(text, TEXT, 6, &len);
    packed = realloc(packed, len + tail_len + 1);
    assert_non_null(packed);
    memcpy(packed + len, tail, tail_len);
    packed[at < 0 ? len - (size_t)-at : (size_t)at] ^= change;
    for (size_t i = 0; i < sizeof gunzips / sizeof *gunzips; i++) {
        for (size_t piece = 1; piece < 400000; piece = 11 * piece + 5) {
            unpacked got = gunzip(gunzips[i], packed, len + tail_len, piece);
            if (wrong) {
                assert_non_null(got.wrong);
                assert_string_equal(got.wrong, wrong);
            } else { /* too short to tell */
                assert_null(got.wrong);
                assert_false(got.between);
            }
            free(got.bytes);
        }
    }
    free(packed);
}

static void gunzip_describes_damage(void **state) {
    (void)state;
    expect_damage(1, 1, "", 0, "incorrect header check");
    expect_damage(2, 1, "", 0, "unknown compression method");
    expect_damage(3, 0x20, "", 0, "unknown header flags set");
    expect_damage(3, 0x80, "", 0, "unknown header flags set");
    expect_damage(-8, 1, "", 0, "incorrect data check");
    expect_damage(-5, 0x80, "", 0, "incorrect data check");
    expect_damage(0, 0, "garbage", 7, "incorrect header check");
    expect_damage(0, 0, "\x1fg", 2, "incorrect header check");
    expect_damage(0, 0, "\x1f\x8b\x07\0", 4, "unknown compression method");
    expect_damage(0, 0, "\0\0\0\0", 4, "incorrect header check");
    expect_damage(0, 0, "g", 1, NULL);
    expect_damage(0, 0, "\x1f\x8b\x07", 3, NULL);
}

/* The header may have a name, a comment, an extra field and its own checksum. */
static void gunzip_reads_long_headers(void **state) {
    (void)state;
    static const char head[] = "\x1f\x8b\x08\x1e\0\0\0\0\0\3\5\0extraname\0comment";
    static const char text[] = "text";
    size_t len, head_len = sizeof head; /* the last NUL ends the comment */
    uint8_t *packed = gzip((const uint8_t *)text, 4, 6, &len), whole[200];
    memcpy(whole, head, head_len);
    uint32_t sum = (uint32_t)crc32(0, whole, (uInt)head_len);
    whole[head_len] = (uint8_t)sum;
    whole[head_len + 1] = (uint8_t)(sum >> 8);
    memcpy(whole + head_len + 2, packed + 10, len - 10);
    len += head_len + 2 - 10;
    for (size_t i = 0; i < 2 * (sizeof gunzips / sizeof *gunzips); i++) {
        whole[head_len] = (uint8_t)sum ^ (i % 2);
        for (size_t piece = 1; piece < 100; piece++) {
            unpacked got = gunzip(gunzips[i / 2], whole, len, piece);
            if (i % 2) {
                assert_non_null(got.wrong);
                assert_string_equal(got.wrong, "header crc mismatch");
            } else {
                assert_null(got.wrong);
                assert_true(got.between && got.len == 4);
                assert_memory_equal(got.bytes, text, 4);
            }
            free(got.bytes);
        }
    }
    free(packed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_agree),
        cmocka_unit_test(gunzip_joins_members),
        cmocka_unit_test(gunzip_notices_the_end),
        cmocka_unit_test(gunzip_describes_damage),
        cmocka_unit_test(gunzip_reads_long_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
