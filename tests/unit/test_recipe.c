/* SPDX-License-Identifier: MIT
 *
 * test_recipe.c - recipes: texts and their canonical form, what is refused and where, keys of
 *                 records, keys that were typed, names of columns
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "recipe/recipe.h"

static umbel_recipe *parsed(const char *text) {
    umbel_recipe *r = NULL;
    umbel_diag diag = {0};
    if (umbel_recipe_parse(text, &r, &diag)) {
        char sentence[300];
        fail_msg("%s: %s", text, umbel_explain(UMBEL_EINVAL, &diag, sentence, sizeof sentence));
    }
    return r;
}

static void test_canonical_text(void **state) {
    (void)state;
    static const char *const texts[][2] = {
        {"line", "line"},
        {"  line   upper trim ", "line trim upper"},
        {"line crlf", "line crlf"},
        {"line crlf trim", "line trim"},
        {"line type=string", "line"},
        {"line type=uint32be", "line type=uint32be"},
        {"csv column=id type=uuid", "csv column=id type=uuid"},
        {"line type=bytea", "line type=bytea"},
        {"line header", "line header"},
        {"field=2", "field=2"},
        {"field=02", "field=2"},
        {"field=2 crlf", "field=2"},
        {"field=2 delimiter=, crlf", "field=2 delimiter=comma crlf"},
        {"field=2,3,4", "field=2-4"},
        {"field=2,3-", "field=2-"},
        {"field=2-2", "field=2"},
        {"field=4,3,2", "field=4,3,2"},
        {"field=-1,1", "field=-1,1"},
        {"field=4294967295", "field=4294967295"},
        {"field=1,7 missing=empty lower delimiter=0x3b",
         "field=1,7 delimiter=; lower missing=empty"},
        {"field=1 delimiter=0x09", "field=1 delimiter=tab"},
        {"field=1 delimiter=0xA7", "field=1 delimiter=0xa7"},
        {"field=1 delimiter=\"", "field=1 delimiter=0x22"},
        {"field=1 delimiter=\" lower", "field=1 delimiter=0x22 lower"},
        {"field=1 delimiter==", "field=1 delimiter=="},
        {"field=1 delimiter=0x00", "field=1 delimiter=0x00"},
        {"csv field=2 delimiter=,", "csv field=2"},
        {"csv field=2 crlf header", "csv field=2 header"},
        {"csv column=\"e-mail address\" lower", "csv column=\"e-mail address\" lower"},
        {"csv column=\"Package\" header", "csv column=Package"},
        {"column=a,\"b\\\"c\",\"d\\\\\" delimiter=tab",
         "column=a,\"b\\\"c\",\"d\\\\\" delimiter=tab"},
        {"json=.user.email", "json=.user.email"},
        {"json=.", "json=."},
        {"json=.[0]", "json=.[0]"},
        {"json=.a[0].b[17][2]", "json=.a[0].b[17][2]"},
        {"json=.\"odd name\",.\"plain\" trim", "json=.\"odd name\",.plain trim"},
        {"json=.a crlf", "json=.a"},
        {"domain", "domain"},
        {"domain lower trim crlf", "domain"},
        {"line domain", "line domain"},
        {"field=2 delimiter=tab domain", "field=2 delimiter=tab domain"},
        {"line sha1", "line sha1"},
        {"field=1,2 sha1", "field=1-2 sha1"},
        {"line ntlm lower", "line lower ntlm"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        umbel_recipe *r = parsed(texts[i][0]);
        assert_string_equal(umbel_recipe_text(r), texts[i][1]);
        umbel_recipe *again = parsed(texts[i][1]);
        assert_string_equal(umbel_recipe_text(again), texts[i][1]);
        umbel_recipe_free(r);
        umbel_recipe_free(again);
    }
}

static void refused(const char *text, umbel_err want, const char *word, uint64_t offset,
                    const char *part_of_message) {
    umbel_recipe *r = NULL;
    umbel_diag diag = {0};
    umbel_err e = umbel_recipe_parse(text, &r, &diag);
    if (e == UMBEL_OK) fail_msg("taken: %s", text);
    assert_null(r);
    if (e != want) fail_msg("%s: error %d", text, e);
    assert_string_equal(diag.field, word);
    if (diag.offset != offset) fail_msg("%s: at %llu", text, (unsigned long long)diag.offset);
    if (!strstr(diag.what, part_of_message)) fail_msg("%s: %s", text, diag.what);
}

static void test_words_and_their_places(void **state) {
    (void)state;
    refused("", UMBEL_EINVAL, "", 0, "at least one word");
    refused("   ", UMBEL_EINVAL, "", 0, "at least one word");
    refused("line fnord", UMBEL_EVERSION, "fnord", 5, "not a word");
    refused("regex=a", UMBEL_EVERSION, "regex=a", 0, "not a word");
    refused("Line", UMBEL_EVERSION, "Line", 0, "not a word");
    refused("field", UMBEL_EVERSION, "field", 0, "not a word");
    refused("trim", UMBEL_EINVAL, "trim", 0, "begins with");
    refused("lower line", UMBEL_EINVAL, "lower", 0, "begins with");
    refused("line trim trim", UMBEL_EINVAL, "trim", 10, "twice");
    refused("line lower upper", UMBEL_EINVAL, "upper", 11, "exclude");
    refused("line upper lower", UMBEL_EINVAL, "lower", 11, "exclude");
    refused("line sha1 ntlm", UMBEL_EINVAL, "ntlm", 10, "only one of");
    refused("line type=int8 sha1", UMBEL_EINVAL, "sha1", 15, "only one of");
    refused("domain sha1", UMBEL_EINVAL, "sha1", 7, "only one of");
    refused("line field=2", UMBEL_EINVAL, "field=2", 5, "selected twice");
    refused("field=1 field=2", UMBEL_EINVAL, "field=2", 8, "twice");
    refused("field=1 json=.a", UMBEL_EINVAL, "json=.a", 8, "selected twice");
    refused("domain field=2", UMBEL_EINVAL, "field=2", 7, "before domain");
    refused("csv", UMBEL_EINVAL, "csv", 0, "needs field= or column=");
    refused("csv lower", UMBEL_EINVAL, "csv", 0, "needs field= or column=");
    refused("csv json=.a", UMBEL_EINVAL, "csv", 0, "needs field= or column=");
    refused("line delimiter=tab", UMBEL_EINVAL, "delimiter=tab", 5, "needs field=");
    refused("json=.a delimiter=tab", UMBEL_EINVAL, "delimiter=tab", 8, "needs field=");
    refused("csv field=1 delimiter=0x22", UMBEL_EINVAL, "delimiter=0x22", 12, "not in CSV");
    refused("csv field=1 delimiter=0x0a", UMBEL_EINVAL, "delimiter=0x0a", 12, "not in CSV");
    refused("json=.a header", UMBEL_EINVAL, "header", 8, "no header");
    refused("domain header", UMBEL_EINVAL, "header", 7, "no header");
    refused("line missing=empty", UMBEL_EINVAL, "missing=empty", 5, "never missing");
    refused("field=1 missing=null", UMBEL_EVERSION, "missing=null", 8, "missing=empty");
    refused("field=1 domain missing=empty", UMBEL_EINVAL, "missing=empty", 15, "not a domain");
    refused("field=1,2 domain", UMBEL_EINVAL, "domain", 10, "single part");
    refused("field=1 domain upper", UMBEL_EINVAL, "upper", 15, "lower case");
    refused("field=1- type=int64", UMBEL_EINVAL, "type=int64", 9, "single part");
    refused("line type=int65", UMBEL_EVERSION, "type=int65", 5, "not a type");
    refused("line type=", UMBEL_EVERSION, "type=", 5, "not a type");
    refused("line\ttrim", UMBEL_EINVAL, "", 4, "control");
    refused("line\ntrim", UMBEL_EINVAL, "", 4, "control");
    refused("line trim\x7f", UMBEL_EINVAL, "", 9, "control");
}

static void test_lists_and_paths_refused(void **state) {
    (void)state;
    static const char *const lists[] = {
        "field=",    "field=0",          "field=-0",           "field=-",
        "field=1,",  "field=,1",         "field=1,,2",         "field=a",
        "field=1a",  "field=1-2-3",      "field=--1",          "field=-3--1",
        "field=-3-", "field=4294967296", "field=1-4294967296", "field=18446744073709551617",
        "field=1-0", "field=0-",         "field=+1",           "field=1.5"};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        refused(lists[i], UMBEL_EINVAL, lists[i], 0, "fields are numbers");
    }
    refused("field=4-2", UMBEL_EINVAL, "field=4-2", 0, "ends before");
    refused("field=1-4294967295", UMBEL_EINVAL, "field=1-4294967295", 0, "1024");
    static const char *const paths[] = {"json=",    "json=a",      "json=.a..b",   "json=.a.",
                                        "json=.a[", "json=.a[]",   "json=.a[-1]",  "json=.a[x]",
                                        "json=..a", "json=.a.[0]", "json=.e-mail", "json=.1",
                                        "json=.a,", "json=.a[1",   "json=[0]",     "json=.a b"};
    for (size_t i = 0; i + 1 < sizeof paths / sizeof paths[0]; i++) {
        refused(paths[i], UMBEL_EINVAL, paths[i], 0, "a path is written");
    }
    refused("json=.a b", UMBEL_EVERSION, "b", 8, "not a word");
    refused("json=.a[4294967296]", UMBEL_EINVAL, "json=.a[4294967296]", 0, "index");
    refused("json=.\"a", UMBEL_EINVAL, "json=.\"a", 0, "do not close");
    refused("json=.\"a\\x\"", UMBEL_EINVAL, "json=.\"a\\x\"", 0, "in quotes");
    refused("csv column=", UMBEL_EINVAL, "column=", 4, "empty");
    refused("csv column=a,", UMBEL_EINVAL, "column=a,", 4, "empty");
    refused("csv column=\"\"", UMBEL_EINVAL, "column=\"\"", 4, "empty");
    refused("csv column=a=b", UMBEL_EINVAL, "column=a=b", 4, "in quotes");
    refused("csv column=a\"b\"", UMBEL_EINVAL, "column=a\"b\"", 4, "in quotes");
    refused("csv column=\"a\"b", UMBEL_EINVAL, "column=\"a\"b", 4, "comma");
    refused("csv column=\"a lower", UMBEL_EINVAL, "column=\"a lower", 4, "do not close");
    refused("field=1 delimiter=", UMBEL_EINVAL, "delimiter=", 8, "a delimiter is");
    refused("field=1 delimiter=ab", UMBEL_EINVAL, "delimiter=ab", 8, "a delimiter is");
    refused("field=1 delimiter=0xg0", UMBEL_EINVAL, "delimiter=0xg0", 8, "a delimiter is");
    refused("field=1 delimiter=\xc2\xa7", UMBEL_EINVAL, "delimiter=\xc2\xa7", 8, "a delimiter is");
}

/* Hostile texts: at every limit and one beyond it. */
static void test_limits(void **state) {
    (void)state;
    static char text[8192];
    strcpy(text, "field=");
    for (int i = 0; i < 64; i++) strcat(text, i ? ",1" : "1");
    umbel_recipe_free(parsed(text));
    strcat(text, ",1");
    refused(text, UMBEL_EINVAL, "field=1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", 0, "64 parts");
    umbel_recipe_free(parsed("field=1-1024"));
    refused("field=1-1025", UMBEL_EINVAL, "field=1-1025", 0, "1024");
    strcpy(text, "json=");
    for (int i = 0; i < 256; i++) strcat(text, ".a");
    umbel_recipe_free(parsed(text));
    strcat(text, ".a");
    refused(text, UMBEL_EINVAL, "json=.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a", 0, "256 steps");
    memset(text, 'x', sizeof text);
    memcpy(text, "csv column=", 11);
    text[4095] = 0;
    umbel_recipe *r = parsed(text);
    assert_string_equal(umbel_recipe_text(r), text);
    umbel_recipe_free(r);
    text[4095] = 'x';
    text[4096] = 0;
    refused(text, UMBEL_EINVAL, "", 0, "4095");
}

