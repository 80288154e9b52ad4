/* SPDX-License-Identifier: MIT
 *
 * load.c - sends one command repeatedly and reports what it cost the server
 *
 *   load PORT COMMAND KEY FIRST ITEMS PER DEPTH
 *
 * A % in KEY stands for the number of the command, so that each has a separate key.  Items are 16
 * bytes, taken from an endless sequence starting at FIRST; PER of them go into a command, and DEPTH
 * commands are sent together before their answers are read.  Requests are prepared in advance, slab
 * by slab.  Prints CPU seconds of the server's main thread, seconds of wall-clock time, and how
 * many answers were 1.
 */
#define _POSIX_C_SOURCE 200809L
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { ITEM = 16, SLAB = 64 << 20, ANSWERS = 1 << 20 };

struct load {
    int server;
    const char *command, *key;
    uint64_t next, left, per, depth, commands;
    char *slab;
    size_t *ends; /* of the batches in it */
    size_t batches;
    char *answers;
    uint64_t ones;
    double cpu, clock;
};

static _Noreturn void die(const char *what) {
    perror(what);
    exit(2);
}

static void send_all(int to, const char *bytes, size_t len) {
    while (len) {
        ssize_t n = write(to, bytes, len);
        if (n <= 0) die("write");
        bytes += n;
        len -= (size_t)n;
    }
}

static void receive(int from, char *bytes, size_t len) {
    while (len) {
        ssize_t n = read(from, bytes, len);
        if (n <= 0) die("read");
        bytes += n;
        len -= (size_t)n;
    }
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double field(const char *text, const char *name) {
    const char *at = strstr(text, name);
    if (!at) die(name);
    return atof(at + strlen(name));
}

/* CPU seconds so far of the thread that runs commands. */
static double server_cpu(int server) {
    char text[4096], digit[2] = "";
    size_t len = 0;
    send_all(server, "INFO cpu\r\n", 10);
    receive(server, digit, 1); /* $ */
    for (receive(server, digit, 1); digit[0] != '\r'; receive(server, digit, 1)) {
        len = 10 * len + (size_t)(digit[0] - '0');
    }
    if (len + 3 > sizeof text) die("INFO cpu");
    receive(server, text, len + 3);
    text[len] = '\0';
    return field(text, "used_cpu_sys_main_thread:") + field(text, "used_cpu_user_main_thread:");
}

static uint64_t mixed(uint64_t x) {
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static size_t put_command(struct load *l, char *out) {
    char key[64], number[24] = "";
    size_t before = strcspn(l->key, "%");
    const char *after = l->key + before;
    if (*after) sprintf(number, "%llu", (unsigned long long)l->commands++);
    sprintf(key, "%.*s%s%s", (int)before, l->key, number, *after ? after + 1 : after);
    int n = sprintf(out, "*%d\r\n$%zu\r\n%s\r\n$%zu\r\n%s\r\n", (int)l->per + 2, strlen(l->command),
                    l->command, strlen(key), key);
    char *at = out + n;
    for (uint64_t i = 0; i < l->per; i++) {
        at += sprintf(at, "$%d\r\n%016llx\r\n", ITEM, (unsigned long long)mixed(l->next++));
    }
    l->left -= l->per;
    return (size_t)(at - out);
}

/* Fills the slab with whole batches. */
static void prepare(struct load *l) {
    size_t used = 0, max = l->depth * (256 + 32 * l->per);
    l->batches = 0;
    while (l->left >= l->per * l->depth && used + max <= SLAB) {
        for (uint64_t i = 0; i < l->depth; i++) used += put_command(l, l->slab + used);
        l->ends[l->batches++] = used;
    }
}

static _Noreturn void complain(const struct load *l) {
    char text[128] = "";
    if (read(l->server, text, sizeof text - 1) < 0) die("read");
    fprintf(stderr, "%s: %s\n", l->command, text);
    exit(2);
}

/* The answer to a single item is ":1\r\n" or ":0\r\n", to several items an array of these. */
static void judge(struct load *l, const char *answers, size_t head) {
    for (uint64_t c = 0; c < l->depth; c++) {
        bool fine = !head || answers[0] == '*';
        answers += head;
        for (uint64_t i = 0; i < l->per; i++, answers += 4) {
            fine &= answers[0] == ':';
            l->ones += answers[1] == '1';
        }
        if (!fine) {
            fprintf(stderr, "%s: not the answers that were expected\n", l->command);
            exit(2);
        }
    }
}

static void run_slab(struct load *l) {
    char text[32];
    size_t head = l->per > 1 || strstr(l->command, "LOOP") || strstr(l->command, ".M")
                      ? (size_t)sprintf(text, "*%d\r\n", (int)l->per)
                      : 0;
    size_t expected = l->depth * (head + 4 * l->per), at = 0;
    if (expected > ANSWERS) die("too deep");
    double cpu = server_cpu(l->server), clock = now();
    for (size_t i = 0; i < l->batches; i++) {
        send_all(l->server, l->slab + at, l->ends[i] - at);
        at = l->ends[i];
        receive(l->server, l->answers, 1);
        if (l->answers[0] == '-') complain(l); /* shorter than expected */
        receive(l->server, l->answers + 1, expected - 1);
        judge(l, l->answers, head);
    }
    l->clock += now() - clock;
    l->cpu += server_cpu(l->server) - cpu;
}

static int connect_to(int port) {
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) != 0) die("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct timeval patience = {.tv_sec = 120};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return fd;
}

int main(int argc, char **argv) {
    if (argc != 8) {
        fputs("load PORT COMMAND KEY FIRST ITEMS PER DEPTH\n", stderr);
        return 2;
    }
    struct load l = {.command = argv[2], .key = argv[3]};
    l.next = strtoull(argv[4], NULL, 10);
    l.left = strtoull(argv[5], NULL, 10);
    l.per = strtoull(argv[6], NULL, 10);
    l.depth = strtoull(argv[7], NULL, 10);
    l.slab = malloc(SLAB);
    l.ends = malloc(SLAB / 32 * sizeof *l.ends);
    l.answers = malloc(ANSWERS);
    if (!l.slab || !l.ends || !l.answers || !l.per || !l.depth) die("load");
    if (strlen(l.key) > 32) die("key");
    l.server = connect_to(atoi(argv[1]));
    for (prepare(&l); l.batches; prepare(&l)) run_slab(&l);
    printf("%.6f %.6f %llu\n", l.cpu, l.clock, (unsigned long long)l.ones);
    return 0;
}
