/* SPDX-License-Identifier: MIT
 *
 * serve_address.c - where to listen: Unix sockets, loopback, and what systemd passes
 */
#define _GNU_SOURCE 1 /* SOCK_CLOEXEC */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "serve/serve.h"

enum { BACKLOG = 1024, FIRST_PASSED = 3, PORT_MAX = 65535 };

static int socket_of(int family, const char *address) {
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) cli_die_sys(address, errno);
    return fd;
}

static void start(int fd, const struct sockaddr *at, socklen_t len, const char *address) {
    if (bind(fd, at, len) || listen(fd, BACKLOG)) cli_die_sys(address, errno);
}

/* Removes a socket on which nobody answers, left over from an earlier server. */
static void remove_stale(const struct sockaddr_un *at, const char *address) {
    struct stat st;
    if (lstat(at->sun_path, &st)) return;
    if (!S_ISSOCK(st.st_mode)) cli_die(address, NULL, "exists and is not a socket");
    int fd = socket_of(AF_UNIX, address);
    bool alive = connect(fd, (const struct sockaddr *)at, sizeof *at) == 0 || errno == EAGAIN;
    close(fd);
    if (alive) cli_die(address, NULL, "another server is listening there");
    unlink(at->sun_path);
}

/* The Unix sockets that were made here, to be removed at the end. */
static struct made {
    char path[sizeof((struct sockaddr_un *)0)->sun_path];
    dev_t device;
    ino_t inode;
} made[SERVE_MADE_MAX];
static size_t made_count;

void serve_remove_sockets(void) {
    for (size_t i = 0; i < made_count; i++) {
        struct stat now;
        if (lstat(made[i].path, &now) == 0 && now.st_dev == made[i].device &&
            now.st_ino == made[i].inode) {
            unlink(made[i].path);
        }
    }
    made_count = 0;
}

static void remember(const char *path, const char *address) {
    struct stat st;
    if (made_count == SERVE_MADE_MAX) cli_die(address, NULL, "too many sockets");
    if (lstat(path, &st)) cli_die_sys(address, errno);
    if (made_count == 0) cli_on_exit(serve_remove_sockets);
    struct made *m = &made[made_count++];
    *m = (struct made){.device = st.st_dev, .inode = st.st_ino};
    strcpy(m->path, path);
}

/* The mode comes from the umask: until a chmod, it would be another. */
static int listen_unix(const char *path, mode_t mode, const char *address) {
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    if (!*path || strlen(path) >= sizeof at.sun_path) {
        cli_die(address, NULL, "the path is empty or too long for a socket");
    }
    strcpy(at.sun_path, path);
    remove_stale(&at, address);
    int fd = socket_of(AF_UNIX, address);
    mode_t before = umask(0777 & ~mode);
    start(fd, (const struct sockaddr *)&at, sizeof at, address);
    umask(before);
    remember(path, address);
    return fd;
}

static bool is_loopback(const struct sockaddr *at) {
    if (at->sa_family == AF_INET) {
        const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)at;
        return ntohl(four->sin_addr.s_addr) >> 24 == 127;
    }
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)at;
    return IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

/* getaddrinfo takes any number, modulo 65536, and no text as 0; it looks up names of services. */
static void check_port(const char *port, const char *address) {
    char *end;
    long number = strtol(port, &end, 10);
    if (*end == '\0' && (number < 1 || number > PORT_MAX)) {
        cli_die(address, "1 to 65535", "'%s' is not a port", port);
    }
}

static int listen_tcp(const char *host, const char *port, bool anywhere, const char *address) {
    struct addrinfo want = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *found = NULL;
    check_port(port, address);
    int e = getaddrinfo(host, port, &want, &found);
    if (e) cli_die(address, "unix:PATH, PORT or HOST:PORT", "%s", gai_strerror(e));
    if (!anywhere && !is_loopback(found->ai_addr)) {
        cli_die(address, "--anywhere allows it", "other machines could reach it");
    }
    int fd = socket_of(found->ai_family, address), yes = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    start(fd, found->ai_addr, found->ai_addrlen, address);
    freeaddrinfo(found);
    return fd;
}

bool serve_is_unix(const char *address) {
    return strncmp(address, "unix:", 5) == 0;
}

int serve_listen(const char *address, bool anywhere, mode_t mode) {
    if (serve_is_unix(address)) return listen_unix(address + 5, mode, address);
    const char *colon = strrchr(address, ':');
    if (!colon) return listen_tcp("127.0.0.1", address, anywhere, address);
    const char *from = address;
    size_t len = (size_t)(colon - address);
    if (len > 1 && *from == '[' && from[len - 1] == ']') {
        from++;
        len -= 2;
    }
    char *host = cli_strndup(from, len);
    int fd = listen_tcp(*host ? host : NULL, colon + 1, anywhere, address);
    free(host);
    return fd;
}

size_t serve_inherited_count(void) {
    const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
    if (!pid || !fds || atol(pid) != (long)getpid() || atoi(fds) < 0) return 0;
    return (size_t)atoi(fds);
}

/* sd_listen_fds_with_names, without the library: LISTEN_FDS sockets from descriptor 3 on, whose
 * names are separated by colons. */
int serve_inherited(const char *name, int *at) {
    const char *names = getenv("LISTEN_FDNAMES");
    int count = (int)serve_inherited_count(), i = 0;
    for (const char *n = names; i < count && n; i++) {
        const char *end = strchrnul(n, ':');
        bool same = (size_t)(end - n) == strlen(name) && strncmp(n, name, strlen(name)) == 0;
        n = *end ? end + 1 : NULL;
        if (i < *at || !same) continue;
        *at = i + 1;
        int fd = FIRST_PASSED + i;
        fcntl(fd, F_SETFD, FD_CLOEXEC);
        fcntl(fd, F_SETFL, O_NONBLOCK);
        return fd;
    }
    return -1;
}
