"""Which groups wait for the markers of which producers: kept beside the checkpoint, for the next run.

What a batch says is kept before Spark commits the batch, behind its responses, as in topic_interests.py. A group says it in every
call while it waits, and once more when it waits no longer.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import TypeAlias

from msgspec import json

from group_coordinator.runtime.outputs import AwaitedMarkersLine
from group_coordinator.streaming.checkpoint.journal import Files, Journal

Since: TypeAlias = dict[int, int]
"""By producer id, the first offset at which a marker may be that ends something."""

_FOLDER = "transactions/awaited"

_decode = json.Decoder(AwaitedMarkersLine).decode


class AwaitedMarkers:
    """What all groups wait for; the sinks add to it in one thread, the follower reads it in another."""

    def __init__(self, files: Files) -> None:
        self._journal = Journal(files, _FOLDER, Since)
        self._lock = Lock()
        self._awaited: dict[str, Since] = self._journal.read()
        self._changed = set(self._awaited)

    @property
    def are_there(self) -> bool:
        """Whether any group waits."""
        with self._lock:
            return bool(self._awaited)

    def note(self, lines: Sequence[str]) -> None:
        """Take over what the operator says, in order; what groups say again changes nothing."""
        with self._lock:
            changed = {said.group_id for said in map(_decode, lines) if self._note(said)}
            self._changed |= changed
            if changed:
                self._journal.keep(changed, self._awaited)

    def _note(self, said: AwaitedMarkersLine) -> bool:
        known = self._awaited.pop(said.group_id, {})
        if said.since:
            self._awaited[said.group_id] = said.since
        return said.since != known

    def take_changed(self) -> dict[str, Since]:
        """What has changed since the last call, at first all; empty: the group waits no longer."""
        with self._lock:
            changed, self._changed = self._changed, set()
            return {group_id: self._awaited.get(group_id, {}) for group_id in changed}
