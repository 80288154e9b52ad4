/* SPDX-License-Identifier: MIT
 *
 * umbel_peer - umbel's side of make check-interop: one request per line on stdin, one answer per
 * line
 *
 *   city64 TEXT                              the hash, decimal
 *   city128 TEXT                             a block's checksum, hex
 *   tokens SIZE HASHES SEED NGRAM TEXTS      a granule of tokenbf_v1 (NGRAM 0) or ngrambf_v1
 *   index RATE strings|numbers ROWS VALUES   a granule of bloom_filter; ROWS 0: distinct values
 *   rows strings|numbers VALUES              how many distinct values there are
 *   parquet KEYS RATE VALUES                 a Parquet filter
 *   parquet-bytes BYTES VALUES               likewise, of that size
 *   contains FILTER VALUES                   a Parquet filter's answers, 0 or 1 each
 *
 * Texts, values and filters are hex, each member of a list ends in a comma, "-" is nothing.
 * Filters are answered in hex, and the value "*" of an index is the raw hash 0; an invalid request
 * is answered with "! reason".  tokens, index and parquet take one more word, another system's
 * bytes: they are decoded as well, and "! ..." says what differs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/bits.h"
#include "format/clickhouse/clickhouse_index.h"
#include "format/codec.h"
#include "hash/foreign_hash.h"
#include "umbel_experimental.h"
#include "umbel_foreign.h"

enum { WORDS = 8 };

static const umbeli_settings memory = {.threads = 1};

static void give_up(const char *why) {
    fprintf(stderr, "umbel_peer: %s\n", why);
    exit(2);
}

static void print_hex(const uint8_t *bytes, size_t len) {
    for (size_t i = 0; i < len; i++) printf("%02x", bytes[i]);
    putchar('\n');
}

/* In place; returns the length. */
static size_t unhex(char *text) {
    size_t len = strlen(text) / 2;
    if (strcmp(text, "-") == 0) return 0;
    for (size_t i = 0; i < len; i++) {
        unsigned byte;
        if (sscanf(text + 2 * i, "%2x", &byte) != 1) give_up("not hex");
        text[i] = (char)byte;
    }
    return len;
}

typedef struct list {
    umbel_key *keys;
    size_t n;
} list;

/* Also in place. */
static list read_list(char *text) {
    list l = {calloc(strlen(text) + 1, sizeof *l.keys), 0};
    if (!l.keys) give_up("no memory");
    if (strcmp(text, "-") == 0) return l;
    for (char *comma; (comma = strchr(text, ',')); text = comma + 1) {
        *comma = 0;
        bool raw = strcmp(text, "*") == 0;
        l.keys[l.n++] = raw ? (umbel_key){NULL, 0} : (umbel_key){text, unhex(text)};
    }
    return l;
}

