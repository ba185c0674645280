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
from group_coordinator.streaming.checkpoint.folder import DamagedFileError
from group_coordinator.streaming.checkpoint.layout import coordinator_folder
from group_coordinator.streaming.operator.worker_function import in_this_task
from group_coordinator.streaming.task_properties import ACLS_PROPERTY, AclLog
from tests.support.acls import rules

pytestmark = pytest.mark.spark

READER = Acls(rules("ALLOW User:a READ GROUP billing"))
NOBODY = Acls(())


class AclRuns:
    """Runs on one checkpoint, whose last run had rules, and what their tasks know."""

    def __init__(self, spark: SparkSession, settings: Settings) -> None:
        self.spark = spark
        self.settings = settings
        pin(spark, replace(settings, job=replace(settings.job, acls_source="file")))
        self.folder = coordinator_folder(spark, settings.job)

    def plan(self, batch_id: int) -> None:
        self.folder.write(f"offsets/{batch_id}", "v1")

    def end(self, batch_id: int) -> None:
        self.folder.write(f"commits/{batch_id}", "v1")

    def log(self) -> AclLog:
        return AclLog(self.spark, self.folder, lambda _: {})

    def run_with(self, acls: Acls) -> AclLog:
        """A run whose first query is about to begin."""
        log = self.log()
        log.take(acls)
        log.before_query()
        return log

    def run_with_gateways(self, acls: Acls | None, ticks: Ticks) -> AclLog:
        """A run whose gateways answer, and whose first query is about to begin."""
        StatesRead(self.folder).note()
        log = AclLog(self.spark, self.folder, ticks.write)
        if acls is not None:
            log.take(acls)
        log.start(ticks.write)
        log.before_query()
        return log

    def may_read(self, *, checks_acls: bool = True) -> bool | None:
        """Whether a task of this thread lets User:a read the group; None: it lets everybody do everything."""
        context = UpdateContext(
            self.settings.coordinator,
            "group-events",
            0,
            timers_suspended=False,
            checks_acls=checks_acls,
        )

        def asked(_: int) -> bool | None:
            acls = in_this_task(context).acls
            if acls is None:
                return None
            identities = acls.identities(RequestSender("User:a", "127.0.0.1"))
            assert identities is not None
            return acls.allows(identities, Operation.READ, ResourceType.GROUP, "billing")

        [answer] = self.spark.sparkContext.parallelize([0], 1).map(asked).collect()
        return answer


@pytest.fixture
def runs(spark: SparkSession, configured: Settings) -> Iterator[AclRuns]:
    yield AclRuns(spark, configured)
    spark.sparkContext.setLocalProperty(ACLS_PROPERTY, None)


def test_tasks_know_the_rules_that_were_there_when_their_batch_began(runs: AclRuns) -> None:
    log = runs.run_with(READER)
    log.begin(0, {})
    assert runs.may_read() is True

    log.take(NOBODY)
    assert runs.may_read() is True
    log.begin(1, {})
    assert runs.may_read() is False
    assert runs.may_read(checks_acls=False) is None


def test_a_batch_that_is_done_again_goes_by_the_rules_that_it_began_with(runs: AclRuns) -> None:
    killed = runs.run_with(READER)
    runs.plan(0)
    killed.begin(0, {})

    again = runs.run_with(NOBODY)
    again.begin(0, {})
    assert runs.may_read() is True
    runs.end(0)
    runs.plan(1)
    again.begin(1, {})
    assert runs.may_read() is False


def test_a_batch_that_was_planned_and_not_begun_has_rules_too(runs: AclRuns) -> None:
    """The next run may have been told to go by none: it ends that batch with its own settings."""
    runs.run_with(READER)
    runs.plan(0)

    again = runs.log()
    again.before_query()
    again.begin(0, {})

    assert runs.may_read() is True


def test_a_query_that_fails_and_begins_anew_goes_by_the_same_rules(runs: AclRuns) -> None:
    log = runs.run_with(READER)
    runs.plan(0)
    log.begin(0, {})
    log.take(NOBODY)

    log.before_query()
    log.begin(0, {})

    assert runs.may_read() is True


@pytest.mark.parametrize(
    ("cut", "fault"),
    [
        (0, "Error -5 while decompressing data: incomplete or truncated stream"),
        (10, "Incorrect padding"),
        (12, "Error -5 while decompressing data: incomplete or truncated stream"),
    ],
)
def test_rules_of_an_open_batch_that_are_damaged_are_told_before_it_begins(
    runs: AclRuns, cut: int, fault: str
) -> None:
    runs.run_with(READER)
    runs.plan(0)
    kept = runs.folder.read("acls/0")
    assert kept is not None
    runs.folder.write("acls/0", kept[:cut])

    again = runs.log()
    again.take(NOBODY)
    with pytest.raises(DamagedFileError) as refused:
        again.before_query()

    assert str(refused.value) == (
        f"{runs.folder.location}/acls/0 is damaged ({fault}): restore a copy of it, or move the checkpoint away and "
        "start again: the start then names the next step"
    )
    assert runs.folder.read("acls/0") == kept[:cut]


def test_damaged_rules_that_no_batch_needs_are_replaced(runs: AclRuns) -> None:
    runs.run_with(READER)
    runs.folder.write("acls/0", "")

    runs.run_with(NOBODY).begin(0, {})

    assert runs.may_read() is False


