/* SPDX-License-Identifier: MIT
 *
 * test_cli_push.c - slots and shards, addresses, and how a filter is cut into chunks
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "any_filter.h"
#include "cases.h"
#include "push/push.h"
#include "push/push_address.h"
#include "umbel_foreign.h"

static void slots(void **state) {
    (void)state;
    /* The examples of the Redis Cluster specification. */
    assert_int_equal(cli_cluster_slot("123456789"), 0x31c3);
    assert_int_equal(cli_cluster_slot("somekey"), 11058);
    assert_int_equal(cli_cluster_slot("foo{hash_tag}"), 2515);
    assert_int_equal(cli_cluster_slot("bar{hash_tag}"), 2515);
    assert_int_equal(cli_cluster_slot("{user1000}.following"),
                     cli_cluster_slot("{user1000}.followers"));
    assert_int_equal(cli_cluster_slot("foo{}{bar}"),
                     8363); /* an empty first pair: the whole name */
    assert_int_equal(cli_cluster_slot("foo{{bar}}zap"), cli_cluster_slot("{bar"));
    assert_int_equal(cli_cluster_slot("foo{bar}{zap}"), cli_cluster_slot("bar"));
}

static void sibling_names(void **state) {
    (void)state;
    static const char *const names[] = {"urls", "urls:{7}", "{a}b", "a{b",  "a}b", "{}a",
                                        "",     "}{",       "a b",  "{}{x", "}",   "{a}{b}"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *sibling = cli_sibling_name(names[i], "push:00ff"),
             *note = cli_sibling_name(sibling, "at");
        assert_int_equal(cli_cluster_slot(sibling), cli_cluster_slot(names[i]));
        assert_int_equal(cli_cluster_slot(note), cli_cluster_slot(names[i]));
        assert_string_not_equal(sibling, names[i]);
        assert_non_null(strstr(sibling, "push:00ff"));
        free(sibling);
        free(note);
    }
    char *plain = cli_sibling_name("urls", "x"), *tagged = cli_sibling_name("urls:{7}", "x");
    assert_string_equal(plain, "{urls}:x");
    assert_string_equal(tagged, "urls:{7}:x");
    free(plain);
    free(tagged);
}

static void shards(void **state) {
    (void)state;
    /* CRC-32 of "123456789" is cbf43926. */
    assert_int_equal(cli_shard_of("123456789", 9, 256), 0xcb);
    assert_int_equal(cli_shard_of("123456789", 9, 10), 7);
    assert_int_equal(cli_shard_of("", 0, 16), 0);
    assert_int_equal(cli_shard_of("any", 3, 1), 0);
    char *name = cli_shard_name("urls", 12);
    assert_string_equal(name, "urls:{12}");
    free(name);
    /* Consecutive numbers, the usual ids, are spread evenly. */
    enum { N = 7, KEYS = 70000 };
    size_t counts[N] = {0};
    for (int i = 0; i < KEYS; i++) {
        char id[16];
        int len = sprintf(id, "%d", i);
        counts[cli_shard_of(id, (size_t)len, N)]++;
    }
    for (int i = 0; i < N; i++) assert_in_range(counts[i], 9000, 11000);
}

static void addresses(void **state) {
    (void)state;
    static const struct {
        const char *text, *host;
        int port;
    } good[] = {{"localhost:7000", "localhost", 7000},
                {"localhost", "localhost", 6379},
                {"127.0.0.1:1", "127.0.0.1", 1},
                {"h:65535", "h", 65535},
                {"[::1]:7000", "::1", 7000},
                {"[::1]", "::1", 6379},
                {"::1:7000", "::1", 7000},
                {"/run/r.sock", "/run/r.sock", 0}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        cli_address a;
        assert_true(cli_parse_address(good[i].text, &a));
        assert_string_equal(a.host, good[i].host);
        assert_int_equal(a.port, good[i].port);
    }
    static const char *const bad[] = {"",        ":",      ":7000", "h:",   "h:0",
                                      "h:65536", "h:70x0", "h:-1",  "[::1", "[]:7000",
                                      "[::1]70", "[::1]:", "h: 7",  "h:+7", "[::1]:x0"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cli_address a;
        assert_false(cli_parse_address(bad[i], &a));
    }
}

