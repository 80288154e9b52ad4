/* SPDX-License-Identifier: MIT
 *
 * filter_file.h - filters named on the command line: opened, made, saved, or a clear word why not
 */
#ifndef CLI_FILTER_FILE_H
#define CLI_FILTER_FILE_H

#include "lines/line_key.h"
#include "options/filter_options.h"

/* The bytes of a file, mapped until the program exits. */
const uint8_t *cli_map_file(const char *path, size_t *len);

/* For reading, mapped; or to change, all of it checked.  --format and its options are obeyed. */
umbel_filter *cli_filter_open(const char *path, const cli_settings *s);
umbel_filter *cli_filter_load(const char *path, const cli_settings *s);

/* For reading where some filters are keyed and some are not: --secret-file opens the former. */
umbel_filter *cli_filter_open_mixed(const char *path, const cli_settings *s, bool *keyed);

/* For reading, after every checksum has been checked.  NULL when there is nothing to ask it: the
 * checksums of keyed filters can be checked without their key. */
umbel_filter *cli_filter_verify(const char *path, const cli_settings *s);

/* Frees a filter that was opened for reading, and the bytes that it borrows. */
void cli_filter_close(umbel_filter *f);

/* Refuses, before any work is done, an OUT that exists without -f, or that cannot be made. */
void cli_output_check(const cli_settings *s);

/* Writes it to path; "-" is standard output. */
void cli_filter_save(const umbel_filter *f, umbel_format format, const char *path);

/* The treatment recorded with the filter, with what the options add: a field given now replaces
 * the recorded one, as other input may have the key elsewhere. */
cli_key_rule cli_key_rule_of(const umbel_filter *f, const cli_settings *s);

/* The treatment that the options alone say. */
cli_key_rule cli_key_rule_given(const cli_settings *s);

/* Stores treatment and --meta in a new filter. */
void cli_filter_set_meta(umbel_filter *f, const cli_settings *s, const cli_key_rule *rule);

#endif
