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
    umbel_clock clock; /* of a window by time */
} bf_options;

/* Starts with the defaults from the settings. */
void bf_options_init(bf_options *options, RedisModuleCtx *ctx);

/* The words of the commands, without a value and with one. */
#define BF_WORDS_ALONE(X) X(NONSCALING) X(NOCREATE) X(IFNOTEXISTS) X(COUNTING) X(ITEMS)
#define BF_WORDS_WITH_VALUE(X) \
    X(CAPACITY)                \
    X(ERROR) X(EXPANSION) X(LAYOUT) X(SEED) X(TIGHTENING) X(WINDOW) X(TTL) X(VALIDATESCALETO)

#define BF_WORD_ID(name) BF_WORD_##name,
typedef enum bf_word {
    BF_WORD_UNKNOWN,
    BF_WORDS_ALONE(BF_WORD_ID) BF_WORDS_WITH_VALUE(BF_WORD_ID)
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
