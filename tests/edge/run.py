#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run.py [SERVER|serve_CHECK]... - lists in real servers, each with the configuration of its guide, and
umbel serve with clients of every sort (serve.py).

Servers come from Debian's packages, listen on loopback or Unix sockets, and are stopped at the end.
What cannot be installed is skipped by name, and fails where CI=true; what the system does not allow is skipped.  UMBEL, UMBEL_LIBRARY, LUA_JIT,
LUA_53, MAKE_LIST and UMBEL_PYTHON name what is tested, if it is not below build/.
"""
import atexit
import functools
import http.client
import http.server
import os
import random
import re
import shutil
import signal
import smtplib
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from types import SimpleNamespace

import serve

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
UMBEL = os.environ.get("UMBEL") or str(BUILD / "umbel")
LIBRARY = os.environ.get("UMBEL_LIBRARY") or str(BUILD / "libumbel.so")
LUA_JIT = os.environ.get("LUA_JIT") or str(BUILD / "lua/jit")
LUA_53 = os.environ.get("LUA_53") or str(BUILD / "lua/5.3")
MAKE_LIST = os.environ.get("MAKE_LIST") or str(BUILD / "tests/make_list")
LISTED, ASKED = 5000, 200


class Skip(Exception):
    """The server is not installed."""


class Impossible(Skip):
    """This system does not allow it, whatever is installed."""


def need(program):
    path = shutil.which(program) or shutil.which(program, path="/usr/sbin:/usr/local/sbin")
    if not path:
        raise Skip(f"{program} is not installed")
    return path


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


PATIENCE = 120  # seconds, for what hangs: a machine may be busy


def wait_until(condition, what, seconds=PATIENCE):
    last = time.monotonic() + seconds
    while time.monotonic() < last:
        try:
            if condition():
                return
        except (OSError, http.client.HTTPException, struct.error, IndexError):
            pass
        time.sleep(0.05)
    raise AssertionError(f"{what}: nothing after {seconds} s")


# ---- What is asked ---------------------------------------------------------------------------

# Labels below a listed name that are nothing a host may have, but that questions may.
ODD = (b"a b", b"a\tb", b"a\0b", bytes(range(1, 64)), b"\xff" * 63, b"a/b", b"a?b", b"a#b", b"a@b", b"a:1", b"[x]", b"[x",
       b"http://x/", b"//x/", b"a\\b", b"\\032", b"%65")
ODD_HOSTS = (b"a b.", b"a\tb.", b".", b"a..", b"a/b.", b"a?b.", b"a#b.", b"a&b.", b"a@b.", b"http://x/.", b"//x/.",
             b"%20.", b"x" * 300 + b".", b"\xff" * 63 + b".")


class Lists:
    """A list of made-up names, and good ones that it must never catch."""

    def __init__(self, folder):
        some = random.Random(28)

        def name():
            letters = "abcdefghijklmnopqrstuvwxyz0123456789"
            word = "".join(some.choice(letters) for _ in range(12))
            return f"{word}.{some.choice(('example', 'test', 'invalid'))}"
        names = list({name() for _ in range(4 * LISTED)})
        self.listed, self.later = names[:LISTED], names[LISTED:2 * LISTED]
        self.good, self.others = names[2 * LISTED:3 * LISTED], names[3 * LISTED:]
        self.folder, self.path = folder, folder / "bad.umb"
        (folder / "good.txt").write_text("".join(f"{n}\n" for n in self.good))
        self.write(self.listed)

    def write(self, names):
        """In several forms, as block lists are."""
        forms = ("{}", "0.0.0.0 {}", "||{}^", "{} CNAME .", "address=/{}/")
        lines = [forms[i % len(forms)].format(n) for i, n in enumerate(names)]
        (self.folder / "bad.txt").write_text("# made up\n" + "".join(f"{l}\n" for l in lines))
        subprocess.run([MAKE_LIST, self.path, "domain", "1e-4", self.folder / "bad.txt",
                        self.folder / "good.txt"], check=True)

    def exercise(self, blocks, folder):
        """Everything that must hold of a server whose answer is blocks(name)."""
        for name in self.listed[:ASKED]:
            assert blocks(name), f"{name} is listed and was let through"
            assert blocks(f"a.b.{name}"), f"a.b.{name} is below a listed name and was let through"
        for odd in blocks.odd:
            assert blocks(odd(self.listed[0])), f"{odd(self.listed[0])} is below a listed name and was let through"
        assert sum(blocks(odd(self.others[i])) for i, odd in enumerate(blocks.plain)) <= 1, "odd names of others"
        for name in self.good[:ASKED]:
            assert not blocks(name), f"{name} is good and was blocked"
        wrong = sum(blocks(f"www.{name}") for name in self.others[:ASKED])
        assert wrong <= 3, f"{wrong} of {ASKED} others were blocked, at a rate of 3e-4"
        self.replace(blocks)
        self.stale(blocks, folder)

    def stale(self, blocks, folder):
        """What is no list takes its place: the old one answers, and the server's log says so once, and when it is over."""
        def logged():
            return b"".join(log.read_bytes() for log in sorted(folder.glob("*.log"))).count(b"bad.umb")

        def asked():
            assert blocks(f"s{random.getrandbits(60):x}.{self.listed[1]}"), "a listed name was let through"
            return logged()

        def quiet():  # other processes of the server may say it later
            before = asked()
            time.sleep(2.5)
            return asked() == before
        wait_until(lambda: blocks(f"s{random.getrandbits(60):x}.{self.listed[1]}"), "the list of before")
        for what, bytes_ in (("a file that is no list", b"no list\n"), ("the list again", self.path.read_bytes())):
            before = asked()
            (self.folder / "next").write_bytes(bytes_)
            os.replace(self.folder / "next", self.path)
            wait_until(lambda: asked() > before, f"a line in the log about {what}")
            assert any(quiet() for _ in range(5)), f"{what} is logged again and again"

    def replace(self, blocks):
        """Another list takes its place while questions are asked: none is lost, none is wrong."""
        done = threading.Event()

        def write():
            self.write(self.later)
            done.set()
        writer = threading.Thread(target=write)
        writer.start()
        asked = 0
        try:
            while not done.is_set():
                # Not asked before, which resolvers would remember, and as it is in the file of good names:
                # one below it is found at the rate of the list.
                name = self.good[ASKED + asked % (LISTED - ASKED)]
                assert not blocks(name), f"{name} is good and was blocked"
                asked += 1
            writer.join()
            fresh = iter(self.later[100:])  # resolvers remember what they were asked before
            wait_until(lambda: blocks(next(fresh)), "the new list")
            for name in self.later[1:50]:
                assert blocks(name), f"{name} is in the new list"
            assert sum(blocks(name) for name in self.listed[ASKED:ASKED + 50]) <= 1, "the old list"
        finally:
            writer.join()
            self.write(self.listed)


