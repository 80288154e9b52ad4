# SPDX-License-Identifier: MIT
# All options of all commands, two at a time; letters; what people type who know other programs.
load helper

# Every pair of options of every command is accepted, or refused with both names; an option that is
# refused alone may be refused for the same reason beside another.
@test "options: each pair of each command is accepted, or refused by both names" {
    seq 9 > lines
    printf 'a,b\n1,2\n' > t.csv
    head -c16 /dev/zero > secret && chmod 600 secret
    (cat lines; echo) | umbel build -q -n 1000 -o k.umb  # the empty key, too: --missing-empty makes it
    umbel build -q -o c.umb --kind counting lines
    UMBEL=$UMBEL python3 - <<'P'
import itertools, os, re, shutil, subprocess
from concurrent.futures import ThreadPoolExecutor
umbel = os.environ["UMBEL"]
BASE = {  # what makes a run without options end well, or with a message about something else
    "plan": ["-n 1000", "-p 1%"], "build": ["-o out.umb", "-f", "lines"], "check": ["k.umb", "lines"],
    "add": ["add.umb", "lines"], "remove": ["remove.umb", "lines"], "uniq": ["lines"], "count": ["lines"],
    "diff": ["lines", "lines"], "info": ["k.umb"], "verify": ["k.umb", "--present lines"], "merge": ["-o out.umb", "-f", "k.umb", "k.umb"],
    "cmp": ["k.umb", "k.umb"], "fold": ["-p 50%", "-o out.umb", "-f", "k.umb"],
    "intersect": ["-o out.umb", "-f", "k.umb", "k.umb"], "convert": ["-o out.umb", "-f", "k.umb"],
    "table": ["none.sst"], "push": ["--redis 127.0.0.1:1", "--key k", "k.umb"], "push ": ["--redis 127.0.0.1:1", "--key k", "--shards 3", "lines"], "serve": ["--http 127.0.0.1:0", "none.umb"],
    "sign": ["-s none.key", "lines"], "delta": ["--from k.umb", "-o out.umd", "-f", "lines", "lines"], "apply": ["k.umb", "none.umd"]}
VALUES = {"KEYS": "1000", "RATE": "1%", "SIZE": "64M", "KIND": "blocked", "FORMAT": "native", "TYPE": "int64", "N": "3",
          "K": "3", "S": "3", "C": ",", "N|DURATION/STEP": "100", "N|DURATION": "100", "SECONDS": "1", "NAME=VALUE": "a=b", "KEY": "5",
          "LIST|NAME": "1", "N|NAME|PATH": "1", "PATH": ".a", "FILTER": "k.umb", "FILE": "lines", "DIR": ".", "TEXT": "line", "DURATION": "9m"}
SPECIAL = {"--secret-file": "secret", "--window": "100", "--state": "new.umb", "--variant": "v1", "--ask": None}

def options_of(command):
    page = subprocess.run([umbel, "help", "--man", command.strip()], capture_output=True, text=True).stdout.replace("\\-", "-")
    for line in re.findall(r"^\.TP\n(.*)$", page.split(".SH OPTIONS")[1].split(".SH EXIT")[0], re.M):
        names = re.findall(r"\\fB(-[^\\]+)\\fR", line)
        argument = re.search(r"\\fI(.+)\\fR", line)
        if names and "--help" not in names and "--version" not in names:
            yield names, argument and argument[1]

def run(command, chosen, where):
    words = [a for a in BASE[command]]
    for names, argument in chosen:
        words = [w for w in words if w.split()[0] not in names]
    args = [part for w in words for part in w.split(" ", 1)]
    for names, argument in chosen:
        optional = argument and argument.startswith("[")
        value = SPECIAL.get(names[-1], VALUES.get(argument, "x")) if argument and not optional else None
        args += [names[-1]] + ([value] if value else [])
    os.makedirs(where)
    for name in ("lines", "t.csv", "secret", "k.umb"):
        os.link(name, f"{where}/{name}")
    shutil.copy("k.umb", f"{where}/add.umb"), shutil.copy("c.umb", f"{where}/remove.umb")
    done = subprocess.run([umbel, command.strip(), *args], cwd=where, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="replace", start_new_session=True, timeout=300)
    shutil.rmtree(where)
    assert done.returncode in (0, 1, 2, 3), (command, args, done)
    return done.returncode, done.stderr, args

def named(names, text):
    return any(re.search(rf"(?<![\w-]){re.escape(n)}(?![\w-])", text) for n in names)

tried, wrong = 0, []
with ThreadPoolExecutor(2) as pool:
    for command in BASE:
        options = [o for o in options_of(command) if command != "push" or "--shards" not in o[0]]
        assert options, command
        base = run(command, [], f"{command}-base")
        alone = list(pool.map(lambda i: run(command, [options[i]], f"{command}-{i}"), range(len(options))))
        pairs = list(itertools.combinations(range(len(options)), 2))
        results = pool.map(lambda p: run(command, [options[p[0]], options[p[1]]], f"{command}-{p[0]}-{p[1]}"), pairs)
        for (a, b), (status, said, args) in zip(pairs, results):
            tried += 1
            last = said.strip().splitlines()[-1] if said.strip() else ""
            if status != 2 or said == base[1] or (named(options[a][0], last) and named(options[b][0], last)):
                continue
            if any(alone[i][0] == 2 and alone[i][1].strip().splitlines()[-1] == last for i in (a, b)):
                continue
            wrong.append((command, args, last))
for w in wrong:
    print(*w)
assert not wrong, len(wrong)
assert tried > 5000, tried
P
}

# A letter with two meanings does something else than was meant, silently.
@test "options: a letter means one thing in all commands" {
    UMBEL=$UMBEL python3 - <<'P'
import os, re, subprocess
umbel = os.environ["UMBEL"]
meanings, letters = {}, 0
commands = re.findall(r"^  (\w+) ", subprocess.run([umbel, "help"], capture_output=True, text=True).stdout.split("Commands")[1], re.M)
for command in commands:
    page = subprocess.run([umbel, "help", "--man", command], capture_output=True, text=True).stdout.replace("\\-", "-")
    for line in re.findall(r"^\.TP\n(.*)$", page.split(".SH OPTIONS")[1].split(".SH EXIT")[0], re.M):
        names = re.findall(r"\\fB(-[^\\]+)\\fR", line)
        for letter in [n for n in names if len(n) == 2]:
            argument = re.search(r"\\fI(.+)\\fR", line)
            meanings.setdefault(letter, set()).add((names[-1], argument and argument[1]))
            letters += 1
two = {k: v for k, v in meanings.items() if len(v) > 1}
assert not two, two
assert letters > 100 and len(meanings) > 15, (letters, meanings)
P
}

@test "options: what people type who know other programs leads on" {
    seq 9 > f
    umbel build -q -o k.umb f
    refused "umbel uniq prints each line once" umbel dedup f
    refused "umbel check looks lines up" umbel lookup k.umb f
    refused "-n, --keys KEYS" umbel build --capacity 5 -o x.umb f
    refused "-p, --fpr RATE" umbel build --error-rate 1% -o x.umb f
    refused "--json-key PATH" umbel uniq --jsonl f
    refused "-t '\\t' -k N" umbel uniq --tsv f
    refused "lines go to standard output" umbel uniq -o out f
    refused "every key is added once anyway" umbel build -u -o x.umb f
    [ "$(printf 'A\na\n' | umbel uniq -q -i)" = A ]
    refused "column NAME: -k may be repeated" umbel uniq -k name,id f
    refused "-e KEY looks up a key" umbel check k.umb 5
}
