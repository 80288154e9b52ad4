#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run.py [KEYS [RATE]] - the module in a redis-server, compared with commands that do nothing, with its
bars.
run.py many [FILTERS] - the memory of very many small filters (1e6), and their RDB file.
run.py cpu [FILTERS] - processor time of commands about many small filters (4000).
run.py block [MIB] - how long commands about a large filter (1024) keep the server from others; merges, which a
thread does, with another client that sends PING after PING meanwhile.

Needs umbel.so (UMBEL_MODULE, or build/module/umbel.so), a server (REDIS_SERVER, or redis-server)
and a C compiler.  Starts one
server for each layout, and with PEER=path/of/another/bf.so one for that module; KEYS (1e7) items of
16 bytes at a RATE of 0.01.  Times are CPU nanoseconds of the server's main thread per item, the best of nine rounds
in which all cases take turns, so that a busy machine matters little.  Ratios are valid for one run
on one machine.
"""
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
MODULE = Path(os.environ.get("UMBEL_MODULE") or ROOT / "build/module/umbel.so").resolve()
SERVER = os.environ.get("REDIS_SERVER") or "redis-server"
BATCH = 16 * 100  # whole ones only
MODE = sys.argv.pop(1) if sys.argv[1:2] in (["many"], ["block"], ["cpu"]) else None
NUMBER = float(sys.argv[1]) if len(sys.argv) > 1 else {"many": 1e6, "block": 1024, "cpu": 4000}.get(MODE, 1e7)
KEYS = max(int(NUMBER) // BATCH, 1) * BATCH
FILTERS = KEYS  # of many
RATE = sys.argv[2] if len(sys.argv) > 2 else "0.01"
PART = max(KEYS // 5 // BATCH, 1) * BATCH
ROUNDS = 9
FLAGS = ["-O2", "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
ABSENT = 1 << 40  # where the sequence of absent items begins
FAILED = []

# Name, command, key, first item, part of KEYS to send, items per command, depth, whose floor, bar.
CASES = [
    ("loop of 100, nothing done", "FLOOR.LOOP", "f", 0, 15, 100, 16, None, None),
    ("BF.MEXISTS 100, present", "BF.MEXISTS", "f", 0, 15, 100, 16, "FLOOR.LOOP", 2.0),
    ("BF.MEXISTS 100, absent", "BF.MEXISTS", "f", ABSENT, 15, 100, 16, "FLOOR.LOOP", 2.0),
    ("BF.MADD 100, new", "BF.MADD", "g", None, 15, 100, 16, "FLOOR.LOOP", 2.0),
    ("key opened, nothing done", "FLOOR.KEY", "f", 0, 60, 1, 100, None, None),
    ("BF.EXISTS, present", "BF.EXISTS", "f", 0, 60, 1, 100, "FLOOR.KEY", 1.4),
    ("BF.EXISTS, absent", "BF.EXISTS", "f", ABSENT, 60, 1, 100, "FLOOR.KEY", 1.4),
    ("BF.ADD, new", "BF.ADD", "h", None, 60, 1, 100, "FLOOR.KEY", None),
]


# RedisBloom on a machine of the same type, by this program with PEER (Redis 7.0.15, 10 M items); its
# licence keeps it out of this repository.  In brackets: relative to the floor of its own run.
REDISBLOOM = {
    "BF.MEXISTS 100, present": "408 (3.18x)",
    "BF.MEXISTS 100, absent": "423 (3.30x)",
    "BF.MADD 100, new": "528 (4.11x)",
    "BF.EXISTS, present": "1817 (1.32x)",
    "BF.ADD, new": "2156 (1.56x)",
    "bits per key, MEMORY USAGE, reserved at 1 %": "11.03",
    "grown from 100 keys: bits per key": "42.8",
    "- layers": "17",
    "- BF.MEXISTS 100, absent, ns per item": "1161 (9.0x)",
    "- BF.EXISTS, absent, ns": "2920 (2.1x)",
    "- false positives, measured": "1.03%",
    "- slowest BF.ADDs while growing, ms": "13, 3.5, 3.3",
    "BF.RESERVE of 1e9, ms": "0.25",
    "a filter of 10 / 100 keys, MEMORY USAGE": "272 / 272",
    "the same in the RDB file, bytes": "188 / 188",
}


def compile_parts(directory):
    """The load generator and the module of empty commands."""
    api = ROOT / "module"
    here = ROOT / "bench/redis"
    subprocess.run(["cc", *FLAGS, "-o", directory / "load", here / "load.c"], check=True)
    subprocess.run(["cc", *FLAGS, "-fPIC", "-shared", "-fvisibility=hidden", "-I", api, "-o",
                    directory / "floor.so", here / "floor_module.c", api / "api.c"], check=True)


def read_reply(stream):
    """Integers, bulk strings and arrays."""
    line = stream.readline()
    if line[:1] == b"*":
        return [read_reply(stream) for _ in range(int(line[1:]))]
    if line[:1] == b"$":
        return stream.read(int(line[1:]) + 2)[:-2]
    return int(line[1:])


class Server:
    """A redis-server with one module and the empty commands, in a separate directory."""

    def __init__(self, tools, module, *args):
        self.tools = tools
        self.directory = tempfile.mkdtemp(prefix="umbel-bench-")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.process = subprocess.Popen(
            [SERVER, "--port", str(self.port), "--bind", "127.0.0.1", "--save", "",
             "--dir", self.directory, "--enable-debug-command", "yes", *args,
             "--loadmodule", str(module), "--loadmodule", str(tools / "floor.so")],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        for _ in range(500):
            if self.process.poll() is not None:
                sys.exit(f"redis-server does not start with {module}")
            try:
                self.ask("PING")
                return
            except OSError:
                time.sleep(0.02)
        sys.exit("redis-server is not ready after ten seconds")

    def ask(self, *words):
        """One command; errors abort the run."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=600) as s:
            s.sendall("".join([f"*{len(words)}\r\n",
                               *(f"${len(w)}\r\n{w}\r\n" for w in map(str, words))]).encode())
            reply = s.makefile("rb")
            line = reply.readline().decode().rstrip()
            if line.startswith("-"):
                sys.exit(f"{words[0]}: {line}")
            if line.startswith("*"):
                line = reply.readline().decode().rstrip()  # the first element
            return reply.read(int(line[1:])).decode() if line.startswith("$") else line[1:]

    def ask_length(self, *words):
        """The length of a bulk string that is the reply."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=600) as s:
            s.sendall(" ".join([*words, ""]).encode() + b"\r\n")
            return int(s.makefile("rb").readline()[1:])

    def scandump(self, key):
        with socket.create_connection(("127.0.0.1", self.port), timeout=600) as s:
            stream, at = s.makefile("rb"), 0
            while True:
                s.sendall(f"BF.SCANDUMP {key} {at}\r\n".encode())
                at, piece = read_reply(stream)
                if at == 0:
                    return
                yield at, piece

    def load_chunk(self, command, key, at, piece):
        with socket.create_connection(("127.0.0.1", self.port), timeout=600) as s:
            s.sendall("".join([f"*4\r\n${len(command)}\r\n{command}\r\n${len(key)}\r\n{key}\r\n",
                               f"${len(str(at))}\r\n{at}\r\n${len(piece)}\r\n"]).encode()
                      + piece + b"\r\n")
            if s.makefile("rb").readline() != b"+OK\r\n":
                sys.exit(command)

    def make_plain(self, key):
        """Loads the same bits under the same name, for FLOOR.EXISTS and FLOOR.MEXISTS."""
        pieces = list(self.scandump(key))
        self.ask("DEL", key)
        for at, piece in pieces:
            self.load_chunk("FLOOR.LOADCHUNK", key, at, piece)

    def slow(self, command):
        """(microseconds, words) of the commands in the slow log."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=600) as s:
            s.sendall(b"SLOWLOG GET 100000\r\n")
            entries = read_reply(s.makefile("rb"))
        return [(e[2], e[3]) for e in entries if command in (None, e[3][0].decode())]

    def used_memory(self, what="used_memory"):
        info = self.ask("INFO", "memory")
        return int(info.split(what + ":")[1].split()[0])

    def load(self, command, key, first, items, per, depth):
        """CPU and wall-clock seconds, and how many answers were 1."""
        done = subprocess.run([self.tools / "load", *map(str, (self.port, command, key, first,
                                                               items, per, depth))],
                              check=True, capture_output=True, text=True)
        cpu, clock, ones = done.stdout.split()
        return float(cpu), float(clock), int(ones)

    def timed(self, *words):
        start = time.monotonic()
        self.ask(*words)
        return time.monotonic() - start

    def stop(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)


