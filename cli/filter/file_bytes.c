/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "filter/file_bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/error.h"

struct cli_file_bytes cli_file_map(const char *path) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not block us */
    if (fd < 0 || fstat(fd, &st) != 0) cli_die_sys(path, errno);
    if (!S_ISREG(st.st_mode)) cli_die(path, "name a filter file", "is not a file");
    if ((uint64_t)st.st_size > SIZE_MAX) cli_die_sys(path, EFBIG);
    struct cli_file_bytes bytes = {.at = (const uint8_t *)"", .len = (size_t)st.st_size};
    if (bytes.len > 0) {
        void *at = mmap(NULL, bytes.len, PROT_READ, MAP_PRIVATE, fd, 0);
        if (at == MAP_FAILED) cli_die_sys(path, errno);
        bytes.at = at;
    }
    close(fd);
    return bytes;
}

void cli_file_release(struct cli_file_bytes bytes) {
    void *at = (void *)(uintptr_t)bytes.at;
    if (bytes.unpacked) {
        free(at);
    } else if (bytes.len > 0) {
        munmap(at, bytes.len);
    }
}
