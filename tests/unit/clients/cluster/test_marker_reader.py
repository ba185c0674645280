"""Markers among the batches of a fetch, and what is done about partitions that move."""

from __future__ import annotations

import struct
from types import SimpleNamespace
from typing import Any

import pytest
from kafka.errors import KafkaConnectionError
from kafka.protocol.consumer import FetchRequest, ListOffsetsRequest
from kafka.protocol.metadata import MetadataRequest
from kafka.record.default_records import DefaultRecordBatchBuilder

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.marker_reader import (
    Marker,
    MarkerReader,
    Stretch,
    markers_in,
)
from group_coordinator.clients.errors import AccessDeniedError, BrokerUnreachableError

# As a broker of Kafka 4.4.0 wrote it: base offset 7, producer 1001, epoch 2, a record with the key (version 0, type 1).
_CONTROL = 0x30


def batch(
    offset: int, producer: int = 17, epoch: int = 2, *, key: bytes | None = None, records: int = 1
) -> bytes:
    """A batch with this offset first; with a key, the control batch of a marker."""
    builder = DefaultRecordBatchBuilder(2, 0, True, producer, epoch, 0, 1 << 20)
    for number in range(records):
        builder.append(number, timestamp=1_000, key=key or b"k", value=b"\0" * 6, headers=[])
    data = bytearray(builder.build())
    struct.pack_into(">q", data, 0, offset)
    if key is not None:
        struct.pack_into(">h", data, 21, _CONTROL)
    return bytes(data)


def marker(offset: int, producer: int = 17, kind: int = 1) -> bytes:
    return batch(offset, producer, key=struct.pack(">hh", 0, kind))


def test_markers_are_found_among_other_batches() -> None:
    records = batch(5, records=3) + marker(8) + marker(9, 18, kind=0) + batch(10, records=2)

    assert markers_in(records, 5) == ([Marker(8, 17, 2, True), Marker(9, 18, 2, False)], 12)


def test_a_batch_that_is_cut_off_is_for_the_next_time() -> None:
    assert markers_in(marker(8) + marker(9)[:-1], 8) == ([Marker(8, 17, 2, True)], 9)


def test_where_nothing_is_one_stays() -> None:
    assert markers_in(b"", 8) == ([], 8)


def test_control_records_of_other_kinds_are_no_markers() -> None:
    assert markers_in(marker(8, kind=2), 8) == ([], 9)


class Brokers:
    """Two brokers as kafka-python shows them, each with the partitions that it leads."""

    def __init__(self) -> None:
        self.leaders = {0: 1, 1: 2, 2: 1}
        self.logs = {0: marker(3), 1: marker(5), 2: b""}
        self.errors: dict[int, int] = {}
        self.is_away = False
        self.down: set[int] = set()
        self.asked: list[tuple[str, int]] = []
        self.closed = 0
        nodes = [SimpleNamespace(node_id=1), SimpleNamespace(node_id=2)]
        self.cluster = SimpleNamespace(brokers=lambda: nodes)

    def send_and_receive(self, node: int, request: Any, _timeout_ms: int) -> Any:
        if self.is_away or node in self.down:
            raise KafkaConnectionError("gone")
        self.asked.append((type(request).__name__, node))
        match request:
            case MetadataRequest():
                return self._metadata()
            case FetchRequest():
                return self._fetched(request)
            case ListOffsetsRequest():
                return self._offset(request)
        raise AssertionError(request)

    def close(self) -> None:
        self.closed += 1

    def _metadata(self) -> Any:
        partitions = [
            SimpleNamespace(partition_index=number, leader_id=leader)
            for number, leader in self.leaders.items()
        ]
        topic = SimpleNamespace(error_code=self.errors.get(-1, 0), partitions=partitions)
        return SimpleNamespace(topics=[topic])

    def _fetched(self, request: FetchRequest) -> Any:
        partitions = [
            SimpleNamespace(
                partition_index=each.partition,
                error_code=self.errors.get(each.partition, 0),
                records=self.logs[each.partition],
                high_watermark=9,
            )
            for each in request.topics[0].partitions
        ]
        return SimpleNamespace(responses=[SimpleNamespace(partitions=partitions)])

    def _offset(self, request: ListOffsetsRequest) -> Any:
        [asked] = request.topics[0].partitions
        found = SimpleNamespace(error_code=0, offset={-2: 100, -1: 200}[asked.timestamp])
        return SimpleNamespace(topics=[SimpleNamespace(partitions=[found])])


