/* SPDX-License-Identifier: MIT
 *
 * sign_consumer.c FILE KEY - a program that uses libumbel-sign as installed, to check FILE.minisig
 */
#include <stdio.h>
#include <string.h>
#include <umbel_sign.h>

int main(int argc, char **argv) {
    char text[UMBEL_SIGNATURE_MAX], bytes[1024];
    size_t len = 0;
    umbel_trust *trust = NULL;
    umbel_signed is = {0};
    umbel_diag diag = {0};
    FILE *from = argc == 3 ? fopen(argv[1], "rb") : NULL;
    if (!from) return 1;
    size_t size = fread(bytes, 1, sizeof bytes, from);
    fclose(from);
    umbel_key key = {argv[2], strlen(argv[2])};
    umbel_err e = umbel_trust_new(&key, 1, 0, &trust, &diag);
    if (!e) e = umbel_signature_read(argv[1], text, &len, &diag);
    if (!e) {
        e = umbel_trust_check(trust, (umbel_key){bytes, size}, (umbel_key){text, len}, &is, &diag);
    }
    if (e) fprintf(stderr, "%s\n", diag.what);
    umbel_trust_free(trust);
    return e || is.number != 1700000000;
}
