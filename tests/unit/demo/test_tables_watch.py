from __future__ import annotations

import logging
import threading
from itertools import count
from threading import Event

import pytest

from group_coordinator.clients.errors import QueryError, TablesUnavailableError
from group_coordinator.demo.tables_watch import running


def test_looks_continue_after_a_failed_look_and_end_with_the_block(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Tables that do not exist yet are no failure."""
    looks, third = count(1), Event()
    failures = {1: TablesUnavailableError("not created yet"), 2: QueryError("a file is missing")}

    def look() -> None:
        number = next(looks)
        if number in failures:
            raise failures[number]
        third.set()

    with caplog.at_level(logging.WARNING), running(look, every_s=0.001):
        assert third.wait(30)

    assert "tables" not in {thread.name for thread in threading.enumerate()}
    assert [record.message for record in caplog.records] == ["a look into the tables failed"]
