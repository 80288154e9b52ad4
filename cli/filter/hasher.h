/* SPDX-License-Identifier: MIT
 *
 * hasher.h - hashes of keys, for commands that have no filter to compute them
 */
#ifndef CLI_HASHER_H
#define CLI_HASHER_H

#include "options/options.h"

/* A filter of 32 bytes, for umbel_hash_many; keyed if there is a secret.  Exits if it cannot be
 * made. */
umbel_filter *cli_hasher_new(const cli_settings *s);

#endif
