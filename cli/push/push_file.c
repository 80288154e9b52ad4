/* SPDX-License-Identifier: MIT
 *
 * push_file.c - one filter from a file to a server
 */
#include "push/push.h"

#include <stdio.h>

#include "filter/file_bytes.h"
#include "options/quantity.h"
#include "options/secret_file.h"

static void tell(const cli_push *push, const cli_parcel *parcel) {
    char keys[CLI_QUANTITY], size[CLI_QUANTITY], before[CLI_QUANTITY], earlier[80] = "";
    if (push->quiet) return;
    if (push->resumed) {
        snprintf(earlier, sizeof earlier, ", %s of it sent by an earlier run",
                 cli_size_text(push->resumed, before));
    }
    fprintf(stderr, "%s at %s: %s keys, %s%s\n", push->name, cli_link_name(push->link),
            cli_count_text(parcel->keys, keys), cli_size_text(parcel->bits_len, size), earlier);
}

int cli_push_file(const cli_settings *s) {
    cli_push push = {.name = s->redis_key, .force = s->force, .quiet = s->quiet};
    size_t len;
    const uint8_t *bytes = map(s->args[0], &len);
    push.link = cli_link_open(s->redis, s->auth_file, s->cluster);
    cli_push_check(&push);
    cli_parcel parcel = cli_parcel_of(bytes, len, s->args[0], cli_secret_of(s));
    cli_push_upload(&push, &parcel);
    cli_push_publish(&push, &parcel);
    tell(&push, &parcel);
    cli_parcel_free(&parcel);
    cli_file_release(file);
    cli_link_close(push.link);
    return 0;
}
