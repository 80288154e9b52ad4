/* SPDX-License-Identifier: MIT
 *
 * parse_typed.c - values of other systems' types, and ClickHouse's tokens
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "parse_target.h"
#include "umbel_foreign.h"

/* ---- Values ---- */

/* Digit by digit in two halves, so that nothing overflows: false beyond 2^64 - 1. */
static bool plain_digits(const uint8_t *text, size_t len, uint64_t *out) {
    uint64_t high = 0, low = 0; /* high * 10^10 + low, low below 10^10 */
    const uint64_t half = UINT64_C(10000000000);
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9') return false;
        low = low * 10 + (uint64_t)(text[i] - '0');
        high = high * 10 + low / half;
        low %= half;
        if (high > UINT64_MAX / half) return false;
    }
    if (len == 0 || high * half > UINT64_MAX - low) return false;
    *out = high * half + low;
    return true;
}

static bool plain_integer(const uint8_t *text, size_t len, unsigned bytes, bool is_signed,
                          uint64_t *out) {
    bool minus = len && text[0] == '-', sign = minus || (len && text[0] == '+');
    uint64_t n, top = bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * bytes) - 1;
    if (!plain_digits(text + sign, len - sign, &n)) return false;
    if (is_signed) top = top / 2 + minus;
    if (minus && !is_signed) top = 0;
    if (n > top) return false;
    *out = minus ? UINT64_MAX - n + 1 : n;
    return true;
}

static void check_integer(umbel_type type, const uint8_t *text, size_t len, umbel_err e,
                          const uint8_t *key, size_t key_len) {
    static const struct {
        unsigned bytes;
        bool is_signed;
    } integers[] = {[UMBEL_TYPE_INT8] = {1, true},      [UMBEL_TYPE_INT16] = {2, true},
                    [UMBEL_TYPE_INT32] = {4, true},     [UMBEL_TYPE_INT64] = {8, true},
                    [UMBEL_TYPE_UINT8] = {1, false},    [UMBEL_TYPE_UINT16] = {2, false},
                    [UMBEL_TYPE_UINT32] = {4, false},   [UMBEL_TYPE_UINT64] = {8, false},
                    [UMBEL_TYPE_UINT32_BE] = {4, false}};
    unsigned bytes = integers[type].bytes;
    uint64_t value = 0;
    if (!bytes) return;
    bool good = plain_integer(text, len, bytes, integers[type].is_signed, &value);
    insist(good == !e, "the integers that fit, and no others");
    if (e) return;
    insist(key_len == bytes, "as long as its type");
    for (unsigned i = 0; i < bytes; i++) {
        unsigned at = type == UMBEL_TYPE_UINT32_BE ? bytes - 1 - i : i;
        insist(key[at] == (uint8_t)(value >> 8 * i), "byte by byte");
    }
}

/* Converting back to UTF-8 restores it. */
static void check_utf16(const uint8_t *text, size_t len, const uint8_t *key, size_t key_len) {
    size_t at = 0;
    insist(key_len % 2 == 0, "whole units");
    for (size_t i = 0; i < key_len; i += 2) {
        uint32_t point = key[i] | (uint32_t)key[i + 1] << 8;
        if (point >= 0xd800 && point < 0xdc00) {
            insist(i + 4 <= key_len, "pairs are whole");
            uint32_t low = key[i + 2] | (uint32_t)key[i + 3] << 8;
            insist(low >= 0xdc00 && low < 0xe000, "pairs are high and low");
            point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
            i += 2;
        }
        unsigned more = point < 0x80 ? 0 : point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
        static const uint8_t leads[] = {0, 0xc0, 0xe0, 0xf0};
        insist(at + more < len, "no more text than there was");
        insist(text[at] == (leads[more] | point >> 6 * more), "the same lead byte");
        for (unsigned b = 1; b <= more; b++) {
            insist(text[at + b] == (0x80 | (point >> 6 * (more - b) & 0x3f)), "the same bytes");
        }
        at += more + 1;
    }
    insist(at == len, "all of the text");
}

void parse_typed(const uint8_t *text, size_t len, uint8_t type) {
    umbel_type of = (umbel_type)(type % 14); /* the last is none */
    size_t cap = of == UMBEL_TYPE_UTF16 ? 2 * len : of == UMBEL_TYPE_STRING ? len : 8;
    size_t key_len = 0, less = 0;
    uint8_t *key = some_bytes(cap);
    umbel_err e = umbel_typed_key(of, text, len, key, cap, &key_len, NULL);
    insist(!e || e == UMBEL_EINVAL, "there is room enough");
    insist(!e || of != UMBEL_TYPE_STRING, "any text is a string");
    insist(e || umbel_type_name(of), "no values of no type");
    insist(e || key_len <= cap, "within the room");
    if (umbel_type_name(of)) check_integer(of, text, len, e, key, key_len);
    if (!e && of == UMBEL_TYPE_UTF16) check_utf16(text, len, key, key_len);
    if (!e && of == UMBEL_TYPE_STRING) {
        insist(key_len == len && (!len || memcmp(key, text, len) == 0), "strings are themselves");
    }
    if (!e && key_len) {
        uint8_t *tight = some_bytes(key_len - 1);
        insist(umbel_typed_key(of, text, len, tight, key_len - 1, &less, NULL) == UMBEL_ESPACE,
               "not in less");
        free(tight);
    }
    free(key);
}

/* ---- Tokens ---- */

static bool in_word(uint8_t c) {
    return c > 127 || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

static void check_words(const uint8_t *text, size_t len) {
    size_t pos = 0, at = 0;
    umbel_key word;
    while (umbel_clickhouse_token(text, len, 0, &pos, &word)) {
        while (at < len && !in_word(text[at])) at++;
        insist(word.data == text + at && word.len > 0, "each word in its turn");
        for (size_t i = 0; i < word.len; i++, at++) insist(in_word(text[at]), "of letters");
        insist(at == len || !in_word(text[at]), "as long as it is");
    }
    while (at < len && !in_word(text[at])) at++;
    insist(at == len, "and no word is left");
}

void parse_tokens(const uint8_t *text, size_t len, uint32_t ngram) {
    size_t pos = 0, calls = 0, before = 0;
    umbel_key token;
    if (ngram == 0) {
        check_words(text, len);
        return;
    }
    for (; umbel_clickhouse_token(text, len, ngram, &pos, &token); before = pos) {
        const uint8_t *start = token.data;
        insist(start == text + before && token.len <= len - before, "a part of the text");
        insist(token.len >= ngram || before + token.len == len, "as many code points, or the end");
        insist(pos > before && ++calls <= len, "on and on, to an end");
    }
}
