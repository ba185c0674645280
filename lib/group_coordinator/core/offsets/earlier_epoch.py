"""Commits with an earlier member epoch: valid for partitions that the member owned at that epoch (KIP-1251).

Source: ConsumerGroup.createAssignmentEpochValidator in Kafka 4.4.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from group_coordinator.core.model.consumer_member import ConsumerMember
from group_coordinator.core.model.errors import CoordinatorError, ErrorCode
from group_coordinator.core.model.records import OffsetRecord
from group_coordinator.core.model.topic import Topic
from group_coordinator.core.value import Value


class EarlierEpoch(Value, frozen=True):
    """The committing member, and the epoch of the commit."""

    member: ConsumerMember
    epoch: int
    error: ErrorCode
    """The error if the member did not own a partition at that epoch."""


def check_partitions(
    earlier: EarlierEpoch, records: Iterable[OffsetRecord], topics: Mapping[str, Topic] | None
) -> None:
    """Check each partition of a commit. A single partition that the member did not own makes the whole commit fail.

    Raises:
        CoordinatorError: STALE_MEMBER_EPOCH, or ILLEGAL_GENERATION.
    """
    for record in records:
        if not _had(earlier, record, topics or {}):
            raise CoordinatorError(earlier.error)


def _had(earlier: EarlierEpoch, record: OffsetRecord, topics: Mapping[str, Topic]) -> bool:
    topic = topics.get(record.topic)
    # The assignment has topic ids: an unknown topic cannot be found in it.
    if topic is None:
        return False
    current = earlier.member.current
    for held in (current.assigned, current.pending_revocation):
        since = held.get(topic.topic_id, {}).get(record.partition)
        if since is not None:
            return earlier.epoch >= since
    return False
