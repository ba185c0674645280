"""Repeated requests for the state of every group, as of an administrator's tool."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from concurrent.futures import Future

from group_coordinator.clients.admin import descriptions
from group_coordinator.clients.admin.descriptions import (
    GroupDescription,
    consumer_description,
    describe_consumer_group,
)
from group_coordinator.clients.channel.channel import Body, Channel
from group_coordinator.clients.errors import ClientError, GroupIdNotFoundError

_INTERVAL_S = 3.0
_CONSUMER = "consumer"


class Survey:
    """Survey of a round at a time; the properties are of the last complete round.

    A group is described by the API of its protocol; if that API does not know it, by the other API in the same round.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._asked: dict[str, Future[Body]] = {}
        self._due_s = 0.0
        self._consumer_groups: set[str] = set()
        self._described: dict[str, GroupDescription] = {}
        self.states: Counter[str] = Counter()
        self.member_count = 0
        self.consumer_group_count = 0

    def tick(self, now_s: float, group_ids: Collection[str]) -> None:
        """Take the responses when all have come, then start the next round when it is due."""
        if self._asked and all(reply.done() for reply in self._asked.values()):
            self._take()
        if not self._asked and now_s >= self._due_s:
            self._due_s = now_s + _INTERVAL_S
            self._described = {}
            for group_id in group_ids:
                self._ask(group_id)

    def _ask(self, group_id: str) -> None:
        is_consumer = group_id in self._consumer_groups
        question = describe_consumer_group if is_consumer else descriptions.describe_group
        self._asked[group_id] = self._channel.send(question(group_id))

    def _take(self) -> None:
        asked, self._asked = self._asked, {}
        try:
            for group_id, reply in asked.items():
                self._hear(group_id, reply.result())
        except ClientError:
            self._asked = {}
            return
        if not self._asked:
            groups = self._described.values()
            self.states = Counter(group.state for group in groups)
            self.member_count = sum(len(group.members) for group in groups)
            self.consumer_group_count = sum(group.group_type == _CONSUMER for group in groups)

    def _hear(self, group_id: str, body: Body) -> None:
        # A group that neither API knows is deleted.
        is_second = group_id in self._described
        if group_id in self._consumer_groups:
            found = consumer_description(group_id, body) or _gone(group_id)
        else:
            found = descriptions.description(group_id, body)
        self._described[group_id] = found
        if found.error is not None and not is_second:
            self._consumer_groups ^= {group_id}
            self._ask(group_id)


def _gone(group_id: str) -> GroupDescription:
    return GroupDescription(group_id, state="Dead", error=GroupIdNotFoundError())
