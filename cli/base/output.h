/* SPDX-License-Identifier: MIT
 *
 * output.h - standard output in large writes
 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <stddef.h>
#include <stdint.h>

typedef struct cli_output {
    uint8_t *buffer;
    size_t used;
} cli_output;

/* These exit if writing fails, silently if the reader is gone (EPIPE). */
void cli_output_write(cli_output *o, const void *bytes, size_t len);
void cli_output_flush(cli_output *o);

/* For reports written with stdio: exits if something could not be written. */
void cli_output_finish_stdio(void);

#endif
