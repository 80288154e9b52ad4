#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""guard.py [ORDERS [REQUESTS]] - ids that do not exist, and how many of them reach the database.

A PostgreSQL with ORDERS orders (100000), a redis-server with umbel.so as its cache, both started
here in a temporary directory, and REQUESTS requests (20000), nine out of ten for ids that were
never issued.  The same requests are answered in three ways; the database counts its own lookups.

Needs from Debian: postgresql redis-server (or the server REDIS_SERVER) python3-psycopg2
python3-redis; and umbel.so (UMBEL_MODULE, or build/module/umbel.so).  Exits with 77 and the reason
if one is missing.
"""
import ctypes
import glob
import os
import pwd
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
MODULE = Path(os.environ.get("UMBEL_MODULE") or ROOT / "build/module/umbel.so").resolve()
SERVER = os.environ.get("REDIS_SERVER") or "redis-server"
ORDERS = int(sys.argv[1]) if len(sys.argv) > 1 else 100000
REQUESTS = int(sys.argv[2]) if len(sys.argv) > 2 else 20000


def leave(reason):
    print(f"cannot run: {reason}")
    sys.exit(77)


try:
    import psycopg2
    import redis
except ImportError as missing:
    leave(f"{missing} (apt-get install python3-psycopg2 python3-redis)")


# ---- The two servers ---------------------------------------------------------------------------

def newest(program):
    found = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{program}"),
                   key=lambda path: float(path.split("/")[4]))
    path = found[-1] if found else shutil.which(program)
    return path or leave(f"no {program} (apt-get install postgresql)")


def end_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGINT)


def wait_for(process, name, not_yet, connect):
    for _ in range(3000):
        try:
            return connect()
        except not_yet as reason:
            if process.poll() is not None:
                sys.exit(f"{name} does not start: {reason}")
            time.sleep(0.02)
    sys.exit(f"{name} is not ready after a minute")


class Database:
    """A private PostgreSQL cluster, reachable only through a socket in its directory."""

    def __init__(self, directory):
        self.directory, self.data = directory, directory / "pg"
        # PostgreSQL refuses to run as root.
        self.run_as = {}
        if os.getuid() == 0:
            name = "postgres" if "postgres" in {u.pw_name for u in pwd.getpwall()} else "nobody"
            who = pwd.getpwnam(name)
            self.run_as = {"user": who.pw_uid, "group": who.pw_gid, "extra_groups": []}
            os.chown(directory, who.pw_uid, who.pw_gid)
        done = subprocess.run(
            [newest("initdb"), "-D", self.data, "-A", "trust", "-U", "shop", "-N", "--no-locale"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            cwd=directory, check=False, **self.run_as)
        if done.returncode != 0:
            sys.exit(f"initdb: {done.stdout}")
        self.process = subprocess.Popen(
            [newest("postgres"), "-D", self.data, "-c", "listen_addresses=", "-c", "fsync=off",
             "-c", f"unix_socket_directories={directory}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            cwd=directory, preexec_fn=end_with_parent, **self.run_as)
        wait_for(self.process, "postgres", psycopg2.OperationalError, self.connect)

    def connect(self):
        connection = psycopg2.connect(host=str(self.directory), user="shop", dbname="postgres")
        connection.autocommit = True
        return connection.cursor()

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait()


class Cache:
    """A redis-server with the module."""

    def __init__(self, directory):
        server = shutil.which(SERVER) or leave(f"no {SERVER} (apt-get install redis-server)")
        if not MODULE.exists():
            leave(f"{MODULE} is not there (make)")
        path = str(directory / "redis")
        self.process = subprocess.Popen(
            [server, "--port", "0", "--unixsocket", path, "--save", "", "--loadmodule", MODULE],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd=directory,
            preexec_fn=end_with_parent)
        self.client = redis.Redis(unix_socket_path=path)
        wait_for(self.process, "redis-server", redis.ConnectionError, self.client.ping)

    def stop(self):
        self.process.kill()
        self.process.wait()


# ---- The shop ----------------------------------------------------------------------------------

def make_orders(sql):
    sql.execute("create table orders (id bigint primary key, body text not null)")
    # Ids are issued with gaps, so a range check cannot tell which exist.
    sql.execute("insert into orders select 7 * n, 'order ' || n from generate_series(1, %s) n",
                (ORDERS,))
    sql.execute("vacuum analyze orders")


def from_database(sql, order):
    sql.execute("select body from orders where id = %s", (order,))
    row = sql.fetchone()
    return row[0] if row else None


def cache_only(cache, sql, order):
    """The usual setup: whatever is not in the cache is fetched from the database."""
    body = cache.get(order)
    if body is None:
        body = from_database(sql, order)
        if body is not None:
            cache.set(order, body)
    return body


def cache_absence(cache, sql, order):
    """The usual remedy: absence is cached too."""
    body = cache.get(order)
    if body is None:
        body = from_database(sql, order)
        cache.set(order, body or "", ex=300)
    return body or None


def filter_first(cache, sql, order):
    """The filter first: its "no" is certain."""
    if not cache.execute_command("BF.EXISTS", "orders:ids", order):
        return None
    return cache_only(cache, sql, order)


# ---- The comparison ----------------------------------------------------------------------------

def lookups(sql):
    """The number of lookups in the table of orders, as the database counts them."""
    sql.execute("select idx_scan + seq_scan from pg_stat_user_tables where relname = 'orders'")
    return sql.fetchone()[0]


def requests():
    dice = random.Random(7)
    for _ in range(REQUESTS):
        if dice.random() < 0.1:
            yield 7 * dice.randint(1, ORDERS), True
        else:
            yield 7 * dice.randint(1, 10 * ORDERS) + dice.randint(1, 6), False


def run(name, way, database, cache):
    cache.flushall()
    sql, judge = database.connect(), database.connect()
    if way is filter_first:
        cache.execute_command("BF.RESERVE", "orders:ids", 0.001, ORDERS)
        sql.execute("select id from orders")  # and BF.ADD for every new order from then on
        ids = [row[0] for row in sql.fetchall()]
        for at in range(0, len(ids), 1000):
            cache.execute_command("BF.MADD", "orders:ids", *ids[at:at + 1000])
    sql.execute("select pg_stat_force_next_flush()")
    before, memory = lookups(judge), cache.info("memory")["used_memory"]
    for order, there in requests():
        if (way(cache, sql, order) is not None) != there:
            sys.exit(f"{name}: order {order} was answered wrongly")
    sql.execute("select pg_stat_force_next_flush()")
    queries = lookups(judge) - before
    grown = cache.info("memory")["used_memory"] - memory
    filter_size = cache.memory_usage("orders:ids") or 0
    print(f"{name:<32} {queries:>10} {100 * queries / REQUESTS:>8.1f}% {grown // 1024:>6} KiB "
          f"{filter_size // 1024:>6} KiB")
    sql.connection.close()
    judge.connection.close()
    return queries


def main():
    newest("initdb")
    directory = Path(tempfile.mkdtemp(prefix="umbel-guard-"))
    cache = database = None
    try:
        cache = Cache(directory)
        database = Database(directory)
        make_orders(database.connect())
        absent = sum(not there for _, there in requests())
        print(f"{ORDERS} orders, {REQUESTS} requests, {absent} of them for ids that do not exist\n")
        print(f"{'':<32} queries at the database   cache     filter")
        for name, way in (("cache", cache_only), ("cache, absence cached", cache_absence),
                          ("filter, then cache", filter_first)):
            run(name, way, database, cache.client)
    finally:
        if database:
            database.stop()
        if cache:
            cache.stop()
        shutil.rmtree(directory, ignore_errors=True)


main()
