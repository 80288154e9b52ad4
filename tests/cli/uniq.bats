# SPDX-License-Identifier: MIT
# labels: asan
load helper

@test "uniq: first occurrences in order, as awk finds them" {
    awk 'BEGIN { srand(7); for (i = 0; i < 60000; i++) print "k" int(rand() * 20000) }' > text
    awk '!seen[$0]++' text > expected
    awk 'seen[$0]++' text > repeated
    for j in 1 4; do
        umbel uniq -q -p 1e-9 -n 1e6 -j $j text | cmp - expected
        umbel uniq -q -p 1e-9 -n 1e6 -j $j --repeats text | cmp - repeated
        umbel uniq -q -p 1e-9 -n 1e6 --kind blocked -j $j < text | cmp - expected
    done
}

@test "uniq: --state remembers across runs" {
    seq 1 100 | umbel uniq -q --kind auto -p 1e-6 -n 1000 --state s.umb | cmp - <(seq 1 100)
    seq 51 150 | umbel uniq -q --state s.umb | cmp - <(seq 101 150)
    umbel info --json s.umb | grep -q '"keys": 150,'
    run --separate-stderr umbel uniq -p 1e-6 -n 1000 --state s.umb <(seq 5)
    [ "${#stderr_lines[@]}" -eq 1 ] # the same plan: nothing to report but the summary
    run --separate-stderr umbel uniq -n 5000 --state s.umb <(seq 5)
    [[ $stderr == "umbel: s.umb: warning: already exists: its own plan applies, not the one given here"* ]]
    size=$(umbel info --json s.umb | awk -F '[:, ]+' '/"bytes"/ { print $3 }')
    for other in "-p 1e-5" "-m $((size - 1))"; do
        run --separate-stderr umbel uniq $other --state s.umb <(seq 5)
        [[ $stderr == "umbel: s.umb: warning: already exists: its own plan applies"* ]]
    done
    refused "s.umb: forgets nothing: it has no window" umbel uniq --window 1000 --state s.umb <(seq 5)
    run --separate-stderr umbel uniq -m "$size" --state s.umb <(seq 5)
    [ "${#stderr_lines[@]}" -eq 1 ]
}

@test "uniq: a line that was cut off does not swallow the next one" {
    printf '1\n2\n33' > out
    run --separate-stderr bash -c 'seq 2 5 | "$UMBEL" uniq -q --state s.umb >> out'
    [[ $stderr == "umbel: standard output: warning: ends within a line"* ]]
    cmp out <(printf '1\n2\n33\n2\n3\n4\n5\n')
    printf 'a\0b' > nul
    printf 'b\0c\0' | umbel uniq -q -0 --state n.umb >> nul 2> /dev/null
    cmp nul <(printf 'a\0b\0b\0c\0')
    # Nothing is added to lines that are whole, nor where the output starts anew.
    run --separate-stderr bash -c 'seq 5 7 | "$UMBEL" uniq -q --state s.umb >> out; printf x > new; seq 8 9 | "$UMBEL" uniq -q --state s.umb > new'
    [ -z "$stderr" ]
    cmp out <(printf '1\n2\n33\n2\n3\n4\n5\n6\n7\n')
    cmp new <(seq 8 9)
}

@test "uniq: a failed run that printed nothing leaves the old state" {
    seq 1 100 | umbel uniq -q -n 1000 --state s.umb > /dev/null
    cp s.umb before
    refused "missing: No such file" umbel uniq -q --state s.umb missing
    cmp s.umb before
    if [ -e /dev/full ]; then
        seq 200 100000 > more
        run bash -c '"$UMBEL" uniq -q --state s.umb more > /dev/full'
        [ "$status" -eq 2 ]
        [[ $output == "umbel: standard output: No space left on device" ]]
        cmp s.umb before # what was never printed is not remembered
    fi
}

