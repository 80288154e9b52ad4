# SPDX-License-Identifier: MIT
# contract.bats - docs/contract.md: what is said, and what the exit status says

load helper

# warned STATUS TEXT COMMAND OPTION...: umbel COMMAND warns with the text, with and without -q, and ends with
# the status; -qq silences the warning, not the status.  Files that it would write are removed in between.
warned() {
    local want=$1 text=$2 q
    shift 2
    for q in "" -q -qq; do
        rm -f out.umb
        [ ! -e before.umb ] || cp before.umb out.umb
        run --separate-stderr umbel "$@" $q
        [ "$status" -eq "$want" ] || { echo "exit status $status: $* $q: $stderr" >&2; return 1; }
        if [ "$q" = -qq ]; then
            [ -z "$stderr" ] || { echo "-qq: $*: $stderr" >&2; return 1; }
        else
            [[ $stderr == *": warning: "*"$text"* ]] || { echo "$* $q: $stderr" >&2; return 1; }
        fi
    done
}

@test "contract: -q silences no warning, -qq does, and the exit status stays" {
    seq 5000 > keys
    warned 3 "more keys than the 1,000 planned" build -n 1000 -o out.umb keys
    warned 3 "more keys than the 1,000 planned" build -n 1000 -j 3 -o out.umb keys
    warned 3 "more keys than planned: the false-positive rate is " uniq --kind auto -n 1000 keys
    warned 3 "more keys than planned: the false-positive rate is " uniq --kind auto -n 1000 -j 3 keys
    warned 3 "more keys in a step than planned" uniq --window 60m/10m -n 1000 keys
    umbel build -q -n 1000 -o before.umb <(seq 700)
    seq 701 900 > few
    warned 0 "of the plan is used up" add out.umb few
    warned 3 "more keys than the 1,000 planned" add out.umb keys
    warned 0 "its own plan applies" uniq -n 7000 --kind auto --state out.umb few
}

@test "contract: a merged filter that holds more than its plan" {
    umbel build -q -n 1000 -o a.umb <(seq 1000)
    umbel build -q -n 1000 -o b.umb <(seq 1001 2000)
    warned 3 "holds more keys than planned" merge -o out.umb a.umb b.umb
    umbel build -q -n 1000 -o c.umb <(seq 900)
    run --separate-stderr umbel merge -q -o d.umb a.umb c.umb
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
}

@test "contract: input that looks odd" {
    printf '\xef\xbb\xbfa\nb\n' > mark
    printf 'a\r\nb\r\n' > dos
    printf 'a\0\nb c\n' > nul
    for input in "begins with a byte-order mark" "2 lines end in a carriage return" "the first lines have NULs"; do
        case $input in begins*) file=mark ;; 2*) file=dos ;; *) file=nul ;; esac
        warned 0 "$input" build -o out.umb $file
        warned 0 "$input" uniq $file
        umbel build -qq -f -o f.umb $file
        warned 0 "$input" check f.umb $file
        warned 0 "$input" add f.umb $file
    done
    printf 'a b\nc\n' > short
    warned 3 "1 line does not have the field: printed" uniq -k 2 short
}

