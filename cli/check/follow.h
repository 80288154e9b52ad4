/* SPDX-License-Identifier: MIT
 *
 * follow.h - filters that are replaced on disk while lines are looked up
 */
#ifndef CLI_FOLLOW_H
#define CLI_FOLLOW_H

#include <pthread.h>
#include <sys/stat.h>

#include "filter/lookup.h"

typedef struct cli_follow {
    const cli_settings *s;
    pthread_mutex_t changing;
    pthread_rwlock_t using;
    struct stat seen[CLI_LOOKUP_MAX];        /* the files that were opened, or refused, last ... */
    struct stat seen_deltas[CLI_LOOKUP_MAX]; /* ... and the deltas beside them */
    struct stat signature[CLI_LOOKUP_MAX];   /* of those that were refused; else all zero */
} cli_follow;

/* Remembers which files the filters of the lookup are. */
void cli_follow_init(cli_follow *f, const cli_settings *s, const cli_lookup *lookup);

/* Call around each use of the lookup, from any thread.  The first reopens filters that were
 * replaced; one that cannot be opened, or has another recipe, is reported once, and the old one
 * stays. */
void cli_follow_begin(cli_follow *f, cli_lookup *lookup);
void cli_follow_end(cli_follow *f);

#endif