/* ---- Keys ---- */

static umbel_found key_of(const char *recipe, umbel_recipe_use use, const char *record, size_t len,
                          char *key) {
    umbel_recipe *r = parsed(recipe);
    umbel_key k = {record, len};
    uint8_t found = 9;
    size_t room = umbel_recipe_room(r, 1, len);
    assert_true(room <= 1 << 16);
    uint8_t *exact = malloc(room + 1); /* what is written behind it is seen by AddressSanitizer */
    size_t n = umbel_recipe_apply(r, use, &k, 1, exact, &found);
    assert_int_equal(n, found == UMBEL_FOUND_KEY);
    if (found) assert_null(k.data);
    if (k.len) memcpy(key, k.data, k.len);
    key[k.len] = 0;
    free(exact);
    umbel_recipe_free(r);
    return (umbel_found)found;
}

static void expect(const char *recipe, const char *record, const char *want) {
    static char key[1 << 16];
    umbel_found found = key_of(recipe, UMBEL_USE_RECORD, record, strlen(record), key);
    if (found != UMBEL_FOUND_KEY) fail_msg("%s of %s: state %d", recipe, record, found);
    assert_string_equal(key, want);
}

static void expect_none(const char *recipe, const char *record, umbel_found want) {
    static char key[1 << 16];
    umbel_found found = key_of(recipe, UMBEL_USE_RECORD, record, strlen(record), key);
    if (found != want) fail_msg("%s of %s: state %d, %s", recipe, record, found, key);
}

