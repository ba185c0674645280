"""Whether the transaction of a commit is still open: its coordinator is asked, as a broker asks before it takes offsets (KIP-890).

A commit that came after the end of its transaction would wait for a marker that is written already, and every fetch of a stable
offset with it.

Source: TransactionCoordinator.handleVerifyPartitionsInTransaction and AddPartitionsToTxnManager in Kafka 4.3, whose own request only
brokers may send.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from group_coordinator.clients.channel.channel import Body
from group_coordinator.codecs.offsets_topic.partitions import OFFSETS_TOPIC
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.gateway.cluster.addresses import Address
from group_coordinator.gateway.cluster.broker_links import BrokerLinks
from group_coordinator.gateway.remembered import Remembered

_TRANSACTION_KEY = 1
"""Of FindCoordinator."""
_MOST_BYTES = 4 * 1024 * 1024
"""Of the transactional ids whose coordinators are remembered, about 15,000; the oldest are forgotten."""
_ABORTABLE_SINCE = 4
"""Of TxnOffsetCommit: its clients know TRANSACTION_ABORTABLE."""
_ENDING = frozenset({"PrepareCommit", "PrepareAbort"})
_CONCURRENT_TRANSACTIONS = 51
_TRANSACTIONAL_ID_NOT_FOUND = 105


class Brokers(Protocol):
    """Who can be asked for a coordinator."""

    def addresses_of(self, node_id: int | None) -> Sequence[Address]:
        """None: brokers that may be asked what all know."""


class OpenTransactions:
    """Asks transaction coordinators what they have open."""

    def __init__(self, brokers: Brokers, links: BrokerLinks) -> None:
        self._brokers = brokers
        self._links = links
        self._coordinators: Remembered[str, Address] = Remembered(_MOST_BYTES)

    async def error_of(self, commit: Body, version: int, partition: int) -> int | None:
        """Why a TxnOffsetCommit must not be made, 0 if it may; None: its coordinator must be asked again.

        It may too where nobody is told, by the brokers' rights or before Kafka 3.0.

        Args:
            commit: the body of the request.
            version: of the request.
            partition: of __consumer_offsets, where the group has its markers.

        Raises:
            OSError, EOFError, WireError: no broker answers.
        """
        transactional_id = commit["transactionalId"]
        # Forgotten until it has answered: it may be another one by then.
        coordinator = self._coordinators.pop(transactional_id)
        coordinator = coordinator or await self._found(transactional_id)
        if coordinator is None:
            return None
        if not await self._links.knows(coordinator, "DescribeTransactions"):
            return ErrorCode.NONE
        body = {"transactionalIds": [transactional_id]}
        answer = await self._links.ask(coordinator, "DescribeTransactions", body)
        [described] = answer["transactionStates"]
        error = _error(described, commit, version, partition)
        if error is not None:
            self._coordinators[transactional_id] = coordinator
        return error

    async def _found(self, transactional_id: str) -> Address | None:
        body = {
            "key": transactional_id,
            "keyType": _TRANSACTION_KEY,
            "coordinatorKeys": [transactional_id],
        }
        for broker in self._brokers.addresses_of(None)[:1]:
            answer = await self._links.ask(broker, "FindCoordinator", body)
            for found in answer.get("coordinators", [answer]):
                if found["errorCode"] == ErrorCode.NONE:
                    return Address(found["host"], found["port"])
        return None


def _error(described: Body, commit: Body, version: int, partition: int) -> int | None:
    match described["errorCode"]:
        case ErrorCode.NONE:
            return _error_in(described, commit, version, partition)
        case code if code == _TRANSACTIONAL_ID_NOT_FOUND:
            return ErrorCode.INVALID_PRODUCER_ID_MAPPING
        case code if code == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
            return ErrorCode.NONE
        case _:
            return None


def _error_in(described: Body, commit: Body, version: int, partition: int) -> int:
    partitions = {topic["topic"]: topic["partitions"] for topic in described["topics"]}
    knows_abortable = version >= _ABORTABLE_SINCE
    if described["producerId"] != commit["producerId"]:
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING
    if described["producerEpoch"] != commit["producerEpoch"]:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    if described["transactionState"] in _ENDING:
        return _CONCURRENT_TRANSACTIONS
    if partition not in partitions.get(OFFSETS_TOPIC, ()):
        return ErrorCode.TRANSACTION_ABORTABLE if knows_abortable else ErrorCode.INVALID_TXN_STATE
    return ErrorCode.NONE
