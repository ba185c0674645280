"""Run of `group-coordinator rebuild` and jobs/rebuild_checkpoint.py."""

from __future__ import annotations

from collections.abc import Mapping

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.coordinator_topics import check_topics
from group_coordinator.clients.cluster.topics import offsets_present
from group_coordinator.driver.coordinator import prepare_tables
from group_coordinator.driver.error_causes import reported_start_errors
from group_coordinator.driver.session import MakeSession, session
from group_coordinator.observability.logs import set_up_logs
from group_coordinator.settings import Settings
from group_coordinator.streaming.checkpoint.layout import coordinator_folder, has_begun
from group_coordinator.streaming.rebuild.rebuild import Rebuilt, rebuild, repartition


@reported_start_errors()
def rebuild_checkpoint(
    settings: Settings, make_session: MakeSession, partitions: int | None
) -> list[str]:
    """Rebuild the coordinator's checkpoint, or divide an existing one's state into `partitions`; report its start.

    Without partitions an existing checkpoint is refused and stays unchanged.
    """
    set_up_logs()
    job = settings.job
    connection = Connection.of(job)
    # Before Spark starts, which takes much longer.
    check_topics(connection, job)
    present = offsets_present(connection, job.events_topic)
    with session(make_session) as spark:
        prepare_tables(spark, job)
        if partitions is not None and has_begun(coordinator_folder(spark, job)):
            before = repartition(spark, job, partitions)
            return [f"state partitions: {partitions} instead of {before}; groups are unchanged"]
        rebuilt = rebuild(spark, job, present, partitions)
    return summary(rebuilt, job.events_topic, present)


def summary(rebuilt: Rebuilt, topic: str, present: Mapping[int, range]) -> list[str]:
    """Return lines for the user before the next `run`."""
    begins = rebuilt.origin.starting_offsets
    return [
        f"groups: {rebuilt.origin.groups}",
        f"the next batch: {rebuilt.origin.first_batch_id}",
        *(
            f"{topic} {partition} continues at {offset}: {present[partition].stop - offset} to read"
            + _gone(rebuilt.handled.get(partition), offset)
            for partition, offset in begins.items()
        ),
        "the log does not have the topic metadata of groups",
        "`run` sends it to consumer groups again; send other TopicMetadata events again",
    ]


def _gone(handled: int | None, begins: int) -> str:
    # Retention may have removed events of which the log has no records.
    expected = 0 if handled is None else handled + 1
    return f"; {expected} to {begins - 1} are lost" if expected < begins else ""
