/* SPDX-License-Identifier: MIT
 *
 * serve.h - umbel serve: the lists, the protocols, and the loop that they share
 *
 *   serve_lists.c      filters by name, asked and replaced; what was asked, for /metrics
 *   serve_squid.c      Squid's helpers: a line in, a line out
 *   serve_socketmap.c  Postfix's socketmap: netstrings
 *   serve_http.c       HTTP, by libmicrohttpd
 *   serve_address.c    where to listen: addresses, and sockets that systemd passes
 *   serve_loop.c       one thread that waits for all of them
 *
 * There is one thread: answering takes less time than handing the question to another.  What a
 * client sends is bounded before it is kept, and parsers are functions of bytes, so that they can
 * be fuzzed.
 */
#ifndef CLI_SERVE_H
#define CLI_SERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "umbel_lookup.h"

/* ---- Lists ---- */

enum { SERVE_LISTS_MAX = 64, SERVE_KEY_MAX = 8192 };

typedef struct serve_list {
    char *name;       /* as clients say it */
    const char *path; /* for messages */
    umbel_source *source;
    umbel_source_state state; /* as it was last reported */
    bool damaged;             /* damage met by lookups in this filter was reported */
    uint64_t asked, found, unanswered;
} serve_list;

typedef struct serve_lists {
    serve_list at[SERVE_LISTS_MAX];
    size_t count;
    uint64_t refused;      /* requests that were not understood */
    uint64_t turned_away;  /* clients and requests for which there was no room */
    size_t held, max_held; /* bytes that requests take, at the moment and at most */
} serve_lists;

/* Reserves memory that a request needs for longer than one call, besides its connection; give it
 * back afterwards.  False, which is counted: there is no room. */
enum { SERVE_HELD_MAX = 64 << 20 }; /* the usual limit */
bool serve_hold(serve_lists *all, size_t bytes);
void serve_release(serve_lists *all, size_t bytes);

/* FILE or NAME=FILE; the default name is the file's without .umb.  Exits with a message if it
 * cannot be read. */
void serve_lists_add(serve_lists *all, const char *spec, const umbel_source_opts *how);
void serve_lists_free(serve_lists *all);

serve_list *serve_lists_named(serve_lists *all, const char *name, size_t len);

/* DAMAGED: there is no answer, usually because the list is damaged (umbel_lookup_texts). */
typedef enum serve_answer { SERVE_NO, SERVE_YES, SERVE_DAMAGED } serve_answer;
serve_answer serve_list_ask(serve_list *list, umbel_recipe_use use, const void *key, size_t len);

/* Many keys at once; the caller counts those that are found.  An error, which is counted,
 * is that of umbel_lookup_texts: none of them has an answer. */
umbel_err serve_list_ask_many(serve_list *list, umbel_recipe_use use, const umbel_key *keys,
                              size_t n, uint8_t *hit);

/* The first list that does not say no, and what it says.  NULL: none. */
serve_list *serve_lists_any(serve_lists *all, const void *key, size_t len, serve_answer *answer);

/* Looks for new files; reports on standard error which were replaced and which cannot be read. */
void serve_lists_refresh(serve_lists *all);

/* ---- Protocols ---- */

/* A line from Squid without its end, `[channel-ID] key ...`: writes the reply, newline included,
 * and returns its length.  `rewrite` is where a request for a listed URL goes; NULL: the answer is
 * OK or ERR.  The line is decoded in place. */
enum { SERVE_REPLY_MAX = 512 };
size_t serve_squid(serve_lists *lists, const char *rewrite, char *line, size_t len,
                   char reply[SERVE_REPLY_MAX]);

/* Answers the first request among these bytes with a netstring and returns the length of the
 * request, 0 if it is not complete.  `answer` is what a listed key maps to.  *broken: no further
 * request can be found, so close after the reply. */
size_t serve_socketmap(serve_lists *lists, const char *answer, const char *bytes, size_t len,
                       char reply[SERVE_REPLY_MAX], size_t *reply_len, bool *broken);

/* ---- Addresses: serve_address.c ---- */

/* A listening socket: unix:PATH, PORT, HOST:PORT, [HOST]:PORT.  Exits with a message, and unless
 * `anywhere` refuses what other machines could reach.  A Unix socket has this mode from the moment
 * at which it exists, whatever the umask; connecting takes the permission to write. */
enum { SERVE_SOCKETS_MAX = 8, SERVE_MADE_MAX = 2 * SERVE_SOCKETS_MAX, SERVE_SOCKET_MODE = 0666 };
int serve_listen(const char *address, bool anywhere, mode_t mode);
bool serve_is_unix(const char *address);

/* Removes the Unix sockets that serve_listen made, which are still open, so that no other server
 * has taken their place.  Also happens when an error ends the program. */
void serve_remove_sockets(void);

/* The next socket that systemd passes under this name; -1: no more.  Start with *at 0. */
int serve_inherited(const char *name, int *at);

/* How many it passes in all. */
size_t serve_inherited_count(void);

/* ---- HTTP: serve_http.c ---- */

typedef struct serve_http serve_http;

/* Connections beyond the limit that are accepted in order to be refused politely. */
enum { SERVE_HTTP_SPARE = 64 };

/* Answers on a listening socket.  Exits with a message if umbel was built without libmicrohttpd.
 * `now` is in seconds of a monotonic clock. */
serve_http *serve_http_new(serve_lists *lists, int fd, unsigned max_connections, time_t now);
void serve_http_free(serve_http *h);
int serve_http_fd(const serve_http *h); /* becomes readable when there is something to do */
void serve_http_run(serve_http *h);
void serve_http_tick(serve_http *h, time_t now); /* once per second: ends slow requests */
int serve_http_timeout(const serve_http *h);     /* in ms, until it wants to run anyway; -1: none */
void serve_http_close(serve_http *h);            /* stops accepting clients */
bool serve_http_busy(const serve_http *h);       /* a client has asked, or is about to */

/* ---- The loop ---- */

/* From here on SIGHUP, SIGTERM and SIGINT wait for the loop: call it before the first socket is
 * made, so that whoever has seen one can end the program and the socket. */
int serve_signals(void);

typedef struct serve_options {
    int signals; /* of serve_signals */
    const char *answer, *rewrite;
    bool squid; /* on standard input and output */
    unsigned max_connections;
    int socketmap[SERVE_SOCKETS_MAX], http[SERVE_SOCKETS_MAX];
    size_t socketmaps, https;
} serve_options;

/* Runs until SIGTERM or SIGINT or, for Squid's helper alone, the end of its input.  Clients
 * accepted before the signal still get their answer; those that wait on a socket from systemd are
 * left to the next server on it. */
int serve_loop(serve_lists *lists, const serve_options *o);

#endif