def fill(server, out):
    """Builds the filter that is queried; reports how fast it was filled and what it takes."""
    before = server.used_memory()
    server.ask("BF.RESERVE", "f", RATE, KEYS)
    cpu, clock, _ = server.load("BF.MADD", "f", 0, KEYS, 100, 16)
    out["bulk load of all keys by BF.MADD 100, s"] = f"{clock:.2f}"
    out["- of it the server's processor, s"] = f"{cpu:.2f}"
    grown = server.used_memory() - before
    usage = int(server.ask("MEMORY", "USAGE", "f"))
    out["bits per key, MEMORY USAGE, reserved"] = f"{8 * usage / KEYS:.2f}"
    out["bits per key, growth of used_memory"] = f"{8 * grown / KEYS:.2f}"
    _, _, wrong = server.load("BF.MEXISTS", "f", 2 * ABSENT, PART, 100, 16)
    out["false positives, measured"] = f"{wrong / (PART):.4%}"


def persist(server, out):
    """Only f is saved: g and h are for the cases that add."""
    for compression in ("yes", "no"):
        server.ask("CONFIG", "SET", "rdbcompression", compression)
        out[f"SAVE, rdbcompression {compression}, ms"] = f"{1e3 * server.timed('SAVE'):.0f}"
    size = (Path(server.directory) / "dump.rdb").stat().st_size
    out["RDB file, MB"] = f"{size / 1e6:.2f}"
    out["load (DEBUG RELOAD NOSAVE), ms"] = f"{1e3 * server.timed('DEBUG', 'RELOAD', 'NOSAVE'):.0f}"


