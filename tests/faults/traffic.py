"""Events that keep flowing while the job is killed: commits of simple groups, and members that live their lives."""

from __future__ import annotations

from contextlib import ExitStack, closing
from itertools import count

from kafka import KafkaProducer, TopicPartition

from group_coordinator.clients.channel import RequestChannel
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.member.member import GroupMember
from group_coordinator.clients.member.membership import MemberOptions, MemberState
from group_coordinator.clients.offset_messages import MemberIdentity
from tests.end_to_end.installation import Installation
from tests.faults.events import as_json, commit
from tests.support.flow import Flow

_SIMPLE_GROUPS = 10
_COMMIT_PAUSE_S = 0.02
_TEAMS = ("fleet-0", "fleet-1")
_MEMBERS = 3
_POLL_PAUSE_S = 0.1
_POLLS_A_COMMIT = 10
# Longer than the job may be down, so that members wait for their answers instead of asking again.
_PATIENCE_MS = 600_000
_OPTIONS = MemberOptions(session_timeout_ms=_PATIENCE_MS, rebalance_timeout_ms=_PATIENCE_MS)


class Traffic(Flow):
    """Of one installation."""

    def __init__(self, installation: Installation) -> None:
        super().__init__(self._commit, self._live)
        self._installation = installation
        self._topic = installation.settings.job.events_topic
        self.commits = 0
        self.member_commits = [0] * (len(_TEAMS) * _MEMBERS)
        """How often each member committed."""

    @property
    def have_all_committed(self) -> bool:
        """Whether every member got to work."""
        return all(self.member_commits)

    def _commit(self) -> None:
        """Ten groups, offsets that only grow."""
        with closing(
            KafkaProducer(bootstrap_servers=self._installation.bootstrap_servers)
        ) as producer:
            while not self._over.wait(_COMMIT_PAUSE_S):
                request = commit(
                    MemberIdentity(f"kill-{self.commits % _SIMPLE_GROUPS}"),
                    self.commits,
                    self.commits % 3,
                )
                value = as_json(request, f"c-{self.commits}")
                producer.send(self._topic, key=request.group_id.encode(), value=value)
                self.commits += 1

    def _live(self) -> None:
        """Members join, send heartbeats and commit, each to a partition of its own."""
        with ExitStack() as resources:
            channel = resources.enter_context(self._channel())
            members = [
                GroupMember(channel, team, ["orders"], {"orders": 6}, options=_OPTIONS)
                for team in _TEAMS
                for _ in range(_MEMBERS)
            ]
            for number in count():
                if self._over.wait(_POLL_PAUSE_S):
                    return
                for partition, member in enumerate(members):
                    member.poll()
                    if number % _POLLS_A_COMMIT == 0 and member.state is MemberState.STABLE:
                        member.commit_async({TopicPartition("orders", partition): number})
                        self.member_commits[partition] += 1

    def _channel(self) -> RequestChannel:
        return RequestChannel(
            Connection(self._installation.bootstrap_servers),
            events_topic=self._topic,
            responses_topic=self._installation.settings.job.responses_topic,
            request_timeout_ms=_PATIENCE_MS,
        )
