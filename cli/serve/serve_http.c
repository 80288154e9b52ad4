/* SPDX-License-Identifier: MIT
 *
 * serve_http.c - questions over HTTP: libmicrohttpd speaks the protocol, this answers
 *
 *   GET  /contains/NAME?key=K   true or false; with &found=403 that status if the key is listed
 *   POST /contains/NAME         a key per line; 1 or 0 per line back
 *   GET  /metrics               counters for Prometheus
 *   GET  /health                ok
 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "serve/serve.h"

#ifdef UMBEL_WITH_MICROHTTPD
#include <errno.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"

enum {
    IDLE_SECONDS = 30, /* between requests, and without a byte within one */
    HEAD_SECONDS = 10, /* for all of a request's head, byte by byte or not */
    BODY_SECONDS = 60, /* for all of its body and the answer */
    LINES = 1024,
    ENDS = 64,
    FIRST_ROOM = 128, /* bytes, each for the answers of eight lines */
    REPLY_BLOCK = 32 << 10,
};
static const size_t body_max = 64 << 20;

/* How long a client may take for its current request. */
typedef struct connection {
    int fd;
    time_t until;
    bool idle; /* between two requests */
    struct connection *previous, *next;
} connection;

struct serve_http {
    serve_lists *lists;
    struct MHD_Daemon *daemon;
    struct MHD_Response *yes, *no, *full, *no_room;
    int epoll; /* what the daemon waits for, and the ends of connections */
    connection *connections;
    unsigned count, max;
    time_t now;
};

/* The answers to a batch, a bit per line: as text they would take sixteen times as much while the
 * rest of the batch, or a client that does not read, is waited for. */
typedef struct answers {
    serve_lists *lists; /* which count its bytes */
    uint8_t *found;
    size_t lines, room;
} answers;

/* A batch that is being received: the unfinished last line, and the answers so far. */
typedef struct batch {
    serve_list *list; /* NULL: unknown */
    char rest[SERVE_KEY_MAX + 1];
    size_t rest_len, received, hits;
    answers *answers; /* NULL: there is no room for them, or they are being sent */
    unsigned status;  /* of the refusal; 0: none so far */
    const char *why;
} batch;

/* ---- replies ------------------------------------------------------------------------------ */

/* Gives the response away. */
static enum MHD_Result queue_text(struct MHD_Connection *c, unsigned status,
                                  struct MHD_Response *r) {
    if (!r) return MHD_NO;
    MHD_add_response_header(r, "Content-Type", "text/plain; charset=utf-8");
    enum MHD_Result queued = MHD_queue_response(c, status, r);
    MHD_destroy_response(r);
    return queued;
}

static enum MHD_Result reply_with(struct MHD_Connection *c, unsigned status, char *text, size_t len,
                                  enum MHD_ResponseMemoryMode mode) {
    return queue_text(c, status, MHD_create_response_from_buffer(len, text, mode));
}

static enum MHD_Result reply(struct MHD_Connection *c, unsigned status, const char *text) {
    return reply_with(c, status, (char *)(uintptr_t)text, strlen(text), MHD_RESPMEM_PERSISTENT);
}

static enum MHD_Result refuse(serve_http *h, struct MHD_Connection *c, unsigned status,
                              const char *why) {
    h->lists->refused++;
    return reply(c, status, why);
}

static const char damaged[] = "the list is damaged\n";

/* ---- one question ------------------------------------------------------------------------- */

/* The arguments of a URL.  What is not understood is refused, not ignored: a server that asks with
 * `found=` lets in whatever gets a 200. */
typedef struct arguments {
    umbel_key key;
    unsigned status; /* of a listed key */
    unsigned keys, founds;
    const char *wrong;
} arguments;

