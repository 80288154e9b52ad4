# SPDX-License-Identifier: MIT
"""Commands that change files, what they start from and what may be left when they are
interrupted."""
import argparse
import atexit
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TEMPORARY = ".umbel-tmp"
LOCK = ".umbel-lock"
ROOT = Path(__file__).resolve().parent.parent.parent


def numbers(first, last):
    return "".join(f"{i}\n" for i in range(first, last + 1))


class Scene:
    """A command: its arguments, the file it replaces, and what it reads from standard input."""

    def __init__(self, name, arguments, target=None, stdin=None, fresh=False, proof=None):
        self.name, self.arguments = name, arguments
        self.proof = proof or ["verify", "-q", target]  # succeeds if nothing is damaged
        self.target, self.stdin, self.fresh = target, stdin, fresh
        self.uniq = arguments[0] == "uniq" and target is not None

    def takes_threads(self):
        return self.arguments[0] in ("build", "add", "uniq", "check", "verify")


SCENES = [
    Scene("build", ["build", "-q", "-o", "new.umb", "keys"], "new.umb", fresh=True),
    Scene("build -f", ["build", "-q", "-f", "-o", "old.umb", "more"], "old.umb"),
    Scene("build from a pipe", ["build", "-q", "-f", "-o", "old.umb"], "old.umb", "more"),
    Scene("build static", ["build", "-q", "-f", "--kind", "static", "--tmp", ".", "-o", "old.umb",
                           "more"], "old.umb"),
    Scene("build through a link", ["build", "-q", "-f", "-o", "link.umb", "more"], "old.umb"),
    Scene("add", ["add", "-q", "old.umb", "more"], "old.umb"),
    Scene("add packed", ["add", "-q", "old.umb", "more.gz"], "old.umb"),
    Scene("add to a filter that grows", ["add", "-q", "grows.umb", "more"], "grows.umb"),
    Scene("uniq", ["uniq", "-q", "--state", "old.umb", "keys", "more"], "old.umb"),
    Scene("uniq from a pipe", ["uniq", "-q", "-n", "1e5", "-p", "1e-9", "--state", "state.umb"],
          "state.umb", "more", fresh=True),
    Scene("uniq by the clock", ["uniq", "-q", "--window", "24h/1h", "-n", "1e5", "-p", "1e-9",
                                "--state", "clock.umb", "more"], "clock.umb", fresh=True),
    Scene("merge", ["merge", "-q", "-f", "-o", "old.umb", "old.umb", "other.umb"], "old.umb"),
    Scene("intersect", ["intersect", "-q", "-o", "new.umb", "old.umb", "other.umb"], "new.umb",
          fresh=True),
    Scene("convert", ["convert", "-q", "-f", "--to", "dcso", "-o", "old.bloom", "a.bloom"],
          "old.bloom"),
    Scene("convert to native", ["convert", "-q", "-o", "new.umb", "old.umb"], "new.umb",
          fresh=True),
    Scene("fold", ["fold", "-q", "-p", "1%", "-f", "-o", "old.umb", "old.umb"], "old.umb"),
    Scene("remove", ["remove", "-q", "counts.umb", "keys"], "counts.umb"),
    Scene("delta", ["delta", "-q", "--from", "list.umb", "-o", "new.umd", "more", "last"], "new.umd",
          fresh=True, proof=["verify", "-q", "list.umb"]),
    Scene("apply", ["apply", "-q", "list.umb", "2.umd"], "list.umb.deltas",
          proof=["info", "list.umb"]),
    Scene("apply the first", ["apply", "-q", "alone.umb", "1.umd"], "alone.umb.deltas", fresh=True,
          proof=["info", "alone.umb"]),
    Scene("check", ["check", "old.umb", "keys", "more"]),
    Scene("check a pipe", ["check", "old.umb", "--also", "other.umb"], stdin="more"),
    Scene("verify", ["verify", "-q", "old.umb", "--present", "keys"]),
    Scene("info", ["info", "--json", "old.umb"]),
    Scene("cmp", ["cmp", "-q", "old.umb", "other.umb"]),
    Scene("table", ["table", "-q", "keys.ldb"]),
]


