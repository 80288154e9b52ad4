# SPDX-License-Identifier: MIT
# The report of --json: one schema for all commands, whatever goes wrong, in one place.
load helper

# Every object is checked with a validator that knows nothing of umbel.
@test "json: what every command reports, on good days and bad ones, is what the schema says" {
    umask 022
    UMBEL=$UMBEL python3 - "$root" <<'P'
import json, os, pathlib, re, subprocess, sys
import jsonschema
root = pathlib.Path(sys.argv[1])
umbel = os.environ["UMBEL"]
schema = json.loads((root / "docs/report.schema.json").read_text())
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
seen, codes, commands = set(), set(), set()

def names(o):
    if isinstance(o, dict):
        for k, v in o.items():
            yield k
            yield from names(v)
    if isinstance(o, list):
        for v in o:
            yield from names(v)

def report(*args, text="", file=None, status=None):
    got = subprocess.run([umbel, *args], input=text, capture_output=True, text=True, errors="surrogateescape")
    said = pathlib.Path(file).read_text() if file else got.stdout
    try:
        o = json.loads(said)
    except ValueError:
        raise AssertionError((args, got))
    faults = [f"{list(e.path)}: {e.message}" for e in validator.iter_errors(o)]
    assert not faults, (args, faults)
    assert o["status"] == got.returncode and o["command"] == args[0], (args, o, got)
    assert status is None or got.returncode == status, (args, got)
    seen.update(o), codes.update(w["code"] for w in o["warnings"]), commands.add(o["command"])
    warned = [l for l in got.stderr.splitlines() if ": warning: " in l]
    assert "-qq" in args or len(warned) == len(o["warnings"]), (args, got.stderr, o)
    return o

def write(name, text):
    pathlib.Path(name).write_text(text, errors="surrogateescape")

lines = lambda first, last: "".join(f"{i}\n" for i in range(first, last + 1))
write("few", lines(1, 700)), write("many", lines(1, 5000)), write("more", lines(701, 900)), write("short", "a b\nc\n")
write("bad.json", '{"k": 1}\nnot\n'), write("mark", "\ufeffa\r\nb\r\n"), write("distinct", lines(1, 200000))
write("odd\udcff", "a b\nc\n")
for quiet in ([], ["-q"], ["-qq"]):
    q = [*quiet, "-f"]
    report("build", "--json", *q, "-n", "1000", "-o", "k.umb", "few", status=0)
    report("build", "--json", *q, "-n", "100", "-o", "small.umb", "few", status=3)
    o = report("build", "--json", *q, "-k", "2", "-o", "k2.umb", "short", "odd\udcff", status=3)
    assert (o["lines"], o["lines_without_field"], o["first_without_field"], o["keys"]) == (4, 2, 2, 1), o
    o = report("build", "--json", *q, "--json-key", ".k", "-o", "j.umb", "bad.json", status=3)
    assert o["lines_malformed"] == 1 and o["warnings"][0]["code"] == "lines_malformed", o
    o = report("build", "--json", *q, "-o", "x.umb", "none", status=2)
    assert o["errors"] == [{"where": "none", "text": "No such file or directory"}], o
    report("build", "--json", *q, "--never", "more", "-n", "700", "-p", "20%", "-o", "never.umb", "few")
    report("build", "--json", *q, "--never", "few", "-n", "700", "-o", "all.umb", "few", status=0)
    report("build", "--json", *q, "--kind", "counting", "-n", "9000", "-o", "c.umb", "few", status=0)
    report("build", "--json", *q, "--format", "guava", "-n", "1", "-p", "0.001%", "-o", "g", "-e", "x")
    report("merge", "--json", *q, "-o", "m.umb", "k.umb", "k.umb", status=0)
    report("merge", "--json", *q, "-o", "m.umb", "never.umb", "never.umb", status=3)
    report("merge", "--json", *q, "-o", "m.umb", "k.umb", "small.umb", status=2)
    report("intersect", "--json", *q, "-o", "m.umb", "k.umb", "k.umb", status=0)
    report("fold", "--json", *q, "-p", "1%", "-o", "m.umb", "k.umb", status=0)
    report("convert", "--json", *q, "-o", "m.umb", "k.umb", status=0), report("convert", "--json", *q, "-o", "m.umb", "few", status=2)
    report("add", "--json", *quiet, "k.umb", "more", status=0)
    report("remove", "--json", *quiet, "c.umb", "more", status=1)
    for command in ("uniq", "diff"):
        two = ["few"] if command == "diff" else []
        o = report(command, "--json=r", *quiet, "-k", "2", "short", *two, file="r")
        assert o["lines_without_field"] == 1 and o["status"] == 3, o
        report(command, "--json=r", *quiet, "mark", *two, file="r")
        report(command, "--json=r", *quiet, "none", *two, file="r", status=2)
    o = report("diff", "--json", *quiet, "-c", "many", "few")
    assert 4250 < o["selected"] <= 4300 and o["other"]["lines"] == 700, o
    report("uniq", "--json=r", *quiet, "--kind", "auto", "-n", "1000", "many", file="r", status=3)
    report("uniq", "--json=r", *quiet, "-c", "many", file="r", status=0)
    report("uniq", "--json=r", *quiet, "--top", "3", "distinct", file="r", status=3)
    assert report("count", "--json", *quiet, "few", status=0)["distinct"] == 700
    report("count", "--json", *quiet, "--json-key", ".k", "bad.json", status=3)
    report("cmp", "--json", *quiet, "k.umb", "k.umb", status=0)
    report("cmp", "--json", *quiet, "k.umb", "small.umb", status=2)
    report("verify", "--json", *quiet, "k.umb", "--present", "few", "--absent", "short", status=0)
    report("verify", "--json", *quiet, "k.umb", "--present", "many", status=1)
o = report("check", "-c", "-H", "--json", "k.umb", "few", "none", status=2)
assert [f["selected"] for f in o["files"]] == [700] and o["errors"][0]["where"] == "none", o
assert report("check", "-q", "--json", "k.umb", "few", status=0)["selected"] == 700
report("check", "--json=r", "--mark", "k2.umb", "short", file="r")
for old, new, number in (("few", "more", "1"), ("more", "few", "2")):
    report("delta", "--json", "--from", "small.umb", "-o", number + ".umd", old, new)
    report("apply", "--json", "small.umb", number + ".umd")
report("info", "--json", "never.umb", status=0), report("info", "--json", "small.umb", status=0)
report("info", "--json", "none.umb", status=2)
report("build", "--json", "-f", "--universe", "more", "-o", "exact.umb", "few", status=0)
report("plan", "--json", "-n", "1000", "-p", "1%", status=0), report("plan", "--json", "-n", "1000", "-m", "1", status=1)
report("plan", "--json", "-n", "2M", "-p", "1e-6", "--domains", status=0)
report("plan", "--json", "--format", "dcso", "-n", "200", "-p", "1%", status=0)
golden = root / "tests/golden"
if "table" in subprocess.run([umbel, "help"], capture_output=True, text=True).stdout:
    sst, ldb = str(golden / "rocksdb/v6.sst"), str(golden / "table/keys300.ldb")
    report("table", "--json", sst), report("table", "--json", sst, ldb), report("table", "--json", "few", sst, status=2)
    report("table", "--json", ldb, "--check", "key000000"), report("table", "--json", ldb, sst, "--check", "key000000")
pair = subprocess.run(f"'{umbel}' sign --generate --no-password -s list.key > list.pub && '{umbel}' sign -q -s list.key --number 7 k.umb", shell=True)
assert pair.returncode == 0
o = report("verify", "--json", "--key", "list.pub", "k.umb", status=0)
assert o["signed_number"] == 7 and "\tnumber:7\t" in o["signed_comment"] and len(o["signed_by"]) == 16, o
report("verify", "--json", "--key", "list.pub", "--not-before", "8", "k.umb", status=2)
two = subprocess.run([umbel, "info", "--json", "k.umb", "j.umb"], capture_output=True, text=True).stdout
first, end = json.JSONDecoder().raw_decode(two)
second, _ = json.JSONDecoder().raw_decode(two[end:].lstrip())
for o in (first, second):
    validator.validate(o)
assert (first["file"], second["file"]) == ("k.umb", "j.umb"), two

# Nothing in the schema is made up; every code of the sources is in it, and on the page.
texts = "\n".join(p.read_text() for p in (root / "cli").rglob("*.c"))
used = set(re.findall(r'cli_warn\(\s*"(\w+)"', texts)) | set(re.findall(r'warn\(&\w+->\w+, "(\w+)"', texts))
known = set(schema["properties"]["warnings"]["items"]["properties"]["code"]["enum"])
assert used == known, used ^ known
page = (root / "docs/contract.md").read_text()
assert all(f"`{code}`" in page for code in known), [c for c in known if f"`{c}`" not in page]
assert len(codes) >= 12, codes
unseen = set(schema["properties"]) - seen
elsewhere = {"key", "server", "database", "shards", "resumed_bytes", "faults", "fpr_below", "fingerprint", "fpr_alike", "text",
             "properties", "advice", "layers", "outdated", "block_offset", "block_bytes", "first_malformed"}
assert unseen <= elsewhere, unseen - elsewhere
listed = subprocess.run([umbel, "--help"], capture_output=True, text=True).stdout.split("\nCommands\n")[1].split("\n\n")[0]
reporting = {c for c in re.findall(r"^  ([a-z]+) ", listed, re.M)
             if "--json[=FILE]" in subprocess.run([umbel, "help", c, "--all"], capture_output=True, text=True).stdout}
assert reporting | {"push", "table"} == set(schema["properties"]["command"]["enum"]), reporting
assert commands | {"push", "table"} == reporting | {"push", "table"}, commands
P
}

@test "json: lines and the report never share a place" {
    seq 9 > f
    umbel build -q -o k.umb f
    refused "standard output has the lines (--json=FILE)" umbel uniq --json f
    refused "standard output has the lines (--json=FILE)" umbel diff --json f f
    refused "--json-lines prints the lines as JSON" umbel check --json k.umb f
    refused "standard output has the filter (--json=FILE)" umbel build --json -o - f
    refused "f: is also the output" umbel uniq --json=f f
    printf 'a b\nc\n' > short
    umbel uniq -k 2 --json=/dev/stderr short 2> both > out || [ $? -eq 3 ]
    [ "$(jq -c '[.status, .warnings[].code]' both)" = '[3,"lines_without_field"]' ]
    cmp out short
    umbel build -f -k 2 -o k.umb --json short 2> said | jq -e .lines_without_field
    grep -q 'warning: 1 line does not have the field' said
}
