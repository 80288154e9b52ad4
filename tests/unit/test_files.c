/* SPDX-License-Identifier: MIT
 *
 * test_files.c - saving, loading and mapping, and everything that can go wrong on the way
 */
#define _DEFAULT_SOURCE /* mkdtemp, lstat, symlink, RLIMIT_FSIZE */
#include "cases.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hash/xxh.h"
#include "native_file.h"
#include "subjects.h"
#include "umbel_foreign.h"

static char folder[64];

static char *in_folder(const char *name) {
    static char paths[4][400];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static int make_folder(void **state) {
    (void)state;
    strcpy(folder, "/tmp/umbel-test-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static size_t files_in_folder(void) {
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    size_t n = 0;
    for (struct dirent *entry; (entry = readdir(dir));) n += entry->d_name[0] != '.';
    closedir(dir);
    return n;
}

static int empty_folder(void **state) {
    (void)state;
    DIR *dir = opendir(folder);
    if (!dir) return -1;
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (entry->d_name[0] != '.') remove(in_folder(entry->d_name));
    }
    closedir(dir);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    return rmdir(folder);
}

static umbel_filter *filter_with(const char *key, uint64_t bytes) {
    umbel_filter *f = NULL;
    assert_ok(
        umbel_create(&(umbel_params){.kind = UMBEL_KIND_BLOCKED, .bytes = bytes}, NULL, &f, NULL));
    assert_ok(umbel_add(f, key, strlen(key), NULL, NULL));
    return f;
}

static void save_as(const char *key, const char *path) {
    umbel_filter *f = filter_with(key, 4096);
    errno = 0;
    assert_ok(umbel_file_save(f, UMBEL_FMT_NATIVE, path, NULL));
    assert_int_equal(errno, 0);
    umbel_free(f);
}

static bool holds(const char *path, const char *key) {
    umbel_filter *f = NULL;
    assert_ok(umbel_file_open(path, UMBEL_LOAD, NULL, NULL, &f, NULL));
    bool in = umbel_contains(f, key, strlen(key));
    umbel_free(f);
    return in;
}

static void test_save_load_open(void **state) {
    (void)state;
    const char *path = in_folder("a.umb");
    for (uint64_t bytes = 32; bytes <= 3 << 20; bytes = bytes * 7 + 32) { /* up to 3 pieces */
        umbel_filter *f = filter_with("ada", bytes), *loaded = NULL, *opened = NULL;
        umbel_info info;
        assert_ok(umbel_set_meta(f, "name", "text", NULL));
        assert_ok(umbel_file_save(f, UMBEL_FMT_NATIVE, path, NULL));
        assert_int_equal(files_in_folder(), 1);
        size_t len, want_len;
        uint8_t *saved = file_bytes(path, &len), *want = bytes_of(f, &want_len);
        assert_int_equal(len, want_len);
        assert_memory_equal(saved, want, len);
        errno = 0;
        assert_ok(umbel_file_open(path, UMBEL_VERIFY, NULL, NULL, NULL, NULL));
        assert_ok(umbel_file_open(path, UMBEL_LOAD, &(umbel_foreign){.format = UMBEL_FMT_NATIVE},
                                  NULL, &loaded, NULL));
        assert_ok(umbel_file_open(path, UMBEL_MAP, NULL, NULL, &opened, NULL));
        assert_int_equal(errno, 0);
        assert_same_bytes(f, loaded);
        assert_same_bytes(f, opened);
        umbel_describe(opened, &info);
        assert_true(info.frozen);
        assert_int_equal(umbel_add(opened, "x", 1, NULL, NULL), UMBEL_EFROZEN);
        assert_ok(umbel_add(loaded, "x", 1, NULL, NULL));
        free(saved);
        free(want);
        umbel_free(f);
        umbel_free(loaded);
        umbel_free(opened);
    }
}

/* A file that was opened by somebody else, wherever its offset is and whatever its name became. */
static void test_descriptors(void **state) {
    (void)state;
    const char *path = in_folder("a.umb");
    umbel_filter *f = filter_with("ada", 4096), *got[3] = {0};
    assert_ok(umbel_file_save(f, UMBEL_FMT_NATIVE, path, NULL));
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(lseek(fd, 100, SEEK_SET), 100);
    errno = 0;
    assert_ok(umbel_fd_open(fd, UMBEL_VERIFY, NULL, NULL, NULL, NULL));
    assert_ok(umbel_fd_open(fd, UMBEL_MAP, NULL, NULL, &got[0], NULL));
    assert_ok(umbel_fd_open(fd, UMBEL_LOAD, NULL, NULL, &got[1], NULL));
    assert_ok(umbel_fd_open(fd, UMBEL_EDIT, NULL, NULL, &got[2], NULL));
    assert_int_equal(errno, 0);
    assert_int_equal(close(fd), 0); /* it is still ours */
    for (size_t i = 0; i < 3; i++) {
        assert_same_bytes(f, got[i]);
        assert_int_equal(umbel_add(got[i], "x", 1, NULL, NULL), i ? UMBEL_OK : UMBEL_EFROZEN);
        umbel_free(got[i]);
    }
    umbel_free(f);
}

/* Changed in place of a copy: the same bytes as by way of UMBEL_LOAD, and nothing in the file
 * changes before it is saved. */
static void edit_equals_load(umbel_params params) {
    const char *path = in_folder("a.umb");
    umbel_filter *f = NULL, *edited = NULL, *loaded = NULL;
    assert_ok(umbel_create(&params, NULL, &f, NULL));
    for (uint64_t i = 0; i < 3000; i++) assert_ok(umbel_add(f, &i, sizeof i, NULL, NULL));
    assert_ok(umbel_file_save(f, UMBEL_FMT_NATIVE, path, NULL));
    size_t len, len_now;
    uint8_t *before = file_bytes(path, &len);
    errno = 0;
    assert_ok(umbel_file_open(path, UMBEL_EDIT, NULL, NULL, &edited, NULL));
    assert_ok(umbel_file_open(path, UMBEL_LOAD, NULL, NULL, &loaded, NULL));
    assert_int_equal(errno, 0);
    assert_same_bytes(f, edited);
    for (uint64_t i = 2000; i < 9000; i++) {
        assert_ok(umbel_add(edited, &i, sizeof i, NULL, NULL));
        assert_ok(umbel_add(loaded, &i, sizeof i, NULL, NULL));
    }
    assert_same_bytes(loaded, edited);
    uint8_t *after = file_bytes(path, &len_now);
    assert_int_equal(len_now, len);
    assert_memory_equal(after, before, len);
    assert_ok(umbel_file_save(edited, UMBEL_FMT_NATIVE, path, NULL));
    umbel_free(loaded);
    assert_ok(umbel_file_open(path, UMBEL_LOAD, NULL, NULL, &loaded, NULL));
    assert_same_bytes(loaded, edited);
    assert_ok(umbel_clear(edited, NULL));
    uint64_t first = 0;
    assert_false(umbel_contains(edited, &first, sizeof first));
    free(before);
    free(after);
    umbel_free(f);
    umbel_free(edited);
    umbel_free(loaded);
}

static void test_edit(void **state) {
    (void)state;
    umbel_traits traits;
    for (umbel_kind kind = UMBEL_KIND_AUTO + 1; umbel_kind_traits(kind, &traits); kind++) {
        if (traits.built_once) continue;
        edit_equals_load((umbel_params){.kind = kind, .capacity = 4000, .fpr = 0.01});
        edit_equals_load((umbel_params){.kind = kind, .capacity = 1000000, .fpr = 0.01});
    }
    const char *path = in_folder("a.umb");
    umbel_filter *f = NULL;
    umbel_opts concurrent = {.concurrent = true};
    edit_equals_load((umbel_params){.kind = UMBEL_KIND_WINDOW, .capacity = 4000, .fpr = 0.01});
    assert_int_equal(umbel_file_open(path, UMBEL_EDIT, NULL, &concurrent, &f, NULL), UMBEL_EINVAL);
    save_as("ada", path);
    assert_ok(umbel_file_open(path, UMBEL_EDIT, NULL, &concurrent, &f, NULL));
    assert_ok(umbel_add(f, "x", 1, NULL, NULL));
    umbel_free(f);
}

static void test_edit_refuses(void **state) {
    (void)state;
    const char *path = in_folder("a.umb");
    umbel_filter *f = NULL;
    umbel_diag diag = {0};
    save_as("ada", path);
    assert_int_equal(
        umbel_file_open(path, UMBEL_EDIT, NULL, &(umbel_opts){.max_bytes = 4095}, &f, &diag),
        UMBEL_ELIMIT);
    assert_ok(umbel_file_open(path, UMBEL_EDIT, NULL, &(umbel_opts){.max_bytes = 4096}, &f, NULL));
    umbel_free(f);
    size_t len;
    uint8_t *bytes = file_bytes(path, &len);
    bytes[4096 + 17] ^= 4; /* among the bits */
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, len, out), len);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(umbel_file_open(path, UMBEL_EDIT, NULL, NULL, &f, &diag), UMBEL_ECORRUPT);
    free(bytes);

    umbel_params params = {.kind = UMBEL_KIND_STATIC, .fpr = 0.01};
    umbel_builder *builder = NULL;
    assert_ok(umbel_builder_new(&params, NULL, &builder, NULL));
    assert_ok(umbel_builder_add(builder, &(umbel_key){"ada", 3}, 1, NULL));
    assert_ok(umbel_builder_finish(builder, &f, NULL));
    umbel_builder_free(builder);
    assert_ok(umbel_file_save(f, UMBEL_FMT_NATIVE, path, NULL));
    umbel_free(f);
    assert_ok(umbel_file_open(path, UMBEL_EDIT, NULL, NULL, &f, NULL));
    assert_int_equal(umbel_add(f, "x", 1, NULL, NULL), UMBEL_EFROZEN);
    umbel_free(f);

    umbel_foreign leveldb = {.format = UMBEL_FMT_LEVELDB, .capacity = 100, .bits_per_key = 10};
    assert_ok(umbel_create_foreign(&leveldb, NULL, &f, NULL));
    assert_ok(umbel_file_save(f, UMBEL_FMT_LEVELDB, path, NULL));
    umbel_free(f);
    assert_ok(umbel_file_open(path, UMBEL_EDIT, &(umbel_foreign){.format = UMBEL_FMT_LEVELDB}, NULL,
                              &f, NULL));
    assert_ok(umbel_add(f, "x", 1, NULL, NULL));
    umbel_free(f);
}

