/* SPDX-License-Identifier: MIT
 *
 * fuzz_parse.c - text written by people: quantities, clocks, options, typed values, tokens, lines,
 * addresses
 *
 * Byte 0 chooses what the text is parsed as, bytes 1 to 4 are choices; the text follows.
 */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/tally.h"
#include "command/command.h"
#include "lines/split.h"
#include "options/filter_options.h"
#include "push/push.h"
#include "push/push_address.h"
#include "target.h"
#include "umbel_experimental.h"
#include "umbel_foreign.h"
#include "umbel_recipe.h"
#include "umbel_records.h"
#include "umbel_text.h"

enum { QUANTITY, WINDOW_CLOCK, OPTIONS, TYPED, TOKENS, LINES, NAMES, READINGS, HEAD = 5 };

/* ---- Servers and the names of their keys ----------------------------------------------------- */

static void check_address(const char *text) {
    cli_address address = {.port = -1}, again;
    char out[CLI_HOST + 16];
    if (!cli_parse_address(text, &address)) {
        insist(address.port == -1, "a text that is not an address changes nothing");
        return;
    }
    insist(address.host[0] && memchr(address.host, 0, sizeof address.host), "a host has a name");
    insist((address.port == 0) == (text[0] == '/'), "sockets have no port");
    insist(address.port >= 0 && address.port < 65536, "ports have a range");
    if (address.port == 0) {
        insist(strcmp(address.host, text) == 0, "a socket is its path");
    } else if (!strchr(address.host, ']') && address.host[0] != '/') {
        snprintf(out, sizeof out, "[%s]:%d", address.host, address.port);
        insist(cli_parse_address(out, &again) && strcmp(address.host, again.host) == 0 &&
                   address.port == again.port,
               "in brackets it is the same");
    }
}

/* The text after redis://, and as it is. */
static void check_server(const char *scheme, const char *rest) {
    size_t room = strlen(scheme) + strlen(rest) + 1;
    char *text = some_bytes(room);
    cli_server server;
    snprintf(text, room, "%s%s", scheme, rest);
    const char *wrong = cli_parse_server(text, &server);
    insist(strlen(text) == room - 1, "hiding a password changes no length");
    insist(!wrong || *wrong, "an error has a message");
    if (!wrong) {
        insist(server.at.host[0] && server.at.port >= 0 && server.at.port < 65536, "an address");
        insist(*scheme == '\0' || server.at.port > 0, "a URL has a port");
        insist(server.login.database <= INT32_MAX, "databases have a range");
        insist(!server.login.password || cli_is_url(text), "only URLs have passwords");
    }
    cli_login_free(&server.login);
    free(text);
}

static void parse_names(const char *text) {
    uint32_t slot = cli_cluster_slot(text), shards = 1 + slot % 100;
    check_address(text);
    check_server("", text);
    check_server("redis://", text);
    check_server("rediss://", text);
    insist(slot < CLI_CLUSTER_SLOTS, "slots have a range");
    char *sibling = cli_sibling_name(text, "mark"), *named = cli_shard_name(text, 7);
    insist(cli_cluster_slot(sibling) == slot, "a sibling name is in the same slot");
    uint32_t shard = cli_shard_of(text, strlen(text), shards);
    insist(shard < shards && cli_shard_of(text, strlen(text), 1) == 0, "shards have a range");
    insist(strncmp(named, text, strlen(text)) == 0, "a shard's name begins with the filter's");
    free(named);
    free(sibling);
}

/* ---- Command lines --------------------------------------------------------------------------- */

/* In place of cli/base/error.c: what would exit the command ends the parsing here, and memory
 * that the command would leave to its exit is freed. */

enum { MAX_BLOCKS = 4096, MAX_ARGUMENTS = 64 };

static jmp_buf refused;
static void *blocks[MAX_BLOCKS];
static size_t nblocks;
static bool parsing; /* else the caller frees its memory */

