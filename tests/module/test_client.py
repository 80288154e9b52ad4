# SPDX-License-Identifier: MIT
"""A client written for RedisBloom, unchanged: redis-py's own bf() methods."""
import pytest
import redis

from resp import keys


@pytest.fixture
def client(server):
    with redis.Redis(unix_socket_path=server.socket_path) as connection:
        yield connection


def test_making_adding_asking(client, layout):
    bf = client.bf()
    assert bf.create("f", 0.001, 1000, expansion=3)
    assert bf.create("g", 1e-9, 10, noScale=True)
    with pytest.raises(redis.ResponseError, match="item exists"):
        bf.create("f", 0.01, 10)
    assert bf.add("f", "a") == 1 and bf.add("f", "a") == 0
    assert bf.madd("f", "a", "b", "c") == [0, 1, 1]
    assert bf.exists("f", "a") == 1 and bf.exists("f", "z") == 0
    assert bf.mexists("f", "a", "z", "b") == [1, 0, 1]
    assert bf.insert("h", ["a", "b"], capacity=500, error=0.01, expansion=4) == [1, 1]
    with pytest.raises(redis.ResponseError, match="not found"):
        bf.insert("no", ["a"], noCreate=True)
    reply = bf.insert("g", keys(20))
    assert reply[:10] == [1] * 10 and isinstance(reply[10], redis.ResponseError)


def test_figures(client, layout):
    bf = client.bf()
    bf.create("f", 0.001, 1000, expansion=3)
    bf.madd("f", *keys(10))
    info = bf.info("f")
    assert (info.capacity, info.filterNum, info.insertedNum, info.expansionRate) == (1000, 1, 10, 3)
    assert info.size > 1000 * 10 / 8
    bf.create("g", 0.001, 10, noScale=True)
    assert bf.info("g").expansionRate is None


def test_dumping_and_loading(client, layout):
    bf = client.bf()
    bf.madd("f", *keys(1000))
    iterator = 0
    while True:
        iterator, data = bf.scandump("f", iterator)
        if iterator == 0:
            break
        bf.loadchunk("copy", iterator, data)
    assert bf.mexists("copy", *keys(1000)) == [1] * 1000
    assert client.execute_command("DEBUG DIGEST-VALUE", "f") == \
        client.execute_command("DEBUG DIGEST-VALUE", "copy")


def test_pipelines(client, layout):
    client.bf().create("f", 1e-9, 1000)
    pipe = client.pipeline()
    for i in range(100):
        pipe.bf().add("f", f"k{i}")
    pipe.bf().mexists("f", "k1", "absent")
    assert pipe.execute() == [1] * 100 + [[1, 0]]
