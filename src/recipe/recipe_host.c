/* SPDX-License-Identifier: MIT
 *
 * recipe_host.c - the host of a URL, as RFC 3986 and the URL standard of the WHATWG see it
 *
 * A URL begins with a scheme or with two slashes; anything else is a host, with a user before it,
 * a port and a path after it, if any.  What browsers do and RFC 3986 does not is done as well, for
 * whoever is on a list picks what gets past it: backslashes, missing and additional slashes, tabs
 * and line breaks anywhere, percent-encoding.  Not done: Punycode, Unicode's other dots and
 * letters, and addresses in other notations (0x7f.1).
 */
#include <string.h>

#include "recipe/recipe.h"

static umbeli_text after(umbeli_text t, size_t n) {
    return (umbeli_text){t.at + n, t.len - n};
}

/* How many bytes come before the first of these. */
static size_t until(umbeli_text t, const char *ends) {
    size_t count = strlen(ends), i = 0;
    while (i < t.len && !memchr(ends, t.at[i], count)) i++;
    return i;
}

static bool is_slash(umbeli_text t, size_t i) {
    return i < t.len && (t.at[i] == '/' || t.at[i] == '\\');
}

/* The length of the scheme that the text begins with, without its colon; 0: there is none. */
static size_t scheme_length(umbeli_text t) {
    size_t n = 0;
    if (t.len == 0 || !umbeli_is_letter(*t.at)) return 0;
    while (n < t.len &&
           (umbeli_is_letter(t.at[n]) || umbeli_is_digit(t.at[n]) || memchr("+-.", t.at[n], 3))) {
        n++;
    }
    return n < t.len && t.at[n] == ':' ? n : 0;
}

/* The standard's special schemes, whose URLs have hosts that are names. */
static bool is_special(umbeli_text scheme) {
    static const char *const names[] = {"http", "https", "ws", "wss", "ftp", "file"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t same = 0;
        if (strlen(names[i]) != scheme.len) continue;
        while (same < scheme.len && (scheme.at[same] | 0x20) == (uint8_t)names[i][same]) same++;
        if (same == scheme.len) return true;
    }
    return false;
}

bool umbeli_url(umbeli_text t, umbeli_url_host *url) {
    size_t scheme = scheme_length(t), slashes = 0;
    umbeli_text rest = after(t, scheme + (scheme > 0));
    bool special = scheme == 0 || is_special((umbeli_text){t.at, scheme});
    bool file =
        special && scheme == 4 && (t.at[1] | 0x20) == 'i'; /* has a host after two slashes */
    while (is_slash(rest, slashes) && (!file || slashes < 2)) slashes++;
    if (!special) slashes = rest.len >= 2 && memcmp(rest.at, "//", 2) == 0 ? 2 : 0;
    if ((scheme == 0 || !special) && slashes < 2) return false;
    rest = after(rest, slashes);
    rest.len = file && slashes < 2 ? 0 : until(rest, special ? "/\\?#" : "/?#");
    *url = (umbeli_url_host){umbeli_authority_host(rest), scheme > 0, special};
    return true;
}

/* Without :port, unless the text is an IPv6 address without brackets. */
static umbeli_text without_port(umbeli_text t) {
    size_t colon = until(t, ":");
    bool address = colon < t.len && until(after(t, colon + 1), ":") < t.len - colon - 1 &&
                   until(t, ".") == t.len && *t.at != '[';
    while (!address) {
        size_t n = t.len;
        while (n && umbeli_is_digit(t.at[n - 1])) n--;
        if (n == 0 || t.at[n - 1] != ':') break;
        t.len = n - 1;
    }
    return t;
}

umbeli_text umbeli_authority_host(umbeli_text t) {
    for (size_t i = t.len; i-- > 0;) {
        if (t.at[i] != '@') continue;
        t = after(t, i + 1);
        break;
    }
    t = without_port(t);
    bool bracketed = t.len >= 2 && *t.at == '[' && t.at[t.len - 1] == ']';
    return bracketed ? (umbeli_text){t.at + 1, t.len - 2} : t;
}

umbeli_text umbeli_before_path(umbeli_text t, const char *ends) {
    return (umbeli_text){t.at, until(t, ends)};
}

umbeli_text umbeli_percent_decoded(umbeli_text t, uint8_t *to) {
    size_t n = 0;
    for (size_t i = 0; i < t.len; i++) {
        int high = i + 2 < t.len ? umbeli_hex_digit(t.at[i + 1]) : -1;
        int low = high >= 0 ? umbeli_hex_digit(t.at[i + 2]) : -1;
        bool coded = t.at[i] == '%' && low >= 0;
        to[n++] = coded ? (uint8_t)(16 * high + low) : t.at[i];
        if (coded) i += 2;
    }
    return (umbeli_text){to, n};
}

/* ---- What is looked up ---- */

/* Without the controls and spaces around it, and the angle brackets of an address. */
static umbeli_text unwrapped(umbeli_text t) {
    while (t.len && *t.at <= ' ') t = after(t, 1);
    while (t.len && t.at[t.len - 1] <= ' ') t.len--;
    bool angled = t.len >= 2 && *t.at == '<' && t.at[t.len - 1] == '>';
    return angled ? (umbeli_text){t.at + 1, t.len - 2} : t;
}

/* The standard removes tabs and line breaks from URLs before it reads them. */
static umbeli_text without_breaks(umbeli_text t, uint8_t *to) {
    size_t n = 0;
    if (until(t, "\t\n\r") == t.len) return t;
    for (size_t i = 0; i < t.len; i++) {
        if (t.at[i] != '\t' && t.at[i] != '\n' && t.at[i] != '\r') to[n++] = t.at[i];
    }
    return (umbeli_text){to, n};
}

umbel_found umbeli_select_host(const umbel_recipe *r, umbeli_text record, uint8_t **to,
                               umbeli_text *part) {
    (void)r;
    umbeli_text text = unwrapped(record);
    umbeli_url_host url;
    if (!umbeli_url(without_breaks(text, *to), &url)) {
        *part = umbeli_authority_host(umbeli_before_path(text, "/?#"));
        return UMBEL_FOUND_KEY;
    }
    *part = url.name;
    if (url.special) *part = umbeli_percent_decoded(url.name, *to); /* never longer than it was */
    *to += record.len;
    return UMBEL_FOUND_KEY;
}

umbel_found umbeli_select_authority(const umbel_recipe *r, umbeli_text record, uint8_t **to,
                                    umbeli_text *part) {
    (void)r, (void)to;
    *part = umbeli_authority_host(unwrapped(record));
    return UMBEL_FOUND_KEY;
}
