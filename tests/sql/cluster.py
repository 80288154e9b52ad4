# SPDX-License-Identifier: MIT
"""A real PostgreSQL server in a temporary directory, with the extension that was just built.

The server's files are found relative to its program, so a copy of the program with links to the rest
is a separate installation: nothing below /usr is written, and any user can run the tests.  The
server refuses to run as root; then it runs as the user postgres, which its package made.
"""
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import psycopg2

ROOT = Path(__file__).resolve().parent.parent.parent
PG_CONFIG = os.environ.get("PG_CONFIG", "pg_config")


def pg_config(what, program=PG_CONFIG):
    return Path(subprocess.check_output([program, f"--{what}"], text=True).strip())


class User:
    """Who runs the server: we, or if we are root, postgres."""

    def __init__(self):
        self.id = pwd.getpwnam("postgres") if os.getuid() == 0 else pwd.getpwuid(os.getuid())

    def give(self, path):
        if os.getuid() == 0:
            os.chown(path, self.id.pw_uid, self.id.pw_gid)

    def command(self, command):
        if os.getuid() != 0:
            return command
        return ["setpriv", f"--reuid={self.id.pw_uid}", f"--regid={self.id.pw_gid}", "--clear-groups",
                *command]


def link_all(source, target):
    target.mkdir(parents=True, exist_ok=True)
    for entry in source.iterdir():
        (target / entry.name).symlink_to(entry)


def install(folder, extension, program):
    """An installation in folder that has the extension; returns where its programs are."""
    bindir, sharedir, libdir = (pg_config(d, program) for d in ("bindir", "sharedir", "pkglibdir"))
    prefix = os.path.commonpath([bindir, sharedir, libdir])
    places = [folder / d.relative_to(prefix) for d in (bindir, sharedir, libdir)]
    for source, target in zip((bindir, sharedir, libdir), places):
        # The server's user may not be able to read what was built in the tree.
        if prefix.startswith(str(ROOT)):
            shutil.copytree(source, target, symlinks=True)
        else:
            link_all(source, target)
    for name in ("postgres", "initdb", "pg_ctl"):
        (places[0] / name).unlink()
        shutil.copy(bindir / name, places[0] / name)
    if (places[1] / "extension").is_symlink():
        (places[1] / "extension").unlink()
        link_all(sharedir / "extension", places[1] / "extension")
    ours = [ROOT / "bindings" / "postgres" / "umbel.control", *Path(extension).parent.glob("umbel--*.sql")]
    for file in ours:
        (places[1] / "extension" / file.name).unlink(missing_ok=True)
        shutil.copy(file, places[1] / "extension")
    (places[2] / "umbel.so").unlink(missing_ok=True)
    shutil.copy(extension, places[2] / "umbel.so")
    return places[0]


class Cluster:
    """One server, reachable through a socket in its own directory only."""

    def __init__(self, extension, settings=(), environment=None, wrapper=(), program=PG_CONFIG):
        self.user = User()
        self.folder = Path(tempfile.mkdtemp(prefix="umbel-sql-"))
        self.folder.chmod(0o755)
        self.bin = install(self.folder / "root", extension, program)
        self.data, self.socket = self.folder / "data", self.folder / "socket"
        self.secrets = self.folder / "secrets"
        for place, mode in ((self.data, 0o700), (self.socket, 0o755), (self.secrets, 0o700)):
            place.mkdir()
            place.chmod(mode)
            self.user.give(place)
        self.log = self.folder / "log"
        self.environment = {"PATH": os.environ["PATH"], "LC_ALL": "C",
                            "LD_LIBRARY_PATH": str(self.bin.parent / "lib"), **(environment or {})}
        self.settings = ["listen_addresses=", f"unix_socket_directories={self.socket}", "fsync=off",
                         f"umbel.secret_directory={self.secrets}", "session_preload_libraries=umbel",
                         "shared_buffers=128MB", "max_wal_size=4GB", "autovacuum=off",
                         "max_parallel_workers_per_gather=0", *settings]
        self.wrapper = list(wrapper)
        self.server = None
        self.run(["initdb", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync",
                  "--data-checksums", "-D", str(self.data)])
        self.start()

    def run(self, command):
        subprocess.run(self.user.command([str(self.bin / command[0]), *command[1:]]), check=True,
                       env=self.environment, cwd=self.folder, stdout=subprocess.DEVNULL)

    def start(self):
        options = [word for setting in self.settings for word in ("-c", setting)]
        with open(self.log, "ab") as log:
            self.server = subprocess.Popen(
                self.user.command([*self.wrapper, str(self.bin / "postgres"), "-D", str(self.data),
                                   *options]),
                env=self.environment, cwd=self.folder, stdout=log, stderr=log)
        for _ in range(600):
            if self.server.poll() is not None:
                raise RuntimeError(self.log.read_text())
            try:
                self.connect().close()
                return
            except psycopg2.OperationalError:
                time.sleep(0.1)
        raise RuntimeError("the server did not start:\n" + self.log.read_text())

    def connect(self, database="postgres", user="postgres", **options):
        connection = psycopg2.connect(host=str(self.socket), dbname=database, user=user, **options)
        connection.autocommit = True
        return connection

    def backend(self, database, script, wrapper):
        """Runs the script in a single backend, without a server, under the wrapper; what that wrote to
        standard error, and all that was printed."""
        done = subprocess.run(
            self.user.command([*wrapper, str(self.bin / "postgres"), "--single", "-D", str(self.data), database]),
            input=script, text=True, capture_output=True, env=self.environment,
            cwd=self.folder, check=False)
        return done.stderr, done.stdout + done.stderr

    def halt(self):
        if self.server and self.server.poll() is None:
            self.server.send_signal(signal.SIGINT)  # fast shutdown
            try:
                self.server.wait(60)
            except subprocess.TimeoutExpired:
                self.server.send_signal(signal.SIGQUIT)
                self.server.wait(60)

    def stop(self):
        self.halt()
        shutil.rmtree(self.folder, ignore_errors=True)
