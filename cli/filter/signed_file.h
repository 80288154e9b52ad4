/* SPDX-License-Identifier: MIT
 *
 * signed_file.h - --key: files that are used only if they are signed
 */
#ifndef CLI_SIGNED_FILE_H
#define CLI_SIGNED_FILE_H

#include "filter/filter_bytes.h"
#include "options/options.h"
#include "umbel_lookup.h"

#define CLI_SIGNATURE_END ".minisig"

/* The guard that --key and --not-before ask for; NULL without --key.  Exits if there is no such
 * key. */
const umbel_guard *cli_guard_of(const cli_settings *s);

/* Reads a file into memory, which cli_filter_bytes_free frees, and has it checked: the bytes that
 * are used are those that were signed, whatever becomes of the file.  A smaller number than that of
 * the file of this name that is in use (cli_signed_used) is refused. */
umbel_err cli_signed_bytes(const char *path, const cli_settings *s, cli_filter_bytes *out,
                           umbel_diag *diag);

/* A file that was checked is in use from here on. */
void cli_signed_used(const char *path, uint64_t number);

/* What the signature of the file that was checked last says. */
typedef struct cli_signature {
    uint64_t number, key;
    char comment[8193];
} cli_signature;

const cli_signature *cli_signature_last(void);

#endif