static enum MHD_Result take_argument(void *ctx, enum MHD_ValueKind kind, const char *name,
                                     size_t name_len, const char *value, size_t len) {
    arguments *a = ctx;
    (void)kind;
    if (name_len == 3 && memcmp(name, "key", 3) == 0 && !a->keys++) {
        a->key = (umbel_key){value, len};
    } else if (name_len == 5 && memcmp(name, "found", 5) == 0 && !a->founds++) {
        bool three = value && len == 3 && strspn(value, "0123456789") == 3;
        a->status = three ? (unsigned)atoi(value) : 0;
        if (a->status < 200 || a->status > 599) a->wrong = "found: not a status from 200 to 599\n";
    } else {
        a->wrong = "there is one key, and perhaps one found, and nothing else\n";
    }
    return MHD_YES;
}

static enum MHD_Result answer(serve_http *h, struct MHD_Connection *c, const char *name) {
    serve_list *l = serve_lists_named(h->lists, name, strlen(name));
    arguments a = {.status = MHD_HTTP_OK};
    if (!l) return refuse(h, c, MHD_HTTP_NOT_FOUND, "there is no such list\n");
    MHD_get_connection_values_n(c, MHD_GET_ARGUMENT_KIND, take_argument, &a);
    if (a.wrong) return refuse(h, c, MHD_HTTP_BAD_REQUEST, a.wrong);
    if (!a.key.data) return refuse(h, c, MHD_HTTP_BAD_REQUEST, "key: missing\n");
    if (a.key.len > SERVE_KEY_MAX) return refuse(h, c, MHD_HTTP_URI_TOO_LONG, "key: too long\n");
    switch (serve_list_ask(l, UMBEL_USE_KEY, a.key.data, a.key.len)) {
    case SERVE_YES: return MHD_queue_response(c, a.status, h->yes);
    case SERVE_DAMAGED: return reply(c, MHD_HTTP_INTERNAL_SERVER_ERROR, damaged);
    case SERVE_NO: break;
    }
    return MHD_queue_response(c, MHD_HTTP_OK, h->no);
}

/* ---- batches ------------------------------------------------------------------------------ */

static const char no_room[] = "requests take all the memory that they may: try again later\n";

static answers *new_answers(serve_lists *lists) {
    answers *a = NULL;
    if (!serve_hold(lists, sizeof *a)) return NULL;
    a = calloc(1, sizeof *a);
    if (a) {
        a->lists = lists;
    } else {
        serve_release(lists, sizeof *a);
    }
    return a;
}

static void free_answers(void *answered) {
    answers *a = answered;
    if (!a) return;
    serve_release(a->lists, sizeof *a + a->room);
    free(a->found);
    free(a);
}

static void stop(batch *b, unsigned status, const char *why) {
    if (b->status) return;
    b->status = status;
    b->why = why;
    free_answers(b->answers);
    b->answers = NULL;
}

/* Both the old and the new bytes count while they are copied. */
static bool make_room(answers *a, size_t lines) {
    size_t need = (a->lines + lines + 7) / 8, room = 2 * a->room;
    if (need <= a->room) return true;
    if (room < FIRST_ROOM) room = FIRST_ROOM;
    if (room < need) room = need;
    if (!serve_hold(a->lists, room)) return false;
    uint8_t *larger = realloc(a->found, room);
    serve_release(a->lists, larger ? a->room : room);
    if (!larger) return false;
    memset(larger + a->room, 0, room - a->room);
    a->found = larger;
    a->room = room;
    return true;
}

/* Whole lines, without their ends. */
static void ask(batch *b, umbel_key *lines, size_t n) {
    uint8_t hit[LINES];
    if (n == 0 || b->status) return;
    answers *a = b->answers;
    if (!make_room(a, n)) {
        stop(b, MHD_HTTP_SERVICE_UNAVAILABLE, no_room);
        return;
    }
    umbel_err e = serve_list_ask_many(b->list, UMBEL_USE_KEY, lines, n, hit);
    if (e) {
        b->list->unanswered += a->lines; /* those before them are not answered either */
        stop(b, e == UMBEL_ENOMEM ? MHD_HTTP_SERVICE_UNAVAILABLE : MHD_HTTP_INTERNAL_SERVER_ERROR,
             e == UMBEL_ENOMEM ? no_room : damaged);
        return;
    }
    for (size_t i = 0; i < n; i++, a->lines++) {
        a->found[a->lines / 8] |= (uint8_t)(hit[i] << a->lines % 8);
        b->hits += hit[i];
    }
}

