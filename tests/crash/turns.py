#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""turns.py - many commands change one file at the same time.

Four writers run add, remove, uniq --state and merge -o on the same files, in random order, while a
reader looks at them: every line whose command exited with 0 is in the file, every line that was
removed is not, and the reader sees a whole version each time.  With --seconds: for that long, and
some commands are killed at random moments.
"""
import fcntl
import random
import signal
import subprocess
import threading
import time

from scenes import LOCK, TEMPORARY, Stage, need, options, report

WRITERS = 4
ROUNDS = 12
PLAN = ("-n", "200000", "-p", "1e-9")


class Work:
    """What must be in the two files, according to the commands that exited with 0."""

    def __init__(self, stage, kills):
        self.stage, self.kills = stage, kills
        self.lock = threading.Lock()
        self.seen, self.counted, self.gone = set(), set(), set()
        self.runs = self.killed = self.waited = 0
        self.wrong = []
        stage.reset()
        (stage.work / "empty").write_text("")
        for kind, name in (("blocked", "seen.umb"), ("counting", "counted.umb")):
            done = stage.command("build", "-q", "-f", "--kind", kind, *PLAN, "-o", name, "empty")
            need(done.returncode == 0, done.stderr)

    def run(self, *arguments, text=None):
        """The exit status; None if it was killed."""
        process = subprocess.Popen([self.stage.umbel, *arguments], cwd=self.stage.work,
                                   stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, env=self.stage.environment(None))
        killer = None
        if self.kills and random.random() < 0.3:
            killer = threading.Timer(random.random() * 0.05, process.send_signal,
                                     [random.choice((signal.SIGKILL, signal.SIGTERM))])
            killer.start()
        errors = process.communicate(text)[1]
        if killer:
            killer.cancel()
        with self.lock:
            self.runs += 1
            self.waited += b"waiting" in errors
            self.killed += process.returncode < 0
        if process.returncode < 0 and killer:
            return None
        if process.returncode not in (0, 1):
            self.wrong.append(f"{arguments}: {process.returncode} {errors}")
        return process.returncode

    def add(self, keys):
        if self.run("add", "seen.umb", text=text_of(keys)) == 0:
            self.note(self.seen, keys)

    def uniq(self, keys):
        if self.run("uniq", "--state", "seen.umb", text=text_of(keys)) == 0:
            self.note(self.seen, keys)

    def merge(self, keys):
        part = f"part-{keys[0]}.umb"
        if self.run("build", "-q", "--kind", "blocked", *PLAN, "-o", part,
                    text=text_of(keys)) == 0:
            if self.run("merge", "-f", "-o", "seen.umb", "seen.umb", part) == 0:
                self.note(self.seen, keys)
        for left in ("", TEMPORARY, LOCK):
            (self.stage.work / (part + left)).unlink(missing_ok=True)

    def count(self, keys):
        if self.run("add", "counted.umb", text=text_of(keys)) != 0:
            return
        first, rest = keys[:len(keys) // 2], keys[len(keys) // 2:]
        self.note(self.counted, rest)
        if self.run("remove", "counted.umb", text=text_of(first)) == 0:
            self.note(self.gone, first)

    def note(self, where, keys):
        with self.lock:
            where.update(keys)

    def check(self):
        with self.lock:
            seen, counted, gone = set(self.seen), set(self.counted), set(self.gone)
        for name, keys, option in (("seen.umb", seen, "-v"), ("counted.umb", counted, "-v"),
                                   ("counted.umb", gone, "--crlf")):
            done = self.stage.command("check", option, name, text=text_of(sorted(keys)))
            if done.returncode != 1 or done.stdout:
                self.wrong.append(f"{name} {option}: {len(done.stdout.split())} of {len(keys)} "
                                  f"lines are wrong, {done.stderr}")
            done = self.stage.command("verify", "-q", name)
            if done.returncode != 0:
                self.wrong.append(f"{name}: {done.stderr}")


def text_of(keys):
    return "".join(f"{key}\n" for key in keys).encode()


def write(work, number, more):
    round_ = 0
    while more(round_) and not work.wrong:
        keys = [f"{number}-{round_}-{i}" for i in range(random.choice((2, 30, 2000)))]
        random.choice((work.add, work.add, work.uniq, work.merge, work.count))(keys)
        round_ += 1


def take_turns(stage, seconds):
    work = Work(stage, kills=seconds is not None)
    end = time.monotonic() + (seconds or 0)
    more = (lambda n: time.monotonic() < end) if seconds else (lambda n: n < ROUNDS)
    writers = [threading.Thread(target=write, args=(work, n, more)) for n in range(WRITERS)]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        work.check()
    for writer in writers:
        writer.join()
    work.check()
    need(not work.wrong, *work.wrong[:3])
    need(work.seen and work.counted, "nothing was added")
    for name in ("seen.umb", "counted.umb"):  # also removes what killed ones left
        need(stage.command("add", "-q", name, text=b"").returncode == 0, name)
    (stage.work / "empty").unlink()
    need(not stage.temporaries(), "left", stage.temporaries())
    return (f"{work.runs} commands, {work.waited} of them waited, {work.killed} killed, "
            f"{len(work.seen) + len(work.counted)} lines")


def first_state(stage):
    """Four at once, none of which finds a state yet."""
    for round_ in range(5):
        stage.reset()
        (stage.work / "state.umb").unlink(missing_ok=True)
        texts = [text_of(f"{round_}-{n}-{i}" for i in range(500)) for n in range(WRITERS)]
        running = [subprocess.Popen([stage.umbel, "uniq", "-q", *PLAN, "--state", "state.umb"],
                                    cwd=stage.work, stdin=subprocess.PIPE,
                                    stdout=subprocess.DEVNULL, env=stage.environment(None))
                   for _ in texts]
        for process, text in zip(running, texts):
            process.stdin.write(text)
        for process in running:
            process.stdin.close()
        need(all(process.wait() == 0 for process in running), "uniq fails")
        lost = stage.command("check", "-c", "-v", "state.umb", text=b"".join(texts))
        need(lost.stdout == b"0\n", "lost", lost.stdout, lost.stderr)


def strangers_lock(stage):
    """A lock file that is not ours keeps nobody waiting; one of our own is waited for, and said."""
    stage.reset()
    name = stage.work / "old.umb.umbel-lock"
    name.write_text("")
    name.chmod(0o666)  # anybody can open it, but not anybody may write the filter
    (stage.work / "old.umb").chmod(0o644)
    with open(name, "rb") as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        done = stage.command("add", "old.umb", text=b"new\n")
        need(done.returncode == 0 and b"waiting" not in done.stderr, "waited:", done.stderr)
        name.chmod(0o600)
        waiting = subprocess.Popen([stage.umbel, "add", "old.umb"], cwd=stage.work,
                                   stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        line = waiting.stderr.readline()
        need(b"old.umb: another command is changing it" in line, "said", line)
        need(waiting.poll() is None, "did not wait")
        fcntl.flock(holder, fcntl.LOCK_UN)
        need(waiting.wait(timeout=60) == 0, waiting.stderr.read())
        waiting.stderr.close()
    need(not stage.temporaries(), "left", stage.temporaries())


def main():
    found = options(__doc__)
    stage = Stage(found.umbel, found.shim, 1000)
    report([("commands take turns", lambda: take_turns(stage, found.seconds)),
            ("a state that is not there yet", lambda: first_state(stage)),
            ("a lock of strangers", lambda: strangers_lock(stage))])


main()
