/* SPDX-License-Identifier: MIT
 *
 * table_consumer.c TABLE - a program that uses libumbel-table as installed, to find key000007 and
 * its filter
 */
#include <stdio.h>
#include <umbel_table.h>

int main(int argc, char **argv) {
    umbel_table *t = NULL;
    umbel_diag diag = {0};
    umbel_table_answer answer = {0};
    umbel_filter *f = NULL;
    if (argc != 2 || umbel_table_open(argv[1], NULL, NULL, &t, &diag)) {
        fprintf(stderr, "%s\n", diag.what ? diag.what : "which table?");
        return 1;
    }
    umbel_err e = umbel_table_check(t, NULL, "key000007", 9, NULL, &answer, &diag);
    if (!e) e = umbel_table_filter(t, 0, &f, &diag);
    bool both = !e && answer.may_contain && umbel_contains(f, "key000007", 9);
    umbel_free(f);
    umbel_table_close(t);
    return both ? 0 : 1;
}
