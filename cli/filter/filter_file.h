/* SPDX-License-Identifier: MIT
 *
 * filter_file.h - filters named on the command line: opened, loaded, verified, saved
 */
#ifndef CLI_FILTER_FILE_H
#define CLI_FILTER_FILE_H

#include "options/filter_options.h"

/* Opens a filter for reading, mapped; or loads it to be changed, with every checksum verified; or
 * opens it to be edited without a copy and saved under its name with cli_filter_save_edited.  "-"
 * is standard input, which is read whole and cannot be edited; neither can a list that deltas
 * follow.  All follow --format and its
 * options, and exit with a message on failure. */
umbel_filter *cli_filter_open(const char *path, const cli_settings *s);
umbel_filter *cli_filter_load(const char *path, const cli_settings *s);
umbel_filter *cli_filter_edit(const char *path, const cli_settings *s);

/* Opens a filter for reading where some are keyed and others not: --secret-file is for the former.
 * cli_mappings_unchanged tells later whether the file has been overwritten. */
umbel_filter *cli_filter_open_mixed(const char *path, const cli_settings *s, bool *keyed);

/* Does not exit: NULL, and `why`, if it cannot be opened. */
umbel_filter *cli_filter_try(const char *path, const cli_settings *s, char *why, size_t cap);

/* Verifies every checksum, then opens it for reading. */
umbel_filter *cli_filter_open_verified(const char *path, const cli_settings *s);

/* For umbel verify: NULL if the secret is missing and no option needs its keys, since the checksums
 * of keyed filters can be verified without it.  *summed: the format has checksums. */
umbel_filter *cli_filter_verify(const char *path, const cli_settings *s, bool *summed);

/* Exits with a message that says how much memory such a filter needs. */
_Noreturn void cli_die_memory(const char *where, const cli_filter_params *p);

/* An empty filter; exits with a message if it cannot be made. */
umbel_filter *cli_filter_create(const cli_filter_params *p, const cli_settings *s);

/* A filter of 32 bytes, for umbel_hash_many where there is no other; keyed if there is a secret. */
umbel_filter *cli_hasher_new(const cli_settings *s);

/* The same for a table that ends with the command: without --secret-file a new secret is drawn
 * for every run, so that nobody can prepare lines that share a place in it, or a hash. */
umbel_filter *cli_table_hasher_new(const cli_settings *s);

/* Exits if one of the files (none: standard input) is the output ("-": standard output), under
 * whatever name: its lines would be lost, or never end. */
void cli_refuse_as_input(const char *output, const char *const *files, int nfiles);

/* The same for the files that options name. */
void cli_refuse_as_given(const char *output, const cli_settings *s);

/* Exits if FILEs (none: standard input, perhaps) and options name standard input more than once:
 * all but the first would find it empty. */
void cli_refuse_stdin_twice(const cli_settings *s, bool without_files);

/* Waits for its turn to change OUT, before any work is done.  Exits if OUT cannot be created, or
 * exists, perhaps only since another command had its turn, and -f is not given. */
void cli_filter_claim_output(const cli_settings *s);

/* Writes f to path, and removes the deltas of the file before it; "-" is standard output. */
void cli_filter_save(const umbel_filter *f, umbel_format format, const char *path);

/* The same for bytes that are no filter. */
void cli_bytes_save(const void *bytes, size_t len, const char *path);

/* Saves after cli_filter_edit; exits, saving nothing, if the file has been overwritten since. */
void cli_filter_save_edited(const umbel_filter *f, umbel_format format, const char *path);

#endif