static void test_lines_and_fields(void **state) {
    (void)state;
    expect("line", "  A b ", "  A b ");
    expect("line crlf", "a\r", "a");
    expect("line crlf", "\r", "");
    expect("line trim lower", " \t A b\r", "a b");
    expect("field=2", "  x  Ada\ty", "Ada");
    expect_none("field=2", "x", UMBEL_FOUND_NOTHING);
    expect_none("field=1", " ", UMBEL_FOUND_NOTHING);
    expect("field=2 missing=empty", "x", "");
    expect("field=-1", "x y z \r", "z");
    expect_none("field=-3", "x y", UMBEL_FOUND_NOTHING);
    expect("field=1,3", "a  b\tc", "a c");
    expect("field=2-", "a  b\tc d", "b c d");
    expect("field=3,1", "a b c", "c a");
    expect_none("field=1,4", "a b c", UMBEL_FOUND_NOTHING);
    expect("field=1,4 missing=empty", "a b c", "a ");
    expect("field=2 delimiter=comma", "a,,c", "");
    expect("field=1 delimiter=comma", "", "");
    expect_none("field=4 delimiter=comma", "a,b,c", UMBEL_FOUND_NOTHING);
    expect("field=-1 delimiter=comma", "a,b,c", "c");
    expect("field=-1 delimiter=comma", "a", "a");
    expect("field=-3 delimiter=comma", "a,b,c", "a");
    expect("field=2-3 delimiter=comma", "a,b,c,d", "b,c");
    expect_none("field=2-4 delimiter=comma", "a,b,c", UMBEL_FOUND_NOTHING);
    expect("field=2-4 delimiter=comma missing=empty", "a,b,c", "b,c,");
    expect("field=1,3 delimiter=comma", "a,b,c,d", "a,c");
    expect("field=2-,1 delimiter=comma", "a,b,c", "b,c,a");
    expect("field=2- delimiter=comma missing=empty", "a", "");
    expect("field=1,2 delimiter=comma trim", " a , b ", "a,b");
    expect("field=1,1 delimiter=comma", "a,b", "a,a");
    expect("field=2 delimiter=comma", "a,b\r", "b\r");
    expect_none("field=4294967295 delimiter=comma", "a,b", UMBEL_FOUND_NOTHING);
}

