# SPDX-License-Identifier: MIT
# labels: asan clock
# Windows that forget by the clock.  Here a few steps of real seconds are used; the arithmetic is
# tested in test_cli_window_clock.c.
load helper

# aged AGO FILE...: a window of 8h/1h with these keys, as if its newest generation had begun AGO
# seconds ago.
aged() {
    local ago=$1
    shift
    umbel build -q -f --kind window -n 1000 -p 1e-9 -o s.umb --meta window.step=3600 \
        --meta window.advanced=$(($(date +%s) - ago)) "$@"
}

advanced() {
    umbel info s.umb | awk '$2 == "window.advanced" { print $3 }'
}

@test "window: within a run keys stay for the duration and go one step later" {
    # A second is what the clock says before a line is written and after its answer was read.  Where they differ,
    # or a second was missed, the machine was busy: the attempt says nothing, and there is another one.
    python3 - "$UMBEL" << 'P'
import subprocess, sys, time

def run(*options):
    return subprocess.Popen([sys.argv[1], "uniq", "-q", "--window", "1s/1s", "-n", "100", "-p", "1e-6", *options],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

def ask(run, second, *keys):
    """What is printed of the keys in that second; nothing at all in another one."""
    time.sleep(max(0, second + 0.02 - time.time()))
    before, end, printed = time.time(), f"end {second}", []
    run.stdin.write("".join(f"{key}\n" for key in (*keys, end)))
    while (line := run.stdout.readline().rstrip("\n")) != end:
        assert line, "it has ended"
        printed.append(line)
    return printed if int(before) == int(time.time()) == second else None

def attempt(options, asked):
    running, second = run(*options), int(time.time()) + 1
    got = [ask(running, second + after, *keys) for after, keys in asked]
    running.stdin.close()
    assert running.stdout.read() == "" and running.wait() == 0
    return got

def expect(options, asked, expected):
    while None in (got := attempt(options, asked)):
        pass
    assert got == expected, got

# a again after a second: remembered from there on.  After two, b's second plus a step is over.
expect([], [(0, "ab"), (1, "ac"), (2, "abc")], [["a", "b"], ["c"], ["b"]])
# No input for the length of the window plus a step.
expect(["-j", "3"], [(0, "ab"), (2, "bcb")], [["a", "b"], ["b", "c"]])
P
}

@test "window: time continues between runs" {
    seq 1 100 > old
    # The key's generation ended 0 to 8 steps ago: present.  9 steps: gone.
    for hours in 0 1 7 8; do
        aged $((hours * 3600 + 600)) old
        seq 51 150 | umbel uniq -q --window 8h/1h --state s.umb | cmp - <(seq 101 150)
    done
    for ago in $((9 * 3600)) $((9 * 3600 + 600)) $((1000 * 3600)) $(date +%s); do
        aged $ago old
        seq 51 150 | umbel uniq -q --window 8h/1h --state s.umb | cmp - <(seq 51 150)
    done
}

@test "window: the state records the time of its clock" {
    before=$(date +%s)
    seq 5 | umbel uniq -q --window 24h/1h -n 1000 --state s.umb > /dev/null
    [ "$(advanced)" -ge "$before" ]
    [ "$(advanced)" -le "$(date +%s)" ]
    run umbel info s.umb
    [[ $output =~ "remembers the last 1d, in steps of 1h" && $output =~ "planned for "+"1,000" ]]
    [[ $output =~ "window.step "+"3600" ]]
    # Without --window it continues with the same clock, in whole steps.
    aged 9000 <(seq 5)
    began=$(advanced)
    seq 3 7 | umbel uniq -q --state s.umb | cmp - <(seq 6 7)
    [ "$(advanced)" -eq $((began + 7200)) ]
    umbel verify -q s.umb
}

@test "window: a clock that is set back forgets nothing" {
    seq 1 100 > old
    aged -1800 old
    began=$(advanced)
    seq 51 150 | umbel uniq -q --state s.umb | cmp - <(seq 101 150)
    [ "$(advanced)" -eq "$began" ] # half a step: it waits
    aged -100000000 old
    seq 51 150 | umbel uniq -q --state s.umb | cmp - <(seq 101 150)
    [ "$(advanced)" -le "$(date +%s)" ] # three years: it continues from now
}

@test "window: another window or kind, or invalid metadata, is refused and the state is unchanged" {
    seq 5 > text
    aged 0 text
    cp s.umb before
    refused "made with a window other than 7d/1d (--window 8h/1h continues" umbel uniq --window 7d/1d -n 9 --state s.umb text
    refused "a window other than 8h/2h" umbel uniq --window 8h/2h -n 9 --state s.umb text
    refused "a window other than 9h/1h" umbel uniq --window 9h/1h -n 9 --state s.umb text
    refused "a window other than 16h/2h" umbel uniq --window 16h/2h -n 9 --state s.umb text # as many steps
    refused "forgets by the clock, not after a number of keys" umbel uniq --window 1000 --state s.umb text
    cmp s.umb before
    umbel uniq -q --window 480m/60m --state s.umb text | cmp - /dev/null # the same, in other units
    umbel uniq -q --window 1000 --state n.umb text > /dev/null
    refused "n.umb: does not forget by the clock" umbel uniq --window 8h/1h -n 9 --state n.umb text
    umbel build -q -n 100 -p 1% -o b.umb text
    refused "b.umb: does not forget by the clock" umbel uniq --window 8h/1h -n 9 --state b.umb text
    umbel build -q --kind window -n 100 -p 1% --meta window.step=soon -o w.umb text
    refused "w.umb: does not record when it last forgot" umbel uniq --state w.umb text
}

@test "window: a day in steps of an hour is not two days in steps of two" {
    seq 5 > text
    umbel uniq -q --window 24h/1h -n 1000 --state s.umb text > /dev/null
    refused "made with a window other than 2d/2h (--window 1d/1h continues it)" \
        umbel uniq --window 48h/2h -n 1000 --state s.umb text
    umbel uniq -q --window 1d/60m -n 1000 --state s.umb text | cmp - /dev/null
}

@test "window: invalid values are refused with a hint" {
    echo a > text
    for w in 24/1 24h/ /1h 1h/24h 24h/0s 24h/1x 1y/1d 24h/1h/1m -1h/1m; do
        refused "'$w' is not DURATION/STEP (such as 24h/1h" umbel uniq -n 9 --window=$w text
    done
    for w in abc 24h 1.5 ''; do
        refused "'$w' is neither a number of keys nor DURATION/STEP" umbel uniq --window=$w text
    done
    refused "must be at least 1" umbel uniq --window 0 text
    refused "'7d/1m' is 10,080 steps, but at most 255 are possible (7d/40m would work)" umbel uniq -n 9 --window 7d/1m text
    umbel uniq -q -n 9 --window 7d/40m text | cmp - text
    refused "'256s/1s' is 256 steps, but at most 255 are possible (256s/2s would work)" umbel uniq -n 999 --window 256s/1s text
    umbel uniq -q -n 999 --window 255s/1s text | cmp - text
    umbel uniq -q --window 1 text | cmp - text
    refused "needs the maximum number of different keys within the duration (-n KEYS" umbel uniq --window 24h/1h text
    refused "--kind and --window contradict" umbel uniq --window 24h/1h -n 9 --kind classic text
    umbel uniq -q -m 1MiB -p 1% --window 24h/1h text | cmp - text # two of the three are enough
}

@test "window: a step with more than its share causes a warning, with --strict an error" {
    run --separate-stderr umbel uniq --window 24h/1h -n 24000 -p 0.1% <(seq 1000)
    [ "$status" -eq 0 ]
    [ "${#stderr_lines[@]}" -eq 1 ]
    run --separate-stderr umbel uniq --window 24h/1h -n 24000 -p 0.1% <(seq 20000)
    [ "$status" -eq 3 ]
    [[ $stderr == "umbel: uniq: warning: more keys in a step than planned: the false-positive rate is "*"%, not 0.1%"* ]]
    run --separate-stderr umbel uniq --strict --window 24h/1h -n 24000 -p 0.1% --state s.umb <(seq 20000)
    [ "$status" -eq 2 ]
    [[ $stderr == "umbel: s.umb: more keys in a step than planned"* ]]
    umbel uniq -q --state s.umb <(seq 20000) | cmp - /dev/null # they were printed already
}

@test "window: a run ended by a signal has saved the steps before" {
    mkfifo pipe
    "$UMBEL" uniq -q --window 255s/1s -n 25500 -p 1e-9 --state s.umb < pipe > kept 3>&- &
    pid=$!
    exec 4> pipe
    echo a >&4
    # A step that begins before "a" is read saves a state without it, so wait for one that has it.
    for _ in $(seq 6000); do
        echo b >&4
        [ ! -e s.umb ] || ! echo a | umbel check -q s.umb || break
        sleep 0.05
    done
    kill $pid
    wait $pid || true
    exec 4>&-
    printf 'a\nc\n' | umbel uniq -q --state s.umb | cmp - <(echo c)
}

# A log in several formats, and the lines of it that a window of a day in steps of an hour prints.
logs() {
    python3 - <<'P'
import datetime, random
random.seed(5)
seconds, step, generations = 1763000000, 3600, 24
begun, step_now, last = 0, 0, {}
names = "clf", "python", "csv", "json", "ms"
files = {name: open(name, "w") for name in names}
expected = {name: open(name + ".expected", "w") for name in names}
india = datetime.timezone(datetime.timedelta(hours=5, minutes=30))
files["csv"].write('id,"when, exactly"\n')
expected["csv"].write('id,"when, exactly"\n')
for _ in range(20000):
    seconds += random.choice([1, 5, 30, 120])
    key, t = random.randrange(3000), datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    lines = (f'10.0.0.{key % 9} - - [{t.astimezone(india):%d/%b/%Y:%H:%M:%S %z}] "GET /{key} HTTP/1.1" 200',
             f"{t:%Y-%m-%d %H:%M:%S},123 INFO /{key}", f'{key},"{t.astimezone(india).isoformat()}"',
             f'{{"id":{key},"ts":{seconds}.5}}', f"{key}\t{seconds}999")
    begun = begun or seconds
    steps = (seconds - begun) // step
    begun, step_now = begun + steps * step, step_now + steps
    new = key not in last or step_now - last[key] > generations
    last[key] = step_now
    for name, line in zip(names, lines):
        files[name].write(line + "\n")
        if new:
            expected[name].write(line + "\n")
P
}

@test "window: --time-key replays a log as it was written, in every format" {
    logs
    replay() { umbel uniq -q --window 24h/1h -n 10000 -p 1e-9 "$@"; }
    replay -k 7 --time-key 4 clf | cmp - clf.expected
    replay -j 2 -k 4 --time-key 1 python | cmp - python.expected
    replay --csv -k id --time-key 'when, exactly' csv | cmp - csv.expected
    replay --json-key .id --time-key .ts json | cmp - json.expected
    replay -t '\t' -k 1 --time-key -1 ms | cmp - ms.expected
}

@test "window: --time-key goes on with a state, which keeps it" {
    logs
    split -l 7000 clf part.
    umbel uniq -q --window 24h/1h -n 10000 -p 1e-9 --state s.umb -k 7 --time-key 4 part.aa > out
    for part in part.ab part.ac; do umbel uniq -q --state s.umb $part >> out; done
    cmp out clf.expected
    refused "has the time of its lines elsewhere: field=4" umbel uniq --state s.umb --time-key 5 part.aa
    umbel uniq -q --window 1h/1h -n 9 --state now.umb part.aa > /dev/null || true
    refused "goes by this machine's clock" umbel uniq --state now.umb --time-key 4 part.aa
    refused "--time-key: needs --window DURATION/STEP" umbel uniq --time-key 4 part.aa
    refused "--time-key: needs --window DURATION/STEP" umbel uniq --window 9 --time-key 4 part.aa
    refused "'ts' is a column, but there is no header" umbel uniq --window 1h/1h -n 9 -k 1 --time-key ts part.aa
}

@test "window: lines without a time, or late ones, are said and do not turn the clock" {
    printf '%s\n' 'a no' '' 'a 2026-11-19T10:00:00Z' 'b 2026-11-19T12:30:00Z' 'c 2026-11-19T11:45:00Z' \
        'd 2026-11-19T09:00:00Z' 'b soon' 'a 2026-11-19T13:00:00Z' 'b 2026-11-19T14:00:00Z' > log
    run --separate-stderr umbel uniq --json=r.json --window 1h/1h -n 9 -p 1e-9 -k 1 --time-key 2 log
    [ "$status" -eq 3 ]
    [ "$(cut -c1 <<< "$output" | tr -d '\n')" = abcdab ]
    [[ $stderr == *"log: warning: 3 lines do not have a time: taken as of the line before; the first is line 1"* ]]
    [[ $stderr == *"log: warning: 1 line is more than a step late: taken as of the line before; the first is line 6"* ]]
    [ "$(jq -c '[.warnings[].code]' r.json)" = '["lines_without_field","lines_without_time","lines_late"]' ]
}
