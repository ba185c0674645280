"""The rules that a batch goes by, whatever they are when it is done again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest
from pyspark.errors import PythonException
from pyspark.sql import SparkSession

from group_coordinator.clients.errors import BrokerUnreachableError
from group_coordinator.core.acls import Acls, Operation, RequestSender, ResourceType
from group_coordinator.runtime.basis import unpacked_acls
from group_coordinator.runtime.update_group import UpdateContext
from group_coordinator.settings import Settings
from group_coordinator.streaming.checkpoint.batch_settings import StatesRead, basis_of, pin
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
    log = AclLog(spark, folder, lambda _: {})
    log.take(acls)
    log.before_query()
    return log


def may_read(spark: SparkSession, settings: Settings, *, checks_acls: bool = True) -> bool | None:
    """Whether a task of this thread lets User:a read the group; None: it lets everybody do everything."""
    context = UpdateContext(
        settings.coordinator, "group-events", 0, timers_suspended=False, checks_acls=checks_acls
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
    log.begin(0, {})
    assert may_read(spark, configured) is True

    log.take(NOBODY)
    assert may_read(spark, configured) is True
    log.begin(1, {})
    assert may_read(spark, configured) is False
    assert may_read(spark, configured, checks_acls=False) is None


def test_a_batch_that_is_done_again_goes_by_the_rules_that_it_began_with(
    spark: SparkSession, configured: Settings, folder: CheckpointFolder
) -> None:
    killed = run_with(READER, spark, folder)
    plan(folder, 0)
    killed.begin(0, {})

    again = run_with(NOBODY, spark, folder)
    again.begin(0, {})
    assert may_read(spark, configured) is True
    end(folder, 0)
    plan(folder, 1)
    again.begin(1, {})
    assert may_read(spark, configured) is False


def test_a_batch_that_was_planned_and_not_begun_has_rules_too(
    spark: SparkSession, configured: Settings, folder: CheckpointFolder
) -> None:
    """The next run may have been told to go by none: it ends that batch with its own settings."""
    run_with(READER, spark, folder)
    plan(folder, 0)

    again = AclLog(spark, folder, lambda _: {})
    again.before_query()
    again.begin(0, {})

    assert may_read(spark, configured) is True


def test_a_query_that_fails_and_begins_anew_goes_by_the_same_rules(
    spark: SparkSession, configured: Settings, folder: CheckpointFolder
) -> None:
    log = run_with(READER, spark, folder)
    plan(folder, 0)
    log.begin(0, {})
    log.take(NOBODY)

    log.before_query()
    log.begin(0, {})

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

    again = AclLog(spark, folder, lambda _: {})
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

    run_with(NOBODY, spark, folder).begin(0, {})

    assert may_read(spark, configured) is False


def test_rules_that_kafka_4_4_would_not_take_are_known_as_they_are(
    spark: SparkSession, configured: Settings, folder: CheckpointFolder
) -> None:
    """Brokers before it check no hosts."""
    log = AclLog(spark, folder, lambda _: {})
    odd = rules("ALLOW User:b READ GROUP billing FROM 10.0.0.0/33", "DENY nobody ALL GROUP other")
    log.take(Acls((*READER.rules, *odd)))
    log.before_query()
    log.begin(0, {})

    assert may_read(spark, configured) is True


def test_an_open_batch_that_a_version_without_rules_began_goes_by_those_of_now(
    spark: SparkSession, configured: Settings, folder: CheckpointFolder
) -> None:
    long_ago = run_with(NOBODY, spark, folder)
    plan(folder, 0)
    long_ago.begin(0, {})
    pin(spark, configured)  # as a run without rules does

    now = run_with(READER, spark, folder)
    now.begin(0, {})

    assert may_read(spark, configured) is True


def test_rules_of_a_run_long_ago_do_not_come_back(
    spark: SparkSession, configured: Settings, folder: CheckpointFolder
) -> None:
    log = run_with(READER, spark, folder)
    log.begin(0, {})

    without = AclLog(spark, folder, lambda _: {})
    without.before_query()
    without.begin(0, {})

    assert folder.read_newest("acls") is None
    with pytest.raises(PythonException, match="the batch has no ACLs"):
        may_read(spark, configured)


class Ticks:
    """Those of a topic with two partitions, with the ACLs that they announce."""

    def __init__(self) -> None:
        self.announced: list[Acls | None] = []
        self.packed: str | None = None
        self.ends: Mapping[int, int] = {0: 1, 1: 1}
        self.can_write = True

    def write(self, packed: str | None) -> Mapping[int, int]:
        self.packed = packed
        self.announced.append(None if packed is None else unpacked_acls(packed))
        if not self.can_write:
            raise BrokerUnreachableError("the second partition has no leader")
        return self.ends


def run_with_gateways(
    acls: Acls | None, ticks: Ticks, spark: SparkSession, folder: CheckpointFolder
) -> AclLog:
    """A run whose gateways answer, and whose first query is about to begin."""
    StatesRead(folder).note()
    log = AclLog(spark, folder, ticks.write)
    if acls is not None:
        log.take(acls)
    log.start(ticks.write)
    log.before_query()
    return log


def test_changed_acls_count_from_the_batch_behind_all_their_ticks(
    spark: SparkSession, configured: Settings, folder: CheckpointFolder
) -> None:
    ticks = Ticks()
    log = run_with_gateways(READER, ticks, spark, folder)
    log.begin(0, {})
    assert may_read(spark, configured) is True

    ticks.ends = {0: 10, 1: 20}
    log.take(NOBODY)
    log.take(NOBODY)
    log.begin(1, {0: 10, 1: 19})
    assert may_read(spark, configured) is True
    log.begin(2, {0: 9, 1: 20})
    assert may_read(spark, configured) is True
    log.begin(3, {0: 10, 1: 20})
    assert may_read(spark, configured) is False
    assert ticks.announced == [READER, NOBODY]


def test_acls_that_change_twice_wait_for_the_last_ticks(
    spark: SparkSession, configured: Settings, folder: CheckpointFolder
) -> None:
    ticks = Ticks()
    log = run_with_gateways(NOBODY, ticks, spark, folder)
    log.begin(0, {})
    ticks.ends = {0: 10, 1: 10}
    log.take(Acls((), ("User:b",)))
    ticks.ends = {0: 12, 1: 12}
    log.take(READER)

    log.begin(1, {0: 11, 1: 11})
    assert may_read(spark, configured) is False
    log.begin(2, {0: 12, 1: 12})
    assert may_read(spark, configured) is True


def test_acls_that_cannot_be_announced_are_not_used_and_those_before_are_announced_again(
    spark: SparkSession, configured: Settings, folder: CheckpointFolder
) -> None:
    """A gateway may have seen some of the Ticks, and would wait for ACLs that never count."""
    ticks = Ticks()
    log = run_with_gateways(READER, ticks, spark, folder)
    log.begin(0, {})
    ticks.can_write = False
    with pytest.raises(BrokerUnreachableError):
        log.take(NOBODY)
    log.begin(1, {0: 99, 1: 99})
    assert may_read(spark, configured) is True

    ticks.can_write = True
    log.take(READER)
    assert ticks.announced == [READER, NOBODY, READER]


def test_acls_of_the_last_run_count_for_the_events_before_the_ticks_of_a_start(
    spark: SparkSession, configured: Settings, folder: CheckpointFolder
) -> None:
    run_with(READER, spark, folder).begin(0, {})
    ticks = Ticks()
    ticks.ends = {0: 7, 1: 7}

    killed = run_with_gateways(NOBODY, ticks, spark, folder)
    killed.begin(1, {0: 3, 1: 7})
    assert may_read(spark, configured) is True
    again = run_with_gateways(NOBODY, ticks, spark, folder)
    again.begin(2, {0: 4, 1: 7})
    assert may_read(spark, configured) is True
    again.begin(3, {0: 7, 1: 7})
    assert may_read(spark, configured) is False


def test_without_gateways_the_acls_of_a_start_count_at_once(
    spark: SparkSession, configured: Settings, folder: CheckpointFolder
) -> None:
    run_with(READER, spark, folder).begin(0, {})
    log = AclLog(spark, folder, lambda _: {})
    log.take(NOBODY)
    log.start(lambda _: {0: 7, 1: 7})
    log.before_query()

    log.begin(1, {0: 3, 1: 7})

    assert may_read(spark, configured) is False


def test_a_run_without_acls_reads_the_events_before_its_ticks_with_those_of_the_last_run(
    spark: SparkSession, configured: Settings, folder: CheckpointFolder
) -> None:
    """The batch that begins behind the Ticks may still belong to the query with ACLs."""
    run_with(READER, spark, folder).begin(0, {})
    ticks = Ticks()
    log = run_with_gateways(None, ticks, spark, folder)
    log.begin(1, {0: 1, 1: 1})
    assert may_read(spark, configured) is True

    pin(spark, configured)  # as its own query does
    log.before_query()
    assert folder.read_newest("acls") is None
    assert ticks.announced == [None]


def test_tasks_know_the_basis_that_was_announced(
    spark: SparkSession, configured: Settings, folder: CheckpointFolder
) -> None:
    ticks = Ticks()
    run_with_gateways(READER, ticks, spark, folder).begin(0, {})
    context = UpdateContext(
        configured.coordinator,
        "group-events",
        0,
        timers_suspended=False,
        checks_acls=True,
        basis=basis_of(configured),
    )

    def basis_id(_: int) -> str | None:
        basis = in_this_task(context).basis
        return None if basis is None else basis.id

    found = spark.sparkContext.parallelize([0], 1).map(basis_id).collect()
    assert found == [basis_of(configured, ticks.packed).id]
    assert found != [basis_of(configured).id]
