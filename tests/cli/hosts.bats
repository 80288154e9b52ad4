# SPDX-License-Identifier: MIT
# Tables of answers that the bindings and SQL have in their suites as well.  One list and one table of answers (tests/golden/recipes/lookups.tsv), through the command and umbel serve;
# and filters of every recipe (tests/golden/lookups).
load helper

@test "hosts: the table of lookups through check, HTTP, a batch and a socketmap" {
    UMBEL=$UMBEL python3 - "$root" <<'P'
import http.client, os, socket, subprocess, sys, time
from pathlib import Path
from urllib.parse import quote_from_bytes

umbel, golden = os.environ["UMBEL"], Path(sys.argv[1], "tests/golden/recipes")
rows = []
for line in (golden / "lookups.tsv").read_text().splitlines()[1:]:
    text, key, host, record, what = line.split("\t")
    text = b"" if text == "empty" else bytes.fromhex(text)
    rows.append((text, key == "yes", host == "yes", record == "yes", what))
assert len(rows) > 40
subprocess.run([umbel, "build", "-q", "--domains", "-p", "1e-9", "-o", "bad.umb", golden / "listed.txt"], check=True)

for text, key, _, _, what in rows:
    if b"\0" not in text:
        status = subprocess.run([umbel, "check", "-q", "bad.umb", "-e", os.fsdecode(text)], capture_output=True).returncode
        assert (status == 0) == key and status in (0, 1, 3), (what, text, status)
Path("asked").write_bytes(b"".join(r[0] + b"\n" for r in rows))
found = subprocess.run([umbel, "check", "bad.umb", "asked"], capture_output=True).stdout
assert found == b"".join(r[0] + b"\n" for r in rows if r[3]), found

server = subprocess.Popen([umbel, "serve", "--http", "unix:http.sock", "--socketmap", "unix:map.sock", "bad.umb"])
try:
    for _ in range(15000):
        if Path("http.sock").exists() and Path("map.sock").exists():
            break
        time.sleep(0.02)

    class Http(http.client.HTTPConnection):
        def connect(self):
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.connect("http.sock")
    web = Http("umbel", timeout=300)
    for text, key, _, _, what in rows:
        web.request("GET", "/contains/bad?key=" + quote_from_bytes(text, safe=""))
        said = web.getresponse().read()
        assert said == (b"true\n" if key else b"false\n") or (not text and not key), (what, text, said)
    web.request("POST", "/contains/bad", b"".join(r[0] + b"\n" for r in rows))
    assert web.getresponse().read() == b"".join(b"%d\n" % r[1] for r in rows)
    mail = socket.socket(socket.AF_UNIX)
    mail.settimeout(300)
    mail.connect("map.sock")
    for text, _, host, _, what in rows:
        body = b"bad " + text
        mail.sendall(b"%d:%s," % (len(body), body))
        said = b""
        while not said.endswith(b","):
            piece = mail.recv(99)
            assert piece, (what, said)
            said += piece
        assert said == (b"9:OK REJECT," if host else b"9:NOTFOUND ,"), (what, text, said)
finally:
    server.terminate()
    server.wait()
P
}

@test "hosts: the golden lookups through check, --verify-with and HTTP" {
    UMBEL=$UMBEL python3 - "$root" <<'P'
import http.client, os, socket, subprocess, sys, time
from pathlib import Path
from urllib.parse import quote

umbel, golden = os.environ["UMBEL"], Path(sys.argv[1], "tests/golden/lookups")
rows = [line.split("\t") for line in (golden / "answers.tsv").read_text(encoding="utf-8").splitlines()[1:]]
files = sorted({row[0] for row in rows})
assert len(rows) > 50 and len(files) == 10

def check(name, *options, line=None):
    asked = None if line is None else (line + "\n").encode()
    done = subprocess.run([umbel, "check", "-q", *options, golden / f"{name}.umb"], input=asked, capture_output=True)
    return done.returncode

# Comments and empty lines of a list of domains are no mistakes.
means = {"yes": (0,), "no": (1,), "none": (1, 3)}
for name, text, key, record, listed, what in rows:
    assert check(name, "-e", text) in means[key], (name, what)
    assert check(name, line=text) in means[record], (name, what)
    exact = check(name, "--verify-with", golden / f"{name}.txt", line=text)
    assert (exact == 0) == (listed == "yes"), (name, what, exact)

server = subprocess.Popen([umbel, "serve", "--http", "unix:http.sock", *(golden / f"{name}.umb" for name in files)])
try:
    for _ in range(15000):
        if Path("http.sock").exists():
            break
        time.sleep(0.02)

    class Http(http.client.HTTPConnection):
        def connect(self):
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.connect("http.sock")
    web = Http("umbel", timeout=300)
    for name, text, key, _, _, what in rows:
        if text:
            web.request("GET", f"/contains/{name}?key={quote(text, safe='')}")
            assert web.getresponse().read() == (b"true\n" if key == "yes" else b"false\n"), (name, what)
    for name in files:
        own = [row for row in rows if row[0] == name]
        web.request("POST", f"/contains/{name}", "".join(row[1] + "\n" for row in own).encode())
        assert web.getresponse().read() == b"".join(b"%d\n" % (row[2] == "yes") for row in own), name
finally:
    server.terminate()
    server.wait()
P
}
