"""The fleet of all applications: every member is a consumer with a thread of its own."""

from __future__ import annotations

from collections import defaultdict
from contextlib import closing
from threading import Event, Thread

from confluent_kafka import KafkaException
from kafka.errors import KafkaError

from group_coordinator.clients.errors import ClientError
from group_coordinator.demo.mirror.cast import UNLIMITED, Application
from group_coordinator.demo.mirror.clients import POLL_S, ReadingClient, open_client


class MemberFailedError(ClientError):
    """A consumer gave up; the message has its group and its error."""


class Member:
    """A consumer, from its start to its leave.

    Args:
        application: with the names of the groups and topics of this cluster.
        servers: the cluster's bootstrap servers.
        prefix: of the demo's names.
    """

    def __init__(self, application: Application, servers: str, prefix: str) -> None:
        self._application = application
        self._servers = servers
        self._prefix = prefix
        self._leaving = Event()
        self._failure: KafkaError | KafkaException | None = None
        self.record_count = 0
        """Records that it has read."""
        self.is_paused = False
        self.is_hung = False
        self._thread = Thread(target=self._run, name=application.group_id, daemon=True)
        self._thread.start()

    def check(self) -> None:
        """Raise MemberFailedError if it gave up."""
        if self._failure is not None:
            raise MemberFailedError(f"{self._application.group_id}: {self._failure}")

    def ask_to_leave(self) -> None:
        """Let it commit and leave."""
        self._leaving.set()

    def await_leave(self) -> None:
        """Return when it has left."""
        self._thread.join()

    def _run(self) -> None:
        try:
            with closing(open_client(self._application, self._servers, self._prefix)) as client:
                while not self._leaving.is_set():
                    self._work(client)
        except (KafkaError, KafkaException) as failure:
            self._failure = failure

    def _work(self, client: ReadingClient) -> None:
        if self.is_hung:
            self._leaving.wait(POLL_S)
            return
        if self.is_paused:
            client.pause()
        at_most = self._application.records_a_poll
        self.record_count += client.read(at_most)
        if at_most < UNLIMITED:
            self._leaving.wait(POLL_S)


class Fleet:
    """Members by group.

    Args:
        servers: the cluster's bootstrap servers.
        prefix: of the demo's groups and topics.
    """

    def __init__(self, servers: str, prefix: str) -> None:
        self._servers = servers
        self._prefix = prefix
        self._members: defaultdict[str, list[Member]] = defaultdict(list)

    @property
    def are_all_at_work(self) -> bool:
        """True if every member has read a record."""
        return all(member.record_count for member in self._all())

    @property
    def member_count(self) -> int:
        """Members that have joined, and have not left."""
        return len(self._all())

    def join(self, application: Application) -> None:
        """Start all members of an application."""
        here = application._replace(
            group_id=self._prefix + application.group_id,
            topics=tuple(self._prefix + topic for topic in application.topics),
        )
        self._members[application.group_id] += [
            Member(here, self._servers, self._prefix) for _ in range(here.member_count)
        ]

    def leave(self, application: Application) -> None:
        """Return when all members have left."""
        _dismiss(self._members.pop(application.group_id, []))

    def pause(self, application: Application) -> None:
        """Let all members stay in their group, poll, and take no records."""
        for member in self._members[application.group_id]:
            member.is_paused = True

    def hang(self, application: Application) -> None:
        """Let all members stop polling; their library sends heartbeats."""
        for member in self._members[application.group_id]:
            member.is_hung = True

    def check(self) -> None:
        """Raise MemberFailedError if a member gave up."""
        for member in self._all():
            member.check()

    def close(self) -> None:
        """Return when all members have left."""
        _dismiss(self._all())
        self._members.clear()

    def _all(self) -> list[Member]:
        return [member for members in self._members.values() for member in members]


def _dismiss(members: list[Member]) -> None:
    for member in members:
        member.ask_to_leave()
    for member in members:
        member.await_leave()
