#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""serve.py soak SECONDS - umbel serve with bad clients, many clients, and files that are replaced under it.

run.py runs the short form of each check; `serve.py soak 600` replaces files for ten minutes.
"""
import contextlib
import http.client
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
UMBEL = os.environ.get("UMBEL") or str(ROOT / "build" / "umbel")
LISTED, GOOD = 3000, 20000


# ---- Clients -----------------------------------------------------------------------------------

def connect(path, seconds=300):
    s = socket.socket(socket.AF_UNIX)
    s.connect(str(path))  # blocking: with a timeout, a full queue would be an error
    s.settimeout(seconds)
    return s


def until_closed(s):
    out = b""
    with contextlib.suppress(ConnectionResetError):
        while piece := s.recv(65536):
            out += piece
    return out


class Http(http.client.HTTPConnection):
    """Over a Unix socket."""

    def __init__(self, path):
        super().__init__("umbel", timeout=20)
        self.path = path

    def connect(self):
        self.sock = connect(self.path)

    def ask(self, key, name="bad"):
        self.request("GET", f"/contains/{name}?key={key}")
        answer = self.getresponse()
        text = answer.read()
        assert answer.status == 200, f"{answer.status} {text}"
        return {b"true\n": True, b"false\n": False}[text]

    def ask_all(self, keys, name="bad"):
        self.request("POST", f"/contains/{name}", "\n".join(keys))
        answer = self.getresponse()
        text = answer.read().decode()
        assert answer.status == 200, f"{answer.status} {text}"
        return [line == "1" for line in text.split()]

    def metric(self, name):
        self.request("GET", "/metrics")
        return int(re.search(rf"^{name}(?:{{.*}})? (\d+)$", self.getresponse().read().decode(), re.M)[1])


class Map:
    """Postfix' protocol."""

    def __init__(self, path):
        self.socket = connect(path)

    def ask(self, key, name="bad"):
        text = f"{name} {key}"
        self.socket.sendall(f"{len(text)}:{text},".encode())
        answer = b""
        while not answer.endswith(b","):
            piece = self.socket.recv(4096)
            assert piece, "the connection ended"
            answer += piece
        return {b"9:OK REJECT,": True, b"9:NOTFOUND ,": False}[answer]


def start(b, *more, path=None):
    """A server of one list on two sockets, and its process."""
    process = b.start([UMBEL, "serve", *more, "--http", f"unix:{b.folder}/http.sock",
                       "--socketmap", f"unix:{b.folder}/map.sock", f"bad={path or b.lists.path}"])

    def answers():
        connect(b.folder / "http.sock").close()
        return True
    b.until(answers, "umbel serve")
    return process


def resident(process):
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{process.pid}/status").read_text())[1]) / 1024


# ---- systemd -----------------------------------------------------------------------------------

def copy_of_umbel(b):
    """In a folder of its own, with what it starts."""
    for program in (Path(UMBEL), Path(UMBEL).with_name("umbel-serve")):
        shutil.copy(program, b.folder)
    return b.folder


def unit_files(b, command):
    """The units, for a command in this folder."""
    folder = b.folder / "units"
    folder.mkdir()
    for name in ("umbel-http.socket", "umbel-socketmap.socket"):
        shutil.copy(ROOT / "cli/serve" / name, folder)
    text = (ROOT / "cli/serve/umbel.service.in").read_text()
    (folder / "umbel.service").write_text(text.replace("@CMAKE_INSTALL_FULL_BINDIR@", str(command)))
    return folder