# ---- What is behind the servers --------------------------------------------------------------

class Names(threading.Thread):
    """A name server that answers every question with 192.0.2.1."""

    def __init__(self):
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.start()

    def run(self):
        while True:
            try:
                query, client = self.socket.recvfrom(4096)
            except OSError:
                return
            end = 12
            while query[end]:  # a label may have NULs
                end += 1 + query[end]
            end += 5
            header = query[:2] + struct.pack(">5H", 0x8580, 1, 1, 0, 0)
            record = b"\xc0\x0c" + struct.pack(">2HIH", 1, 1, 60, 4) + bytes((192, 0, 2, 1))
            self.socket.sendto(header + query[12:end] + record, client)


def rcode(port, name):
    """What a resolver says to a question for this name's address; a list is labels, whatever bytes are in them."""
    name = [p.encode() for p in name.split(".")] if isinstance(name, str) else name
    labels = b"".join(bytes((len(l),)) + l for l in name)
    query = struct.pack(">6H", random.getrandbits(16), 0x0100, 1, 0, 0, 0) + labels + b"\0\0\1\0\1"
    for _ in range(5):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.settimeout(2)
            s.sendto(query, ("127.0.0.1", port))
            try:
                return s.recv(4096)[3] & 15
            except (socket.timeout, ConnectionRefusedError):
                time.sleep(0.1)
    raise OSError("no answer")


