"""Commits of what was printed: now and then, before partitions go, and at the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from functools import partial

import click
from kafka import TopicPartition

from group_coordinator.clients.errors import ClientError
from group_coordinator.clients.offset_messages import Offsets
from group_coordinator.clients.results import PartitionResults

CLOSE_TIMEOUT_S = 5.0
"""How long the end waits for the job."""


class Commits:
    """Sends what has changed.

    Args:
        send: the member's commit.
        interval_s: between two commits; None: nothing is ever committed.
        clock: seconds, never going back.
    """

    def __init__(
        self,
        send: Callable[[Offsets], Future[PartitionResults]],
        interval_s: float | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._send = send
        self._interval_s = interval_s
        self._clock = clock
        self._due_s = clock() + (interval_s or 0.0)
        self._committed: dict[TopicPartition, int] = {}
        self._last: Future[PartitionResults] | None = None

    def begin(self, committed: Mapping[TopicPartition, int]) -> None:
        """Partitions were assigned, and these offsets of them are committed already."""
        self._committed |= committed

    def commit_if_due(self, positions: Callable[[], Mapping[TopicPartition, int]]) -> None:
        """Commit what was printed, if the interval has passed and the last commit is answered."""
        is_answered = self._last is None or self._last.done()
        if self._interval_s is not None and is_answered and self._clock() >= self._due_s:
            self._due_s = self._clock() + self._interval_s
            self.commit(positions())

    def commit(self, positions: Mapping[TopicPartition, int]) -> None:
        """Commit these, without waiting for the answer."""
        changed = {
            partition: offset
            for partition, offset in positions.items()
            if self._committed.get(partition) != offset
        }
        if self._interval_s is None or not changed:
            return
        self._committed |= changed
        self._last = self._send(changed)
        self._last.add_done_callback(partial(self._take, changed))

    def close(self) -> None:
        """Wait for the answer to the last commit, but not for ever."""
        if self._last is not None:
            wait([self._last], CLOSE_TIMEOUT_S)

    def _take(
        self, offsets: Mapping[TopicPartition, int], answer: Future[PartitionResults]
    ) -> None:
        """In the thread of the channel."""
        try:
            answer.result().all()
        except ClientError as error:
            for partition in offsets:
                self._committed.pop(partition, None)
            click.echo(f"Offsets were not committed: {error}", err=True)
