"""Reader of the transaction markers in __consumer_offsets.

kafka-python's consumer skips control records, so the partitions are fetched here, by its own connections and its parser
of batches. A request to a leader fetches all of its partitions, and returns without waiting for records.
"""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from kafka.errors import KafkaError, NoError, OffsetOutOfRangeError, for_code
from kafka.net.compat import KafkaNetClient
from kafka.protocol.consumer import FetchRequest, ListOffsetsRequest
from kafka.protocol.metadata import FindCoordinatorRequest, MetadataRequest
from kafka.record import MemoryRecords

from group_coordinator.clients.cluster.connection import BOOTSTRAP_TIMEOUT_MS, Connection
from group_coordinator.clients.cluster.lasting_client import LastingClient
from group_coordinator.codecs.offsets_topic import ANY_GROUP, OFFSETS_TOPIC

_TIMEOUT_MS = 10_000
_PARTITION_BYTES = 1 << 20
_ANSWER_BYTES = 1 << 23
_LONGEST_ANSWER_BYTES = 1 << 27
"""Limit of a response: a broker returns the first batch whole, however long it is."""
_NEWEST_FETCH_BY_NAME = 12
_NEWEST_FIND_OF_ONE = 3
_EARLIEST, _LATEST = -2, -1
_IDLE_S = 60.0
"""Age at which an unused connection is replaced: brokers close it after some minutes."""

_log = logging.getLogger(__name__)


class Marker(NamedTuple):
    """End of a producer's transaction in a partition."""

    offset: int
    producer_id: int
    producer_epoch: int
    commits: bool


class Stretch(NamedTuple):
    """Markers of a partition, in order, and the next offset to read; `left` is the number of records behind it."""

    markers: list[Marker]
    next_offset: int
    left: int = 0