@pytest.fixture
def brokers(monkeypatch: pytest.MonkeyPatch) -> Brokers:
    made = Brokers()
    monkeypatch.setattr(Connection, "local_address", lambda _: "127.0.0.1")
    monkeypatch.setattr(Connection, "open", lambda *_: made)
    return made


@pytest.fixture
def reader(brokers: Brokers) -> MarkerReader:  # noqa: ARG001 - it connects to them
    return MarkerReader(Connection("127.0.0.1:9092"))


def test_each_leader_is_asked_once_for_all_its_own(reader: MarkerReader, brokers: Brokers) -> None:
    assert reader.partition_count() == 3
    assert reader.read({0: 2, 1: 5, 2: 9}) == {
        0: Stretch([Marker(3, 17, 2, True)], 4, 5),
        1: Stretch([Marker(5, 17, 2, True)], 6, 3),
        2: Stretch([], 9, 0),
    }
    assert brokers.asked == [("MetadataRequest", 1), ("FetchRequest", 1), ("FetchRequest", 2)]


def test_a_partition_that_moves_is_looked_for_again(reader: MarkerReader, brokers: Brokers) -> None:
    brokers.errors = {1: 6}
    assert reader.read({0: 3, 1: 5}).keys() == {0}
    brokers.errors, brokers.leaders[1] = {}, 1
    assert reader.read({0: 3, 1: 5}).keys() == {0, 1}
    assert brokers.asked[-2:] == [("MetadataRequest", 1), ("FetchRequest", 1)]


def test_a_partition_without_leader_is_left_out(reader: MarkerReader, brokers: Brokers) -> None:
    brokers.leaders[1] = -1
    assert reader.read({1: 5}) == {}
    brokers.leaders[1] = 2
    assert reader.read({1: 5}).keys() == {1}


@pytest.mark.parametrize(("position", "nearest"), [(7, 100), (300, 200)])
def test_what_the_log_does_not_have_any_more_is_said(
    reader: MarkerReader,
    brokers: Brokers,
    caplog: pytest.LogCaptureFixture,
    position: int,
    nearest: int,
) -> None:
    brokers.errors = {0: 1}
    assert reader.read({0: position}) == {0: Stretch([], nearest)}
    assert f"has the offsets 100 to 200, and not {position}" in caplog.text


@pytest.mark.parametrize("place", [-1, 0])
def test_a_denied_topic_is_an_error(reader: MarkerReader, brokers: Brokers, place: int) -> None:
    brokers.errors = {place: 29}
    with pytest.raises(AccessDeniedError, match="denies user ANONYMOUS access"):
        reader.read({0: 3})


def test_after_a_failure_it_connects_again(reader: MarkerReader, brokers: Brokers) -> None:
    reader.read({0: 3})
    brokers.is_away = True
    with pytest.raises(BrokerUnreachableError):
        reader.read({0: 3})
    assert brokers.closed == 1
    brokers.is_away = False
    assert reader.read({0: 3}).keys() == {0}


def test_another_broker_is_asked_where_one_is_down(reader: MarkerReader, brokers: Brokers) -> None:
    brokers.down = {1}
    assert reader.partition_count() == 3
    assert brokers.asked == [("MetadataRequest", 2)]


def test_connections_that_were_idle_are_made_anew(brokers: Brokers) -> None:
    seconds = iter([0.0, 0.0, 1.0, 2.0, 62.1, 62.1, 62.1])
    reader = MarkerReader(Connection("127.0.0.1:9092"), lambda: next(seconds))
    reader.read({0: 3})
    assert brokers.closed == 0
    assert reader.read({0: 3}).keys() == {0}
    assert brokers.closed == 1
