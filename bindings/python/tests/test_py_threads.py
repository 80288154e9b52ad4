# SPDX-License-Identifier: MIT
"""Threads and interpreters: nothing lost, nothing corrupted, the GIL free during batches."""
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import umbel

N = 100_000
KEYS = [f"key{i}" for i in range(N)]
MANY = np.arange(1_000_000, dtype=np.uint64)  # a batch that is added in one go, without the GIL


def in_threads(*works):
    failures = []

    def guarded(work):
        try:
            work()
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


@pytest.mark.parametrize("concurrent", [True, False])
def test_adds_from_threads_lose_none(concurrent):
    f = umbel.Filter(len(MANY) + N, concurrent=concurrent)
    assert f.info.concurrent == concurrent

    def one_by_one():
        for key in KEYS[::3]:
            f.add(key)

    in_threads(lambda: f.update(MANY[::2], type="uint64"), lambda: f.update(MANY[1::2], type="uint64"),
               lambda: f.add_many(tuple(KEYS[1::3])), lambda: f.update(iter(KEYS[2::3])), one_by_one)
    alone = umbel.Filter(len(MANY) + N)
    alone.update(MANY, type="uint64")
    alone.update(KEYS)
    assert f == alone


def test_at_least_one_thread_sees_a_new_key():
    f = umbel.Filter(N, concurrent=True)
    seen = [None] * 4

    def add(i):
        seen[i] = f.add_many(KEYS)

    in_threads(*[lambda i=i: add(i) for i in range(4)])
    alone = umbel.Filter(N)
    news = alone.add_many(KEYS)
    assert all(any(s[i] for s in seen) for i in range(N) if news[i])


@pytest.mark.parametrize("kind", ["blocked", "classic", "counting", "scalable", "window"])
def test_everything_at_once(kind, tmp_path):
    """Readers, writers and whole-filter calls on one plain filter: the object's lock keeps order."""
    f = umbel.Filter(3 * N, kind=kind)
    other = umbel.Filter(3 * N, kind=kind)
    stop = threading.Event()

    def until_stopped(*uses):
        def work():
            while not stop.is_set():
                for use in uses:
                    use()
        return work

    def write():
        try:
            for i in range(10):
                f.update(KEYS[i::10])
                f.update(MANY[i:200_000:10], type="uint64")
        finally:
            stop.set()

    def decode():
        assert umbel.Filter.from_bytes(f.to_bytes()).info.kind == kind  # whole: the checksums hold

    def merge_both_ways():
        if kind in ("blocked", "classic", "counting"):
            other.update(f)
            other <= f
        other.clear()

    in_threads(write, until_stopped(lambda: f.contains_many(KEYS[:3000]), lambda: "x" in f),
               until_stopped(decode, f.measure, f.copy), until_stopped(merge_both_ways),
               until_stopped(lambda: f.set_meta("a", "b"), lambda: f.meta, lambda: repr(f)))
    if kind != "window":
        assert all(f.contains_many(KEYS))


def test_merging_both_ways_does_not_block_for_ever():
    a, b = umbel.Filter(N), umbel.Filter(N)
    a.update(KEYS[::2])
    b.update(KEYS[1::2])

    def into(x, y):
        for _ in range(200):
            x.update(y)

    in_threads(lambda: into(a, b), lambda: into(b, a), lambda: [a <= b for _ in range(200)],
               lambda: [b & a for _ in range(200)])
    assert a == b and all(a.contains_many(KEYS))


def test_the_gil_is_free_during_batches():
    f = umbel.Filter(2_000_000)
    data = bytes(50) * 2_000_000
    offsets = memoryview(bytearray(4 * 2_000_001)).cast("i")
    for i in range(0, 2_000_001):
        offsets[i] = 50 * i
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0)

    thread = threading.Thread(target=tick, daemon=True)
    thread.start()
    while not ticks:
        time.sleep(0.001)
    # Held, it would stop the ticks for a whole batch.  A busy machine may do that, too, but not always.
    for _ in range(500):
        start = time.perf_counter()
        f.contains_many((data, offsets))
        end = time.perf_counter()
        during = [start, *(t for t in list(ticks) if start < t < end), end]
        ticks.clear()
        if max(b - a for a, b in zip(during, during[1:])) < (end - start) / 2:
            break
    else:
        raise AssertionError("nothing else runs during a batch")
    done.set()
    thread.join()


def test_keys_that_use_the_filter_while_it_is_written():
    f = umbel.Filter(1000)

    class Nosy:
        def __index__(self):
            f.add("from within")
            f.update(["also"] * 500)
            return 7

    f.update([1, Nosy(), 3], type="int64")
    assert "from within" in f and "also" in f and f.contains(7, type="int64")


def test_interpreters_share_nothing():
    """Every subinterpreter has its own module."""
    code = """if True:
        try:
            import _xxsubinterpreters as interpreters
        except ImportError:
            import _interpreters as interpreters
        import sys, umbel
        f = umbel.Filter(100); f.add("x")
        for _ in range(3):
            one = interpreters.create()
            script = "import sys; sys.path[:] = %r; import umbel; f = umbel.Filter(10); "
            script += "assert f.add('a') and 'a' in f and 'x' not in f; umbel.build(['a']); "
            script += "import pickle; assert pickle.loads(pickle.dumps(f)) == f"
            interpreters.run_string(one, script % (sys.path,))
            interpreters.destroy(one)
        assert "x" in f
        try:
            umbel.Filter(10, 5)
        except umbel.InvalidError:
            print("fine")
    """
    out = subprocess.run([sys.executable, "-c", code], text=True, stdout=subprocess.PIPE, check=True)
    assert out.stdout == "fine\n"


def test_the_module_can_be_made_twice():
    import importlib.util
    import umbel._umbel as first
    spec = importlib.util.spec_from_file_location("umbel._umbel", first.__file__)
    second = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(second)
    assert second.Filter is not first.Filter
    with pytest.raises(second.InvalidError):
        second.Filter(10, 7)
    with pytest.raises(TypeError):
        second.Filter(10) | first.Filter(10)
