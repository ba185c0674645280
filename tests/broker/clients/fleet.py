"""Members that stay alive while a test looks at their group."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread

from group_coordinator.clients.member.member import GroupMember
from group_coordinator.clients.member.options import MemberState

DEADLINE_S = 30


@contextmanager
def polled(members: Sequence[GroupMember]) -> Iterator[None]:
    """One thread polls all members."""
    stopping = Event()

    def poll() -> None:
        while not stopping.wait(0.05):
            for member in members:
                member.poll()

    thread = Thread(target=poll)
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        thread.join()


def until(condition: Callable[[], bool]) -> None:
    """Wait for a condition, and fail if it does not come true."""
    deadline_s = time.monotonic() + DEADLINE_S
    patience = Event()
    while not condition():
        assert time.monotonic() < deadline_s, "waited in vain"
        patience.wait(0.05)


def all_have(members: Sequence[GroupMember], partition_count: int) -> bool:
    """Whether the members are in one generation and share so many partitions."""
    return (
        {member.state for member in members} == {MemberState.STABLE}
        and len({member.generation_id for member in members}) == 1
        and sum(len(member.assignment) for member in members) == partition_count
    )
