from __future__ import annotations

import logging
import threading
from itertools import count
from threading import Event

import pytest

from group_coordinator.clients.sql_tables import QueryError, TablesUnavailableError
from group_coordinator.demo.looking import looking


def test_looks_go_on_after_one_that_fails_and_end_with_the_block(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Tables that nobody has made yet are no failure."""
    looks, third = count(1), Event()
    failures = {1: TablesUnavailableError("not made yet"), 2: QueryError("a file is gone")}

    def look() -> None:
        number = next(looks)
        if number in failures:
            raise failures[number]
        third.set()

    with caplog.at_level(logging.WARNING), looking(look, every_s=0.001):
        assert third.wait(30)

    assert "tables" not in {thread.name for thread in threading.enumerate()}
    assert [record.message for record in caplog.records] == ["a look into the tables failed"]