# Each row of the table is provoked, with and without -q, -qq, -j and --json; every warning of the sources has a row.
@test "contract: the table of all warnings is complete, and each of them true" {
    umask 022
    UMBEL=$UMBEL python3 - "$root" <<'P'
import os, pathlib, re, subprocess, sys
root = pathlib.Path(sys.argv[1])
umbel = os.environ["UMBEL"]

def run(*args, text=None):
    return subprocess.run([umbel, *args], input=text, capture_output=True, text=True)

def write(name, text):
    pathlib.Path(name).write_text(text)

def lines(first, last):
    return "".join(f"{i}\n" for i in range(first, last + 1))

def build(out, *rest):
    made = run("build", "-qq", "-f", "-o", out, *rest)
    assert made.returncode in (0, 3), made

write("few", lines(1, 100)), write("many", lines(1, 5000)), write("more", lines(701, 900)), write("distinct", lines(1, 200000))
write("short", "a b\nc\n"), write("bad.json", '{"k": 1}\nnot\n'), write("mark", "\ufeffa\nb\n"), write("dos", "a\r\nb\r\n"), write("nul", "a\0\nb c\n")
write("ab.csv", "a,b\n1,2\n"), write("ba.csv", "b,a\n2,1\n")
write("readable", "0" * 32 + "\n")
build("a.umb", "-n", "1000", "many"), build("never.umb", "-n", "100", "-p", "20%", "--never", "many", "few")
build("c.umb", "-n", "1000", "--kind", "counting", "few"), build("k2.umb", "-k", "2", "short"), build("small.umb", "few")
build("d.bloom", "--format", "dcso", "-n", "100", "few"), build("seven.umb", "-n", "1000", "-e", "x")
first700 = lines(1, 700)
write("700", first700)
state = lambda: build("state.umb", "-n", "1000", "few")
most = lambda: build("most.umb", "-n", "1000", "700")
counting = lambda: build("c.umb", "-n", "1000", "--kind", "counting", "few")
write("form", "".join(f"user{i}@dom{i}.example.org/0\n" for i in range(100)))
form = lambda: build("form.bloom", "--format", "dcso", "-n", "100", "-p", "1e-5", "-e", "x")
def followed():
    build("aside.umb", "few")
    pathlib.Path("aside.umb.deltas").unlink(missing_ok=True)
    for args in (["delta", "-q", "-f", "--from", "aside.umb", "-o", "1.umd", "few", "more"], ["apply", "-q", "aside.umb", "1.umd"]):
        assert run(*args).returncode == 0, args
def aside():
    followed()
    build("new.umb", "more")
    os.replace("new.umb", "aside.umb")
out = ["-f", "-o", "out.umb"]
CASES = {  # row: commands, each with what is done before it
    "N lines do not have the field": [(None, ["uniq", "-k", "2", "short"]), (None, ["count", "-k", "2", "short"]),
                                      (None, ["build", "-k", "2", *out, "short"]), (None, ["check", "-k", "2", "small.umb", "short"]),
                                      (None, ["diff", "-k", "2", "short", "few"])],
    "N lines are not": [(None, ["build", *out, "--json-key", ".k", "bad.json"]), (None, ["uniq", "--json-key", ".k", "bad.json"])],
    "more keys than the N planned": [(None, ["build", "-n", "1000", *out, "many"]), (most, ["add", "most.umb", "many"]),
                                     (None, ["diff", "-n", "50", "few", "many"])],
    "holds more keys than planned": [(None, ["merge", *out, "a.umb", "a.umb"])],
    "more keys than planned: the false-positive rate is": [(None, ["uniq", "--kind", "auto", "-n", "1000", "many"])],
    "more keys in a step than planned": [(None, ["uniq", "--window", "60m/10m", "-n", "1000", "many"])],
    "exceptions dropped: N": [(None, ["merge", *out, "never.umb", "never.umb"])],
    "N of these lines may not belong to the top N": [(None, ["uniq", "--top", "3", "distinct"])],
    "has other columns than the header that was printed": [(None, ["uniq", "--csv", "-k", "a", "ab.csv", "ba.csv"])],
    "N keys were not in the filter": [(counting, ["remove", "c.umb", "distinct"])],
    "N% of the plan is used up": [(most, ["add", "most.umb", "more"])],
    "the false-positive rate will be": [(None, ["build", "--format", "guava", "-n", "1", "-p", "0.001%", *out, "-e", "x"])],
    "DataSketches for C++ misreads filters of 512 MiB and more": [
        (None, ["build", "--format", "datasketches", "-n", "448126080", "-p", "1%", "-f", "-o", "/dev/null", "-e", "x"])],
    "the false-positive rate for keys like these is": [
        (None, ["build", "--format", "dcso", "-n", "100", "-p", "1e-5", *out, "form"]),
        (form, ["add", "form.bloom", "form"])],
    "begins with a byte-order mark": [(None, ["build", *out, "mark"]), (None, ["uniq", "mark"]), (None, ["count", "mark"])],
    "N lines end in a carriage return": [(None, ["build", *out, "dos"]), (None, ["uniq", "dos"]), (None, ["count", "dos"])],
    "the first lines have NULs": [(None, ["build", *out, "nul"]), (None, ["uniq", "nul"]), (None, ["count", "nul"])],
    "already exists: its own plan applies": [(state, ["uniq", "-n", "7000", "--kind", "auto", "--state", "state.umb", "more"])],
    "a pipe is read once: any exceptions (@@) in it have no effect": [(None, ["build", "--domains", "-n", "9", *out])],
    "listed as well": [(None, ["build", "--never", "few", *out, "few"])],
    "was replaced, but the old filter stays": [],             # lookup.bats
    "the deltas beside it are not used": [(aside, ["check", "aside.umb", "more"])],
    "the deltas of the file before it are removed": [(followed, ["build", "-f", "-o", "aside.umb", "few"])],
    "cannot be made smaller": [(None, ["fold", "-p", "1%", *out, "small.umb"]), ],
    "everyone on this machine can read the secret": [(None, ["build", "--secret-file", "readable", *out, "few"])],
    "another command is changing it": [],                     # uniq.bats
    "cannot be locked": [],                                   # attributes.bats
    "could not be kept": [],                                  # attributes.bats
    "cannot be synced here": [],                              # tests/crash
    "ends within a line": [],                                 # uniq.bats
}
ELSEWHERE = {"another command is changing it": "uniq.bats", "was replaced, but the old filter stays": "lookup.bats", "could not be kept": "attributes.bats",
             "cannot be locked": "attributes.bats", "cannot be synced here": "../crash/faults.py", "ends within a line": "uniq.bats"}
page = (root / "docs/contract.md").read_text().split("## All warnings")[1]
rows = {}
for row in re.findall(r"^\| (`.*) \| ([0-3]) \| `\w+` \|$", page, re.M):
    rows[re.match(r"`([^`]*)`", row[0])[1]] = (row[0], int(row[1]))
assert set(rows) == set(CASES), set(rows) ^ set(CASES)

def pattern(text):
    words = re.escape(text).replace(r"N%", r"[0-9.]+%")
    words = re.sub(r"\bN\b", r"[0-9,]+", words)
    return re.compile(words.replace("lines\\ do\\ not\\ have", "lines? (does|do) not have").replace("lines\\ are", "lines? (is|are)")
                      .replace("keys\\ were", "keys? (was|were)"))

checked = 0
for name, cases in CASES.items():
    want = rows[name][1]
    if ELSEWHERE.get(name):
        assert name in (root / "tests/cli" / ELSEWHERE[name]).read_text(), name
    for before, command in cases:
        help_ = run("help", command[0], "--all").stdout
        for more in ("", "-q", "-qq", "-j 3", "--json=report"):
            if more == "-j 3" and "--threads" not in help_ or more == "--json=report" and "--json[=FILE]" not in help_:
                continue
            if command[0] == "check" and more.startswith("-q"):
                continue  # there -q ends at the first match
            if before:
                before()
            got = run(*command, *more.split(), text="x.example\n")
            status = want
            if command[0] == "diff" and want == 0 or command[0] == "check" and want == 0:
                status = got.returncode
            assert got.returncode == status, (name, command, more, got.returncode, want, got.stderr)
            said = bool(re.search("warning: .*" + pattern(name).pattern, got.stderr))
            assert said == (more != "-qq"), (name, command, more, got.stderr)
            checked += 1
assert checked > 90, checked

# Every warning in the sources.
texts = "\n".join(p.read_text() for p in (root / "cli").rglob("*.c"))
calls = re.findall(r'cli_warn\(\s*[^,]+,\s*[^,]+,\s*((?:"(?:[^"\\]|\\.)*"\s*)+)', texts)
table = re.sub(r"\bN\b", "", " ".join(text for text, _ in rows.values()))
for call in calls:
    words = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', call))
    parts = [w.strip(" :;,(") for w in re.split(r"%(?:\.\*)?[a-z%]+", words) if len(w.strip(" :;,(")) > 7]
    known = any(part[:12] in table.replace("  ", " ") or part[:12] in table for part in parts)
    assert known or not parts or "the first is line" in words or "not in the filter" in words, words
assert len(calls) > 15, len(calls)
P
}