/* A process that has the old file mapped still sees all of it. */
static void test_replaced_under_a_view(void **state) {
    (void)state;
    const char *path = in_folder("a.umb");
    save_as("old", path);
    umbel_filter *view = NULL;
    assert_ok(umbel_file_open(path, UMBEL_MAP, NULL, NULL, &view, NULL));
    save_as("new", path);
    assert_true(umbel_contains(view, "old", 3) && !umbel_contains(view, "new", 3));
    assert_true(holds(path, "new") && !holds(path, "old"));
    assert_ok(umbel_file_save(view, UMBEL_FMT_NATIVE, path, NULL)); /* even over itself */
    assert_true(umbel_contains(view, "old", 3) && holds(path, "old"));
    assert_int_equal(files_in_folder(), 1);
    umbel_free(view);
}

static void fails_with(umbel_err e, const umbel_diag *diag, int sys) {
    if (e != UMBEL_EIO) fail_msg("%s", umbel_err_name(e));
    assert_int_equal(diag->sys, sys);
    assert_non_null(diag->what);
    assert_int_equal(errno, 0);
}

static void cannot_read(const char *path, int sys) {
    umbel_filter *f = NULL;
    umbel_diag diag = {0};
    errno = 0;
    fails_with(umbel_file_open(path, UMBEL_MAP, NULL, NULL, &f, &diag), &diag, sys);
    fails_with(umbel_file_open(path, UMBEL_LOAD, &(umbel_foreign){.format = UMBEL_FMT_NATIVE}, NULL,
                               &f, &diag),
               &diag, sys);
    fails_with(umbel_file_open(path, UMBEL_VERIFY, NULL, NULL, NULL, &diag), &diag, sys);
    assert_null(f);
}

