# SPDX-License-Identifier: MIT
"""A filter behaves like a set, as far as a filter can; every kind."""
import copy
import math
import pickle
import sys

import pytest

import umbel

KEYS = [f"key{i}" for i in range(1000)]
OTHERS = [f"other{i}" for i in range(1000)]


def test_adding_says_whether_it_was_new():
    f = umbel.Filter(1000)
    assert f.add("ada") is True
    assert f.add("ada") is False
    assert f.add(b"ada") is False  # str is its UTF-8
    assert "ada" in f and b"ada" in f and "grace" not in f
    assert f.add("") is True and b"" in f
    assert f.add("a\0b") is True and b"a\0b" in f and "a" not in f


def test_promise_is_kept():
    f = umbel.Filter(1000, 0.01)
    f.update(KEYS)
    assert all(key in f for key in KEYS)
    # Binomial: 1000 trials at 1 %, six standard deviations
    assert sum(key in f for key in OTHERS) < 10 + 6 * math.sqrt(10)
    assert f.keys_estimated == pytest.approx(1000, rel=0.05)
    assert f.measure().keys == f.keys_estimated
    assert 0 < f.measure().rate < 0.012


def test_defaults():
    assert umbel.Filter(1000).info.fpr == 0.01
    sized = umbel.Filter(1000, bytes=4096)
    assert sized.info.bytes <= 4096 and 0 < sized.info.fpr < 1e-4
    assert umbel.Filter(bytes=4096).info.capacity == 0
    assert umbel.Filter(fpr=0.01, bytes=4096).info.capacity > 1000


@pytest.mark.parametrize("kind", [k for k in umbel.KINDS if k not in ("auto", "static", "tight", "exact")])
def test_every_kind(kind):
    f = umbel.Filter(2000, 0.01, kind=kind, seed=7)
    assert f.info.kind == kind and f.info.seed == 7
    assert not f
    f.update(KEYS)
    assert f and all(f.contains_many(KEYS))
    g = f.copy()
    assert g == f and not g != f
    assert umbel.Filter.from_bytes(f.to_bytes()) == f
    f.clear()
    assert not f and g and g != f and "key1" not in f


def test_static_is_built_from_all_keys():
    f = umbel.build(KEYS, 0.001)
    assert f.info.kind == "static" and f.info.frozen and f.info.capacity == 1000
    assert all(f.contains_many(KEYS)) and sum(f.contains_many(OTHERS)) < 15
    with pytest.raises(umbel.FrozenError):
        f.add("x")
    assert umbel.build(iter(KEYS), 0.001) == f
    assert umbel.build(iter(KEYS), 0.001, kind="tight") == umbel.build(KEYS, 0.001, kind="tight")
    assert umbel.build(KEYS, 0.001, tmp="/tmp") == f
    assert umbel.build([], 0.01).info.kind == "static"
    other = umbel.build(KEYS, kind="blocked")
    assert other.info.kind == "blocked" and other.info.capacity == 1000
    assert "fresh" not in other and other.add("fresh")


def test_union_and_intersection():
    a, b = umbel.Filter(2000), umbel.Filter(2000)
    a.update(KEYS)
    b.update(OTHERS)
    both = a | b
    assert all(both.contains_many(KEYS + OTHERS)) and a != both
    assert a <= both and a < both and both >= b and both > b
    assert a <= a and a >= a and not a < a
    assert not both <= a
    common = both & a
    assert all(common.contains_many(KEYS)) and common <= both
    name = a
    a |= b
    assert a is name and a == both
    a &= b
    assert a is name and all(a.contains_many(OTHERS))
    a |= a
    a.update(both)
    assert a == both


def test_counting_merged_with_itself_counts_double():
    f = umbel.Filter(100, kind="counting")
    f.add("x")
    f |= f
    assert f.count("x") == 2


