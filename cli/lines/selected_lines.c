/* SPDX-License-Identifier: MIT */
#include "lines/selected_lines.h"

uint64_t cli_output_lines(cli_output *o, const cli_batch *b, uint8_t want) {
    uint64_t printed = 0;
    for (size_t i = 0; i < b->lines;) {
        if (b->hits[i] != want) {
            i++;
            continue;
        }
        size_t from = i++;
        /* Adjacent lines are written together; skipped lines leave gaps. */
        while (i < b->lines && b->hits[i] == want && b->starts[i] == b->ends[i - 1] + 1) i++;
        cli_output_write(o, b->text + b->starts[from], b->ends[i - 1] + 1 - b->starts[from]);
        printed += i - from;
    }
    if (b->idle) cli_output_flush(o);
    return printed;
}

void cli_output_header(cli_output *o, const cli_batch *b, bool *printed) {
    if (*printed || !b->header.data) return;
    cli_output_write(o, b->header.data, b->header.len);
    *printed = true;
}