def test_rules_that_kafka_4_4_would_not_take_are_known_as_they_are(runs: AclRuns) -> None:
    """Brokers before it check no hosts."""
    log = runs.log()
    odd = rules("ALLOW User:b READ GROUP billing FROM 10.0.0.0/33", "DENY nobody ALL GROUP other")
    log.take(Acls((*READER.rules, *odd)))
    log.before_query()
    log.begin(0, {})

    assert runs.may_read() is True


def test_an_open_batch_that_a_version_without_rules_began_goes_by_those_of_now(
    runs: AclRuns,
) -> None:
    long_ago = runs.run_with(NOBODY)
    runs.plan(0)
    long_ago.begin(0, {})
    pin(runs.spark, runs.settings)  # as a run without rules does

    now = runs.run_with(READER)
    now.begin(0, {})

    assert runs.may_read() is True


def test_rules_of_a_run_long_ago_do_not_come_back(runs: AclRuns) -> None:
    log = runs.run_with(READER)
    log.begin(0, {})

    without = runs.log()
    without.before_query()
    without.begin(0, {})

    assert runs.folder.read_newest("acls") is None
    with pytest.raises(PythonException, match="the batch has no ACLs"):
        runs.may_read()


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


def test_changed_acls_count_from_the_batch_behind_all_their_ticks(runs: AclRuns) -> None:
    ticks = Ticks()
    log = runs.run_with_gateways(READER, ticks)
    log.begin(0, {})
    assert runs.may_read() is True

    ticks.ends = {0: 10, 1: 20}
    log.take(NOBODY)
    log.take(NOBODY)
    log.begin(1, {0: 10, 1: 19})
    assert runs.may_read() is True
    log.begin(2, {0: 9, 1: 20})
    assert runs.may_read() is True
    log.begin(3, {0: 10, 1: 20})
    assert runs.may_read() is False
    assert ticks.announced == [READER, NOBODY]


def test_acls_that_change_twice_wait_for_the_last_ticks(runs: AclRuns) -> None:
    ticks = Ticks()
    log = runs.run_with_gateways(NOBODY, ticks)
    log.begin(0, {})
    ticks.ends = {0: 10, 1: 10}
    log.take(Acls((), ("User:b",)))
    ticks.ends = {0: 12, 1: 12}
    log.take(READER)

    log.begin(1, {0: 11, 1: 11})
    assert runs.may_read() is False
    log.begin(2, {0: 12, 1: 12})
    assert runs.may_read() is True


def test_acls_that_cannot_be_announced_are_not_used_and_those_before_are_announced_again(
    runs: AclRuns,
) -> None:
    """A gateway may have seen some of the Ticks, and would wait for ACLs that never count."""
    ticks = Ticks()
    log = runs.run_with_gateways(READER, ticks)
    log.begin(0, {})
    ticks.can_write = False
    with pytest.raises(BrokerUnreachableError):
        log.take(NOBODY)
    log.begin(1, {0: 99, 1: 99})
    assert runs.may_read() is True

    ticks.can_write = True
    log.take(READER)
    assert ticks.announced == [READER, NOBODY, READER]


def test_acls_of_the_last_run_count_for_the_events_before_the_ticks_of_a_start(
    runs: AclRuns,
) -> None:
    runs.run_with(READER).begin(0, {})
    ticks = Ticks()
    ticks.ends = {0: 7, 1: 7}

    killed = runs.run_with_gateways(NOBODY, ticks)
    killed.begin(1, {0: 3, 1: 7})
    assert runs.may_read() is True
    again = runs.run_with_gateways(NOBODY, ticks)
    again.begin(2, {0: 4, 1: 7})
    assert runs.may_read() is True
    again.begin(3, {0: 7, 1: 7})
    assert runs.may_read() is False


def test_without_gateways_the_acls_of_a_start_count_at_once(runs: AclRuns) -> None:
    runs.run_with(READER).begin(0, {})
    log = runs.log()
    log.take(NOBODY)
    log.start(lambda _: {0: 7, 1: 7})
    log.before_query()

    log.begin(1, {0: 3, 1: 7})

    assert runs.may_read() is False


def test_a_run_without_acls_reads_the_events_before_its_ticks_with_those_of_the_last_run(
    runs: AclRuns,
) -> None:
    """The batch that begins behind the Ticks may still belong to the query with ACLs."""
    runs.run_with(READER).begin(0, {})
    ticks = Ticks()
    log = runs.run_with_gateways(None, ticks)
    log.begin(1, {0: 1, 1: 1})
    assert runs.may_read() is True

    pin(runs.spark, runs.settings)  # as its own query does
    log.before_query()
    assert runs.folder.read_newest("acls") is None
    assert ticks.announced == [None]


def test_tasks_know_the_basis_that_was_announced(runs: AclRuns) -> None:
    ticks = Ticks()
    runs.run_with_gateways(READER, ticks).begin(0, {})
    context = UpdateContext(
        runs.settings.coordinator,
        "group-events",
        0,
        timers_suspended=False,
        checks_acls=True,
        basis=basis_of(runs.settings),
    )

    def basis_id(_: int) -> str | None:
        basis = in_this_task(context).basis
        return None if basis is None else basis.id

    found = runs.spark.sparkContext.parallelize([0], 1).map(basis_id).collect()
    assert found == [basis_of(runs.settings, ticks.packed).id]
    assert found != [basis_of(runs.settings).id]