static void test_csv(void **state) {
    (void)state;
    expect("csv field=2", "a,\"b, \"\"c\"\"\",d", "b, \"c\"");
    expect("csv field=2", "a,b\r", "b");
    expect("csv field=2", "a,\"b\"\r", "b");
    expect("csv field=1", "a\"b,c", "a\"b");
    expect("csv field=1", "\"a\"b,c", "ab");
    expect("csv field=1", "\"a\nb\",c", "a\nb");
    expect_none("csv field=1", "\"a\nb\"x,c", UMBEL_FOUND_MALFORMED);
    expect_none("csv field=1", "a,\"b", UMBEL_FOUND_MALFORMED);
    expect_none("csv field=1", "a,\"b\"\"", UMBEL_FOUND_MALFORMED);
    expect_none("csv field=3", "a,\"b\"", UMBEL_FOUND_NOTHING);
    expect("csv field=-1", "a,\"b,c\"", "b,c");
    expect("csv field=1,3", "a,b,c", "a,c");
    expect("csv field=1,2", "\"a,x\",\"b\"", "\"a,x\",b");
    expect("csv field=2,1", "a,\"b \"\"q\"\"\"", "\"b \"\"q\"\"\",a");
    expect("csv field=2-", "a,", "\"\"");
    expect("csv field=1 delimiter=;", "\"a;b\";c", "a;b");
    expect("csv field=1", "\xef\xbb\xbf\"a,b\",c", "a,b");
    expect_none("csv column=a", "a,b", UMBEL_FOUND_NOTHING); /* not bound */
}

static void test_json(void **state) {
    (void)state;
    expect("json=.user.email", "{\"x\":[1,{\"email\":2}],\"user\":{\"id\":7,\"email\":\"a@b\"}}",
           "a@b");
    expect("json=.a", "{\"a\":\"\\u00e9\\ud83d\\ude00\\n\\\"\\/\"}",
           "\xc3\xa9\xf0\x9f\x98\x80\n\"/");
    expect("json=.a", "{\"a\":1.50e+3}", "1.50e+3");
    expect("json=.a", "{\"a\":true,\"a\":false}", "true");
    expect("json=.a[1]", "{\"a\":[0,\"x\",2]}", "x");
    expect("json=.[0].b", "[{\"b\":\"y\"}]", "y");
    expect("json=.", " \"whole\" ", "whole");
    expect("json=.\"odd name\"", "{\"odd\\u0020name\":1}", "1");
    expect("json=.a,.b", "{\"b\":\"x,y\",\"a\":1}", "1,\"x,y\"");
    expect("json=.a.b,.a.c", "{\"a\":{\"c\":2,\"b\":1}}", "1,2");
    expect_none("json=.a.b,.a", "{\"a\":1,\"z\":2}", UMBEL_FOUND_NOTHING);
}