class Stage:
    """A folder that is reset before each run."""

    def __init__(self, umbel, shim, keys=3000, disk=False):
        self.umbel, self.shim = str(Path(umbel).resolve()), str(Path(shim).resolve())
        # In memory where possible: thousands of files are synced.
        fast = "/dev/shm" if os.access("/dev/shm", os.W_OK | os.X_OK) else None
        self.folder = Path(tempfile.mkdtemp(prefix="umbel-crash-", dir=None if disk else fast))
        atexit.register(shutil.rmtree, self.folder, ignore_errors=True)
        self.model = self.folder / "model"
        self.work = self.folder / "work"
        self.log = self.folder / "log"
        self.put = {}  # files of the model as they are in `work`
        self.model.mkdir()
        self.work.mkdir()
        self.make(keys)
        self.texts = {p.name: p.read_bytes() for p in self.model.iterdir()}

    def make(self, keys):
        put = lambda name, text: (self.model / name).write_text(text)
        put("keys", numbers(1, keys))
        put("more", numbers(keys // 2, 2 * keys))
        put("last", numbers(2 * keys, 3 * keys))
        subprocess.run(["gzip", "-k", "more"], cwd=self.model, check=True)
        plan = ["-q", "-n", str(6 * keys), "-p", "1e-6"]
        for arguments in (["build", *plan, "-o", "old.umb", "keys"],
                          ["build", *plan, "-o", "other.umb", "more"],
                          ["build", *plan, "--kind", "counting", "-o", "counts.umb", "keys"],
                          ["build", "-q", "-n", str(keys // 2), "--kind", "scalable", "-o",
                           "grows.umb", "keys"]):
            subprocess.run([self.umbel, *arguments], cwd=self.model, check=True)
        self.make_deltas()
        shutil.copy(ROOT / "tests/golden/dcso/a.bloom", self.model / "a.bloom")
        shutil.copy(ROOT / "tests/golden/dcso/c.bloom", self.model / "old.bloom")
        shutil.copy(ROOT / "tests/golden/table/keys300.ldb", self.model / "keys.ldb")

    def make_deltas(self):
        """list.umb follows 1.umd already: it has the keys of `more`, and then those of `last`.
        Nothing follows alone.umb."""
        change = ["delta", "-q", "--from", "list.umb", "-o"]
        for name in ("list.umb", "alone.umb"):
            (self.model / name).write_bytes((self.model / "old.umb").read_bytes())
        for arguments in ([*change, "1.umd", "keys", "more"], ["apply", "-q", "list.umb", "1.umd"],
                          [*change, "2.umd", "more", "last"]):
            subprocess.run([self.umbel, *arguments], cwd=self.model, check=True)

    def reset(self, temporaries=True):
        """Resets to the model; files that are unchanged stay."""
        for path in self.work.iterdir():
            if not temporaries and path.name.endswith((TEMPORARY, LOCK)):
                continue
            if path.name != "link.umb" and not self.untouched(path.name):
                path.unlink()
        for name, text in self.texts.items():
            path = self.work / name
            if not path.exists():
                path.write_bytes(text)
                self.put[name] = self.mark(name)
        if not (self.work / "link.umb").is_symlink():
            (self.work / "link.umb").symlink_to("old.umb")
        self.log.unlink(missing_ok=True)

    def mark(self, name):
        st = (self.work / name).stat()
        return st.st_ino, st.st_size, st.st_mtime_ns

    def untouched(self, name):
        return name in self.put and (self.work / name).exists() and self.mark(name) == self.put[name]

    def environment(self, fault):
        env = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C"}
        if fault:
            env.update(LD_PRELOAD=self.shim, UMBEL_FAULT=fault, UMBEL_FAULT_LOG=str(self.log))
        return env

    def start(self, scene, fault=None, threads=1):
        """Output goes to a file, so that what a killed process wrote is kept."""
        stdin = open(self.work / scene.stdin, "rb") if scene.stdin else subprocess.DEVNULL
        arguments = list(scene.arguments)
        if threads > 1 and scene.takes_threads():
            arguments += ["-j", str(threads)]
        with open(self.folder / "out", "wb") as out, open(self.folder / "err", "wb") as err:
            process = subprocess.Popen([self.umbel, *arguments], cwd=self.work, stdin=stdin,
                                       stdout=out, stderr=err, env=self.environment(fault))
        if scene.stdin:
            stdin.close()
        return process

    def run(self, scene, fault=None, threads=1):
        return self.start(scene, fault, threads).wait(timeout=600)

    def command(self, *arguments, text=None):
        return subprocess.run([self.umbel, *arguments], cwd=self.work, input=text,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=self.environment(None), check=False)

    def output(self):
        return (self.folder / "out").read_bytes()

    def errors(self):
        return (self.folder / "err").read_text()

    def happened(self):
        return self.log.exists()

    def bytes_of(self, name):
        path = self.work / name
        return path.read_bytes() if path.exists() else None

    def temporaries(self):
        return sorted(p.name for p in self.work.iterdir()
                      if p.name not in self.texts and p.name != "link.umb"
                      and not p.name.endswith((".umb", ".umd", ".deltas")))


class Wrong(Exception):
    """What a test found."""


def need(condition, *words):
    if not condition:
        raise Wrong(" ".join(str(w) for w in words))


class Outcome:
    """The result of a scene when nothing goes wrong."""

    def __init__(self, stage, scene):
        stage.reset()
        begin = time.monotonic()
        self.status = stage.run(scene)
        self.seconds = time.monotonic() - begin
        need(self.status in (0, 1), scene.name, "without a fault:", stage.errors())
        need(not stage.temporaries(), scene.name, "leaves", stage.temporaries())
        self.old = stage.texts.get(scene.target)
        self.new = stage.bytes_of(scene.target) if scene.target else None
        self.output = stage.output()


def some(lines):
    return f"{len(lines)} lines, {sorted(lines)[:3]} ..."


def whole_lines(output):
    return set(output[:output.rfind(b"\n") + 1].splitlines())


def check_state(stage, scene, outcome, everything):
    """The state of uniq: valid, and everything it knows beyond the old one has been printed.  With
    `everything`, everything printed is also known."""
    printed = whole_lines(stage.output())
    expected = set(outcome.output.splitlines())
    need(printed <= expected, scene.name, "printed what it should not:",
         some(printed - expected))
    known, state = set(), stage.bytes_of(scene.target)
    if state == outcome.new:
        known = expected
    elif state != outcome.old:
        verified = stage.command("verify", "-q", scene.target)
        need(verified.returncode == 0, scene.name, verified.stderr)
        asked = stage.command("check", scene.target, text=outcome.output)
        need(asked.returncode in (0, 1), scene.name, asked.stderr)
        known = set(asked.stdout.splitlines())
    need(known <= printed, scene.name, "remembers what was never printed:", some(known - printed))
    need(not everything or printed <= known, scene.name, "printed and forgot:",
         some(printed - known), stage.errors())
    if state in (outcome.old, outcome.new):
        return
    # Together with the next run, every line is printed.
    rest = stage.command(*scene.arguments,
                         text=stage.texts[scene.stdin] if scene.stdin else None)
    need(rest.returncode == 0, scene.name, "the next run fails:", rest.stderr)
    need(printed | set(rest.stdout.splitlines()) == expected, scene.name, "lost lines")


def options(words):
    parser = argparse.ArgumentParser(description=words)
    parser.add_argument("--umbel", required=True)
    parser.add_argument("--shim", required=True)
    parser.add_argument("--seconds", type=float, help="the long form: so long, at random")
    parser.add_argument("--long", action="store_true", help="in many sizes, with threads")
    parser.add_argument("--part", default="1/1", help="K/N: every N-th command from the K-th on")
    parser.add_argument("--every", action="store_true", help="spare not even the 100th malloc")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "little"))
    found = parser.parse_args()
    random.seed(found.seed)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the folder is removed
    print(f"# --seed {found.seed}", flush=True)
    return found


def report(tests):
    """Runs (name, function) pairs and prints TAP; the exit status says whether all passed."""
    failed = 0
    print(f"1..{len(tests)}")
    for number, (name, test) in enumerate(tests, 1):
        try:
            words = test()
            print(f"ok {number} - {name}" + (f" ({words})" if words else ""), flush=True)
        except Wrong as wrong:
            failed += 1
            print(f"# {wrong}\nnot ok {number} - {name}", flush=True)
    sys.exit(1 if failed else 0)
