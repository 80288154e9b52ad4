/* SPDX-License-Identifier: MIT
 *
 * file_attributes.c - who may do what with a file that replaces another
 *
 * Where current is an access control list, the permissions of the group are its mask: the most that
 * the group and everyone named in the list can have, not what the group has.  So permissions alone
 * are never taken from a file with a list.  A new file may have inherited a list from its directory
 * that the old file did not have: that one is removed.
 */
#define _DEFAULT_SOURCE /* fchmod, fchown, strnlen */
#include "api/file_attributes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/diag.h"
#include "core/platform.h"

#if UMBELI_HAVE_EXTENDED_ATTRIBUTES
#include <sys/xattr.h>
#endif

#if UMBELI_HAVE_EXTENDED_ATTRIBUTES
enum { MAX_ATTRIBUTE = 64 << 10 }; /* of a value and of all names, in the Linux kernel */

typedef struct attributes {
    char names[MAX_ATTRIBUTE], value[MAX_ATTRIBUTE], current[MAX_ATTRIBUTE];
} attributes;

static bool is_access_list(const char *name) { /* of POSIX, NFS, CIFS ... */
    return strncmp(name, "system.", strlen("system.")) == 0;
}

/* Attributes that vouch for the old content, or give a program rights. */
static bool is_of_content(const char *name) {
    return strcmp(name, "security.capability") == 0 || strcmp(name, "security.ima") == 0 ||
           strcmp(name, "security.evm") == 0;
}

static bool copy_attribute(int fd, const char *path, const char *name, attributes *a) {
    ssize_t len = lgetxattr(path, name, a->value, sizeof a->value);
    if (len < 0) return errno == ENODATA;
    ssize_t current = fgetxattr(fd, name, a->current, sizeof a->current);
    if (current == len && memcmp(a->value, a->current, (size_t)len) == 0) return true;
    return fsetxattr(fd, name, a->value, (size_t)len, 0) == 0;
}

/* Copies the access lists, or the other attributes.  False: the one named in *lost was not copied;
 * the others were. */
static bool copy_attributes(int fd, const char *path, size_t len, attributes *a, bool lists,
                            umbel_diag *lost) {
    bool all = true;
    for (const char *name = a->names; name < a->names + len; name += strlen(name) + 1) {
        if (is_of_content(name) || is_access_list(name) != lists) continue;
        if (copy_attribute(fd, path, name, a)) continue;
        *lost = (umbel_diag){.what = "this attribute of the old file could not be kept"};
        memcpy(lost->field, name, strnlen(name, sizeof lost->field - 1));
        all = false;
    }
    return all;
}

static bool has_list(const attributes *a, size_t len) {
    for (const char *name = a->names; name < a->names + len; name += strlen(name) + 1) {
        if (is_access_list(name)) return true;
    }
    return false;
}

#define LIST_NAME "system.posix_acl_access"

bool umbeli_attributes_listed(const char *path) {
    return getxattr(path, LIST_NAME, NULL, 0) > 0;
}

bool umbeli_attributes_unlist(int fd) {
    return fremovexattr(fd, LIST_NAME) == 0 || errno == ENODATA || errno == ENOTSUP ||
           errno == ENOSYS;
}

/* Lists are copied last, if at all, since they let others open the file.  False: a list was lost,
 * or it is not known whether current was one.  *permitted: the list has set the permissions. */
static bool copy_all(int fd, const char *path, bool lists, bool *permitted, umbel_diag *lost) {
    attributes *a = malloc(sizeof *a);
    if (!a) return false;
    ssize_t listed = llistxattr(path, a->names, sizeof a->names);
    bool known = listed >= 0 || errno == ENOTSUP || errno == ENOSYS;
    size_t len = listed > 0 ? (size_t)listed : 0;
    bool clean = umbeli_attributes_unlist(fd);
    copy_attributes(fd, path, len, a, false, lost);
    bool kept = lists && known && clean && copy_attributes(fd, path, len, a, true, lost);
    *permitted = kept && has_list(a, len);
    free(a);
    return kept;
}

#elif UMBELI_HAVE_FILE_MODES

static bool copy_all(int fd, const char *path, bool lists, bool *permitted, umbel_diag *lost) {
    (void)fd, (void)path, (void)permitted, (void)lost;
    return lists;
}

#endif

#if !UMBELI_HAVE_EXTENDED_ATTRIBUTES
bool umbeli_attributes_listed(const char *path) {
    (void)path;
    return false;
}

bool umbeli_attributes_unlist(int fd) {
    (void)fd;
    return true;
}
#endif

#if UMBELI_HAVE_FILE_MODES
/* Sets owner and group where permitted; false: the group is a different one. */
static bool give_owner(int fd, const umbeli_attributes *a, umbel_diag *lost) {
    struct stat st;
    if (fstat(fd, &st)) return false;
    if (st.st_uid != a->uid) {
        if (fchown(fd, a->uid, a->gid) == 0) return true;
        *lost = (umbel_diag){.what = "the file's owner could not be kept"};
    }
    return st.st_gid == a->gid || fchown(fd, (uid_t)-1, a->gid) == 0;
}

void umbeli_attributes_give(int fd, const umbeli_attributes *a, const char *path,
                            umbel_diag *diag) {
    umbel_diag lost = {0};
    bool permitted = false;
    if (a->mode < 0) return;
    bool group = give_owner(fd, a, &lost);
    /* Under another group, the bits for group and others would be for other people. */
    bool kept = a->replaces ? copy_all(fd, path, group, &permitted, &lost) : group;
    if (!kept || !permitted) (void)fchmod(fd, (mode_t)(kept ? a->mode : a->mode & 0700));
    if (!kept && (a->mode & 077)) {
        lost = (umbel_diag){.what = group ? "its access list could not be kept, so group and "
                                            "others have no access now"
                                          : "its group could not be kept, so group and others have "
                                            "no access now"};
    }
    if (diag && lost.what) *diag = lost;
}

#else

void umbeli_attributes_give(int fd, const umbeli_attributes *a, const char *path,
                            umbel_diag *diag) {
    (void)fd, (void)a, (void)path, (void)diag;
}

#endif
