/* SPDX-License-Identifier: MIT
 *
 * clickhouse_tokens.c - splits text as tokenbf_v1 and ngrambf_v1 do before they hash
 */
#include "core/text.h"
#include "umbel_experimental.h"

/* Bytes from 0x80 up belong to words: ClickHouse splits at ASCII characters only. */
static bool in_word(uint8_t c) {
    return c >= 0x80 || umbeli_is_digit(c) || umbeli_is_letter(c);
}

static bool next_word(const uint8_t *text, size_t len, size_t *pos, umbel_key *token) {
    size_t start = *pos;
    while (start < len && !in_word(text[start])) start++;
    size_t end = start;
    while (end < len && in_word(text[end])) end++;
    *pos = end;
    *token = (umbel_key){text + start, end - start};
    return end > start;
}

/* The lead byte alone gives the length of a code point; stray bytes count as one each. */
static size_t code_point(uint8_t lead) {
    if (lead >= 0xf8 || lead < 0xc0) return 1;
    return lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
}

static bool next_window(const uint8_t *text, size_t len, uint32_t ngram, size_t *pos,
                        umbel_key *token) {
    size_t end = *pos;
    for (uint32_t points = 0; points < ngram; points++) {
        if (end >= len) return false;
        end += code_point(text[end]);
    }
    if (end > len) end = len; /* a truncated code point counts as far as it goes */
    *token = (umbel_key){text + *pos, end - *pos};
    *pos += code_point(text[*pos]);
    return true;
}

bool umbel_clickhouse_token(const void *text, size_t len, uint32_t ngram, size_t *pos,
                            umbel_key *token) {
    if (ngram == 0) return next_word(text, len, pos, token);
    return next_window(text, len, ngram, pos, token);
}
