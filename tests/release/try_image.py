#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""try_image.py IMAGE.oci.tar COMMAND - the image is what the OCI image specification asks for, has the released
COMMAND in it, and `umbel serve` runs in it, started by runc.

Every descriptor is followed, and its size and digest are compared with the bytes.
"""
import gzip
import hashlib
import io
import json
import os
import shutil
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

MACHINES = {"amd64", "arm64"}
NOBODY = 65534


class Layout:
    def __init__(self, path):
        with tarfile.open(path) as archive:
            self.files = {entry.name: archive.extractfile(entry).read() for entry in archive if entry.isfile()}
        assert json.loads(self.files["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}
        self.used = {"oci-layout", "index.json"}

    def blob(self, descriptor):
        algorithm, digest = descriptor["digest"].split(":")
        name = f"blobs/{algorithm}/{digest}"
        data = self.files[name]
        assert len(data) == descriptor["size"] and hashlib.new(algorithm, data).hexdigest() == digest, name
        self.used.add(name)
        return data

    def images(self):
        """Architecture, config and layers of each image."""
        [every] = json.loads(self.files["index.json"])["manifests"]
        assert every["annotations"]["org.opencontainers.image.ref.name"].startswith("umbel:")
        for one in json.loads(self.blob(every))["manifests"]:
            manifest = json.loads(self.blob(one))
            config = json.loads(self.blob(manifest["config"]))
            layers = [gzip.decompress(self.blob(layer)) for layer in manifest["layers"]]
            digests = ["sha256:" + hashlib.sha256(layer).hexdigest() for layer in layers]
            assert digests == config["rootfs"]["diff_ids"]
            assert (one["platform"]["architecture"], one["platform"]["os"]) == (config["architecture"], config["os"])
            yield config["architecture"], config["config"], layers


def read_by_skopeo(image):
    """Whether another program finds every machine's image."""
    for machine in MACHINES:
        said = subprocess.run(["skopeo", "--insecure-policy", "--override-arch", machine, "inspect", f"oci-archive:{image}"],
                              capture_output=True, text=True, check=False)
        assert said.returncode == 0, said.stderr
        found = json.loads(said.stdout)
        assert (found["Architecture"], found["Os"]) == (machine, "linux") and len(found["Layers"]) == 1, found


def unpack(layers, folder):
    for layer in layers:
        with tarfile.open(fileobj=io.BytesIO(layer)) as archive:
            archive.extractall(folder)


def bundle(home, config, arguments):
    """What runc starts: the root file system, the image's settings, and a folder of lists."""
    uid, gid = map(int, config["User"].split(":"))
    spec = {
        "ociVersion": "1.0.2",
        "process": {"terminal": False, "user": {"uid": uid, "gid": gid}, "cwd": config["WorkingDir"],
                    "args": [*config["Entrypoint"], *arguments], "env": config["Env"], "noNewPrivileges": True},
        "root": {"path": "root", "readonly": True},
        "mounts": [{"destination": "/proc", "source": "proc", "type": "proc"},
                   {"destination": "/lists", "source": str(home / "lists"), "type": "bind",
                    "options": ["rbind", "rw"]}],
        "linux": {"namespaces": [{"type": "mount"}, {"type": "pid"}]},
    }
    (home / "config.json").write_text(json.dumps(spec))


def start(home, config, arguments):
    """The server in the image."""
    bundle(home, config, arguments)
    server = subprocess.Popen(["runc", "--root", home / "state", "run", "--bundle", home, f"umbel-{os.getpid()}"],
                              stdout=open(home / "log", "w", encoding="utf-8"), stderr=subprocess.STDOUT,
                              stdin=subprocess.DEVNULL)
    assert ready(home, server), (home / "log").read_text()
    return server


def ready(home, server):
    for _ in range(3000):  # for what hangs
        if (home / "lists/map.sock").exists():
            return True
        if server.poll() is not None:
            return False
        time.sleep(0.1)
    return False


def asked(path, question):
    """A question of Postfix's socketmap protocol: netstrings both ways."""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(30)
        s.connect(str(path))
        s.sendall(b"%d:%s," % (len(question), question))
        return s.recv(4096)


def serves(home, command, config, layers):
    unpack(layers, home / "root")
    assert (home / "root/usr/bin/umbel").read_bytes() == Path(command).read_bytes(), "another command"
    (home / "root/lists").mkdir()
    (home / "lists").mkdir()
    os.chmod(home, 0o755)
    os.chown(home / "lists", NOBODY, NOBODY)
    subprocess.run([command, "build", "-q", "-p", "1e-6", "-o", home / "lists/names.umb"], input=b"ada\nbob\n", check=True)
    server = start(home, config, ["serve", "--socketmap", "unix:/lists/map.sock", "--answer", "REJECT",
                                  "/lists/names.umb"])
    try:
        assert asked(home / "lists/map.sock", b"names bob") == b"9:OK REJECT,"
        assert asked(home / "lists/map.sock", b"names eve").startswith(b"9:NOTFOUND")
    finally:
        server.terminate()
        server.wait(30)


def main(image, command):
    layout = Layout(image)
    images = {architecture: (config, layers) for architecture, config, layers in layout.images()}
    assert set(images) == MACHINES and layout.used == set(layout.files), "not what was expected"
    read_by_skopeo(image)
    home = Path(tempfile.mkdtemp())
    try:
        serves(home, command, *images["amd64"])
    finally:
        shutil.rmtree(home)
    print(f"{len(images)} machines, {len(layout.files)} files; umbel serve answers")


main(*sys.argv[1:])