def slowest(server):
    """The three slowest BF.ADDs of a filter that grows, in ms, the least of three tries for each:
    whatever else the machine does then falls on other items."""
    tries = []
    server.ask("CONFIG", "SET", "slowlog-log-slower-than", 200)
    server.ask("CONFIG", "SET", "slowlog-max-len", 100000)
    for _ in range(3):
        server.ask("DEL", "grown")
        server.ask("SLOWLOG", "RESET")
        server.load("BF.ADD", "grown", 0, KEYS, 1, 100)
        tries.append({words[2]: micros for micros, words in server.slow("BF.ADD")})
    server.ask("CONFIG", "SET", "slowlog-log-slower-than", -1)
    always = set(tries[0]) & set(tries[1]) & set(tries[2])
    worst = sorted((min(t[item] for t in tries) for item in always), reverse=True)[:3]
    return ", ".join(f"{micros / 1e3:.1f}" for micros in worst) or "none over 0.2"


def waits_during(server, line, work):
    """What another client waits for its replies to a command while `work` is done, in ms, sorted; and
    what that returns."""
    waited, done = [], threading.Event()

    def ask_again_and_again():
        with socket.create_connection(("127.0.0.1", server.port)) as s:
            while not waited or not done.is_set():
                start = time.monotonic()
                s.sendall(line)
                s.recv(64)
                waited.append(1e3 * (time.monotonic() - start))

    other = threading.Thread(target=ask_again_and_again)
    other.start()
    result = work()
    done.set()
    other.join()
    return sorted(waited), result


def sets_during(server, command, key):
    """The waits for a plain SET: the median, one in a thousand, and the longest."""
    waited, _ = waits_during(server, b"SET other value\r\n",
                             lambda: server.load(command, key, 0, KEYS, 1, 100))
    return " / ".join(f"{waited[int(len(waited) * part)]:.1f}" for part in (0.5, 0.999, 1 - 1e-9))


