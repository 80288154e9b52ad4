# SPDX-License-Identifier: MIT
"""How records become keys: every row of the golden table, lines in and out of filters."""
import json
import random
import warnings
from pathlib import Path

import pytest
import umbel

GOLDEN = Path(__file__).resolve().parents[3] / "tests" / "golden"


def rows(name):
    for line in (GOLDEN / name).read_text(encoding="utf-8").splitlines()[1:]:
        yield line.split("\t")


def of_hex(text):
    return None if text == "-" else b"" if text == "empty" else bytes.fromhex(text)


@pytest.mark.parametrize("name", ["fields", "csv", "json", "meanings", "hosts"])
def test_golden_table(name):
    n = 0
    for recipe, use, header, record, state, key, _ in rows(f"recipes/{name}.tsv"):
        use, _, lookup = use.partition(" ")
        found = umbel.record_key(recipe, of_hex(record), use=use, header=of_hex(header), lookup=bool(lookup))
        assert found == (state, of_hex(key)), (recipe, record)
        n += 1
    assert n > 100


def test_lines_use_the_recipe():
    f = umbel.Filter(100, 1e-9)
    f.recipe = "csv column=name lower"
    assert f.recipe == "csv column=name lower"
    done = f.add_lines(b'id,name\r\n1,Ada\r\n2,"Grace,\nH"\r\n3\r\n4,ada\r\n')
    assert done.asdict() == {"records": 4, "new": 2, "missing": 1, "malformed": 0}
    assert "ada" in f and "Ada" not in f  # `in` takes keys
    assert f.contains(b"grace,\nh")
    assert f.find_lines(b"name,x\nADA,1\nbob,2\n") == [b"ADA,1"]
    assert f.find_lines(b"Ada\nada", recipe="line") == [b"ada"]
    with pytest.raises(umbel.InvalidError, match="name: the header has no such column"):
        f.find_lines(b"id\n1\n")
    done = umbel.Filter(10).add_lines(b'{"a":1}\nnot JSON\n\n', recipe="json=.a")
    assert repr(done) == "umbel.Lines(records=3, new=1, missing=1, malformed=1)"


def test_domains_are_found_by_a_parent():
    f = umbel.Filter(100, 1e-9)
    f.recipe = "domain"
    f.add_lines(b"example.com\n")
    assert f.find_lines(b"a.Example.com.\nexample.org\n") == [b"a.Example.com."]


def test_what_is_refused():
    f = umbel.Filter(10)
    with pytest.raises(umbel.VersionError, match="fnord: .*at byte 5"):
        f.recipe = "line fnord"
    with pytest.raises(umbel.InvalidError, match="field=0"):
        f.recipe = "field=0"
    for wrong in (None, b"line", 7):
        with pytest.raises(TypeError):
            f.recipe = wrong
    with pytest.raises(TypeError):
        del f.recipe
    with pytest.raises(ValueError):
        f.recipe = "line\0"
    with pytest.raises(TypeError):
        f.add_lines("text")
    with pytest.raises(umbel.InvalidError):
        umbel.record_key("line", b"x", use="other")
    assert f.recipe == "line"


def test_a_recipe_of_a_later_version():
    later = next(bytes.fromhex(data) for name, data in rows("native/recipes.tsv") if name == "recipe_later")
    f = umbel.Filter.from_bytes(later)
    assert f.recipe == "line fnord=7" and "ada" in f
    with pytest.raises(umbel.VersionError, match="fnord=7"):
        f.find_lines(b"ada\n")
    assert f.to_bytes() == later


class NotJSON(Exception):
    pass


def first_wins(pairs):
    return dict(reversed(pairs))  # umbel's rule; Python takes the last


def refuse(name):
    raise NotJSON(name)


def lone_surrogates(value):
    if isinstance(value, str):
        return any(0xD800 <= ord(c) < 0xE000 for c in value)
    if isinstance(value, dict):
        return any(lone_surrogates(v) for pair in value.items() for v in pair)
    return isinstance(value, list) and any(map(lone_surrogates, value))


def expected(text):
    """What Python's json module says about .a, by umbel's rules."""
    try:
        tree = json.loads(text.decode(), parse_int=lambda s: ("number", s), parse_float=lambda s: ("number", s),
                          parse_constant=refuse, object_pairs_hook=lambda pairs: [("pairs", pairs)])
    except (ValueError, NotJSON):
        return "nothing" if not text.strip(b" \t\r\n") else "malformed", None

    def plain(value):  # lone surrogates anywhere, names that are lost included
        if isinstance(value, list) and len(value) == 1 and isinstance(value[0], tuple) and value[0][0] == "pairs":
            return [part for name, v in value[0][1] for part in (name, plain(v))]
        return [plain(v) for v in value] if isinstance(value, list) else value

    if lone_surrogates(plain(tree)):
        return "malformed", None
    if not (isinstance(tree, list) and len(tree) == 1 and isinstance(tree[0], tuple) and tree[0][0] == "pairs"):
        return "nothing", None
    found = first_wins(tree[0][1]).get("a")
    if found is None:
        return "nothing", None
    if isinstance(found, list):
        return "malformed", None
    if isinstance(found, bool):
        return "key", b"true" if found else b"false"
    return "key", (found[1] if isinstance(found, tuple) else found).encode()


