"""Check of open transactions before a TxnOffsetCommit, and the end offset behind which the marker will be.

A commit behind the end of its transaction would wait for a marker that is written already, and every fetch of a stable offset
would wait with it. Kafka lets a producer add offsets to its next transaction only after all markers of the last are written. So
the end offset of the partition, read when the commit arrives, separates the markers of the transactions, whatever the order of
events. Then the transaction's coordinator is asked if it is still open: its own marker is at that end offset, or behind it.

Source: TransactionCoordinator.handleVerifyPartitionsInTransaction and AddPartitionsToTxnManager in Kafka 4.3, whose own request
only brokers may send.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import Protocol

from group_coordinator.clients.channel import Body
from group_coordinator.codecs.offsets_topic import ANY_GROUP, OFFSETS_TOPIC, partition_of
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.gateway.cluster.addresses import Address
from group_coordinator.gateway.cluster.broker_access import PLAIN_ACCESS, BrokerAccess
from group_coordinator.gateway.cluster.broker_links import FAILURES, BrokerLinks
from group_coordinator.gateway.job.delivery import RecentEntries

_TRANSACTION_KEY = 1
"""Key type of FindCoordinator."""
_MOST_BYTES = 4 * 1024 * 1024
"""Limit of the remembered coordinators of transactional ids, about 15,000; the oldest are forgotten."""
_ABORTABLE_SINCE = 4
"""First version of TxnOffsetCommit whose clients know TRANSACTION_ABORTABLE."""
_ENDING = frozenset({"PrepareCommit", "PrepareAbort"})
_CONCURRENT_TRANSACTIONS = 51
_TRANSACTIONAL_ID_NOT_FOUND = 105


class Brokers(Protocol):
    def addresses_of(self, node_id: int | None) -> Sequence[Address]: ...


class OpenTransactions:
    def __init__(self, brokers: Brokers, links: BrokerLinks) -> None:
        self._brokers = brokers
        self._links = links
        self._coordinators: RecentEntries[str, Address] = RecentEntries(_MOST_BYTES)

    async def error_of(self, commit: Body, version: int, partition: int) -> int | None:
        """Error code of a TxnOffsetCommit, 0: the transaction is open; None: its coordinator must be asked again.

        The result is 0 too where the brokers' ACLs or a version before Kafka 3.0 hide the transaction. `partition` of
        __consumer_offsets has the group's markers. If no broker answers, the error is one of FAILURES.
        """
        transactional_id = commit["transactionalId"]
        # The entry is removed until the coordinator answers, as the coordinator may have moved.
        coordinator = self._coordinators.pop(transactional_id)
        coordinator = coordinator or await self._found(transactional_id)
        if coordinator is None:
            return None
        if not await self._links.knows(coordinator, "DescribeTransactions"):
            return ErrorCode.NONE
        body = {"transactionalIds": [transactional_id]}
        response = await self._links.ask(coordinator, "DescribeTransactions", body)
        [described] = response["transactionStates"]
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
            response = await self._links.ask(broker, "FindCoordinator", body)
            for found in response.get("coordinators", [response]):
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
            # Without the right to describe, the check is not possible.
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


_LATEST = -1
_CONSUMER = -1
_NO_EPOCH = -1
_ATTEMPTS = 3
_ATTEMPT_S = 2.0
_GROUP_KEY = 0


class NoEndError(Exception):
    """The commit is not allowed, or not yet; the client gets `code`."""

    def __init__(self, code: int, why: str) -> None:
        super().__init__(why)
        self.code = code


class PartitionLeaders(Brokers, Protocol):
    def partition_count(self, name: str) -> int: ...
    def leader_of(self, topic: str, partition: int) -> Address | None: ...
    async def look_for(self, names: Collection[str]) -> None: ...


class TransactionEnds:
    """Requests to the leader of a group's partition, on the gateway's own connections."""

    def __init__(self, leaders: PartitionLeaders, access: BrokerAccess = PLAIN_ACCESS) -> None:
        self._leaders = leaders
        self._links = BrokerLinks(access)
        self._open = OpenTransactions(leaders, self._links)

    async def end_for(self, commit: Body, version: int) -> int:
        """End offset of the group's partition for consumers: a marker that is written is before it.

        NoEndError: no broker answers, or the transaction of the TxnOffsetCommit is not open.
        """
        if not commit["groupId"]:
            raise NoEndError(ErrorCode.INVALID_GROUP_ID, "the commit names no group")
        if not commit["transactionalId"]:
            raise NoEndError(ErrorCode.INVALID_REQUEST, "the commit names no transaction")
        for _ in range(_ATTEMPTS):
            try:
                async with asyncio.timeout(_ATTEMPT_S):
                    end = await self._end_for(commit, version)
            except FAILURES:
                end = None
            if end is not None:
                return end
            # The leader may have moved.
            await self._leaders.look_for([OFFSETS_TOPIC])
        why = f"no broker returns the end offset of the partition of group {commit['groupId']}"
        raise NoEndError(ErrorCode.COORDINATOR_NOT_AVAILABLE, why)

    def close(self) -> None:
        self._links.close()

    async def _end_for(self, commit: Body, version: int) -> int | None:
        # The end offset must be read before the coordinator is asked: a transaction that is open then has its marker
        # behind it.
        count = self._leaders.partition_count(OFFSETS_TOPIC)
        if not count:
            await self._make_topic()
            return None
        partition = partition_of(commit["groupId"], count)
        end = await self._end_of(partition)
        if end is None:
            return None
        error = await self._open.error_of(commit, version, partition)
        if error:
            raise NoEndError(error, f"transaction {commit['transactionalId']} is not open")
        return None if error is None else end

    async def _end_of(self, partition: int) -> int | None:
        leader = self._leaders.leader_of(OFFSETS_TOPIC, partition)
        if leader is None:
            return None
        wanted = {
            "partitionIndex": partition,
            "currentLeaderEpoch": _NO_EPOCH,
            "timestamp": _LATEST,
        }
        body = {
            "replicaId": _CONSUMER,
            "isolationLevel": 0,
            "topics": [{"name": OFFSETS_TOPIC, "partitions": [wanted]}],
        }
        response = await self._links.ask(leader, "ListOffsets", body)
        [found] = response["topics"][0]["partitions"]
        end: int = found["offset"]
        return end if found["errorCode"] == ErrorCode.NONE else None

    async def _make_topic(self) -> None:
        # Brokers create the topic for the first group. Without the topic a transaction coordinator writes no marker.
        body = {"key": ANY_GROUP, "keyType": _GROUP_KEY, "coordinatorKeys": [ANY_GROUP]}
        for address in self._leaders.addresses_of(None)[:1]:
            await self._links.ask(address, "FindCoordinator", body)