def ask_grown(server, module, out):
    for name, command, floor, per, depth in (
            ("- BF.MEXISTS 100, absent, ns per item", "MEXISTS", "FLOOR.LOOP", 100, 16),
            ("- BF.EXISTS, absent, ns", "EXISTS", "FLOOR.KEY", 1, 100)):
        items = max(PART // 5 // (per * depth), 1) * per * depth
        command = f"{module}.{command}"
        times = {command: 1e9, floor: 1e9}
        for _ in range(ROUNDS):
            for what in times:
                cpu, _, wrong = server.load(what, "grown", ABSENT, items, per, depth)
                times[what] = min(times[what], 1e9 * cpu / items)
                if what.endswith(".MEXISTS"):
                    out["- false positives, measured"] = f"{wrong / items:.3%}"
        out[name] = f"{times[command]:.0f} ({times[command] / times[floor]:.1f}x)"


def grow(server, out):
    worst = slowest(server)
    out["SET during empty commands, ms"] = sets_during(server, "FLOOR.KEY", "grown")
    server.ask("DEL", "grown")
    out["SET during BF.ADDs that grow a filter, ms"] = sets_during(server, "BF.ADD", "grown")
    server.ask("DEL", "grown")
    cpu, _, _ = server.load("BF.MADD", "grown", 0, KEYS, 100, 16)
    usage = int(server.ask("MEMORY", "USAGE", "grown"))
    out["grown from 100 keys: bits per key"] = f"{8 * usage / KEYS:.2f}"
    out["- layers"] = server.ask("BF.INFO", "grown", "FILTERS")
    out["- server's processor, ns per item"] = f"{1e9 * cpu / KEYS:.0f}"
    ask_grown(server, "BF", out)
    out["- slowest BF.ADDs while growing, ms"] = worst
    server.ask("DEL", "grown")


def stay_small(server, out):
    sizes, lengths = [], []
    for keys in (10, 100):
        server.ask("DEL", "s")
        server.ask("BF.MADD", "s", *range(keys))
        sizes.append(server.ask("MEMORY", "USAGE", "s"))
        server.ask("CONFIG", "SET", "rdbcompression", "no")
        # Without the type, the module's name, the version and the checksum.
        lengths.append(str(server.ask_length("DUMP", "s") - 20))
    out["a filter of 10 / 100 keys, MEMORY USAGE"] = " / ".join(sizes)
    out["the same in the RDB file, bytes"] = " / ".join(lengths)
    out["BF.RESERVE of 1e9, ms"] = f"{1e3 * server.timed('BF.RESERVE', 'huge', 0.01, 10**9):.2f}"
    server.ask("UNLINK", "huge", "s")


def time_cases(server, cases):
    """Best nanoseconds of every case by name."""
    best = {}
    for round_number in range(ROUNDS):
        for name, command, key, first, part, per, depth, *_ in cases:
            items = max(KEYS // part // (per * depth), 1) * per * depth
            start = ABSENT * (3 + round_number) if first is None else first
            cpu, _, _ = server.load(command, key, start, items, per, depth)
            best[name] = min(best.get(name, 1e9), 1e9 * cpu / items)
    return best


def measure_plain(server):
    """The filters of the classic layout, asked without the module."""
    out = {}
    server.ask("BF.RESERVE", "f", RATE, KEYS)
    for key in ("f", "grown"):
        server.load("BF.MADD", key, 0, KEYS, 100, 16)
        server.make_plain(key)
    best = time_cases(server, [(name, command.replace("BF.", "FLOOR."), *rest)
                               for name, command, *rest in CASES if "ADD" not in command])
    ask_grown(server, "FLOOR", out)
    return best, out


def measure(server):
    """Best nanoseconds of every case by name, and the rows that are only reported."""
    out = {}
    fill(server, out)
    for key in ("g", "h"):
        server.ask("BF.RESERVE", key, RATE, KEYS)
    best = time_cases(server, CASES)
    server.ask("DEL", "g")
    server.ask("DEL", "h")
    persist(server, out)
    grow(server, out)
    stay_small(server, out)
    return best, out


def report(names, results):
    print(f"\n{KEYS:,} items; server's processor, ns per item (times the floor)\n")
    print(f"{'':<44}" + "".join(f"{name:>18}" for name in [*names, "RedisBloom*"]))
    floors = {command: name for name, command, *_, floor, _ in CASES if floor is None}
    for name, *_, floor, bar in CASES:
        line = f"{name:<44}"
        for column, (best, _) in zip(names, results):
            text = f"{best[name]:.0f}" if name in best else ""
            if floor and text:
                ratio = best[name] / best[floors[floor]]
                text += f" ({ratio:.2f}x)"
                if bar and column == "blocked" and ratio > bar:
                    FAILED.append(name)
            line += f"{text:>18}"
        line += f"{REDISBLOOM.get(name, ''):>18}"
        print(line + (f"   bar {bar}x for blocked" if bar else ""))
    print()
    for name in results[0][1]:
        print(f"{name:<44}" + "".join(f"{out.get(name, ''):>18}" for _, out in results)
              + f"{REDISBLOOM.get(name, ''):>18}")
    print("\nplain way: the bits of the classic layout asked as RedisBloom's documentation describes, by"
          "\n  the least code: less than RedisBloom itself does (bench/redis/floor_module.c)"
          "\n* measured earlier on a machine of the same type with 10 M items; not in this run")


def make_many(tools, layout, keys):
    """Rows about FILTERS filters with that many keys each; without a layout they are three
    allocations as RedisBloom makes them."""
    server = Server(tools, MODULE)
    try:
        if layout:
            server.ask("CONFIG", "SET", "bf.layout", layout)
        before = [server.used_memory(what) for what in ("used_memory", "used_memory_rss")]
        command = "BF.MADD" if layout else "FLOOR.MAKE"
        server.load(command, "user:%", 0, keys * FILTERS, keys, BATCH // 100)
        after = [server.used_memory(what) for what in ("used_memory", "used_memory_rss")]
        if int(server.ask("DBSIZE")) != FILTERS:
            sys.exit("not all filters were made")
        row = [f"{(b - a) / FILTERS:.1f}" for a, b in zip(before, after)]
        if not layout:
            return ["", *row, ""]
        server.ask("SAVE")
        size = (Path(server.directory) / "dump.rdb").stat().st_size
        return [server.ask("MEMORY", "USAGE", f"user:{FILTERS - 1}"), *row, f"{size / FILTERS:.1f}"]
    finally:
        server.stop()


def report_many(tools):
    print(f"{FILTERS:,} filters that nobody reserved, bytes per filter\n")
    print(f"{'':<34}{'MEMORY USAGE':>14}{'used_memory':>14}{'resident':>14}{'RDB file':>14}")
    for keys in (10, 100):
        for name, layout in (("blocked", "blocked"), ("classic", "classic"),
                             ("RedisBloom's allocations", None)):
            row = make_many(tools, layout, keys)
            print(f"{f'{keys} keys, {name}':<34}" + "".join(f"{text:>14}" for text in row),
                  flush=True)
    print("\nRedisBloom's RDB file is that of the classic layout, byte for byte.")


def merge_beside(server, *names):
    """How long a merge takes, and the longest that another client waits for a PING meanwhile, in
    ms."""
    waited, took = waits_during(server, b"PING\r\n", lambda: server.timed("BF.MERGE", *names))
    return 1e3 * took, waited[-1]


# Into a filter that is there, into a new key, and of three sources into another.
MERGES = {"BF.MERGE": "ab", "BF.MERGE, a new key": "ca", "BF.MERGE, three sources": "dabc"}


def block(tools, layout):
    """Milliseconds of each command in the server, by the server's own clock, and those of merges
    with the longest wait of another client."""
    server = Server(tools, MODULE, "--bf.layout", layout, "--bf.memory-limit", "0")
    times = {}
    try:
        keys = int(NUMBER * 2**20 * 8 / 11.1)
        noise = os.urandom(16 << 20)
        for key in ("a", "b"):  # made alike, and every page of them in use
            server.ask("BF.RESERVE", key, "0.01", keys,
                       *(() if layout == "classic" else ("SEED", "0123456789abcdef")))
        server.ask("CONFIG", "SET", "slowlog-log-slower-than", 0)
        server.ask("CONFIG", "SET", "slowlog-max-len", 100000)
        pieces = [(at, len(piece)) for at, piece in server.scandump("a")][1:]
        for key in ("a", "b"):
            for at, size in pieces:
                server.load_chunk("BF.LOADCHUNK", key, at, noise[:size])
        for words in (("BF.ADD", "a", "x"), ("BF.EXISTS", "a", "x"), ("BF.INFO", "a"),
                      ("BF.STATS", "a")):
            server.ask(*words)
        server.ask("CONFIG", "SET", "slowlog-log-slower-than", -1)  # very many PINGs
        merges = {name: merge_beside(server, *names) for name, names in MERGES.items()}
        server.ask("CONFIG", "SET", "slowlog-log-slower-than", 0)
        for words in (("UNLINK", "c", "d"), ("COPY", "a", "c"), ("BF.CLEAR", "c"), ("DEL", "b"),
                      ("BF.RESERVE", "b", "0.01", keys)):
            server.ask(*words)
        server.ask_length("DUMP", "a")
        for micros, words in server.slow(None):
            name = words[0].decode()
            times[name] = max(times.get(name, 0), micros / 1e3)
        return times, merges
    finally:
        server.stop()


def report_blocking(tools):
    both = [block(tools, layout) for layout in ("blocked", "classic")]
    print(f"filters of {NUMBER:.0f} MiB, ms of the server per command; the longest of each\n")
    print(f"{'':<24}{'blocked':>12}{'classic':>12}")
    for name in ("BF.RESERVE", "BF.ADD", "BF.EXISTS", "BF.INFO", "BF.STATS", "BF.SCANDUMP",
                 "BF.LOADCHUNK", "BF.CLEAR", "COPY", "DUMP", "DEL", "UNLINK"):
        print(f"{name:<24}" + "".join(f"{times[name]:>12.2f}" for times, _ in both))
    for title, which in ("merges, ms until the answer", 0), ("the longest wait of another client", 1):
        print(f"\n{title}\n")
        for name in MERGES:
            print(f"{name:<24}" + "".join(f"{merges[name][which]:>12.1f}" for _, merges in both))


def add(key, item):
    item = f"{item * 0x9e3779b97f4a7c15 % 2**64:016x}"
    return f"*3\r\n$6\r\nBF.ADD\r\n${len(key)}\r\n{key}\r\n$16\r\n{item}\r\n".encode()


def small_cases():
    """Name, length of a reply, commands."""
    n = int(NUMBER)
    yield "BF.ADD that makes the key", 4, [add(f"user:{i}", i) for i in range(5 * n)]
    for first, last, part in ((1, 10, 1), (10, 80, 10), (80, 600, 20), (600, 3000, 80)):
        yield (f"BF.ADD, items {first + 1} to {last}", 4,
               [add(f"user:{i}", i + 10**6 * j) for j in range(first, last) for i in range(max(n // part, 1))])
    absent = [add(f"user:{i % (n // 2) + n // 2}", i + 10**12).replace(b"$6\r\nBF.ADD", b"$9\r\nBF.EXISTS")
              for i in range(10 * n)]
    yield "BF.EXISTS, absent, of 10 items", 4, absent
    for capacity, count in ((100, n), (1000, n), (10**4, n // 4), (10**5, n // 20), (10**8, 3)):
        yield (f"BF.RESERVE of {capacity:,}", 5,
               [f"BF.RESERVE r{capacity}:{i} 0.01 {capacity}\r\n".encode() for i in range(count)])


def cpu_of(server, connection, commands, reply):
    """Nanoseconds of the server's processor per command, 100 sent at a time."""
    def so_far():
        info = server.ask("INFO", "cpu")
        return sum(float(info.split(f"used_cpu_{what}_main_thread:")[1].split()[0]) for what in ("sys", "user"))

    before = so_far()
    for at in range(0, len(commands), 100):
        some = commands[at:at + 100]
        connection.sendall(b"".join(some))
        left = reply * len(some)
        while left:
            left -= len(connection.recv(left))
    return 1e9 * (so_far() - before) / len(commands)


def report_cpu(tools):
    runs = [("blocked", MODULE, ("--bf.layout", "blocked")), ("classic", MODULE, ("--bf.layout", "classic"))]
    if os.environ.get("PEER"):
        runs.append(("peer", Path(os.environ["PEER"]).resolve(), ()))
    servers, best = {name: Server(tools, module, *args) for name, module, args in runs}, {}
    try:
        for _ in range(ROUNDS):
            for case, reply, commands in small_cases():
                for name, server in servers.items():
                    with socket.create_connection(("127.0.0.1", server.port)) as connection:
                        took = cpu_of(server, connection, commands, reply)
                    best[case, name] = min(best.get((case, name), 1e9), took)
            for server in servers.values():
                server.ask("FLUSHALL")
    finally:
        for server in servers.values():
            server.stop()
    print(f"{'ns of the server per command':<34}" + "".join(f"{name:>14}" for name in servers))
    for case in dict.fromkeys(case for case, _ in best):
        print(f"{case:<34}" + "".join(f"{best[case, name]:>14,.0f}" for name in servers))


def main():
    if not MODULE.exists():
        sys.exit(f"{MODULE} is not there: make")
    tools = Path(tempfile.mkdtemp(prefix="umbel-bench-"))
    names, results = [], []
    runs = [("blocked", MODULE), ("classic", MODULE), ("plain way", MODULE)]
    if os.environ.get("PEER"):
        runs.append(("peer", Path(os.environ["PEER"]).resolve()))
    try:
        compile_parts(tools)
        if MODE:
            {"many": report_many, "block": report_blocking, "cpu": report_cpu}[MODE](tools)
            return
        for name, module in runs:
            server = Server(tools, module)
            try:
                if module == MODULE:
                    server.ask("CONFIG", "SET", "bf.layout",
                               "blocked" if name == "blocked" else "classic")
                names.append(name)
                results.append((measure_plain if name == "plain way" else measure)(server))
            finally:
                server.stop()
        report(names, results)
    finally:
        shutil.rmtree(tools, ignore_errors=True)
    if FAILED:
        sys.exit("above the bar: " + ", ".join(FAILED))


main()
