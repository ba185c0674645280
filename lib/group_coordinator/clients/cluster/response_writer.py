"""Writes responses to their topic from the driver: for a few of them a job of Spark's takes longer than their way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.lasting_producer import LastingProducer
from group_coordinator.runtime.outputs import Responses
from group_coordinator.settings import RECORD_OVERHEAD, JobSettings

_TIMEOUT_S = 150
"""Longer than kafka-python tries to deliver a record."""
_GATHER_MS = 2
"""What comes one after the other goes in one request."""


class ResponseWriter:
    """Keeps one producer, and connects again after a failure.

    Args:
        connection: the cluster.
        job: says which topic, and how long a response may be.
        partitions: how many it has; a client that names another one gets its answer in the partition of its group.
    """

    def __init__(
        self, connection: Connection, job: JobSettings, partitions: Callable[[], int]
    ) -> None:
        self._topic = job.responses_topic
        self._partitions = partitions
        self._producer = LastingProducer(
            connection,
            acks="all",
            linger_ms=_GATHER_MS,
            max_request_size=job.response_max_bytes + RECORD_OVERHEAD,
            # Every client can read this codec without another library.
            compression_type="gzip",
        )

    @contextmanager
    def writing(self, responses: Iterable[Responses]) -> Iterator[None]:
        """Write them while the block runs; after it the brokers have them all.

        Raises:
            ChannelError: the cluster does not take them all; some may be written.
        """
        with self._producer.failures_told():
            present = self._present()
            sent = [
                self._producer.send(
                    self._topic,
                    key=group_id.encode(),
                    value=value,
                    partition=partition if partition in present else None,
                )
                for group_id, partition, lines in responses
                for value in lines.split(b"\n")
            ]
            yield
            for future in sent:
                future.get(_TIMEOUT_S)

    def _present(self) -> set[int]:
        """The topic's partitions."""
        known = self._producer.partitions_for(self._topic)
        if len(known) >= self._partitions():
            return known
        self.close()
        return self._producer.partitions_for(self._topic)

    def close(self) -> None:
        """Disconnect."""
        self._producer.close()
