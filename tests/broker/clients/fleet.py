"""Members that stay alive while a test looks at their group."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread

from group_coordinator.clients.member.member import GroupMember
from group_coordinator.clients.member.membership import MemberState
from tests.support.until import until

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


def until_all_have(
    members: Sequence[GroupMember], partition_count: int, *, at_least: int = 0
) -> None:
    """Wait until the members share so many partitions, each of them so many at least."""
    _until(
        members,
        lambda: (
            all_have(members, partition_count)
            and all(len(member.assignment) >= at_least for member in members)
        ),
        f"shares of {partition_count} partitions, of {at_least} at least",
    )


def until_shared(members: Sequence[GroupMember], *sizes: int) -> None:
    """Wait until the members have shares of these sizes, whoever has which."""
    _until(
        members,
        lambda: (
            all_have(members, sum(sizes))
            and sorted(len(member.assignment) for member in members) == [*sizes]
        ),
        f"shares of {sizes}",
    )


def _until(members: Sequence[GroupMember], condition: Callable[[], bool], awaited: str) -> None:
    def told() -> str:
        found = [(member.state, member.generation_id, member.assignment) for member in members]
        return f"{awaited}: {found}"

    until(condition, seconds=DEADLINE_S, awaited=told)


def all_have(members: Sequence[GroupMember], partition_count: int) -> bool:
    """Whether the members are in one generation and share so many partitions."""
    return (
        {member.state for member in members} == {MemberState.STABLE}
        and len({member.generation_id for member in members}) == 1
        and sum(len(member.assignment) for member in members) == partition_count
    )
