"""Reader of Spark's offset log: the time of each batch and its end offsets in the events topic."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import DecodeError, Struct, field, json

from group_coordinator.streaming.checkpoint.folder import CheckpointFolder
from group_coordinator.streaming.checkpoint.layout import (
    OFFSETS,
    PARTITIONS,
    STATE_STORE,
    last_done_batch,
    last_planned_batch,
    read_origin,
)

_INITIAL_OFFSETS = "sources/0/0"
"""Start offsets of the Kafka source."""
_KEPT = 3

Offsets = dict[str, dict[int, int]]
"""Offsets by topic and partition."""
TextOfPlan = Callable[[int], str | None]
"""Returns a batch's entry of the offset log; None: no entry."""


def _nothing(_batch_id: int) -> None: ...


class PlannedBatch(Struct, frozen=True):
    """An entry of the offset log: time, end offsets, number of state partitions and class of the state store."""

    at_ms: int
    ends: Offsets
    state_partitions: int | None = None
    state_store: str = ""


class _Conf(Struct):
    """Spark's settings that belong to a checkpoint; all are texts."""

    partitions: int | None = field(default=None, name=PARTITIONS)
    state_store: str = field(default="", name=STATE_STORE)


class _Metadata(Struct):
    batchTimestampMs: int  # noqa: N815 - Spark's name
    conf: _Conf = field(default_factory=_Conf)


class Plans:
    """Cache of entries of the offset log: each is read once. One batch at a time, in the thread that begins it.

    A file without Spark's format raises DamagedFileError.
    """

    def __init__(self, folder: CheckpointFolder) -> None:
        self._folder = folder
        self._known: dict[int, PlannedBatch] = {}
        self._in_memory: TextOfPlan = _nothing

    def follow(self, texts: TextOfPlan) -> None:
        """Read from a running query first: it has the last entries in memory, and a store may take long to read a file."""
        self._in_memory = texts

    def of(self, batch_id: int) -> PlannedBatch | None:
        """Return the entry of a batch that has begun, by Spark's number; None: Spark has none, or has removed it."""
        if batch_id not in self._known:
            plan = self._read(batch_id)
            if plan is None:
                return None
            # Each batch asks for itself and the one or two batches before it.
            self._known = {b: known for b, known in self._known.items() if b > batch_id - _KEPT}
            self._known[batch_id] = plan
        return self._known[batch_id]

    def ranges_of(self, batch_id: int) -> list[tuple[int, range]]:
        """Return the partitions of a batch with their ranges of offsets; empty for an unknown batch."""
        plan, before = self.of(batch_id), self.of(batch_id - 1)
        if plan is None:
            return []
        # The first batch has no predecessor: its starts are in the source's own file.
        starts = self._initial_offsets() if before is None else before.ends
        return [
            (partition, range(starts.get(topic, {}).get(partition, 0), end))
            for topic, ends in plan.ends.items()
            for partition, end in ends.items()
        ]

    def _read(self, batch_id: int) -> PlannedBatch | None:
        name = f"{OFFSETS}/{batch_id}"
        text = self._in_memory(batch_id) or self._folder.read(name)
        lines = self._checked(name, text, at_least=3)
        if lines is None:
            return None
        _version, metadata, events, *_ = lines
        try:
            said = json.decode(metadata, type=_Metadata, strict=False)
            conf = said.conf
            return PlannedBatch(
                said.batchTimestampMs, _offsets(events), conf.partitions, conf.state_store
            )
        except DecodeError as error:
            raise self._folder.damaged(name, error) from error

    def _initial_offsets(self) -> Offsets:
        lines = self._checked(_INITIAL_OFFSETS, self._folder.read(_INITIAL_OFFSETS), at_least=2)
        if lines is None:
            return {}
        try:
            # The first line has a version.
            return _offsets(lines[-1])
        except DecodeError as error:
            raise self._folder.damaged(_INITIAL_OFFSETS, error) from error

    def _checked(self, name: str, text: str | None, *, at_least: int) -> list[str] | None:
        if text is None:
            return None
        lines = text.splitlines()
        if len(lines) < at_least:
            fault = f"it has {len(lines)} lines, and Spark writes at least {at_least}"
            raise self._folder.damaged(name, fault)
        return lines


def offsets_read(folder: CheckpointFolder, topic: str) -> dict[int, int]:
    """Return by partition the offset behind the last event of a topic that a committed batch has read."""
    plan, origin = Plans(folder).of(last_done_batch(folder)), read_origin(folder)
    if plan is not None:
        return plan.ends.get(topic, {})
    return origin.starting_offsets if origin else {}


def partitions_read(folder: CheckpointFolder, topic: str) -> int | None:
    """Return the topic's number of partitions at the last planned batch or at a rebuild; None: it was never read."""
    plan, origin = Plans(folder).of(last_planned_batch(folder)), read_origin(folder)
    if plan is not None:
        return len(plan.ends.get(topic, {})) or None
    return len(origin.starting_offsets) or None if origin else None


def state_partitions(folder: CheckpointFolder) -> int | None:
    """Return the number of state partitions after the last committed batch; None: no batch, or Spark did not write it."""
    return _partitions_of(Plans(folder), last_done_batch(folder))


def unended_repartition(folder: CheckpointFolder) -> int | None:
    """Return the number of state partitions of an open batch that changes it (rebuild/rebuild.py); None: there is none."""
    planned, done, plans = last_planned_batch(folder), last_done_batch(folder), Plans(folder)
    if planned <= done:
        return None
    wanted, present = _partitions_of(plans, planned), _partitions_of(plans, done)
    return wanted if present is not None and wanted != present else None


def _partitions_of(plans: Plans, batch_id: int) -> int | None:
    plan = plans.of(batch_id)
    return None if plan is None else plan.state_partitions


def _offsets(line: str) -> Offsets:
    # Spark writes a dash for a source without a position.
    return {} if line == "-" else json.decode(line, type=Offsets)
