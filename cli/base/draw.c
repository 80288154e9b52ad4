/* SPDX-License-Identifier: MIT */
#include "base/draw.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "base/error.h"

void cli_draw(void *bytes, size_t len) {
    ssize_t n;
    do n = getrandom(bytes, len, 0);
    while (n < 0 && errno == EINTR);
    if (n != (ssize_t)len) cli_die("random numbers", NULL, "%s", strerror(errno));
}
