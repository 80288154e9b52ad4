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

@test "memory: nothing but empty lines" {
    head -c 30000000 /dev/zero | tr '\0' '\n' > empty
    within k.umb "$UMBEL" build -q -j 4 -n 1000 -o k.umb empty
    within k.umb "$UMBEL" check -j 4 k.umb empty
}
