#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""type_on_terminal.py TEXT COMMAND... - runs a command that has a terminal, but only pipes as standard
streams; types TEXT when it has prompted, or sends it the signal of that name, and prints the outcome."""
import fcntl
import os
import pty
import signal
import subprocess
import sys
import termios
import time

ECHO_FLAGS = 3  # index of c_lflag in what tcgetattr returns
HANG = 600  # seconds: for a command that hangs, not for a machine that is busy


def shows(fd):
    return bool(termios.tcgetattr(fd)[ECHO_FLAGS] & termios.ECHO)


def main(text, command):
    master, slave = pty.openpty()
    before, seen, last = shows(slave), b"", time.monotonic() + HANG

    def own_terminal():
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):  # ignored in a shell's background
            signal.signal(number, signal.SIG_DFL)
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             preexec_fn=own_terminal, pass_fds=(slave,))
    os.set_blocking(master, False)
    while b": " not in seen and time.monotonic() < last and child.poll() is None:
        try:
            seen += os.read(master, 4096)
        except BlockingIOError:
            time.sleep(0.01)
    asked = shows(slave)
    if text in signal.Signals.__members__:
        child.send_signal(signal.Signals[text])
    else:
        os.write(master, text.encode())
    out, err = child.communicate(timeout=HANG)
    try:
        seen += os.read(master, 65536)
    except BlockingIOError:
        pass
    print(f"terminal={seen.decode()!r}")
    print(f"echo={before},{asked},{shows(slave)}")
    print(f"status={child.returncode}")
    print(f"out={out.decode()!r}")
    print(f"err={err.decode()!r}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