static int by_number(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t hash_of(const umbel_key *k, bool numbers) {
    if (!k->data) return 0;
    return numbers ? umbeli_clickhouse_number(k->data, k->len) : umbeli_city64(k->data, k->len);
}

/* ClickHouse counts hashes. */
static uint64_t distinct(list values, bool numbers) {
    uint64_t *hashes = calloc(values.n + 1, sizeof *hashes), count = 0;
    if (!hashes) give_up("no memory");
    for (size_t i = 0; i < values.n; i++) hashes[i] = hash_of(&values.keys[i], numbers);
    qsort(hashes, values.n, sizeof *hashes, by_number);
    for (size_t i = 0; i < values.n; i++) count += i == 0 || hashes[i] != hashes[i - 1];
    free(hashes);
    return count;
}

/* Prints the filter, or what is wrong when it is not `theirs` in both directions. */
static void answer(umbel_filter *f, const umbeli_codec *codec, const umbel_foreign *like,
                   char *theirs) {
    size_t size = (size_t)codec->size(f);
    uint8_t *bytes = malloc(size);
    umbeli_span span = {.bytes = bytes, .cap = size};
    umbeli_writer w = {.sink = umbeli_span_sink, .ctx = &span};
    if (!bytes) give_up("no memory");
    codec->encode(f, &w);
    const char *wrong = NULL;
    if (theirs) {
        size_t len = unhex(theirs);
        umbel_filter *read = NULL;
        umbel_diag diag = {0};
        const uint8_t *raw = (const uint8_t *)theirs;
        umbel_err e = codec->decode_as
                          ? codec->decode_as(like, raw, len, UMBELI_COPY, &memory, &read, &diag)
                          : codec->decode(raw, len, UMBELI_COPY, &memory, &read, &diag);
        if (e) {
            wrong = diag.what;
        } else if (len != size || memcmp(raw, bytes, len) != 0) {
            wrong = "the bytes differ";
        } else if (!umbel_equal(read, f)) {
            wrong = "decoded, it is another filter";
        }
        umbel_free(read);
    }
    if (wrong) {
        printf("! %s; ours: ", wrong);
    }
    print_hex(bytes, size);
    free(bytes);
    umbel_free(f);
}

static umbel_filter *make(const umbeli_codec *codec, const umbel_foreign *params) {
    umbel_filter *f = NULL;
    umbel_diag diag = {0};
    umbel_foreign p = *params;
    p.format = codec->id;
    if (umbel_create_foreign(&p, NULL, &f, &diag)) give_up(diag.what);
    return f;
}

static void add_all(umbel_filter *f, list values) {
    if (umbel_add_many(f, values.keys, values.n, NULL, NULL, NULL)) give_up("umbel_add_many");
}

static void tokens(char **word) {
    umbel_foreign p = {.bytes = strtoull(word[1], NULL, 10),
                       .hashes = (uint32_t)strtoul(word[2], NULL, 10),
                       .seed = strtoull(word[3], NULL, 10)};
    uint32_t ngram = (uint32_t)strtoul(word[4], NULL, 10);
    umbel_filter *f = make(umbeli_codec_by_id(UMBEL_FMT_CLICKHOUSE), &p);
    list texts = read_list(word[5]);
    for (size_t i = 0; i < texts.n; i++) {
        size_t pos = 0;
        umbel_key token;
        while (umbel_clickhouse_token(texts.keys[i].data, texts.keys[i].len, ngram, &pos, &token)) {
            if (umbel_add(f, token.data, token.len, NULL, NULL)) give_up("umbel_add");
        }
    }
    free(texts.keys);
    answer(f, umbeli_codec_by_id(UMBEL_FMT_CLICKHOUSE), &p, word[6]);
}

/* Adds the hash 0 as that of the number 0. */
static void add_hash_0(umbel_filter *f, umbel_foreign p) {
    p.variant |= UMBEL_VARIANT_CLICKHOUSE_NUMBERS;
    umbel_filter *zero = make(umbeli_codec_by_id(UMBEL_FMT_CLICKHOUSE), &p);
    if (umbel_add(zero, "\0", 1, NULL, NULL)) give_up("umbel_add");
    umbeli_bits_or(f->data, zero->data, f->data_len);
    umbel_free(zero);
}

static void index_granule(char **word) {
    bool numbers = strcmp(word[2], "numbers") == 0;
    list values = read_list(word[4]);
    uint64_t rows = strtoull(word[3], NULL, 10);
    if (rows == 0) rows = distinct(values, numbers);
    umbel_foreign p = {
        .capacity = rows, .fpr = strtod(word[1], NULL), .variant = UMBEL_VARIANT_CLICKHOUSE_INDEX};
    if (numbers) p.variant |= UMBEL_VARIANT_CLICKHOUSE_NUMBERS;
    umbel_filter *f = make(umbeli_codec_by_id(UMBEL_FMT_CLICKHOUSE), &p);
    for (size_t i = 0; i < values.n; i++) {
        const umbel_key *k = &values.keys[i];
        if (!k->data) {
            add_hash_0(f, p);
        } else if (umbel_add(f, k->data, k->len, NULL, NULL)) {
            give_up("umbel_add");
        }
    }
    free(values.keys);
    answer(f, umbeli_codec_by_id(UMBEL_FMT_CLICKHOUSE), &p, word[5]);
}

static void parquet(char **word, bool sized) {
    umbel_foreign p = {.bytes = sized ? strtoull(word[1], NULL, 10) : 0};
    if (!sized) {
        p.capacity = strtoull(word[1], NULL, 10);
        p.fpr = strtod(word[2], NULL);
    }
    umbel_filter *f = make(umbeli_codec_by_id(UMBEL_FMT_PARQUET), &p);
    list values = read_list(word[sized ? 2 : 3]);
    add_all(f, values);
    free(values.keys);
    answer(f, umbeli_codec_by_id(UMBEL_FMT_PARQUET), &p, word[sized ? 3 : 4]);
}

static void contains(char **word) {
    umbel_filter *f = NULL;
    umbel_diag diag = {0};
    size_t len = unhex(word[1]);
    list values = read_list(word[2]);
    if (umbel_decode(word[1], len, UMBEL_MAP, &(umbel_foreign){.format = UMBEL_FMT_PARQUET}, NULL,
                     &f, &diag)) {
        printf("! %s\n", diag.what);
    } else {
        for (size_t i = 0; i < values.n; i++) {
            putchar(umbel_contains(f, values.keys[i].data, values.keys[i].len) ? '1' : '0');
        }
        putchar('\n');
    }
    umbel_free(f);
    free(values.keys);
}

static void serve(char **word, size_t n) {
    if (strcmp(word[0], "city64") == 0 && n == 2) {
        size_t len = unhex(word[1]);
        printf("%" PRIu64 "\n", umbeli_city64(word[1], len));
    } else if (strcmp(word[0], "city128") == 0 && n == 2) {
        size_t len = unhex(word[1]);
        umbeli_hash128 sum = umbeli_city128(word[1], len);
        uint8_t bytes[16];
        umbeli_store_le64(bytes, sum.low);
        umbeli_store_le64(bytes + 8, sum.high);
        print_hex(bytes, sizeof bytes);
    } else if (strcmp(word[0], "tokens") == 0 && n >= 6) {
        tokens(word);
    } else if (strcmp(word[0], "index") == 0 && n >= 5) {
        index_granule(word);
    } else if (strcmp(word[0], "rows") == 0 && n == 3) {
        list values = read_list(word[2]);
        printf("%" PRIu64 "\n", distinct(values, strcmp(word[1], "numbers") == 0));
        free(values.keys);
    } else if (strcmp(word[0], "parquet") == 0 && n >= 4) {
        parquet(word, false);
    } else if (strcmp(word[0], "parquet-bytes") == 0 && n >= 3) {
        parquet(word, true);
    } else if (strcmp(word[0], "contains") == 0 && n == 3) {
        contains(word);
    } else {
        give_up("no such request");
    }
}

/* A line of any length without its end; NULL at the end of the input. */
static char *read_line(void) {
    size_t used = 0, cap = 4096;
    char *line = malloc(cap);
    int c = EOF;
    while (line && (c = getchar()) != EOF && c != '\n') {
        if (used + 1 == cap) line = realloc(line, cap *= 2);
        if (line) line[used++] = (char)c;
    }
    if (!line) give_up("no memory");
    line[used] = 0;
    if (c == EOF && used == 0) {
        free(line);
        return NULL;
    }
    return line;
}

int main(void) {
    for (char *line; (line = read_line()); free(line)) {
        char *word[WORDS] = {NULL};
        size_t n = 0;
        for (char *next = strtok(line, " "); next && n < WORDS - 1; next = strtok(NULL, " ")) {
            word[n++] = next;
        }
        if (n == 0) give_up("an empty request");
        serve(word, n);
    }
    return 0;
}
