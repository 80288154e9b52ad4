#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make.py - writes NAME.umb, NAME.txt and answers.tsv into this folder, independently of the library.

The files are written by ../native/make.py.  Keys and answers are written down here, by hand; names that are
found by mistake are looked for with scripts/umbel-read.
"""
import hashlib
import importlib.util
import itertools
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
spec = importlib.util.spec_from_file_location("native", HERE / "../native/make.py")
native = importlib.util.module_from_spec(spec)
spec.loader.exec_module(native)

BLOCKED, CLASSIC, LINE = dict(kind=1, hashes=8), dict(kind=2, hashes=7), dict(kind=8, hashes=8)
RARE = 64 * 1024  # bits, for a handful of keys
CROWDED = 512     # bits, for as many keys as make mistakes


def number(n):
    return n.to_bytes(8, "little", signed=True)


def digest(text):
    return hashlib.sha1(text.encode()).hexdigest().upper()


# A file: how it is made, its recipe with what the header says of it, lines, their keys, and texts with two
# answers, for the text as a key (`umbel check -e`) and as a record (a line of a file); none: it has no key.
FILES = {
    "line": (BLOCKED, RARE, "line", {}, ["Ada", "Grüße", "one two", "a,b"], ["Ada", "Grüße", "one two", "a,b"], [
        ("Ada", "yes yes", "a line"),
        ("ada", "no no", "other letters"),
        (" Ada", "no no", "a space"),
        ("Grüße", "yes yes", "UTF-8"),
        ("Gruesse", "no no", "other letters"),
        ("a,b", "yes yes", "a comma is a letter"),
        ("a", "no no", "no fields"),
    ]),
    "lower": (CLASSIC, RARE, "line lower", dict(flags=2), ["Ada@X.org", "GRÜSSE"], ["ada@x.org", "grÜsse"], [
        ("Ada@x.org", "yes yes", "capitals"),
        ("ada@x.org", "yes yes", "none"),
        ("grÜsse", "yes yes", "only ASCII changes"),
        ("grüsse", "no no", "only ASCII changes"),
        ("ada@x.or", "no no", "shorter"),
    ]),
    "domain": (LINE, RARE, "domain", dict(flags=8),
               ["bad.example", "0.0.0.0 ads.test", "||tracker.net^", "# nothing", "one.two.three"],
               ["bad.example", "ads.test", "tracker.net", "one.two.three"], [
        ("bad.example", "yes yes", "a name"),
        ("a.b.c.BAD.Example.", "yes yes", "below it"),
        ("example", "no no", "its parent"),
        ("notbad.example", "no no", "not below it"),
        ("two.three", "no no", "a parent"),
        ("one.two.three", "yes yes", "a name of three labels"),
        ("zero.one.two.three", "yes yes", "below it"),
        ("https://www.ads.test:8443/x?y", "yes yes", "a URL"),
        ("someone@tracker.net", "yes yes", "an address"),
        ("0.0.0.0 ads.test", "no yes", "a line of a hosts file"),
        ("||tracker.net^", "no yes", "a line of an ad blocker"),
        ("# www.bad.example", "none none", "a comment"),
        ("", "none none", "nothing at all"),
        ("..", "none none", "dots"),
    ]),
    "sha1": (BLOCKED, RARE, "line sha1", dict(flags=8), ["password", "letmein"],
             [digest("password"), digest("letmein")], [
        ("password", "yes yes", "its digest is the key"),
        ("Password", "no no", "another digest"),
        ("5baa61e4c9b93f3f0682250b6cf8331b7ee68fd8", "no no", "a digest is not looked up as one"),
    ]),
    "csv": (BLOCKED, RARE, "csv field=2 lower", dict(flags=8), ["1,Ada@x.org", '2,"b, o b"'], ["ada@x.org", "b, o b"], [
        ("Ada@X.org", "yes none", "a key, or a record of one field"),
        ("1,Ada@x.org,2", "no yes", "a record"),
        ('9,"B, O B"', "no yes", "quotes"),
        ("b, o b", "yes no", "a key with a comma, or another second field"),
        ('1,"open', "no none", "a quote that does not close"),
    ]),
    "fields": (BLOCKED, RARE, "field=2 delimiter=comma trim lower", dict(field=2, delimiter=ord(","), flags=3),
               ["1, Ada ,x"], ["ada"], [
        ("ADA", "yes none", "a key, or a record of one field"),
        (" ada ", "yes none", "trimmed"),
        ("7, ADA", "no yes", "a record"),
        ("Ada,7", "no no", "another second field"),
    ]),
    "json": (BLOCKED, RARE, "json=.user.mail lower", dict(flags=8), ['{"user":{"mail":"Ada@x.org"}}'], ["ada@x.org"], [
        ("ADA@x.org", "yes none", "a key, or no JSON"),
        ('{"user":{"mail":"Ada@X.ORG","n":1}}', "no yes", "a record"),
        ('{"user":{"mail":"bob@x.org"}}', "no no", "another"),
        ('{"user":1}', "no none", "no such member"),
    ]),
    "numbers": (BLOCKED, RARE, "line type=int64", dict(flags=8), ["7", "-1", "9223372036854775807"],
                [number(7), number(-1), number(2**63 - 1)], [
        ("7", "yes yes", "a number"),
        ("-1", "yes yes", "below zero"),
        ("9223372036854775807", "yes yes", "the largest"),
        ("8", "no no", "another"),
        ("9223372036854775808", "none none", "too large"),
        ("seven", "none none", "no number"),
    ]),
}


def bytes_of(key):
    return key if isinstance(key, bytes) else key.encode()


def filter_of(how, bits, recipe, header, keys, never=()):
    meta = () if recipe == "line" else ((b"recipe", recipe.encode()),)
    return native.filter_bytes(bits=bits, keys=list(map(bytes_of, keys)), meta=meta, capacity=len(keys), fpr=0.01,
                               never=list(map(bytes_of, never)), **how, **header)


def mistakes(data, keys, form):
    """Keys that are found, and are not in."""
    h, bits = native.reader.read(data)
    for i in itertools.count():
        if form.format(i) not in keys and native.reader.contains(h, bits, form.format(i).encode()):
            yield form.format(i)


def crowded():
    """Two files with mistakes, one of which has exceptions: good names that are found, and a parent of one."""
    keys = [f"key{i}" for i in range(40)]
    data = filter_of(BLOCKED, CROWDED, "line", {}, keys)
    wrong = mistakes(data, keys, "no{}")
    rows = [("key7", "yes yes", "a key")] + [(next(wrong), "yes yes", "a mistake") for _ in range(3)]
    names = [f"bad{i}.example" for i in range(40)]
    plain = filter_of(BLOCKED, CROWDED, "domain", dict(flags=8), names)
    found = mistakes(plain, names, "good{}.test")
    good, left = [next(found) for _ in range(3)], next(found)
    hidden = filter_of(BLOCKED, CROWDED, "domain", dict(flags=8), names, good)
    more = [("bad7.example", "yes yes", "listed"), ("www.bad7.example", "yes yes", "below it")]
    more += [(name, "no no", "good, found by mistake, an exception") for name in good]
    more += [(left, "yes yes", "found by mistake, no exception"), ("www." + left, "yes yes", "by mistake, through its parent")]
    return {"mistakes": (data, keys, rows), "exceptions": (hidden, names, more)}


def main():
    made = {name: (filter_of(how, bits, recipe, header, keys), lines, rows)
            for name, (how, bits, recipe, header, lines, keys, rows) in FILES.items()}
    made.update(crowded())
    answers = ["file\ttext\tkey\trecord\tlisted\twhat"]
    for name, (data, lines, rows) in made.items():
        (HERE / f"{name}.umb").write_bytes(data)
        (HERE / f"{name}.txt").write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        for text, said, what in rows:
            key, record = said.split()
            listed = "no" if "mistake" in what or record != "yes" else "yes"
            answers.append("\t".join((name, text, key, record, listed, what)))
    (HERE / "answers.tsv").write_text("\n".join(answers) + "\n", encoding="utf-8")


main()
