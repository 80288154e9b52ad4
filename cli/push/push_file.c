/* SPDX-License-Identifier: MIT
 *
 * push_file.c - one filter from a file to a server
 */
#define _POSIX_C_SOURCE 200809L
#include "push/push.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "options/quantity.h"
#include "options/secret_file.h"
#include "report/error.h"

/* The bytes of a file; they stay until the end of the program. */
static const uint8_t *map(const char *path, size_t *len) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0) cli_die_sys(path, errno);
    if (!S_ISREG(st.st_mode)) cli_die(path, "name a filter file", "is not a file");
    *len = (size_t)st.st_size;
    if (*len == 0) return (const uint8_t *)"";
    void *at = mmap(NULL, *len, PROT_READ, MAP_PRIVATE, fd, 0);
    if (at == MAP_FAILED) cli_die_sys(path, errno);
    close(fd);
    return at;
}

static void tell(const struct cli_push *push, const struct cli_parcel *parcel) {
    char keys[CLI_QUANTITY], size[CLI_QUANTITY], before[CLI_QUANTITY], earlier[80] = "";
    if (push->quiet) return;
    if (push->resumed) {
        snprintf(earlier, sizeof earlier, ", %s of it sent by an earlier run",
                 cli_size_text(push->resumed, before));
    }
    fprintf(stderr, "%s at %s: %s keys, %s%s\n", push->name, cli_link_name(push->link),
            cli_count_text(parcel->keys, keys), cli_size_text(parcel->bits_len, size), earlier);
}

int cli_push_file(const struct cli_settings *s) {
    struct cli_push push = {.name = s->redis_key, .force = s->force, .quiet = s->quiet};
    size_t len;
    const uint8_t *bytes = map(s->args[0], &len);
    push.link = cli_link_open(s->redis, s->auth_file, s->cluster);
    cli_push_check(&push);
    struct cli_parcel parcel = cli_parcel_of(bytes, len, s->args[0], cli_secret_of(s));
    cli_push_upload(&push, &parcel);
    cli_push_publish(&push, &parcel);
    tell(&push, &parcel);
    cli_parcel_free(&parcel);
    cli_link_close(push.link);
    return 0;
}
