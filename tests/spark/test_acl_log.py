"""The rules that a batch goes by, whatever they are when it is done again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from pyspark.errors import PythonException
from pyspark.sql import SparkSession

from group_coordinator.core.acls import Acls, Operation, RequestSender, ResourceType
from group_coordinator.runtime.update_group import UpdateContext
from group_coordinator.settings import Settings
from group_coordinator.streaming.checkpoint.batch_settings import pin
from group_coordinator.streaming.checkpoint.folder import CheckpointFolder, DamagedFileError
from group_coordinator.streaming.checkpoint.layout import coordinator_folder
from group_coordinator.streaming.operator.worker_function import in_this_task
from group_coordinator.streaming.task_properties import ACLS_PROPERTY, AclLog
from tests.support.acls import rules

pytestmark = pytest.mark.spark

READER = Acls(rules("ALLOW User:a READ GROUP billing"))
NOBODY = Acls(())


@pytest.fixture
def folder(spark: SparkSession, configured: Settings) -> CheckpointFolder:
    """Of a checkpoint whose last run had rules."""
    pin(spark, replace(configured, job=replace(configured.job, acls_source="file")))
    return coordinator_folder(spark, configured.job)


@pytest.fixture(autouse=True)
def no_rules_for_others(spark: SparkSession) -> Iterator[None]:
    yield
    spark.sparkContext.setLocalProperty(ACLS_PROPERTY, None)


def plan(folder: CheckpointFolder, batch_id: int) -> None:
    folder.write(f"offsets/{batch_id}", "v1")


def end(folder: CheckpointFolder, batch_id: int) -> None:
    folder.write(f"commits/{batch_id}", "v1")


def run_with(acls: Acls, spark: SparkSession, folder: CheckpointFolder) -> AclLog:
    """A run whose first query is about to begin."""
    log = AclLog(spark, folder)
    log.take(acls)
    log.before_query()
    return log


def may_read(spark: SparkSession, settings: Settings, *, checks_acls: bool = True) -> bool | None:
    """Whether a task of this thread lets User:a read the group; None: it lets everybody do everything."""
    context = UpdateContext(
        settings.coordinator, "group-events", 0, timers_hold=False, checks_acls=checks_acls
    )

    def asked(_: int) -> bool | None:
        acls = in_this_task(context).acls
        if acls is None:
            return None
        identities = acls.identities(RequestSender("User:a", "127.0.0.1"))
        assert identities is not None
        return acls.allows(identities, Operation.READ, ResourceType.GROUP, "billing")

    [answer] = spark.sparkContext.parallelize([0], 1).map(asked).collect()
    return answer


def test_tasks_know_the_rules_that_were_there_when_their_batch_began(
    spark: SparkSession, configured: Settings, folder: CheckpointFolder
) -> None:
    log = run_with(READER, spark, folder)
    log.begin(0)
    assert may_read(spark, configured) is True

    log.take(NOBODY)
    assert may_read(spark, configured) is True
    log.begin(1)
    assert may_read(spark, configured) is False
    assert may_read(spark, configured, checks_acls=False) is None


def test_a_batch_that_is_done_again_goes_by_the_rules_that_it_began_with(
    spark: SparkSession, configured: Settings, folder: CheckpointFolder
) -> None:
    killed = run_with(READER, spark, folder)
    plan(folder, 0)
    killed.begin(0)

    again = run_with(NOBODY, spark, folder)
    again.begin(0)
    assert may_read(spark, configured) is True
    end(folder, 0)
    plan(folder, 1)
    again.begin(1)
    assert may_read(spark, configured) is False


def test_a_batch_that_was_planned_and_not_begun_has_rules_too(
    spark: SparkSession, configured: Settings, folder: CheckpointFolder
) -> None:
    """The next run may have been told to go by none: it ends that batch with its own settings."""
    run_with(READER, spark, folder)
    plan(folder, 0)

    again = AclLog(spark, folder)
    again.before_query()
    again.begin(0)

    assert may_read(spark, configured) is True


def test_a_query_that_fails_and_begins_anew_goes_by_the_same_rules(
    spark: SparkSession, configured: Settings, folder: CheckpointFolder
) -> None:
    log = run_with(READER, spark, folder)
    plan(folder, 0)
    log.begin(0)
    log.take(NOBODY)

    log.before_query()
    log.begin(0)

    assert may_read(spark, configured) is True


@pytest.mark.parametrize(
    ("cut", "fault"),
    [
        (0, "Error -5 while decompressing data: incomplete or truncated stream"),
        (10, "Incorrect padding"),
        (12, "Error -5 while decompressing data: incomplete or truncated stream"),
    ],
)
def test_rules_of_an_open_batch_that_are_damaged_are_told_before_it_begins(
    spark: SparkSession, folder: CheckpointFolder, cut: int, fault: str
) -> None:
    run_with(READER, spark, folder)
    plan(folder, 0)
    kept = folder.read("acls/0")
    assert kept is not None
    folder.write("acls/0", kept[:cut])

    again = AclLog(spark, folder)
    again.take(NOBODY)
    with pytest.raises(DamagedFileError) as refused:
        again.before_query()

    assert str(refused.value) == (
        f"{folder.location}/acls/0 is damaged ({fault}): restore a copy of it, or move the checkpoint away and "
        "start again: the start then names the next step"
    )
    assert folder.read("acls/0") == kept[:cut]


def test_damaged_rules_that_no_batch_needs_are_replaced(
    spark: SparkSession, configured: Settings, folder: CheckpointFolder
) -> None:
    run_with(READER, spark, folder)
    folder.write("acls/0", "")

    run_with(NOBODY, spark, folder).begin(0)

    assert may_read(spark, configured) is False


def test_rules_that_kafka_4_4_would_not_take_are_known_as_they_are(
    spark: SparkSession, configured: Settings, folder: CheckpointFolder
) -> None:
    """Brokers before it check no hosts."""
    log = AclLog(spark, folder)
    odd = rules("ALLOW User:b READ GROUP billing FROM 10.0.0.0/33", "DENY nobody ALL GROUP other")
    log.take(Acls((*READER.rules, *odd)))
    log.before_query()
    log.begin(0)

    assert may_read(spark, configured) is True


def test_an_open_batch_that_a_version_without_rules_began_goes_by_those_of_now(
    spark: SparkSession, configured: Settings, folder: CheckpointFolder
) -> None:
    long_ago = run_with(NOBODY, spark, folder)
    plan(folder, 0)
    long_ago.begin(0)
    pin(spark, configured)  # as a run without rules does

    now = run_with(READER, spark, folder)
    now.begin(0)

    assert may_read(spark, configured) is True


def test_rules_of_a_run_long_ago_do_not_come_back(
    spark: SparkSession, configured: Settings, folder: CheckpointFolder
) -> None:
    log = run_with(READER, spark, folder)
    log.begin(0)

    without = AclLog(spark, folder)
    without.before_query()
    without.begin(0)

    assert folder.read_newest("acls") is None
    with pytest.raises(PythonException, match="the batch has no ACLs"):
        may_read(spark, configured)
