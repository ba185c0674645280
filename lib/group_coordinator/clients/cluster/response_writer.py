"""Writer of responses from the driver: for a small batch a Spark job would take longer than the writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.lasting_producer import LastingProducer
from group_coordinator.runtime.outputs import Responses
from group_coordinator.settings import RECORD_OVERHEAD, JobSettings

_TIMEOUT_S = 150
"""Timeout, longer than kafka-python tries to deliver a record."""
_GATHER_MS = 2
"""Time to collect records for one request."""


class ResponseWriter:
    """Producer of responses that connects again after a failure.

    Args:
        connection: to the cluster.
        job: settings of the topic and of the longest response.
        partitions: partition count; a client that names another partition gets its response in the partition of its group.
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
            # Every client can read gzip without another library.
            compression_type="gzip",
        )

    @contextmanager
    def writing(self, responses: Iterable[Responses]) -> Iterator[None]:
        """Write the responses while the block runs; at its end the brokers have them all.

        Raises:
            ChannelError: the cluster does not accept all; some may be written.
        """
        with self._producer.reported_failures():
            present = self._present()
            sent = [
                self._producer.send(
                    self._topic,
                    key=group_id.encode(),
                    value=value,
                    # Without a partition the producer chooses by the key, the group id.
                    partition=partition if partition in present else None,
                )
                for group_id, partition, lines in responses
                for value in lines.split(b"\n")
            ]
            yield
            for future in sent:
                future.get(_TIMEOUT_S)

    def _present(self) -> set[int]:
        """Partition numbers of the topic."""
        known = self._producer.partitions_for(self._topic)
        if len(known) >= self._partitions():
            return known
        # The producer's metadata is old, and a new connection reads it again.
        self.close()
        return self._producer.partitions_for(self._topic)

    def close(self) -> None:
        """Disconnect; the next responses connect again."""
        self._producer.close()
