/* SPDX-License-Identifier: MIT
 *
 * subjects.h - kinds with every kernel that this machine can run, and with a secret
 */
#ifndef SUBJECTS_H
#define SUBJECTS_H

#include "umbel.h"

typedef struct subject {
    const char *name;
    umbel_kind kind;
    const char *kernel;
    bool concurrent;
    const uint8_t *key; /* 16 bytes, or NULL */
    uint32_t cpu;       /* the features that it may use, and needs */
    uint32_t hashes;    /* of lines without a plan; 0: 8 */
} subject;

enum { SUBJECTS = 12 };
extern const subject subjects[SUBJECTS];

/* False: this machine lacks the instructions. */
bool subject_runs(const subject *s);

const subject *subject_called(const char *name);

/* The last of the kind that runs here, neither concurrent nor keyed. */
const subject *fastest_subject(umbel_kind kind);

/* A filter of this kind on this kernel; the rest from params. */
umbel_filter *subject_create(const subject *s, umbel_params params, const umbel_opts *opts);

/* The same filter decoded from its bytes, on this kernel. */
umbel_filter *subject_decode(const subject *s, const void *bytes, size_t len);

/* Runs every property on every subject, as one group of cmocka cases; the state is the subject. */
typedef struct property {
    const char *name;
    void (*test)(void **state);
} property;

int run_over_subjects(const char *group, const property *properties, size_t n);

/* Its native bytes; free() them. */
uint8_t *bytes_of(const umbel_filter *f, size_t *len);

/* Fails unless both have the same native bytes: parameters, counts, bits. */
void assert_same_bytes(const umbel_filter *a, const umbel_filter *b);

#endif