/* Writes the answers as text, from a place in it on. */
static ssize_t read_answers(void *answered, uint64_t at, char *text, size_t len) {
    const answers *a = answered;
    size_t n = 0;
    for (; n < len && at < 2 * a->lines; n++, at++) {
        uint64_t line = at / 2;
        text[n] = at % 2 ? '\n' : (char)('0' + (a->found[line / 8] >> line % 8 & 1));
    }
    return (ssize_t)n;
}

static umbel_key line_of(const char *text, size_t len) {
    return (umbel_key){text, len && text[len - 1] == '\r' ? len - 1 : len};
}

/* Completes the line that the last piece left unfinished; returns how much of the text it used. */
static size_t finish_rest(batch *b, const char *text, size_t len) {
    const char *end = memchr(text, '\n', len);
    size_t n = end ? (size_t)(end - text) : len;
    if (b->rest_len + n > SERVE_KEY_MAX) {
        stop(b, MHD_HTTP_CONTENT_TOO_LARGE, "a line is too long\n");
        return len;
    }
    memcpy(b->rest + b->rest_len, text, n);
    b->rest_len += n;
    if (!end) return n;
    umbel_key line = line_of(b->rest, b->rest_len);
    ask(b, &line, 1);
    b->rest_len = 0;
    return n + 1;
}

static void receive(batch *b, const char *text, size_t len) {
    umbel_key lines[LINES];
    size_t n = 0, at = 0;
    b->received += len;
    if (b->received > body_max) stop(b, MHD_HTTP_CONTENT_TOO_LARGE, "more than 64 MiB\n");
    if (b->status) return;
    if (b->rest_len) at = finish_rest(b, text, len);
    for (const char *end; at < len && (end = memchr(text + at, '\n', len - at)) && !b->status;) {
        size_t line_len = (size_t)(end - text) - at;
        if (line_len > SERVE_KEY_MAX) stop(b, MHD_HTTP_CONTENT_TOO_LARGE, "a line is too long\n");
        lines[n++] = line_of(text + at, line_len);
        at += line_len + 1;
        if (n == LINES) {
            ask(b, lines, n);
            n = 0;
        }
    }
    ask(b, lines, n);
    if (at < len && !b->status) finish_rest(b, text + at, len - at);
}

static enum MHD_Result finish(serve_http *h, struct MHD_Connection *c, batch *b) {
    if (b->rest_len) { /* the last line has no end */
        umbel_key line = line_of(b->rest, b->rest_len);
        ask(b, &line, 1);
        b->rest_len = 0;
    }
    if (b->status >= 500) return reply(c, b->status, b->why); /* it was understood */
    if (b->status) return refuse(h, c, b->status, b->why);
    b->list->found += b->hits;
    struct MHD_Response *r = MHD_create_response_from_callback(
        2 * b->answers->lines, REPLY_BLOCK, read_answers, b->answers, free_answers);
    if (!r) return MHD_NO;
    b->answers = NULL;
    return queue_text(c, MHD_HTTP_OK, r);
}

/* ---- connections -------------------------------------------------------------------------- */

static connection *connection_of(struct MHD_Connection *c) {
    return MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

static void connection_changed(void *ctx, struct MHD_Connection *c, void **own,
                               enum MHD_ConnectionNotificationCode what) {
    serve_http *h = ctx;
    connection *k = *own;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        h->count++;
        *own = k = calloc(1, sizeof *k);
        if (!k) return;
        *k = (connection){
            .fd = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd,
            .until = h->now + HEAD_SECONDS,
            .next = h->connections};
        if (k->next) k->next->previous = k;
        h->connections = k;
        /* If this fails, the time limit ends the connection. */
        epoll_ctl(h->epoll, EPOLL_CTL_ADD, k->fd,
                  &(struct epoll_event){.events = EPOLLRDHUP | EPOLLONESHOT, .data.fd = k->fd});
        return;
    }
    h->count--;
    if (!k) return;
    if (k->previous) k->previous->next = k->next;
    if (k->next) k->next->previous = k->previous;
    if (h->connections == k) h->connections = k->next;
    free(k);
}

