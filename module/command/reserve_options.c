/* SPDX-License-Identifier: MIT
 *
 * reserve_options.c - parsing the options, and checking which go together
 */
#include "command/reserve_options.h"

#include <string.h>
#include <strings.h>
#include <sys/random.h>

#include "config.h"
#include "core/bits.h"
#include "hash/siphash13.h"

enum { WINDOW_MAX = 255, TTL_MAX = INT32_MAX };

/* With the default setting the filter chooses its steps. */
void bf_options_init(bf_options *options, RedisModuleCtx *ctx) {
    bool usual = bf_config.expansion == BF_EXPANSION_SHOWN;
    *options = (bf_options){
        .replayed = bf_config_replayed(ctx),
        .params = {.layout = (uint8_t)bf_config.layout,
                   .error = bf_config.error,
                   .capacity = (uint64_t)bf_config.capacity,
                   .expansion = usual ? BF_EXPANSION_AUTO : (uint32_t)bf_config.expansion},
    };
}

bf_word bf_word_of(const RedisModuleString *text) {
#define NAME(name) #name,
    static const char *const names[] = {"", BF_WORDS_ALONE(NAME) BF_WORDS_WITH_VALUE(NAME)};
    size_t len = 0;
    const char *s = RedisModule_StringPtrLen(text, &len);
    for (size_t i = 1; i < sizeof names / sizeof *names; i++) {
        if (strlen(names[i]) == len && !strncasecmp(names[i], s, len)) return (bf_word)i;
    }
    return BF_WORD_UNKNOWN;
}

static bf_flaw read_number(const RedisModuleString *value, long long min, long long max,
                           long long *out) {
    if (RedisModule_StringToLongLong(value, out) != REDISMODULE_OK) return BF_NO_NUMBER;
    return *out < min || *out > max ? BF_OUT_OF_RANGE : BF_FINE;
}

/* Strictly between 0 and 1. */
static bf_flaw read_part(const RedisModuleString *value, double *out) {
    if (RedisModule_StringToDouble(value, out) != REDISMODULE_OK) return BF_NO_NUMBER;
    return *out > 0 && *out < 1 ? BF_FINE : BF_OUT_OF_RANGE;
}

bf_flaw bf_options_error(bf_options *options, const RedisModuleString *value) {
    return read_part(value, &options->params.error);
}

bf_flaw bf_options_capacity(bf_options *options, const RedisModuleString *value) {
    long long number = 0;
    bf_flaw flaw = read_number(value, 1, options->replayed ? INT64_MAX : BF_CAPACITY_MAX, &number);
    options->params.capacity = (uint64_t)number;
    return flaw;
}

bf_flaw bf_options_expansion(bf_options *options, const RedisModuleString *value) {
    long long number = 0;
    bool automatic = !strcasecmp(RedisModule_StringPtrLen(value, NULL), "auto");
    long long max = options->replayed ? BF_EXPANSION_AUTO - 1 : BF_EXPANSION_MAX;
    bf_flaw flaw = automatic ? BF_FINE : read_number(value, 0, max, &number);
    options->params.expansion = automatic ? BF_EXPANSION_AUTO : (uint32_t)number;
    options->expands = automatic || number != 0;
    options->expansion_given = true;
    return flaw;
}

static const char *parse_layout(bf_options *options, const RedisModuleString *value) {
    const char *name = RedisModule_StringPtrLen(value, NULL);
    if (!strcasecmp(name, "blocked")) {
        options->params.layout = BF_BLOCKED;
    } else if (!strcasecmp(name, "classic")) {
        options->params.layout = BF_REDISBLOOM;
    } else {
        return "ERR layout must be blocked or classic";
    }
    options->layout_given = true;
    return NULL;
}

/* A secret as raw bytes, or a seed of valkey-bloom, which is twice as long. */
static const char *parse_seed(bf_options *options, const RedisModuleString *value) {
    enum { VALKEY_BLOOM = 32 };
    uint8_t *key = options->params.key;
    size_t len = 0;
    const char *bytes = RedisModule_StringPtrLen(value, &len);
    if (len == BF_KEY_BYTES) {
        memcpy(key, bytes, len);
    } else if (len == VALKEY_BLOOM) {
        umbeli_hash128 h = umbeli_siphash13_128(bytes, len, (umbeli_secret){0});
        umbeli_store_le64(key, h.low);
        umbeli_store_le64(key + 8, h.high);
    } else {
        return "ERR invalid seed";
    }
    options->params.keyed = true;
    return NULL;
}

