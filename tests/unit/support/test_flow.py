from __future__ import annotations

from threading import Event

from tests.support.flow import Flow


class Doubtful(Flow):
    def __init__(self) -> None:
        super().__init__(self._wait, self._fail)
        self.waited = Event()

    def _wait(self) -> None:
        self._over.wait()
        self.waited.set()

    def _fail(self) -> None:
        raise ValueError("no more")


def test_what_ends_early_is_told_and_the_rest_ends_with_the_block() -> None:
    with Doubtful() as flow:
        assert not flow.waited.is_set()

    assert flow.waited.is_set()
    assert flow.failures == ["_fail: ValueError('no more')"]
