# SPDX-License-Identifier: MIT
"""What can be configured when the module is loaded and by CONFIG SET."""
import os
import re
import subprocess
from pathlib import Path

import pytest

from conftest import MODULE, about
from resp import as_dict, is_error


# Those of RedisBloom, with values that are not the defaults.
REDISBLOOM = {"bf-error-rate": "0.02", "bf-initial-size": "321", "bf-expansion-factor": "4",
              "cf-initial-size": "2048", "cf-bucket-size": "4", "cf-max-iterations": "30",
              "cf-expansion-factor": "2", "cf-max-expansions": "16"}


def settings(server):
    return {k.decode(): v.decode() for k, v in as_dict(server("CONFIG", "GET", "bf.*")).items()}


def test_it_is_loaded_under_redisblooms_name(server):
    modules = [as_dict(m) for m in server("MODULE", "LIST")]  # some servers have their own
    path = str(Path(MODULE).resolve()).encode()
    assert [m[b"name"] for m in modules if m[b"path"] == path] == [b"bf"]
    assert [m[b"path"] for m in modules if m[b"name"] == b"bf"] == [path]


def memory_here():
    """Of the machine, or of the control group that the tests run in."""
    found = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE")]
    groups = dict(re.findall(r"\d+:(|memory):(.*)", Path("/proc/self/cgroup").read_text()))
    for kind, mount, file in (("", "/sys/fs/cgroup", "memory.max"),
                              ("memory", "/sys/fs/cgroup/memory", "memory.limit_in_bytes")):
        for group in ("", groups[kind]) if kind in groups else ():
            path = Path(mount + group) / file
            if path.exists() and (text := path.read_text().strip()) != "max":
                found.append(int(text))
    return min(found)


