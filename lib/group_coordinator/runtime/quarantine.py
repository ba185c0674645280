"""A defect of ours: what it met is kept as dead letters, and all others go on."""

from __future__ import annotations

from collections.abc import Iterable

from group_coordinator.codecs.snapshots import SnapshotError, SnapshotVersionError
from group_coordinator.core.model.group import Group
from group_coordinator.runtime.outputs import Outputs, Piece
from group_coordinator.runtime.packing import EventRow
from group_coordinator.runtime.spill_file import ScratchFolder


class UnknownStateVersionError(Exception):
    """The checkpoint was written by a later version of this program."""


DEFECT = "defect: "
"""How the reason of a dead letter begins that tells of a mistake of ours."""

NOT_OURS = (MemoryError, OSError, UnknownStateVersionError, SnapshotVersionError)
"""Failures of this machine or of this installation: another attempt may do better, so they fail the task."""

OF_THE_WHOLE_CALL = (*NOT_OURS, SnapshotError)
"""Beside these, damaged state: it may be met in the middle of an event, and half of what that does must not be kept."""


def describe(defect: Exception) -> str:
    """The reason of a dead letter."""
    return f"{DEFECT}{type(defect).__name__}: {defect}"


def is_defect(reason: str) -> bool:
    """Whether a dead letter tells of a mistake of ours: those are counted."""
    return reason.startswith(DEFECT)


def letters_of_a_whole_call(
    group_id: str,
    rows: Iterable[EventRow],
    defect: Exception,
    at_ms: int,
    scratch: ScratchFolder,
) -> Iterable[Piece]:
    """The outputs of a call that could not be made: one dead letter for the group, then one an event."""
    letters = Outputs(Group(group_id), scratch)
    reason = describe(defect)
    letters.dead_letter(None, reason, at_ms)
    for row in rows:
        letters.dead_letter(row, reason, at_ms)
    return letters
