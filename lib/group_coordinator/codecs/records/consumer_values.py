"""From the fields of consumer groups' records to core's values, whether the fields were JSON or bytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from group_coordinator.core.model.classic_member import Protocol
from group_coordinator.core.model.consumer_member import Assignment, MemberState, OwnedPartitions


class TopicPartitions(Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    """Partitions of a topic; only the current assignment has the epochs at which a member got them, since Kafka 4.3."""

    topic_id: str
    partitions: Sequence[int]
    assignment_epochs: Sequence[int] | None = None


def topic_names(names: Iterable[str]) -> tuple[str, ...]:
    """Sorted, each once."""
    return tuple(sorted(set(names)))


def member_state(number: int) -> MemberState:
    """A number that Kafka 4.4 does not know is UNKNOWN."""
    try:
        return MemberState(number)
    except ValueError:
        return MemberState.UNKNOWN


def classic_protocol(name: str, metadata: bytes) -> Protocol:
    """A protocol of a member that speaks the classic protocol; in a consumer group it is a consumer."""
    return Protocol(name, metadata)


def assignment(topics: Iterable[TopicPartitions]) -> Assignment:
    """A target assignment; the order of its topics stays."""
    return {topic.topic_id: tuple(sorted(topic.partitions)) for topic in topics if topic.partitions}


def owned_partitions(topics: Iterable[TopicPartitions], member_epoch: int) -> OwnedPartitions:
    """Partitions with the epochs at which the member got them; the member's own where they are not told.

    Source: Utils.assignmentFromTopicPartitions in Kafka 4.4.
    """
    return {
        topic.topic_id: dict(
            sorted(zip(topic.partitions, _epochs(topic, member_epoch), strict=True))
        )
        for topic in topics
        if topic.partitions
    }


def _epochs(topic: TopicPartitions, member_epoch: int) -> Sequence[int]:
    epochs = topic.assignment_epochs
    if epochs is None or len(epochs) != len(topic.partitions):
        return [max(member_epoch, 0)] * len(topic.partitions)
    return epochs
