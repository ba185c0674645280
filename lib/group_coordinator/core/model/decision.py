"""What a handler or a deadline decides: nothing has changed yet when one of these exists."""

from __future__ import annotations

from collections.abc import Sequence

from group_coordinator.core.model.changes import Change
from group_coordinator.core.model.records import Record
from group_coordinator.core.model.responses import Reply
from group_coordinator.core.value import Value


class Decision(Value, frozen=True):
    """The outcome of one request or one deadline: Kafka's records in log order, replies, and changes beside the log."""

    records: Sequence[Record]
    replies: list[Reply]
    changes: tuple[Change, ...] = ()
