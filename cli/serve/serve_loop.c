/* SPDX-License-Identifier: MIT
 *
 * serve_loop.c - one thread that waits for clients, signals and the clock
 */
#define _GNU_SOURCE 1 /* accept4 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "serve/serve.h"

enum {
    EVENTS = 256,
    ROOM = SERVE_KEY_MAX + 512, /* a whole request and what surrounds it */
    REQUEST_SECONDS = 10,       /* from its first byte to its last */
    IDLE_SECONDS = 600,         /* between requests: Postfix keeps its connections */
    LAST_SECONDS = 2,           /* after the signal to stop, for requests that are under way */
    SPARE_FDS = 64,
};

typedef enum source_kind { SIGNALS, SQUID, HTTP, DOOR, CLIENT } source_kind;

/* Where an event comes from. */
typedef struct source {
    source_kind kind;
    int fd;
    serve_http *http;
} source;

typedef struct client {
    source source; /* first: events point to it */
    char in[ROOM];
    size_t in_len;
    char out[SERVE_REPLY_MAX];
    size_t out_len, sent;
    time_t since;         /* the first byte of this request, or the last answer */
    bool closing, asleep; /* asleep: waiting for the client to read */
    bool answered;        /* at least once */
    struct client *previous, *next;
} client;

typedef struct loop {
    serve_lists *lists;
    const serve_options *o;
    int epoll;
    client *clients;
    unsigned connections, max_connections;
    char line[ROOM];
    size_t line_len;
    bool line_lost, input_ended, stop;
    time_t now;
} loop;

static time_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

static bool watch(loop *l, source *s, uint32_t events, int how) {
    struct epoll_event e = {.events = events, .data.ptr = s};
    return epoll_ctl(l->epoll, how, s->fd, &e) == 0;
}

/* ---- socketmap clients -------------------------------------------------------------------- */

static void hang_up(loop *l, client *c) {
    close(c->source.fd);
    if (c->previous) c->previous->next = c->next;
    if (c->next) c->next->previous = c->previous;
    if (l->clients == c) l->clients = c->next;
    l->connections--;
    free(c);
}

