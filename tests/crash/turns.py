#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""turns.py - many commands change one file at the same time.

Four writers run add, remove, uniq --state and merge -o on one file, in random order, while a reader
looks at it: every line whose command exited with 0 is in the file, every line that was removed is
not, and of what any other command did the reader sees all or nothing.  With --seconds: for that
long, and some commands are killed at random moments.
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
FILTER = "shared.umb"
PLAN = ("-n", "20000", "-p", "1e-7")
MOST = 8000  # keys in one filter: so far below its plan nothing is in it by accident


class Batch:
    """The lines of one command, and whether they are in the file: `there` is True or False if a
    command that exited with 0 says so, None while one runs and after one was killed."""

    def __init__(self, keys):
        self.keys, self.there, self.partly = keys, None, False


class Work:
    """One filter, and what the commands did to it."""

    def __init__(self, stage, kills):
        self.stage, self.kills = stage, kills
        self.lock = threading.Lock()
        self.batches, self.keys = [], 0
        self.counts = dict.fromkeys(("commands", "waited", "killed", "reads", "add", "uniq",
                                     "merge", "remove"), 0)
        self.wrong = []
        stage.reset()
        (stage.work / "empty").write_text("")
        done = stage.command("build", "-q", "-f", "--kind", "counting", *PLAN, "-o", FILTER,
                             "empty")
        need(done.returncode == 0, done.stderr)

    def run(self, batch, *arguments, text=None):
        """True if it exited with 0."""
        process = subprocess.Popen([self.stage.umbel, *arguments], cwd=self.stage.work,
                                   stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, env=self.stage.environment(None))
        killer = None
        if self.kills and random.random() < 0.3:
            how = random.choice((signal.SIGKILL, signal.SIGTERM))
            # What uniq has printed by then it remembers.
            batch.partly |= arguments[0] == "uniq" and how == signal.SIGTERM
            killer = threading.Timer(random.random() * 0.05, process.send_signal, [how])
            killer.start()
        errors = process.communicate(text)[1]
        if killer:
            killer.cancel()
        with self.lock:
            self.counts["commands"] += 1
            self.counts["waited"] += b"waiting" in errors
            self.counts["killed"] += process.returncode < 0
            if process.returncode != 0 and not (killer and process.returncode < 0):
                self.wrong.append(f"{arguments}: {process.returncode} {errors}")
        return process.returncode == 0

    def begin(self, keys):
        batch = Batch(keys)
        with self.lock:
            self.batches.append(batch)
            self.keys += len(keys)
        return batch

    def finish(self, batch, name, done, there):
        if done:
            with self.lock:
                batch.there = there
                self.counts[name] += 1

    def add(self, keys):
        batch = self.begin(keys)
        self.finish(batch, "add", self.run(batch, "add", FILTER, text=text_of(keys)), True)
        return batch

    def uniq(self, keys):
        batch = self.begin(keys)
        done = self.run(batch, "uniq", "--state", FILTER, text=text_of(keys))
        self.finish(batch, "uniq", done, True)

    def merge(self, keys):
        batch, part = self.begin(keys), f"part-{keys[0]}.umb"
        if self.run(batch, "build", "-q", "--kind", "counting", *PLAN, "-o", part,
                    text=text_of(keys)):
            done = self.run(batch, "merge", "-f", "-o", FILTER, FILTER, part)
            self.finish(batch, "merge", done, True)
        for left in ("", TEMPORARY, LOCK):
            (self.stage.work / (part + left)).unlink(missing_ok=True)

    def remove(self, keys):
        batch = self.add(keys)
        if not batch.there:
            return
        with self.lock:
            batch.there = None
        done = self.run(batch, "remove", FILTER, text=text_of(keys))
        self.finish(batch, "remove", done, False)

    def check(self):
        with self.lock:
            before = [(batch, batch.there) for batch in self.batches]
        text = text_of(key for batch, _ in before for key in batch.keys)
        done = self.stage.command("check", FILTER, text=text)
        if done.returncode not in (0, 1):
            self.wrong.append(f"check: {done.returncode} {done.stderr}")
        present = set(done.stdout.decode().split())
        with self.lock:
            self.counts["reads"] += 1
            after = [batch.there for batch, _ in before]
        for (batch, was), now in zip(before, after):
            found = sum(key in present for key in batch.keys)
            if was is not None and was == now and found != was * len(batch.keys):
                self.wrong.append(f"{found} of {len(batch.keys)} lines are there, not "
                                  f"{'all' if was else 'none'}: {batch.keys[0]} ...")
            elif found not in (0, len(batch.keys)) and not batch.partly:
                self.wrong.append(f"a mixture: {found} of {len(batch.keys)}: {batch.keys[0]} ...")
        done = self.stage.command("verify", "-q", FILTER)
        if done.returncode != 0:
            self.wrong.append(f"verify: {done.stderr}")


