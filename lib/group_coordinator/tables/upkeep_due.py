"""When a table's files need upkeep: decided by what is known of it, so that a restart changes nothing."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace


class UpkeepRule(NamedTuple):
    """How often: after an interval at the latest, and before that once there are so many new files."""

    interval_ms: int
    new_files: int


class UpkeepNote(Struct, frozen=True):
    """What is remembered of a table: its files when they were put together last, or fewer since; its last whole upkeep.

    `thinned_ms`: the days before this midnight have been thinned.
    """

    files: int = 0
    version: int = -1
    at_ms: int = 0
    thinned_ms: int = 0


class TableFiles(NamedTuple):
    """A table as it is: how many files it consists of, and its version."""

    files: int
    version: int


class Upkeep(Enum):
    """What a table needs."""

    NONE = "none"
    GATHER = "many small files become few large ones"
    REMOVE = "files that no reader needs any more are removed"
    ALL = "files become few, large and sorted, and those that no reader needs any more are removed"


def due(note: UpkeepNote, table: TableFiles, rule: UpkeepRule, now_ms: int) -> Upkeep:
    """What a table needs now. A clock that was set back makes it due once too often, or an interval later."""
    if not 0 <= now_ms - note.at_ms < rule.interval_ms:
        return Upkeep.ALL if table.version > note.version else Upkeep.REMOVE
    if table.files - note.files >= rule.new_files:
        return Upkeep.GATHER
    return Upkeep.NONE


def noted(note: UpkeepNote, table: TableFiles) -> UpkeepNote:
    """The note after a look: whoever else put files together counts too."""
    return note if table.files >= note.files else replace(note, files=table.files)