# What is printed is remembered, and nothing else: after the next run every line was printed once.
@test "uniq: after an error, what was printed is remembered and the rest comes next time" {
    seq 1 200000 > first
    seq 100001 300000 > second
    { seq 300001 500000; head -c 9000000 /dev/zero | tr '\0' x; echo; seq 5; } > long
    for j in 1 4; do
        run bash -c '"$UMBEL" uniq -q -j $0 -p 1e-9 -n 1e6 --state s$0.umb first missing > out' $j
        [ "$status" -eq 2 ]
        [ "$output" = "umbel: missing: No such file or directory" ]
        [ $j -gt 1 ] || cmp out first
        umbel uniq -q -j $j -p 1e-9 -n 1e6 --state s$j.umb first second > rest
        sort out rest | cmp - <(seq 300000 | sort)
        run bash -c '"$UMBEL" uniq -q -j $0 --max-line 3000 --state s$0.umb < long > out' $j
        [ "$status" -eq 2 ]
        [[ $output == *"has a line of more than"* ]]
        umbel uniq -q -j $j --state s$j.umb first second <(seq 300001 500000) > rest
        sort out rest | cmp - <(seq 300001 500000 | sort)
    done
}

# All of its output is read before the signal is sent, so it is waiting for more input.
@test "uniq: after a signal, what was printed is remembered" {
    python3 - <<'P'
import os, signal, subprocess

def uniq(lines, number, action):
    """Output, what comes behind `number`, exit status."""
    before = signal.signal(number, action) # as a shell may have left it
    run = subprocess.Popen([os.environ["UMBEL"], "uniq", "-q", "-p", "1e-9", "--state", "s.umb"],
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    signal.signal(number, before)
    run.stdin.write(b"".join(lines))
    run.stdin.flush()
    out = [run.stdout.readline() for _ in lines]
    run.send_signal(number)
    if action == signal.SIG_IGN:
        run.stdin.write(b"behind\n")
        run.stdin.close()
    status = run.wait()
    return out, run.stdout.read(), status

for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
    lines = [b"%d %d\n" % (number, i) for i in range(5000)]
    assert uniq(lines, number, signal.SIG_DFL) == (lines, b"", -number)
    again = subprocess.run([os.environ["UMBEL"], "uniq", "-q", "--state", "s.umb"],
                           input=b"".join(lines) + b"after %d\n" % number,
                           stdout=subprocess.PIPE, check=True).stdout
    assert again == b"after %d\n" % number, again
assert uniq([b"ignored\n"], signal.SIGHUP, signal.SIG_IGN) == ([b"ignored\n"], b"behind\n", 0)
assert os.listdir() == ["s.umb"], os.listdir()
P
}

@test "uniq: the last warning has the figure of the end, where no summary does" {
    run --separate-stderr umbel uniq -q --kind auto -n 1000 -p 1% <(seq 3000)
    [ "$status" -eq 3 ]
    lost=$((3000 - ${#lines[@]}))
    [[ ${stderr_lines[-1]} =~ "about "([0-9]+)" new lines" ]]
    [ "$((BASH_REMATCH[1] * 10))" -gt "$((lost * 9))" ]
    run --separate-stderr umbel uniq --kind auto -n 1000 -p 1% <(seq 3000)
    [[ ${stderr_lines[-1]} == "uniq: 3,000 lines, "* ]]
}

@test "uniq: estimates how many new lines it has dropped" {
    run --separate-stderr umbel uniq --kind auto -n 100000 -p 1% <(seq 100000)
    [ "$status" -eq 0 ]
    [[ $stderr =~ "100,000 lines, "([0-9,]+)" of them new; about "([0-9.]+)" new lines mistaken for repeated" ]]
    dropped=$((100000 - ${BASH_REMATCH[1]//,/}))
    expected=${BASH_REMATCH[2]%.*}
    # The rate grows from 0 to 1%, so some hundreds; both numbers agree within five deviations.
    [ "$expected" -gt 50 ]
    [ "$expected" -lt 1000 ]
    [ $((dropped - expected)) -lt $((expected / 2)) ]
    [ $((expected - dropped)) -lt $((expected / 2)) ]
}

@test "uniq: warns beyond the plan, --strict stops" {
    run --separate-stderr umbel uniq --kind auto -n 1000 -p 1e-6 <(seq 5000)
    [ "$status" -eq 3 ]
    [[ $stderr == *"umbel: uniq: warning: more keys than planned: the false-positive rate is "*", more than ten times the 1 in 1,000,000 promised; about "*" new lines were lost (-n plans for more, --strict stops)"* ]]
    run --separate-stderr umbel uniq -q --strict -n 1000 -p 1e-6 --state s.umb <(seq 5000)
    [ "$status" -eq 2 ]
    [[ $stderr == "umbel: s.umb: more keys than the 1,000 planned (-n KEYS plans for more)"* ]]
    [ "${#lines[@]}" -ge 1000 ]
    [ "${#lines[@]}" -le 1001 ] # a false positive takes no space
    # The first thousand are printed and remembered, and again only the next one is too many.
    run --separate-stderr umbel uniq -q --strict --state s.umb <(seq 1000)
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    run --separate-stderr umbel uniq -q --strict --state s.umb <(seq 5000)
    [ "$status" -eq 2 ]
    [ -z "$output" ]
}

@test "uniq: --strict takes exactly the plan" {
    umbel uniq -q --strict -n 1000 -p 1e-12 <(seq 1000) | cmp - <(seq 1000)
    run --separate-stderr umbel uniq -q --strict -n 1000 -p 1e-12 <(seq 1001)
    [ "$status" -eq 2 ]
    [ "$output" = "$(seq 1000)" ]
    [[ $stderr == "umbel: uniq: more keys than the 1,000 planned (-n KEYS plans for more)" ]]
    run --separate-stderr umbel uniq -n 1000 -p 1e-12 <(seq 1000)
    [[ $stderr != *warning* ]]
}

@test "uniq: grows at rates below 1 in 10,000 too" {
    [ "$(seq 1000000 | umbel uniq -q -n 1000 -p 1e-6 | wc -l)" -ge 999990 ]
    [ "$(seq 100000 | umbel uniq -q -p 1e-8 | wc -l)" -eq 100000 ]
    # Even lower ones do not, and say so.
    run --separate-stderr umbel uniq -p 1e-9 <(seq 10)
    [[ $stderr == "umbel: uniq: memory is fixed at "*" stays below 1 in 1,000,000,000 for up to 10,000,000 keys"* ]]
}

@test "uniq: warns at each step above the promise and of the share lost" {
    run --separate-stderr umbel uniq -q --kind auto -n 1000 -p 1e-6 <(seq 100000)
    [ "$status" -eq 3 ]
    for times in ten 100 1,000 10,000 100,000; do [[ $stderr == *"more than $times times the"* ]]; done
    for share in 0.1 1 10 50; do
        [[ $stderr =~ "new lines ("($share[0-9.]*%)") were lost" ]]
    done
    [ "${#stderr_lines[@]}" -le 16 ]
}

@test "uniq: -m alone says what it means, and what cannot be meant is refused" {
    run --separate-stderr umbel uniq -m 64KiB <(seq 20000)
    [ "$status" -eq 0 ]
    [[ ${stderr_lines[0]} =~ "umbel: uniq: memory is fixed at 64 KiB: the false-positive rate stays below 0.1% for up to "([0-9,]+)" keys" ]]
    run --separate-stderr umbel uniq -q -m 64KiB <(seq $((2 * ${BASH_REMATCH[1]//,/})))
    [ "$status" -eq 3 ]
    [[ $stderr == *"more than ten times the 0.1% promised"* ]]
    refused "1 MiB for 10,000,000 keys would lose 69.7% of the new lines" umbel uniq -m 1M -n 10M <(seq 10)
}

@test "uniq: the key may be a field; lines are printed whole" {
    printf '1 a\n2 b\n1 c\n' > text
    [ "$(umbel uniq -q -k 1 text)" = "$(printf '1 a\n2 b')" ]
    umbel uniq -q -k 1 --state s.umb text > /dev/null
    [ "$(printf '3 x\n2 y\n' | umbel uniq -q --state s.umb)" = "3 x" ]
}

# Within 10% of the truth, or three standard deviations where few are lost.
@test "uniq: the estimate of lost lines holds from empty to saturated" {
    cat > judge.py <<'P'
import json, math, subprocess, sys, os
keys = 50000
for times in (0.5, 1, 2, 5, 10, 100, 1000):
    for options in (["--kind", "blocked"], ["--kind", "classic"], ["--kind", "auto", "-j", "3"], ["--kind", "auto", "-k", "1"]):
        if times > 10: keys = 1000 # until every bit is set
        lines = int(keys * times)
        text = "".join("%d\n" % i for i in range(lines))
        run = subprocess.run([os.environ["UMBEL"], "uniq", "--json=report", "-n", str(keys), "-p", "1%"] + options,
                             input=text, capture_output=True, text=True)
        assert run.returncode == (0 if times <= 1 else 3), run
        o = json.load(open("report"))
        lost = lines - run.stdout.count("\n")
        assert o["lines"] == lines and o["new"] == lines - lost, o
        near = max(0.1 * lost, 3 * math.sqrt(lost) + 3)
        assert abs(o["lost_estimated"] - lost) <= near, (times, options, lost, o)
        assert o["fpr_now"] >= lost / lines - 0.01, (times, options, o) # the last met the worst
        levels = sum(w in run.stderr for w in (", above the 1% promised", "more than twice the 1%", "more than ten times the 1%"))
        assert levels == (0 if times <= 1 else 3), run.stderr
        if times >= 2: assert o["fpr_now"] > o["fpr"] == 0.01, o
        # The same in two runs with a state, then as many again, half of them old.
        if os.path.exists("s.umb"): os.unlink("s.umb")
        for first, last, old in ((0, lines // 2, 0), (lines // 2, lines, 0), (lines // 2, 2 * lines, lines - lines // 2)):
            text = "".join("%d\n" % i for i in range(first, last))
            run = subprocess.run([os.environ["UMBEL"], "uniq", "--json=report", "-n", str(keys), "-p", "1%", "--state", "s.umb"]
                                 + options, input=text, capture_output=True, text=True)
            assert run.returncode in (0, 3), run
            o = json.loads(open("report").read())
            lost = last - first - old - run.stdout.count("\n")
            near = max(0.1 * lost, 3 * math.sqrt(lost) + 3)
            assert abs(o["lost_estimated"] - lost) <= near, (times, options, first, lost, o)
P
    python3 judge.py
    # Each in its turn, once.
    run --separate-stderr umbel uniq -m 64KiB -n 50000 <(seq 60000)
    [[ $stderr == *", above the "*" promised"* ]]
    [[ $stderr != *"ten times"* ]]
}

# Then only a count of the different keys tells what was lost; the state keeps it.
@test "uniq: what is lost is known even when every bit is set, if all keys were seen" {
    run --separate-stderr umbel uniq --kind auto -n 1000 -p 1% --state s.umb <(seq 300000; seq 1000)
    [ "$status" -eq 3 ]
    [[ $stderr =~ "301,000 lines, "([0-9,]+)" of them new; about "([0-9,]+)" new lines mistaken" ]]
    lost=$((300000 - ${BASH_REMATCH[1]//,/}))
    said=${BASH_REMATCH[2]//,/}
    [ $((said - lost)) -lt $((lost / 20)) ]
    [ $((lost - said)) -lt $((lost / 20)) ]
    run --separate-stderr umbel uniq --state s.umb <(seq 300001 600000)
    [[ $stderr =~ "300,000 lines, 0 of them new; about "([0-9,]+)" new lines mistaken" ]]
    [ "${BASH_REMATCH[1]//,/}" -gt 270000 ]
    [ "${BASH_REMATCH[1]//,/}" -le 300000 ] # never more than there were
    run umbel info s.umb
    [[ $output == *"meta uniq.seen "*"... ("*" bytes)"* ]]
    [ "$(awk '{ if (length($0) > n) n = length($0) } END { print n }' <<< "$output")" -le 120 ]
    # No new key shows in the count, which may have missed a few; nor does it know those of others.
    run --separate-stderr umbel uniq --state s.umb <(seq 300000)
    [[ $stderr == *"how many new lines were lost cannot be estimated: every bit is set"* ]]
    run --separate-stderr umbel uniq --json=report --state s.umb <(seq 300000)
    [ "$(jq -c '[.lost_estimated, .fpr_now == 1]' report)" = '[null,true]' ]
    # -q counts as well: what the next run says of the state does not depend on it.
    run umbel uniq -q --kind auto -n 1000 -p 1% --state t.umb <(seq 300000)
    run --separate-stderr umbel uniq --json=report --state t.umb <(seq 300001 600000)
    grep -q '"lost_estimated": [23]' report
}

@test "uniq: grows beyond the plan and keeps its rate, unless memory is fixed" {
    for options in "-n 1000" "-n 1000 --kind scalable" "" "-n 1000 -p 1%"; do
        run --separate-stderr umbel uniq --json=report $options <(seq 100000)
        [ "$status" -eq 0 ]
        [[ $stderr != *warning* ]]
        python3 - "$(< report)" <<'P'
import json, sys
o = json.loads(sys.argv[1])
assert o["fpr_now"] <= o["fpr"] and 100000 - o["new"] < 1000 * o["fpr"] / 0.01, o
P
    done
    for options in "-m 2KiB -n 1000" "-n 1000 --kind auto" "-n 1000 --kind blocked"; do
        run --separate-stderr umbel uniq --json=report $options <(seq 5000)
        [ "$status" -eq 3 ]
        [[ $stderr == *"warning: more keys than planned: the false-positive rate is "* ]]
    done
    [[ $(umbel help uniq --all | tr -s ' \n' ' ') == *"however many keys come: the filter grows"*"Options"* ]]
    # The plan of a filter that grows is where it started.
    umbel uniq -q -n 1000 --state g.umb <(seq 5000) > /dev/null
    run --separate-stderr umbel uniq -n 1000 --state g.umb <(seq 5)
    [ "${#stderr_lines[@]}" -eq 1 ]
    # --max-memory ends it with an error, and what was printed is remembered.
    run --separate-stderr umbel uniq -q -n 1000 --max-memory 60KiB --state s.umb <(seq 100000)
    [ "$status" -eq 2 ]
    [[ $stderr == *"has to grow from "*" to more than --max-memory allows"* ]]
    printed=$output
    run --separate-stderr umbel uniq -q --state s.umb <(echo "$printed")
    [ -z "$output" ]
}

@test "uniq: --strict ends with an error before the promise is broken" {
    for rate in 5% 30% 50%; do
        for n in 900 1000 1100 1500; do
            run --separate-stderr umbel uniq --json=report --strict -n 1000 -p $rate <(seq $n)
            [ "$status" -eq 0 ] || [ "$n" -gt 950 ]
            [ "$status" -eq 2 ] || [ "$n" -lt 1200 ]
            [ "$status" -eq 2 ] || python3 - "$(< report)" <<'P'
import json, sys
o = json.loads(sys.argv[1])
assert o["fpr_now"] <= o["fpr"], o
P
        done
    done
}

@test "uniq: --state keeps its own keys: other options are refused" {
    printf 'A x\nb y\n' > f
    umbel uniq -q -k 1 --state k.umb f > /dev/null
    cp k.umb before.umb
    for other in --lower "-k 2" --csv "--recipe line"; do
        refused "its keys are made differently: field=1" umbel uniq -q --state k.umb $other f
    done
    cmp k.umb before.umb
    [ -z "$(umbel uniq -q --state k.umb f)" ]
    [ -z "$(umbel uniq -q -k 1 --state k.umb f)" ] # the same
    umbel uniq -q --state l.umb f > /dev/null
    refused "its keys are made differently: line" umbel uniq -q --state l.umb -i f
}

# run_from_pipe OPTION...: a run that is being fed through descriptor 7, which no other process may hold.
run_from_pipe() {
    [ -p in ] || mkfifo in
    "$UMBEL" uniq -q --state s.umb "$@" < in > out 3>&- &
    from_pipe=$!
    exec 7> in
}

remembers() {
    [ -e s.umb ] && [ "$(umbel check -c s.umb <(seq 3000))" -ge "$1" ]
}

printed() {
    [ "$(wc -l < out)" -eq "$1" ]
}

# Of N lines that were printed since the state was saved the last ones are not remembered, with a
# DURATION all are; whatever was printed and is not comes again.
@test "uniq: --save-every saves between, by lines and by time" {
    for every in 1000:2001 1s:3000; do
        rm -f s.umb
        run_from_pipe --save-every "${every%:*}"
        seq 3000 >&7
        eventually remembers "${every#*:}"
        eventually printed 3000
        kill -KILL "$from_pipe"
        status=0
        wait "$from_pipe" || status=$?
        [ "$status" -eq 137 ]
        exec 7>&-
        umbel uniq -q --state s.umb <(seq 3000) > again
        [ "$(wc -l < again)" -le $((3000 - ${every#*:})) ]
        seq 3000 | tail -n "$(wc -l < again)" | cmp - again
    done
    refused "--save-every needs --state" umbel uniq --save-every 5 out
    refused "'5x' is neither a number of lines nor a duration" umbel uniq --state s.umb --save-every 5x out
}

@test "uniq: a locked state is waited for, not in silence, and not longer than --wait" {
    run_from_pipe
    echo first >&7
    eventually [ -s out ] # so it holds the lock
    refused "s.umb: another command is changing it (--wait SECONDS waits longer)" umbel uniq -q --state s.umb --wait 0 out
    run --separate-stderr umbel uniq --wait 1 --state s.umb <(seq 9)
    [ "$status" -eq 2 ]
    [[ $stderr == "umbel: s.umb: warning: another command is changing it: waiting for it to finish"*"--wait SECONDS waits longer"* ]]
    "$UMBEL" uniq -q --state s.umb <(seq 9) 2> said > other 3>&- 7>&- &
    local waiting=$!
    eventually grep -q "warning: another command is changing it" said # even with -q
    exec 7>&-
    wait "$from_pipe"
    wait "$waiting"
    seq 9 | cmp - other
}

@test "uniq: a run of one line reads what the line touches, and goes on with what earlier runs measured" {
    umbel uniq -q -n 100M --state s.umb <(seq 1000) > /dev/null
    for i in 1 2 3; do
        run --separate-stderr umbel uniq --json=r.json --state s.umb <(seq $((1000 * i + 1)) $((1000 * i + 1000)))
        [ "$status" -eq 0 ]
        [ "${#lines[@]}" -eq 1000 ]
    done
    [ "$(jq .lost_estimated r.json)" = 0 ] || jq -e '.lost_estimated < 0.01' r.json
    umbel info s.umb | grep -q '^meta uniq.measured 1000 '
    # Beyond a part of its plan it is measured again, whatever the file says.
    umbel uniq -q --kind auto -n 1000 -p 1% --state t.umb <(seq 1000) > /dev/null
    run umbel uniq --json=r.json -q --state t.umb <(seq 1001 2000)
    [ "$status" -eq 3 ]
    lost=$(jq '.lost_estimated | round' r.json)
    new=$(jq .new r.json)
    [ $((new + lost)) -gt 980 ]
    [ $((new + lost)) -lt 1020 ]
    umbel add t.umb --quiet <(seq 2001 6000) || true
    run umbel uniq --json=r.json -q --state t.umb <(seq 6001 6010)
    jq -e '.fpr_now > 0.3' r.json
}

@test "uniq: --only-matching prints keys, with what -c, -d, -D, -u and --top print lines" {
    for i in $(seq 300); do echo "$i GET /$((i * i % 70)) x"; done > log
    cut -d ' ' -f 3 log > keys
    umbel uniq -q -k 3 --only-matching log | cmp - <(awk '!s[$0]++' keys)
    umbel uniq -q -k 3 --only-matching --repeats log | cmp - <(awk 's[$0]++' keys)
    for option in -c -d -D -u; do
        umbel uniq -q -k 3 --only-matching $option log | sort | cmp - <(sort keys | uniq $option | sort)
    done
    umbel uniq -q -k 3 --only-matching --top 70 log | sort | cmp - <(sort keys | uniq -c | sort)
    printf 'id,Mail\n1,"a ""b"""\n2,\n3,"a ""b"""\n' > t.csv
    [ "$(umbel uniq -q --csv -k Mail --only-matching t.csv | od -An -c | tr -d ' \n')" = 'a"b"\n\n' ]
    [ "$(tr '\n' '\0' < log | umbel uniq -q -0 -k 3 --only-matching | tr '\0' '\n' | head -1)" = /1 ]
    run --separate-stderr umbel uniq -q -k 2 --only-matching <(printf 'a b\nc\nd b\n')
    [ "$status" -eq 3 ]
    [ "$output" = b ]
    [[ $stderr == *"1 line does not have the field: not printed; the first is line 2" ]]
    for option in -c -u; do
        run --separate-stderr umbel uniq -q $option -k 2 --only-matching <(printf 'a b\nc\nd b\n')
        [[ $stderr == *"1 line does not have the field: not printed; the first is line 2" ]]
    done
}

@test "uniq: what a state ignores is said" {
    seq 9 > text
    umbel uniq -q --state grows.umb text > /dev/null
    umbel uniq -q --kind auto -n 1000 -p 1% --seed 5 --state fixed.umb text > /dev/null
    ignored() { [[ $(umbel uniq -q --state "$@" text 2>&1) == *"already exists: its own plan applies"* ]]; }
    for options in "--kind auto" "--kind classic" "--seed 7" "-m 1G" "-p 1%"; do
        ignored grows.umb $options
    done
    ! ignored grows.umb --kind scalable
    for options in "--kind counting" "--seed 7" "-n 5" "-p 2%"; do ignored fixed.umb $options; done
    ! ignored fixed.umb --kind auto -n 1000 -p 1% --seed 5
}
