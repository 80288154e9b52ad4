# SPDX-License-Identifier: MIT
# labels: slow
# The size of the filter plus 64 MiB is enough, whatever the input
load helper

# within FILTER COMMAND...: its peak resident memory is at most the filter's size plus 64 MiB
within() {
    python3 - "$@" <<'P'
import os, subprocess, sys
child = subprocess.Popen(sys.argv[2:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(child.pid, 0)
assert os.waitstatus_to_exitcode(status) == 0, sys.argv[2:]
most = os.stat(sys.argv[1]).st_size + (64 << 20)
print(usage.ru_maxrss >> 10, "of", most >> 20, "MiB:", *sys.argv[2:])
assert usage.ru_maxrss << 10 <= most
P
}

@test "memory: build, check and uniq of 150 MB" {
    urls 1 4000000 > keys
    gzip -1 -k keys
    for j in 1 4; do
        within k.umb "$UMBEL" build -q -f -j $j -n 4M -o k.umb keys
        within k.umb "$UMBEL" build -q -f -j $j -n 4M -o k.umb keys.gz
        within k.umb "$UMBEL" check -j $j k.umb keys
        within k.umb "$UMBEL" uniq -q -j $j -n 4M keys
    done
}

@test "memory: a filter larger than the caches" {
    urls 1 4000000 > keys
    for j in 1 4; do
        within large.umb "$UMBEL" build -q -f -j $j -n 50M -o large.umb keys
        within large.umb "$UMBEL" check -j $j large.umb keys
    done
    # Only changed pages are copied.
    echo one > one
    umbel build -q -n 200M -o huge.umb one
    within huge.umb "$UMBEL" add -q huge.umb one
    within huge.umb "$UMBEL" add -q huge.umb keys
}

# uses KIBIBYTES COMMAND...: its peak resident memory is at most that
uses() {
    python3 - "$@" <<'P'
import os, subprocess, sys
child = subprocess.Popen(sys.argv[2:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(child.pid, 0)
print(usage.ru_maxrss, "of", sys.argv[1], "KiB,", usage.ru_utime + usage.ru_stime, "s:", *sys.argv[2:])
assert os.waitstatus_to_exitcode(status) == 0 and usage.ru_maxrss <= int(sys.argv[1])
P
}

@test "memory: a state is mapped, and takes the disk space that its keys need" {
    echo one > one
    echo two > two
    uses 40000 "$UMBEL" uniq -q -n 50M --state s.umb one
    size=$(stat -c %s s.umb)
    [ "$size" -gt 90000000 ]
    [ "$(($(stat -c %b s.umb) * 512))" -lt 2000000 ] || skip "this file system has no holes"
    umbel verify -q s.umb
    uses $((size / 1024 + 10240)) "$UMBEL" uniq -q --state s.umb two # the file, and 10 MiB
    uses $((size / 1024 + 10240)) "$UMBEL" uniq --state s.umb one two
    [ "$(umbel check -c s.umb one two)" -eq 2 ]
    urls 1 3000000 > many # every page changes
    uses $((size / 1024 * 13 / 10)) "$UMBEL" uniq -q --state s.umb many
}

@test "memory: nothing but empty lines" {
    head -c 30000000 /dev/zero | tr '\0' '\n' > empty
    within k.umb "$UMBEL" build -q -j 4 -n 1000 -o k.umb empty
    within k.umb "$UMBEL" check -j 4 k.umb empty
}

# The next layer of a file follows from what the file says, and it may be a stranger's.
@test "memory: a file grows by at most 64 times what it holds, unless --max-memory allows more" {
    for kind in "--kind scalable" "--format redisbloom"; do
        umbel build -q -f $kind --expansion 1024 -n 10000 -p 1% -o wild <(seq 9000)
        cp wild before
        for command in "add wild" "uniq --state wild"; do
            [[ $command == add* || $kind == *scalable ]] || continue
            run --separate-stderr umbel $command -q <(seq 9001 20000)
            [ "$status" -eq 2 ]
            [[ $stderr =~ ^"umbel: wild: would grow from "[0-9.]+" KiB to more than 64 times that (--max-memory SIZE allows it, if you trust the file)"$ ]]
            [[ $command != add* ]] || cmp wild before
        done
        cp before wild
        umbel add -q --max-memory 100MiB wild <(seq 9001 20000)
        umbel check -c wild <(seq 20000)
        # What it holds now is the measure from here on.
        umbel add -q wild <(seq 20001 30000)
        # The word of whoever makes it holds.
        umbel build -q -f $kind --expansion 1024 -n 10000 -p 1% -o own <(seq 20000)
        cmp <(umbel check own <(seq 20000) | wc -l) <(echo 20000)
    done
    umbel build -q -f --kind scalable --expansion 16 -n 10000 -p 1% -o tame <(seq 9000)
    umbel add -q tame <(seq 9001 200000)
}
