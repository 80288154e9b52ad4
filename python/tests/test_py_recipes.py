# SPDX-License-Identifier: MIT
"""How records become keys: every row of the golden table, lines in and out of filters."""
from pathlib import Path

import pytest
import umbel

GOLDEN = Path(__file__).resolve().parents[2] / "tests" / "golden"


def rows(name):
    for line in (GOLDEN / name).read_text(encoding="utf-8").splitlines()[1:]:
        yield line.split("\t")


def of_hex(text):
    return None if text == "-" else b"" if text == "empty" else bytes.fromhex(text)


@pytest.mark.parametrize("name", ["fields", "csv", "json", "meanings"])
def test_golden_table(name):
    n = 0
    for recipe, use, header, record, state, key, _ in rows(f"recipes/{name}.tsv"):
        found = umbel.record_key(recipe, of_hex(record), use=use, header=of_hex(header))
        assert found == (state, of_hex(key)), (recipe, record)
        n += 1
    assert n > 100


def test_lines_use_the_recipe():
    f = umbel.Filter(100, 1e-9)
    f.recipe = "csv column=name lower"
    assert f.recipe == "csv column=name lower"
    assert f.add_lines(b'id,name\r\n1,Ada\r\n2,"Grace,\nH"\r\n3\r\n4,ada\r\n') == (4, 2, 1, 0)
    assert "ada" in f and "Ada" not in f  # `in` takes keys
    assert f.contains(b"grace,\nh")
    assert f.find_lines(b"name,x\nADA,1\nbob,2\n") == [b"ADA,1"]
    assert f.find_lines(b"Ada\nada", recipe="line") == [b"ada"]
    with pytest.raises(umbel.InvalidError, match="name: the header has no such column"):
        f.find_lines(b"id\n1\n")
    assert umbel.Filter(10).add_lines(b'{"a":1}\nnot JSON\n\n', recipe="json=.a") == (3, 1, 1, 1)


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
