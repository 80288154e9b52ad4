/* SPDX-License-Identifier: MIT
 *
 * filter_file.h - filters named on the command line: opened, loaded, verified, saved
 */
#ifndef CLI_FILTER_FILE_H
#define CLI_FILTER_FILE_H

#include "options/filter_options.h"

/* Opened for reading, mapped; or loaded to be changed, with every checksum verified; or, to be
 * changed here and there and saved under its name with cli_filter_save_edited, without a copy.  "-"
 * is standard input, read whole, which cannot be changed in its place.  All follow --format and its
 * options and exit with a message on failure. */
umbel_filter *cli_filter_open(const char *path, const cli_settings *s);
umbel_filter *cli_filter_load(const char *path, const cli_settings *s);
umbel_filter *cli_filter_edit(const char *path, const cli_settings *s);

/* Opened for reading where some filters are keyed and others not: --secret-file is for the former.
 * cli_mappings_unchanged tells later whether the file was overwritten meanwhile. */
umbel_filter *cli_filter_open_mixed(const char *path, const cli_settings *s, bool *keyed);

/* The same without an exit: NULL, and `why`, if it cannot be opened. */
umbel_filter *cli_filter_try(const char *path, const cli_settings *s, char *why, size_t cap);

/* Opened for reading after every checksum was verified. */
umbel_filter *cli_filter_open_verified(const char *path, const cli_settings *s);

/* The same for umbel verify, with --format as well.  NULL if no option needs its keys: the
 * checksums of keyed filters can be verified without the secret. */
umbel_filter *cli_filter_verify(const char *path, const cli_settings *s);

/* Exits with a message that says how much memory such a filter needs. */
_Noreturn void cli_die_memory(const char *where, const cli_filter_params *p);

/* An empty filter; exits with a message if it cannot be made. */
umbel_filter *cli_filter_create(const cli_filter_params *p, const cli_settings *s);

/* A filter of 32 bytes, for umbel_hash_many where there is no other; keyed if there is a secret. */
umbel_filter *cli_hasher_new(const cli_settings *s);

/* Exits, before any work is done, if OUT exists and -f is not given, or if it cannot be created. */
void cli_filter_check_output(const cli_settings *s);

/* Exits if one of the files (none: standard input) is the one that will be written ("-": standard
 * output), under whatever name: its lines would be gone, or never end. */
void cli_refuse_as_input(const char *output, const char *const *files, int nfiles);

/* Waits for its turn to change OUT, before anything that goes into it is loaded, and exits if
 * meanwhile another command has made it and -f is not given. */
void cli_filter_lock_output(const cli_settings *s);

/* Writes f to path; "-" is standard output. */
void cli_filter_save(const umbel_filter *f, umbel_format format, const char *path);

/* The same after cli_filter_edit; exits, saving nothing, if the file was overwritten since. */
void cli_filter_save_edited(const umbel_filter *f, umbel_format format, const char *path);

#endif
