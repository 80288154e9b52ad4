/* SPDX-License-Identifier: MIT
 *
 * file_attributes.h - who may do what with a file that replaces another
 */
#ifndef UMBELI_FILE_ATTRIBUTES_H
#define UMBELI_FILE_ATTRIBUTES_H

#include <sys/stat.h>

#include "core/platform.h"
#include "umbel.h"

typedef struct umbeli_attributes {
    long mode; /* permissions, never setuid, setgid or sticky; -1: the file keeps its own */
    uid_t uid;
    gid_t gid;
    bool replaces; /* these are the attributes of an existing file, which may have an ACL */
} umbeli_attributes;

/* Gives the file, which only its owner can open so far, owner, group and permissions, and the
 * access control list and extended attributes of the file at `path` if it replaces that.  Nobody
 * gains access: when group or list cannot be set, group and others get no permissions.  Fills *diag
 * with what was lost, if anything was. */
void umbeli_attributes_give(int fd, const umbeli_attributes *a, const char *path, umbel_diag *diag);

/* Whether the file has an access control list.  And: removes the one that a new file has inherited
 * from its directory; false: it may still have it. */
bool umbeli_attributes_listed(const char *path);
bool umbeli_attributes_unlist(int fd);

#endif
