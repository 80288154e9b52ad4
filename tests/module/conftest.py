# SPDX-License-Identifier: MIT
"""The tests' own servers, with the module under test ($UMBEL_MODULE), and TAP lines."""
import contextlib
import ctypes
import importlib.machinery
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from resp import Client, is_error

sys.path.append(str(Path(__file__).resolve().parent.parent / "support"))

from hang_limit import hang_limit  # noqa: E402,F401

MODULE = os.environ.get("UMBEL_MODULE", "build/module/umbel.so")
SERVER = os.environ.get("REDIS_SERVER") or shutil.which("redis-server") or "redis-server"


# The runtime of a sanitizer, if the module was built with one.  Redis itself does not free
# everything when it exits.
PRELOAD = {"LD_PRELOAD": os.environ["REDIS_PRELOAD"],
           "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
           "TSAN_OPTIONS": "halt_on_error=1:allocator_may_return_null=1",
           } if os.environ.get("REDIS_PRELOAD") else {}


# Every command that has written is followed by DEBUG RELOAD: what a test then sees has been
# saved and loaded.
RELOADS = os.environ.get("UMBEL_RELOAD") == "1"
READS = {"BF.EXISTS", "BF.MEXISTS", "BF.COUNT", "BF.CARD", "BF.INFO", "BF.DEBUG", "BF.STATS",
         "BF.SCANDUMP"}
WRITES = {"COPY", "RESTORE", "EXEC", "EVAL"}

PATIENCE = 300  # seconds, for what hangs: a machine may be busy


def until(what, why, ignored=OSError):
    """Waits for an answer that is true."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with contextlib.suppress(ignored):
            if answer := what():
                return answer
        time.sleep(0.02)
    raise AssertionError(why)


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def writes(command):
    name = (command[0].decode() if isinstance(command[0], bytes) else command[0]).upper()
    return name in WRITES or name.startswith("BF.") and name not in READS


class ReloadingClient(Client):
    """After its commands the server loads again what it has saved, for which another client asks:
    this one may be in a transaction, or in RESP 3."""

    def reply(self, *args):
        reply = super().reply(*args)
        if writes(args) and reply.kind != "-" and reply.value != "QUEUED":
            self.reload()
        return reply

    def many(self, commands):
        commands = list(commands)
        replies = super().many(commands)
        if any(writes(c) and not is_error(r) for c, r in zip(commands, replies)):
            self.reload()
        return replies

    def reload(self):
        client = Client(self.address)
        answer = client("DEBUG", "RELOAD")
        client.close()
        assert answer == "OK", answer


class Server:
    """A redis-server in a separate directory.  `settings` is its configuration, `module_args`
    what follows the module's path."""

    def __init__(self, directory, module_args=(), port=0, module=MODULE, **settings):
        self.directory = Path(directory)
        self.socket_path = str(self.directory / "s")
        self.module, self.module_args, self.port = module, module_args, port
        self.settings = {"save": "", "appendonly": "no", "enable-debug-command": "yes",
                         "enable-module-command": "yes",
                         "enable-protected-configs": "yes",  # bf.hold-merges: merging.c
                         "repl-diskless-sync-delay": "0",
                         # When DEL and FLUSHALL are answered, memory is free; defaults differ.
                         "lazyfree-lazy-user-del": "no", "lazyfree-lazy-user-flush": "no",
                         **{k.replace("_", "-"): v for k, v in settings.items()}}
        self.process, self.clients = None, []

    def start(self):
        lines = [f"{name} {value or chr(34) * 2}" for name, value in self.settings.items()]
        if self.module:
            path = Path(self.module).resolve()
            lines.append(" ".join(["loadmodule", str(path), *map(str, self.module_args)]))
        config = self.directory / "redis.conf"
        config.write_text("\n".join([f"dir {self.directory}", f"unixsocket {self.socket_path}",
                                     f"port {self.port}", "bind 127.0.0.1", *lines, ""]))
        with open(self.directory / "log", "ab") as log:
            self.process = subprocess.Popen(
                [SERVER, str(config)], stdin=subprocess.DEVNULL, stdout=log,
                stderr=subprocess.STDOUT, env={**os.environ, **PRELOAD},
                preexec_fn=die_with_parent)
        self.wait_ready()
        return self

    def wait_ready(self):
        def ready():
            if self.process.poll() is not None:
                raise RuntimeError(f"the server did not start:\n{self.log()[-20000:]}")
            client = Client(self.socket_path)
            answer = client("PING")
            client.close()
            return answer == "PONG"
        until(ready, "the server is not ready")

    def client(self, protocol=2):
        kind = ReloadingClient if RELOADS else Client
        self.clients.append(kind(self.socket_path, protocol))
        return self.clients[-1]

    def __call__(self, *args):
        """One command on a persistent connection."""
        if not self.clients:
            self.client()
        return self.clients[0](*args)

    def many(self, commands):
        """A pipeline on that connection."""
        if not self.clients:
            self.client()
        return self.clients[0].many(commands)

    def alive(self):
        return self.process.poll() is None and self("PING") == "PONG"

    def log(self):
        return (self.directory / "log").read_text(errors="replace")

    def stop(self, how=signal.SIGKILL):
        for client in self.clients:
            client.close()
        self.clients.clear()
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
        if self.process:
            self.process.wait(60)

    def restart(self, **settings):
        """Restarts after an orderly shutdown; what was saved before is loaded."""
        self.stop(signal.SIGTERM)
        self.settings.update({k.replace("_", "-"): v for k, v in settings.items()})
        return self.start()