def resolver_blocks(port):
    def blocks(name):
        code = rcode(port, name)
        assert code in (0, 3), f"{name}: rcode {code}"
        return code == 3
    blocks.raw = lambda name: rcode(port, name)

    def below(*odd):
        return lambda name: [*odd, *(p.encode() for p in name.split("."))]

    def longest(name):  # 255 bytes on the wire
        rest = below()(name)
        left = 255 - 1 - sum(1 + len(l) for l in rest) - 3 * 64 - 1
        return [b"\x01" * left, *[b"\x02" * 63] * 3, *rest]
    blocks.odd = [*(below(l) for l in ODD), *(below(l, b"www") for l in ODD), below(*ODD[:3]), longest]
    blocks.plain = blocks.odd
    return blocks


class Page(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet, or each request waits for an acknowledgement

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"page\n")

    def log_message(self, *_):
        pass


def pages():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def web_blocks(port, proxy=False):
    kept = {}

    def odd_status(host):
        """As it stands, in a request of its own; None: the connection ends without an answer."""
        url = b"http://" + host + b"/" if proxy else b"/"
        with socket.create_connection(("127.0.0.1", port), 10) as s:
            s.sendall(b"GET " + url + b" HTTP/1.1\r\nHost: " + host + b"\r\nConnection: close\r\n\r\n")
            said = s.recv(4096)
        return int(said.split()[1]) if said else None

    def status(name):
        if isinstance(name, bytes):
            return odd_status(name)
        for _ in range(3):
            c = kept.setdefault("c", http.client.HTTPConnection("127.0.0.1", port, timeout=10))
            try:
                c.request("GET", f"http://{name}/" if proxy else "/", headers={"Host": name})
                answer = c.getresponse()
                answer.read()
                return answer.status
            except (http.client.HTTPException, OSError):
                c.close()
                kept.clear()
        raise OSError("no answer")

    def blocks(name):
        code = status(name)
        if isinstance(name, bytes):  # not a host to some servers, which say so
            return code != 200
        assert code in (200, 403), f"{name}: status {code}"
        return code == 403
    blocks.raw = status
    ends = (b"", b".", b"..", b":80", b":", b".:80", b"::", b":80:80")
    two = (b",", b", ", b"\r\nHost: ")  # hosts, of which a server might ask about either
    # In the URL that a proxy gets, spaces, slashes and the like end the host: it asks, rightly, for another one.
    odd = (b".", b"a..", b"%20.") if proxy else ODD_HOSTS
    blocks.odd = [*((lambda n, p=p: p + n.encode()) for p in odd), *((lambda n, e=e: n.encode() + e) for e in ends)]
    if not proxy:  # where the URL alone says the host
        blocks.odd += [lambda n, e=e: n.encode() + e + b"good.example" for e in two]
        blocks.odd += [lambda n, e=e: b"good.example" + e + n.encode() for e in two]
    blocks.plain = [lambda n, e=e: n.encode() + e for e in (b"", b".", b":80")]
    return blocks


# ---- Starting servers ------------------------------------------------------------------------

