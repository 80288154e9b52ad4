/* SPDX-License-Identifier: MIT
 *
 * pg_secret.c - settings; secrets of keyed filters, from files that only the server reads
 *
 * A query names a secret and never sees it: umbel.secret_directory, which only the configuration file
 * sets, has one file per secret.  A filter knows the fingerprint of its secret, so that a lookup needs
 * no name: the files are tried.
 */
#include "pg_umbel.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "miscadmin.h"
#include "storage/fd.h"
#include "umbel_text.h"
#include "utils/guc.h"

int pgu_cache_kb = 64 * 1024;
static char *secret_directory;

void pgu_define_settings(void) {
    DefineCustomIntVariable(
        "umbel.cache_size", "Memory for decoded filters in each session.",
        "A query that looks up in more filters than fit decodes them again and again.",
        &pgu_cache_kb, 64 * 1024, 0, INT_MAX / 2, PGC_USERSET, GUC_UNIT_KB, NULL, NULL, NULL);
    DefineCustomStringVariable("umbel.secret_directory",
                               "Directory with the secrets of keyed filters, a file for each.",
                               "Neither group nor others may have access to it.", &secret_directory,
                               "", PGC_SIGHUP, GUC_SUPERUSER_ONLY, NULL, NULL, NULL);
    MarkGUCPrefixReserved("umbel");
}

static void check_directory(void) {
    struct stat st;
    if (!secret_directory[0]) {
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("secret: umbel.secret_directory is not set on this server")));
    }
    if (stat(secret_directory, &st)) {
        ereport(ERROR, (errcode_for_file_access(), errmsg("umbel.secret_directory: %m")));
    }
    if (!S_ISDIR(st.st_mode) || st.st_mode & (S_IRWXG | S_IRWXO)) {
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("umbel.secret_directory: not a directory for the server alone"),
                        errhint("chmod 700 makes it one.")));
    }
}

/* Not a path: what a user names stays in the directory. */
static bool is_plain_name(const char *name) {
    return name[0] && name[0] != '.' && !strchr(name, '/') && strlen(name) < NAME_MAX;
}

static bool read_secret(const char *name, uint8_t secret[16], umbel_diag *diag) {
    char path[MAXPGPATH], bytes[35]; /* one more than 32 digits and a line break */
    snprintf(path, sizeof path, "%s/%s", secret_directory, name);
    int fd = OpenTransientFile(path, O_RDONLY | PG_BINARY);
    if (fd < 0) {
        ereport(ERROR, (errcode_for_file_access(), errmsg("secret: no secret \"%s\": %m", name)));
    }
    ssize_t len = read(fd, bytes, sizeof bytes);
    CloseTransientFile(fd);
    return umbel_parse_secret(bytes, len < 0 ? 0 : (size_t)len, secret, diag) == UMBEL_OK;
}

const uint8_t *pgu_secret_named(const char *name, MemoryContext context) {
    uint8_t *secret = MemoryContextAlloc(context, 16);
    check_directory();
    if (!is_plain_name(name)) {
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_NAME), errmsg("secret: \"%s\" is not a name", name)));
    }
    umbel_diag diag = {0};
    if (!read_secret(name, secret, &diag)) {
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("secret: \"%s\": %s", name, diag.what)));
    }
    return secret;
}

/* One way to open a filter, with or without a secret. */
typedef struct attempt {
    umbel_how how;
    const struct varlena *value;
    const char *path; /* if value is NULL */
    umbel_filter *filter;
    umbel_diag diag;
} attempt;

static umbel_err try_open(attempt *a, const umbel_opts *opts) {
    if (!a->value) return umbel_file_open(a->path, a->how, NULL, opts, &a->filter, &a->diag);
    return umbel_decode(VARDATA_ANY(a->value), VARSIZE_ANY_EXHDR(a->value), a->how, &pgu_native,
                        opts, &a->filter, &a->diag);
}

static umbel_err try_secrets(attempt *a, umbel_opts *opts) {
    uint8_t secret[16];
    umbel_err e = UMBEL_ESECRET;
    struct dirent *entry;
    check_directory();
    opts->secret = secret;
    DIR *dir = AllocateDir(secret_directory);
    while (e == UMBEL_ESECRET && (entry = ReadDir(dir, secret_directory)) != NULL) {
        if (is_plain_name(entry->d_name) && read_secret(entry->d_name, secret, NULL)) {
            e = try_open(a, opts);
        }
    }
    FreeDir(dir);
    explicit_bzero(secret, sizeof secret);
    return e;
}

static umbel_filter *open_any(attempt *a, MemoryContext context) {
    umbel_opts opts = pgu_opts(context);
    opts.max_bytes = a->value ? PGU_MAX_SIZE : 0; /* a file may be larger than a value */
    umbel_err e = try_open(a, &opts);
    if (e == UMBEL_ESECRET && secret_directory[0]) e = try_secrets(a, &opts);
    if (e) pgu_fail(e, &a->diag);
    return a->filter;
}

umbel_filter *pgu_open(umbel_how how, const struct varlena *value, MemoryContext context) {
    return open_any(&(attempt){.how = how, .value = value}, context);
}

umbel_filter *pgu_open_file(const char *path, MemoryContext context) {
    return open_any(&(attempt){.how = UMBEL_MAP, .path = path}, context);
}
