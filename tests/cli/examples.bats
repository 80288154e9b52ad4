# SPDX-License-Identifier: MIT
# Every example of every help page (`--all`; the man pages have the same) runs, in a folder with the files it names
load helper

@test "examples: each of each help page runs" {
    UMBEL=$UMBEL timeout 800 python3 - "$root/tests/golden" <<'P'
import gzip, os, pathlib, re, shutil, subprocess, sys, zlib
golden = pathlib.Path(sys.argv[1])
umbel = os.environ["UMBEL"]
here = pathlib.Path.cwd()

def run(command, **more):
    return subprocess.run(command, shell=isinstance(command, str), executable="/bin/bash" if isinstance(command, str) else None,
                          capture_output=True, text=True, timeout=300, start_new_session=True, stdin=subprocess.DEVNULL, **more)

def write(name, text):
    (here / name).parent.mkdir(exist_ok=True, parents=True)
    (here / name).write_text(text)

def lines(first, last, form="https://example.org/%d"):
    return "".join(form % i + "\n" for i in range(first, last))

def program(name, text):
    write("bin/" + name, "#!/bin/sh\n" + text)
    (here / "bin" / name).chmod(0o755)

# What the pages speak of: other people's programs stand in for nothing but input and output.
program("crawler", "seq 100")
program("extract-links", "seq 100")
program("look_up", "echo found $1")
program("tail", 'if [ "$1" = -F ]; then exec cat "$2"; else exec /usr/bin/tail "$@"; fi')  # ends
program("curl", 'for last; do :; done; case $last in *list.umb) exec cat list.umb ;; *) exec /usr/bin/curl -s "$@" ;; esac')
(here / "bin" / "umbel").symlink_to(umbel)
env = dict(os.environ, PATH=f"{here}/bin:{os.environ['PATH']}", order="order 7")

def fixtures():
    for old in here.iterdir():
        if old.name not in ("bin", "run"):
            shutil.rmtree(old) if old.is_dir() else old.unlink()
    write("urls.txt", lines(1, 3000))
    write("requests.txt", lines(2900, 3100))
    write("requests.log", lines(2900, 3100))
    write("other-urls.txt", lines(5000, 9000))
    write("new-urls.txt", lines(4000, 4010))
    write("today.txt", lines(10, 30)), write("yesterday.txt", lines(1, 20))
    write("good.txt", lines(5000, 9000)), write("revoked.txt", lines(1, 30))
    write("old.txt", lines(1, 3000)), write("new.txt", lines(20, 3020))
    write("came.txt", lines(3020, 3030)), write("left.txt", lines(20, 25)), write("rest.txt", lines(25, 3020))
    write("open.txt", lines(1, 9)), write("closed.txt", lines(2, 4)), write("keys.txt", lines(1, 9, "%d"))
    log = lines(1, 50, '192.0.2.%d - - [18/Nov/2026:01:02:03 +0000] "GET https://example.org/7 HTTP/1.1" 200 5')
    write("access.log", log), write("events.log", log), write("alarms.log", log), write("text.txt", lines(1, 9, "word%d"))
    (here / "access.log.gz").write_bytes(gzip.compress(log.encode()))
    (here / "urls.gz").write_bytes(gzip.compress(lines(1, 3000).encode()))
    write("users.csv", "id,email\n1,Ada@example.org\n2,bob@example.org\n")
    write("orders.csv", "id,customer,email\n1,7,ada@example.org\n2,7,eve@example.org\n")
    write("customers.csv", "customer\n8\n")
    write("events.json", '{"user": {"email": "ada@example.org"}}\n')
    make = lambda out, *rest: run([umbel, "build", "-q", "-o", out, *rest], check=True)
    make("blocklist.umb", "-n", "5000", "-p", "0.1%", "urls.txt"), make("list.umb", "urls.txt"), make("large.umb", "-n", "1M", "urls.txt")
    make("names.umb", "-e", "word1"), make("words.umb", "-e", "word2"), make("orders.umb", "-e", "order 7"), make("leaked.umb", "-e", "x")
    make("users.umb", "--csv", "-k", "email", "--lower", "users.csv"), make("bad.umb", "-e", "example.com"), make("senders.umb", "-e", "a@b")
    for day in ("monday", "tuesday", "wednesday"):
        make(day + ".umb", "-n", "10000", "urls.txt")
    make("urls.umb", "urls.txt")
    write("F", "password\n")
    (here / "F").chmod(0o600)
    run("umbel sign --generate --no-password -s signing.key > list.pub && umbel sign -s signing.key blocklist.umb", env=env)
    for name in ("packed.bloom", "list.bloom"):
        (here / name).write_bytes(gzip.compress((golden / "dcso/a.bloom").read_bytes()))
    (here / "db").mkdir()
    for name in ("000123.sst", "db/000123.sst"):
        shutil.copy(golden / "rocksdb/v6.sst", here / name)
    shutil.copy(next(golden.glob("table/*.ldb")), here / "000123.ldb")
    shutil.copy(next(golden.glob("parquet/*.parquet")), here / "orders.parquet")
    (here / "all_1_1_0").mkdir()
    shutil.copy(golden / "table/skp_idx_tk.idx", here / "all_1_1_0/skp_idx_tk.idx")

def deltas():
    """list.umb follows three deltas, and 18.umd is the fourth."""
    for number in (15, 16, 17, 18):
        write("old.txt", lines(1, 2985 + number)), write("new.txt", lines(1, 2986 + number))
        run([umbel, "delta", "-q", "--from", "list.umb", "-o", f"{number}.umd", "old.txt", "new.txt"], check=True)
        if number < 18:
            run([umbel, "apply", "-q", "list.umb", f"{number}.umd"], check=True)

# Examples that need more than files: what they must say at least, which shows that every option was understood.
ELSEWHERE = {
    "umbel check --ask leaked.umb": "no terminal",
    "umbel push urls.umb --redis localhost:6379 --key urls": "",
    "umbel push urls.umb --redis rediss://ada@host:6380/2 --auth-file F --key urls": "",
    "umbel push urls.txt --shards 8 -p 0.1% --cluster --redis node1:6379 --key urls": "",
}
NO_IS_FINE = re.compile(r"--check|^umbel (cmp|check|diff)|^if ")
(here / "run").mkdir()
pages = ["umbel"] + re.findall(r"^  ([a-z]+) ", run([umbel, "--help"]).stdout.split("\nCommands\n")[1].split("\n\n")[0], re.M)
seen = 0
for page in pages:
    text = re.sub(r" \\\n +", " ", run([umbel, "help", page, "--all"]).stdout)  # lines that are continued
    examples = [l[2:] for l in text.split("Examples\n")[1].split("\n\nUsage")[0].splitlines() if not l.startswith("  #")]
    assert examples, page
    fixtures()
    if page == "apply":
        deltas()
    for example in examples:
        command = example.replace("/run/umbel", "run").replace("/var/lib/app/db", "db").replace("--column customer", "--column n")
        for out in re.findall(r"-o (\S+)", command):
            if " -f " not in command and out.split(".")[-1] in ("umb", "bloom"):
                (here / out).unlink(missing_ok=True)
        if command.startswith("umbel serve") or "--unix-socket" in command:
            if "--squid" in command:
                ran = run(f"printf '0 example.com\\n' | {command}", env=env)
                assert ran.returncode == 0 and ran.stdout.startswith("0 OK"), (example, ran)
            elif command.startswith("umbel serve"):
                server = subprocess.Popen("exec " + command, shell=True, env=env, stderr=subprocess.DEVNULL)
                try:
                    path = here / re.search(r"unix:(\S+)", command)[1]
                    for _ in range(6000):
                        if path.exists() or server.poll() is not None:
                            break
                        run(["sleep", "0.05"])
                    assert path.exists(), example
                    if "--http" in command:
                        asked = next(e for e in examples if "--unix-socket" in e).replace("/run/umbel", "run")
                        ran = run(asked, env=env)
                        assert ran.returncode == 0 and ran.stdout, (asked, ran)
                finally:
                    server.terminate()
                    server.wait()
            seen += 1
            continue
        ran = run(command, env=env)
        if example in ELSEWHERE:
            assert ran.returncode == 2, (example, ran)
            assert ELSEWHERE[example] in ran.stderr, (example, ran)
            for wrong in ("unknown option", "missing", "contradict", "did you mean"):
                assert wrong not in ran.stderr, (example, ran.stderr)
        else:
            assert ran.returncode == 0 or ran.returncode == 1 and NO_IS_FINE.search(command), (example, ran)
            assert "warning" not in ran.stderr, (example, ran.stderr)
        seen += 1
assert seen > 55, seen
print(seen, "examples")
P
}
