"""What flows into the job for hours: commits at a steady rate, members that live, groups that come and go."""

from __future__ import annotations

import time
from contextlib import ExitStack

from kafka import KafkaProducer

from group_coordinator.clients.channel import RequestChannel
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.member.member import GroupMember
from tests.benchmarks.throughput import commit
from tests.end_to_end.installation import Installation
from tests.faults.events import Request, as_json
from tests.support.flow import Flow

GROUPS = 500
TEAMS = ("fleet-0", "fleet-1")
MEMBERS = 10
TICK_S = 0.05


class SteadyTraffic(Flow):
    """Of one installation; `sent_s` tells when each commit was sent, by its correlation id."""

    def __init__(self, installation: Installation, rate: int) -> None:
        super().__init__(self._commit, self._live)
        self._installation = installation
        self._rate = rate
        self.sent_s: dict[str, float] = {}

    def _commit(self) -> None:
        """So many groups in turn; a group of one second's life for each second."""
        servers = self._installation.bootstrap_servers
        topic = self._installation.settings.job.events_topic
        with ExitStack() as resources:
            producer = KafkaProducer(bootstrap_servers=servers, linger_ms=5)
            resources.callback(producer.close)
            began_s = time.monotonic()
            number = 0
            while not self._over.wait(TICK_S):
                due = int((time.monotonic() - began_s) * self._rate)
                for number in range(number + 1, due + 1):  # noqa: B020 - goes on where it was
                    group = f"group-{number % GROUPS}"
                    self.sent_s[f"c-{number}"] = time.monotonic()
                    producer.send(topic, key=group.encode(), value=commit(group, number))
                    if number % self._rate == 0:
                        self._short_life(producer, topic, f"short-{number}")

    def _short_life(self, producer: KafkaProducer, topic: str, group: str) -> None:
        deletion = Request("DeleteGroups", 2, group, {"groupsNames": [group]})
        for value in (commit(group, 0), as_json(deletion, f"d-{group}")):
            producer.send(topic, key=group.encode(), value=value)

    def _live(self) -> None:
        """Members with the defaults of Kafka's clients."""
        job = self._installation.settings.job
        channel = RequestChannel(
            Connection(self._installation.bootstrap_servers),
            events_topic=job.events_topic,
            responses_topic=job.responses_topic,
            request_timeout_ms=job.request_timeout_ms,
        )
        with channel:
            members = [
                GroupMember(channel, team, ["orders"], {"orders": 20})
                for team in TEAMS
                for _ in range(MEMBERS)
            ]
            while not self._over.wait(TICK_S):
                for member in members:
                    member.poll()