void cli_die(const char *where, const char *hint, const char *what, ...) {
    char line[512];
    va_list args;
    va_start(args, what);
    vsnprintf(line, sizeof line, what, args);
    va_end(args);
    insist(line[0] && (!where || where[0]) && (!hint || hint[0]), "an error has a message");
    longjmp(refused, 1);
}

void cli_die_sys(const char *where, int sys) {
    cli_die(where, NULL, "%s", strerror(sys));
}

void cli_warn(const char *code, const char *where, const char *what, ...) {
    (void)code, (void)where, (void)what;
}

void *cli_alloc(size_t size) {
    return cli_realloc(NULL, size);
}

void *cli_realloc(void *old, size_t size) {
    size_t i = 0;
    while (parsing && old && blocks[i] != old) i++;
    void *block = realloc(old, size ? size : 1);
    insist(block != NULL, "there is memory for a test");
    if (!parsing) return block;
    if (!old) i = nblocks++;
    insist(i < MAX_BLOCKS, "few blocks");
    return blocks[i] = block;
}

char *cli_strndup(const char *text, size_t len) {
    char *copy = cli_alloc(len + 1);
    memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

static uint8_t all_options[OPTION_COUNT];

static int run(const cli_settings *s) {
    (void)s;
    return CLI_YES;
}

static const cli_command umbel = {.name = "umbel", .synopsis = "", .options = all_options};
static const cli_command subcommand = {
    .name = "fuzz", .synopsis = "FILE", .options = all_options, .run = run};

static void use_settings(const cli_settings *s, int argc) {
    insist(s->nargs >= 0 && s->nargs < argc, "no more arguments than words");
    for (int i = 0; i < s->nargs; i++) insist(s->args[i] != NULL, "each is there");
    if (cli_given(s, OPT_FPR)) insist(s->fpr > 0 && s->fpr < 1, "rates are rates");
    if (cli_given(s, OPT_KEYS)) insist(s->keys > 0, "keys from 1");
    if (cli_given(s, OPT_BYTES)) insist(s->bytes > 0, "sizes from 1");
    cli_filter_params p = cli_params_of(s);
    insist(p.hashes == s->hashes && p.bits_per_key == s->bits_per_key, "no number is cut");
    umbel_opts opts = cli_opts_of(s);
    insist(opts.threads == s->threads, "nor this one");
    insist(umbel_type_name(s->type) != NULL, "a type");
    cli_exclude(s, OPT_FORCE, OPT_QUIET);
    cli_expect_args(s, 1, 3);
}

static void parse_options(char *text, size_t len) {
    char *argv[MAX_ARGUMENTS + 1];
    int argc = 0;
    cli_settings settings;
    argv[argc++] = text;
    for (size_t at = 0; at < len && argc < MAX_ARGUMENTS; at += strlen(text + at) + 1) {
        argv[argc++] = text + at;
    }
    argv[argc] = NULL;
    for (uint8_t id = 1; id < OPTION_COUNT; id++) all_options[id - 1] = id;
    const cli_command *command = argc % 2 ? &subcommand : &umbel;
    parsing = true;
    if (!setjmp(refused)) {
        cli_parse(command, argc, argv, &settings);
        use_settings(&settings, argc);
    }
    while (nblocks > 0) free(blocks[--nblocks]);
    parsing = false;
}

/* ---- Lines, compared with plain loops that split them the same way --------------------------- */

/* ---- Lines ---- */

static void check_split(cli_split *split, const uint8_t *text, size_t len, uint8_t sep) {
    uint32_t *ends = some_bytes((len + CLI_SPLIT_SLACK) * sizeof *ends);
    size_t n = split(text, len, sep, ends), seen = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] != sep) continue;
        insist(seen < n && ends[seen] == i, "every separator is found");
        seen++;
    }
    insist(seen == n, "and nothing else");
    free(ends);
}

