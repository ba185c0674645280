"""Reader of the whole responses topic, from now on, in a thread."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from functools import partial
from threading import Event

from kafka.errors import KafkaError

from group_coordinator.background import Background, keep_trying
from group_coordinator.clients.channel.channel import ResponseReader
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.errors import ChannelError
from group_coordinator.gateway.job.events_out import CLOSE_TIMEOUT_S

_POLL_MS = 100
_RETRY_S = 1.0
_NEW_PARTITIONS_MS = 10_000
"""Interval of metadata requests, as the topic may get more partitions while the gateway runs."""

_log = logging.getLogger(__name__)


class ResponsesIn:
    """Reader of the responses to all clients, which show created and deleted groups."""

    def __init__(
        self,
        connection: Connection,
        responses_topic: str,
        on_values: Callable[[Iterable[bytes]], None],
    ) -> None:
        """Take the callback `on_values` for new responses, which the reading thread calls."""
        self._connection = connection
        self._responses_topic = responses_topic
        self._on_values = on_values
        self._thread = Background(self._run, "gateway-responses")
        self._positions: dict[int, int] = {}
        """Next offsets by partition, kept while the topic cannot be read, so that nothing is lost."""
        self.partitions: Sequence[int] = ()
        """Partitions that are read; empty: the topic cannot be read."""

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._thread.end(CLOSE_TIMEOUT_S)

    def _run(self, ended: Event) -> None:
        try:
            keep_trying(
                partial(self._read, ended),
                ended,
                pause_s=_RETRY_S,
                passes=lambda failure: isinstance(failure, KafkaError | ChannelError),
                say=lambda failure, _: _log.warning("responses cannot be read: %s", failure),
            )
        finally:
            self.partitions = ()

    def _read(self, ended: Event) -> None:
        self.partitions = ()
        reader = ResponseReader(
            self._connection,
            self._responses_topic,
            self._positions,
            metadata_max_age_ms=_NEW_PARTITIONS_MS,
        )
        with closing(reader):
            reader.begin(reader.partitions_of(self._responses_topic))
            while not ended.is_set():
                # Set after `begin`, so that no request names a partition that is not read yet.
                self.partitions = reader.numbers
                self._on_values(reader.poll(_POLL_MS))
                reader.add_new_partitions()
