#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""turns.py - many commands change one file at the same time.

Four writers run add, remove, uniq --state and merge -o on one file, in random order, while a reader
looks at it: every line whose command exited with 0 is in the file, every line that was removed is
not, and of what any other command did the reader sees all or nothing.  With --seconds: for that
long, and some commands are killed at random moments.
"""
import fcntl
import os
import random
import resource
import signal
import subprocess
import tempfile
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
    round_, deeds = 0, []
    while more(round_) and not work.wrong and work.keys < MOST:
        keys = [f"{number}-{round_}-{i}" for i in range(random.choice((2, 30, 300)))]
        # Each of them in four rounds, so that none is left out by chance.
        deeds = deeds or random.sample((work.add, work.uniq, work.merge, work.remove), 4)
        deeds.pop()(keys)
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
        need(b"cannot be locked" in done.stderr, "said nothing:", done.stderr)
        name.chmod(0o600)
        waiting = subprocess.Popen([stage.umbel, "add", "old.umb"], cwd=stage.work,
                                   stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        line = waiting.stderr.readline()
        need(b"old.umb: warning: another command is changing it" in line, "said", line)
        need(waiting.poll() is None, "did not wait")
        fcntl.flock(holder, fcntl.LOCK_UN)
        need(waiting.wait(timeout=600) == 0, waiting.stderr.read())
        waiting.stderr.close()
    need(not stage.temporaries(), "left", stage.temporaries())


def wait_for(there):
    end = time.monotonic() + 600
    while not there() and time.monotonic() < end:
        time.sleep(0.01)


def is_locked(name):
    """By a process that is there, and that watches signals by then: it does that first."""
    try:
        with open(name, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        pass
    return False


def signals_take_the_lock_along(stage):
    """After each signal that can be caught, or without a reader, no lock file is left."""
    for arguments in (("uniq", "-q", "--state", "old.umb"), ("add", "-q", "old.umb")):
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
            stage.reset()
            running = subprocess.Popen([stage.umbel, *arguments], cwd=stage.work, preexec_fn=no_core,
                                       stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
            wait_for(lambda: is_locked(stage.work / f"old.umb{LOCK}"))
            running.send_signal(number)
            need(running.wait(timeout=600) == -number, running.returncode)
            running.stdin.close()
            need(not stage.temporaries(), arguments, "left", stage.temporaries())
    stage.reset()
    read, write = os.pipe()
    os.close(read)
    for lines in (b"new\n", b"".join(b"%d\n" % i for i in range(300000))):
        done = subprocess.run([stage.umbel, "uniq", "-q", "--state", "old.umb"], cwd=stage.work,
                              preexec_fn=no_core, input=lines, stdout=write)
        need(done.returncode == -signal.SIGPIPE, "without a reader:", done.returncode)
        need(not stage.temporaries(), "left", stage.temporaries())
    os.close(write)


def no_core():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)


def waits_as_long_as_it_is_told(stage):
    """--wait ends in time, and who waits says so even with -q."""
    stage.reset()
    name = stage.work / f"old.umb{LOCK}"
    name.touch(0o600)
    with open(name, "rb") as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        done = stage.command("add", "-q", "--wait", "0", "old.umb", text=b"new\n")
        need(done.returncode == 2 and b"another command is changing it" in done.stderr, done)
        done = stage.command("add", "-q", "--wait", "6", "old.umb", text=b"new\n")
        need(done.returncode == 2 and b"waiting for it to finish" in done.stderr, done)
        need(name.exists(), "the lock of another was removed")
    need(stage.command("add", "-q", "--wait", "0", "old.umb", text=b"").returncode == 0, "free now")
    need(not stage.temporaries(), "left", stage.temporaries())


USERS, GROUP = (54321, 54322), 54323


def as_user(stage, user, folder, *arguments):
    return subprocess.Popen([stage.umbel, *arguments], cwd=folder, user=user, group=GROUP,
                            extra_groups=[], umask=0o002, stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def run_as(stage, user, folder, *arguments, text=b""):
    process = as_user(stage, user, folder, *arguments)
    output, errors = process.communicate(text)
    return process.returncode, output, errors


def users_take_turns(stage, folder):
    """Members of a group that may write the file: each waits for the other, and every line is there."""
    os.chown(folder, USERS[0], GROUP)
    os.chmod(folder, 0o2775)
    done = run_as(stage, USERS[0], folder, "build", "-q", *PLAN, "-o", FILTER)
    need(done[0] == 0, done)
    os.chmod(f"{folder}/{FILTER}", 0o664)
    texts = [text_of(f"{n}-{i}" for i in range(50)) for n in range(16)]
    running = [as_user(stage, USERS[n % 2], folder, "add", "-q", FILTER) for n in range(16)]
    for process, text in zip(running, texts):
        process.stdin.write(text)
        process.stdin.close()
    for process in running:
        errors = process.stderr.read()
        need(process.wait(timeout=600) == 0, errors)
        # The group's file has the last writer's owner, and that is all.
        need(b"cannot be locked" not in errors, errors)
    lost = run_as(stage, USERS[0], folder, "check", "-c", "-v", FILTER, text=b"".join(texts))
    need(lost[1] == b"0\n", "lost", lost)
    need(os.listdir(folder) == [FILTER], "left", os.listdir(folder))


def strangers_in_a_sticky_directory(stage, folder):
    """They can take the name of the lock, which is said, but keep nobody waiting, and replace nothing."""
    os.chown(folder, 0, 0)
    os.chmod(folder, 0o1777)
    done = run_as(stage, USERS[0], folder, "build", "-q", *PLAN, "-o", FILTER)
    need(done[0] == 0, done)
    os.chmod(f"{folder}/{FILTER}", 0o644)
    done = run_as(stage, USERS[1], folder, "add", "-q", FILTER, text=b"theirs\n")
    need(done[0] == 2 and b"Operation not permitted" in done[2], done)
    need(os.listdir(folder) == [FILTER], "left", os.listdir(folder))
    lock = f"{folder}/{FILTER}{LOCK}"
    with open(lock, "wb") as held:
        os.chown(lock, USERS[1], GROUP)
        fcntl.flock(held, fcntl.LOCK_EX)
        done = run_as(stage, USERS[0], folder, "add", "-q", "--wait", "0", FILTER, text=b"mine\n")
        need(done[0] == 0 and b"cannot be locked" in done[2], done)
    done = run_as(stage, USERS[0], folder, "check", FILTER, text=b"mine\ntheirs\n")
    need(done[1] == b"mine\n", done)
    need(sorted(os.listdir(folder)) == [FILTER, FILTER + LOCK], "left", os.listdir(folder))


def two_users(stage):
    if os.geteuid() != 0:
        return "skipped: only root can be two users"
    for scene in (users_take_turns, strangers_in_a_sticky_directory):
        with tempfile.TemporaryDirectory() as folder:
            try:
                scene(stage, folder)
            except PermissionError as error:
                return f"skipped: they cannot run it here ({error})"
    return None


def main():
    found = options(__doc__)
    stage = Stage(found.umbel, found.shim, 1000)
    report([("commands take turns", lambda: take_turns(stage, found.seconds)),
            ("a state that is not there yet", lambda: first_state(stage)),
            ("a lock of strangers", lambda: strangers_lock(stage)),
            ("signals take the lock along", lambda: signals_take_the_lock_along(stage)),
            ("two users", lambda: two_users(stage)),
            ("waiting has an end", lambda: waits_as_long_as_it_is_told(stage))])


main()