static void test_json_without_a_key(void **state) {
    (void)state;
    static const char *const nothing[] = {"",   " ", "{}",    "{\"b\":1}", "{\"a\":null}",
                                          "[]", "1", "\"a\"", "null",      "{\"b\":{\"a\":1}}"};
    for (size_t i = 0; i < sizeof nothing / sizeof nothing[0]; i++) {
        expect_none("json=.a", nothing[i], UMBEL_FOUND_NOTHING);
    }
    static const char *const malformed[] = {"{",
                                            "{\"a\"",
                                            "{\"a\":",
                                            "{\"a\":1",
                                            "{\"a\":1,}",
                                            "{a:1}",
                                            "{\"a\":01}",
                                            "{\"a\":1.}",
                                            "{\"a\":.5}",
                                            "{\"a\":+1}",
                                            "{\"a\":1e}",
                                            "{\"a\":tru}",
                                            "{\"a\":NaN}",
                                            "{\"a\":1} x",
                                            "{\"a\":1}{}",
                                            "{\"a\":\"x}",
                                            "{\"a\":\"\\x\"}",
                                            "{\"a\":\"\\u12\"}",
                                            "{\"a\":\"\\ud800\"}",
                                            "{\"a\":\"\\udc00\"}",
                                            "{\"a\":\"\\ud800\\u0041\"}",
                                            "{\"a\":\"\t\"}",
                                            "{\"a\":\"\xff\"}",
                                            "{\"a\":\"\xc3\"}",
                                            "{\"a\":\"\xed\xa0\x80\"}",
                                            "{\"a\":\"\xe0\x80\x80\"}",
                                            "{\"a\":\"\xf4\x90\x80\x80\"}",
                                            "{\"a\":{}}",
                                            "{\"a\":[1]}",
                                            "{\"a\":1,\"b\":}",
                                            "{\"a\":1,\"b\":[}",
                                            "{\"a\":1,\"b\":[1 2]}",
                                            "{\"a\":'x'}",
                                            "]",
                                            "{]",
                                            "{\"a\":1]",
                                            "not json",
                                            "{\"a\":1,\"\xff\":2}",
                                            "{\"a\":-}",
                                            "{\"b\":[{\"c\":[1,]}]}",
                                            "\f{}",
                                            "// x"};
    for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++) {
        expect_none("json=.a", malformed[i], UMBEL_FOUND_MALFORMED);
    }
    char key[16];
    assert_int_equal(key_of("json=.a", UMBEL_USE_RECORD, "{}\0", 3, key), UMBEL_FOUND_MALFORMED);
    assert_int_equal(key_of("json=.a", UMBEL_USE_RECORD, "\0", 1, key), UMBEL_FOUND_MALFORMED);
}

static void nested(int depth, char open, char close, char *text) {
    int len = 0;
    len += sprintf(text, "{\"a\":1,\"b\":");
    for (int i = 1; i < depth; i++) {
        text[len++] = open;
        if (open == '{') len += sprintf(text + len, "\"x\":");
    }
    text[len++] = '0';
    for (int i = 1; i < depth; i++) text[len++] = close;
    strcpy(text + len, "}");
}

static void test_json_depth(void **state) {
    (void)state;
    static char text[1 << 15], path[2048] = "json=";
    nested(256, '[', ']', text);
    expect("json=.a", text, "1");
    nested(257, '[', ']', text);
    expect_none("json=.a", text, UMBEL_FOUND_MALFORMED);
    nested(256, '{', '}', text);
    expect("json=.a", text, "1");
    nested(257, '{', '}', text);
    expect_none("json=.a", text, UMBEL_FOUND_MALFORMED);
    memset(text, '[', 30000); /* a stack that is not bounded would end here */
    text[30000] = 0;
    expect_none("json=.a", text, UMBEL_FOUND_MALFORMED);
    *text = 0;
    for (int i = 0; i < 256; i++) strcat(path, ".a"), strcat(text, "{\"a\":");
    strcat(text, "7");
    for (int i = 0; i < 256; i++) strcat(text, "}");
    expect(path, text, "7");
}

static void test_meanings(void **state) {
    (void)state;
    expect("line sha1", "", "DA39A3EE5E6B4B0D3255BFEF95601890AFD80709");
    expect("line sha1", "password", "5BAA61E4C9B93F3F0682250B6CF8331B7EE68FD8");
    expect("line ntlm", "password", "8846F7EAEE8FB117AD06BDD830B7586C");
    expect("line ntlm", "", "31D6CFE0D16AE931B73C59D7E0C089C0");
    expect_none("line ntlm", "\xff", UMBEL_FOUND_MALFORMED);
    expect("field=2 delimiter=: upper sha1", "x:password",
           "112BB791304791DDCF692E29FD5CF149B35FEA37");
    expect("line type=int8", "65", "A");
    expect("line type=uint32be", "1094861636", "ABCD");
    expect_none("line type=int64", "12x", UMBEL_FOUND_MALFORMED);
    expect_none("line type=int64", "", UMBEL_FOUND_MALFORMED);
    expect_none("field=2 type=int64", "1", UMBEL_FOUND_NOTHING);
    expect("domain", " WWW.Example.COM. \r", "www.example.com");
    expect("field=2 delimiter=tab domain", "x\tExample.COM.", "example.com");
    expect_none("domain", "", UMBEL_FOUND_NOTHING);
    expect_none("domain", "  ", UMBEL_FOUND_NOTHING);
    expect_none("domain", ".", UMBEL_FOUND_MALFORMED);
    expect_none("domain", "a..b", UMBEL_FOUND_MALFORMED);
    expect("domain", ".a", "a"); /* as in lists of wildcards */
    expect_none("domain", "a b", UMBEL_FOUND_MALFORMED);
    expect_none("domain", "example.com..", UMBEL_FOUND_MALFORMED);
}