class Bench:
    """A folder, and what was started in it."""

    def __init__(self, stack, folder, lists, passing=False):
        self.stack, self.folder, self.lists, self.passing = stack, folder, lists, passing

    def block(self, guide, first, **replaced):
        """The configuration in a guide whose first line names this file, with other paths and ports."""
        text = (ROOT / "docs/guides" / f"{guide}.md").read_text()
        for body in re.findall(r"^```\w+\n(.*?)^```$", text, re.M | re.S):
            if body.split("\n", 1)[0].endswith(first):
                for old, new in {"/var/lib/umbel/bad.umb": str(self.lists.path),
                                 "/run/umbel": str(self.folder), "/usr/bin/umbel": UMBEL, **replaced}.items():
                    body = body.replace(old, str(new))
                return pass_without_list(guide, text, body) if self.passing else body
        raise AssertionError(f"docs/guides/{guide}.md has no {first}")

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o644)
        return path

    def start(self, command, user=None, **environment):
        log = open(self.folder / f"{Path(command[0]).name}.log", "ab")
        user = user if os.geteuid() == 0 else None
        process = subprocess.Popen([str(c) for c in command], cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=log, stderr=log, start_new_session=True, user=user, group=user,
                                   extra_groups=[] if user else None,
                                   env={**os.environ, "UMBEL_LIBRARY": LIBRARY, **environment})
        self.stack.callback(stop, process)
        self.process = process
        return process

    def serve(self, protocol, socket_name, spec):
        """umbel serve on a socket in the folder; without its list it ends."""
        process, at = self.start([UMBEL, "serve", protocol, f"unix:{self.folder}/{socket_name}", spec]), self.folder / socket_name
        wait_until(lambda: at.exists() or process.poll() is not None, "umbel serve")

    need = staticmethod(need)
    Impossible = Impossible
    until = staticmethod(wait_until)

    def lua(self):
        return {"LUA_PATH": f"{LUA_JIT}/?.lua;;"}


def pass_without_list(guide, text, body):
    """As the guide says how to start, or go on, without a list; what it says is what is done."""
    for said, old, new in (("or umbel.none", r"assert\((umbel\.open\(.*?\))\)", r"\1 or umbel.none"),
                           ("`BLOCKED_WITHOUT_A_LIST = False`", "BLOCKED_WITHOUT_A_LIST = True", "BLOCKED_WITHOUT_A_LIST = False")):
        if re.search(old, body):
            assert said in text, f"docs/guides/{guide}.md does not say `{said}`"
            body = re.sub(old, new, body)
    if "auth_request" in body:
        line, place = re.search(r"`(error_page [^`]*)` in `location = /listed`, and `(location @unasked [^`]*)`", text).groups()
        body = body.replace("        internal;\n", f"        internal;\n        {line}\n")
        body = re.sub(r"^    location = /listed", f"    {place}\n    location = /listed", body, flags=re.M)
    return body


def stop(process):
    for how in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, how)
        except ProcessLookupError:
            break
        try:
            process.wait(5)
            break
        except subprocess.TimeoutExpired:
            pass


def own(folder, user):
    if os.geteuid() == 0:
        shutil.chown(folder, user)


# ---- The servers -----------------------------------------------------------------------------

def dnsdist(b):
    program, port, names = need("dnsdist"), free_port(), Names()
    text = b.block("dnsdist", "dnsdist.conf", **{"127.0.0.1:53": f"127.0.0.1:{port}",
                                                  "192.0.2.53:53": f"127.0.0.1:{names.port}"})
    config = b.write("dnsdist.conf", f'setSecurityPollSuffix("")\npackage.path = "{LUA_JIT}/?.lua;" .. package.path\n' + text)
    b.start([program, "--supervised", "--disable-syslog", "-C", config], user="_dnsdist", **b.lua())
    return resolver_blocks(port)


