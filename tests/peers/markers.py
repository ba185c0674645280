"""The follower of transactions' markers, as the job has it, for the job in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread

from msgspec import json

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.marker_reader import MarkerReader
from group_coordinator.driver.tasks.transaction_markers import AwaitedMarkers, MarkerFollower
from group_coordinator.runtime.outputs import AwaitedMarkersLine
from tests.peers.in_process_job import InProcessJob

_INTERVAL_S = 0.1


class _Forgotten:
    """Files that nobody will read: a job in this process never begins again."""

    def names_in(self, _name: str) -> set[str]:
        return set()

    def read(self, _name: str) -> str | None:
        return None

    def write(self, _name: str, _text: str) -> None:
        pass

    def remove(self, _name: str) -> None:
        pass


@contextmanager
def following_of_markers(
    cluster: Connection, job: InProcessJob, loop: asyncio.AbstractEventLoop
) -> Iterator[None]:
    """During the block groups hear how transactions ended."""
    awaited, stop, reader = AwaitedMarkers(_Forgotten()), Event(), MarkerReader(cluster)

    def send(events: Sequence[tuple[str, bytes]]) -> None:
        for _, value in events:
            loop.call_soon_threadsafe(job.tell, value)

    def note(group_id: str, since: dict[int, int]) -> None:
        awaited.note([json.encode(AwaitedMarkersLine(group_id, since)).decode()])

    job.on_awaited_markers = note
    reader.make_topic()
    follower = MarkerFollower(awaited, reader, send)
    thread = Thread(target=follower.run, args=(stop, _INTERVAL_S), name="markers")
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        reader.close()