def text_of(keys):
    return "".join(f"{key}\n" for key in keys).encode()


def write(work, number, more):
    round_ = 0
    while more(round_) and not work.wrong and work.keys < MOST:
        keys = [f"{number}-{round_}-{i}" for i in range(random.choice((2, 30, 300)))]
        random.choice((work.add, work.uniq, work.merge, work.remove))(keys)
        round_ += 1


def fill_one(stage, more, kills):
    """Until the filter has its keys, or there is no more to do."""
    work = Work(stage, kills)
    writers = [threading.Thread(target=write, args=(work, n, more)) for n in range(WRITERS)]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        work.check()
    for writer in writers:
        writer.join()
    work.check()
    need(not work.wrong, *work.wrong[:3])
    need(stage.command("add", "-q", FILTER, text=b"").returncode == 0, FILTER)  # tidies up
    (stage.work / "empty").unlink()
    need(not stage.temporaries(), "left", stage.temporaries())
    return work.counts


def take_turns(stage, seconds):
    end = time.monotonic() + (seconds or 0)
    more = (lambda n: time.monotonic() < end) if seconds else (lambda n: n < ROUNDS)
    counts = fill_one(stage, more, seconds is not None)
    while seconds and more(0):
        for name, number in fill_one(stage, more, True).items():
            counts[name] += number
    need(all(counts[name] for name in ("add", "uniq", "merge", "remove")), "hardly ran:", counts)
    return ", ".join(f"{number} {name}" for name, number in counts.items())


def first_state(stage):
    """Four in parallel, none of which finds a state yet."""
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
    """A lock file that is not ours keeps nobody waiting; for one of ours the command waits and says so."""
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
        need(waiting.wait(timeout=600) == 0, waiting.stderr.read())
        waiting.stderr.close()
    need(not stage.temporaries(), "left", stage.temporaries())


def signals_leave_the_lock(stage):
    """Until a signal has ended the process, a save may continue: nobody may take the lock before."""
    stage.reset()
    name = stage.work / f"old.umb{LOCK}"
    running = subprocess.Popen([stage.umbel, "uniq", "-q", "--state", "old.umb"], cwd=stage.work,
                               stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    end = time.monotonic() + 600
    while not name.exists() and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(0.1)  # it is locked, and signals are watched
    running.send_signal(signal.SIGTERM)
    need(running.wait(timeout=600) == -signal.SIGTERM, running.returncode)
    running.stdin.close()
    need(name.exists(), "the lock was given away by a process that was still there")
    need(stage.command("add", "-q", "old.umb", text=b"new\n").returncode == 0, "the next one")
    need(not stage.temporaries(), "left", stage.temporaries())


def main():
    found = options(__doc__)
    stage = Stage(found.umbel, found.shim, 1000)
    report([("commands take turns", lambda: take_turns(stage, found.seconds)),
            ("a state that is not there yet", lambda: first_state(stage)),
            ("a lock of strangers", lambda: strangers_lock(stage)),
            ("signals leave the lock", lambda: signals_leave_the_lock(stage))])


main()
