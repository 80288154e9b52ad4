# SPDX-License-Identifier: MIT
# attributes.bats - what a save keeps of the file that it replaces, by the tools of the system

load helper

# here COMMAND...: skips where the file system knows nothing of the kind.
here() {
    run "$@"
    [[ $output == *"not supported"* ]] && skip "the file system has no such attributes"
    [ "$status" -eq 0 ] || { echo "$output" >&2; return 1; }
}

setup_file() {
    command -v setfacl >/dev/null && command -v setfattr >/dev/null
}

list_of() { getfacl -cpn "$1" 2>/dev/null; }

@test "attributes: an access control list survives build -f, add, remove, fold and uniq" {
    seq 100 > keys
    umbel build -q -n 5000 -p 0.01 --kind counting -o a.umb keys
    chmod 600 a.umb
    here setfacl -m u:54321:r,g:54322:---,m::rw a.umb
    list=$(list_of a.umb)
    [[ $list == *"group::---"*"mask::rw-"* ]]
    umbel add -q a.umb <(seq 200 300)
    [ "$(list_of a.umb)" = "$list" ]
    umbel remove -q a.umb <(seq 200 300)
    [ "$(list_of a.umb)" = "$list" ]
    umbel build -q -f -n 5000 -p 0.01 -o a.umb keys
    [ "$(list_of a.umb)" = "$list" ]
    umbel fold -q -f -o a.umb a.umb || [ "$status" -ne 2 ]
    [ "$(list_of a.umb)" = "$list" ]
    rm a.umb
    umbel uniq -q --state a.umb keys > /dev/null
    setfacl -m u:54321:r,g:54322:---,m::rw a.umb
    list=$(list_of a.umb)
    umbel uniq -q --state a.umb <(seq 500) > /dev/null
    [ "$(list_of a.umb)" = "$list" ]
}

@test "attributes: extended attributes survive a save, capabilities do not" {
    seq 10 | umbel build -q -n 50 -p 0.01 -o a.umb
    here setfattr -n user.origin -v "two words" a.umb
    setfattr -n user.empty a.umb
    if [ "$(id -u)" = 0 ]; then
        setfattr -n trusted.umbel -v root a.umb
        setcap cap_net_raw+ep a.umb 2>/dev/null || true
    fi
    seq 20 | umbel add -q a.umb
    [ "$(getfattr --only-values -n user.origin a.umb)" = "two words" ]
    getfattr -n user.empty a.umb
    [ "$(id -u)" != 0 ] || [ "$(getfattr --only-values -n trusted.umbel a.umb)" = root ]
    run getfattr -n security.capability a.umb
    [ "$status" -ne 0 ]
}

@test "attributes: a new file inherits its directory's list, a replaced one does not" {
    here setfacl -d -m u:54321:rw .
    (umask 077 && seq 10 | umbel build -q -n 50 -p 0.01 -o new.umb)
    touch model
    [ "$(list_of new.umb)" = "$(list_of model)" ]
    setfacl -b new.umb
    chmod 660 new.umb
    seq 20 | umbel add -q new.umb
    run list_of new.umb
    [[ $output != *54321* ]]
    [ "$(stat -c %a new.umb)" = 660 ]
}

# Somebody who may write to the directory, but cannot give files to other groups.
as_somebody() {
    setpriv --reuid 54321 --regid 54322 --clear-groups "$@"
}

@test "attributes: what cannot be kept is said, and nobody gets more" {
    [ "$(id -u)" = 0 ] || skip "takes root to be somebody else"
    mkdir shared && chmod 777 shared && chmod a+x . .. ../.. 2>/dev/null
    seq 10 | umbel build -q -n 50 -p 0.01 -o shared/a.umb
    chmod 664 shared/a.umb
    here setfacl -m u:54323:rw shared/a.umb
    cp "$UMBEL" here-umbel # where that somebody can find it
    echo x > one
    chmod a+r one
    run --separate-stderr as_somebody ./here-umbel build -q -f -n 50 -p 0.01 -o shared/a.umb one
    [ "$status" -eq 0 ] || { echo "$stderr" >&2; false; }
    [[ $stderr == "umbel: shared/a.umb: warning: its group could not be kept, so group and others have no access now" ]]
    run list_of shared/a.umb
    [[ $output != *54323* ]]
    [ "$(stat -c %a shared/a.umb)" = 600 ]

    chown 0:54322 shared/a.umb # the group can be kept, the owner cannot
    chmod 660 shared/a.umb
    run --separate-stderr as_somebody ./here-umbel build -q -f -n 50 -p 0.01 -o shared/a.umb one
    [ "$status" -eq 0 ]
    [[ $stderr == "umbel: shared/a.umb: warning: the file's owner could not be kept" ]]
    [ "$(stat -c %a:%u:%g shared/a.umb)" = 660:54321:54322 ]
}

# Whoever may open the lock file may hold it: lists are not read, so writers whom only a list names are told that
# they take no turns.
@test "attributes: the lock file of a filter with a list is its owner's, and others are told" {
    seq 10 | umbel build -q -n 50 -p 0.01 -o a.umb
    chmod 600 a.umb
    here setfacl -m u:54321:rw,m::rw a.umb
    setfacl -d -m u:54323:rw .
    mkfifo keys
    umbel add -q a.umb keys & adding=$!
    exec 9> keys
    unlisted() { [ -e a.umb.umbel-lock ] && [ "$(list_of a.umb.umbel-lock | wc -l)" -le 4 ]; }
    eventually unlisted
    [ "$(list_of a.umb.umbel-lock)" = "$(printf 'user::rw-\ngroup::---\nother::---\n')" ]
    exec 9>&-
    wait "$adding"
    # A lock file that others can open is not waited for.
    (umask 077 && : > a.umb.umbel-lock)
    setfacl -b a.umb.umbel-lock
    setfacl -m u:54324:rw,m::rw a.umb.umbel-lock
    (exec 8>> a.umb.umbel-lock && flock 8 && exec sleep 800) 3>&- & holding=$! # ends when it is killed
    locked() { ! flock -n a.umb.umbel-lock true; }
    eventually locked
    run --separate-stderr timeout 300 "$UMBEL" add -q a.umb -e new
    kill "$holding"
    [ "$status" -eq 0 ]
    [ "$stderr" = "umbel: a.umb: warning: cannot be locked: nobody else must change it now" ]
}

@test "attributes: a file system without locks is warned of, and the file is changed all the same" {
    command -v cc > /dev/null || skip "no cc"
    printf '#include <errno.h>\nint flock(int fd, int how) { (void)fd, (void)how; errno = ENOLCK; return -1; }\n' > none.c
    cc -shared -fPIC -o none.so none.c
    [ -z "$(LD_PRELOAD=$PWD/none.so "$UMBEL" --version 2>&1 > /dev/null)" ] || skip "preloading does not work here"
    seq 10 | umbel build -q -n 50 -p 0.01 -o a.umb
    for quiet in "" -q -qq; do
        run --separate-stderr env LD_PRELOAD="$PWD/none.so" "$UMBEL" add $quiet a.umb -e "key$quiet"
        [ "$status" -eq 0 ]
        warned=0
        [[ $stderr != *"a.umb: warning: cannot be locked: nobody else must change it now"* ]] || warned=1
        [ "$warned" -eq "$([ "$quiet" = -qq ] && echo 0 || echo 1)" ]
        umbel check -q a.umb -e "key$quiet"
        [ ! -e a.umb.umbel-lock ]
    done
}