def test_json_as_python_reads_it():
    """Random texts, and the same with a few bytes changed."""
    seed = random.randrange(2**32)
    print("seed", seed)
    rng = random.Random(seed)
    pieces = [b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b" ", b"\t", b"0", b"1", b"-", b".", b"e", b"E", b"+", b"true", b"null",
              b"a", b"\\u00", b"\\ud83d", b"\\ude00", b"\xc3\xa9", b"\xff", b"\xed\xa0\x80", b"\x00", b"\x1f", b'"a":']

    def value(depth):
        kind = rng.randrange(8 if depth < 4 else 6)
        if kind == 6:
            return [value(depth + 1) for _ in range(rng.randrange(4))]
        if kind == 7:
            return {rng.choice(["a", "b", "\u00e9", "", "a b"]): value(depth + 1) for _ in range(rng.randrange(4))}
        return [None, True, rng.randrange(-99, 99), rng.random() * 10 ** rng.randrange(-20, 20),
                "".join(rng.choice(["x", "\"", "\\", "\u20ac", "\U0001f600", "\n", ", "]) for _ in range(rng.randrange(9))), ""][kind]

    kinds = set()
    for _ in range(20000):
        text = json.dumps({"a": value(0), "b": value(0)} if rng.random() < 0.8 else value(0),
                          ensure_ascii=rng.random() < 0.5).encode()
        for _ in range(rng.randrange(3)):
            at = rng.randrange(len(text) + 1)
            text = text[:at] + rng.choice(pieces) + text[at + rng.randrange(3):]
        want = expected(text)
        assert umbel.record_key("json=.a", text) == want, (seed, text)
        kinds.add(want[0])
    assert kinds == {"key", "nothing", "malformed"}


def test_table_of_lookups():
    f = umbel.Filter(100, 1e-9)
    f.recipe = "domain"
    done = f.add_lines((GOLDEN / "recipes" / "listed.txt").read_bytes())
    assert (done.new, done.malformed) == (4, 0)

    def has(text, use):
        _, key = umbel.record_key("domain", text, use=use, lookup=True)
        labels = key.split(b".") if key else []
        return any(b".".join(labels[i:]) in f for i in range(len(labels)))
    n = 0
    for text, key, host, record, what in rows("recipes/lookups.tsv"):
        text = of_hex(text)
        assert (f.find_lines(text + b"\n") == [text]) == (record == "yes"), what
        assert [has(text, use) for use in ("key", "host", "record")] == [a == "yes" for a in (key, host, record)], what
        n += 1
    assert n > 40


def test_golden_lookups():
    """The table that every face has: texts through a filter's own recipe."""
    texts = {}
    for name, text, key, record, _, what in rows("lookups/answers.tsv"):
        texts.setdefault(name, []).append((text, key == "yes"))
        f = umbel.Filter.open(GOLDEN / "lookups" / f"{name}.umb")
        assert f.has_text(text) == f.has_text(text.encode()) == (key == "yes"), (name, what)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert (f.find_lines(f"{text}\n".encode()) == [text.encode()]) == (record == "yes"), (name, what)
    assert len(texts) == 10
    for name, asked in texts.items():
        f = umbel.Filter.load(GOLDEN / "lookups" / f"{name}.umb")
        answers = bytes(answer for _, answer in asked)
        assert f.has_texts(text for text, _ in asked) == answers
        out = bytearray(1000 * len(asked))
        assert f.has_texts([text for text, _ in asked] * 1000, out=out) is out and out == answers * 1000


def test_texts_follow_the_recipe():
    f = umbel.Filter(100, 1e-9)
    f.add("ada")
    assert not f.has_text("Ada") and f.has_text("ada")
    f.recipe = "line lower"
    assert f.has_text("Ada") and f.has_text(b"ADA") and "Ada" not in f

    def changing():
        """Sets another recipe while the texts are gathered, before any is asked for."""
        yield "ADA"
        f.recipe = "line"
        yield "ada"
    assert f.has_texts(changing()) == b"\0\1"
    for wrong in (7, None, ["a"]):
        with pytest.raises(TypeError):
            f.has_text(wrong)
    with pytest.raises(TypeError) as refused:
        f.has_texts(["a", 7])
    assert refused.value.index == 1


def test_good_names_cover_their_parents():
    """As umbel build --never does: a lookup of a name asks for its parents, too."""
    listed = [f"bad{i}.example" for i in range(4000)]
    good = [f"www.good{i}.test" for i in range(500)]
    plain = umbel.build(listed, 0.1, kind="tight", recipe="domain")
    assert any(plain.has_texts(good))
    f = umbel.build(listed, 0.1, kind="tight", recipe="domain", never=good)
    assert not any(f.has_texts(good)) and all(f.has_texts(listed))
