"""The responses topic as it goes by, all of it, from now on: a thread of its own reads it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from threading import Event

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import KafkaError

from group_coordinator.background import Background, keep_trying
from group_coordinator.clients.channel_errors import ChannelError, TopicMissingError
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.gateway.job.events_out import CLOSE_TIMEOUT_S

_POLL_MS = 100
_RETRY_S = 1.0
_NEW_PARTITIONS_MS = 10_000
"""How often the client asks for the topic's partitions; it may get more while the gateway runs."""

_log = logging.getLogger(__name__)


class ResponsesIn:
    """Every response that anybody gets: who reads them all knows which groups were made and deleted."""

    def __init__(
        self,
        connection: Connection,
        responses_topic: str,
        on_values: Callable[[list[bytes]], None],
    ) -> None:
        """`on_values` gets what has come, in the reading thread."""
        self._connection = connection
        self._responses_topic = responses_topic
        self._on_values = on_values
        self._thread = Background(self._run, "gateway-responses")
        self._positions: dict[int, int] = {}
        """Kept while the topic cannot be read, so that nothing is missed."""
        self.partitions: tuple[int, ...] = ()
        """Those that are read; none: the topic cannot be read."""

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def close(self) -> None:
        """Stop reading."""
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
        self._connection.local_address()
        consumer = self._connection.open(
            KafkaConsumer,
            allow_auto_create_topics=False,
            enable_auto_commit=False,
            # Positions are set below; where retention deletes what is there, the oldest answer left is the right one.
            auto_offset_reset="earliest",
            metadata_max_age_ms=_NEW_PARTITIONS_MS,
        )
        try:
            self._take_up(consumer)
            while not ended.is_set():
                for partition, records in consumer.poll(timeout_ms=_POLL_MS).items():
                    values = [record.value for record in records]
                    self._on_values([value for value in values if value is not None])
                    self._positions[partition.partition] = records[-1].offset + 1
                self._add_new_partitions(consumer)
        finally:
            consumer.close()

    def _take_up(self, consumer: KafkaConsumer) -> None:
        """Go on where reading ended, at first with what comes from now on."""
        numbers = sorted(consumer.partitions_for_topic(self._responses_topic) or ())
        if not numbers:
            raise TopicMissingError(self._responses_topic)
        partitions = [TopicPartition(self._responses_topic, number) for number in numbers]
        consumer.assign(partitions)
        for partition, end in consumer.end_offsets(partitions).items():
            consumer.seek(partition, self._positions.setdefault(partition.partition, end))
        self.partitions = tuple(numbers)

    def _add_new_partitions(self, consumer: KafkaConsumer) -> None:
        numbers = sorted(consumer.partitions_for_topic(self._responses_topic) or ())
        if len(numbers) <= len(self.partitions):
            return
        # Those that are read already keep their positions; a new one is read from its beginning.
        consumer.assign([TopicPartition(self._responses_topic, number) for number in numbers])
        self.partitions = tuple(numbers)
