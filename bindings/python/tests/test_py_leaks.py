# SPDX-License-Identifier: MIT
"""No memory grows in rounds without end."""
import array
import gc
import pickle
import resource
import sys

import pytest

import umbel

F = umbel.Filter(10_000)
COUNTING = umbel.Filter(100, kind="counting")
GUAVA = umbel.Filter.foreign("guava", 100, 0.01)
BATCH = [f"key{i}" for i in range(50)]
RAW = [key.encode() for key in BATCH]
VIEWS = [bytearray(key) for key in RAW]
DATA, OFFSETS = b"abcdef", array.array("i", [0, 3, 6])
BYTES = umbel.Filter(10).to_bytes()
OUT = bytearray(50)


def refused(use, *args, **kwargs):
    try:
        use(*args, **kwargs)
    except (umbel.Error, TypeError, OSError, OverflowError, UnicodeEncodeError):
        return
    raise AssertionError("not refused")


def one_key():
    "abc" in F
    b"abc" in F
    VIEWS[0] in F
    F.add("abc")
    F.add(7, type="int64")
    F.contains("é", type="utf16")
    F.count("abc")
    F.hash("abc")
    umbel.typed(5, "int32")
    COUNTING.add("abc")
    COUNTING.remove("abc")


def batches():
    F.contains_many(BATCH)
    F.contains_many(RAW, out=OUT)
    F.contains_many(VIEWS)
    F.contains_many((DATA, OFFSETS))
    F.add_many(tuple(BATCH))
    F.update(key for key in BATCH)
    F.update(range(20), type="int64")
    F.update(BATCH[:5], type="utf16")
    F.contains_hashes(F.hash_many(BATCH))


def whole():
    f = umbel.Filter(10)
    f |= F.copy() if f.info.bytes == F.info.bytes else f
    f == F
    f <= f
    umbel.build(BATCH, never=BATCH[:3])
    umbel.plan(1000, 0.01).rate_at(3)
    COUNTING.snapshot()
    f.set_meta("a", "b")
    f.recipe = "csv field=1 lower"
    f.add_lines(b"A,b\n"), f.find_lines(b"a,b\n"), umbel.record_key("csv column=x", b"1", header="x")
    f.has_text("a"), f.has_texts(["a", b"b"]), f.meta, f.recipe, f.info, f.keys_estimated, repr(f), f.measure(), bool(f)


def bytes_and_pickles():
    umbel.Filter.from_bytes(BYTES)
    umbel.Filter.view(BYTES)
    umbel.verify(BYTES)
    pickle.loads(pickle.dumps(GUAVA))
    umbel.Filter(10, secret=b"0123456789abcdef")
    umbel.Filter.foreign("guava", 10, 0.1, variant=["mitz32"])
    umbel.clickhouse_tokens("a b c")


def failures():
    refused(F.add, 3)
    refused(F.add, "a", type="none")
    refused(F.add, "\ud800")
    refused(F.add, 1 << 70, type="int64")
    refused(F.update, ["a", b"b", 3])
    refused(F.update, "text")
    refused(F.contains_many, BATCH, out=bytearray(3))
    refused(F.contains_many, (DATA, array.array("i", [5, 1])))
    refused(umbel.Filter, 10, 7.5)
    refused(umbel.Filter, 10, secret=b"short")
    refused(umbel.Filter.from_bytes, b"nothing")
    refused(umbel.Filter.view, b"nothing")
    refused(umbel.Filter.open, "/does/not/exist")
    refused(umbel.build, [1, 2])
    refused(umbel.Filter.foreign, "guava", 10, 0.1, variant=["mitz32", "none"])
    refused(COUNTING.remove, "never")
    refused(F.__or__, COUNTING)


def memory():
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


@pytest.mark.parametrize("work,rounds", [(one_key, 100_000), (batches, 5000), (whole, 2000),
                                         (bytes_and_pickles, 3000), (failures, 5000)],
                         ids=lambda x: getattr(x, "__name__", str(x)))
def test_memory_stays(work, rounds):
    """Over a million calls in all.  A block that any of them leaks is seen."""
    for _ in range(rounds // 5):
        work()
    before, blocks = memory(), sys.getallocatedblocks()
    for _ in range(rounds):
        work()
    grown = memory() - before
    assert sys.getallocatedblocks() - blocks < rounds / 10
    assert grown < max(8 * rounds, 1 << 20)


def test_references_of_shared_objects_stay():
    shared = [umbel.Filter, umbel.Info, umbel.InvalidError, umbel.Plan, F, "abc"]
    if sys.version_info < (3, 12):  # later they are immortal, and what an extension for 3.11 counts is not looked at
        shared += [None, True, False]
    turns = []
    for _ in range(5):  # what is lost is lost every time; the interpreter's own references come and go
        gc.collect()
        before = [sys.getrefcount(x) for x in shared]
        for _ in range(1000):
            one_key(), batches(), whole(), bytes_and_pickles(), failures()
        gc.collect()
        turns.append([abs(sys.getrefcount(x) - then) for x, then in zip(shared, before)])
    assert max(map(min, zip(*turns))) < 20, turns
