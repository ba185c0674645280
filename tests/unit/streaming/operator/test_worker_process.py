from __future__ import annotations

import gc
import socket
from collections.abc import Iterator

import pytest

from group_coordinator.streaming.operator.worker_process import (
    cheaper_while_there,
    search_only_what_is_new,
)

MANY = 50_000


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    search_only_what_is_new.cache_clear()
    yield
    gc.unfreeze()


def a_task() -> None:
    """Spark drops the function when the task ends."""

    def function() -> None: ...

    cheaper_while_there(function)


def searched() -> int:
    """How many objects a full collection looks at."""
    return len(gc.get_objects())


def test_what_is_there_when_the_first_task_begins_is_not_searched() -> None:
    there = [[] for _ in range(MANY)]
    a_task()
    assert searched() < MANY
    assert len(there) == MANY


def test_what_comes_later_is_searched() -> None:
    """Or what others leave in a worker would pile up."""
    a_task()
    left = [[] for _ in range(MANY)]
    a_task()
    assert searched() >= MANY
    assert len(left) == MANY


def test_the_cycles_of_a_task_are_found() -> None:
    a_task()
    cycle: list[object] = []
    cycle.append(cycle)
    del cycle
    assert gc.collect() > 0


def test_other_functions_of_the_worker_collect_as_often_as_before() -> None:
    before = gc.get_threshold()
    a_task()
    assert gc.get_threshold() == before


@pytest.mark.skipif(not hasattr(socket, "TCP_QUICKACK"), reason="Linux alone has it")
def test_connections_acknowledge_at_once() -> None:
    """Other sockets are left alone."""
    option = socket.IPPROTO_TCP, socket.TCP_QUICKACK
    with (
        socket.socket(socket.AF_UNIX),
        socket.socket(type=socket.SOCK_DGRAM),
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as connection,
    ):
        connection.setsockopt(*option, 0)
        a_task()
        assert connection.getsockopt(*option) == 1
