/* SPDX-License-Identifier: MIT
 *
 * output.h - standard output in large writes
 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cli_output {
    uint8_t *buffer;
    size_t used;
    bool named;    /* the name of the file has been synced */
    bool unsynced; /* the file system cannot sync, which was reported */
} cli_output;

/* These exit if writing fails, silently if the reader is gone (EPIPE). */
void cli_output_write(cli_output *o, const void *bytes, size_t len);
void cli_output_flush(cli_output *o);

/* Flushes; what was written so far to a regular file then survives a power cut.  Whoever records
 * elsewhere that lines were written calls this first.  Exits with the hint if the disk fails; warns
 * where the file system cannot sync.  A pipe or a terminal is only flushed: what becomes of the
 * lines is up to their reader. */
void cli_output_sync(cli_output *o, const char *hint);

/* If standard output is a file that is appended to, and ends within a line, ends that line and says
 * so: what is written next would become a part of it. */
void cli_output_end_line(cli_output *o, uint8_t sep);

/* For reports written with stdio: exits if something could not be written. */
void cli_output_finish_stdio(void);

#endif
