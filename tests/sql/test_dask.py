# SPDX-License-Identifier: MIT
"""umbel.dask on a real cluster of worker processes."""
import os
import signal
import threading
import time

import dask.bag
import dask.dataframe
import pandas
import pytest
from distributed import Client, LocalCluster

import umbel
import umbel.dask

KEYS, PARTITIONS = 60000, 24


@pytest.fixture(scope="module")
def client():
    cluster = LocalCluster(n_workers=3, threads_per_worker=1, processes=True, host="127.0.0.1",
                           dashboard_address=None)
    with Client(cluster) as connected:
        yield connected
    cluster.close()


def one_machine(keys, **options):
    alone = umbel.Filter(KEYS, 0.01, **options)
    alone.update(keys)
    return alone


def test_a_bag(client):
    keys = [f"https://example.org/{i}" for i in range(KEYS)]
    bag = dask.bag.from_sequence(keys, npartitions=PARTITIONS)
    for options in ({}, {"kind": "classic", "seed": 7}, {"kind": "counting"}, {"secret": bytes(range(16))}):
        made = umbel.dask.build(bag, KEYS, 0.01, **options)
        assert made == one_machine(keys, **options)
        assert all(made.contains_many(keys))


def test_a_series(client):
    frame = pandas.DataFrame({"url": [f"u{i}" if i % 10 else None for i in range(KEYS)], "id": range(KEYS)})
    table = dask.dataframe.from_pandas(frame, npartitions=PARTITIONS)
    urls = umbel.dask.build(table["url"], KEYS, 0.01)
    assert urls == one_machine([u for u in frame["url"] if u])
    ids = umbel.dask.build(table["id"], KEYS, 0.01, type="int64")
    alone = umbel.Filter(KEYS, 0.01)
    alone.update(range(KEYS), type="int64")
    assert ids == alone


def slow(key):
    time.sleep(0.002)
    return key


def test_a_worker_is_killed_in_the_middle(client):
    keys = [f"key {i}" for i in range(6000)]
    bag = dask.bag.from_sequence(keys, npartitions=PARTITIONS).map(slow)
    pids = sorted(client.run(os.getpid).values())
    killed = []

    def kill():
        os.kill(pids[0], signal.SIGKILL)
        killed.append(time.monotonic())
    timer = threading.Timer(1.5, kill)
    timer.start()
    made = umbel.dask.build(bag, KEYS, 0.01)
    ended = time.monotonic()
    timer.cancel()
    assert killed and killed[0] < ended
    assert made == one_machine(keys)


def test_kinds_that_do_not_merge(client):
    bag = dask.bag.from_sequence(["a"], npartitions=1)
    for kind in ("static", "tight", "scalable", "window"):
        with pytest.raises(umbel.Error):
            umbel.dask.build(bag, KEYS, 0.01, kind=kind)


def test_what_has_no_keys_of_its_own(client):
    frame = dask.dataframe.from_pandas(pandas.DataFrame({"url": ["a", "b"]}), npartitions=1)
    with pytest.raises(TypeError, match=r"df\['url'\]"):
        umbel.dask.build(frame, 10, 0.01)
    for nothing in (["a"], "a", 7):
        with pytest.raises(TypeError, match="Bag, Series or Array, not"):
            umbel.dask.build(nothing, 10, 0.01)
