# SPDX-License-Identifier: MIT
# docs/guides/coming-from.md: what people typed before and what umbel has for it print the same.
load helper

@test "coming from sort, uniq, awk, grep and jq: each row prints what it printed before" {
    UMBEL=$UMBEL python3 - "$root" <<'P'
import os, pathlib, re, subprocess, sys
page = (pathlib.Path(sys.argv[1]) / "docs/guides/coming-from.md").read_text()
os.mkdir("bin"), os.symlink(os.environ["UMBEL"], "bin/umbel")
env = dict(os.environ, LC_ALL="C", PATH=f"{os.getcwd()}/bin:{os.environ['PATH']}")
write = lambda name, text: pathlib.Path(name).write_text(text)
write("urls.txt", "".join(f"https://example.org/{i * i % 97}\n" for i in range(200)) + "seldom\n" + "often\n" * 30 + "more\n" * 20 + "most\n" * 40)
write("list.txt", "".join(f"https://example.org/{i}\n" for i in range(50)))
write("today.txt", "".join(f"{i}\n" for i in range(10, 300))), write("yesterday.txt", "".join(f"{i}\n" for i in range(200)))
write("access.log", "".join(f"10.0.0.{i % 7} - - d t GET /{int(i ** 0.5) % 5} 200\n" for i in range(100)))
write("users.txt", '"ada@x.org"\n"bob@x.org"\n')
write("events.json", '{"user":{"email":"ada@x.org"}}\n{"user":{"email":"eve@x.org"}}\n')

def run(command):
    for made in pathlib.Path(".").glob("*.umb"):
        made.unlink()
    done = subprocess.run(["bash", "-c", command], capture_output=True, env=env, stdin=subprocess.DEVNULL)
    assert done.returncode in (0, 1), (command, done)
    return [b" ".join(line.split()) for line in done.stdout.splitlines()]

rows = re.findall(r"^\| `(.*?)` \| `(umbel .*?|cat .*?)` \| [^|]* \| [^|]* \|$", page, re.M)
for row in rows:
    old, new = (re.sub(r"\\\|", "|", c) for c in row)
    assert run(old) == run(new) != [], (old, new, run(old)[:5], run(new)[:5])
assert len(rows) == page.count("\n| `") > 12, len(rows)
P
}
