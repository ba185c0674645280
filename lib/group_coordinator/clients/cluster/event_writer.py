"""Writer of the job's own events."""

from __future__ import annotations

from collections.abc import Sequence

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.lasting_producer import LastingProducer

_TIMEOUT_S = 30


class EventWriter:
    """Producer of events that connects again after a failure."""

    def __init__(self, connection: Connection, events_topic: str) -> None:
        self._events_topic = events_topic
        self._producer = LastingProducer(connection, acks="all")

    def write(self, events: Sequence[tuple[str, bytes]]) -> None:
        """Write pairs of group id and value; return after all acknowledgements.

        Raises:
            ChannelError: the cluster does not accept all; some may be written.
        """
        with self._producer.reported_failures():
            sent = [
                self._producer.send(self._events_topic, key=group_id.encode(), value=value)
                for group_id, value in events
            ]
            # All records are sent before the first wait, so that they share requests.
            for future in sent:
                future.get(_TIMEOUT_S)

    def close(self) -> None:
        """Disconnect from the cluster, after which the next write connects."""
        self._producer.close()
