"""The steps of a batch at which the job is killed, each as a change to one function of the job.

Batches of few events have a way of their own (streaming/small_batch.py): a step is that way's, unless its name ends with `of-many-events`.

A kill is SIGKILL, mostly for the driver and its JVM at once. It comes in the first batch from `Trigger.batch` on that gets to
the step, and only once: a file says that it has come.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields
from pathlib import Path
from threading import Thread
from typing import Any

from pyspark.sql import DataFrame

from group_coordinator.clients.cluster.lasting_client import ResponseWriter
from group_coordinator.runtime.outputs import Responses
from group_coordinator.runtime.update_group import UpdateContext
from group_coordinator.settings import JobSettings
from group_coordinator.streaming import batch_writer, coordinator_query, small_batch
from group_coordinator.streaming.batch_writer import Sinks
from group_coordinator.streaming.checkpoint.layout import QUERY_NAME, checkpoint_of
from group_coordinator.tables.compaction import compaction
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.definition import TableDefinition
from group_coordinator.tables.state_tables import GROUPS, OFFSETS
from group_coordinator.tables.writer import Writer
from tests.faults.deadly_worker import DeadlyContext
from tests.support.stores import names_below

_SOME_RESPONSES = 5


def _kill_all() -> None:
    os.killpg(os.getpgrp(), signal.SIGKILL)


def _kill_driver() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@dataclass
class Trigger:
    """When the fault comes, and what it is."""

    batch: int
    marker: Path
    current_batch: int = -1
    kill: Callable[[], None] = _kill_all

    @property
    def is_due(self) -> bool:
        return self.current_batch >= self.batch and not self.marker.exists()

    def fire(self) -> None:
        """Kill, unless that has been done."""
        if self.is_due:
            self.marker.touch()
            self.kill()


def before_the_state_commit(trigger: Trigger) -> None:
    before(Sinks, "write", _noting_batch(trigger))


def amid_the_state_commit(trigger: Trigger) -> None:
    """As soon as one partition has its new version; the others may have theirs or not."""

    def watch(sinks_: Sinks, _batch: Any, batch_id: int) -> None:
        trigger.current_batch = batch_id
        if trigger.is_due:
            _watch(trigger, sinks_, batch_id)

    before(Sinks, "write", watch)


def driver_alone(trigger: Trigger) -> None:
    """The driver dies in the middle of a batch, and its JVM some moments later; the lock is gone with the driver."""

    def watch(sinks_: Sinks, _batch: Any, batch_id: int) -> None:
        trigger.current_batch = batch_id
        if trigger.is_due:
            trigger.kill = _kill_driver
            _watch(trigger, sinks_, batch_id)

    before(Sinks, "write", watch)


def before_the_responses(trigger: Trigger) -> None:
    _note_batches(trigger)
    before(batch_writer, "send", lambda *_: trigger.fire())
    before(ResponseWriter, "writing", lambda *_: trigger.fire())


def amid_the_responses(trigger: Trigger) -> None:
    _note_batches(trigger)
    send = batch_writer.send

    def send_some(responses: DataFrame, job: JobSettings) -> None:
        if trigger.is_due:
            send(responses.limit(_SOME_RESPONSES), job)
        trigger.fire()
        send(responses, job)

    writing = ResponseWriter.writing

    def write_some(
        writer: ResponseWriter, responses: Sequence[Responses]
    ) -> AbstractContextManager[None]:
        if trigger.is_due:
            with writing(writer, responses[:_SOME_RESPONSES]):
                pass
        trigger.fire()
        return writing(writer, responses)

    setattr(batch_writer, "send", send_some)  # noqa: B010 - as in before
    setattr(ResponseWriter, "writing", write_some)  # noqa: B010 - as in before


def after_the_responses(trigger: Trigger) -> None:
    """Of many events; those of few are on their way."""
    _note_batches(trigger)
    before(Sinks, "_keep", lambda *_: trigger.fire())


def after_the_log(trigger: Trigger) -> None:
    """The dead letters are still to be appended, and of few events perhaps responses still to be sent."""
    _note_batches(trigger)

    def of_the_log(_writer: Any, _rows: Any, table: TableDefinition, _: int) -> None:
        if table == COORDINATOR_LOG:
            trigger.fire()

    after(Writer, "append_once", of_the_log)


def of_many_events(step: Callable[[Trigger], None]) -> Callable[[Trigger], None]:
    """The same step on the way of batches that have many events."""

    def changed(trigger: Trigger) -> None:
        small_batch._MOST_EVENTS = -1  # noqa: SLF001
        step(trigger)

    return changed


def before_the_commit(trigger: Trigger) -> None:
    """All is written; only Spark does not know it yet."""
    _note_batches(trigger)
    after(Sinks, "write", lambda *_: trigger.fire())


def between_members_and_offsets(trigger: Trigger) -> None:
    before(compaction, "_merge", _at_table(trigger, OFFSETS))


def between_offsets_and_groups(trigger: Trigger) -> None:
    before(compaction, "_merge", _at_table(trigger, GROUPS))


def after_all_merges(trigger: Trigger) -> None:
    after(compaction, "_merge", _at_table(trigger, GROUPS))


def worker_amid_a_batch(trigger: Trigger) -> None:
    """Not the driver: the Python worker that is at a group's call dies, once."""
    coordinate = coordinator_query.coordinate

    def coordinate_deadly(events: Any, context: UpdateContext, exchange: Any) -> Any:
        of_context = {field.name: getattr(context, field.name) for field in fields(UpdateContext)}
        deadly = DeadlyContext(**of_context, marker=str(trigger.marker))
        return coordinate(events, deadly, exchange)

    coordinator_query.coordinate = coordinate_deadly


