"""Large groups that this process has just updated: it need not read them from their snapshots again.

A worker of Spark lives for many batches, and a busy group comes in each of them. To find ten thousand members or a hundred
thousand offsets in a snapshot takes longer than all that happens to them. Nothing depends on whether a group is known here:

- A group is given to whoever has the very snapshot that it was written to, all bytes of it. Another process that updated
  the group meanwhile, a batch that is done again, a restart with another checkpoint: each has other bytes, and reads them.
- It is given away, not lent: a call that fails in the middle leaves nothing behind.
- A group that was written goes on like one that was read from what was written; how events are cut into calls makes no
  difference anyway (update_group.py).
"""

from __future__ import annotations

from typing import NamedTuple

from group_coordinator.core.model.group import Group

_LEAST_BYTES = 16 * 1024
"""Of a snapshot: a smaller one is read in less than a tenth of a millisecond."""
_MOST_BYTES = 8 * 1024 * 1024
"""Of all snapshots together; the groups take more memory than that, 95 MB at most. A part that nobody has asked for takes once or
twice its bytes, and keeps the whole snapshot that it was read from. Once they are read, classic members take four times their
bytes, offsets nine times, consumers ten times."""


class _Known(NamedTuple):
    snapshot: bytes
    group: Group


class KnownGroups:
    """Groups by their ids, the last ones that were kept, as far as there is room."""

    def __init__(self, least_bytes: int = _LEAST_BYTES, most_bytes: int = _MOST_BYTES) -> None:
        self._least_bytes = least_bytes
        self._most_bytes = most_bytes
        self._known: dict[str, _Known] = {}
        self._bytes = 0

    def take(self, group_id: str, snapshot: bytes) -> Group | None:
        """The group that was written to this snapshot, if it is known; from now on it is not."""
        known = self._known.pop(group_id, None)
        if known is None:
            return None
        self._bytes -= len(known.snapshot)
        if known.snapshot != snapshot:
            return None
        group = known.group
        group.wake_ms = 0  # settings and outages may be others by now
        return group

    def keep(self, group: Group, snapshot: bytes) -> None:
        """Know a group that was written to this snapshot; nobody else may change it any more."""
        if not self._least_bytes <= len(snapshot) <= self._most_bytes:
            return
        self.take(group.group_id, b"")
        self._known[group.group_id] = _Known(snapshot, group)
        self._bytes += len(snapshot)
        while self._bytes > self._most_bytes:
            longest_ago = next(iter(self._known))
            self.take(longest_ago, b"")


of_this_process = KnownGroups()