static void test_typed_keys_and_digests(void **state) {
    (void)state;
    char key[100];
    assert_int_equal(key_of("field=2 lower", UMBEL_USE_KEY, "x Ada", 5, key), UMBEL_FOUND_KEY);
    assert_string_equal(key, "x ada");
    assert_int_equal(key_of("csv column=a", UMBEL_USE_KEY, "\"", 1, key), UMBEL_FOUND_KEY);
    assert_string_equal(key, "\"");
    assert_int_equal(key_of("json=.a sha1", UMBEL_USE_KEY, "password", 8, key), UMBEL_FOUND_KEY);
    assert_string_equal(key, "5BAA61E4C9B93F3F0682250B6CF8331B7EE68FD8");
    assert_int_equal(key_of("line crlf", UMBEL_USE_KEY, "a\r", 2, key), UMBEL_FOUND_KEY);
    assert_string_equal(key, "a\r");
    static const char hash[] = "5baa61e4c9b93f3f0682250b6cf8331b7ee68fd8:17";
    assert_int_equal(
        key_of("field=1 delimiter=: sha1", UMBEL_USE_DIGEST, hash, sizeof hash - 1, key),
        UMBEL_FOUND_KEY);
    assert_string_equal(key, "5BAA61E4C9B93F3F0682250B6CF8331B7EE68FD8");
    assert_int_equal(key_of("line sha1", UMBEL_USE_DIGEST, hash, 40, key), UMBEL_FOUND_KEY);
    assert_int_equal(key_of("line sha1", UMBEL_USE_DIGEST, hash, 39, key), UMBEL_FOUND_MALFORMED);
    assert_int_equal(key_of("line sha1", UMBEL_USE_DIGEST, hash, 41, key), UMBEL_FOUND_MALFORMED);
    assert_int_equal(key_of("line ntlm", UMBEL_USE_DIGEST, hash, 32, key), UMBEL_FOUND_KEY);
    assert_int_equal(
        key_of("line ntlm", UMBEL_USE_DIGEST, "8846f7eaee8fb117ad06bdd830b7586g", 32, key),
        UMBEL_FOUND_MALFORMED);
    assert_int_equal(key_of("line", UMBEL_USE_DIGEST, "x", 1, key), UMBEL_FOUND_KEY);
}

static void test_parents(void **state) {
    (void)state;
    umbel_recipe *r = parsed("domain"), *other = parsed("line");
    umbel_key key = {"a.b.example", 11};
    assert_false(umbeli_recipe_next(other, &key));
    assert_true(umbeli_recipe_next(r, &key));
    assert_int_equal(key.len, 9);
    assert_memory_equal(key.data, "b.example", 9);
    assert_true(umbeli_recipe_next(r, &key));
    assert_memory_equal(key.data, "example", 7);
    assert_false(umbeli_recipe_next(r, &key));
    umbel_recipe_free(r);
    umbel_recipe_free(other);
}

static void test_batches_agree_with_single_records(void **state) {
    (void)state;
    static const char text[] =
        "a,b,c\n\"x,y\",2,3\n\nplain,\"q\"\"q\",z\n,,\nlast,one,here\n\"open,\n";
    static const char *const recipes[] = {"csv field=2", "csv field=1,2", "csv field=-1 lower",
                                          "csv field=2 sha1", "field=2 delimiter=comma upper"};
    for (size_t k = 0; k < sizeof recipes / sizeof recipes[0]; k++) {
        umbel_recipe *r = parsed(recipes[k]);
        umbel_key keys[8];
        uint8_t states[8];
        size_t n = 0;
        for (const char *at = text, *end; (end = strchr(at, '\n')); at = end + 1) {
            keys[n++] = (umbel_key){at, (size_t)(end - at)};
        }
        umbel_key records[8];
        memcpy(records, keys, sizeof keys);
        uint8_t *room = malloc(umbel_recipe_room(r, n, sizeof text));
        umbel_recipe_apply(r, UMBEL_USE_RECORD, keys, n, room, states);
        for (size_t i = 0; i < n; i++) {
            uint8_t alone, few[512];
            umbel_key one = records[i];
            umbel_recipe_apply(r, UMBEL_USE_RECORD, &one, 1, few, &alone);
            assert_int_equal(alone, states[i]);
            assert_int_equal(one.len, keys[i].len);
            if (one.len) assert_memory_equal(one.data, keys[i].data, one.len);
        }
        free(room);
        umbel_recipe_free(r);
    }
}