/* A window of generations by number of items, or by the clock. */
static const char *parse_window(bf_options *options, const RedisModuleString *value) {
    long long number = 0;
    bf_flaw flaw = read_number(value, 1, WINDOW_MAX, &number);
    options->params.by_time = flaw == BF_NO_NUMBER;
    if (flaw == BF_OUT_OF_RANGE) return "ERR window must be in the range [1, 255]";
    if (flaw == BF_FINE) {
        options->params.window = (uint16_t)number;
        return NULL;
    }
    const char *wrong = bf_clock_parse(RedisModule_StringPtrLen(value, NULL), &options->clock);
    if (!wrong) options->params.window = (uint16_t)options->clock.generations;
    return wrong;
}

const char *bf_options_parse(bf_options *options, bf_word word, const RedisModuleString *value) {
    bf_params *params = &options->params;
    long long number = 0;
    switch (word) {
    case BF_WORD_NONSCALING: options->nonscaling = true; return NULL;
    case BF_WORD_COUNTING: params->counting = true; return NULL;
    case BF_WORD_LAYOUT: return parse_layout(options, value);
    case BF_WORD_SEED: return parse_seed(options, value);
    case BF_WORD_TIGHTENING:
        switch (read_part(value, &params->tightening)) {
        case BF_FINE: return NULL;
        case BF_NO_NUMBER: return "ERR bad tightening ratio";
        default: return "ERR (0 < tightening ratio range < 1)";
        }
    case BF_WORD_WINDOW: return parse_window(options, value);
    case BF_WORD_TTL:
        if (read_number(value, 1, TTL_MAX, &number)) return "ERR invalid expire time";
        options->ttl = (uint64_t)number;
        return NULL;
    case BF_WORD_VALIDATESCALETO:
        if (read_number(value, 1, INT64_MAX, &number)) return "ERR bad capacity";
        options->scale_to = (uint64_t)number;
        return NULL;
    default: return "Unknown argument received";
    }
}

/* The server's own generator takes half a microsecond per secret, so the system is asked for many;
 * each is erased here once it is used. */
static void draw_secret(uint8_t secret[BF_KEY_BYTES]) {
    static uint8_t drawn[256 * BF_KEY_BYTES];
    static size_t left;
    if (left == 0) {
        bool enough = getrandom(drawn, sizeof drawn, 0) == (ssize_t)sizeof drawn;
        if (!enough) RedisModule_GetRandomBytes(drawn, sizeof drawn);
        left = sizeof drawn;
    }
    left -= BF_KEY_BYTES;
    memcpy(secret, drawn + left, BF_KEY_BYTES);
    memset(drawn + left, 0, BF_KEY_BYTES);
}

const char *bf_options_settle(bf_options *options) {
    bf_params *params = &options->params;
    bool special = params->counting || params->window;
    if (params->counting && params->window) return "ERR a filter is either counting or a window";
    if (special && options->expands) return "ERR counting filters and windows cannot expand";
    if (special) params->expansion = 0;
    /* Replayed commands state an expansion that is not the usual one. */
    if (options->nonscaling && options->replayed && !options->expansion_given) {
        params->expansion = BF_EXPANSION_SHOWN;
    }
    if (options->nonscaling || params->expansion == 0) {
        params->expansion = bf_expansion(params) | BF_EXPANSION_FIXED;
    }
    if (options->scale_to && !bf_grows(params)) {
        return "ERR cannot use NONSCALING and VALIDATESCALETO options together";
    }
    if (special || params->keyed || params->tightening > 0) {
        if (params->layout == BF_REDISBLOOM && options->layout_given) {
            return "ERR COUNTING, WINDOW, SEED and TIGHTENING need LAYOUT blocked";
        }
        params->layout = BF_BLOCKED;
    }
    if (params->layout == BF_REDISBLOOM && bf_grows(params)) {
        params->expansion = bf_expansion(params);
    }
    if (!options->replayed) params->error = bf_config_capped(params->error);
    /* Each filter gets its own secret, so that clients cannot craft colliding keys. */
    if (params->layout == BF_BLOCKED && !params->keyed) {
        draw_secret(params->key);
        params->keyed = true;
    }
    return NULL;
}
