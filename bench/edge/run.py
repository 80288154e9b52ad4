#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run.py [NAMES] [--alone] - a block list of NAMES made-up names (2194726) in real servers: with a filter, and in
the servers' own ways.  Prints resident memory, CPU time until the first answer, and wrong answers; what a list
adds to a query; and how many questions umbel serve answers.  CPU times, because machines are shared; --alone lets the machine's
other work wait where the clock counts (bench/alone.py)."""
import importlib.util
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/edge"), str(ROOT / "bench")]
from alone import alone, circumstances  # noqa: E402
spec = importlib.util.spec_from_file_location("edge", ROOT / "tests/edge/run.py")
edge = importlib.util.module_from_spec(spec)
spec.loader.exec_module(edge)


class Names:
    """In place of the tests' lists: many names, one filter."""

    def __init__(self, folder, count):
        some = random.Random(7)
        self.listed = [f"{some.getrandbits(56):x}.{some.choice(('example', 'test'))}" for _ in range(count)]
        self.path, self.text = folder / "bad.umb", folder / "names"
        self.text.write_text("".join(f"{n}\n" for n in self.listed))
        begin = time.monotonic()
        subprocess.run([edge.MAKE_LIST, self.path, "domain", "1e-6", self.text], check=True)
        print(f"filter: {self.path.stat().st_size / 2**20:.1f} MiB, built in {time.monotonic() - begin:.1f} s, "
              "a call per name", flush=True)


def dnsdist_own(b, names=True):
    """With its own tree of suffixes, or with nothing."""
    port, upstream = edge.free_port(), edge.Names()
    own = f"""smn = newSuffixMatchNode()
for name in io.lines("{b.lists.text}") do smn:add(name) end
addAction(SuffixMatchNodeRule(smn), RCodeAction(DNSRCode.NXDOMAIN))
"""
    config = b.write("dnsdist.conf", f"""setSecurityPollSuffix("")
setLocal("127.0.0.1:{port}")
newServer("127.0.0.1:{upstream.port}")
{own if names else ""}""")
    b.start([edge.need("dnsdist"), "--supervised", "--disable-syslog", "-C", config])
    edge.wait_until(lambda: edge.rcode(port, "ready.example") in (0, 3), "dnsdist", 300)
    return edge.resolver_blocks(port)


def unbound_zones(b):
    port, names = edge.free_port(), edge.Names()
    zones = "".join(f'local-zone: "{n}" always_nxdomain\n' for n in b.lists.listed)
    config = b.write("unbound.conf", f"""server:
interface: 127.0.0.1@{port}
username: ""
chroot: ""
directory: "{b.folder}"
pidfile: ""
use-syslog: no
do-daemonize: no
do-not-query-localhost: no
module-config: "iterator"
local-zone: "test." nodefault
{zones}
remote-control:
control-enable: no
forward-zone:
name: "."
forward-addr: 127.0.0.1@{names.port}
""")
    b.start([edge.need("unbound"), "-d", "-c", config])
    edge.wait_until(lambda: edge.rcode(port, "ready.example") in (0, 3), "unbound", 180)
    return edge.resolver_blocks(port)


def haproxy_acl(b):
    port, web = edge.free_port(), edge.pages()
    config = b.write("haproxy.cfg", f"""defaults
    mode http
    timeout client 30s
    timeout connect 5s
    timeout server 30s
frontend web
    bind 127.0.0.1:{port}
    acl bad hdr(host) -m str -f {b.lists.text}
    http-request deny deny_status 403 if bad
    default_backend pages
backend pages
    server one 127.0.0.1:{web.server_port}
""")
    b.start([edge.need("haproxy"), "-db", "-f", config])
    edge.wait_until(lambda: edge.web_blocks(port)("ready.example") is False, "haproxy", 180)
    return edge.web_blocks(port)