def test_what_does_not_go_together():
    a = umbel.Filter(1000)
    for b in (umbel.Filter(1000, seed=1), umbel.Filter(100000), umbel.Filter(1000, kind="classic")):
        with pytest.raises(umbel.MismatchError) as caught:
            a | b
        assert isinstance(caught.value, ValueError) and caught.value.code == "EMISMATCH"
        with pytest.raises(umbel.MismatchError):
            a <= b
        assert a != b
    for other in ({"a"}, None, 3):
        with pytest.raises(TypeError):
            a | other
        with pytest.raises(TypeError):
            a <= other
        assert a != other


def test_set_methods():
    a, b = umbel.Filter(2000), umbel.Filter(2000)
    a.update(KEYS)
    b.update(OTHERS)
    both = a.union(b)
    assert both == a | b and a.union() == a and a.union() is not a
    assert a.union(OTHERS, b, iter(["more"])) == a.union(b, ["more"]) and "more" not in a
    assert both.intersection(a, b) == both & a & b
    assert a.issubset(both) and both.issuperset(a) and not both.issubset(a) and not a.issuperset(both)
    common = both.copy()
    assert common.intersection_update(a) is None and common == both & a
    for wrong in ("abc", b"abc", 3, None):
        with pytest.raises(TypeError):
            a.union(wrong)
    for wrong in (KEYS, {"a"}, None):
        with pytest.raises(TypeError):
            a.intersection(wrong)
        with pytest.raises(TypeError):
            a.issubset(wrong)
    with pytest.raises(umbel.MismatchError):
        a.union(umbel.Filter(5))


def test_length_is_the_estimate():
    f = umbel.Filter(10_000)
    assert len(f) == 0
    f.add("a")
    assert len(f) == 1
    f.update(KEYS)
    assert len(f) == round(f.keys_estimated) and abs(len(f) - 1001) < 6 * f.measure().keys_error + 1
    crammed = umbel.Filter(1, 0.5, kind="classic")
    crammed.update(KEYS)
    with pytest.raises(OverflowError, match="every bit is set"):
        len(crammed)
    assert crammed  # bool does not ask for the length


def test_what_sets_have_and_filters_have_not():
    f = umbel.Filter(10)
    for refused in (hash, iter, list):
        with pytest.raises(TypeError):
            refused(f)
    with pytest.raises(TypeError):
        type("Mine", (umbel.Filter,), {})


def test_size_of_a_filter(tmp_path):
    f = umbel.Filter(1_000_000)
    assert f.info.bytes < sys.getsizeof(f) < f.info.bytes + 1000
    f.save(tmp_path / "f.umb")
    assert sys.getsizeof(umbel.Filter.load(tmp_path / "f.umb")) > f.info.bytes
    assert sys.getsizeof(umbel.Filter.open(tmp_path / "f.umb")) < 1000  # the file's, not its own
    assert sys.getsizeof(umbel.Filter.view(f.to_bytes())) < 1000


def test_numbers_as_people_write_them():
    assert umbel.Filter(1e6, .01).info.capacity == 1_000_000
    assert umbel.plan(1e6, 0.01) == umbel.plan(1_000_000, 0.01)
    assert umbel.Filter(100, bytes=4096.0).info.bytes <= 4096
    for wrong in (1.5, math.inf, math.nan, 1e30, -1.0, -1):
        with pytest.raises(umbel.InvalidError, match="capacity"):
            umbel.Filter(wrong)
    for wrong in ("1000", None.__class__, [1]):
        with pytest.raises(TypeError, match="capacity must be int"):
            umbel.Filter(wrong)


def test_recipes_when_it_is_made():
    f = umbel.Filter(100, recipe="csv  column=mail lower")
    assert f.recipe == "csv column=mail lower"
    static = umbel.build(KEYS, recipe="line lower", kind="tight")
    assert static.recipe == "line lower" and static.info.kind == "tight"
    for call in (lambda: umbel.Filter(10, recipe="line fnord"), lambda: umbel.build(KEYS, recipe="line fnord")):
        with pytest.raises(umbel.VersionError, match="fnord"):
            call()
    with pytest.raises(TypeError):
        umbel.Filter(10, recipe=7)


