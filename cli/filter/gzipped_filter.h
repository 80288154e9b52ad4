/* SPDX-License-Identifier: MIT
 *
 * gzipped_filter.h - filters of format dcso that are gzip-compressed, unpacked into memory
 */
#ifndef CLI_GZIPPED_FILTER_H
#define CLI_GZIPPED_FILTER_H

#include "umbel.h"

enum {
    CLI_GZIP_RATIO = 1032,                /* deflate turns one byte into no more than these */
    CLI_GZIP_MAX_DATA = 64 * 1024 * 1024, /* after the bits: its length is not in the header */
};

/* True when the first bytes of a file are gzip's. */
bool cli_is_gzipped(const uint8_t *bytes, size_t len);
bool cli_is_gzipped_file(const char *path);

/* Unpacks all members.  Memory comes from opts->alloc and is the caller's to free; it is taken for
 * the bits only if the packed bytes could hold that many, and beyond a few KiB never more than
 * opts->max_bytes.  diag->offset is how many packed bytes were read.  UMBEL_ECORRUPT for what is
 * damaged, cut short or followed by something else, UMBEL_ELIMIT, UMBEL_ENOMEM; and what the
 * library says of the header. */
umbel_err cli_gunzip_filter(const uint8_t *packed, size_t packed_len, const umbel_opts *opts,
                            uint8_t **bytes, size_t *len, umbel_diag *diag);
umbel_err cli_gunzip_filter_file(const char *path, const umbel_opts *opts, uint8_t **bytes,
                                 size_t *len, umbel_diag *diag);

#endif