def test_defaults(new_server):
    assert settings(new_server()) == {
        "bf.bf-error-rate": "0.01", "bf.bf-initial-size": "100", "bf.bf-expansion-factor": "2",
        "bf.cf-initial-size": "1024", "bf.cf-bucket-size": "2", "bf.cf-max-iterations": "20",
        "bf.cf-expansion-factor": "1", "bf.cf-max-expansions": "32",
        "bf.layout": "blocked", "bf.memory-limit": str(memory_here() // 2)}


@pytest.mark.not_reloaded("maxmemory is used up")
def test_one_filter_may_take_half_of_what_the_server_may(new_server):
    server = new_server(maxmemory="100mb")
    assert settings(server)["bf.memory-limit"] == str(50 << 20)
    for command in (["BF.RESERVE", "f", 0.01, 60_000_000],
                    ["BF.INSERT", "f", "CAPACITY", 60_000_000, "ITEMS", "a"]):
        assert is_error(server(*command), "ERR operation exceeds bloom object memory limit")
    assert server("BF.RESERVE", "f", 0.01, 30_000_000) == "OK"
    # What an administrator says counts, in redis.conf as well.
    assert server("CONFIG", "SET", "bf.memory-limit", 0) == "OK"
    assert server("BF.RESERVE", "g", 0.01, 60_000_000) == "OK"
    server.restart(**{"bf.memory-limit": "80mb"})
    assert settings(server)["bf.memory-limit"] == str(80 << 20)
    assert server("BF.RESERVE", "g", 0.01, 60_000_000) == "OK"


def test_settings_decide_about_filters_that_nobody_reserved(server):
    for name, value in [("bf-error-rate", "0.002"), ("bf-initial-size", "777"),
                        ("bf-expansion-factor", "4"), ("layout", "classic")]:
        assert server("CONFIG", "SET", f"bf.{name}", value) == "OK"
        assert server("CONFIG", "GET", f"bf.{name}")[1] == value.encode()
    for command in (["BF.ADD", "a", "x"], ["BF.MADD", "b", "x"], ["BF.INSERT", "c", "ITEMS", "x"]):
        assert server(*command) in (1, [1])
        key = command[1]
        assert server("BF.INFO", key, "CAPACITY") == [777]
        assert server("BF.INFO", key, "EXPANSION") == [4]
        assert float(server("BF.INFO", key, "ERROR")[0]) == 0.002
        assert server("TYPE", key) == "MBbloom--"
    # What a command says takes precedence.
    server("BF.INSERT", "d", "CAPACITY", 5, "ITEMS", "x")
    assert server("BF.INFO", "d", "CAPACITY") == [5] and server("BF.INFO", "d", "EXPANSION") == [4]


def test_an_expansion_of_0_makes_filters_that_do_not_grow(server):
    server("CONFIG", "SET", "bf.bf-expansion-factor", 0)
    server("BF.ADD", "f", "x")
    assert server("BF.INFO", "f", "EXPANSION") == [None]


@pytest.mark.parametrize("name, value", [
    ("bf-error-rate", "0"), ("bf-error-rate", "1"), ("bf-error-rate", "nan"),
    ("bf-error-rate", "inf"), ("bf-error-rate", "x"), ("bf-error-rate", ""),
    ("bf-initial-size", "0"), ("bf-initial-size", "1073741825"), ("bf-initial-size", "x"),
    ("bf-expansion-factor", "-1"), ("bf-expansion-factor", "32769"), ("layout", "round"),
    ("cf-initial-size", "0"), ("cf-bucket-size", "256"), ("cf-max-iterations", "65536"),
    ("cf-expansion-factor", "32769"), ("cf-max-expansions", "0"),
    ("memory-limit", "-1"), ("memory-limit", "x")])
def test_values_that_are_refused(server, name, value):
    before = settings(server)
    assert is_error(server("CONFIG", "SET", f"bf.{name}", value))
    assert settings(server) == before


def test_the_limit_is_memory(server):
    assert server("CONFIG", "SET", "bf.memory-limit", "2mb") == "OK"
    assert settings(server)["bf.memory-limit"] == str(2 << 20)
    assert is_error(server("BF.RESERVE", "f", 0.01, 10_000_000), "memory limit")
    assert server("BF.RESERVE", "f", 0.01, 1_000_000) == "OK"


def test_settings_in_redis_conf(new_server):
    server = new_server(**{"bf.bf-initial-size": "321", "bf.layout": "classic",
                           "bf.bf-error-rate": "0.05"})
    assert settings(server)["bf.bf-initial-size"] == "321"
    server("BF.ADD", "f", "x")
    assert server("BF.INFO", "f", "CAPACITY") == [321]
    assert float(server("BF.INFO", "f", "ERROR")[0]) == 0.05


def has_redisblooms(server):
    assert {k: v for k, v in settings(server).items() if k[3:] in REDISBLOOM} == {
        f"bf.{name}": value for name, value in REDISBLOOM.items()}
    server("BF.ADD", "f", "x")
    assert server("BF.INFO", "f", "CAPACITY") == [321]
    assert server("BF.INFO", "f", "EXPANSION") == [4]
    assert float(server("BF.INFO", "f", "ERROR")[0]) == 0.02


def test_redisblooms_settings_in_redis_conf(new_server):
    server = new_server(**{f"bf.{name}": value for name, value in REDISBLOOM.items()})
    has_redisblooms(server)


def test_redisblooms_settings_as_redis_8_has_them(server, new_server):
    """Where a server lets modules have settings without their name in front."""
    if not about(server).unprefixed:
        assert server("CONFIG", "GET", "[bc]f-*") == []
        assert is_error(server("CONFIG", "SET", "bf-error-rate", "0.02"))
        return
    eight = new_server(**REDISBLOOM)
    has_redisblooms(eight)
    names = as_dict(eight("CONFIG", "GET", "[bc]f-*"))
    assert {k.decode(): v.decode() for k, v in names.items()} == REDISBLOOM
    assert eight("CONFIG", "SET", "bf-initial-size", 99) == "OK"
    assert settings(eight)["bf.bf-initial-size"] == "99"
    assert eight("CONFIG", "SET", "bf.bf-initial-size", 321) == "OK"
    assert eight("CONFIG", "REWRITE") == "OK"
    kept = [line.replace('"', "").split(" ", 1)
            for line in (eight.directory / "redis.conf").read_text().splitlines()
            if line.startswith(("bf-", "cf-"))]
    assert dict(kept) == REDISBLOOM


def test_config_rewrite_keeps_settings(new_server):
    server = new_server()
    server("CONFIG", "SET", "bf.bf-error-rate", "0.003")
    server("CONFIG", "SET", "bf.layout", "classic")
    assert server("CONFIG", "REWRITE") == "OK"
    text = (server.directory / "redis.conf").read_text()
    prefix = "" if about(server).unprefixed else "bf."
    assert f'\n{prefix}bf-error-rate "0.003"\n' in text and "\nbf.layout classic\n" in text


def test_redisblooms_load_arguments(new_server):
    server = new_server("ERROR_RATE", "0.004", "initial_size", "456", "CF_MAX_EXPANSIONS", "16")
    assert settings(server)["bf.bf-error-rate"] == "0.004"
    server("BF.ADD", "f", "x")
    assert server("BF.INFO", "f", "CAPACITY") == [456]
    assert float(server("BF.INFO", "f", "ERROR")[0]) == 0.004


@pytest.mark.parametrize("spell", [str.lower, str.upper])
def test_redisblooms_settings_as_load_arguments(new_server, spell):
    has_redisblooms(new_server(*(word for name, value in REDISBLOOM.items()
                                 for word in (spell(name), value))))


@pytest.mark.parametrize("arguments", [
    ["bf-error-rate", "1"], ["bf-initial-size", "0"], ["bf-expansion-factor", "32769"],
    ["cf-bucket-size", "256"], ["cf-max-expansions", "x"], ["layout", "classic"],
    ["ERROR_RATE"], ["ERROR_RATE", "2"], ["ERROR_RATE", "x"], ["INITIAL_SIZE", "0"],
    ["INITIAL_SIZE", "1073741825"], ["CF_MAX_EXPANSIONS", "0"], ["NOSUCH", "1"]])
def test_load_arguments_that_are_refused(new_server, arguments):
    with pytest.raises(RuntimeError, match=f"(not accepted: |the argument ){arguments[0]}"):
        new_server(*arguments)


def test_unloading_and_a_second_copy_are_refused(server):
    assert is_error(server("MODULE", "UNLOAD", "bf"))  # the server keeps modules with types
    assert is_error(server("MODULE", "LOAD", MODULE))
    assert server("BF.ADD", "f", "x") == 1


def test_the_module_exports_nothing_but_its_entry():
    names = subprocess.run(["nm", "-D", "--defined-only", "--format=posix", MODULE], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    assert [name.split()[0] for name in names] == ["RedisModule_OnLoad"]
