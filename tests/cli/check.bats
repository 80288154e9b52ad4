# SPDX-License-Identifier: MIT
# labels: asan
load helper

make_filters() {
    seq 1 100 > low
    seq 51 150 > high
    umbel build -q -p 1e-9 -n 1000 -o low.umb low
    umbel build -q -p 1e-9 -n 1000 -o high.umb high
    umbel build -q -p 1e-9 -n 5000 --kind blocked -o other.umb high
}

@test "check: exit status like grep" {
    make_filters
    run umbel check low.umb <(echo 5)
    [ "$status" -eq 0 ]
    [ "$output" = 5 ]
    run umbel check low.umb <(echo 500)
    [ "$status" -eq 1 ]
    [ -z "$output" ]
    run umbel check -v low.umb <(echo 500)
    [ "$status" -eq 0 ]
    [ "$output" = 500 ]
    run umbel check -v low.umb <(echo 5)
    [ "$status" -eq 1 ]
    [ -z "$output" ]
    run umbel check low.umb /dev/null
    [ "$status" -eq 1 ]
}

@test "check: -c counts, -q stops at the first match and prints nothing" {
    make_filters
    [ "$(umbel check -c low.umb high)" -eq 50 ]
    [ "$(umbel check -vc low.umb high)" -eq 50 ]
    run umbel check -q low.umb high
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    run umbel check -q low.umb <(seq 200 300)
    [ "$status" -eq 1 ]
    [ -z "$output" ]
    run timeout 300 bash -c 'yes 5 | "$UMBEL" check -q -j 2 low.umb'
    [ "$status" -eq 0 ]
}

@test "check: --also looks in several filters, --annotate names them" {
    make_filters
    [ "$(umbel check --also high.umb -c low.umb <(seq 300))" -eq 150 ]
    [ "$(umbel check --also high.umb -vc low.umb <(seq 300))" -eq 150 ]
    run umbel check --annotate --also high.umb --also other.umb low.umb <(printf '10\n75\n140\n999\n')
    [ "${lines[0]}" = "$(printf 'low.umb\t10')" ]
    [ "${lines[1]}" = "$(printf 'low.umb,high.umb,other.umb\t75')" ]
    [ "${lines[2]}" = "$(printf 'high.umb,other.umb\t140')" ]
    [ "${#lines[@]}" -eq 3 ]
    [ "$(umbel check --annotate low.umb <(echo 7))" = "$(printf 'low.umb\t7')" ]
}

@test "check: filters with different key rules are each looked up by their own" {
    echo ada | umbel build -q -n 9 -p 1e-9 --lower -o lower.umb
    echo ADA | umbel build -q -n 9 -p 1e-9 -o plain.umb
    echo x,2 | umbel build -q -n 9 -p 1e-9 -t , -k 2 -o field.umb
    run umbel check --annotate --also plain.umb --also field.umb lower.umb <(printf 'ADA\nAda\nq,2\n')
    [ "${lines[0]}" = "$(printf 'lower.umb,plain.umb\tADA')" ]
    [ "${lines[1]}" = "$(printf 'lower.umb\tAda')" ]
    [ "${lines[2]}" = "$(printf 'field.umb\tq,2')" ]
}

@test "check: several threads keep the order" {
    seq 1 3 600000 > keys
    umbel build -q -p 1e-6 -o k.umb keys
    umbel check -j 1 k.umb <(seq 600000) > one
    umbel check -j 4 k.umb <(seq 600000) > four
    cmp one four
    seq 600000 > all
    umbel check -j 4 k.umb all | cmp - one
    umbel check -j 3 --annotate k.umb all | cut -f 2 | cmp - one
}

@test "check: contradictions are refused" {
    make_filters
    refused "--count and --quiet contradict" umbel check -c -q low.umb low
    refused "--invert and --annotate contradict" umbel check --annotate -v low.umb low
    refused "no field is selected" umbel check -t , low.umb low
    refused "'ab' is not one character" umbel check -t ab -k 1 low.umb low
}

# stopped_by COMMAND...: the line 5 is looked up, then the command changes f.umb, then more lines are.
stopped_by() {
    mkfifo lines
    "$UMBEL" check -j 2 f.umb lines > out 2> err &
    local pid=$! status=0
    exec 7> lines
    echo 5 >&7
    eventually [ -s out ]
    "$@"
    seq 1 100000 >&7 || true
    exec 7>&-
    wait "$pid" || status=$?
    [ "$status" -eq 2 ]
    [ "$(head -n 1 out)" = 5 ]
    [ "$(wc -l < err)" -eq 1 ]
}

@test "check: a filter file that is truncated under it" {
    umbel build -q --kind blocked -p 1e-9 -o f.umb <(seq 1 300000) -n 300000
    stopped_by truncate -s 5000 f.umb
    grep 'umbel: f.umb: shrank while it was read' err
}

@test "check: a filter file that is overwritten under it" {
    umbel build -q --kind blocked -p 1e-9 -o f.umb <(seq 1 300000) -n 300000
    umbel build -q --kind blocked -p 1e-9 -o g.umb <(seq 300001 600000) -n 300000
    overwrite() { dd if=g.umb of=f.umb conv=notrunc status=none; }
    stopped_by overwrite
    grep 'umbel: f.umb: changed while it was read' err
}

@test "add: a filter file that is overwritten under it stays as it then is" {
    umbel build -q --kind blocked -p 1e-9 -o f.umb <(seq 1 3000) -n 3000
    umbel build -q --kind blocked -p 1e-9 -o g.umb <(seq 3001 6000) -n 3000
    mkfifo lines
    "$UMBEL" add -q f.umb lines 2> err &
    local pid=$! status=0
    exec 7> lines # opened when the filter has been read
    dd if=g.umb of=f.umb conv=notrunc status=none
    seq 1 10 >&7
    exec 7>&-
    wait "$pid" || status=$?
    [ "$status" -eq 2 ]
    grep 'umbel: f.umb: changed while it was read: nothing was saved' err
    cmp f.umb g.umb
}

@test "check: a filter file that is replaced under it disturbs nobody" {
    umbel build -q --kind blocked -p 1e-9 -o f.umb <(seq 1 3000) -n 3000
    mkfifo lines
    "$UMBEL" check f.umb lines > out &
    local pid=$! # that of <(...) takes its place
    exec 7> lines
    echo 5 >&7
    eventually [ -s out ]
    umbel build -q -f -o f.umb <(seq 9 9) -n 1
    seq 1 3000 >&7
    exec 7>&-
    wait "$pid"
    [ "$(wc -l < out)" -eq 3001 ]
}

@test "check: output that is appended to the input would never end" {
    make_filters
    cp low both
    run --separate-stderr bash -c '"$UMBEL" check low.umb both >> both'
    [ "$status" -eq 2 ]
    [[ $stderr == "umbel: both: is also the output: standard output" ]]
    cmp low both
}