@contextlib.contextmanager
def running(*module_args, **settings):
    """A server for as long as the context lasts."""
    # Short, because the path of a socket has at most 107 bytes.
    directory = tempfile.mkdtemp(prefix="umbel-")
    server = Server(directory, module_args, **settings)
    try:
        yield server.start()
    finally:
        server.stop()
        log = server.log()
        shutil.rmtree(directory, ignore_errors=True)
        assert "Sanitizer" not in log, log[-8000:]


@pytest.fixture
def new_server():
    """Makes servers that are stopped with the test."""
    with contextlib.ExitStack() as servers:
        yield lambda *args, **settings: servers.enter_context(running(*args, **settings))


@pytest.fixture
def new_replica(new_server):
    """Makes a replica of a server that has a port."""
    def make(primary, *module_args, **settings):
        replica = new_server(*module_args, port=free_port(),
                             replicaof=f"127.0.0.1 {primary.port}", **settings)
        in_step(primary, replica)
        return replica
    return make


def in_step(primary, replica):
    """Waits until the replica has everything that the primary has sent so far."""
    def follows():
        here, there = info(primary, "replication"), info(replica, "replication")
        return (there.get("master_link_status") == "up"
                and here["master_repl_offset"] == there["slave_repl_offset"])
    until(follows, "the replica does not follow", ())


def rewrite(server):
    """Rewrites the append-only file, and waits until it is done."""
    assert "rewriting started" in server("BGREWRITEAOF")
    rewritten(server)


def rewritten(server):
    """Waits until a rewrite of the append-only file is over; a server does not end before its first
    one is."""
    def over():
        now = info(server, "persistence")
        return now["aof_rewrite_in_progress"] == now["aof_rewrite_scheduled"] == "0"
    until(over, "the rewrite does not end", ())
    assert info(server, "persistence")["aof_last_bgrewrite_status"] == "ok"


def umbel_read():
    """scripts/umbel-read, which knows umbel's hashes and checksums without the library."""
    path = str(Path(__file__).parent.parent.parent / "scripts/umbel-read")
    loader = importlib.machinery.SourceFileLoader("umbel_read", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("umbel_read", loader))
    loader.exec_module(module)
    return module


def info(server, section):
    text = server("INFO", section)
    text = text.decode() if isinstance(text, bytes) else text
    return dict(line.split(":", 1) for line in text.splitlines() if ":" in line)


def about(server):
    """Where servers differ: what this one says of itself."""
    told = info(server, "server")
    name = told.get("server_name", "redis")  # Valkey gives a redis_version as well
    version = tuple(map(int, told[f"{name}_version"].split(".")))
    return SimpleNamespace(
        name=name, version=version,
        # What RESP 3 has around the subcommands of a command.
        subcommands="*" if name == "valkey" and version >= (9,) else "~",
        # Whether settings of modules may do without the module's name.
        unprefixed=name == "redis" and version >= (8,),
        # Whether modules can sort their commands into ACL categories, and into new ones.
        categories=version >= (7, 2), new_categories=version >= {"redis": (7, 4)}.get(name, (8,)),
        # The command that moves slots of a cluster as a whole.
        migration="MIGRATESLOTS" if name == "valkey" and version >= (9,)
        else "MIGRATION" if name == "redis" and version >= (8, 4) else None)


def can_defragment(server):
    """Whether it was built with the allocator that comes with it."""
    able = server("CONFIG", "SET", "activedefrag", "yes") == "OK"
    server("CONFIG", "SET", "activedefrag", "no")
    return able


def rdb_version(server):
    """The version that stands in what this server dumps."""
    server("SET", "any", "")
    payload = server("DUMP", "any")
    server("DEL", "any")
    return int.from_bytes(payload[-10:-8], "little")


@pytest.fixture(scope="session")
def shared_server():
    with running() as server:
        yield server


@pytest.fixture
def server(shared_server):
    """The server that all tests of a file share, empty and with the usual settings."""
    shared_server("FLUSHALL")
    settings = shared_server("CONFIG", "GET", "bf.*")
    yield shared_server
    if shared_server.process.poll() is not None:
        log = shared_server.log()
        shared_server.stop()
        shared_server.start()
        pytest.fail(f"the server has ended:\n{log[-8000:]}")
    for name, value in zip(settings[::2], settings[1::2]):
        shared_server("CONFIG", "SET", name, value)


@pytest.fixture(params=["blocked", "classic"])
def layout(server, request):
    """Both layouts, one after the other, as the one of new filters."""
    server("CONFIG", "SET", "bf.layout", request.param)
    return request.param


# ---- TAP: what the test runner counts ----------------------------------------------------------

tap = {"count": 0, "reporter": None}


def pytest_collection_modifyitems(items):
    for item in items:
        mark = item.get_closest_marker("not_reloaded")
        if mark and RELOADS:
            item.add_marker(pytest.mark.skip(reason=mark.args[0]))


@pytest.hookimpl(trylast=True)  # after the reporter itself
def pytest_configure(config):
    config.addinivalue_line("markers",
                            "not_reloaded(reason): makes no sense with UMBEL_RELOAD=1")
    tap["reporter"] = config.pluginmanager.getplugin("terminalreporter")


def pytest_report_teststatus(report):
    if report.skipped or report.failed or report.when == "call":
        return report.outcome, "", ""
    return None


def pytest_runtest_logreport(report):
    over = report.when == "call" or (report.when == "setup" and not report.passed)
    if not over and not report.failed:
        return
    tap["count"] += 1
    name = f"{tap['count']} - {report.nodeid.split('::', 1)[-1]}"
    if report.skipped:
        line = f"ok {name} # SKIP {report.longrepr[-1]}"
    else:
        line = f"{'not ok' if report.failed else 'ok'} {name}"
    tap["reporter"].ensure_newline()
    tap["reporter"].write_line(line.replace("\n", " "))
