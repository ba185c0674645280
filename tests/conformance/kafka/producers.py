"""The producers of a story, with the ids that a broker gives them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tests.conformance.kafka.real_broker import RealBroker
from tests.conformance.language.lines import Json
from tests.support.until import until

_END_TXN_VERSION: Final = 4
"""The newest with which a producer keeps its epoch."""
_TIMEOUT_S: Final = 5.0
_POLL_S: Final = 0.01


@dataclass(frozen=True)
class Producer:
    """A producer as the transaction coordinator knows it."""

    transactional_id: str
    producer_id: int
    epoch: int


class Producers:
    """Makes producers as they are told of, and their transactions around their commits."""

    def __init__(self, broker: RealBroker) -> None:
        self._broker = broker
        self._start = broker.end_of_log()
        self._by_told_id: dict[int, Producer] = {}
        self._ended = 0

    @property
    def told_ids(self) -> dict[int, int]:
        """How the story calls them, by the ids that they really have."""
        return {producer.producer_id: told for told, producer in self._by_told_id.items()}

    def really(self, event: Json) -> Json:
        """The event as the broker takes it."""
        match event["api"]:
            case "TxnOffsetCommit":
                return self._commit(event)
            case "EndTxn":
                return self._end(event)
            case _:
                return event

    def await_end(self) -> None:
        """Wait until the group coordinator has written one more marker."""
        self._ended += 1
        until(
            lambda: self._markers() >= self._ended,
            seconds=_TIMEOUT_S,
            awaited="the marker",
            poll_s=_POLL_S,
        )

    def _markers(self) -> int:
        ids = self.told_ids
        messages = self._broker.messages(self._start)
        return sum(message.is_control and message.producer_id in ids for message in messages)

    def _commit(self, event: Json) -> Json:
        body = event["body"]
        producer = self._producer(body["groupId"], body["producerId"])
        fields = _fields(producer)
        self._broker.ask("AddOffsetsToTxn", 3, fields | {"groupId": body["groupId"]})
        return event | {"body": body | fields}

    def _end(self, event: Json) -> Json:
        producer = self._by_told_id[event["body"]["producerId"]]
        body = _fields(producer) | {"committed": event["body"]["committed"]}
        return event | {"version": _END_TXN_VERSION, "body": body}

    def _producer(self, group: str, told_id: int) -> Producer:
        if told_id not in self._by_told_id:
            name = f"{group} {told_id}"
            asked = {"transactionalId": name, "transactionTimeoutMs": 60_000}
            given = self._broker.ask("InitProducerId", 4, asked)
            assert given["errorCode"] == 0, given
            self._by_told_id[told_id] = Producer(name, given["producerId"], given["producerEpoch"])
        return self._by_told_id[told_id]


def _fields(producer: Producer) -> Json:
    return {
        "transactionalId": producer.transactional_id,
        "producerId": producer.producer_id,
        "producerEpoch": producer.epoch,
    }