/* ---- Records of CSV, byte by byte ---- */

/* What the recipe was made of. */
typedef struct plain_rule {
    uint8_t sep, delimiter;
    uint32_t field;
    bool csv, crlf, trim, lower, upper;
} plain_rule;

/* The length of the record at the beginning of the text, and whether a separator ends it. */
static size_t plain_record(const plain_rule *csv, const uint8_t *text, size_t len, bool *ended) {
    static const uint8_t mark[] = {0xef, 0xbb, 0xbf};
    bool starts = true, quoted = false;
    size_t i = len >= 3 && memcmp(text, mark, 3) == 0 ? 3 : 0;
    for (; i < len; i++) {
        uint8_t c = text[i];
        if (quoted) {
            if (c == '"' && i + 1 < len && text[i + 1] == '"') {
                i++;
            } else if (c == '"') {
                quoted = false;
            }
        } else if (c == '"' && starts) {
            quoted = true;
        } else if (c == csv->sep) {
            break;
        }
        starts = !quoted && c == csv->delimiter;
    }
    *ended = i < len;
    return i;
}

static void check_csv(const umbel_recipe *recipe, const plain_rule *csv, const uint8_t *text,
                      size_t len, size_t step) {
    size_t whole = 0;
    for (bool ended = true; ended;) {
        size_t n = plain_record(csv, text + whole, len - whole, &ended);
        insist(umbel_recipe_first(recipe, csv->sep, text + whole, len - whole) == n,
               "the first record");
        if (ended) whole += n + 1;
    }
    umbel_recipe_progress scan = {0};
    for (size_t at = 0; at < len;) {
        at = len - at < step ? len : at + step;
        umbel_recipe_scan(recipe, csv->sep, &scan, text, at);
        insist(scan.whole <= at && scan.at <= at, "within the text");
    }
    insist(scan.whole == whole, "as many whole records, however they arrive");
}

/* ---- Keys, byte by byte ---- */

typedef struct plain {
    uint8_t *bytes;
    size_t len;
} plain;

static bool is_blank(uint8_t c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\v' || c == '\f' || c == '\r';
}

static void keep(plain *p, size_t from, size_t to) {
    memmove(p->bytes, p->bytes + from, to - from);
    p->len = to - from;
}

static bool plain_field(plain *p, const plain_rule *t) {
    size_t at = 0;
    for (uint64_t field = 1; at <= p->len; field++) {
        size_t end = at;
        if (t->delimiter) {
            while (end < p->len && p->bytes[end] != t->delimiter) end++;
        } else {
            while (at < p->len && is_blank(p->bytes[at])) at++;
            for (end = at; end < p->len && !is_blank(p->bytes[end]);) end++;
            if (at == end) return false;
        }
        if (field == t->field) {
            keep(p, at, end);
            return true;
        }
        at = end + 1;
    }
    return false;
}

/* False: the line has no key. */
static bool plain_key(plain *p, const plain_rule *r) {
    if (r->crlf && p->len && p->bytes[p->len - 1] == '\r') p->len--;
    if (r->field && !plain_field(p, r)) return false;
    if (r->trim) {
        size_t from = 0, to = p->len;
        while (to > 0 && is_blank(p->bytes[to - 1])) to--;
        while (from < to && is_blank(p->bytes[from])) from++;
        keep(p, from, to);
    }
    for (size_t i = 0; i < p->len; i++) {
        uint8_t c = p->bytes[i];
        if (r->lower && c >= 'A' && c <= 'Z') p->bytes[i] = (uint8_t)(c + 32);
        if (r->upper && c >= 'a' && c <= 'z') p->bytes[i] = (uint8_t)(c - 32);
    }
    return true;
}

