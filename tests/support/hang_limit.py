# SPDX-License-Identifier: MIT
"""A limit of time for each test of pytest: for those that hang, not for machines that are busy."""
import signal

import pytest

SECONDS = 900


@pytest.fixture(autouse=True)
def hang_limit():
    def stop(*_):
        raise TimeoutError(f"the test hangs: it has taken {SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
