"""The steps of a batch of the mirror at which it is killed; those of its compaction are the coordinator's (steps.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from group_coordinator.mirror.sinks import MirrorSinks
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.definition import TableDefinition
from group_coordinator.tables.writer import Writer
from tests.faults.steps import Trigger, after, before


def mirror_before_a_batch(trigger: Trigger) -> None:
    """It is planned, and nothing of it is done."""

    def note_and_fire(_sinks: MirrorSinks, _batch: Any, batch_id: int) -> None:
        trigger.current_batch = batch_id
        trigger.fire()

    before(MirrorSinks, "write", note_and_fire)


def mirror_after_decoding(trigger: Trigger) -> None:
    """Nothing is in a table."""
    _note_batches(trigger)
    before(Writer, "append_once", lambda *_: trigger.fire())


def mirror_after_the_log(trigger: Trigger) -> None:
    """The dead letters are still to be appended."""
    _note_batches(trigger)

    def of_the_log(_writer: Any, _rows: Any, table: TableDefinition, _: int) -> None:
        if table == COORDINATOR_LOG:
            trigger.fire()

    after(Writer, "append_once", of_the_log)


def mirror_before_the_commit(trigger: Trigger) -> None:
    """All is written; only Spark does not know it yet."""
    _note_batches(trigger)
    after(MirrorSinks, "write", lambda *_: trigger.fire())


def _note_batches(trigger: Trigger) -> None:
    def note(_sinks: MirrorSinks, _batch: Any, batch_id: int) -> None:
        trigger.current_batch = batch_id

    before(MirrorSinks, "write", note)


MIRROR_STEPS: dict[str, Callable[[Trigger], None]] = {
    "mirror-before-a-batch": mirror_before_a_batch,
    "mirror-after-decoding": mirror_after_decoding,
    "mirror-after-the-log": mirror_after_the_log,
    "mirror-before-the-commit": mirror_before_the_commit,
}
COMPACTION_STEPS = ("between-members-and-offsets", "between-offsets-and-groups", "after-all-merges")
"""Those of steps.py that a mirror gets to too."""
