"""The decision of a handler or a deadline, and the changes in a group beside its log that no record tells."""

from __future__ import annotations

from collections.abc import Sequence

from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.offset import LastMarker
from group_coordinator.core.model.records import Record
from group_coordinator.core.model.responses import Reply
from group_coordinator.core.model.timers import TimerKey
from group_coordinator.core.model.topic import Topic
from group_coordinator.core.value import Value


class MembershipReplaced(Value, frozen=True):
    """The group is this classic one; the records of the same decision say in the log what led to it."""

    membership: ClassicGroup
    soonest_timer_ms: int = 0
    """No timer that was not set before is due before this time; 0: not known."""


class SessionRenewed(Value, frozen=True):
    """A member of a classic group has shown that it is alive: so frequent that a copy of the group would be waste."""

    member_id: str


class TopicsLearned(Value, frozen=True):
    """The group knows these topics of the cluster, by name."""

    topics: dict[str, Topic]
    version: int
    brings_new_ones: bool
    are_complete: bool


class TopicsForgotten(Value, frozen=True):
    """The group knows nothing of the cluster's topics any more."""


class TimerSet(Value, frozen=True):
    """A timer of a consumer group is set, or set anew behind all others."""

    key: TimerKey
    due_ms: int


class RebalanceTimerSet(Value, frozen=True):
    """A member that must give partitions back gets its time for it; the timer only counts at this member epoch."""

    member_id: str
    due_ms: int
    member_epoch: int


class TimerCancelled(Value, frozen=True):
    """A timer of a consumer group is forgotten; no error if it is not set."""

    key: TimerKey


class MetadataDeadlineSet(Value, frozen=True):
    """Until then the metadata hash of a consumer group counts, unless topics change before."""

    deadline_ms: int


class MarkerRemembered(Value, frozen=True):
    """The group was told of this marker of a producer."""

    producer_id: int
    marker: LastMarker


Change = (
    MembershipReplaced
    | SessionRenewed
    | TopicsLearned
    | TopicsForgotten
    | TimerSet
    | RebalanceTimerSet
    | TimerCancelled
    | MetadataDeadlineSet
    | MarkerRemembered
)


class Decision(Value, frozen=True):
    """The outcome of one request or one deadline: Kafka's records in log order, replies, and changes beside the log."""

    records: Sequence[Record]
    replies: list[Reply]
    changes: tuple[Change, ...] = ()