def units(b):
    """What systemd says to the unit files, and that the guide says the same."""
    folder = unit_files(b, copy_of_umbel(b))
    done = subprocess.run([b.need("systemd-analyze"), "verify", "--man=no", *map(str, folder.iterdir())],
                          capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    done = subprocess.run(["systemd-analyze", "security", "--offline=yes", folder / "umbel.service"],
                          capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
    level = re.search(r"Overall exposure level for umbel.service: ([\d.]+)", done.stdout)
    assert level and float(level[1]) < 1, done.stdout + done.stderr
    guide = (ROOT / "docs/guides/serve.md").read_text()
    assert f"exposure level of {level[1]} " in guide, f"docs/guides/serve.md: the level is {level[1]}"


def activation(b):
    """Sockets from systemd's own tool, under the names that the units give them."""
    names = [re.search(r"FileDescriptorName=(\w+)", (ROOT / f"cli/serve/umbel-{p}.socket").read_text())[1]
             for p in ("http", "socketmap")]
    paths = [b.folder / f"{n}.sock" for n in names]
    process = b.start([b.need("systemd-socket-activate"), f"--fdname={':'.join(names)}", "-l", paths[0],
                       "-l", paths[1], UMBEL, "serve", f"bad={b.lists.path}"])
    b.until(lambda: connect(paths[1]), "systemd-socket-activate")  # bound sockets may not listen yet
    web, mail = Http(paths[0]), Map(paths[1])
    for ask in (web.ask, mail.ask):
        assert ask(b.lists.listed[0]) and not ask(b.lists.good[0])
    b.lists.write(b.lists.later)
    os.kill(process.pid, signal.SIGHUP)  # the tool has become the server
    b.until(lambda: web.ask(b.lists.later[0]) and mail.ask(b.lists.later[1]), "the new list")
    b.lists.write(b.lists.listed)
    b.until(lambda: web.ask(b.lists.listed[0]), "the list, without a signal")
    process.terminate()
    assert process.wait(PATIENCE) == 0
    other = subprocess.Popen(["systemd-socket-activate", "--fdname=other", "-l", str(b.folder / "other.sock"),
                              UMBEL, "serve", str(b.lists.path)], stderr=subprocess.PIPE, text=True)
    b.until(lambda: until_closed(connect(b.folder / "other.sock")) == b"", "systemd-socket-activate")
    assert "a socket was passed under an unknown name" in other.communicate(timeout=PATIENCE)[1]


def first_in(process):
    """The first process of the namespaces that a script made, once systemd has become it."""
    def children(pid):
        return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    for unshare in children(process.pid):
        for pid in children(unshare):
            if Path(f"/proc/{pid}/comm").read_text() == "systemd\n":
                return pid
    return None


def sandbox(b):
    """The units under a complete systemd: sockets, a server that has nothing it does not need, reload, restart."""
    unit_files(b, "/run/trial")
    copy_of_umbel(b)
    path, listed, good = b.folder / "bad.umb", [f"bad{i}.test" for i in range(500)], "good.example"
    later = [f"later{i}.test" for i in range(500)]

    def write(names):
        text = b.write("names", "".join(f"{n}\n" for n in names))
        subprocess.run([UMBEL, "build", "-q", "-f", "--domains", "--kind", "tight", "-p", "1e-6", "-o", path, text],
                       check=True)
        path.chmod(0o644)
    write(listed)
    with (b.folder / "units/umbel.service").open("a") as unit:
        unit.write("Environment=UMBEL_LISTS=/run/trial/bad.umb\n")
    b.folder.chmod(0o755)
    b.need("systemctl")
    process = b.start([ROOT / "tests/edge/own-systemd", b.folder])
    b.until(lambda: process.poll() is not None or first_in(process), "systemd")
    if process.poll() == 77:
        raise b.Impossible((b.folder / "own-systemd.log").read_text().strip())
    systemd = first_in(process)
    sockets = Path("/proc", str(systemd), "root", "run", "umbel")
    b.until((sockets / "http.sock").exists, "the sockets")

    def systemctl(*words):
        return subprocess.run(["nsenter", "-t", systemd, "-a", "systemctl", *words], check=True, capture_output=True,
                              text=True, timeout=60).stdout.strip()

    def status():
        """Of the server, as the kernel knows it; {}: it does not run."""
        inside = systemctl("show", "-p", "MainPID", "--value", "umbel.service")
        found = subprocess.run(["nsenter", "-t", systemd, "-p", "-m", "cat", f"/proc/{inside}/status"],
                               capture_output=True, text=True)
        return dict(re.findall(r"^(\w+):\s+(.*)$", found.stdout, re.M)) if inside != "0" else {}
    assert not status(), "it runs before anybody asks"
    web, mail = Http(sockets / "http.sock"), Map(sockets / "socketmap.sock")
    for ask in (web.ask, mail.ask):
        assert ask(f"www.{listed[0]}") and not ask(good)
    assert web.ask_all(listed + [good]) == [True] * len(listed) + [False]
    now = status()
    assert "0" not in now["Uid"].split() and now["CapEff"] == now["CapBnd"] == "0" * 16, now
    assert now["NoNewPrivs"] == "1" and now["Seccomp"] == "2", now
    write(later)
    systemctl("reload", "umbel.service")
    b.until(lambda: web.ask(later[0]) and mail.ask(later[1]) and not web.ask(listed[0]), "the new list")
    asked, over = [], threading.Event()

    def keep_asking():
        while not over.is_set():
            try:
                asked.append(Http(sockets / "http.sock").ask(later[len(asked) % 500]))
            except (OSError, http.client.HTTPException) as e:
                asked.append(e)
    client = threading.Thread(target=keep_asking)
    client.start()
    for _ in range(3):
        systemctl("restart", "umbel.service")
        before = len(asked)
        b.until(lambda: len(asked) > before + 50, "answers after a restart")
    over.set()
    client.join()
    assert all(a is True for a in asked), [a for a in asked if a is not True]
    print(f"# {len(asked)} answers while it was restarted three times", flush=True)
    systemctl("kill", "-s", "KILL", "umbel.service")
    b.until(lambda: status().get("Name") == "umbel-serve", "another start after the server was killed")
    assert Http(sockets / "http.sock").ask(later[0])


# ---- Bad clients -------------------------------------------------------------------------------

PATIENCE = 150  # seconds, for a machine that is busy: the limits are 10
HEAD = b"GET /contains/bad?key=%s HTTP/1.1\r\nHost: x\r\n\r\n"
BAD_HTTP = {  # what is sent, and the statuses that may come back; None: the connection may just end
    "a key of 9,000 bytes": (HEAD % (b"k" * 9000), {414}),
    "a URL of 100,000 bytes": (HEAD % (b"k" * 100_000), {414, 431, None}),
    "a header of 100,000 bytes": (b"GET /health HTTP/1.1\r\nHost: x\r\nX: " + b"x" * 100_000 + b"\r\n\r\n", {413, 431, None}),
    "20,000 headers": (b"GET /health HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 20_000 + b"\r\n", {413, 431, None}),
    "no request": (b"\x00\xff\xfe\x80" * 64 + b"\r\n\r\n", {400, 405, 505, None}),
    "TLS": (bytes.fromhex("1603010200010001fc0303") + b"\x17" * 200, {400, 405, 505, None}),
    "a method that nobody has": (b"BREW /contains/bad HTTP/1.1\r\nHost: x\r\n\r\n", {405}),
    "an invalid length": (b"POST /contains/bad HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n", {400, 413, None}),
    "an invalid chunk": (b"POST /contains/bad HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", {400, None}),
    "a line of 9,000 bytes": (b"POST /contains/bad HTTP/1.1\r\nHost: x\r\nContent-Length: 9001\r\n\r\n" + b"k" * 9001, {413}),
    "no such list": (b"GET /contains/../../etc/passwd?key=x HTTP/1.1\r\nHost: x\r\n\r\n", {404}),
    "half a request": (b"GET /contains/bad?key=x HTTP/1.1\r\nHo", {None}),
    "half a body": (b"POST /contains/bad HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\nads", {None}),
}
BAD_MAPS = (b"x", b"12bad ads.test,", b"9:bad x.tld;", b"99999999999999999999:", b"9000:", b"012:bad ads.test,",
            b"-1:x,", b":,", b"9:bad x.tl", b"\x00\xff" * 500, b"8200:bad " + b"k" * 8196 + b";")


def rude(b):
    """One rude client of each sort, and what each is told; the last bytes it sends are its last."""
    for what, (sent, allowed) in BAD_HTTP.items():
        s = connect(b.folder / "http.sock")
        with contextlib.suppress(OSError):  # it may be told, and cut off, before it has sent everything
            s.sendall(sent)
        with contextlib.suppress(OSError):
            s.shutdown(socket.SHUT_WR)
        said = until_closed(s)
        status = int(said.split()[1]) if said else None
        assert status in allowed, f"{what}: {said[:200]}"
    for sent in BAD_MAPS:
        s = connect(b.folder / "map.sock")
        s.sendall(sent)
        s.shutdown(socket.SHUT_WR)
        said = until_closed(s)
        assert b"PERM" in said or (not said and sent == b"9:bad x.tl"), f"{sent[:20]}: {said}"


def bad_input(b):
    """Rude and slow clients lose their own connection; those who ask meanwhile get right answers."""
    process = start(b)
    begun, done, wrong = time.monotonic(), threading.Event(), []
    slow = [connect(b.folder / n, 40) for n in ("http.sock", "http.sock", "map.sock", "map.sock")]
    slow[3].sendall(b"12:bad ads.test,")  # a whole request first: that gives no more time for the next
    assert slow[3].recv(99).startswith(b"9:NOTFOUND")

    def polite(make):
        try:
            client, asked = make(), 0
            while not done.is_set():
                assert client.ask(b.lists.listed[asked % LISTED]), "a listed name was let through"
                assert not client.ask(b.lists.good[asked % LISTED]), "a good name was blocked"
                asked += 1
        except Exception as e:  # noqa: the thread's failure is the test's
            wrong.append(repr(e))
    threads = [threading.Thread(target=polite, args=(m,)) for m in
               (lambda: Http(b.folder / "http.sock"), lambda: Map(b.folder / "map.sock"))]
    for t in threads:
        t.start()
    try:
        for _ in range(3):
            rude(b)
        ended = drip(slow, begun)
    finally:
        done.set()
        for t in threads:
            t.join()
    assert not wrong, wrong
    assert all(9 < e < PATIENCE for e in ended), f"slow requests ended after {ended}"
    assert Http(b.folder / "http.sock").metric("umbel_refused_total") >= 10
    assert process.poll() is None


def ends(b):
    """Who says that it will ask no more, with its last bytes or just after them, is not kept waiting."""
    start(b)
    for i in range(200):
        s = connect(b.folder / "http.sock")
        time.sleep(0.002)  # so that the server has looked for a request before there is one
        whole = i % 2 == 0
        s.sendall(HEAD % b.lists.listed[i].encode() if whole else BAD_HTTP["half a body"][0])
        for _ in range(i * 20):
            pass
        s.shutdown(socket.SHUT_WR)
        begun = time.monotonic()
        said = until_closed(s)
        assert time.monotonic() - begun < 9, "kept open although its client had ended"
        assert said.endswith(b"true\n") == whole, said


def leaving(b):
    """Who came before the signal to stop still gets an answer, whether it has asked yet or not."""
    key = b.lists.listed[0]
    text = f"bad {key}"
    asked = {"http.sock": (HEAD % key.encode(), b"\r\n\r\ntrue\n"),
             "map.sock": (f"{len(text)}:{text},".encode(), b"9:OK REJECT,")}
    for name, (request, answer) in asked.items():
        for sent in (0, 10):
            process = start(b)
            web = Http(b.folder / "http.sock")
            assert web.ask(key)
            client = connect(b.folder / name)
            client.sendall(request[:sent])
            for _ in range(2):
                assert web.ask(key)  # so the other one was let in
            process.terminate()
            time.sleep(0.3)
            client.sendall(request[sent:])
            said = client.recv(4096)
            assert said.endswith(answer), f"{name}, {sent} bytes before the signal: {said}"
            assert process.wait(PATIENCE) == 0
    begun = time.monotonic()
    process = start(b)
    silent = connect(b.folder / "http.sock")
    assert Http(b.folder / "http.sock").ask(key)
    process.terminate()
    assert process.wait(10) == 0 and time.monotonic() - begun < 9, "who never asks delays the end"
    silent.close()


def drip(slow, begun):
    """A byte now and then, until each is cut off; after how many seconds that was."""
    texts = (b"GET /contains/bad?key=" + b"x" * 99, b"X" * 99, b"99:bad " + b"x" * 92, b"99:bad " + b"x" * 92)
    ended, at = [None] * len(slow), 0
    for s in slow:
        s.setblocking(False)
    while None in ended and time.monotonic() - begun < PATIENCE:
        for i, s in enumerate(slow):
            if ended[i] is None:
                try:
                    s.send(texts[i][at % 99:at % 99 + 1])
                    if s.recv(4096) == b"":
                        ended[i] = time.monotonic() - begun
                except BlockingIOError:
                    pass
                except OSError:
                    ended[i] = time.monotonic() - begun
        at += 1
        time.sleep(0.25)
    return [e if e is not None else PATIENCE for e in ended]


# ---- Many clients ------------------------------------------------------------------------------

def many(b):
    """Ten thousand connections to each socket, all of them answered; the next is told why not."""
    want = 10_000
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    count = min(want, (hard - 300) // 2)
    process = start(b, "--max-connections", str(count))
    empty, held = resident(process), []
    listed, good = b.lists.listed[0].encode(), b.lists.good[0].encode()
    ask = {"http.sock": lambda n: HEAD % n, "map.sock": lambda n: b"%d:bad %s," % (4 + len(n), n)}
    expected = {"http.sock": (b"\r\ntrue\n", b"\r\nfalse\n"), "map.sock": (b"OK REJECT,", b"NOTFOUND ,")}
    for name, question in ask.items():
        clients = []
        for _ in range(count):  # asks as it comes: who says nothing for ten seconds is sent away
            clients.append(connect(b.folder / name))
            clients[-1].sendall(question(listed))
        held += clients
        for s in clients:
            assert s.recv(4096).endswith(expected[name][0]), "one of many was not answered"
        extra = connect(b.folder / name)
        with contextlib.suppress(OSError):  # it may be told, and cut off, before it has asked
            extra.sendall(question(listed))
        said = until_closed(extra)
        assert b"too many connections" in said and (b" 503 " in said or b"TEMP" in said), said
        for s in clients[::97]:
            s.sendall(question(good))
            assert s.recv(4096).endswith(expected[name][1]), "one of many was not answered later"
    full = resident(process)
    for s in held:
        s.close()
    b.until(lambda: Http(b.folder / "http.sock").ask(b.lists.listed[1]), "a place that became free")
    print(f"# {count:,} connections to each of two sockets (of {hard:,} descriptors that are allowed): "
          f"{full - empty:.0f} MB", flush=True)


# ---- Files that are replaced -------------------------------------------------------------------

def lists_of(folder):
    """Two lists with names in common, and good ones that neither may find."""
    common, good = [f"common{i}.example" for i in range(LISTED)], [f"good{i}.test" for i in range(GOOD)]
    (folder / "good").write_text("".join(f"{n}\n" for n in good))
    made = []
    for which in ("one", "two"):
        (folder / which).write_text("".join(f"{n}\n" for n in common + [f"{which}{i}.example" for i in range(LISTED)]))
        made.append(folder / f"{which}.umb")
        subprocess.run([UMBEL, "build", "-q", "--domains", "--kind", "tight", "-p", "1%", "--never",
                        folder / "good", "-o", made[-1], folder / which], check=True)
    return common, good, made


def soak(b, seconds=None, replacements=100):
    """Files are replaced while clients ask: no answer is wrong, none is missing."""
    folder = b.folder / "lists"
    folder.mkdir()
    common, good, made = lists_of(folder)
    path = folder / "bad.umb"
    shutil.copy(made[0], path)
    process = start(b, path=path)
    done, asked, wrong = threading.Event(), [0, 0, 0], []

    def client(which):
        try:
            web = Http(b.folder / "http.sock") if which < 2 else None
            mail = Map(b.folder / "map.sock") if which == 2 else None
            at = 7 * which
            while not done.is_set():
                if which == 0:
                    names = [f"www.{common[(at + i) % LISTED]}" for i in range(200)]
                    names += [good[(at + i) % GOOD] for i in range(200)]
                    assert web.ask_all(names) == [True] * 200 + [False] * 200, "a batch is wrong"
                    asked[which] += 400
                else:
                    ask = (web or mail).ask
                    assert ask(f"a.{common[at % LISTED]}"), "a listed name was let through"
                    assert not ask(good[at % GOOD]), "a good name was blocked"
                    asked[which] += 2
                at += 1
        except Exception as e:  # noqa: the thread's failure is the test's
            wrong.append(f"client {which}: {e!r}")
    threads = [threading.Thread(target=client, args=(i,)) for i in range(3)]
    for t in threads:
        t.start()
    replaced, last = 0, time.monotonic() + (seconds or 60)
    watcher = Http(b.folder / "http.sock")
    try:
        while not wrong and (time.monotonic() < last if seconds else replaced < replacements or min(asked) <= 100):
            shutil.copy(made[(replaced + 1) % 2], folder / "next")
            os.replace(folder / "next", path)
            os.kill(process.pid, signal.SIGHUP)
            replaced += 1
            b.until(lambda: watcher.metric("umbel_reloads_total") >= replaced, "the new file")
    finally:
        done.set()
        for t in threads:
            t.join()
    assert not wrong, wrong
    assert min(asked) > 100, f"asked {asked}"
    assert watcher.metric("umbel_reload_failures_total") == 0
    print(f"# {replaced} replacements, {sum(asked):,} answers, none wrong or missing", flush=True)


CHECKS = {f"serve_{f.__name__}": f for f in (units, activation, sandbox, bad_input, ends, leaving, many, soak)}


def main(seconds):
    sys.path.insert(0, str(Path(__file__).parent))
    run = __import__("run")
    with tempfile.TemporaryDirectory(prefix="umbel-edge-") as folder, contextlib.ExitStack() as stack:
        folder = Path(folder)
        soak(run.Bench(stack, folder, None), seconds)


if __name__ == "__main__":
    main(float(sys.argv[2]))