def knot_resolver(b):
    program, port, names = need("kresd"), free_port(), Names()
    text = b.block("knot-resolver", "kresd.conf", **{"'127.0.0.1', 53": f"'127.0.0.1', {port}"})
    more = (f"\npolicy.add(policy.all(policy.FORWARD('127.0.0.1@{names.port}')))\n"
            "trust_anchors.remove('.')\nmodules.unload('ta_update')\n")
    path = f'package.path = "{LUA_JIT}/?.lua;" .. package.path\n'
    config = b.write("kresd.conf", path + "cache.size = 10 * MB\n" + text + more)
    own(b.folder, "knot-resolver")
    b.start([program, "-n", "-q", "-c", config, b.folder], user="knot-resolver", **b.lua())
    return resolver_blocks(port)


@functools.cache
def python_module():
    """Where `import umbel` finds it for Debian's Python; built once if need be."""
    given = os.environ.get("UMBEL_PYTHON")
    if given:
        return given
    target = Path(tempfile.mkdtemp(prefix="umbel-edge-python-"))
    atexit.register(shutil.rmtree, target)
    target.chmod(0o755)  # for the server's user
    subprocess.run(["/usr/bin/python3", "setup.py", "-q", "build", "--build-base", str(target / "objects"),
                    "--build-lib", str(target / "lib")], cwd=ROOT / "bindings" / "python", check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return str(target / "lib")


def unbound(b):
    program, port, names = need("unbound"), free_port(), Names()
    if not Path("/usr/lib/python3/dist-packages/unboundmodule.py").exists():
        raise Skip("python3-unbound is not installed")
    path = python_module()
    script = b.write("umbel_list.py", b.block("unbound", "umbel_list.py"))
    part = b.block("unbound", "umbel.conf", **{"/etc/unbound/umbel_list.py": script})
    defaults = b.block("unbound", "/etc/default/unbound", **{"/usr/lib": f"{path}:/usr/lib"})
    environment = dict(line.split("=", 1) for line in defaults.splitlines()[1:])
    config = b.write("unbound.conf", f"""server:
    interface: 127.0.0.1@{port}
    username: "{"unbound" if os.geteuid() == 0 else ""}"
    chroot: ""
    directory: "{b.folder}"
    pidfile: ""
    do-not-query-localhost: no
    use-syslog: no
    do-daemonize: no
    local-zone: "test." nodefault
    local-zone: "invalid." nodefault
remote-control:
    control-enable: no
{part}
forward-zone:
    name: "."
    forward-addr: 127.0.0.1@{names.port}
""")
    b.start([program, "-d", "-c", config], **environment)
    return resolver_blocks(port)


def haproxy(b):
    program, port, web = need("haproxy"), free_port(), pages()
    script = b.write("umbel_list.lua", f'package.cpath = "{LUA_53}/?.so;" .. package.cpath\n'
                     + b.block("haproxy", "umbel_list.lua"))
    config = b.write("haproxy.cfg", b.block("haproxy", "haproxy.cfg", **{
        "global\n": "global\n    user haproxy\n    group haproxy\n" if os.geteuid() == 0 else "global\n",
        "/etc/haproxy/umbel_list.lua": script, "127.0.0.1:8080": f"127.0.0.1:{port}",
        "127.0.0.1:8081": f"127.0.0.1:{web.server_port}"}))
    b.start([program, "-db", "-f", config])
    return web_blocks(port)


def start_nginx(b, port, part, extra=""):
    modules = "".join(f.read_text() for f in sorted(Path("/etc/nginx/modules-enabled").glob("*.conf")))
    config = b.write("nginx.conf", f"""{modules}
{extra}
{"user www-data;" if os.geteuid() == 0 else ""}
daemon off;
worker_processes 1;
pid {b.folder}/nginx.pid;
error_log {b.folder}/nginx.log;
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_body_temp_path {b.folder}/t1;
    proxy_temp_path {b.folder}/t2;
    fastcgi_temp_path {b.folder}/t3;
    uwsgi_temp_path {b.folder}/t4;
    scgi_temp_path {b.folder}/t5;
    {part}
}}
""")
    b.start([need("nginx"), "-e", b.folder / "nginx.log", "-c", config], **b.lua())
    return web_blocks(port)


def nginx_lua(b):
    need("nginx")
    if not Path("/usr/share/nginx/modules-available/mod-http-lua.conf").exists():
        raise Skip("libnginx-mod-http-lua is not installed")
    port, web = free_port(), pages()
    part = b.block("nginx", "umbel-lua.conf", **{"127.0.0.1:8080": f"127.0.0.1:{port}",
                                                 "127.0.0.1:8081": f"127.0.0.1:{web.server_port}"})
    path = f'lua_package_path "{LUA_JIT}/?.lua;/usr/share/lua/5.1/?.lua;;";\n    '
    return start_nginx(b, port, path + part, "env UMBEL_LIBRARY;")


def nginx_auth_request(b):
    need("nginx")
    port, web = free_port(), pages()
    b.serve("--http", "http.sock", b.lists.path)
    part = b.block("nginx", "umbel-request.conf", **{"127.0.0.1:8090": f"127.0.0.1:{port}",
                                                     "127.0.0.1:8081": f"127.0.0.1:{web.server_port}"})
    return start_nginx(b, port, part)  # whose workers are another user


def squid(b):
    program, port, web = need("squid"), free_port(), pages()
    part = b.block("squid", "umbel.conf", **{"ttl=60 negative_ttl=60": "ttl=0 negative_ttl=0"})
    own(b.folder, "proxy")
    config = b.write("squid.conf", f"""http_port 127.0.0.1:{port}
pid_filename {b.folder}/squid.pid
cache_log {b.folder}/cache.log
access_log none
cache deny all
coredump_dir {b.folder}
shutdown_lifetime 0 seconds
pinger_enable off
{part}
cache_peer 127.0.0.1 parent {web.server_port} 0 no-query originserver
never_direct allow all
http_access allow all
""")
    b.start([program, "-N", "-f", config])
    return web_blocks(port, True)


def postfix(b):
    program, port = need("postfix"), free_port()
    if os.geteuid() != 0:
        raise Impossible("postfix starts as root only")
    b.serve("--socketmap", "socketmap.sock", f"bad={b.lists.path}")
    config = b.folder / "postfix"
    config.mkdir()
    for name in ("spool", "data"):
        (b.folder / name).mkdir()
    shutil.chown(b.folder / "data", "postfix")
    (config / "main.cf").write_text(f"""compatibility_level = 3.6
queue_directory = {b.folder}/spool
data_directory = {b.folder}/data
maillog_file = {b.folder}/mail.log
maillog_file_prefixes = {b.folder}
myhostname = edge.example
mydestination = edge.example
mynetworks = 127.0.0.0/8
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
alias_maps =
local_recipient_maps =
in_flow_delay = 0
smtpd_error_sleep_time = 0
smtpd_soft_error_limit = 1000000
smtpd_hard_error_limit = 1000000
smtpd_junk_command_limit = 1000000
{b.block("postfix", "main.cf")}""")
    # Debian's services, of which some are chrooted, and smtpd on another port; nothing is delivered.
    services = Path("/usr/share/postfix/master.cf.dist").read_text()
    services, smtpds = re.subn(r"^smtp(?=\s+inet)", f"127.0.0.1:{port}", services, flags=re.M)
    assert smtpds == 1
    (config / "master.cf").write_text(services)
    if Path("/etc/postfix/dynamicmaps.cf").exists():
        shutil.copy("/etc/postfix/dynamicmaps.cf", config)
    b.start([program, "-c", config, "start-fg"])
    client = {}

    def connected():
        client["smtp"] = smtplib.SMTP("127.0.0.1", port, "client.example", timeout=30)
        client["smtp"].helo()
        return True
    wait_until(connected, "smtpd")

    def answer(sender):
        """smtpd's to a recipient, when it has heard of all restrictions."""
        smtp = client["smtp"]
        smtp.rset()
        assert smtp.docmd("MAIL", f"FROM:<{sender}>")[0] == 250, sender
        return smtp.docmd("RCPT", "TO:<someone@edge.example>")

    def blocks(name):
        code, text = answer(name if "@" in name else f"someone@{name}")
        assert (code, text[:5]) in ((250, b"2.1.5"), (554, b"5.7.1")), (code, text)
        return code == 554
    blocks.raw = lambda name: answer(f"someone@{name}")[0]
    if b.lists.path.exists():
        code, text = answer("")  # a bounce
        assert code == 250, (code, text)
    locals_ = ("a/b", "a?b", "a#b", "a:1", "a+b", '"a b"', '"a@good.test"', '"<>"', '"[x"', "http://x/", "//x/")
    blocks.odd = [lambda n, l=l: f"{l}@{n}" for l in locals_] + [lambda n: f"x@{n}.", lambda n: f"x@a.{n.upper()}"]
    blocks.plain = blocks.odd[:6]
    return blocks


SERVERS = {f.__name__: f for f in (dnsdist, knot_resolver, unbound, haproxy, nginx_lua, nginx_auth_request,
                                   squid, postfix)}


# What each says about every name when there is no list, as its guide has it (None: it does not start, or ends), and
# when the guide's way around that was taken (None: there is none).
WITHOUT_LIST = {"dnsdist": (None, 0), "knot_resolver": (None, 0), "unbound": (3, 0), "haproxy": (None, 200),
                "nginx_lua": (500, 200), "nginx_auth_request": (500, 200), "squid": (None, None), "postfix": (451, None)}


def try_without_list(name, folder, expected, passing):
    """From the start: it answers that, or ends."""
    folder.mkdir()
    with ExitStack() as stack:
        bench = Bench(stack, folder, SimpleNamespace(path=folder / "bad.umb"), passing)
        blocks = SERVERS[name](bench)

        def as_expected():
            if expected is None:
                with suppress(OSError):
                    blocks.raw("ready.example")  # Squid's helper starts with the first request
                return bench.process.poll() not in (None, 0)
            return blocks.raw("ready.example") == expected
        wait_until(as_expected, f"{expected} without a list")


def try_server(name, lists, folder):
    own = folder / name
    own.mkdir()
    try:
        with ExitStack() as stack:
            bench = Bench(stack, own, lists)
            if name in SERVERS:
                blocks = SERVERS[name](bench)
                wait_until(lambda: blocks("ready.example") is False, name)
                lists.exercise(blocks, own)
            else:
                serve.CHECKS[name](bench)
        if name in SERVERS:
            closed, passing = WITHOUT_LIST[name]
            try_without_list(name, own / "closed", closed, False)
            if passing is not None:
                try_without_list(name, own / "passing", passing, True)
    except Exception:
        for log in own.glob("**/*.log"):
            sys.stderr.write(f"---- {log.relative_to(own)}\n" + log.read_text(errors="replace")[-2000:])
        raise


def main(wanted):
    passed, failed, skipped = 0, [], []
    with tempfile.TemporaryDirectory(prefix="umbel-edge-") as folder:
        os.chmod(folder, 0o755)
        lists = Lists(Path(folder))
        for name in wanted or [*SERVERS, *serve.CHECKS]:
            try:
                try_server(name, lists, Path(folder))
                passed += 1
                print(f"ok {name}", flush=True)
            except Skip as e:
                skipped.append((name, e))
                print(f"skipped {name}: {e}", flush=True)
            except (AssertionError, OSError, subprocess.SubprocessError) as e:
                failed.append(name)
                print(f"not ok {name}: {e}", flush=True)
    if os.environ.get("CI") == "true":
        failed += [name for name, why in skipped if not isinstance(why, Impossible)]
    print(f"{passed} passed, {len(failed)} failed" + (f", {len(skipped)} skipped" if skipped else ""))
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
