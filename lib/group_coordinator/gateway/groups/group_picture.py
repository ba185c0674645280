"""Which groups there are: what the tables say, and what the answers that passed by since then say."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from heapq import nlargest

from group_coordinator.gateway.groups.group_tables import TableOfGroups
from group_coordinator.gateway.job.sightings import CLASSIC, CONSUMERS, ListedGroup, Sighting, Told
from group_coordinator.gateway.remembered import Remembered

_FOLDED_AFTER_MS = 30_000
"""What is older than this when compaction writes, it has folded."""
_BELIEVED_S = 10.0
"""How long a description counts where no table says that a group expired, or lost a silent member."""
_MOST_BYTES = 32 * 1024 * 1024
"""Of the groups that are remembered, about 140,000; those that were seen longest ago are left to the tables."""
_QUESTIONS = 500
"""The most groups that one listing asks about, the newest; of others the last that is known must do."""
_LASTING = ("Stable", "Empty")
"""States in which groups stay; of one in another state each listing asks again."""
_NEVER_MS = -1


@dataclass(slots=True)
class _Seen:
    at_ms: int = _NEVER_MS
    """By the group's clock, as in the tables."""
    seen_s: float = 0.0
    group: ListedGroup | None = None
    """None: not described yet."""
    is_gone: bool = False
    is_in_doubt: bool = False
    epoch: int | None = None


class GroupPicture:
    """The groups by id. Nothing here waits: who lists asks the job about those in doubt, then looks again."""

    def __init__(self) -> None:
        self._seen: Remembered[str, _Seen] = Remembered(_MOST_BYTES)

    def see(self, sighting: Sighting) -> None:
        """Take in what an answer says of its group; one from before what is known changes nothing."""
        if sighting.told is Told.SETTINGS:
            return
        seen = self._seen.get(sighting.group_id) or _Seen()
        if sighting.at_ms < seen.at_ms:
            return
        seen.at_ms, seen.seen_s = sighting.at_ms, time.monotonic()
        if sighting.told is Told.THERE:
            seen.is_in_doubt = seen.is_in_doubt or seen.is_gone or _has_moved(seen, sighting)
            seen.epoch = seen.epoch if sighting.epoch is None else sighting.epoch
        else:
            seen.is_in_doubt = sighting.told is Told.CHANGED
            seen.group = sighting.group or (seen.group if seen.is_in_doubt else None)
        seen.is_gone = sighting.told is Told.GONE
        self._seen[sighting.group_id] = seen

    def see_gone(self, group_id: str) -> None:
        """The job does not know the group; what passed by meanwhile stays in doubt."""
        seen = self._seen.get(group_id)
        if seen is not None:
            self.see(Sighting(group_id, seen.at_ms, Told.GONE))

    def is_classic(self, group_id: str) -> bool:
        """Whether it was described as one; a member of KIP-848 that joins since then would have been seen."""
        seen = self._seen.get(group_id)
        if seen is None or seen.group is None or seen.is_gone or seen.is_in_doubt:
            return False
        return seen.group.group_type == CLASSIC

    def in_doubt(self, table: TableOfGroups | None) -> list[str]:
        """The groups to ask about before `listed` is right."""
        self._leave_to(table)
        doubtful = [
            (seen.at_ms, group_id)
            for group_id, seen in self._seen.items()
            if _is_doubtful(group_id, seen, table)
        ]
        return [group_id for _, group_id in nlargest(_QUESTIONS, doubtful)]

    def listed(self, table: TableOfGroups | None) -> Mapping[str, ListedGroup]:
        """The groups as far as they are known."""
        rows = {} if table is None else table.rows
        groups = {group_id: row.group for group_id, row in rows.items()}
        for group_id, seen in self._seen.items():
            row = rows.get(group_id)
            if row is not None and row.updated_ms > seen.at_ms:
                continue
            if seen.is_gone:
                groups.pop(group_id, None)
            elif seen.group is not None:
                groups[group_id] = seen.group
        return groups

    def _leave_to(self, table: TableOfGroups | None) -> None:
        if table is None:
            return
        folded = [
            group_id
            for group_id, seen in self._seen.items()
            if seen.at_ms + _FOLDED_AFTER_MS < table.folded_ms
        ]
        for group_id in folded:
            self._seen.pop(group_id)


def _has_moved(seen: _Seen, sighting: Sighting) -> bool:
    """Whether a member's epoch differs from that of the one before, or is the first one of a classic group."""
    if sighting.epoch is None:
        return False
    was_classic = seen.group is not None and seen.group.group_type != CONSUMERS
    return was_classic or seen.epoch not in (None, sighting.epoch)


def _is_doubtful(group_id: str, seen: _Seen, table: TableOfGroups | None) -> bool:
    if seen.is_gone or seen.is_in_doubt:
        return seen.is_in_doubt
    if seen.group is not None and seen.group.state not in _LASTING:
        return True
    if table is not None:
        return seen.group is None and group_id not in table.rows
    return seen.group is None or time.monotonic() - seen.seen_s > _BELIEVED_S