static void check_line_key(const umbel_recipe *recipe, const plain_rule *t, const uint8_t *line,
                           size_t len) {
    size_t room = umbel_recipe_room(recipe, 1, len);
    uint8_t *scratch = some_bytes(room), state = 9;
    plain p = {some_bytes(len), len};
    if (len) memcpy(p.bytes, line, len);
    umbel_key key = {line, len};
    bool found = umbel_recipe_apply(recipe, UMBEL_USE_RECORD, &key, 1, scratch, &state) == 1;
    insist(found == (state == UMBEL_FOUND_KEY) && found == (key.data != NULL), "one answer");
    insist(plain_key(&p, t) == found, "a key or none");
    insist(!found || key.len == p.len, "a key as long");
    insist(!found || !p.len || memcmp(key.data, p.bytes, p.len) == 0, "the same key");
    free(p.bytes);
    free(scratch);
}

static umbel_recipe *recipe_of(const plain_rule *r) {
    char text[128], part[32] = "line", delimiter[32] = "";
    umbel_recipe *recipe = NULL;
    if (r->field) snprintf(part, sizeof part, "field=%" PRIu32, r->field);
    if (r->delimiter) snprintf(delimiter, sizeof delimiter, " delimiter=0x%02x", r->delimiter);
    snprintf(text, sizeof text, "%s%s%s%s%s%s%s", r->csv ? "csv " : "", part, delimiter,
             r->crlf ? " crlf" : "", r->trim ? " trim" : "", r->lower ? " lower" : "",
             r->upper ? " upper" : "");
    return umbel_recipe_parse(text, &recipe, NULL) ? NULL : recipe;
}

static void parse_lines(const uint8_t *text, size_t len, const uint8_t choices[4]) {
    plain_rule r = {.sep = choices[0] & 1 ? '\n' : 0,
                    .trim = choices[0] & 2,
                    .lower = (choices[0] & 12) == 4,
                    .upper = (choices[0] & 12) == 8,
                    .field = choices[3] == 255 ? UINT32_MAX : choices[3],
                    .crlf = choices[0] & 32};
    if (r.field && choices[0] & 16) r.delimiter = choices[2];
    check_split(cli_split_generic, text, len, r.sep);
    check_split(cli_split_best(), text, len, r.sep);
    umbel_recipe *recipe = recipe_of(&r);
    for (size_t at = 0; recipe && at <= len;) {
        const uint8_t *cut = at < len ? memchr(text + at, r.sep, len - at) : NULL;
        size_t end = cut ? (size_t)(cut - text) : len;
        check_line_key(recipe, &r, text + at, end - at);
        at = end + 1;
    }
    umbel_recipe_free(recipe);
    plain_rule csv = {.sep = r.sep, .csv = true, .field = 1, .delimiter = r.delimiter};
    recipe = recipe_of(&csv);
    if (!csv.delimiter) csv.delimiter = ',';
    if (recipe) check_csv(recipe, &csv, text, len, 1 + choices[3] % 16);
    umbel_recipe_free(recipe);
}

