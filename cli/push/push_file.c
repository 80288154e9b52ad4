/* SPDX-License-Identifier: MIT
 *
 * push_file.c - one filter from a file to a server
 */
#include "push/push.h"

#include <stdio.h>

#include "filter/filter_file.h"
#include "options/quantity.h"

static void print_summary(const cli_push *push, const cli_push_chunks *chunks) {
    char keys[CLI_QUANTITY], size[CLI_QUANTITY], size_before[CLI_QUANTITY], resumed[80] = "";
    if (push->quiet) return;
    if (push->resumed) {
        snprintf(resumed, sizeof resumed, ", %s of it sent by an earlier run",
                 cli_size_text(push->resumed, size_before));
    }
    fprintf(stderr, "%s at %s: %s, %s%s\n", push->name, cli_connection_name(push->server),
            cli_count_noun(chunks->keys, "key", keys), cli_size_text(chunks->bits_len, size),
            resumed);
}

int cli_push_file(const cli_settings *s) {
    cli_push push = {.name = s->redis_key, .force = s->force, .quiet = s->quiet};
    umbel_filter *f = cli_filter_open_verified(s->args[0], s);
    push.server = cli_connection_open(s->redis, s->auth_file, s->cluster);
    cli_push_check(&push);
    cli_push_chunks chunks = cli_push_chunks_of(f, s->args[0]);
    cli_push_upload(&push, &chunks);
    cli_push_publish(&push, &chunks);
    print_summary(&push, &chunks);
    cli_push_chunks_free(&chunks);
    umbel_free(f);
    cli_connection_close(push.server);
    return 0;
}
