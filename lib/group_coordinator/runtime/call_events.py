"""The events of one call in order, however many there are.

Spark hands over a group's events in chunks and promises no order. A group may have gigabytes of events in one batch,
all records without a key for example, so those that exceed some memory wait on disk: an external merge sort.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import merge

from group_coordinator.runtime.spill_file import ScratchFolder, SpillFile, usual_scratch

_MOST_BYTES_HELD = 64 * 1024 * 1024


class SortedEvents:
    """Packed events (packing.py) that arrive in any order; may be read several times."""

    def __init__(
        self, packed: Sequence[bytes] = (), scratch: ScratchFolder = usual_scratch
    ) -> None:
        self._scratch = scratch
        self._held: list[bytes] = []
        self._held_bytes = 0
        self._runs: list[SpillFile] = []
        self.add(packed)

    def add(self, packed: Sequence[bytes]) -> None:
        """Add a chunk."""
        self._held += packed
        self._held_bytes += sum(map(len, packed))
        if self._held_bytes > _MOST_BYTES_HELD:
            self._spill()

    def __iter__(self) -> Iterator[bytes]:
        self._held.sort()
        return merge(*self._runs, self._held) if self._runs else iter(self._held)

    def _spill(self) -> None:
        run = SpillFile(self._scratch)
        for event in sorted(self._held):
            run.append(event)
        self._runs.append(run)
        self._held = []
        self._held_bytes = 0