static void equal_or_none(const char *given, const char *expected) {
    if (expected) {
        assert_non_null(given);
        assert_string_equal(given, expected);
    } else {
        assert_null(given);
    }
}

static void urls(void **state) {
    (void)state;
    static const struct {
        const char *text, *user, *password, *host;
        int port;
        int database; /* -1: none given */
        bool tls;
        const char *left;
    } good[] = {
        {"redis://h", NULL, NULL, "h", 6379, -1, false, "redis://h"},
        {"rediss://h:7000/", NULL, NULL, "h", 7000, -1, true, "rediss://h:7000/"},
        {"redis://h/0", NULL, NULL, "h", 6379, 0, false, "redis://h/0"},
        {"redis://[::1]:7/15", NULL, NULL, "::1", 7, 15, false, "redis://[::1]:7/15"},
        {"redis://", NULL, NULL, "localhost", 6379, -1, false, "redis://"},
        {"redis:///2", NULL, NULL, "localhost", 6379, 2, false, "redis:///2"},
        {"redis://:pw@h", NULL, "pw", "h", 6379, -1, false, "redis://:**@h"},
        {"redis://ada:pw@h:1/3", "ada", "pw", "h", 1, 3, false, "redis://ada:**@h:1/3"},
        {"redis://ada@h", "ada", NULL, "h", 6379, -1, false, "redis://ada@h"},
        {"redis://ada:@h", "ada", "", "h", 6379, -1, false, "redis://ada:@h"},
        {"redis://:@h", NULL, NULL, "h", 6379, -1, false, "redis://:@h"},
        {"redis://a%40b:%2f%3A%25%7e@h", "a@b", "/:%~", "h", 6379, -1, false,
         "redis://a%40b:************@h"},
        /* Not as the standard says, but what people type. */
        {"redis://ada:p@w:x@h", "ada", "p@w:x", "h", 6379, -1, false, "redis://ada:*****@h"},
        {"h:7000", NULL, NULL, "h", 7000, -1, false, "h:7000"},
        {"/run/r.sock", NULL, NULL, "/run/r.sock", 0, -1, false, "/run/r.sock"},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        char text[64];
        cli_server server;
        strcpy(text, good[i].text);
        assert_null(cli_parse_server(text, &server));
        equal_or_none(server.login.user, good[i].user);
        equal_or_none(server.login.password, good[i].password);
        assert_string_equal(server.at.host, good[i].host);
        assert_int_equal(server.at.port, good[i].port);
        assert_int_equal(server.tls, good[i].tls);
        assert_int_equal(server.login.database_given, good[i].database >= 0);
        if (good[i].database >= 0) assert_int_equal(server.login.database, good[i].database);
        assert_string_equal(text, good[i].left);
        cli_login_free(&server.login);
    }
    static const char *const bad[] = {
        "redis://h:",        "redis://h:0",   "redis://h:x/1",     "redis://h/x",
        "redis://h/1/",      "redis://h/-1",  "redis://h/ 1",      "redis://h/2147483648",
        "redis://h?db=1",    "redis://h/1#a", "redis://:a/b@h",    "redis://:a?b@h",
        "redis://:%@h",      "redis://:%4@h", "redis://:%4g@h",    "redis://a%zz:b@h",
        "redis://:%00@h",    "redis://[::1",  "http://h",          "unix:///run/r.sock",
        "redis://@@:secret", "REDIS://h",     "redis://:%2@h:1/1",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[64];
        cli_server server;
        strcpy(text, bad[i]);
        assert_non_null(cli_parse_server(text, &server));
        cli_login_free(&server.login);
    }
    /* A password that was not encoded, and does not stay where others can see it. */
    static const char *const plain[] = {"redis://:a/b@h", "rediss://x:a?b#c@h:1/2"};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        char text[64];
        cli_server server;
        strcpy(text, plain[i]);
        assert_non_null(strstr(cli_parse_server(text, &server), "%2F"));
        assert_null(strpbrk(strstr(text, "//") + 2, "abc"));
    }
    char path[] = "run/r.sock";
    cli_server server;
    assert_non_null(strstr(cli_parse_server(path, &server), "begins with /"));
    assert_true(cli_is_url("redis://") && cli_is_url("rediss://x"));
    assert_false(cli_is_url("redis:/x") || cli_is_url("/redis://") || cli_is_url(""));
}

