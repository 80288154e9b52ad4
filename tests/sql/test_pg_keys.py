# SPDX-License-Identifier: MIT
"""Texts as keys of other types: PostgreSQL's own parsers say what a text means."""
import random

import psycopg2
import pytest

SHAPES = {"uuid": ("0123456789abcdefABCDEF", "{}-g "), "bytea": ("0123456789abcdef\\\\x", "xyz \t\\'é")}


def texts(kind, n):
    """Valid ones, and some that a slip or two made of them."""
    chance = random.Random(7)
    plain, odd = SHAPES[kind]
    for i in range(n):
        if kind == "uuid":
            digits = "".join(chance.choices(plain, k=32))
            groups = [digits[at:at + 4] for at in range(0, 32, 4)]
            text = groups[0] + "".join(chance.choice(("", "-")) + g for g in groups[1:])
            text = "{" + text + "}" if chance.random() < 0.3 else text
        else:
            raw = bytes(chance.choices(range(256), k=chance.randrange(9)))
            text = "\\x" + raw.hex(" ") if i % 2 else "".join(
                f"\\{b:03o}" if b > 126 or b < 32 else "\\\\" if b == 92 else chr(b) for b in raw)
        for _ in range(chance.choice((0, 0, 1, 2))):
            at = chance.randrange(len(text) + 1)
            text = text[:at] + chance.choice(plain + odd) * chance.randrange(2) + text[at + chance.randrange(2):]
        yield text


@pytest.mark.parametrize("kind", SHAPES)
def test_a_text_means_what_it_means_to_postgresql(db, kind):
    """The filter of the value and the filter of the text through the recipe have the same bits."""
    build = (f"umbel_agg(%s::{kind}, 10, 0.01)", f"umbel_agg(%s::text, 10, 0.01, umbel_with(recipe => 'line type={kind}'))")
    valid = 0
    for text in texts(kind, 400):
        answers = []
        for form in build:
            try:
                answers.append(db.one(f"SELECT ({form})::bytea", text).tobytes())
            except psycopg2.DataError:
                answers.append(None)
        assert answers[0] == answers[1], text
        valid += answers[0] is not None
    assert 100 < valid < 390


def test_what_a_driver_quotes(db):
    """psycopg2 writes values into the statement: '...' has no type, and becomes text."""
    db("CREATE TABLE k AS SELECT md5(i::text)::uuid AS u, decode(md5(i::text), 'hex') AS b FROM generate_series(1, 300) i")
    db("CREATE TABLE f AS SELECT umbel_agg(u, 300, 1e-6) AS u, umbel_agg(b, 300, 1e-6) AS b FROM k")
    for u, b in db("SELECT u::text, b::text FROM k"):
        assert db.one("SELECT %s <@ u AND %s <@ b FROM f", u, b) is True
    with pytest.raises(psycopg2.DataError, match="not a valid uuid"):
        db.one("SELECT %s <@ u FROM f", "no uuid")


def test_the_command_finds_uuids(db, umbel, tmp_path):
    path = tmp_path / "u.umb"
    path.write_bytes(db.one("SELECT umbel_agg(md5(i::text)::uuid, 300, 1e-6)::bytea FROM generate_series(1, 300) i"))
    asked = db.one("SELECT string_agg(md5(i::text)::uuid::text, E'\\n') FROM generate_series(201, 500) i")
    assert umbel("check", "-c", path, stdin=asked.encode()).strip() == b"100"
