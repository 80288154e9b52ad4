# SPDX-License-Identifier: MIT
# The golden table of recipes (tests/golden/recipes) through the command: other programs say what the
# key of each record is.
load helper

@test "recipes: every record of the golden table gets its key, in build, check and check -e" {
    UMBEL=$UMBEL python3 - "$root" <<'P'
import collections, os, subprocess, sys
from pathlib import Path

umbel, root = os.environ["UMBEL"], Path(sys.argv[1])
bytes_of = lambda text: None if text == "-" else b"" if text == "empty" else bytes.fromhex(text)
plan = ["-q", "-f", "-n", "1000", "-p", "1e-9"]

def run(*args, status=0):
    done = subprocess.run([umbel, *args], capture_output=True)
    assert done.returncode == status, (args, done.returncode, done.stderr, done.stdout)
    return done.stdout

def write(name, records, end):
    Path(name).write_bytes(b"".join(r + end for r in records))
    return name

def can_be_a_line(key):
    return b"\0" not in key or b"\n" not in key

def key_files(keys):
    """The keys as lines that end in NUL or, those that contain it, in newlines."""
    return (write("keys0", [k for k in keys if b"\0" not in k], b"\0"),
            write("keysn", [k for k in keys if b"\0" in k and b"\n" not in k], b"\n"))

def built_from(keys):
    """A filter of these keys, made without a recipe."""
    plain, others = key_files(keys)
    run("build", *plan, "-0", "-o", "model.umb", plain)
    run("add", "-q", "model.umb", others)
    return "model.umb"

def check_keys(recipe, cases):
    """check -e: what is typed is a key already.  Arguments cannot contain NUL."""
    cases = [c for c in cases if b"\0" not in c[0] + (c[2] or b"")]
    model = built_from([c[2] for c in cases if c[1] == "key"])
    for text, state, key in cases:
        run("check", "-q", "--recipe", recipe, model, "-e", os.fsdecode(text), status=0 if state == "key" else 3)

def check_records(recipe, header, cases, end, options):
    first = [header] if header is not None else []
    good = [c for c in cases if c[1] == "key"]
    # An open quote swallows what follows it, so such records have separate files.
    alone = [c for c in cases if c[1] == "malformed" and recipe.startswith("csv")]
    bad = [c for c in cases if c[1] != "key" and c not in alone]
    how = ["--recipe", recipe, *options]
    # What other programs call the keys is found by the recipe, and what has no key is not.
    model = built_from([c[2] for c in good])
    everything = write("all", first + [c[0] for c in good + bad], end)
    kept = first + [c[0] for c in good if can_be_a_line(c[2])]
    if len(kept) > len(first):
        found = run("check", *how, model, everything, status=3 if bad else 0)
        assert found == b"".join(r + end for r in kept), (recipe, header, found)
    # The other way round: what build made of the records are those keys, and no others.
    run("build", *plan, *how, "-o", "k.umb", everything, status=3 if bad else 0)
    for name, separator in zip(key_files([c[2] for c in good]), (["-0"], [])):
        keys = Path(name).read_bytes()
        listed = run("check", *separator, "--recipe", "line", "k.umb", name, status=0 if keys else 1)
        assert listed == keys, (recipe, header)
    for c in alone:
        run("build", *plan, *how, "-o", "b.umb", write("open", first + [c[0]], end), status=3)

groups, rows, seen = collections.defaultdict(list), 0, 0
for table in ("fields", "csv", "json", "meanings"):
    for line in (root / f"tests/golden/recipes/{table}.tsv").read_text().splitlines()[1:]:
        recipe, use, header, record, state, key, by = line.split("\t")
        groups[recipe, use, bytes_of(header)].append((bytes_of(record), state, bytes_of(key)))
        rows += 1
for (recipe, use, header), cases in sorted(groups.items(), key=str):
    if use == "key":
        check_keys(recipe, cases)
        seen += len(cases)
        continue
    digests = ["--digests"] if use == "digest" else []
    csv = recipe.startswith("csv")
    fits = lambda record, end: end not in record or (csv and record.count(b'"') > 1)
    for end in (b"\n", b"\0"):
        if header is not None and not fits(header, end):
            continue
        mine = [c for c in cases if fits(c[0], end)]
        if mine:
            check_records(recipe, header, mine, end, digests + (["-0"] if end == b"\0" else []))
        seen += len(mine)
assert rows >= 400 and seen >= rows, (rows, seen)
P
}
