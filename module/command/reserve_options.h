/* SPDX-License-Identifier: MIT
 *
 * reserve_options.h - how a filter is to be created: the options of BF.RESERVE and BF.INSERT
 */
#ifndef BF_RESERVE_OPTIONS_H
#define BF_RESERVE_OPTIONS_H

#include "api.h"
#include "value/value_window.h"

typedef struct bf_options {
    bf_params params;
    bool expands, nonscaling, layout_given, expansion_given; /* in the command */
    bool if_not_exists, no_create;
    bool replayed;     /* from another server or a file: limits are for new requests */
    uint64_t scale_to; /* keys that it must be able to grow to; 0: not requested */
    uint64_t ttl;      /* seconds; 0: it does not expire */
    bf_clock clock;    /* of a window by time */
} bf_options;

/* Starts with the defaults from the settings. */
void bf_options_init(bf_options *options, RedisModuleCtx *ctx);

typedef enum bf_word {
    BF_WORD_UNKNOWN,
    /* without a value */
    BF_WORD_NONSCALING,
    BF_WORD_NOCREATE,
    BF_WORD_IFNOTEXISTS,
    BF_WORD_COUNTING,
    BF_WORD_ITEMS,
    /* with one */
    BF_WORD_CAPACITY,
    BF_WORD_ERROR,
    BF_WORD_EXPANSION,
    BF_WORD_LAYOUT,
    BF_WORD_SEED,
    BF_WORD_TIGHTENING,
    BF_WORD_WINDOW,
    BF_WORD_TTL,
    BF_WORD_VALIDATESCALETO
} bf_word;

static inline bool bf_word_has_value(bf_word word) {
    return word >= BF_WORD_CAPACITY;
}

/* Ignores case. */
bf_word bf_word_of(const RedisModuleString *text);

/* What can be wrong with a number whose error text differs from command to command. */
typedef enum bf_flaw { BF_FINE, BF_NO_NUMBER, BF_OUT_OF_RANGE } bf_flaw;
bf_flaw bf_options_error(bf_options *options, const RedisModuleString *value);
bf_flaw bf_options_capacity(bf_options *options, const RedisModuleString *value);
bf_flaw bf_options_expansion(bf_options *options, const RedisModuleString *value);

/* All other options except NOCREATE, IFNOTEXISTS and ITEMS.  NULL, or the text of an error reply.
 */
const char *bf_options_parse(bf_options *options, bf_word word, const RedisModuleString *value);

/* Call once all options are parsed and the filter is to be created: derives layout and rate, draws
 * a secret if none was given.  NULL, or the text of the error reply if options conflict. */
const char *bf_options_settle(bf_options *options);

#endif
