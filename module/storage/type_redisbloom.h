/* SPDX-License-Identifier: MIT
 *
 * type_redisbloom.h - values in RedisBloom's layout, made from chains that were read
 */
#ifndef BF_TYPE_REDISBLOOM_H
#define BF_TYPE_REDISBLOOM_H

#include "value/value.h"

/* The value of a chain of the format redisbloom, which it owns; without memory for it the chain is
 * ended. */
umbel_err bf_redisbloom_value(umbel_filter *chain, bf_value **out, umbel_diag *diag);

/* How long RedisBloom's header says that it is, or len if that is less. */
size_t bf_redisbloom_head_len(const uint8_t *bytes, size_t len);

#endif
