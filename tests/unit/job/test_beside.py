from __future__ import annotations

from threading import Event

import pytest

from group_coordinator.job.beside import running_beside


def test_what_runs_beside_ends_with_the_block() -> None:
    stop, told = Event(), []

    def run(ended: Event) -> None:
        told.append(ended.wait(10))

    with running_beside(run, stop, "beside"):
        assert told == []

    assert told == [True]
    assert not stop.is_set()


def test_its_failure_ends_the_run_and_is_told() -> None:
    stop = Event()

    def run(_ended: Event) -> None:
        raise OSError("the disk is gone")

    def main() -> None:
        with running_beside(run, stop, "beside"):
            assert stop.wait(10)

    with pytest.raises(OSError, match="the disk is gone"):
        main()


def test_the_failure_of_the_block_goes_first() -> None:
    def run(_ended: Event) -> None:
        raise OSError("beside")

    def main() -> None:
        with running_beside(run, Event(), "beside"):
            raise ValueError("in the block")

    with pytest.raises(ValueError, match="in the block"):
        main()