/* libmicrohttpd waits for as long as bytes trickle in.  It notices a connection that is shut down
 * here, and cleans up. */
void serve_http_tick(serve_http *h, time_t now) {
    h->now = now;
    for (connection *k = h->connections; k; k = k->next) {
        if (now > k->until) shutdown(k->fd, SHUT_RDWR);
    }
}

/* Called for the headers, then for each piece, then once more. */
static enum MHD_Result post(serve_http *h, struct MHD_Connection *c, const char *name,
                            const char *text, size_t *len, void **state) {
    batch *b = *state;
    if (!b) {
        if (!serve_hold(h->lists, sizeof *b)) {
            return MHD_queue_response(c, MHD_HTTP_SERVICE_UNAVAILABLE, h->no_room);
        }
        b = *state = calloc(1, sizeof *b);
        if (!b) {
            serve_release(h->lists, sizeof *b);
            return MHD_NO;
        }
        b->answers = new_answers(h->lists);
        if (!b->answers) stop(b, MHD_HTTP_SERVICE_UNAVAILABLE, no_room);
        b->list = serve_lists_named(h->lists, name, strlen(name));
        if (!b->list) stop(b, MHD_HTTP_NOT_FOUND, "there is no such list\n");
        return MHD_YES;
    }
    if (*len == 0) return finish(h, c, b);
    if (!b->status) receive(b, text, *len);
    *len = 0;
    return MHD_YES;
}

/* The state of a request without a body: replying before its end would close the connection. */
static char headers_seen;

static void completed(void *ctx, struct MHD_Connection *c, void **state,
                      enum MHD_RequestTerminationCode how) {
    (void)how;
    serve_http *h = ctx;
    batch *b = *state;
    *state = NULL;
    connection *k = connection_of(c);
    if (k) {
        k->until = h->now + IDLE_SECONDS; /* there is no callback when the next head begins */
        k->idle = true;
    }
    if (!b || (char *)b == &headers_seen) return;
    free_answers(b->answers);
    serve_release(h->lists, sizeof *b);
    free(b);
}

/* ---- metrics ------------------------------------------------------------------------------ */

static void put_counter(FILE *out, const serve_lists *all, const char *name, const char *help,
                        size_t field) {
    fprintf(out, "# HELP %s %s\n# TYPE %s counter\n", name, help, name);
    for (size_t i = 0; i < all->count; i++) {
        const serve_list *l = &all->at[i];
        uint64_t value;
        memcpy(&value, (const char *)l + field, sizeof value);
        fprintf(out, "%s{list=\"%s\"} %" PRIu64 "\n", name, l->name, value);
    }
}

static void put_total(FILE *out, const char *name, const char *help, uint64_t value) {
    fprintf(out, "# HELP %s %s\n# TYPE %s counter\n%s %" PRIu64 "\n", name, help, name, name,
            value);
}

static void put_gauge(FILE *out, const char *name, const char *help) {
    fprintf(out, "# HELP umbel_%s %s\n# TYPE umbel_%s gauge\n", name, help, name);
}

