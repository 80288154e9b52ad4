/* SPDX-License-Identifier: MIT
 *
 * test_lists.c - entries of block lists in all their forms
 */
#include "cases.h"

#include <stdlib.h>
#include <string.h>

#include "umbel_records.h"

static void test_forms(void **state) {
    (void)state;
    const struct {
        const char *line, *name;
        umbel_domain_form form;
    } lines[] = {
        {"example.com", "example.com", UMBEL_DOMAIN_PLAIN},
        {"  Example.COM.  \r", "Example.COM.", UMBEL_DOMAIN_PLAIN},
        {"\xef\xbb\xbf"
         "first.example",
         "first.example", UMBEL_DOMAIN_PLAIN},
        {"*.wild.example", "wild.example", UMBEL_DOMAIN_PLAIN},
        {".dot.example", "dot.example", UMBEL_DOMAIN_PLAIN},
        {"name.example # why", "name.example", UMBEL_DOMAIN_PLAIN},
        {"xn--bcher-kva.example", "xn--bcher-kva.example", UMBEL_DOMAIN_PLAIN},
        {"b\xc3\xbc"
         "cher.example",
         "b\xc3\xbc"
         "cher.example",
         UMBEL_DOMAIN_PLAIN},
        {"_dmarc.example", "_dmarc.example", UMBEL_DOMAIN_PLAIN},
        {"0.0.0.0 ads.example", "ads.example", UMBEL_DOMAIN_HOSTS},
        {"127.0.0.1\tads.example # x", "ads.example", UMBEL_DOMAIN_HOSTS},
        {":: ads.example", "ads.example", UMBEL_DOMAIN_HOSTS},
        {"fe80::1%lo0 ads.example", "ads.example", UMBEL_DOMAIN_HOSTS},
        {"127.0.0.1 localhost", NULL, UMBEL_DOMAIN_NONE},
        {"0.0.0.0 0.0.0.0", NULL, UMBEL_DOMAIN_NONE},
        {"0.0.0.0 a.example b.example", NULL, UMBEL_DOMAIN_UNKNOWN},
        {"||ads.example^", "ads.example", UMBEL_DOMAIN_ADBLOCK},
        {"||ads.example^$important", "ads.example", UMBEL_DOMAIN_ADBLOCK},
        {"||ads.example^$third-party", NULL, UMBEL_DOMAIN_UNKNOWN},
        {"||ads.example/banner^", NULL, UMBEL_DOMAIN_UNKNOWN},
        {"||ads*.example^", NULL, UMBEL_DOMAIN_UNKNOWN},
        {"||ads.example", NULL, UMBEL_DOMAIN_UNKNOWN},
        {"@@||good.example^", "good.example", UMBEL_DOMAIN_EXCEPTION},
        {"@@||good.example^$script", NULL, UMBEL_DOMAIN_UNKNOWN},
        {"bad.example CNAME .", "bad.example", UMBEL_DOMAIN_RPZ},
        {"*.bad.example 300 IN CNAME *.", "bad.example", UMBEL_DOMAIN_RPZ},
        {"bad.example A 127.0.0.1 ; local", "bad.example", UMBEL_DOMAIN_RPZ},
        {"good.example CNAME rpz-passthru.", "good.example", UMBEL_DOMAIN_EXCEPTION},
        {"$TTL 300", NULL, UMBEL_DOMAIN_NONE},
        {"@ IN SOA ns. host. 1 2 3 4 5", NULL, UMBEL_DOMAIN_NONE},
        {"  IN NS localhost.", NULL, UMBEL_DOMAIN_NONE},
        {"bad.example TXT x", NULL, UMBEL_DOMAIN_UNKNOWN},
        {"address=/ads.example/0.0.0.0", "ads.example", UMBEL_DOMAIN_DNSMASQ},
        {"server=/ads.example/", "ads.example", UMBEL_DOMAIN_DNSMASQ},
        {"local=/ads.example/", "ads.example", UMBEL_DOMAIN_DNSMASQ},
        {"address=/a.example/b.example/::", NULL, UMBEL_DOMAIN_UNKNOWN},
        {"https://user:x@Bad.example:8443/path?q", "Bad.example", UMBEL_DOMAIN_URL},
        {"bad.example/path", "bad.example", UMBEL_DOMAIN_URL},
        {"/regular expression/", NULL, UMBEL_DOMAIN_UNKNOWN},
        {"two words", NULL, UMBEL_DOMAIN_UNKNOWN},
        {"a..b", NULL, UMBEL_DOMAIN_UNKNOWN},
        {".", NULL, UMBEL_DOMAIN_UNKNOWN},
        {"", NULL, UMBEL_DOMAIN_NONE},
        {" \t\r", NULL, UMBEL_DOMAIN_NONE},
        {"# comment", NULL, UMBEL_DOMAIN_NONE},
        {"! comment", NULL, UMBEL_DOMAIN_NONE},
        {"; comment", NULL, UMBEL_DOMAIN_NONE},
        {"[Adblock Plus 2.0]", NULL, UMBEL_DOMAIN_NONE},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        size_t len = strlen(lines[i].line);
        char *exact = malloc(len ? len : 1); /* ends where its memory ends */
        umbel_key name;
        memcpy(exact, lines[i].line, len);
        umbel_domain_form form = umbel_domain_entry(exact, len, &name);
        if (form != lines[i].form) fail_msg("%s: form %d", lines[i].line, (int)form);
        if (lines[i].name) {
            assert_int_equal(name.len, strlen(lines[i].name));
            assert_memory_equal(name.data, lines[i].name, name.len);
        } else {
            assert_null(name.data);
        }
        free(exact);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
