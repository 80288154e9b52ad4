/* SPDX-License-Identifier: MIT
 *
 * programs.c - how a program begins, runs a command, or becomes another program
 */
#define _POSIX_C_SOURCE 200809L
#include "options/programs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "options/filter_options.h"

/* Otherwise the next file opened would get the number of a closed standard descriptor, and lines
 * would be written into it.  /dev/null in the wrong direction fails like a closed descriptor. */
static void open_missing_descriptors(void) {
    for (int fd = 0; fd < 3; fd++) {
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF) {
            if (open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd) _exit(CLI_ERROR);
        }
    }
}

void cli_begin(void) {
    open_missing_descriptors();
    setvbuf(stderr, NULL, _IOLBF, BUFSIZ); /* keeps a message whole among those of others */
}

int cli_run(int (*run)(const cli_settings *s), cli_settings *s) {
    if (s->silent) cli_silence_warnings();
    cli_settle(s);
    return run(s);
}

/* Where this program is; where it was to be installed, if the system does not tell. */
static void own_folder(char folder[PATH_MAX]) {
    ssize_t len = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    if (len <= 0 || len == PATH_MAX - 1) {
        strcpy(folder, UMBEL_BINDIR);
    } else {
        folder[len] = '\0';
        *strrchr(folder, '/') = '\0';
    }
}

/* First beside umbel, as in a build tree, then where `make install` puts them. */
void cli_become(const char *name, char **argv) {
    static const char *const folders[] = {"", "/" UMBEL_TO_PROGRAMS};
    char own[PATH_MAX], path[PATH_MAX + 128];
    own_folder(own);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s%.64s/umbel-%.32s", own, folders[i], name);
        argv[0] = path;
        execv(path, argv);
        if (errno != ENOENT) cli_die_sys(path, errno);
    }
    cli_die(name, "make install puts it there", "%s is missing", path);
}