def test_records_are_named_and_only_the_library_makes_them():
    f = umbel.Filter(1000)
    for record in (f.info, f.measure(), umbel.plan(1000, 0.01), f.add_lines(b"a\n")):
        kind = type(record)
        with pytest.raises(TypeError):
            kind()
        with pytest.raises(TypeError):
            kind(list(record.asdict().values()))
        with pytest.raises(TypeError):
            tuple(record)
        with pytest.raises(AttributeError):
            record.kind = 3
        again = pickle.loads(pickle.dumps(record))
        assert again == record and hash(again) == hash(record) and again.asdict() == record.asdict()
    plan = umbel.plan(1000, fpr=0.01, kind="window", generations=4)
    assert pickle.loads(pickle.dumps(plan)).rate_at(500) == plan.rate_at(500)
    # What a plan of 0.2 could be made to say by hand: SIGFPE, SystemError.
    for forged in (("Plan", ((), {})), ("Plan", ((1000, 0.01), {"kind": "round"})), ("Plan", (1, 2)),
                   ("Info", (1,)), ("Other", ())):
        with pytest.raises((ValueError, TypeError)):
            umbel._umbel._record(*forged)


def test_copies_are_independent():
    f = umbel.Filter(1000, secret=b"0123456789abcdef")
    f.update(KEYS[:10])
    for g in (copy.copy(f), copy.deepcopy(f), f.copy()):
        assert g == f
        g.add("more")
        assert g != f


def test_counting():
    f = umbel.Filter(1000, kind="counting")
    for _ in range(3):
        f.add("x")
    assert f.count("x") == 3 and f.count("y") == 0
    f.remove("x")
    assert f.count("x") == 2
    with pytest.raises(KeyError) as caught:
        f.remove("never")
    assert isinstance(caught.value, umbel.AbsentError)
    assert str(caught.value) == "the key is certainly not in the filter"
    s = f.snapshot()
    assert s.info.kind == "blocked" and "x" in s and s.info.bytes * 4 == f.info.bytes
    with pytest.raises(umbel.UnsupportedError):
        s.remove("x")
    assert s.count("x") == 1


def test_scalable_grows_until_it_may_not():
    f = umbel.Filter(100, kind="scalable", expansion=2, max_layers=2)
    many = [str(i) for i in range(100_000)]
    assert f.info.grows
    with pytest.raises(umbel.FullError) as caught:
        f.update(many)
    done = caught.value.done
    assert 300 < done < 100_000
    assert all(f.contains_many(many[:done])) and f.info.layers == 2


# ---- good keys that are never found ---------------------------------------------------------------

@pytest.mark.parametrize("kind", [k for k in umbel.KINDS if k not in ("auto", "exact")])
def test_never(kind, tmp_path):
    members = [f"bad{i}" for i in range(2000)]
    good = [f"good{i}" for i in range(5000)]
    plain = umbel.build(members, 0.2, kind=kind, secret=b"s" * 16)
    caught = [key for key, hit in zip(good, plain.contains_many(good)) if hit]
    f = umbel.build(iter(members), 0.2, kind=kind, secret=b"s" * 16, never=(g for g in good + members[:7]))
    assert f.info.exceptions == len(caught) and plain.info.exceptions == 0
    assert caught or kind == "scalable"
    assert all(f.contains_many(members)) and not any(f.contains_many(good))
    others = [f"other{i}" for i in range(2000)]
    assert f.contains_many(others) == plain.contains_many(others)
    f.save(tmp_path / "f.umb")
    g = umbel.Filter.open(tmp_path / "f.umb", secret=b"s" * 16)
    assert g.info.exceptions == len(caught) and not any(g.contains_many(good))
    if caught and not f.info.frozen:
        f.add(caught[0])
        assert caught[0] in f and f.info.exceptions == len(caught) - 1
        f.update(map(str, range(100)))
        assert f.info.outdated


