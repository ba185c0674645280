"""Samples of the topics' ends, once or again and again, without Spark and without a JVM."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Collection
from contextlib import closing

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.positions import PositionSampler, Sample, Skipped
from group_coordinator.clients.errors import ClientError
from group_coordinator.job.python_signals import stop_on_signals_to_python
from group_coordinator.job.refusal_causes import refusals_told
from group_coordinator.job.refusals import JobRefusedError
from group_coordinator.observability.logs import set_up_logs
from group_coordinator.settings import JobSettings
from group_coordinator.tables.append import TableWriteError
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.maintenance import Maintenance
from group_coordinator.tables.positions_folder import PositionsFolder
from group_coordinator.tables.topic_ids_folder import TopicIdsFolder
from group_coordinator.tables.topic_positions import TOPIC_POSITIONS

_NAMED = 10
"""So many of the partitions that are missing for one reason are told by name."""
_log = logging.getLogger(__name__)


class NothingSampledError(JobRefusedError):
    """No partition could be sampled; the message says why."""


@refusals_told()
def sample_positions(
    job: JobSettings, connection: Connection, topics: Collection[str] | None, every_s: float | None
) -> None:
    """Append samples to topic_positions: one, or one every so many seconds until SIGINT or SIGTERM.

    Raises:
        JobRefusedError: the table is not there, or not in a folder, or the only sample could not be taken.
    """
    set_up_logs()
    folder = positions_folder(job)
    with closing(PositionSampler(connection, topics)) as sampler:
        rounds = PositionRounds(job, sampler, folder)
        if every_s is None:
            rounds.run_alone()
            return
        with stop_on_signals_to_python() as stop:
            repeat(rounds.run_or_tell, every_s, time.monotonic, stop.wait)


def positions_folder(job: JobSettings) -> PositionsFolder:
    """The cluster's rows of the table.

    Raises:
        JobRefusedError: the tables are in a catalog, or this one has not been made.
    """
    folder = PositionsFolder(TableCatalog(job.tables_root), job.cluster_id)
    if folder.catalog.is_schema:
        raise JobRefusedError(
            f"tables.root = {job.tables_root} is the schema of a catalog, which only Spark writes, and positions does not "
            "yet: give it a folder of its own, by --set tables.root=FOLDER"
        )
    if not folder.exists():
        raise JobRefusedError(
            f"tables.root = {job.tables_root} has no table {TOPIC_POSITIONS.name}: `group-coordinator init` makes it, or, "
            "without the topics, `group-coordinator-job create-tables`"
        )
    return folder


class PositionRounds:
    """Each round takes a sample, appends it, notes new topic ids, lets `hear` have it, and looks after the table."""

    def __init__(
        self,
        job: JobSettings,
        sampler: PositionSampler,
        folder: PositionsFolder,
        hear: Callable[[Sample], None] = lambda _sample: None,
    ) -> None:
        self._hear = hear
        self._sampler = sampler
        self._folder = folder
        self._topic_ids = TopicIdsFolder(folder.catalog, folder.cluster_id)
        self._retention_ms = job.positions_retention_ms
        self._full_ms = job.positions_full_ms
        self._maintenance = (
            Maintenance(None, job, [TOPIC_POSITIONS], folder.notebook())
            if job.maintenance_interval_ms
            else None
        )
        self._told = ""

    def run_alone(self) -> None:
        """A round.

        Raises:
            NothingSampledError: the sample is empty.
            ClientError: the cluster does not answer, or does not let us in.
            TableWriteError: a table does not take the sample.
        """
        sample = self._sampler.sample()
        if not sample.positions:
            raise NothingSampledError(summary(sample))
        self._folder.append(sample.positions, sample.sampled_at_ms)
        self._topic_ids.note(sample.topic_ids, sample.sampled_at_ms)
        self._tell(sample)
        self._hear(sample)
        self._look_after_the_table(sample.sampled_at_ms)

    def run_or_tell(self) -> None:
        """A round, and what is wrong with it: the next one tries again."""
        try:
            self.run_alone()
        except (ClientError, NothingSampledError, TableWriteError) as failure:
            _log.warning("no sample this time: %s", failure)
            self._told = ""

    def _tell(self, sample: Sample) -> None:
        """Not again what the round before has told."""
        told = summary(sample)
        if told != self._told:
            _log.log(logging.WARNING if sample.skipped else logging.INFO, told)
        self._told = told

    def _look_after_the_table(self, now_ms: int) -> None:
        try:
            if self._retention_ms:
                self._folder.remove_old(self._retention_ms, now_ms)
            if self._full_ms:
                self._folder.thin(self._full_ms, now_ms)
        except TableWriteError as failure:
            _log.warning("old samples stay, and go in a later round: %s", failure)
        if self._maintenance is not None:
            self._maintenance.look_if_time()


def repeat(
    work: Callable[[], None],
    every_s: float,
    clock: Callable[[], float],
    wait: Callable[[float], bool],
) -> None:
    """Work now, and at each multiple of an interval from now on; one that finds the work still going on is left out.

    Args:
        work: what is done.
        every_s: the interval.
        clock: seconds that never go back.
        wait: waits for so many seconds; true: that is the end.
    """
    begun_s = clock()
    due_s = begun_s
    while not wait(max(due_s - clock(), 0)):
        work()
        due_s = begun_s + (math.floor((clock() - begun_s) / every_s) + 1) * every_s


def summary(sample: Sample) -> str:
    """How many partitions were sampled, and which were not, by reason."""
    count = len(sample.positions)
    sampled = f"partitions sampled: {count}" if count else "nothing could be sampled"
    by_reason: dict[str, list[Skipped]] = {}
    for skipped in sample.skipped:
        by_reason.setdefault(skipped.why, []).append(skipped)
    return "; ".join([sampled, *(f"{why}: {_names(those)}" for why, those in by_reason.items())])


def _names(skipped: list[Skipped]) -> str:
    named = ", ".join(each.what for each in skipped[:_NAMED])
    more = len(skipped) - _NAMED
    return f"{named} and {more} more" if more > 0 else named