def resources(pid):
    """Resident MB and CPU seconds."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    ticks = sum(int(x) for x in Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6, ticks / os.sysconf("SC_CLK_TCK")


def bench_of(stack, folder, what, names):
    """Where to start a server, and what was started there."""
    own = folder / re.sub(r"\W", "_", what)
    own.mkdir()
    b, processes = edge.Bench(stack, own, names), []
    begin = b.start
    b.start = lambda *a, **k: processes.append(begin(*a, **k)) or processes[-1]
    return b, processes


def measure(what, start, names, folder, parents=True):
    with ExitStack() as stack:
        b, processes = bench_of(stack, folder, what, names)
        try:
            blocks = start(b)
        except (edge.Skip, AssertionError) as e:
            print(f"| {what} | {e} | | |", flush=True)
            return
        memory, cpu = resources(processes[-1].pid)
        below = "www." if parents else ""
        missed = sum(not blocks(below + n) for n in names.listed[:2000])
        others = sum(blocks(f"www.other{i}.test") for i in range(2000))
        print(f"| {what} | {memory:,.0f} MB | {cpu:.1f} | {missed} missed, {others} wrong of 2,000 each |", flush=True)


def spent(pid):
    """CPU time in microseconds, of all its threads."""
    return sum(int(t.read_text().split()[0]) for t in Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1000


def added(names, folder, queries=20000):
    """What a list adds to a query that it lets through: dnsdist with and without one, asked in turns."""
    with ExitStack() as stack:
        servers = []
        for what, start in (("without", lambda b: dnsdist_own(b, False)), ("with", edge.dnsdist)):
            b, processes = bench_of(stack, folder, f"added {what}", names)
            servers.append((start(b), processes[-1].pid, []))
        before = [spent(pid) for _, pid, _ in servers]
        with alone(*(pid for _, pid, _ in servers)):
            for i in range(queries):
                for blocks, _, times in servers[::1 if i % 2 else -1]:
                    begin = time.perf_counter()
                    blocks(f"www{i}.some.other.test")
                    times.append((time.perf_counter() - begin) * 1e6)
        cpu = [(spent(pid) - b) / queries for (_, pid, _), b in zip(servers, before)]
        p50, p99 = ([statistics.quantiles(times, n=100)[q] for _, _, times in servers] for q in (49, 98))
    print(f"\ndnsdist, a name of four labels that is let through, {queries:,} queries each in turns:\n"
          f"  without a list: CPU {cpu[0]:.1f} us, median {p50[0]:.0f} us, p99 {p99[0]:.0f} us\n"
          f"  with a filter:  CPU {cpu[1]:.1f} us, median {p50[1]:.0f} us, p99 {p99[1]:.0f} us", flush=True)


def questions(names, folder):
    """umbel serve --http: single questions by wrk, batches next to umbel check."""
    with ExitStack() as stack:
        b, processes = bench_of(stack, folder, "questions", names)
        port, asked = edge.free_port(), folder / "asked"
        b.start([edge.UMBEL, "serve", "--http", port, names.path])
        edge.wait_until(lambda: edge.socket.create_connection(("127.0.0.1", port)).close() is None, "umbel serve")
        pid = processes[-1].pid
        script = b.write("ask.lua", "local i = 0\nrequest = function() i = i + 1; return "
                         'wrk.format(nil, "/contains/bad?key=www" .. i .. ".some.other.test") end\n')
        before = spent(pid)
        first, *others = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(pid, {first})
        with alone(pid):
            done = subprocess.run(["taskset", "-c", str((others or [first])[0]), edge.need("wrk"), "-t1", "-c16", "-d5s",
                                   "--latency", "-s", script, f"http://127.0.0.1:{port}"],
                                  capture_output=True, text=True, check=True)
        count = int(re.search(r"(\d+) requests in", done.stdout)[1])
        cpu = (spent(pid) - before) / count
        print(f"\numbel serve --http, single questions by wrk, 16 connections: {cpu:.1f} us of CPU each, so "
              f"{1e6 / cpu:,.0f} per second and core; by the clock "
              f"{float(re.search(r'Requests/sec: *([0-9.]+)', done.stdout)[1]):,.0f} per second, "
              f"p99 {re.search(r'99% *([0-9.]+[mu]?s)', done.stdout)[1]}", flush=True)
        asked.write_text("".join(f"www{i}.some.other.test\n" for i in range(1_000_000)))
        batch, check = [], []
        for _ in range(5):
            before = spent(pid)
            subprocess.run(["curl", "-s", "-o", "/dev/null", "--data-binary", f"@{asked}",
                            f"http://127.0.0.1:{port}/contains/bad"], check=True)
            batch.append((spent(pid) - before) / 1000)
            before = os.times()
            subprocess.run([edge.UMBEL, "check", "-j1", "-c", names.path, asked], stdout=subprocess.DEVNULL)
            after = os.times()
            check.append((after.children_user + after.children_system
                          - before.children_user - before.children_system) * 1000)
        print(f"  a batch of a million names: {statistics.median(batch):.0f} ns of CPU per name; umbel check -j1: "
              f"{statistics.median(check):.0f} ns; medians of five in turns", flush=True)


def main(count):
    with tempfile.TemporaryDirectory(prefix="umbel-edge-") as folder:
        os.chmod(folder, 0o755)
        folder = Path(folder)
        names = Names(folder, count)
        print("| whole server | resident | CPU s to start | answers |\n|---|--:|--:|---|")
        for what, start, parents in (("dnsdist with a filter", edge.dnsdist, True),
                                     ("knot-resolver with a filter", edge.knot_resolver, True),
                                     ("unbound with a filter", edge.unbound, True),
                                     ("haproxy with a filter", edge.haproxy, True),
                                     ("haproxy's acl -m str -f (exact names)", haproxy_acl, False),
                                     ("unbound's local-zone", unbound_zones, True),
                                     ("dnsdist's SuffixMatchNode", dnsdist_own, True)):
            measure(what, start, names, folder, parents)
        added(names, folder)
        questions(names, folder)
        print(circumstances())


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 2194726)