def test_exact(tmp_path):
    members = [f"bad{i}" for i in range(2000)]
    good = [f"good{i}" for i in range(50_000)]
    f = umbel.build(members, kind="exact", never=iter(good + members[:7]))
    assert f.info.universe == 50_000 and f.info.exceptions == 0 and f.info.keys_added == 2000
    assert f.info.bits < 7 * 2000 and 0 < f.info.fpr < 0.05
    assert all(f.contains_many(members)) and not any(f.contains_many(good))
    f.save(tmp_path / "f.umb")
    g = umbel.Filter.open(tmp_path / "f.umb")
    assert g.info == f.info and g == f
    assert umbel.build(members, 1e-4, kind="exact", never=good).measure().rate <= 1e-4
    names = umbel.build(["bad.example"], kind="exact", never=["a.ok.example"], recipe="domain")
    assert names.info.universe == 3  # the parents, too
    assert umbel.plan(2000, kind="exact", universe=50_000).bytes * 8 < 7 * 2000
    assert umbel.plan(2000, universe=50_000).kind == "exact"


def test_never_refuses():
    with pytest.raises(TypeError):
        umbel.build(["a"], never=[1.5])
    with pytest.raises(TypeError):
        umbel.build(["a"], never=5)
    with pytest.raises(umbel.FullError, match="exceptions"):
        umbel.build(["a"], 0.5, never=map(str, range(200_000)))


def test_window_forgets():
    f = umbel.Filter(80, kind="window", generations=4)
    f.add("old")
    f.update(KEYS[:300])
    assert "old" not in f and KEYS[299] in f
    g = umbel.Filter(80, kind="window", generations=2, manual=True)
    assert g.info.manual and g.info.generations == 2
    g.add("old")
    for _ in range(3):
        assert "old" in g
        g.advance()
    assert "old" not in g
    with pytest.raises(umbel.UnsupportedError):
        umbel.Filter(10).advance()


def test_fold():
    f = umbel.Filter(100000)
    f.update(KEYS)
    before = f.info.bytes
    f.fold(0.01)
    assert f.info.bytes <= before // 2 and all(f.contains_many(KEYS))
    assert f.measure().rate <= 0.01


def test_plan():
    p = umbel.plan(1_000_000, 0.01)
    assert (p.kind, p.capacity, p.verdict) == ("blocked", 1_000_000, "ok")
    assert p.bytes == umbel.Filter(1_000_000, 0.01).info.bytes
    assert p.rate <= p.fpr and p.rate_at(0) == 0 and 0 < p.rate_at(500_000) < p.rate
    assert umbel.plan(bytes=p.bytes, fpr=0.01).capacity >= 1_000_000
    with pytest.raises(umbel.InvalidError):
        umbel.plan(1_000_000, 1e-9, bytes=1000)
    with pytest.raises(umbel.InvalidError):
        umbel.plan(1000)
    assert umbel.plan(100, 0.03, format="guava").bits == 768


def test_info_is_a_named_tuple():
    info = umbel.Filter(1000, kind="classic", hashes=5, bytes=4000).info
    assert info.hashes == 5 and info.kind == "classic" and info.format == "native"
    assert repr(info).startswith("umbel.Info(kind='classic', format='native'")
    assert repr(umbel.Filter(1000)).startswith("<umbel.Filter native blocked, 1000 keys at 0.01, ")


def test_metadata(tmp_path):
    f = umbel.Filter(100)
    f.set_meta("source", "Blüten")
    f.set_meta("gone", "x")
    f.set_meta("gone", None)
    f.recipe = "field=2 delimiter=, lower"
    f.save(tmp_path / "f.umb")
    for g in (umbel.Filter.load(tmp_path / "f.umb"), umbel.Filter.open(tmp_path / "f.umb")):
        assert dict(g.meta) == {"source": "Blüten"}
        assert g.recipe == "field=2 delimiter=comma lower"
    with pytest.raises(TypeError):
        f.meta["source"] = "not so"
    with pytest.raises(umbel.InvalidError):
        f.set_meta("", "x")
    with pytest.raises(ValueError):
        f.set_meta("a\0b", "x")
    with pytest.raises(umbel.InvalidError):
        f.set_meta("recipe", "line")
