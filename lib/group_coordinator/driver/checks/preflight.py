"""All checks of a start at once; a start itself ends with the first failed check.

Kafka's hash maps a group to a partition of the events topic by their number. After an increase a group's events are in two
partitions, and their offsets do not show which was sent first. Events of both are still handled, only without their order.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import NamedTuple

from deltalake.exceptions import DeltaError
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.coordinator_topics import (
    check_nothing_answered,
    check_topics,
)
from group_coordinator.clients.cluster.event_writer import write_ticks
from group_coordinator.clients.cluster.topics import offsets_present
from group_coordinator.driver.checks.rights import look_at_rights, missing_message, named
from group_coordinator.driver.checks.storage import (
    check_catalog_takes_appends,
    check_storage,
    check_tables_take_files,
    check_takes_files,
)
from group_coordinator.driver.checks.workers import (
    check_certificates,
    check_workers,
    is_on_this_machine,
    worker_here,
)
from group_coordinator.driver.error_causes import reported_start_errors
from group_coordinator.driver.errors import StartUpError
from group_coordinator.driver.session import MakeSession, session
from group_coordinator.driver.tasks.acls import reader_of_acls, way_past_rules
from group_coordinator.driver.tasks.monitors import check_clock
from group_coordinator.gateway.run import ONE_USER_TOLD, clients_share_one_user
from group_coordinator.settings import JobSettings, Settings
from group_coordinator.streaming.checkpoint.batch_settings import settings_of_open_batch
from group_coordinator.streaming.checkpoint.folder import CheckpointFolder
from group_coordinator.streaming.checkpoint.layout import (
    PARTITIONS,
    coordinator_folder,
    has_begun,
    read_origin,
)
from group_coordinator.streaming.checkpoint.ownership import check_may_write
from group_coordinator.streaming.checkpoint.plans import (
    PlannedBatch,
    partitions_read,
    state_partitions,
    unended_repartition,
)
from group_coordinator.streaming.source import lowest_limit, read_last_events
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.creation import check_tables
from group_coordinator.tables.delta_errors import in_one_line
from group_coordinator.tables.storage_errors import with_cure

_log = logging.getLogger(__name__)


def check_batch_limit(job: JobSettings, partitions: int) -> None:
    """Refuse, with StartUpError, a limit that would suspend the timers of dead members as long as others are busy."""
    limit, least = job.max_offsets_per_trigger, lowest_limit(partitions)
    # 0 is no limit.
    if 0 < limit < least:
        raise StartUpError(
            f"max.offsets.per.trigger = {limit} is too low for the {partitions} partitions of {job.events_topic}: "
            f"timers would be suspended in each batch with an event of each partition. Set at least {least}, or 0 "
            "for no limit"
        )


def check_no_new_partitions(topic: str, read: int | None, present: int) -> None:
    """Refuse a topic with more partitions than were `read` before (None: none were), as the order of the events is unknown.

    Raises:
        StartUpError: the message names both numbers and the remedy.
    """
    if read is not None and present > read:
        raise StartUpError(
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
        StartUpError: it would depend on the present executors, or a `rebuild` that changes it has not ended.
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
        raise StartUpError(
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
        raise StartUpError(
            "shuffle.partitions = 0: on a cluster the number of state partitions must be given at the first "
            f"start, by --set shuffle.partitions=N or --conf {PARTITIONS}=N. Set it to the number of executor "
            "cores at the highest load; it stays until a rebuild"
        )
    return of_the_rebuild


class CheckResult(NamedTuple):
    """The result of a check: the state of a prerequisite, or its fault and the remedy; the program may run without it."""

    subject: str
    is_right: bool
    text: str
    is_needed: bool = True


def preflight(settings: Settings, make_session: MakeSession) -> Iterator[CheckResult]:
    """Check all prerequisites of a run; only Ticks in the events topic, and the checkpoint's empty folder, stay behind."""
    job, connection = settings.job, Connection.of(settings.job)
    topics = _looked("topics", lambda: _topics(connection, job))
    yield topics
    yield from rights_of("run", job, connection)
    yield from identity_of_clients(job, connection)
    # A cluster may create a missing topic with its defaults at any request for it.
    if topics.is_right:
        yield from _with_kafka(connection, job)
    try:
        with session(make_session) as spark:
            if topics.is_right:
                yield from _with_spark_and_kafka(spark, job, connection)
            yield from _with_spark(spark, settings, connection)
    except StartUpError as error:
        yield CheckResult("Spark", is_right=False, text=str(error))


def rights_of(program: str, job: JobSettings, connection: Connection) -> Iterator[CheckResult]:
    """Check the program's rows of RIGHTS; yield the rights that its user has, then each missing right."""
    try:
        with reported_start_errors():
            looked = list(look_at_rights(program, job, connection))
    except StartUpError as error:
        yield CheckResult("rights", is_right=False, text=str(error))
        return
    if held := [named(each.right) for each in looked if each.is_held]:
        yield CheckResult("rights", is_right=True, text=", ".join(held))
    if untold := [named(each.right) for each in looked if each.is_held is None]:
        text = f"the brokers do not show whether this user has {', '.join(untold)}"
        yield CheckResult("rights", is_right=True, text=text)
    for each in looked:
        if each.is_held is False:
            text = missing_message(program, each, connection)
            yield CheckResult(
                "rights", is_right=False, text=text, is_needed=each.need.without is None
            )


