"""A defect of ours: what it met is kept as dead letters, and all others go on."""

from __future__ import annotations

from collections.abc import Iterable

from group_coordinator.codecs.snapshots import SnapshotVersionError
from group_coordinator.core.model.group import Group
from group_coordinator.runtime.output_lines import OutputLines
from group_coordinator.runtime.packing import EventRow
from group_coordinator.runtime.spill_file import ScratchFolder


class UnknownStateVersionError(Exception):
    """The checkpoint was written by a later version of this program."""


NOT_OURS = (MemoryError, OSError, UnknownStateVersionError, SnapshotVersionError)
"""Failures of this machine or of this installation: another attempt may do better, so they fail the task."""


def describe(defect: Exception) -> str:
    """The reason of a dead letter; sinks.py counts those that begin like this."""
    return f"defect: {type(defect).__name__}: {defect}"


def letters_of_a_whole_call(
    group_id: str,
    rows: Iterable[EventRow],
    defect: Exception,
    at_ms: int,
    scratch: ScratchFolder,
) -> Iterable[str]:
    """Output lines of a call that could not be made: one dead letter for the group, then one an event."""
    lines = OutputLines(Group(group_id), scratch)
    reason = describe(defect)
    lines.dead_letter(None, reason, at_ms)
    for row in rows:
        lines.dead_letter(row, reason, at_ms)
    return lines
