/* SPDX-License-Identifier: MIT
 *
 * recipe_domain.c - entries of block lists in all their forms
 */
#include <string.h>

#include "recipe/recipe.h"

static bool is_blank(uint8_t c) {
    return c == ' ' || c == '\t' || c == '\r';
}

/* Removes the next word from the text; its length is 0 at the end. */
static umbeli_text word(umbeli_text *rest) {
    while (rest->len && is_blank(*rest->at)) rest->at++, rest->len--;
    umbeli_text w = {rest->at, 0};
    while (w.len < rest->len && !is_blank(w.at[w.len])) w.len++;
    rest->at += w.len;
    rest->len -= w.len;
    return w;
}

static bool is(umbeli_text t, const char *text) {
    size_t len = strlen(text);
    if (t.len != len) return false;
    for (size_t i = 0; i < len; i++) {
        uint8_t c = t.at[i];
        if ((c >= 'A' && c <= 'Z' ? c | 0x20 : c) != (uint8_t)text[i]) return false;
    }
    return true;
}

static bool begins(umbeli_text t, const char *text) {
    size_t len = strlen(text);
    return t.len >= len && memcmp(t.at, text, len) == 0;
}

static umbeli_text after(umbeli_text t, size_t n) {
    return (umbeli_text){t.at + n, t.len - n};
}

/* Letters, digits, - and _ between dots, or bytes of other scripts as they stand. */
static bool is_name(umbeli_text t) {
    uint8_t before = '.';
    if (t.len && t.at[t.len - 1] == '.') t.len--;
    for (size_t i = 0; i < t.len; i++) {
        uint8_t c = t.at[i];
        bool ok = umbeli_is_letter(c) || umbeli_is_digit(c) || c == '-' || c == '_' || c >= 0x80 ||
                  (c == '.' && before != '.');
        if (!ok) return false;
        before = c;
    }
    return t.len > 0 && before != '.';
}

/* 0.0.0.0, ::, fe80::1%lo0: digits and dots, or anything with a colon. */
static bool is_address(umbeli_text t) {
    bool digits = t.len > 0;
    for (size_t i = 0; i < t.len; i++) digits &= umbeli_is_digit(t.at[i]) || t.at[i] == '.';
    return t.len && ((digits && memchr(t.at, '.', t.len)) ||
                     (memchr(t.at, ':', t.len) && !memchr(t.at, '/', t.len)));
}

/* What follows the entry is a comment, or nothing. */
static bool ends(umbeli_text rest) {
    umbeli_text w = word(&rest);
    return w.len == 0 || *w.at == '#' || *w.at == ';';
}

/* ---- Forms ---- */

/* `||name^`, also with options that do not narrow it down. */
static umbel_domain_form adblock(umbeli_text t, umbeli_text *name) {
    const uint8_t *end = memchr(t.at, '^', t.len);
    *name = (umbeli_text){t.at, end ? (size_t)(end - t.at) : 0};
    umbeli_text rest = after(t, name->len + (end != NULL));
    bool plain = rest.len == 0 || is(rest, "$important") || is(rest, "$all");
    return end && plain && is_name(*name) ? UMBEL_DOMAIN_ADBLOCK : UMBEL_DOMAIN_UNKNOWN;
}

/* `address=/name/...`, one name. */
static umbel_domain_form dnsmasq(umbeli_text t, umbeli_text *name) {
    const uint8_t *from = memchr(t.at, '/', t.len);
    if (!from) return UMBEL_DOMAIN_UNKNOWN;
    umbeli_text rest = after(t, (size_t)(from + 1 - t.at));
    const uint8_t *end = memchr(rest.at, '/', rest.len);
    if (!end) return UMBEL_DOMAIN_UNKNOWN;
    *name = (umbeli_text){rest.at, (size_t)(end - rest.at)};
    rest = after(rest, name->len + 1);
    bool one = !memchr(rest.at, '/', rest.len);
    return one && is_name(*name) ? UMBEL_DOMAIN_DNSMASQ : UMBEL_DOMAIN_UNKNOWN;
}

/* Names that every hosts file has for the machine itself. */
static bool is_own(umbeli_text t) {
    static const char *const own[] = {"localhost",     "localhost.localdomain", "local",
                                      "broadcasthost", "ip6-localnet",          "ip6-mcastprefix",
                                      "ip6-allnodes",  "ip6-allrouters",        "ip6-allhosts",
                                      "ip6-localhost", "ip6-loopback",          "0.0.0.0"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (is(t, own[i])) return true;
    }
    return false;
}

/* `address name`; a second name would be a second key. */
static umbel_domain_form hosts(umbeli_text rest, umbeli_text *name) {
    *name = word(&rest);
    if (is_own(*name)) return UMBEL_DOMAIN_NONE;
    return ends(rest) && is_name(*name) ? UMBEL_DOMAIN_HOSTS : UMBEL_DOMAIN_UNKNOWN;
}

static bool is_number(umbeli_text t) {
    for (size_t i = 0; i < t.len; i++) {
        if (!umbeli_is_digit(t.at[i])) return false;
    }
    return t.len > 0;
}

/* `name [ttl] [IN] CNAME action`, or A and AAAA for local data; what makes the file a zone is not
 * an entry. */