/* Sends the rest of a reply: 1 all of it, 0 later, -1 the client is gone. */
static int send_reply(client *c) {
    while (c->sent < c->out_len) {
        ssize_t n = send(c->source.fd, c->out + c->sent, c->out_len - c->sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno == EAGAIN ? 0 : -1;
        c->sent += (size_t)n;
    }
    c->out_len = c->sent = 0;
    return 1;
}

/* Answers every whole request, one reply at a time, so that a client that does not read delays only
 * itself.  False: hang up. */
static bool answer_all(loop *l, client *c) {
    for (;;) {
        int sent = send_reply(c);
        if (sent < 0 || (sent && c->closing)) return false;
        if (!sent) break;
        bool broken;
        size_t used =
            serve_socketmap(l->lists, l->o->answer, c->in, c->in_len, c->out, &c->out_len, &broken);
        if (!used) break;
        c->closing = broken;
        c->answered = true;
        c->since = l->now;
        memmove(c->in, c->in + used, c->in_len - used);
        c->in_len -= used;
    }
    bool asleep = c->out_len > 0;
    if (asleep != c->asleep) watch(l, &c->source, asleep ? EPOLLOUT : EPOLLIN, EPOLL_CTL_MOD);
    c->asleep = asleep;
    return true;
}

static bool serve_client(loop *l, client *c) {
    if (c->asleep) return answer_all(l, c);
    ssize_t n = recv(c->source.fd, c->in + c->in_len, sizeof c->in - c->in_len, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    if (n <= 0) return false;
    if (c->in_len == 0) c->since = l->now;
    c->in_len += (size_t)n;
    return answer_all(l, c);
}

static void refuse_client(loop *l, int fd) {
    static const char full[] = "25:TEMP too many connections,";
    (void)!send(fd, full, sizeof full - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    close(fd);
    l->lists->turned_away++;
}

static void accept_clients(loop *l, int door) {
    for (int i = 0; i < EVENTS; i++) {
        int fd = accept4(door, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) return; /* nobody is waiting, or there is no descriptor: clients keep waiting */
        client *c = l->connections < l->max_connections ? calloc(1, sizeof *c) : NULL;
        if (!c) {
            refuse_client(l, fd);
            continue;
        }
        c->source = (source){.kind = CLIENT, .fd = fd};
        c->since = l->now;
        if (!watch(l, &c->source, EPOLLIN, EPOLL_CTL_ADD)) {
            refuse_client(l, fd);
            free(c);
            continue;
        }
        c->next = l->clients;
        if (c->next) c->next->previous = c;
        l->clients = c;
        l->connections++;
    }
}

/* Drops clients that do not finish a request, do not read their answer or have been idle too long.
 */
static void drop_slow(loop *l) {
    for (client *c = l->clients, *next; c; c = next) {
        next = c->next;
        time_t limit = c->in_len || c->out_len ? REQUEST_SECONDS : IDLE_SECONDS;
        if (l->now - c->since > limit) hang_up(l, c);
    }
}

/* ---- Squid -------------------------------------------------------------------------------- */

static bool write_all(const char *text, size_t len) {
    while (len > 0) {
        ssize_t n = write(STDOUT_FILENO, text, len);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        text += n;
        len -= (size_t)n;
    }
    return true;
}

/* A line that is longer than any key is answered from its beginning, with an error. */
static void answer_squid(loop *l) {
    char *end, *at = l->line;
    char reply[SERVE_REPLY_MAX];
    size_t left = l->line_len;
    while ((end = memchr(at, '\n', left))) {
        size_t len = (size_t)(end - at);
        if (!l->line_lost) {
            size_t n = serve_squid(l->lists, l->o->rewrite, at, len, reply);
            if (!write_all(reply, n)) l->stop = true;
        }
        l->line_lost = false;
        left -= len + 1;
        at = end + 1;
    }
    memmove(l->line, at, left);
    l->line_len = left;
    if (left < sizeof l->line) return;
    size_t n = l->line_lost ? 0 : serve_squid(l->lists, l->o->rewrite, l->line, left, reply);
    if (!write_all(reply, n)) l->stop = true;
    l->line_lost = true;
    l->line_len = 0;
}

static void read_squid(loop *l) {
    ssize_t n = read(STDIN_FILENO, l->line + l->line_len, sizeof l->line - l->line_len);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) {
        l->input_ended = true;
        epoll_ctl(l->epoll, EPOLL_CTL_DEL, STDIN_FILENO, NULL);
        return;
    }
    l->line_len += (size_t)n;
    answer_squid(l);
}

/* ---- the loop ----------------------------------------------------------------------------- */

static void handle_signals(loop *l, int fd) {
    struct signalfd_siginfo info;
    while (read(fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGHUP) {
            serve_lists_refresh(l->lists);
        } else {
            l->stop = true;
        }
    }
}

int serve_signals(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    int fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    if (fd < 0) cli_die_sys("serve", errno);
    return fd;
}

/* Raises the limit of descriptors to what connections may need, as far as the system allows, and
 * returns how many connections that permits.  Without a descriptor nobody could even be refused. */
static unsigned raise_descriptors(const serve_options *o) {
    struct rlimit limit;
    rlim_t protocols = o->https + (o->socketmaps != 0);
    rlim_t spare = SPARE_FDS + o->https * SERVE_HTTP_SPARE;
    rlim_t want = o->max_connections * protocols + spare;
    if (!protocols || getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= want) {
        return o->max_connections;
    }
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max < want ? limit.rlim_max : want;
    if (setrlimit(RLIMIT_NOFILE, &limit)) limit.rlim_cur = before;
    if (limit.rlim_cur >= want) return o->max_connections;
    rlim_t most = limit.rlim_cur > spare ? (limit.rlim_cur - spare) / protocols : 1;
    cli_note("serve", "only %lu descriptors are allowed, so only %lu connections per protocol",
             (unsigned long)limit.rlim_cur, (unsigned long)most);
    return (unsigned)most;
}

static void handle_event(loop *l, source *s) {
    switch (s->kind) {
    case SIGNALS: handle_signals(l, s->fd); break;
    case SQUID: read_squid(l); break;
    case HTTP: break; /* runs in every round, because of its time limits */
    case DOOR: accept_clients(l, s->fd); break;
    case CLIENT:
        if (!serve_client(l, (client *)s)) hang_up(l, (client *)s);
        break;
    }
}

/* How long to wait: at most a second, and no longer than HTTP wants. */
static int milliseconds_to_wait(const loop *l, source *https, bool file) {
    int ms = file && !l->input_ended ? 0 : 1000;
    for (size_t i = 0; i < l->o->https; i++) {
        int own = serve_http_timeout(https[i].http);
        if (own >= 0 && own < ms) ms = own;
    }
    return ms;
}

static void turn(loop *l, source *https, bool file) {
    struct epoll_event events[EVENTS];
    time_t before = l->now;
    int n = epoll_wait(l->epoll, events, EVENTS, milliseconds_to_wait(l, https, file));
    if (n < 0 && errno != EINTR) cli_die_sys("serve", errno);
    l->now = now();
    for (int i = 0; i < n; i++) handle_event(l, events[i].data.ptr);
    for (size_t i = 0; i < l->o->https; i++) serve_http_run(https[i].http);
    if (file && !l->input_ended) read_squid(l);
    if (l->now == before) return;
    drop_slow(l);
    for (size_t i = 0; i < l->o->https; i++) serve_http_tick(https[i].http, l->now);
    serve_lists_refresh(l->lists);
}

static bool busy(const loop *l, const source *https) {
    for (const client *c = l->clients; c; c = c->next) {
        if (!c->answered || c->in_len || c->out_len) return true;
    }
    size_t i = 0;
    while (i < l->o->https && !serve_http_busy(https[i].http)) i++;
    return i < l->o->https;
}

static void run(loop *l, source *https, bool file) {
    bool others = l->o->https + l->o->socketmaps > 0;
    while (!l->stop && (others || !l->input_ended)) turn(l, https, file);
    serve_remove_sockets(); /* while they are open: a closed one may be another server's */
    for (size_t i = 0; i < l->o->socketmaps; i++) {
        epoll_ctl(l->epoll, EPOLL_CTL_DEL, l->o->socketmap[i], NULL);
    }
    for (size_t i = 0; i < l->o->https; i++) serve_http_close(https[i].http);
    for (time_t last = now() + LAST_SECONDS; busy(l, https) && l->now <= last;) {
        turn(l, https, false);
    }
}

int serve_loop(serve_lists *lists, const serve_options *o) {
    loop *l = cli_alloc(sizeof *l);
    *l = (loop){.lists = lists, .o = o, .epoll = epoll_create1(EPOLL_CLOEXEC), .now = now()};
    if (l->epoll < 0) cli_die_sys("serve", errno);
    l->max_connections = raise_descriptors(o);
    source signals = {.kind = SIGNALS, .fd = o->signals};
    source squid = {.kind = SQUID, .fd = STDIN_FILENO}, doors[SERVE_SOCKETS_MAX],
           https[SERVE_SOCKETS_MAX];
    bool file = false; /* epoll refuses regular files, which are always ready */
    if (!watch(l, &signals, EPOLLIN, EPOLL_CTL_ADD)) cli_die_sys("serve", errno);
    if (o->squid && !watch(l, &squid, EPOLLIN, EPOLL_CTL_ADD)) file = true;
    if (!o->squid) l->input_ended = true;
    for (size_t i = 0; i < o->socketmaps; i++) {
        doors[i] = (source){.kind = DOOR, .fd = o->socketmap[i]};
        if (!watch(l, &doors[i], EPOLLIN, EPOLL_CTL_ADD)) cli_die_sys("serve", errno);
    }
    for (size_t i = 0; i < o->https; i++) {
        serve_http *h = serve_http_new(lists, o->http[i], l->max_connections, l->now);
        https[i] = (source){.kind = HTTP, .fd = serve_http_fd(h), .http = h};
        if (!watch(l, &https[i], EPOLLIN, EPOLL_CTL_ADD)) cli_die_sys("serve", errno);
    }
    run(l, https, file);
    while (l->clients) hang_up(l, l->clients);
    for (size_t i = 0; i < o->https; i++) serve_http_free(https[i].http);
    close(signals.fd);
    close(l->epoll);
    free(l);
    return 0;
}