/* ---- Typed values, and text as ClickHouse splits it ------------------------------------------ */

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
    } integers[] = {[UMBEL_TYPE_INT8] = {1, true},     [UMBEL_TYPE_INT16] = {2, true},
                    [UMBEL_TYPE_INT32] = {4, true},    [UMBEL_TYPE_INT64] = {8, true},
                    [UMBEL_TYPE_UINT8] = {1, false},   [UMBEL_TYPE_UINT16] = {2, false},
                    [UMBEL_TYPE_UINT32] = {4, false},  [UMBEL_TYPE_UINT64] = {8, false},
                    [UMBEL_TYPE_UINT32BE] = {4, false}};
    uint64_t value = 0;
    if (type >= sizeof integers / sizeof *integers || !integers[type].bytes) return;
    unsigned bytes = integers[type].bytes;
    bool good = plain_integer(text, len, bytes, integers[type].is_signed, &value);
    insist(good == !e, "the integers that fit, and no others");
    if (e) return;
    insist(key_len == bytes, "as long as its type");
    for (unsigned i = 0; i < bytes; i++) {
        unsigned at = type == UMBEL_TYPE_UINT32BE ? bytes - 1 - i : i;
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

/* The bytes, written plainly, are read as themselves. */
static void check_hex(umbel_type type, const uint8_t *key, size_t key_len) {
    static const char digits[] = "0123456789abcdef";
    size_t prefix = type == UMBEL_TYPE_BYTEA ? 2 : 0, len = prefix + 2 * key_len, back_len = 0;
    uint8_t *text = some_bytes(len), *back = some_bytes(len);
    if (prefix) memcpy(text, "\\x", 2);
    for (size_t i = 0; i < key_len; i++) {
        text[prefix + 2 * i] = (uint8_t)digits[key[i] >> 4];
        text[prefix + 2 * i + 1] = (uint8_t)digits[key[i] & 15];
    }
    insist(!umbel_typed_key(type, text, len, back, len, &back_len, NULL), "plain digits are valid");
    insist(back_len == key_len && (!key_len || memcmp(back, key, key_len) == 0), "the same bytes");
    free(text);
    free(back);
}

/* Values of SQL have keys of certain lengths; that of a number, which is a number, is its own key. */
static void check_sql(umbel_type type, const uint8_t *key, size_t key_len) {
    uint8_t *again = some_bytes(2 * key_len + 16);
    size_t back_len = 0;
    switch (type) {
    case UMBEL_TYPE_DATE: insist(key_len == 4, "days"); break;
    case UMBEL_TYPE_TIMESTAMP:
    case UMBEL_TYPE_TIMESTAMPTZ: insist(key_len == 8, "microseconds"); break;
    case UMBEL_TYPE_INET:
        insist(key_len == 4 || key_len == 16 || (key_len == 5 && key[4] < 32) ||
                   (key_len == 17 && key[16] < 128),
               "an address, or a network that is not one");
        break;
    case UMBEL_TYPE_NUMERIC:
        insist(!umbel_typed_key(type, key, key_len, again, 2 * key_len + 16, &back_len, NULL) &&
                   back_len == key_len && memcmp(again, key, key_len) == 0,
               "the same number");
        break;
    default: break;
    }
    free(again);
}

static void parse_typed(const uint8_t *text, size_t len, uint8_t type) {
    umbel_type of = (umbel_type)(type % 32); /* the last ones are not types */
    size_t cap = 2 * len + 16;
    size_t key_len = 0, less = 0;
    uint8_t *key = some_bytes(cap);
    umbel_err e = umbel_typed_key(of, text, len, key, cap, &key_len, NULL);
    insist(!e || e == UMBEL_EINVAL, "there is room enough");
    insist(!e || of != UMBEL_TYPE_STRING, "any text is a string");
    insist(e || umbel_type_name(of), "an unknown type has no values");
    insist(e || key_len <= cap, "within the room");
    if (umbel_type_name(of)) check_integer(of, text, len, e, key, key_len);
    insist(e || of != UMBEL_TYPE_UUID || key_len == 16, "16 bytes");
    if (!e && (of == UMBEL_TYPE_UUID || of == UMBEL_TYPE_BYTEA)) check_hex(of, key, key_len);
    if (!e) check_sql(of, key, key_len);
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

static void parse_tokens(const uint8_t *text, size_t len, uint32_t ngram) {
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

/* ---- Quantities and clocks ----------------------------------------------------------------- */

static bool only_digits(const char *text) {
    return *text && strspn(text, "0123456789") == strlen(text);
}

static void read_quantity(const char *text) {
    const uint64_t mark = UINT64_C(0x5eed);
    uint64_t count = mark, size = mark, seconds = mark, again = 0;
    double rate = 2;
    char out[UMBEL_QUANTITY];
    bool is_count = !umbel_parse_count(text, &count, NULL);
    bool is_size = !umbel_parse_size(text, &size, NULL);
    bool is_duration = !umbel_parse_duration(text, &seconds, NULL);
    bool is_rate = !umbel_parse_rate(text, &rate, NULL);
    insist(is_count || count == mark, "a text that is not a count changes nothing");
    insist(is_size || size == mark, "a text that is not a size changes nothing");
    insist(is_duration || seconds == mark, "a text that is not a duration changes nothing");
    insist(is_rate ? rate > 0 && rate < 1 : rate == 2, "rates lie between 0 and 1");
    insist(!is_count || !is_size || size >= count, "as a size it is no less");
    if (only_digits(text)) insist(is_count == is_size && count == size, "plain numbers are plain");
    if (is_duration) {
        insist(seconds > 0 && seconds <= UMBEL_DURATION_MAX, "durations have limits");
        insist(!umbel_parse_duration(umbel_duration_text(seconds, out), &again, NULL) &&
                   again == seconds,
               "a duration's text is that duration");
    }
    insist(strlen(umbel_count_text(count, out)) < UMBEL_QUANTITY, "room for a count");
    insist(strlen(umbel_size_text(size, out)) < UMBEL_QUANTITY, "room for a size");
    insist(strlen(umbel_short_count((double)count, out)) < UMBEL_QUANTITY, "room for a short one");
    insist(strlen(umbel_rate_text(rate, out)) < UMBEL_QUANTITY, "room for a rate");
}

static void read_window_clock(const char *text, const uint8_t choices[4]) {
    cli_window w = {0}, again = {0};
    uint64_t now = choices[1] * UINT64_C(100000000) + choices[2];
    char out[UMBEL_QUANTITY];
    cli_interval range = cli_wilson(choices[2] & choices[3], choices[3], 2.58);
    insist(range.low >= 0 && range.low <= range.high && range.high <= 1, "an interval is one");
    if (!cli_window_parse(text, &w)) {
        insist(!w.keys && !w.step && !w.generations, "a text that is not a window changes nothing");
        return;
    }
    if (!w.step) return;
    insist(w.generations > 0, "a clock has steps");
    uint64_t min = cli_window_min_step(w.step * w.generations);
    insist(min * CLI_GENERATIONS_MAX >= w.step * w.generations, "the smallest step is enough");
    umbel_clock c = {
        .step = w.step, .generations = w.generations, .advanced = choices[0] * UINT64_C(100000000)};
    if (cli_window_parse(umbel_clock_text(&c, out), &again)) {
        insist(again.step == c.step && again.generations == c.generations, "the same clock");
    } else {
        insist(c.step * c.generations > UMBEL_DURATION_MAX, "its text is that clock");
    }
    uint64_t before = c.advanced, steps = umbel_clock_steps(&c, now);
    insist(steps <= c.generations + 1, "no more steps than there is to forget");
    insist(c.advanced <= now || c.advanced == before, "never ahead of the clock by itself");
    insist(now < c.advanced || now - c.advanced < c.step, "all steps that were completed");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len) {
    if (len < HEAD) return 0;
    const uint8_t *choices = bytes + 1;
    size_t text_len = len - HEAD;
    uint8_t *text = some_bytes(text_len);
    char *words = some_bytes(text_len + 1);
    memcpy(text, bytes + HEAD, text_len);
    memcpy(words, text, text_len);
    words[text_len] = '\0';
    switch (bytes[0] % READINGS) {
    case QUANTITY: read_quantity(words); break;
    case WINDOW_CLOCK: read_window_clock(words, choices); break;
    case OPTIONS: parse_options(words, text_len); break;
    case TYPED: parse_typed(text, text_len, choices[0]); break;
    case TOKENS: parse_tokens(text, text_len, choices[0] % 9); break;
    case LINES: parse_lines(text, text_len, choices); break;
    default: parse_names(words); break;
    }
    free(words);
    free(text);
    return 0;
}
