# SPDX-License-Identifier: MIT
"""Every part of the interface, for mypy --strict and to be run."""
from __future__ import annotations

import array
import os
import pickle
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import cast

import umbel


def one_filter(f: umbel.Filter) -> bool:
    new: bool = f.add("ada")
    f.add(42, type="int64")
    present: bool = b"ada" in f and "ada" in f and f.contains(42, type="int64")
    times: int = f.count("ada") + f.count(1.5, type="double") + f.hash("ada")
    return new and present and times > 0


def batches(f: umbel.Filter) -> int:
    f.update(["a", b"b"])
    f.update(key for key in ("c", "d"))
    f.update([1, 2, 3], type="int32")
    f.update((b"abc", array.array("i", [0, 1, 3])))
    flags: bytes = f.contains_many(["a", "b"])
    out: bytearray = f.contains_many(["a", "b"], out=bytearray(2))
    added: bytes = f.add_many(("x", "y"))
    hashes: memoryview = f.hash_many(["a"])
    again: bytes = f.contains_hashes(hashes)
    f.add_hashes(hashes, out=bytearray(1))
    f.update({"a", "b"})
    f.update({"a": 1})
    f.update(array.array("q", [1, 2]), type="int64")
    f.update(range(9), type="int64")
    lines: umbel.Lines = f.update_from(iter(["a"]), batch=10)
    return lines.records + sum(flags) + sum(out) + sum(added) + sum(again)


def any_iterable(f: umbel.Filter, a: Iterable[str], b: Iterable[bytes], c: Sequence[str], d: Iterator[str],
                 e: dict[str, int]) -> int:
    f.update(a)
    f.update(b)
    f.update(e)
    f.contains_many(c)
    f.add_many(a)
    f.has_texts(a, out=bytearray(2))
    f.union(a)
    numbers: Iterable[int] = [1, 2]
    f.update(numbers, type="int64")
    f.contains_many(numbers, type="int64")
    umbel.build(a, 1e-6, never=b)
    return f.update_from(d).records + len(umbel.build(numbers, type="int64"))


def sets(f: umbel.Filter, g: umbel.Filter) -> bool:
    both: umbel.Filter = f | g
    both |= g
    common: umbel.Filter = f & g
    common &= g
    common.clear()
    copy: umbel.Filter = f.copy()
    more: umbel.Filter = f.union(g, ["x"]).intersection(f)
    more.intersection_update(f)
    length: int = len(f) + len(more)
    return length > 0 and f.issubset(both) and both.issuperset(f) and f <= both and both >= f and f == copy and not f < f and bool(f) and both > common


def files(f: umbel.Filter, folder: Path) -> bool:
    path: os.PathLike[str] = folder / "f.umb"
    f.set_meta("source", "test")
    f.recipe = "field=2 delimiter=comma lower"
    lines: umbel.Lines = f.add_lines(b"x,ada\n")
    counted: int = lines.records + lines.new + lines.missing + lines.malformed
    with open(os.devnull, "rb") as file:
        f.update_from(file, recipe="line")
    found: list[bytes] = f.find_lines(b"x,ada\n", recipe="line")
    assert found == []
    asked: bool = f.has_text("Ada") and f.has_text(b"ada")
    several: bytes = f.has_texts(["Ada", b"bob"])
    into: bytearray = f.has_texts(iter(["Ada"]), out=bytearray(1))
    assert asked and several == b"\1\0" and into == b"\1"
    state, key = umbel.record_key("line lower", "Ada", use="key")
    assert (state, key) == ("key", b"ada")
    f.save(path)
    umbel.verify_file(path)
    umbel.verify(f.to_bytes("native"), "native")
    opened = umbel.Filter.open(path)
    loaded = umbel.Filter.load(str(path), "native", max_bytes=1 << 20, concurrent=True)
    viewed = umbel.Filter.view(f.to_bytes())
    read = umbel.Filter.from_bytes(f.to_bytes())
    source: str = opened.meta["source"]
    text: str = opened.recipe
    again: umbel.Filter = pickle.loads(pickle.dumps(f))
    return counted >= 1 and opened == loaded == viewed == read == again and source == "test" and text == "field=2 delimiter=comma lower"


def kinds() -> float:
    counting = umbel.Filter(1000, 0.01, kind="counting")
    counting.add("a")
    counting.remove("a")
    snapshot: umbel.Filter = counting.snapshot()
    window = umbel.Filter(1000, kind="window", generations=4, manual=True)
    window.advance()
    umbel.Filter(1000, kind="scalable", expansion=4, max_layers=8)
    umbel.Filter(bytes=1 << 16, hashes=4, kind="classic")
    keyed = umbel.Filter(1000, secret=bytes(16), seed=3, threads=2)
    keyed.fold(0.5)
    static: umbel.Filter = umbel.build(["a", "b"], 0.001, tmp="/tmp", recipe="line lower")
    umbel.Filter(1e3, recipe="csv column=a")
    numbers: umbel.Filter = umbel.build([1, 2], type="uint64")
    return snapshot.keys_estimated + static.measure().keys + numbers.measure().rate


def foreign() -> int:
    guava = umbel.Filter.foreign("guava", 100, 0.03, variant="mitz32")
    guava.add(umbel.typed(42, "int64"))
    read = umbel.Filter.from_bytes(guava.to_bytes(), "guava")
    index = umbel.Filter.foreign("clickhouse", 10, 0.01, variant=["index", "numbers"])
    go = umbel.Filter.foreign("gocrc32", 100, 0.01)
    text: str = go.text()
    dcso = umbel.Filter.foreign("dcso", 100, 0.01)
    dcso.data = b"more"
    tokens: list[bytes] = umbel.clickhouse_tokens("a b", ngram=0)
    return read.info.bits + index.info.bytes + len(text) + len(dcso.data) + len(tokens)


def plans() -> str:
    plan: umbel.Plan = umbel.plan(1000, 0.01, kind="classic")
    rate: float = plan.rate_at(500) + plan.rate + plan.bits_per_key
    there: umbel.Plan = umbel.plan(100, 0.01, format="guava", variant="guava2024")
    return f"{plan.kind} {plan.bytes} {rate} {there.verdict} {there.why}"


def errors() -> str:
    try:
        umbel.Filter(10, 2)
    except umbel.InvalidError as error:
        assert error.index is None
        assert f"{error.code} {error.field} {error.offset} {error.need} {error.done}" == "EINVAL fpr 0 0 0"
    try:
        umbel.Filter(10).update(cast("list[str]", ["a", 7]))
    except umbel.BadKeyError as error:
        place: int = error.index
        return str(place)
    return ""


def main() -> None:
    f, g = umbel.Filter(1000), umbel.Filter(1000)
    assert one_filter(f) and batches(f) and sets(f, g)
    assert any_iterable(f, ["a", "b"], {b"c"}, ("d",), iter("e"), {"f": 1}) == 3
    with tempfile.TemporaryDirectory() as folder:
        assert files(f, Path(folder))
    assert kinds() and foreign() and plans() and errors() == "1"
    assert f.info.kind in umbel.KINDS and "guava" in umbel.FORMATS and "int8" in umbel.TYPES
    assert f.takes_hashes and umbel.mix(1) and umbel.__version__


main()
