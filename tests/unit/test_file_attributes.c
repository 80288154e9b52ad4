/* SPDX-License-Identifier: MIT
 *
 * test_file_attributes.c - access control lists and extended attributes of files that are replaced
 *
 * Lists are set and shown by setfacl and getfacl.  The functions that list, read and set attributes
 * are ours, so that they can fail, and so that there can be attributes that only a kernel signs.
 */
#define _GNU_SOURCE /* popen, syscall, mkdtemp */
#include "cases.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

static char folder[] = "/tmp/umbel-test-XXXXXX", path[64];
static const char *refused = ""; /* attributes whose names begin so */

/* Attributes of the old file that no file system has here, each with its name as its value; and the
 * names of those that were given to the new one. */
static const char *pretended[4];
static char given[256];

ssize_t llistxattr(const char *file, char *names, size_t size) {
    ssize_t len = syscall(SYS_llistxattr, file, names, size);
    for (size_t i = 0; len >= 0 && i < 4 && pretended[i]; i++) {
        size_t more = strlen(pretended[i]) + 1;
        assert_true((size_t)len + more <= size);
        memcpy(names + len, pretended[i], more);
        len += (ssize_t)more;
    }
    return len;
}

static bool is_pretended(const char *name) {
    for (size_t i = 0; i < 4 && pretended[i]; i++) {
        if (strcmp(name, pretended[i]) == 0) return true;
    }
    return false;
}

ssize_t lgetxattr(const char *file, const char *name, void *value, size_t size) {
    if (!is_pretended(name)) return syscall(SYS_lgetxattr, file, name, value, size);
    assert_true(strlen(name) <= size);
    memcpy(value, name, strlen(name));
    return (ssize_t)strlen(name);
}

int fsetxattr(int fd, const char *name, const void *value, size_t size, int flags) {
    if (is_pretended(name)) {
        assert_int_equal(size, strlen(name));
        assert_memory_equal(value, name, size);
        strcat(strcat(given, name), " ");
        return 0;
    }
    if (*refused && strncmp(name, refused, strlen(refused)) == 0) {
        errno = EPERM;
        return -1;
    }
    return (int)syscall(SYS_fsetxattr, fd, name, value, size, flags);
}

/* What `command path` prints; NULL: the file system has nothing of the kind. */
static const char *shell(const char *command) {
    static char output[4096];
    char line[256];
    snprintf(line, sizeof line, "%s %s 2>&1", command, path);
    FILE *pipe = popen(line, "r");
    assert_non_null(pipe);
    size_t len = fread(output, 1, sizeof output - 1, pipe);
    output[len] = 0;
    bool done = pclose(pipe) == 0;
    if (strstr(output, "not supported")) return NULL;
    if (!done) fail_msg("%s: %s", line, output);
    return output;
}

static void set_list(const char *list) {
    char command[128];
    snprintf(command, sizeof command, "setfacl -m %s", list);
    if (shell(command)) return;
    print_message("# the file system has no access control lists\n");
    skip();
}

static umbel_diag save(void) {
    umbel_filter *f = umbel_new(64, 0.01);
    umbel_diag diag = {.what = "left over from another call"};
    assert_ok(umbel_file_save(f, UMBEL_FMT_NATIVE, path, &diag));
    umbel_free(f);
    return diag;
}

static mode_t mode(void) {
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 07777;
}

static int make_file(void **state) {
    (void)state;
    refused = "";
    if (!mkdtemp(strcpy(folder, "/tmp/umbel-test-XXXXXX"))) return -1;
    snprintf(path, sizeof path, "%s/a.umb", folder);
    save();
    return chmod(path, 0600);
}

static int remove_file(void **state) {
    (void)state;
    return unlink(path) || rmdir(folder);
}

/* The group has nothing, although its bits in the mode, the list's mask, are rw. */
static void test_list_is_kept(void **state) {
    (void)state;
    set_list("u:54321:rw,g:54322:---");
    assert_int_equal(mode(), 0660);
    char *before = strdup(shell("getfacl -pcn"));
    assert_non_null(strstr(before, "group::---"));
    assert_null(save().what);
    assert_string_equal(shell("getfacl -pcn"), before);
    free(before);
}

static void test_lost_list_opens_nothing(void **state) {
    (void)state;
    set_list("u:54321:rw,g:54322:---,o::r");
    refused = "system.";
    umbel_diag diag = save();
    assert_non_null(diag.what);
    assert_non_null(strstr(diag.what, "access list could not be kept"));
    assert_int_equal(mode(), 0600);
    assert_null(strstr(shell("getfacl -pcn"), "54321"));
}

static void test_attributes_are_kept(void **state) {
    (void)state;
    enum { LONG = 2000 };
    char value[LONG + 1];
    memset(value, 'v', LONG);
    if (setxattr(path, "user.long", value, LONG, 0) && errno == ENOTSUP) {
        print_message("# the file system has no extended attributes\n");
        skip();
    }
    assert_int_equal(setxattr(path, "user.empty", "", 0, 0), 0);
    assert_null(save().what);
    assert_int_equal(getxattr(path, "user.long", value, sizeof value), LONG);
    assert_int_equal(getxattr(path, "user.empty", value, sizeof value), 0);
    assert_int_equal(mode(), 0600);

    refused = "user.long";
    umbel_diag diag = save();
    assert_string_equal(diag.field, "user.long");
    assert_non_null(strstr(diag.what, "could not be kept"));
    assert_int_equal(getxattr(path, "user.long", value, sizeof value), -1);
    assert_int_equal(getxattr(path, "user.empty", value, sizeof value), 0);
    assert_int_equal(mode(), 0600);
}

/* What vouches for the old bytes would be wrong for the new ones; other labels are kept. */
static void test_signatures_of_the_old_content_go(void **state) {
    (void)state;
    const char *const names[4] = {"security.ima", "security.evm", "security.capability",
                                  "security.other"};
    memcpy(pretended, names, sizeof names);
    given[0] = 0;
    umbel_diag diag = save();
    memset(pretended, 0, sizeof pretended);
    assert_null(diag.what);
    assert_string_equal(given, "security.other ");
}

/* The directory gives new files a list that the old file did not have. */
static void test_inherited_list_goes(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "setfacl -d -m u:54321:rw %s && stat", folder);
    assert_int_equal(chmod(path, 0660), 0);
    if (!shell(command)) skip();
    assert_null(save().what);
    assert_null(strstr(shell("getfacl -pcn"), "54321"));
    assert_int_equal(mode(), 0660);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_list_is_kept, make_file, remove_file),
        cmocka_unit_test_setup_teardown(test_lost_list_opens_nothing, make_file, remove_file),
        cmocka_unit_test_setup_teardown(test_attributes_are_kept, make_file, remove_file),
        cmocka_unit_test_setup_teardown(test_signatures_of_the_old_content_go, make_file,
                                        remove_file),
        cmocka_unit_test_setup_teardown(test_inherited_list_goes, make_file, remove_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