static void test_what_is_no_file(void **state) {
    (void)state;
    cannot_read(in_folder("missing.umb"), ENOENT);
    cannot_read(folder, EISDIR);
    assert_int_equal(mkfifo(in_folder("fifo"), 0600), 0);
    cannot_read(in_folder("fifo"), ENODEV); /* immediately, without a writer */
    cannot_read("/dev/null", ENODEV);
    file_put(in_folder("file"), "x", 1);
    cannot_read(in_folder("file/below"), ENOTDIR);
}

static void test_descriptors_of_no_file(void **state) {
    (void)state;
    umbel_filter *f = NULL;
    umbel_diag diag = {0};
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    errno = 0;
    fails_with(umbel_fd_open(-1, UMBEL_MAP, NULL, NULL, &f, &diag), &diag, EBADF);
    fails_with(umbel_fd_open(ends[0], UMBEL_MAP, NULL, NULL, &f, &diag), &diag, ENODEV);
    fails_with(umbel_fd_open(ends[0], UMBEL_LOAD, NULL, NULL, &f, &diag), &diag, ENODEV);
    fails_with(umbel_fd_open(ends[0], UMBEL_EDIT, NULL, NULL, &f, &diag), &diag, ENODEV);
    fails_with(umbel_fd_open(ends[0], UMBEL_VERIFY, NULL, NULL, NULL, &diag), &diag, ENODEV);
    assert_null(f);
    close(ends[0]);
    close(ends[1]);
}