def _note_batches(trigger: Trigger) -> None:
    def note(_sinks: Sinks, _batch: Any, batch_id: int) -> None:
        trigger.current_batch = batch_id

    before(Sinks, "write", note)


def _noting_batch(trigger: Trigger) -> Callable[..., None]:
    def note_and_fire(_sinks: Sinks, _batch: Any, batch_id: int) -> None:
        trigger.current_batch = batch_id
        trigger.fire()

    return note_and_fire


def _at_table(trigger: Trigger, wanted: TableDefinition) -> Callable[..., None]:
    def fire(_folder: Path, definition: TableDefinition, *rest: Any) -> None:
        _changes, _of_cluster, once = rest
        trigger.current_batch = once.version
        if definition == wanted:
            trigger.fire()

    return fire


def _watch(trigger: Trigger, sinks_: Sinks, batch_id: int) -> None:
    """Fire when the first partition has its state after this batch."""
    state = f"{checkpoint_of(sinks_.job, QUERY_NAME)}/state/0"
    version = re.compile(rf"{batch_id + 1}[._]")

    def fire() -> None:
        while not any(map(version.match, names_below(state))):
            pass
        trigger.fire()

    Thread(target=fire).start()


def before(owner: Any, name: str, first: Callable[..., None]) -> None:
    """Let something happen before each call of a function."""
    function = getattr(owner, name)

    def changed(*arguments: Any) -> Any:
        first(*arguments)
        return function(*arguments)

    setattr(owner, name, changed)


def after(owner: Any, name: str, then: Callable[..., None]) -> None:
    """Let something happen after each call of a function."""
    function = getattr(owner, name)

    def changed(*arguments: Any) -> None:
        function(*arguments)
        then(*arguments)

    setattr(owner, name, changed)


WORKER_STEP = "worker-amid-a-batch"

STEPS: dict[str, Callable[[Trigger], None]] = {
    "before-the-state-commit": before_the_state_commit,
    "amid-the-state-commit": amid_the_state_commit,
    "driver-alone": driver_alone,
    "before-the-responses": before_the_responses,
    "amid-the-responses": amid_the_responses,
    "after-the-responses": after_the_responses,
    "after-the-log": after_the_log,
    "before-the-commit": before_the_commit,
    "before-the-responses-of-many-events": of_many_events(before_the_responses),
    "amid-the-responses-of-many-events": of_many_events(amid_the_responses),
    "after-the-responses-of-many-events": of_many_events(after_the_responses),
    "after-the-log-of-many-events": of_many_events(after_the_log),
    "between-members-and-offsets": between_members_and_offsets,
    "between-offsets-and-groups": between_offsets_and_groups,
    "after-all-merges": after_all_merges,
    WORKER_STEP: worker_amid_a_batch,
}
