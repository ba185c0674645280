"""The ACL rules of a run: from the cluster or a file, and handed to the batches as they change."""

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

from group_coordinator.clients.cluster.cluster_acls import (
    AclsUnreadableError,
    ClusterAcls,
    has_authorizer,
)
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.codecs import acls as codec
from group_coordinator.codecs.acls import super_users_of
from group_coordinator.codecs.fields import FieldError
from group_coordinator.core.acls.rule import Acls
from group_coordinator.driver.metrics.families import gauge
from group_coordinator.driver.outages import look_again_and_again
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.acl_log import AclLog
from group_coordinator.streaming.checkpoint.layout import coordinator_folder


@contextmanager
def reader_of_acls(job: JobSettings, connection: Connection) -> Iterator[Callable[[], Acls] | None]:
    """What reads the rules that the settings name; None: there are to be none.

    Raises:
        AclsUnreadableError: `super.users` is wrong.
    """
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
    """How clients get past the rules of a file, in one sentence; None: they do not.

    Raises:
        ChannelError: the cluster does not answer, or does not let us in.
    """
    if job.acls_source != "file" or has_authorizer(connection):
        return None
    return (
        f"acls.source = file, and the brokers have no authorizer: whoever reaches them may write to {job.events_topic} as any "
        "user, past all rules: set authorizer.class.name at the brokers, or let only the job and the gateway reach them"
    )


def rules_in(file: Path) -> Acls:
    """The rules of a file.

    Raises:
        AclsUnreadableError: the message names the file, and the field that is wrong.
    """
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


class AclAgent:
    """Gives a run the rules, and again when they have changed.

    Args:
        read: the rules as they are now.
        take: hears them.
        clock: seconds that never go back.
    """

    def __init__(
        self,
        read: Callable[[], Acls],
        take: Callable[[Acls], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._read = read
        self._take = take
        self._clock = clock
        self._told, self._told_s = "", 0.0
        self._read_s: float | None = None

    def begin(self) -> None:
        """Give the rules that the run begins with.

        Raises:
            AclsUnreadableError: there are none to go by.
            ChannelError: the cluster does not answer.
        """
        self._give()

    def run(self, stop: Event, interval_s: float) -> None:
        """Look again and again; while no broker answers, say so once and go on trying."""
        look_again_and_again(self.look, stop, interval_s, "ACLs are looked at", _log)

    def look(self) -> None:
        """Give the rules as they are now; those that cannot be read any more stay, which is said once an hour.

        Raises:
            ChannelError: the cluster does not answer; the next look makes up for it.
        """
        try:
            self._give()
        except AclsUnreadableError as error:
            self._warn(str(error))
        else:
            self._told = ""

    def families(self) -> Iterator[Metric]:
        """How old the rules are, which a run has read before anything is answered."""
        if self._read_s is not None:
            age_s = self._clock() - self._read_s
            meaning = "Since the rules of who may do what were last read"
            yield gauge("group_coordinator_acls_age_seconds", meaning, (), [((), age_s)])

    def _give(self) -> None:
        self._take(self._read())
        self._read_s = self._clock()

    def _warn(self, why: str) -> None:
        now_s = self._clock()
        if why != self._told or now_s - self._told_s >= _WARN_AGAIN_S:
            _log.warning("the ACLs stay as they were: %s", why)
            self._told, self._told_s = why, now_s


@dataclass(frozen=True, slots=True)
class AclsOfRun:
    """The rules of one run: what its batches go by, and who looks at them; None: the run has none."""

    log: AclLog
    agent: AclAgent | None


@contextmanager
def acls_of_run(
    spark: SparkSession, job: JobSettings, connection: Connection
) -> Iterator[AclsOfRun]:
    """The rules are read once before anything is answered.

    Raises:
        AclsUnreadableError: there are none to go by, and the settings want some.
        ChannelError: the cluster does not answer.
    """
    if (way := way_past_rules(job, connection)) is not None:
        _log.warning(way)
    log = AclLog(spark, coordinator_folder(spark, job))
    with reader_of_acls(job, connection) as read:
        agent = None if read is None else AclAgent(read, log.take)
        if agent is not None:
            agent.begin()
        yield AclsOfRun(log, agent)