static void test_empty_and_foreign_files(void **state) {
    (void)state;
    umbel_filter *f = NULL;
    const char *path = in_folder("a.umb");
    file_put(path, "", 0);
    errno = 0;
    assert_int_equal(umbel_file_open(path, UMBEL_MAP, NULL, NULL, &f, NULL), UMBEL_ECORRUPT);
    assert_int_equal(umbel_file_open(path, UMBEL_LOAD, &(umbel_foreign){.format = UMBEL_FMT_NATIVE},
                                     NULL, &f, NULL),
                     UMBEL_ECORRUPT);
    file_put(path, "hello, world\n", 13);
    assert_int_equal(umbel_file_open(path, UMBEL_MAP, NULL, NULL, &f, NULL), UMBEL_EUNKNOWN);
    assert_int_equal(umbel_file_open(path, UMBEL_LOAD, &(umbel_foreign){.format = UMBEL_FMT_NATIVE},
                                     NULL, &f, NULL),
                     UMBEL_ECORRUPT);
    assert_null(f);
    assert_int_equal(errno, 0);
}

/* Opening reads only the header; verifying and loading read everything. */
static void test_damaged_bits(void **state) {
    (void)state;
    const char *path = in_folder("a.umb");
    save_as("ada", path);
    size_t len;
    uint8_t *bytes = file_bytes(path, &len);
    bytes[4096 + 77] ^= 1;
    file_put(path, bytes, len);
    free(bytes);
    umbel_filter *f = NULL;
    umbel_diag diag = {0};
    assert_int_equal(umbel_file_open(path, UMBEL_VERIFY, NULL, NULL, NULL, &diag), UMBEL_ECORRUPT);
    assert_int_equal(diag.offset, 4096);
    assert_int_equal(umbel_file_open(path, UMBEL_LOAD, NULL, NULL, &f, NULL), UMBEL_ECORRUPT);
    assert_null(f);
    assert_int_equal(umbel_file_open(path, UMBEL_MAP, NULL, NULL, &f, NULL), UMBEL_ECORRUPT);
    assert_null(f);
    assert_ok(umbel_file_open(path, UMBEL_MAP, NULL, &(umbel_opts){.unchecked = true}, &f, NULL));
    umbel_free(f);
}

