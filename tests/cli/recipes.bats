# SPDX-License-Identifier: MIT
# labels: asan
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

def key_files(keys):
    """The keys as lines that end in NUL or, those that contain it, in newlines."""
    return (([k for k in keys if b"\0" not in k], b"\0", ["-0"]),
            ([k for k in keys if b"\0" in k and b"\n" not in k], b"\n", []))

def can_be_a_line(key):
    return b"\0" not in key or b"\n" not in key

def check_typed(recipe, use, cases):
    """check -e and, where that makes a difference, build -e: what is typed is a key already.  Arguments
    cannot contain NUL."""
    for text, state, key in cases:
        if b"\0" in text + (key or b""):
            continue
        typed = ["--recipe", recipe, "-e", os.fsdecode(text)]
        if use == "key lookup" or "domain" not in recipe:
            run("check", "-q", "model.umb", *typed, status={"key": 0, "nothing": 1, "malformed": 3}[state])
        else:
            run("build", *plan, "-o", "t.umb", *typed, status=0 if key else 3)
            if key:
                run("check", "-q", "--recipe", "line", "t.umb", "-e", os.fsdecode(key))

def check_found(how, first, good, bad, end):
    """What other programs call the keys is found by the recipe, and what has no key is not."""
    kept = first + [c[0] for c in good if can_be_a_line(c[2])]
    if len(kept) > len(first):
        lines = write("all", first + [c[0] for c in good + bad], end)
        found = run("check", *how, "model.umb", lines, status=3 if bad else 0)
        assert found == b"".join(r + end for r in kept), (how, found)

def check_built(how, first, good, bad, end):
    """The other way round: what build makes of the records are those keys."""
    lines = write("all", first + [c[0] for c in good + bad], end)
    run("build", *plan, *how, "-o", "k.umb", lines, status=3 if bad else 0)
    for keys, separator, option in key_files([c[2] for c in good]):
        if keys:
            listed = run("check", *option, "--recipe", "line", "k.umb", write("keys", keys, separator))
            assert listed == b"".join(k + separator for k in keys), (how, listed)

def check_records(recipe, use, header, cases):
    """Each record once in check and once in build, as lines that end in a newline there and in NUL
    here, if it can be such a line.  Of domains, check finds more than build takes."""
    csv = recipe.startswith("csv")
    fits = lambda record, end: end not in record or (csv and record.count(b'"') > 1)
    first = [header] if header is not None else []
    digests = ["--digests"] if use == "digest" else []
    done = 0
    ways = [(check_found, (b"\n", b"\0")), (check_built, (b"\0", b"\n"))]
    if "domain" in recipe:
        ways = ways[:1] if use == "record lookup" else ways[1:]
    for check, ends in ways:
        left = cases
        for end in ends:
            if header is not None and not fits(header, end):
                continue
            mine = [c for c in left if fits(c[0], end)]
            left = [c for c in left if c not in mine]
            # An open quote swallows what follows it, so such records have separate files.
            alone = [c for c in mine if c[1] == "malformed" and csv]
            good = [c for c in mine if c[1] == "key"]
            bad = [c for c in mine if c[1] != "key" and c not in alone]
            how = ["--recipe", recipe, *digests, *(["-0"] if end == b"\0" else [])]
            if good or bad:
                check(how, first, good, bad, end)
            if check == check_built:
                for c in alone:
                    run("build", *plan, *how, "-o", "b.umb", write("open", first + [c[0]], end), status=3)
            done += len(mine)
    return done

groups, rows, seen = collections.defaultdict(list), 0, 0
for table in ("fields", "csv", "json", "meanings", "hosts"):
    for line in (root / f"tests/golden/recipes/{table}.tsv").read_text().splitlines()[1:]:
        recipe, use, header, record, state, key, by = line.split("\t")
        groups[recipe, use, bytes_of(header)].append((bytes_of(record), state, bytes_of(key)))
        rows += 1
# A filter of all keys, made without a recipe.
(plain, end, option), (others, other_end, _) = key_files([c[2] for g in groups.values() for c in g if c[1] == "key"])
run("build", *plan, *option, "-o", "model.umb", write("plain", plain, end))
run("add", "-q", "model.umb", write("others", others, other_end))
for (recipe, use, header), cases in sorted(groups.items(), key=str):
    if use.startswith("host"):
        seen += 2 * len(cases)  # the command has no such use
    elif use.startswith("key"):
        check_typed(recipe, use, cases)
        seen += 2 * len(cases)
    else:
        seen += check_records(recipe, use, header, cases) * (2 if "domain" in recipe else 1)
assert rows >= 1200 and seen == 2 * rows, (rows, seen)
P
}
