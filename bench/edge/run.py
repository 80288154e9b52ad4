#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run.py [NAMES] - a block list of NAMES made-up names (2194726) in real servers: with a filter, and in
the servers' own ways.  Prints resident memory, CPU time until the first answer, and wrong answers."""
import importlib.util
import os
import random
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
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


def measure(what, start, names, folder, parents=True):
    with ExitStack() as stack:
        own = folder / what.replace(" ", "_").replace("'", "")
        own.mkdir()
        b, processes = edge.Bench(stack, own, names), []
        begin = b.start
        b.start = lambda *a, **k: processes.append(begin(*a, **k)) or processes[-1]
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


def main(count):
    with tempfile.TemporaryDirectory(prefix="umbel-edge-") as folder:
        os.chmod(folder, 0o755)
        folder = Path(folder)
        names = Names(folder, count)
        print("| whole server | resident | CPU s to start | answers |\n|---|--:|--:|---|")
        for what, start, parents in (("dnsdist with a filter", edge.dnsdist, True),
                                     ("knot-resolver with a filter", edge.knot_resolver, True),
                                     ("haproxy with a filter", edge.haproxy, True),
                                     ("haproxy's acl -m str -f (exact names)", haproxy_acl, False),
                                     ("unbound's local-zone", unbound_zones, True)):
            measure(what, start, names, folder, parents)


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 2194726)