static umbel_filter *filter_of(const any_params *params, size_t keys) {
    umbel_filter *f = NULL;
    assert_int_equal(any_create(params, NULL, &f, NULL), UMBEL_OK);
    for (size_t i = 0; i < keys; i++) {
        assert_int_equal(umbel_add(f, &i, sizeof i, NULL, NULL), UMBEL_OK);
    }
    return f;
}

/* Walks all chunks; returns their number. */
static size_t walk(const cli_push_chunks *p, uint64_t *borders, size_t room) {
    uint64_t offset = 0;
    size_t n = 0;
    while (offset < p->bits_len) {
        const void *bytes = NULL;
        size_t len = cli_push_chunk(p, offset, &bytes);
        assert_in_range(len, 1, 16 << 20);
        assert_non_null(bytes);
        offset += len;
        assert_true(n < room);
        borders[n++] = offset;
    }
    assert_true(offset == p->bits_len);
    return n;
}

static void native_chunks(void **state) {
    (void)state;
    uint64_t borders[64];
    any_params params = {.native = {.kind = UMBEL_KIND_BLOCKED, .bytes = 9 << 20}};
    umbel_filter *f = filter_of(&params, 100);
    cli_push_chunks p = cli_push_chunks_of(f, "test");
    assert_true(p.in.keys == 100);
    assert_int_equal(p.bits_len, 9 << 20);
    assert_int_equal(p.head.len, 136);
    /* The head is that of the file, and the chunks are its payload. */
    size_t len = (size_t)umbel_encoded_size(f, UMBEL_FMT_NATIVE);
    uint8_t *file = malloc(len);
    assert_non_null(file);
    assert_int_equal(umbel_encode(f, UMBEL_FMT_NATIVE, file, len, NULL), UMBEL_OK);
    assert_memory_equal(p.head.data, file, p.head.len);
    const void *bytes = NULL;
    size_t first = cli_push_chunk(&p, 0, &bytes);
    assert_memory_equal(bytes, file + 4096, first);
    assert_int_equal(walk(&p, borders, 64), 3);
    cli_push_chunks_free(&p);
    free(file);

    char id[sizeof p.id];
    memcpy(id, p.id, sizeof id);
    umbel_free(f);
    f = filter_of(&params, 101);
    p = cli_push_chunks_of(f, "test");
    assert_string_not_equal(p.id, id);
    cli_push_chunks_free(&p);
    umbel_free(f);
}

/* A chain of links: no chunk spans two. */
static void redisbloom_chunks(void **state) {
    (void)state;
    uint64_t borders[64];
    any_params params = {.foreign = {.format = UMBEL_FMT_REDISBLOOM, .capacity = 100, .fpr = 0.01}};
    umbel_filter *f = filter_of(&params, 650);
    umbel_info info;
    umbel_describe(f, &info);
    cli_push_chunks p = cli_push_chunks_of(f, "test");
    assert_true(info.layers >= 3);
    assert_int_equal(p.head.len, 20 + 53 * info.layers);
    assert_int_equal(walk(&p, borders, 64), info.layers);
    assert_int_equal(borders[0], 144); /* BF.RESERVE f 0.01 100 has 144 bytes */
    cli_push_chunks_free(&p);
    umbel_free(f);
}

/* The head of a keyed filter ends in its secret, without which no server could use it. */
static void keyed_heads(void **state) {
    (void)state;
    static const uint8_t secret[16] = "sixteen bytes...";
    any_params params = {.native = {.capacity = 100, .fpr = 0.01}, .secret = secret};
    umbel_filter *f = filter_of(&params, 10);
    cli_push_chunks p = cli_push_chunks_of(f, "test");
    assert_int_equal(p.head.len, 136 + 16);
    assert_memory_equal((const uint8_t *)p.head.data + 136, secret, 16);
    cli_push_chunks_free(&p);
    umbel_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots),
        cmocka_unit_test(sibling_names),
        cmocka_unit_test(shards),
        cmocka_unit_test(addresses),
        cmocka_unit_test(urls),
        cmocka_unit_test(native_chunks),
        cmocka_unit_test(redisbloom_chunks),
        cmocka_unit_test(keyed_heads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