static enum MHD_Result metrics(serve_http *h, struct MHD_Connection *c) {
    char *text = NULL;
    size_t len = 0;
    serve_lists *all = h->lists;
    FILE *out = open_memstream(&text, &len);
    if (!out) return MHD_NO;
    put_counter(out, all, "umbel_questions_total", "Keys asked for.", offsetof(serve_list, asked));
    put_counter(out, all, "umbel_found_total", "Keys found.", offsetof(serve_list, found));
    put_counter(out, all, "umbel_unanswered_total",
                "Keys that were answered by an error, because lookups have met damage.",
                offsetof(serve_list, unanswered));
    put_counter(out, all, "umbel_reloads_total", "Files taken over.",
                offsetof(serve_list, state.replaced));
    put_counter(out, all, "umbel_reload_failures_total", "Files that could not be read.",
                offsetof(serve_list, state.refused));
    put_gauge(out, "list_bytes", "Size of the filter.");
    for (size_t i = 0; i < all->count; i++) {
        umbel_info info;
        umbel_describe(umbel_lookup_filter(umbel_source_now(all->at[i].source)), &info);
        fprintf(out, "umbel_list_bytes{list=\"%s\"} %" PRIu64 "\n", all->at[i].name, info.bytes);
    }
    put_gauge(out, "list_since_seconds", "When the filter that answers was read, since 1970.");
    for (size_t i = 0; i < all->count; i++) {
        fprintf(out, "umbel_list_since_seconds{list=\"%s\"} %" PRIu64 "\n", all->at[i].name,
                all->at[i].state.since);
    }
    put_gauge(out, "list_number", "The number it is signed with; 0: without --key, or none.");
    for (size_t i = 0; i < all->count; i++) {
        fprintf(out, "umbel_list_number{list=\"%s\"} %" PRIu64 "\n", all->at[i].name,
                all->at[i].state.number);
    }
    put_gauge(out, "list_stale", "1: the file that is there now cannot be read.");
    for (size_t i = 0; i < all->count; i++) {
        fprintf(out, "umbel_list_stale{list=\"%s\"} %d\n", all->at[i].name, all->at[i].state.stale);
    }
    put_gauge(out, "list_damaged",
              "1: lookups have met damage, so what is found is answered by an error.");
    for (size_t i = 0; i < all->count; i++) {
        fprintf(out, "umbel_list_damaged{list=\"%s\"} %d\n", all->at[i].name, all->at[i].damaged);
    }
    put_gauge(out, "request_bytes", "Memory of requests that are received or answered.");
    fprintf(out, "umbel_request_bytes %zu\n", all->held);
    put_gauge(out, "request_bytes_max", "As much as that may be: --request-memory.");
    fprintf(out, "umbel_request_bytes_max %zu\n", all->max_held);
    put_total(out, "umbel_refused_total", "Requests that were not understood.", all->refused);
    put_total(out, "umbel_turned_away_total",
              "Connections and requests for which there was no room.", all->turned_away);
    bool failed = ferror(out);
    failed |= fclose(out) != 0;
    if (failed || !text) { /* when memory runs out, fclose may succeed and leave no text */
        free(text);
        return MHD_NO;
    }
    return reply_with(c, MHD_HTTP_OK, text, len, MHD_RESPMEM_MUST_FREE);
}

/* ---- requests ----------------------------------------------------------------------------- */

static enum MHD_Result handle(void *ctx, struct MHD_Connection *c, const char *url,
                              const char *method, const char *version, const char *text,
                              size_t *len, void **state) {
    static const char contains[] = "/contains/";
    serve_http *h = ctx;
    (void)version;
    bool asks = strncmp(url, contains, sizeof contains - 1) == 0;
    const char *name = url + sizeof contains - 1;
    if (!*state) {
        connection *k = connection_of(c);
        if (k) {
            k->until = h->now + BODY_SECONDS;
            k->idle = false;
        }
        if (h->count > h->max) {
            h->lists->turned_away++;
            return MHD_queue_response(c, MHD_HTTP_SERVICE_UNAVAILABLE, h->full);
        }
    }
    if (asks && strcmp(method, "POST") == 0) return post(h, c, name, text, len, state);
    if (!*state) {
        *state = &headers_seen;
        return MHD_YES;
    }
    if (*len) { /* an unexpected body is ignored */
        *len = 0;
        return MHD_YES;
    }
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
        return refuse(h, c, MHD_HTTP_METHOD_NOT_ALLOWED, "GET, or POST for batches\n");
    }
    if (asks) return answer(h, c, name);
    if (strcmp(url, "/metrics") == 0) return metrics(h, c);
    if (strcmp(url, "/health") == 0) return reply(c, MHD_HTTP_OK, "ok\n");
    return refuse(h, c, MHD_HTTP_NOT_FOUND, "/contains/NAME?key=KEY, /metrics or /health\n");
}