static umbel_domain_form zone(umbeli_text first, umbeli_text rest, umbeli_text *name) {
    umbeli_text type = word(&rest);
    if (is_number(type)) type = word(&rest);
    if (is(type, "in")) type = word(&rest);
    if (is(type, "soa") || is(type, "ns") || is(first, "@") || begins(first, "$")) {
        return UMBEL_DOMAIN_NONE;
    }
    umbeli_text action = word(&rest);
    bool known = is(type, "cname") || is(type, "a") || is(type, "aaaa");
    if (begins(first, "*.")) first = after(first, 2);
    if (!known || !action.len || !ends(rest) || !is_name(first)) return UMBEL_DOMAIN_UNKNOWN;
    *name = first;
    return is(action, "rpz-passthru.") ? UMBEL_DOMAIN_EXCEPTION : UMBEL_DOMAIN_RPZ;
}

/* The longest host that can be a name, if every byte of it is encoded. */
enum { ENCODED_MAX = 3 * 254 };

static bool is_encoded_name(umbeli_text t) {
    uint8_t plain[ENCODED_MAX];
    return t.len <= sizeof plain && is_name(umbeli_percent_decoded(t, plain));
}

static bool has_any(umbeli_text t, const char *bytes) {
    return umbeli_before_path(t, bytes).len < t.len;
}

/* A URL or, without its scheme, `name/path`, `name?query` and `name:port`.  Those may just as well
 * be somebody's address (which does not incriminate the rest of its domain), a rule of an ad
 * blocker for a path (`name/ads*`, `name##.banner`) or a folder, and are then not understood. */
static umbel_domain_form url(umbeli_text t, umbeli_text *name) {
    umbeli_url_host found;
    if (umbeli_url(t, &found)) {
        *name = found.name;
        bool ok = found.special ? is_encoded_name(*name) : is_name(*name);
        return found.scheme && ok ? UMBEL_DOMAIN_URL : UMBEL_DOMAIN_UNKNOWN;
    }
    umbeli_text authority = umbeli_before_path(t, "/?");
    *name = umbeli_authority_host(authority);
    bool other = has_any(authority, "@") || has_any(t, "*^|$") || !has_any(*name, ".");
    return !other && is_name(*name) ? UMBEL_DOMAIN_URL : UMBEL_DOMAIN_UNKNOWN;
}

static bool is_dnsmasq(umbeli_text t) {
    return begins(t, "address=/") || begins(t, "server=/") || begins(t, "local=/");
}

static umbel_domain_form entry(umbeli_text t, umbeli_text *name) {
    umbeli_text rest = umbeli_unmarked(t), first = word(&rest);
    if (first.len == 0 || memchr("#!;[", *first.at, 4)) return UMBEL_DOMAIN_NONE;
    if (begins(first, "@@||")) {
        bool known = ends(rest) && adblock(after(first, 4), name) == UMBEL_DOMAIN_ADBLOCK;
        return known ? UMBEL_DOMAIN_EXCEPTION : UMBEL_DOMAIN_UNKNOWN;
    }
    if (begins(first, "||"))
        return ends(rest) ? adblock(after(first, 2), name) : UMBEL_DOMAIN_UNKNOWN;
    if (is_dnsmasq(first)) return ends(rest) ? dnsmasq(first, name) : UMBEL_DOMAIN_UNKNOWN;
    if (!ends(rest)) return is_address(first) ? hosts(rest, name) : zone(first, rest, name);
    if (begins(first, "$")) return UMBEL_DOMAIN_NONE;
    *name = begins(first, "*.") ? after(first, 2) : begins(first, ".") ? after(first, 1) : first;
    return is_name(*name) ? UMBEL_DOMAIN_PLAIN : url(first, name);
}

/* Whether the line has a form, even if it was not understood, in which a name is not the text. */
static bool has_form(umbeli_text t) {
    umbeli_text rest = umbeli_unmarked(t), first = word(&rest);
    return begins(first, "||") || begins(first, "@@||") || is_dnsmasq(first) ||
           (is_address(first) && !ends(rest));
}

/* ---- Recipes ---- */

umbel_domain_form umbel_domain_entry(const void *line, size_t len, umbel_key *name) {
    umbeli_text found = {NULL, 0};
    umbel_domain_form form = entry((umbeli_text){line, len}, &found);
    bool named = form != UMBEL_DOMAIN_NONE && form != UMBEL_DOMAIN_UNKNOWN;
    *name = named ? (umbel_key){found.at, found.len} : (umbel_key){NULL, 0};
    return form;
}

umbel_found umbeli_select_entry(const umbel_recipe *r, umbeli_text record, uint8_t **to,
                                umbeli_text *part) {
    (void)r;
    switch (entry(record, part)) {
    case UMBEL_DOMAIN_NONE:
    case UMBEL_DOMAIN_EXCEPTION: return UMBEL_FOUND_NOTHING;
    case UMBEL_DOMAIN_UNKNOWN: return UMBEL_FOUND_MALFORMED;
    case UMBEL_DOMAIN_URL:
        *part = umbeli_percent_decoded(*part, *to);
        *to += part->len;
        return UMBEL_FOUND_KEY;
    default: return UMBEL_FOUND_KEY;
    }
}

umbel_found umbeli_select_asked(const umbel_recipe *r, umbeli_text record, uint8_t **to,
                                umbeli_text *part) {
    umbel_found state = umbeli_select_entry(r, record, to, part);
    if (state != UMBEL_FOUND_MALFORMED || has_form(record)) return state;
    return umbeli_select_host(r, umbeli_unmarked(record), to, part);
}
