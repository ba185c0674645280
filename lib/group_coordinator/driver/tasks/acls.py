"""The ACLs of a run: read from the cluster or a file, and passed to the batches when they change."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from prometheus_client.metrics_core import Metric
from pyspark.sql import SparkSession

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.event_writer import write_ticks
from group_coordinator.clients.cluster.held_rights import (
    AclsUnreadableError,
    ClusterAcls,
    has_authorizer,
)
from group_coordinator.codecs import acls as codec
from group_coordinator.codecs.acls import super_users_of
from group_coordinator.codecs.fields import FieldError
from group_coordinator.core.acls import Acls
from group_coordinator.driver.outages import look_again_and_again
from group_coordinator.driver.session import figure
from group_coordinator.settings import JobSettings, Settings
from group_coordinator.streaming.checkpoint.batch_settings import basis_of
from group_coordinator.streaming.checkpoint.layout import coordinator_folder
from group_coordinator.streaming.task_properties import AclLog, Announce


@contextmanager
def reader_of_acls(job: JobSettings, connection: Connection) -> Iterator[Callable[[], Acls] | None]:
    """Yield a function that reads the ACLs of `acls.source`; None: no ACLs are checked. Raises AclsUnreadableError."""
    if job.acls_source == "none":
        yield None
        return
    of_settings = Acls((), _super_users(job), job.allow_everyone_if_no_acl_found)
    if job.acls_source == "file":
        yield lambda: _together(of_settings, rules_in(Path(job.acls_file)))
        return
    with closing(ClusterAcls(connection)) as cluster:
        yield lambda: _together(of_settings, Acls(cluster.read()))


def way_past_rules(job: JobSettings, connection: Connection) -> str | None:
    """Describe in a sentence how clients can bypass the ACLs of a file; None: they cannot. Raises ChannelError."""
    if job.acls_source != "file" or has_authorizer(connection):
        return None
    return (
        "acls.source = file, but the brokers have no authorizer: every client that can connect may write to "
        f"{job.events_topic} as any user, past all ACLs: set authorizer.class.name at the brokers, or let only "
        "the job and the gateway connect"
    )


def rules_in(file: Path) -> Acls:
    """Return the ACLs of a file. Raises AclsUnreadableError, which names the file, and the wrong field."""
    try:
        return codec.decode(file.read_bytes())
    except (OSError, FieldError) as error:
        raise AclsUnreadableError(f"acls.file = {file}: {error}") from error


def _super_users(job: JobSettings) -> tuple[str, ...]:
    try:
        return super_users_of(job.super_users)
    except FieldError as error:
        raise AclsUnreadableError(str(error)) from error


def _together(of_settings: Acls, read: Acls) -> Acls:
    return Acls(
        read.rules,
        tuple(dict.fromkeys((*of_settings.super_users, *read.super_users))),
        of_settings.allow_everyone_if_no_acl_found or read.allow_everyone_if_no_acl_found,
    )


_WARN_AGAIN_S = 3600.0
_log = logging.getLogger(__name__)


class AclTask:
    """Background task that passes the ACLs to a run, and again when they have changed."""

    def __init__(
        self,
        read: Callable[[], Acls],
        take: Callable[[Acls], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._read = read
        self._take = take
        self._clock = clock
        self._reported, self._reported_s = "", 0.0
        self._read_s: float | None = None

    def begin(self) -> None:
        """Pass the first ACLs of the run. Raises AclsUnreadableError if there are none, or ChannelError."""
        self._give()

    def run(self, stop: Event, interval_s: float) -> None:
        """Read repeatedly. While no broker responds, log that once and retry."""
        look_again_and_again(self.look, stop, interval_s, "ACLs are read", _log)

    def look(self) -> None:
        """Pass the present ACLs. If they cannot be read, the last ACLs stay, with a warning once an hour. Raises ChannelError."""
        try:
            self._give()
        except AclsUnreadableError as error:
            self._warn(str(error))
        else:
            self._reported = ""

    def families(self) -> Iterator[Metric]:
        """Yield the age of the ACLs, which a run reads before its first response."""
        if self._read_s is not None:
            age_s = self._clock() - self._read_s
            meaning = "Time since the ACLs were last read"
            yield figure("group_coordinator_acls_age_seconds", meaning, age_s)

    def _give(self) -> None:
        self._take(self._read())
        # After the read, so that a failed read lets the age grow.
        self._read_s = self._clock()

    def _warn(self, why: str) -> None:
        now_s = self._clock()
        # The task looks every few seconds: the same warning at each look would flood the log.
        if why != self._reported or now_s - self._reported_s >= _WARN_AGAIN_S:
            _log.warning("the last ACLs stay in force: %s", why)
            self._reported, self._reported_s = why, now_s


@dataclass(frozen=True, slots=True)
class AclsOfRun:
    """The ACLs of a run: those of its batches, and their background task; None: no ACLs are checked."""

    log: AclLog
    task: AclTask | None


@contextmanager
def acls_of_run(
    spark: SparkSession, settings: Settings, connection: Connection
) -> Iterator[AclsOfRun]:
    """Read the ACLs once before the first response. Raises AclsUnreadableError if they are missing, or ChannelError."""
    job = settings.job
    # Only a warning: brokers without authorizer may be shielded by the network.
    if (way := way_past_rules(job, connection)) is not None:
        _log.warning(way)
    log = AclLog(spark, coordinator_folder(spark, job), _announcement(settings, connection))
    with reader_of_acls(job, connection) as read:
        task = None if read is None else AclTask(read, log.take)
        if task is not None:
            task.begin()
        yield AclsOfRun(log, task)


def _announcement(settings: Settings, connection: Connection) -> Announce:
    topic = settings.job.events_topic
    return lambda acls: write_ticks(connection, topic, basis_of(settings, acls).id).ends
