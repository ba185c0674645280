"""What a handler or a deadline decides: nothing has changed yet when one of these exists."""

from __future__ import annotations

from group_coordinator.core.model.changes import SoftChange
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.records import Record
from group_coordinator.core.model.responses import Reply
from group_coordinator.core.model.topic import Topic
from group_coordinator.core.value import Value


class LearnedTopics(Value, frozen=True):
    """The cluster's topics by name, as a group is told of them."""

    topics: dict[str, Topic]
    version: int
    brings_new_ones: bool
    are_complete: bool


class Decision(Value, frozen=True):
    """The outcome of one request or one deadline.

    Records are Kafka's, in log order. What a classic group keeps beside the log (parked requests, timers) comes as
    its next `membership`; None leaves it as it is. `renewed_session` re-arms one member's session, the one change so
    frequent that a whole next membership would be waste. A consumer group's membership follows from the records; `soft` is
    what changes in it beside them. `topics` is what the group knows of the cluster from now on.
    """

    records: list[Record]
    replies: list[Reply]
    membership: ClassicGroup | None = None
    renewed_session: str | None = None
    topics: LearnedTopics | None = None
    forgets_topics: bool = False
    soft: tuple[SoftChange, ...] = ()
