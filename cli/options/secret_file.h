/* SPDX-License-Identifier: MIT
 *
 * secret_file.h - small files with keys, secrets and passwords, which no message shows
 */
#ifndef CLI_SECRET_FILE_H
#define CLI_SECRET_FILE_H

#include <stddef.h>
#include <sys/stat.h>

enum { CLI_SECRET_TEXT = 4096 };

/* Reads up to `room` bytes of a file or a pipe; exits if that fails, with the hint if there is no
 * such file. */
size_t cli_read_start(const char *path, void *bytes, size_t room, struct stat *st,
                      const char *hint);

/* Warns if everyone can read the file. */
void cli_warn_readable(const char *path, const struct stat *st);

#endif
