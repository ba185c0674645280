"""The decision of a handler or a deadline, and the changes of a group that no record has."""

from __future__ import annotations

from collections.abc import Sequence

from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.records import Record
from group_coordinator.core.model.requests import Topic
from group_coordinator.core.model.responses import Reply
from group_coordinator.core.model.timers import TimerKey
from group_coordinator.core.model.topic_offsets import LastMarker
from group_coordinator.core.value import Value


class MembershipReplaced(Value, frozen=True):
    """The group gets this classic membership. Records of the same decision log the reason."""

    membership: ClassicGroup
    # The handler knows it cheaply; replay would have to look at the timers of all members.
    soonest_timer_ms: int = 0
    """No new timer is due before this time; 0: unknown."""


class SessionRenewed(Value, frozen=True):
    """A member of a classic group is alive. This is too frequent for a copy of the group."""

    member_id: str


class TopicsLearned(Value, frozen=True):
    """The group gets these topics of the cluster as its topic metadata, by name."""

    topics: dict[str, Topic]
    version: int
    brings_new_ones: bool
    are_complete: bool


class TopicsForgotten(Value, frozen=True):
    """The group's topic metadata is removed."""


class TimerSet(Value, frozen=True):
    """A timer of a consumer group is set. A timer that is set again moves behind all others."""

    key: TimerKey
    due_ms: int


class RebalanceTimerSet(Value, frozen=True):
    """A member that must revoke partitions gets its rebalance timer, which has effect only at this member epoch."""

    member_id: str
    due_ms: int
    member_epoch: int


class TimerCancelled(Value, frozen=True):
    """A timer of a consumer group is cancelled; no error if it is not set."""

    key: TimerKey


class MetadataDeadlineSet(Value, frozen=True):
    """The metadata hash of a consumer group is compared again at this time, or earlier if topics change."""

    deadline_ms: int


class MarkerRemembered(Value, frozen=True):
    """The group remembers this transaction marker of a producer."""

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
    """The outcome of a request or a deadline: records in log order, replies, and changes that no record has."""

    records: Sequence[Record]
    replies: list[Reply]
    changes: tuple[Change, ...] = ()
