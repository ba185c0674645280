"""Checks of partition counts: the events topic's, which orders a group's events, and the state's, set by the first run.

Kafka's hash maps a group to a partition by that number. After an increase a group's events are in two partitions, and
their offsets do not show which was sent first. Events of both are still handled, only without their order.
"""

from __future__ import annotations

import logging

from pyspark.sql import SparkSession

from group_coordinator.driver.errors import JobRefusedError
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.backlog import lowest_limit
from group_coordinator.streaming.checkpoint.folder import CheckpointFolder
from group_coordinator.streaming.checkpoint.layout import (
    PARTITIONS,
    coordinator_folder,
    has_begun,
    read_origin,
)
from group_coordinator.streaming.checkpoint.plans import (
    PlannedBatch,
    state_partitions,
    unended_repartition,
)
from group_coordinator.streaming.master import is_on_this_machine

_log = logging.getLogger(__name__)


def check_batch_limit(job: JobSettings, partitions: int) -> None:
    """Refuse a limit that would suspend the session timers of dead members as long as others are busy.

    Raises:
        JobRefusedError: the message names the limit and the lowest valid value.
    """
    limit, least = job.max_offsets_per_trigger, lowest_limit(partitions)
    # 0 is no limit.
    if 0 < limit < least:
        raise JobRefusedError(
            f"max.offsets.per.trigger = {limit} is too low for the {partitions} partitions of {job.events_topic}: "
            f"timers would be suspended in each batch with an event of each partition. Set at least {least}, or 0 "
            "for no limit"
        )


def check_no_new_partitions(topic: str, read: int | None, present: int) -> None:
    """Refuse a topic that got partitions while no job read it, as the order of the events since then is unknown.

    Args:
        topic: events.topic.
        read: its number of partitions when the checkpoint read it last; None: it never did.
        present: its present number of partitions.

    Raises:
        JobRefusedError: the message names both numbers and the remedy.
    """
    if read is not None and present > read:
        raise JobRefusedError(
            f"events.topic = {topic} has {present} partitions instead of the {read} of the last run: a group's "
            "events may be in two of them now, and later events may be handled before earlier ones. To accept "
            "this, run once with --accept-new-partitions. It has no effect on groups without new events since the "
            "job read all events"
        )


def report_new_partitions(
    topic: str, before: PlannedBatch | None, now: PlannedBatch | None
) -> None:
    """Log a warning if a batch is the first that reads more partitions than the batch before it."""
    if before is None or now is None:
        return
    read, present = len(before.ends.get(topic, {})), len(now.ends.get(topic, {}))
    if 0 < read < present:
        _log.warning(
            "events.topic = %s HAS MORE PARTITIONS, %d instead of %d: groups move to other partitions, and later "
            "events of a group may be handled before its unread events in the former partition",
            topic,
            present,
            read,
        )


def check_partitions(spark: SparkSession, job: JobSettings) -> str:
    """Return the number of state partitions of a run. A first run on a cluster must choose it.

    Raises:
        JobRefusedError: it would depend on the present executors, or a `rebuild` that changes it has not ended.
    """
    folder = coordinator_folder(spark, job)
    partitions = (
        _kept(folder, job.shuffle_partitions) if has_begun(folder) else _chosen(spark, job, folder)
    ) or spark.conf.get(PARTITIONS)
    _log.info("the state has %s partitions", partitions)
    return str(partitions)


def _kept(folder: CheckpointFolder, wanted: int) -> int | None:
    # Spark uses the checkpoint's number, whatever the settings are.
    unended = unended_repartition(folder)
    if unended is not None:
        raise JobRefusedError(
            f"checkpoint {folder.location}: `group-coordinator rebuild --partitions {unended}` was interrupted: "
            "run it again to complete it"
        )
    kept = state_partitions(folder)
    if kept is not None and wanted not in {0, kept}:
        _log.warning(
            "shuffle.partitions = %d: the state in %s has %d partitions and keeps them; to change their number, "
            "stop the job and run `group-coordinator rebuild --partitions %d`",
            *(wanted, folder.location, kept, wanted),
        )
    return kept


def _chosen(spark: SparkSession, job: JobSettings, folder: CheckpointFolder) -> int | None:
    origin = read_origin(folder)
    of_the_rebuild = None if origin is None else origin.partitions
    is_chosen = job.shuffle_partitions or spark.sparkContext.getConf().contains(PARTITIONS)
    if not (of_the_rebuild or is_on_this_machine(spark) or is_chosen):
        raise JobRefusedError(
            "shuffle.partitions = 0: on a cluster the number of state partitions must be given at the first "
            f"start, by --set shuffle.partitions=N or --conf {PARTITIONS}=N. Set it to the number of executor "
            "cores at the highest load; it stays until a rebuild"
        )
    return of_the_rebuild
