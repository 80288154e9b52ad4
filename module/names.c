/* SPDX-License-Identifier: MIT */
#include "names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char redisblooms[] = "bf";

static char prefixes[BF_PREFIXES_MAX][BF_PREFIX_MAX + 1] = {"bf"};
static size_t count = 1;

/* The name, under another prefix, of what the rest of the module knows by its usual one. */
enum { NAMES_MAX = 32, NAME_MAX = 32 };
static struct name {
    const char *plain;
    char own[NAME_MAX];
} names[NAMES_MAX];
static size_t names_count;

bool bf_names_are(const char *argument) {
    return strcasecmp(argument, "prefix") == 0;
}

size_t bf_prefixes(void) {
    return count;
}

const char *bf_prefix(size_t i) {
    return prefixes[i];
}

bool bf_names_redisblooms(void) {
    return strcmp(prefixes[0], redisblooms) == 0;
}

/* Letters and digits, in small letters; the first is a letter, as settings begin with it, too. */
static bool read_prefix(const char *text, char out[BF_PREFIX_MAX + 1]) {
    size_t len = strlen(text);
    if (len == 0 || len > BF_PREFIX_MAX || !isalpha((unsigned char)*text)) return false;
    for (size_t i = 0; i <= len; i++) {
        if (text[i] && !isalnum((unsigned char)text[i])) return false;
        out[i] = (char)tolower((unsigned char)text[i]);
    }
    return true;
}

static const char *add_prefix(const char *text, size_t n) {
    if (n == BF_PREFIXES_MAX) return "there are at most four prefixes";
    if (!read_prefix(text, prefixes[n]))
        return "a prefix is a letter, then letters and digits, 16 at most";
    for (size_t i = 0; i < n; i++) {
        if (strcmp(prefixes[i], prefixes[n]) == 0) return "it was given before";
    }
    if (n > 0 && strcmp(prefixes[n], redisblooms) == 0) return "BF must be the first";
    return NULL;
}

int bf_names_read(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    size_t n = 0;
    for (int i = 0; i + 1 < argc; i += 2) {
        if (!bf_names_are(RedisModule_StringPtrLen(argv[i], NULL))) continue;
        const char *text = RedisModule_StringPtrLen(argv[i + 1], NULL);
        const char *wrong = add_prefix(text, n);
        if (wrong) {
            RedisModule_Log(ctx, "warning", "argument or value not accepted: prefix %.40s: %s",
                            text, wrong);
            return REDISMODULE_ERR;
        }
        n++;
    }
    if (n) count = n;
    return REDISMODULE_OK;
}

static void write_name(const char *plain, char own[NAME_MAX]) {
    snprintf(own, NAME_MAX, "%s%s", prefixes[0], plain + strlen(redisblooms));
    bool large = isupper((unsigned char)*plain);
    for (char *p = own; large && *p; p++) *p = (char)toupper((unsigned char)*p);
}

const char *bf_named(const char *plain) {
    if (bf_names_redisblooms()) return plain;
    size_t i = 0;
    while (i < names_count && strcmp(names[i].plain, plain) != 0) i++;
    if (i == names_count && i < NAMES_MAX) {
        names[i].plain = plain;
        write_name(plain, names[i].own);
        names_count++;
    }
    return i < NAMES_MAX ? names[i].own : plain;
}