static void test_links_and_permissions(void **state) {
    (void)state;
    const char *path = in_folder("real.umb"), *link = in_folder("link.umb");
    struct stat st;
    mode_t mask = umask(027);
    save_as("first", path);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640); /* as any new file */
    umask(mask);
    assert_int_equal(chmod(path, 0604), 0);
    assert_int_equal(symlink("real.umb", link), 0);
    save_as("second", link);
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0604);
    assert_true(holds(path, "second"));
    assert_int_equal(files_in_folder(), 2);

    const char *ahead = in_folder("ahead.umb"); /* a link to a file that does not exist yet */
    assert_int_equal(symlink("later.umb", ahead), 0);
    save_as("third", ahead);
    assert_int_equal(lstat(ahead, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_true(holds(in_folder("later.umb"), "third"));
}

static void holds_text(const char *path, const char *text) {
    size_t len;
    uint8_t *bytes = file_bytes(path, &len);
    assert_int_equal(len, strlen(text));
    assert_memory_equal(bytes, text, len);
    free(bytes);
}

static mode_t mode_of(const char *path) {
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 07777;
}

/* A save may change the owner, and must not create a program that runs as the new one. */
static void test_no_special_bits(void **state) {
    (void)state;
    const char *path = in_folder("a.umb");
    save_as("first", path);
    assert_int_equal(chmod(path, 07755), 0);
    save_as("second", path);
    assert_int_equal(mode_of(path), 0755);
    assert_true(holds(path, "second"));
}

enum { SOMEBODY = 54321, THEIR_GROUP = 54322 };

/* Saves as a process of somebody else, who may write to the folder. */
static void save_as_somebody(const char *text, const char *path) {
    assert_int_equal(chmod(folder, 0777), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        umbel_filter *f = umbel_new(64, 0.01);
        bool done = f && !umbel_add(f, text, strlen(text), NULL, NULL) && !setegid(THEIR_GROUP) &&
                    !seteuid(SOMEBODY) && !umbel_file_save(f, UMBEL_FMT_NATIVE, path, NULL);
        _exit(done ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(chmod(folder, 0700), 0);
}

static void test_owner_and_group(void **state) {
    (void)state;
    if (geteuid() != 0) {
        print_message("# only root can give files away\n");
        skip();
    }
    const char *path = in_folder("a.umb");
    struct stat st;
    save_as("first", path);
    assert_int_equal(chown(path, SOMEBODY, THEIR_GROUP), 0);
    assert_int_equal(chmod(path, 0640), 0);
    save_as("second", path); /* root may keep both */
    assert_int_equal(stat(path, &st), 0);
    assert_true(st.st_uid == SOMEBODY && st.st_gid == THEIR_GROUP);
    assert_int_equal(mode_of(path), 0640);

    assert_int_equal(chown(path, 0, THEIR_GROUP), 0); /* a member of the group keeps that */
    assert_int_equal(chmod(path, 0664), 0);
    save_as_somebody("third", path);
    assert_int_equal(stat(path, &st), 0);
    assert_true(st.st_uid == SOMEBODY && st.st_gid == THEIR_GROUP);
    assert_int_equal(mode_of(path), 0664);

    assert_int_equal(chown(path, 0, 0), 0); /* neither can be kept */
    assert_int_equal(chmod(path, 04775), 0);
    save_as_somebody("fourth", path);
    assert_int_equal(stat(path, &st), 0);
    assert_true(st.st_uid == SOMEBODY && st.st_gid == THEIR_GROUP);
    assert_int_equal(mode_of(path), 0700);
    assert_true(holds(path, "fourth"));
    assert_int_equal(files_in_folder(), 1);
}

/* A name as long as names can be leaves no room for a suffix. */
static void test_long_names(void **state) {
    (void)state;
    for (size_t len = 240; len <= 255; len++) {
        char name[256];
        memset(name, 'n', len);
        name[len] = 0;
        char path[512];
        strcpy(path, in_folder(name));
        save_as("first", path);
        save_as("second", path);
        assert_true(holds(path, "second"));
        assert_int_equal(files_in_folder(), 1);
        assert_int_equal(unlink(path), 0);
    }
}

/* Whoever can open a file can lock it: such a lock is nothing to wait for. */
static void test_locked_by_others(void **state) {
    (void)state;
    char path[512], name[512];
    strcpy(path, in_folder("a.umb"));
    strcpy(name, in_folder("a.umb.umbel-lock"));
    file_put(name, "theirs", 6);
    assert_int_equal(chmod(name, 0644), 0);
    int fd = open(name, O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    save_as("first", path);
    assert_true(holds(path, "first"));
    holds_text(name, "theirs");
    assert_int_equal(files_in_folder(), 2);
    if (geteuid() == 0) { /* somebody else's file, though nobody else can open it */
        assert_int_equal(chmod(name, 0600), 0);
        assert_int_equal(chown(name, SOMEBODY, THEIR_GROUP), 0);
        save_as("second", path);
        assert_true(holds(path, "second"));
    }
    close(fd);
}

/* A chain of links, by way of another folder, to a file and to none yet. */
static void test_links_to_links(void **state) {
    (void)state;
    char below[400];
    struct stat st;
    strcpy(below, in_folder("below"));
    assert_int_equal(mkdir(below, 0700), 0);
    assert_int_equal(symlink("below/second", in_folder("first")), 0);
    assert_int_equal(symlink("../third", in_folder("below/second")), 0);
    assert_int_equal(symlink(in_folder("end.umb"), in_folder("third")), 0);
    for (unsigned i = 0; i < 2; i++) {
        save_as(i ? "again" : "new", in_folder("first"));
        assert_true(holds(in_folder("end.umb"), i ? "again" : "new"));
        assert_int_equal(lstat(in_folder("end.umb"), &st), 0);
        assert_true(S_ISREG(st.st_mode));
        const char *const links[] = {"first", "below/second", "third"};
        for (unsigned k = 0; k < 3; k++) {
            assert_int_equal(lstat(in_folder(links[k]), &st), 0);
            assert_true(S_ISLNK(st.st_mode));
        }
    }
    umbel_filter *f = filter_with("ada", 64);
    umbel_diag diag = {0};
    assert_int_equal(symlink("loop", in_folder("loop")), 0);
    errno = 0;
    fails_with(umbel_file_save(f, UMBEL_FMT_NATIVE, in_folder("loop"), &diag), &diag, ELOOP);
    umbel_free(f);
    unlink(in_folder("below/second"));
}

static void test_save_where_it_cannot_be(void **state) {
    (void)state;
    umbel_filter *f = filter_with("ada", 64);
    umbel_diag diag = {0};
    errno = 0;
    fails_with(umbel_file_save(f, UMBEL_FMT_NATIVE, folder, &diag), &diag, EISDIR);
    fails_with(umbel_file_save(f, UMBEL_FMT_NATIVE, in_folder("no/such/folder"), &diag), &diag,
               ENOENT);
    fails_with(umbel_file_save(f, UMBEL_FMT_NATIVE, "", &diag), &diag, ENOENT);
    fails_with(umbel_file_save(f, UMBEL_FMT_NATIVE, "/dev/full", &diag), &diag, ENOSPC);
    fails_with(umbel_fd_write(f, UMBEL_FMT_NATIVE, -1, &diag), &diag, EBADF);
    assert_int_equal(umbel_file_save(f, UMBEL_FMT_GUAVA, in_folder("a"), &diag), UMBEL_EMISMATCH);
    assert_int_equal(umbel_file_save(f, (umbel_format)99, in_folder("a"), &diag), UMBEL_EINVAL);
    assert_int_equal(files_in_folder(), 0);
    umbel_free(f);
}

/* A limit on file sizes stands in for a full disk: the write fails halfway. */
static void test_full_disk(void **state) {
    (void)state;
    const char *path = in_folder("a.umb");
    save_as("old", path);
    umbel_filter *f = filter_with("new", 1 << 20);
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    umbel_diag diag = {0};
    for (rlim_t limit = 0; limit < 1 << 20; limit = limit * 4 + 1000) {
        small = before;
        small.rlim_cur = limit;
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        errno = 0;
        umbel_err e = umbel_file_save(f, UMBEL_FMT_NATIVE, path, &diag);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        fails_with(e, &diag, EFBIG);
        assert_int_equal(files_in_folder(), 1); /* nothing left behind */
        assert_true(holds(path, "old") && !holds(path, "new"));
    }
    signal(SIGXFSZ, handler);
    assert_ok(umbel_file_save(f, UMBEL_FMT_NATIVE, path, NULL));
    assert_true(holds(path, "new"));
    umbel_free(f);
}

/* What a killed process left under the name of the temporary file makes way for the next save. */
static void test_left_temporary_file(void **state) {
    (void)state;
    const char *path = in_folder("a.umb");
    file_put(in_folder("a.umb.umbel-tmp"), "half a filter", 13);
    assert_int_equal(chmod(in_folder("a.umb.umbel-tmp"), 0444), 0);
    save_as("ada", path);
    assert_int_equal(files_in_folder(), 1);
    assert_true(holds(path, "ada"));
}

/* Anything else with that name is neither written to nor removed, and does not cause a failure. */
static void test_others_under_the_temporary_name(void **state) {
    (void)state;
    const char *path = in_folder("a.umb"), *name = in_folder("a.umb.umbel-tmp");
    file_put(in_folder("victim"), "precious", 8);
    assert_int_equal(symlink("victim", name), 0);
    save_as("first", path);
    assert_true(holds(path, "first"));
    holds_text(in_folder("victim"), "precious");
    assert_int_equal(files_in_folder(), 3);

    path = in_folder("a.umb"), name = in_folder("a.umb.umbel-tmp");
    assert_int_equal(unlink(name), 0);
    assert_int_equal(link(in_folder("victim"), name), 0); /* the name is removed, the file stays */
    save_as("second", path);
    assert_true(holds(path, "second"));
    holds_text(in_folder("victim"), "precious");
    assert_int_equal(files_in_folder(), 2);

    path = in_folder("a.umb"), name = in_folder("a.umb.umbel-tmp");
    assert_int_equal(mkfifo(name, 0600), 0); /* immediately, without a reader */
    save_as("third", path);
    assert_true(holds(path, "third"));
    assert_int_equal(files_in_folder(), 3);
}

static void test_write_to_a_pipe(void **state) {
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    umbel_filter *f = filter_with("ada", 8192), *again = NULL;
    assert_ok(umbel_fd_write(f, UMBEL_FMT_NATIVE, ends[1], NULL));
    close(ends[1]);
    uint8_t bytes[32768];
    size_t len = 0;
    for (ssize_t n; (n = read(ends[0], bytes + len, sizeof bytes - len)) > 0;) len += (size_t)n;
    close(ends[0]);
    assert_ok(umbel_decode(bytes, len, UMBEL_LOAD, NULL, NULL, &again, NULL));
    assert_same_bytes(f, again);
    umbel_free(f);
    umbel_free(again);
}

static long resident_kib(void) {
    FILE *file = fopen("/proc/self/statm", "r");
    long all = 0, resident = -1;
    if (file && fscanf(file, "%ld %ld", &all, &resident) != 2) resident = -1;
    if (file) fclose(file);
    return resident < 0 ? -1 : resident * (sysconf(_SC_PAGESIZE) / 1024);
}

/* The sums of the pieces are zeros, and this is the one over them. */
static bool put_trailer_sum(const char *path, const uint8_t *header, uint64_t pieces) {
    uint8_t sum[8], *zeros = calloc(pieces, 8);
    int fd = open(path, O_WRONLY);
    if (!zeros || fd < 0) return false;
    uint64_t seed = native_get(header, native_get(header, 12, 4) - 8, 8);
    native_set(sum, 0, 8, umbeli_xxh3_64(zeros, 8 * pieces, seed));
    off_t end = lseek(fd, 0, SEEK_END);
    bool ok = pwrite(fd, sum, 8, end) == 8;
    free(zeros);
    return close(fd) == 0 && ok;
}

/* 8 GiB of holes after the header of a small file, adjusted to fit: opened without reading it. */
static void test_open_reads_little(void **state) {
    (void)state;
    const char *path = in_folder("large.umb");
    save_as("ada", path);
    size_t len;
    uint8_t *bytes = file_bytes(path, &len);
    const uint64_t payload = UINT64_C(8) << 30, pieces = payload / 1048576;
    native_set(bytes, 48, 8, payload * 8);
    native_set(bytes, 104, 8, payload);
    native_resum(bytes, 4096);
    file_put(path, bytes, 4096);
    if (truncate(path, (off_t)(4096 + payload + 8 * pieces)) ||
        !put_trailer_sum(path, bytes, pieces)) {
        free(bytes);
        print_message("# no file of 8 GiB can be made here\n");
        skip();
    }
    free(bytes);
    umbel_filter *f = NULL;
    long before = resident_kib();
    umbel_diag diag = {0};
    umbel_err e = umbel_file_open(path, UMBEL_MAP, NULL, NULL, &f, &diag);
    if (SIZE_MAX < payload) { /* more than can be addressed: refused, not cut off */
        assert_int_equal(e, UMBEL_EIO);
        assert_int_equal(diag.sys, EFBIG);
        return;
    }
    assert_ok(e);
    assert_true(umbel_contains(f, "ada", 3)); /* 0 is not the sum of a piece of zeros */
    assert_int_equal(umbel_damage(f, NULL), UMBEL_ECORRUPT);
    /* An emulator keeps tables of what is mapped; reading a hundredth would still show. */
    if (before >= 0) assert_true(resident_kib() - before < 64 * 1024);
    umbel_free(f);
}

#define CASE(test) cmocka_unit_test_teardown(test, empty_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(test_save_load_open),
        CASE(test_descriptors),
        CASE(test_edit),
        CASE(test_edit_refuses),
        CASE(test_replaced_under_a_view),
        CASE(test_what_is_no_file),
        CASE(test_descriptors_of_no_file),
        CASE(test_empty_and_foreign_files),
        CASE(test_damaged_bits),
        CASE(test_links_and_permissions),
        CASE(test_no_special_bits),
        CASE(test_owner_and_group),
        CASE(test_long_names),
        CASE(test_locked_by_others),
        CASE(test_links_to_links),
        CASE(test_save_where_it_cannot_be),
        CASE(test_full_disk),
        CASE(test_left_temporary_file),
        CASE(test_others_under_the_temporary_name),
        CASE(test_write_to_a_pipe),
        CASE(test_open_reads_little),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