def identity_of_clients(job: JobSettings, connection: Connection) -> Iterator[CheckResult]:
    if clients_share_one_user(job, connection.options):
        yield CheckResult("gateway", is_right=False, text=ONE_USER_TOLD, is_needed=False)


def _with_kafka(connection: Connection, job: JobSettings) -> Iterator[CheckResult]:
    yield _looked("clock", lambda: _clock(connection, job))
    yield _looked("rate limit", lambda: _batch_limit(connection, job))
    yield _looked("ACLs", lambda: _acls(connection, job))
    past = _looked("authorizer", lambda: way_past_rules(job, connection) or "")
    if past.text:
        yield past._replace(is_right=False, is_needed=not past.is_right)


def _with_spark(
    spark: SparkSession, settings: Settings, connection: Connection
) -> Iterator[CheckResult]:
    job = settings.job
    yield _looked("workers", lambda: _workers(spark, job))
    yield _looked("storage", lambda: _storage(spark, job))
    tables = _looked("tables", lambda: _tables(spark, job))
    yield tables
    # The next two checks read the tables, and would only repeat this fault.
    if tables.is_right:
        yield _looked("rights on tables", lambda: _table_rights(spark, job))
        yield _looked("checkpoint", lambda: _checkpoint(spark, settings, connection))
    yield _looked("state partitions", lambda: _partitions(spark, job))


def _with_spark_and_kafka(
    spark: SparkSession, job: JobSettings, connection: Connection
) -> Iterator[CheckResult]:
    yield _looked("Kafka from tasks", lambda: _events(spark, connection, job))
    yield _looked("events partitions", lambda: _events_partitions(spark, connection, job))


def _looked(subject: str, look: Callable[[], str]) -> CheckResult:
    try:
        with reported_start_errors():
            return CheckResult(subject, is_right=True, text=look())
    except StartUpError as error:
        return CheckResult(subject, is_right=False, text=str(error))
    except DeltaError as failure:
        text = in_one_line(failure)
    except Py4JJavaError as failure:
        text = _in_one_line(str(failure.java_exception))
    except (PySparkException, Py4JError) as failure:
        text = _in_one_line(str(failure))
    return CheckResult(subject, is_right=False, text=text)


def _in_one_line(failure: str) -> str:
    said = next((line.strip() for line in failure.splitlines() if line.strip()), "no reason given")
    return with_cure(said, failure)


def _topics(connection: Connection, job: JobSettings) -> str:
    check_topics(connection, job)
    sizes = (
        f"{name} has {len(offsets_present(connection, name))} partitions"
        for name in (job.events_topic, job.responses_topic)
    )
    return ", ".join(sizes)


def _clock(connection: Connection, job: JobSettings) -> str:
    ticks = write_ticks(connection, job.events_topic)
    check_clock(ticks.ahead_ms, job.timer_slack_ms)
    return (
        f"{ticks.ahead_ms} ms ahead of the brokers', within timer.slack.ms = {job.timer_slack_ms}"
    )


def _batch_limit(connection: Connection, job: JobSettings) -> str:
    check_batch_limit(job, len(offsets_present(connection, job.events_topic)))
    return f"max.offsets.per.trigger = {job.max_offsets_per_trigger}"


def _acls(connection: Connection, job: JobSettings) -> str:
    with reader_of_acls(job, connection) as read:
        if read is None:
            return "acls.source = none: every user may do everything with groups"
        return f"acls.source = {job.acls_source}: {len(read().rules)} ACLs"


def _workers(spark: SparkSession, job: JobSettings) -> str:
    check_workers(spark, job.exchange)
    check_certificates(spark, job.security)
    return f"Spark {spark.version}, {worker_here().versions}"


def _events(spark: SparkSession, connection: Connection, job: JobSettings) -> str:
    # The tasks' jars, login and network path differ from those of the driver's Python.
    present = offsets_present(connection, job.events_topic)
    return f"tasks have read {read_last_events(spark, job, present)} events"


def _events_partitions(spark: SparkSession, connection: Connection, job: JobSettings) -> str:
    present = len(offsets_present(connection, job.events_topic))
    read = partitions_read(coordinator_folder(spark, job), job.events_topic)
    check_no_new_partitions(job.events_topic, read, present)
    return f"{present}, none read yet" if read is None else f"{present}, {read} read before"


def _storage(spark: SparkSession, job: JobSettings) -> str:
    check_storage(spark, job)
    folder = coordinator_folder(spark, job)
    check_takes_files(folder, f"checkpoint.location = {job.checkpoint_location}")
    return f"{folder.location} can be written"


def _tables(spark: SparkSession, job: JobSettings) -> str:
    check_tables(spark, job.tables_root)
    return f"all are in {job.tables_root}"


def _table_rights(spark: SparkSession, job: JobSettings) -> str:
    if TableCatalog(job.tables_root).is_schema:
        check_catalog_takes_appends(spark, job.tables_root)
        return "the catalog accepts appends; the first batch shows if its storage accepts files"
    check_tables_take_files(spark, job.tables_root)
    return "every table accepts files"


def _checkpoint(spark: SparkSession, settings: Settings, connection: Connection) -> str:
    job = settings.job
    identity = check_may_write(spark, job, lambda: check_nothing_answered(connection, job))
    if settings_of_open_batch(spark, settings, allows_other_version=False) is not None:
        return "its open batch began with other settings, and ends with them"
    epoch = identity.epoch
    return f"a new one for cluster.id = {job.cluster_id}" if epoch is None else f"epoch {epoch}"


def _partitions(spark: SparkSession, job: JobSettings) -> str:
    return check_partitions(spark, job)
