/* SPDX-License-Identifier: MIT
 *
 * piped_filter.c - a filter from standard input
 */
#define _POSIX_C_SOURCE 200809L
#include "filter/piped_filter.h"

#include <errno.h>
#include <unistd.h>

#include "base/error.h"

enum { FIRST_ROOM = 64 << 10, AROUND_THE_BITS = 1 << 20 };

const uint8_t *cli_stdin_bytes(uint64_t max_bytes, size_t *len) {
    static struct {
        uint8_t *bytes;
        size_t len, room;
    } in;
    ssize_t n = in.bytes ? 0 : 1;
    while (n != 0) {
        if (in.len == in.room) {
            in.room = in.room ? 2 * in.room : FIRST_ROOM;
            in.bytes = cli_realloc(in.bytes, in.room);
        }
        n = read(STDIN_FILENO, in.bytes + in.len, in.room - in.len);
        if (n < 0 && errno != EINTR) cli_die_sys("standard input", errno);
        if (n > 0) in.len += (size_t)n;
        if (max_bytes && in.len > max_bytes && in.len - max_bytes > AROUND_THE_BITS) {
            cli_die("standard input", "--max-memory SIZE raises it",
                    "the filter is larger than --max-memory allows");
        }
    }
    *len = in.len;
    return in.bytes;
}
