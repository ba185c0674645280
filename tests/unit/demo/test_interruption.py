from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from group_coordinator.demo.stage import Interrupted, Interruption

TWICE = """
import os, signal
from group_coordinator.demo.stage import Interrupted, Interruption
with Interruption() as interruption:
    os.kill(os.getpid(), signal.SIGTERM)
    try:
        interruption.pause(60)
    except Interrupted:
        pass
os.kill(os.getpid(), signal.SIGINT)
print("last words")
"""


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_ends_the_next_wait(number: int, status: int) -> None:
    before = [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    try:
        with Interruption() as interruption:
            interruption.pause(0)
            os.kill(os.getpid(), number)

            with pytest.raises(Interrupted) as raised:
                interruption.pause(60)

            assert interruption.is_requested
            assert raised.value.exit_status == status
    finally:
        for one, handler in zip(
            (signal.SIGINT, signal.SIGTERM, signal.SIGHUP), before, strict=True
        ):
            signal.signal(one, handler)


def test_without_a_signal_everything_is_as_before() -> None:
    before = signal.getsignal(signal.SIGINT)

    with Interruption() as interruption:
        assert not interruption.is_requested

    assert signal.getsignal(signal.SIGINT) is before


def test_a_second_ctrl_c_does_not_disturb_the_last_words() -> None:
    done = subprocess.run([sys.executable, "-c", TWICE], capture_output=True, text=True, check=True)  # noqa: S603 - a fixed program

    assert done.stdout == "last words\n"