static void test_columns(void **state) {
    (void)state;
    umbel_recipe *r = parsed("csv column=\"b c\",a"), *bound = NULL;
    umbel_diag diag = {0};
    static const char header[] = "\xef\xbb\xbf"
                                 "a,x,\"b c\",a\r";
    assert_ok(umbel_recipe_bind(r, header, sizeof header - 1, &bound, NULL));
    assert_string_equal(umbel_recipe_text(bound), umbel_recipe_text(r));
    umbel_key key = {"1,2,\"3,3\",4", 11};
    uint8_t state1, room[256];
    assert_int_equal(umbel_recipe_apply(bound, UMBEL_USE_RECORD, &key, 1, room, &state1), 1);
    assert_int_equal(key.len, 7);
    assert_memory_equal(key.data, "\"3,3\",1", 7);
    umbel_recipe_free(bound);
    bound = NULL;
    assert_int_equal(umbel_recipe_bind(r, "a,b", 3, &bound, &diag), UMBEL_EINVAL);
    assert_null(bound);
    assert_string_equal(diag.field, "b c");
    assert_string_equal(diag.what, "the header has no such column");
    assert_int_equal(umbel_recipe_bind(r, "a,\"b", 4, &bound, &diag), UMBEL_EINVAL);
    assert_string_equal(diag.field, "header");
    umbel_recipe_free(r);
    r = parsed("field=1 header");
    assert_ok(umbel_recipe_bind(r, "", 0, &bound, NULL));
    assert_int_equal(umbel_recipe_traits(bound), UMBEL_RECIPE_HEADER | UMBEL_RECIPE_CRLF);
    umbel_recipe_free(bound);
    umbel_recipe_free(r);
}

static void test_traits(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint32_t traits;
        const char *expects;
    } all[] = {
        {"line", UMBEL_RECIPE_LINE, NULL},
        {"line trim", UMBEL_RECIPE_CRLF, NULL},
        {"csv column=a",
         UMBEL_RECIPE_CSV | UMBEL_RECIPE_COLUMNS | UMBEL_RECIPE_HEADER | UMBEL_RECIPE_CRLF,
         "CSV whose quotes close"},
        {"domain", UMBEL_RECIPE_PARENTS | UMBEL_RECIPE_CRLF, "a domain name"},
        {"line ntlm", UMBEL_RECIPE_DIGEST, "UTF-8"},
        {"line type=int64", UMBEL_RECIPE_TYPED, "a valid int64"},
        {"json=.a", UMBEL_RECIPE_CRLF, "JSON with a scalar at the path"},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        umbel_recipe *r = parsed(all[i].text);
        assert_int_equal(umbel_recipe_traits(r), all[i].traits);
        if (all[i].expects) {
            assert_string_equal(umbel_recipe_expects(r), all[i].expects);
        } else {
            assert_null(umbel_recipe_expects(r));
        }
        umbel_recipe_free(r);
    }
}

/* A text that begins with each word of each group, and what it does to others of the group. */
static void test_words(void **state) {
    (void)state;
    umbel_word word, other;
    umbel_diag diag = {0};
    umbel_recipe *r = NULL;
    assert_int_equal(umbel_recipe_parse("trim", &r, &diag), UMBEL_EINVAL);
    assert_non_null(strstr(diag.what, "begins with"));
    for (uint32_t i = 0; umbel_recipe_word(i, &word); i++) {
        size_t len = strlen(word.name);
        assert_true(word.value == NULL || word.name[len - 1] == '=');
        assert_int_equal(word.option != NULL, word.help != NULL);
        bool begins = umbel_recipe_parse(word.name, &r, &diag) != UMBEL_EINVAL ||
                      !strstr(diag.what, "begins with");
        if (r) umbel_recipe_free(r);
        r = NULL;
        assert_int_equal(umbel_recipe_parse("trim", &r, &diag), UMBEL_EINVAL);
        assert_int_equal(strstr(diag.what, word.name) != NULL, begins);
        if (word.option && !word.part) {
            char text[64];
            snprintf(text, sizeof text, "field=1 delimiter=; %s", word.name);
            r = parsed(text);
            assert_non_null(strstr(umbel_recipe_text(r), word.name));
            assert_int_equal(umbel_recipe_traits(r) & word.traits, word.traits);
            umbel_recipe_free(r);
            r = NULL;
        }
        for (uint32_t k = 0; k < i && word.option && umbel_recipe_word(k, &other); k++) {
            char text[64];
            if (!other.option || word.value || word.group != other.group) continue;
            snprintf(text, sizeof text, "field=1 %s %s", word.name, other.name);
            assert_int_equal(umbel_recipe_parse(text, &r, &diag) == UMBEL_OK,
                             word.group < UMBEL_WORD_SELECT);
            if (r) umbel_recipe_free(r);
            r = NULL;
        }
    }
}

