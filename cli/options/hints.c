/* SPDX-License-Identifier: MIT
 *
 * hints.c - what users of sort, uniq, grep, other programs or an older umbel are likely to type
 */
#include <string.h>

#include "options/options.h"

/* `commands` are separated by blanks; NULL: any.  The first row that fits is shown. */
static const struct {
    const char *commands, *typed, *hint;
} hints[] = {
    /* letters have one meaning: -n KEYS, -m SIZE, -o OUT, -p RATE, -f to overwrite */
    {"check", "-n", "--line-number numbers lines, --keys KEYS is what the filter was planned for"},
    {"check", "-m", "--max-count N"},
    {"check", "-o", "--only-matching prints keys; the lines go to standard output"},
    {"check", "-f", "the FILTER is the first argument, made by umbel build -o FILTER FILE"},
    {"check", "-w", "keys are compared whole; -k selects them"},
    {"check", "-x", "keys are always compared whole"},
    {"check", "-F", "keys are always compared as they are"},
    {"check", "-r", "give the FILEs: find DIR -type f -exec umbel check FILTER {} +"},
    {"check", "--regexp", "-e KEY looks a key up"},
    {"check", "--file", "the FILTER is the first argument, made by umbel build -o FILTER FILE"},
    {"check", "--word-regexp", "keys are compared whole; -k selects them"},
    {"uniq", "-f", "-k LIST selects the fields of the key: -k 3- leaves out the first two"},
    {"uniq", "-s", "cut -cN- removes characters; -k selects fields"},
    {"uniq", "-w", "cut -c1-N keeps characters; -k selects fields"},
    {"uniq", "--group", "-D prints all repeated lines"},
    {"uniq", "-o", "the lines go to standard output: > FILE; --state FILTER keeps the filter"},
    {"build", "-u", "every key is added once anyway; umbel uniq prints lines once"},
    {"diff", "-u", "lines of A that are not in B are printed as they are"},
    {NULL, "--ignore-case", "-i, --lower, when the filter is built as well"},
    {NULL, "--zero-terminated", "-z, --null"},
    {NULL, "--null-data", "-z, --null"},
    {NULL, "--tsv", "-t '\\t' -k N, or --csv -t '\\t' -k NAME if fields are quoted"},
    {NULL, "--jsonl", "--json-key PATH, such as .user.email"},
    {NULL, "--ndjson", "--json-key PATH, such as .user.email"},
    {NULL, "--capacity", "-n, --keys KEYS"},
    {NULL, "--expected", "-n, --keys KEYS"},
    {NULL, "--error-rate", "-p, --fpr RATE"},
    {NULL, "--error", "-p, --fpr RATE"},
    {NULL, "--false-positive-rate", "-p, --fpr RATE"},
    {NULL, "--memory", "-m, --bytes SIZE"},
    {NULL, "--size", "-m, --bytes SIZE"},
    {NULL, "--out", "-o, --output OUT"},
    {NULL, "--column", "-k NAME, with --csv for CSV"},
    {NULL, "--parallel", "-j, --threads N"},
    {NULL, "--no-messages", "-qq hides warnings"},
    {NULL, "--strategy", "now --variant mitz32; without it MURMUR128_MITZ_64"},
    {NULL, "--funnel", "now --type string, utf16, int64 or int32"},
    {NULL, "--int", "now --variant int32; without it 64"},
};

static const struct {
    const char *typed, *hint;
} commands[] = {
    {"dedup", "umbel uniq prints each line once"},
    {"dedupe", "umbel uniq prints each line once"},
    {"distinct", "umbel uniq prints each line once, umbel count counts them"},
    {"lookup", "umbel check looks lines up, -e KEY one key"},
    {"contains", "umbel check -q FILTER -e KEY answers by its exit status"},
    {"exists", "umbel check -q FILTER -e KEY answers by its exit status"},
    {"test", "umbel check -q FILTER -e KEY answers by its exit status"},
    {"query", "umbel check looks lines up, -e KEY one key"},
    {"grep", "umbel check prints the lines that are in a filter"},
    {"create", "umbel build makes a filter from lines"},
    {"new", "umbel build makes a filter from lines"},
    {"make", "umbel build makes a filter from lines"},
    {"insert", "umbel add adds lines to a filter"},
    {"delete", "umbel remove removes lines from a counting filter"},
    {"union", "umbel merge makes one filter of several"},
    {"size", "umbel plan says how large a filter is"},
    {"stat", "umbel info describes a filter"},
    {"stats", "umbel info describes a filter"},
    {"show", "umbel info describes a filter"},
    {"top", "umbel uniq --top N prints the most frequent lines"},
    {"sort", "umbel uniq needs no sorted input"},
    {"comm", "umbel diff A B prints the lines of A that are not in B"},
    {"server", "umbel serve"},
};

/* Whether the word is among these, which are separated by blanks. */
static bool is_among(const char *words, const char *word) {
    size_t len = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += len) {
        if ((at == words || at[-1] == ' ') && (at[len] == ' ' || !at[len])) return true;
    }
    return false;
}

const char *cli_hint_for(const char *command, const char *typed) {
    size_t len = strcspn(typed, "=");
    for (size_t i = 0; !command && i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(commands[i].typed, typed) == 0) return commands[i].hint;
    }
    for (size_t i = 0; command && i < sizeof hints / sizeof *hints; i++) {
        if (strlen(hints[i].typed) != len || memcmp(hints[i].typed, typed, len) != 0) continue;
        if (!hints[i].commands || is_among(hints[i].commands, command)) return hints[i].hint;
    }
    return NULL;
}