class MarkerReader(LastingClient[KafkaNetClient]):
    """Fetches markers over the same connections, and connects again after a failure. All methods raise ChannelErrors."""

    def __init__(self, connection: Connection, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(connection, _connected)
        self._clock = clock
        self._used_s = clock()
        self._leaders: dict[int, int] = {}

    def make_topic(self) -> None:
        """Make the brokers create the topic if it is missing: without the topic no marker is written."""
        with self.reported_failures():
            response = self._ask_any(
                FindCoordinatorRequest(key=ANY_GROUP, key_type=0, max_version=_NEWEST_FIND_OF_ONE)
            )
            _check(response.error_code)

    def partition_count(self) -> int:
        """Partition count of the topic; 0: it does not exist yet."""
        with self.reported_failures():
            self._leaders = self._described()
        return len(self._leaders)

    def read(self, positions: Mapping[int, int]) -> dict[int, Stretch]:
        """Read from these offsets by partition; a partition without a known leader is left out."""
        found: dict[int, Stretch] = {}
        with self.reported_failures():
            if self._client is None or not self._leaders:
                self._leaders = self._described()
            by_leader: defaultdict[int, dict[int, int]] = defaultdict(dict)
            for partition, offset in positions.items():
                by_leader[self._leaders.get(partition, -1)][partition] = offset
            # The next read looks for the leaders again.
            if by_leader.pop(-1, None):
                self._leaders = {}
            for leader, asked in by_leader.items():
                found |= self._fetched(leader, asked)
        return found

    def _ask(self, request: Any, node_id: int) -> Any:
        return self.opened().send_and_receive(node_id, request, _TIMEOUT_MS)

    def _ask_any(self, request: Any) -> Any:
        """Send a request to brokers in turn until a broker responds."""
        *others, last = sorted(broker.node_id for broker in self.opened().cluster.brokers())
        for node_id in others:
            with suppress(KafkaError):
                return self._ask(request, node_id)
        # The error of the last broker is raised.
        return self._ask(request, last)

    def opened(self) -> KafkaNetClient:
        """Open the client, and replace it after a pause."""
        now_s = self._clock()
        if now_s - self._used_s > _IDLE_S:
            self.close()
        # Set at each use, so that only idle connections are replaced.
        self._used_s = now_s
        return super().opened()

    def _described(self) -> dict[int, int]:
        """Leaders by partition, -1 without a leader."""
        wanted = MetadataRequest.MetadataRequestTopic(name=OFFSETS_TOPIC)
        response = self._ask_any(MetadataRequest(topics=[wanted], allow_auto_topic_creation=False))
        [topic] = response.topics
        _check(topic.error_code)
        return {each.partition_index: each.leader_id for each in topic.partitions}

    def _fetched(self, leader: int, positions: Mapping[int, int]) -> dict[int, Stretch]:
        response = self._ask(_fetch(positions), leader)
        found = {}
        for each in (each for topic in response.responses for each in topic.partitions):
            partition, error = each.partition_index, for_code(each.error_code)
            if error is NoError:
                found[partition] = _stretch(each, positions[partition])
            # Retention may have removed the offset, or an unclean leader may have cut the log.
            elif error is OffsetOutOfRangeError:
                nearest = self._nearest(leader, partition, positions[partition])
                found[partition] = Stretch([], nearest)
            elif error.retriable:
                self._leaders = {}
            else:
                raise error
        return found

    def _nearest(self, leader: int, partition: int, offset: int) -> int:
        """Offset to continue at: the log begins behind the offset, or ends before it."""
        first, end = (self._offset_at(leader, partition, at) for at in (_EARLIEST, _LATEST))
        nearest = max(first, min(offset, end))
        _log.warning(
            "transaction markers: %s-%d has the offsets %d to %d, and not %d: groups that wait for a marker there "
            "wait on",
            *(OFFSETS_TOPIC, partition, first, end, offset),
        )
        return nearest

    def _offset_at(self, leader: int, partition: int, timestamp: int) -> int:
        wanted = {"partition_index": partition, "current_leader_epoch": -1, "timestamp": timestamp}
        topic = ListOffsetsRequest.ListOffsetsTopic
        asked = topic(name=OFFSETS_TOPIC, partitions=[topic.ListOffsetsPartition(**wanted)])
        response = self._ask(
            ListOffsetsRequest(replica_id=-1, isolation_level=0, topics=[asked], min_version=1),
            leader,
        )
        [[found]] = [each.partitions for each in response.topics]
        if found.error_code:
            raise for_code(found.error_code)
        return int(found.offset)


def _check(code: int) -> None:
    # A retriable error, as while the topic is created, occurs again when the topic is read.
    error = for_code(code)
    if error is not NoError and not error.retriable:
        raise error


def _stretch(fetched: Any, position: int) -> Stretch:
    markers, next_offset = markers_in(fetched.records or b"", position)
    return Stretch(markers, next_offset, max(0, fetched.high_watermark - next_offset))


def markers_in(records: bytes, position: int) -> tuple[list[Marker], int]:
    """Markers in the batches of a response, and the offset behind them; the last batch may be incomplete."""
    markers: list[Marker] = []
    batches = MemoryRecords(records)
    while (batch := batches.next_batch()) is not None:
        position = batch.next_offset
        # Only control batches have markers.
        if batch.is_control_batch:
            markers += [
                Marker(record.offset, batch.producer_id, batch.producer_epoch, record.commit)
                for record in batch
                # Other control records exist, such as leader changes.
                if record.commit or record.abort
            ]
    return markers, position


def _connected(**options: Any) -> KafkaNetClient:
    client = KafkaNetClient(receive_message_max_bytes=_LONGEST_ANSWER_BYTES, **options)
    try:
        client.check_version(timeout_ms=BOOTSTRAP_TIMEOUT_MS)
    except KafkaError:
        client.close()
        raise
    return client


def _fetch(positions: Mapping[int, int]) -> FetchRequest:
    topic = FetchRequest.FetchTopic
    partitions = [
        topic.FetchPartition(
            partition=partition,
            current_leader_epoch=-1,
            fetch_offset=offset,
            last_fetched_epoch=-1,
            log_start_offset=-1,
            partition_max_bytes=_PARTITION_BYTES,
        )
        for partition, offset in sorted(positions.items())
    ]
    return FetchRequest(
        replica_id=-1,
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=_ANSWER_BYTES,
        # An open transaction must not hide the markers of other transactions behind it.
        isolation_level=0,
        session_id=0,
        session_epoch=-1,
        topics=[topic(topic=OFFSETS_TOPIC, partitions=partitions)],
        forgotten_topics_data=[],
        rack_id="",
        max_version=_NEWEST_FETCH_BY_NAME,
    )
