"""What Spark has written down of its batches before it began them: their times, and how far in the events topic they go."""

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
"""Where the Kafka source keeps what it began with."""
_KEPT = 3

Offsets = dict[str, dict[int, int]]
"""By topic and partition."""
TextOfPlan = Callable[[int], str | None]
"""What Spark has written in `offsets` of a batch; None: nothing."""


def _nothing(_batch_id: int) -> None:
    """Before a query runs."""


class Plan(Struct, frozen=True):
    """A batch: its time, the offsets behind its last events, and of its state the number of partitions and Spark's class."""

    at_ms: int
    ends: Offsets
    state_partitions: int | None = None
    state_store: str = ""


class _Conf(Struct):
    """Settings of Spark's that belong to a checkpoint; all are texts."""

    partitions: int | None = field(default=None, name=PARTITIONS)
    state_store: str = field(default="", name=STATE_STORE)


class _Metadata(Struct):
    """The second line of a file that Spark has in `offsets`."""

    batchTimestampMs: int  # noqa: N815 - Spark's name
    conf: _Conf = field(default_factory=_Conf)


class Plans:
    """Reads a plan once: to ask costs a read. One batch at a time, by the thread that begins it.

    A file that does not say what Spark writes raises DamagedFileError: Spark would trip over it later.
    """

    def __init__(self, folder: CheckpointFolder) -> None:
        self._folder = folder
        self._known: dict[int, Plan] = {}
        self._in_memory: TextOfPlan = _nothing

    def follow(self, texts: TextOfPlan) -> None:
        """Ask a running query first: it has the last plans in memory, and to read a file may take a store long."""
        self._in_memory = texts

    def of(self, batch_id: int) -> Plan | None:
        """The plan of a batch that has begun, by Spark's number; None: Spark does not know, or not any more."""
        if batch_id not in self._known:
            plan = self._read(batch_id)
            if plan is None:
                return None
            self._known = {b: known for b, known in self._known.items() if b > batch_id - _KEPT}
            self._known[batch_id] = plan
        return self._known[batch_id]

    def ranges_of(self, batch_id: int) -> list[tuple[int, range]]:
        """The partitions of a batch with the offsets that it takes; nothing of a batch that Spark does not know."""
        plan, before = self.of(batch_id), self.of(batch_id - 1)
        if plan is None:
            return []
        starts = self._initial_offsets() if before is None else before.ends
        return [
            (partition, range(starts.get(topic, {}).get(partition, 0), end))
            for topic, ends in plan.ends.items()
            for partition, end in ends.items()
        ]

    def _read(self, batch_id: int) -> Plan | None:
        name = f"{OFFSETS}/{batch_id}"
        text = self._in_memory(batch_id) or self._folder.read(name)
        lines = self._checked(name, text, at_least=3)
        if lines is None:
            return None
        _version, metadata, events, *_ = lines
        try:
            said = json.decode(metadata, type=_Metadata, strict=False)
            conf = said.conf
            return Plan(said.batchTimestampMs, _offsets(events), conf.partitions, conf.state_store)
        except DecodeError as error:
            raise self._folder.damaged(name, error) from error

    def _initial_offsets(self) -> Offsets:
        """The first line has a version."""
        lines = self._checked(_INITIAL_OFFSETS, self._folder.read(_INITIAL_OFFSETS), at_least=2)
        if lines is None:
            return {}
        try:
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
    """By partition the offset behind what was read of a topic, up to the last batch that is done."""
    plan, origin = Plans(folder).of(last_done_batch(folder)), read_origin(folder)
    if plan is not None:
        return plan.ends.get(topic, {})
    return origin.starting_offsets if origin else {}


def partitions_read(folder: CheckpointFolder, topic: str) -> int | None:
    """How many partitions the topic had when a batch was planned last, or at a rebuild; None: it was never read."""
    plan, origin = Plans(folder).of(last_planned_batch(folder)), read_origin(folder)
    if plan is not None:
        return len(plan.ends.get(topic, {})) or None
    return len(origin.starting_offsets) or None if origin else None


def state_partitions(folder: CheckpointFolder) -> int | None:
    """The number of state partitions after the last batch that is done; None: no batch is, or Spark did not say it."""
    return _partitions_of(Plans(folder), last_done_batch(folder))


def unended_repartition(folder: CheckpointFolder) -> int | None:
    """The number of state partitions in a batch of Spark's that was to change it and is not done; None: there is none."""
    planned, done, plans = last_planned_batch(folder), last_done_batch(folder), Plans(folder)
    if planned <= done:
        return None
    wanted, present = _partitions_of(plans, planned), _partitions_of(plans, done)
    return wanted if present is not None and wanted != present else None


def _partitions_of(plans: Plans, batch_id: int) -> int | None:
    plan = plans.of(batch_id)
    return None if plan is None else plan.state_partitions


def _offsets(line: str) -> Offsets:
    """A source without a position has a dash."""
    return {} if line == "-" else json.decode(line, type=Offsets)
