"""Handling of internal errors: the affected events become dead letters, and other groups continue."""

from __future__ import annotations

from collections.abc import Iterable

from group_coordinator.codecs.snapshots import SnapshotError, SnapshotVersionError
from group_coordinator.core.model.group import Group
from group_coordinator.runtime.outputs import Outputs, Piece
from group_coordinator.runtime.packing import EventRow
from group_coordinator.runtime.spill_file import ScratchFolder


class UnknownStateVersionError(Exception):
    """A state in the checkpoint that a later version of this program wrote."""


DEFECT = "defect: "
"""The beginning of a dead letter's reason that reports an internal error."""

NOT_OURS = (MemoryError, OSError, UnknownStateVersionError, SnapshotVersionError)
"""Failures of this machine or of this installation. They fail the task, as another attempt may succeed."""

OF_THE_WHOLE_CALL = (*NOT_OURS, SnapshotError)
"""Errors that end a whole call. A corrupt state may show in the middle of an event, and half of an event must not be kept."""


def describe(defect: Exception) -> str:
    """Return the reason of a dead letter for an internal error."""
    return f"{DEFECT}{type(defect).__name__}: {defect}"


def is_defect(reason: str) -> bool:
    """Return True if a dead letter reports an internal error. These are counted."""
    return reason.startswith(DEFECT)


def letters_of_a_whole_call(
    group_id: str,
    rows: Iterable[EventRow],
    defect: Exception,
    at_ms: int,
    scratch: ScratchFolder,
) -> Iterable[Piece]:
    """Return the outputs of a failed call: one dead letter for the group, then one for each event."""
    letters = Outputs(Group(group_id), scratch)
    reason = describe(defect)
    letters.dead_letter(None, reason, at_ms)
    for row in rows:
        letters.dead_letter(row, reason, at_ms)
    return letters
