"""Targets of commits: the coordinator of a Kafka cluster, or this project's job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from kafka import KafkaAdminClient, OffsetAndMetadata, TopicPartition
from kafka.errors import for_code

from group_coordinator.clients.admin.client import AdminClient
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.lasting_client import LastingClient
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.offset_reporter.outbox import Offsets

CLIENT_ID = "group-coordinator-spark"


class OffsetsRejectedError(Exception):
    """The coordinator rejected some or all offsets of a group."""

    def __init__(self, codes: Mapping[TopicPartition, int]) -> None:
        names = sorted({for_code(code).__name__ for code in codes.values()})
        super().__init__(f"{', '.join(names)} for {_named(codes)}")
        self.group_has_members = ErrorCode.UNKNOWN_MEMBER_ID in codes.values()
        """Kafka accepts commits from outside only while a group has no members."""


class Target(Protocol):
    """Target of an administrator's commits, for a single thread."""

    def commit(self, group_id: str, offsets: Offsets) -> None:
        """Commit, and wait for the response. Raises OffsetsRejectedError: of the coordinator; KafkaError, ClientError: no response."""

    def close(self) -> None:
        """Disconnect; the next commit connects again."""


class KafkaTarget(LastingClient[KafkaAdminClient]):
    """Target that calls AlterConsumerGroupOffsets of Kafka's admin API."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection, KafkaAdminClient, client_id=CLIENT_ID)

    def commit(self, group_id: str, offsets: Offsets) -> None:
        """Commit the offsets by Kafka's admin client."""
        # -1: Spark does not report the leader epoch.
        wanted = {one: OffsetAndMetadata(offset, "", -1) for one, offset in offsets.items()}
        response = self.opened().alter_group_offsets(group_id, wanted)
        _check({partition: error.errno for partition, error in response.items()})


class CoordinatorTarget:
    """Target that sends OffsetCommit events to the running job, with AdminClient's options."""

    def __init__(self, **options: Any) -> None:
        self._options = options
        self._admin: AdminClient | None = None

    def commit(self, group_id: str, offsets: Offsets) -> None:
        """Commit the offsets by this project's admin client."""
        # Opened at the first commit, in the thread that commits: the user's job must not wait for Kafka.
        if self._admin is None:
            self._admin = AdminClient(**self._options)
        results = self._admin.alter_consumer_group_offsets(group_id, offsets)
        _check({one: getattr(error, "code", 0) for one, error in results.errors.items()})

    def close(self) -> None:
        """Disconnect; the next commit connects again."""
        # Dropped first: after an error of the close the next commit needs a new client.
        admin, self._admin = self._admin, None
        if admin is not None:
            admin.close()


def _check(codes: Mapping[TopicPartition, int]) -> None:
    rejected = {partition: code for partition, code in codes.items() if code}
    if rejected:
        raise OffsetsRejectedError(rejected)


_SHOWN = 3


def _named(partitions: Mapping[TopicPartition, int]) -> str:
    """First partitions, in the form of Kafka's logs."""
    first = [f"{each.topic}-{each.partition}" for each in sorted(partitions)[:_SHOWN]]
    more = len(partitions) - len(first)
    return ", ".join(first) + (f" and {more} more" if more else "")