static void test_quoting_names(void **state) {
    (void)state;
    char text[32];
    assert_int_equal(umbel_recipe_quote("Package", text, sizeof text), 7);
    assert_string_equal(text, "Package");
    assert_int_equal(umbel_recipe_quote("a \"b\\", text, sizeof text), 9);
    assert_string_equal(text, "\"a \\\"b\\\\\"");
    assert_int_equal(umbel_recipe_quote("", text, sizeof text), 2);
    assert_string_equal(text, "\"\"");
    assert_int_equal(umbel_recipe_quote("abcdef", text, 4), 6);
    assert_string_equal(text, "abc");
}

enum { RECORD_MAX = 16 << 20 };

/* Feeds so many bytes of a quoted or plain record, and `after`. */
static umbel_records *fed(const char *recipe, size_t len, const char *after) {
    umbel_records *reader = NULL;
    umbel_recipe *r = parsed(recipe);
    char *text = malloc(len + strlen(after) + 1);
    assert_non_null(text);
    memset(text, 'x', len);
    if (len && *recipe == 'c') text[0] = '"';
    strcpy(text + len, after);
    assert_ok(umbel_records_new(r, UMBEL_USE_RECORD, '\n', &reader, NULL));
    assert_ok(umbel_records_feed(reader, text, len + strlen(after), false, NULL));
    umbel_recipe_free(r);
    free(text);
    return reader;
}

/* What umbel_records_next says; *len is that of the last record. */
static umbel_err next_of(umbel_records *reader, size_t *n, size_t *len) {
    umbel_records_batch batch;
    umbel_err e = umbel_records_next(reader, &batch, NULL);
    *n = e ? 0 : batch.n;
    *len = *n ? batch.records[*n - 1].len : 0;
    return e;
}

static void test_records_have_at_most_16_mib(void **state) {
    (void)state;
    static const struct {
        const char *recipe, *end; /* of a record */
    } forms[] = {{"line", "\n"}, {"csv field=1", "\"\n"}};
    size_t n, len;
    for (size_t i = 0; i < 2; i++) {
        const char *recipe = forms[i].recipe, *end = forms[i].end;
        size_t most = RECORD_MAX - strlen(end) + 1; /* with its closing quote it is full */
        umbel_records *r = fed(recipe, most, end);
        assert_ok(next_of(r, &n, &len));
        assert_int_equal(n, 1);
        assert_int_equal(len, RECORD_MAX);
        umbel_records_free(r);
        const size_t beyond[] = {most + 1, RECORD_MAX + RECORD_MAX / 2, 2 * RECORD_MAX};
        for (size_t j = 0; j < 3; j++) {
            r = fed(recipe, beyond[j], end);
            assert_int_equal(next_of(r, &n, &len), UMBEL_ELIMIT);
            umbel_records_free(r);
            r = fed(recipe, beyond[j], ""); /* no end in sight */
            assert_int_equal(next_of(r, &n, &len),
                             beyond[j] > RECORD_MAX ? UMBEL_ELIMIT : UMBEL_OK);
            umbel_records_free(r);
        }
        r = fed(recipe, RECORD_MAX, "");
        assert_ok(next_of(r, &n, &len));
        assert_int_equal(n, 0);
        assert_ok(umbel_records_feed(r, "x", 1, false, NULL));
        assert_int_equal(next_of(r, &n, &len), UMBEL_ELIMIT);
        umbel_records_free(r);
        r = fed(recipe, most, ""); /* its end comes with the last bytes, and then another one */
        assert_ok(umbel_records_feed(r, end, strlen(end), false, NULL));
        assert_ok(next_of(r, &n, &len));
        assert_int_equal(len, RECORD_MAX);
        assert_ok(umbel_records_feed(r, "x", 1, true, NULL));
        assert_ok(next_of(r, &n, &len));
        assert_int_equal(len, 1);
        umbel_records_free(r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_canonical_text),
        cmocka_unit_test(test_words_and_their_places),
        cmocka_unit_test(test_lists_and_paths_refused),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_lines_and_fields),
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_json_without_a_key),
        cmocka_unit_test(test_json_depth),
        cmocka_unit_test(test_meanings),
        cmocka_unit_test(test_typed_keys_and_digests),
        cmocka_unit_test(test_parents),
        cmocka_unit_test(test_batches_agree_with_single_records),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_traits),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_quoting_names),
        cmocka_unit_test(test_records_have_at_most_16_mib),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