static struct MHD_Response *fixed(const char *text) {
    struct MHD_Response *r = MHD_create_response_from_buffer(strlen(text), (char *)(uintptr_t)text,
                                                             MHD_RESPMEM_PERSISTENT);
    if (!r) cli_die("serve", NULL, "out of memory");
    MHD_add_response_header(r, "Content-Type", "text/plain; charset=utf-8");
    return r;
}

serve_http *serve_http_new(serve_lists *lists, int fd, unsigned max_connections, time_t now) {
    serve_http *h = cli_alloc(sizeof *h);
    *h = (serve_http){.lists = lists,
                      .yes = fixed("true\n"),
                      .no = fixed("false\n"),
                      .full = fixed("too many connections\n"),
                      .no_room = fixed(no_room),
                      .epoll = epoll_create1(EPOLL_CLOEXEC),
                      .max = max_connections,
                      .now = now};
    if (h->epoll < 0) cli_die_sys("--http", errno);
    MHD_add_response_header(h->full, "Connection", "close");
    MHD_add_response_header(h->no_room, "Connection", "close");
    h->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_TURBO, 0, NULL, NULL, handle, h, MHD_OPTION_LISTEN_SOCKET, fd,
        MHD_OPTION_CONNECTION_LIMIT, max_connections + SERVE_HTTP_SPARE,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS, MHD_OPTION_NOTIFY_COMPLETED,
        completed, h, MHD_OPTION_NOTIFY_CONNECTION, connection_changed, h, MHD_OPTION_END);
    if (!h->daemon) cli_die("--http", NULL, "the HTTP server does not start");
    int daemon = MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    if (epoll_ctl(h->epoll, EPOLL_CTL_ADD, daemon,
                  &(struct epoll_event){.events = EPOLLIN, .data.fd = daemon})) {
        cli_die_sys("--http", errno);
    }
    return h;
}

void serve_http_free(serve_http *h) {
    if (!h) return;
    MHD_stop_daemon(h->daemon);
    MHD_destroy_response(h->yes);
    MHD_destroy_response(h->no);
    MHD_destroy_response(h->full);
    MHD_destroy_response(h->no_room);
    close(h->epoll);
    free(h);
}

int serve_http_fd(const serve_http *h) {
    return h->epoll;
}

/* After a short read libmicrohttpd waits for the next edge; if the end of the connection arrived
 * with those bytes, there is none.  Shutting the socket down makes one. */
void serve_http_run(serve_http *h) {
    struct epoll_event events[ENDS];
    MHD_run(h->daemon);
    int n = epoll_wait(h->epoll, events, ENDS, 0);
    for (int i = 0; i < n; i++) {
        if (events[i].events & EPOLLRDHUP) shutdown(events[i].data.fd, SHUT_RD);
    }
}

void serve_http_close(serve_http *h) {
    int fd = MHD_quiesce_daemon(h->daemon);
    if (fd >= 0) close(fd);
}

bool serve_http_busy(const serve_http *h) {
    const connection *k = h->connections;
    while (k && k->idle) k = k->next;
    return k != NULL;
}

int serve_http_timeout(const serve_http *h) {
    MHD_UNSIGNED_LONG_LONG ms = 0;
    if (MHD_get_timeout(h->daemon, &ms) != MHD_YES) return -1;
    return ms > 1000 ? 1000 : (int)ms;
}

#else

#include "base/error.h"

serve_http *serve_http_new(serve_lists *lists, int fd, unsigned max_connections, time_t now) {
    (void)lists, (void)fd, (void)max_connections, (void)now;
    cli_die("--http", NULL, "umbel was built without libmicrohttpd");
}
void serve_http_free(serve_http *h) {
    (void)h;
}
void serve_http_tick(serve_http *h, time_t now) {
    (void)h, (void)now;
}
int serve_http_fd(const serve_http *h) {
    (void)h;
    return -1;
}
void serve_http_run(serve_http *h) {
    (void)h;
}
void serve_http_close(serve_http *h) {
    (void)h;
}
bool serve_http_busy(const serve_http *h) {
    (void)h;
    return false;
}
int serve_http_timeout(const serve_http *h) {
    (void)h;
    return -1;
}
#endif
