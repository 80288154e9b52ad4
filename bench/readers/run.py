#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run.py - ns of CPU time for a lookup in each reader and the library, in filters of a million keys at 1%.

Each program runs with few rounds and with many, in turn, and the difference in CPU time counts, so what else the
machine does matters little; the least of three differences is printed.
"""
import os
import resource
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
OUT = ROOT / "build/bench-readers"
KINDS = "blocked line classic static tight exact".split()
FEW, MANY, KEYS = 6, 26, 1 << 20
GUAVA = "/usr/share/java/guava.jar"
ENVIRONMENT = {**os.environ, "PATH": f"/usr/bin:{os.environ['PATH']}", "GOFLAGS": "-mod=mod", "GOPROXY": "off",
               "GOCACHE": str(OUT / "go-cache"), "CARGO_TARGET_DIR": str(OUT / "rust"), "CARGO_HOME": str(OUT / "cargo")}


def do(command, folder=ROOT, **more):
    subprocess.run([str(word) for word in command], cwd=folder, env={**ENVIRONMENT, **more}, check=True,
                   stdout=subprocess.DEVNULL)


def build(filters):
    do(["cc", "-O2", "-I", ROOT / "include", "-I", ROOT / "build/include", ROOT / "bench/readers/single.c",
        ROOT / "build/libumbel.a", "-lm", "-lpthread", "-o", OUT / "single"])
    do(["go", "test", "-c", "-o", OUT / "go-bench", "."], ROOT / "bindings/go")
    peer = OUT / "gopath/src/peer"
    peer.mkdir(parents=True, exist_ok=True)
    (peer / "peer_test.go").write_bytes((ROOT / "bench/readers/peer_test.go").read_bytes())
    do(["go", "test", "-c", "-o", OUT / "go-peer", "."], peer, GO111MODULE="off", GOFLAGS="",
       GOPATH=f"{OUT}/gopath:/usr/share/gocode")
    do(["cargo", "build", "-q", "--offline", "--release", "--examples"], ROOT / "bindings/rust")
    do(["javac", "-d", OUT / "java", "-cp", GUAVA, *sorted((ROOT / "bindings/java/src/main").rglob("*.java")),
        ROOT / "bench/readers/BloomBench.java"])
    keys = filters / "keys"
    keys.write_text("".join(f"key{i}\n" for i in range(1_000_000)))
    others = filters / "others"
    others.write_text("".join(f"other{i}\n" for i in range(1_000_000)))
    for kind in KINDS:
        how = ["--universe", others] if kind == "exact" else ["--kind", kind]
        do([ROOT / "build/umbel", "build", "-qq", *how, "-p", "1%", "-o", filters / kind, keys])


def cpu_time(command, environment):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([str(word) for word in command], env={**ENVIRONMENT, **environment}, stdout=subprocess.DEVNULL, check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def lookup(command, environment=None):
    times = [[cpu_time(command(rounds), environment or {}) for rounds in (FEW, MANY)] for _ in range(3)]
    return min(many - few for few, many in times) * 1e9 / (MANY - FEW) / KEYS


def go(program, name):
    return lambda rounds: [OUT / program, "-test.run=^$", f"-test.bench={name}", f"-test.benchtime={rounds * KEYS}x"]


def java(name):
    return lambda rounds: ["java", "-cp", f"{OUT}/java:{GUAVA}", "BloomBench", rounds, name]


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        filters = Path(folder)
        build(filters)
        print("kind\tC\tGo\tRust\tJava")
        for kind in KINDS:
            file = filters / kind
            row = [lookup(lambda rounds: [OUT / "single", rounds, file]),
                   lookup(go("go-bench", f"Benchmark{kind.capitalize()}"), {f"UMBEL_BENCH_{kind.upper()}": str(file)}),
                   lookup(lambda rounds: [OUT / "rust/release/examples/bench", rounds, file]), lookup(java(file))]
            print(kind, *(f"{ns:.0f}" for ns in row), sep="\t", flush=True)
        print(f"bits-and-blooms\t\t{lookup(go('go-peer', 'BenchmarkPeer')):.0f}")
        print(f"Guava\t\t\t\t{lookup(java('guava')):.0f}")


if __name__ == "__main__":
    main()
