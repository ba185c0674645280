"""Asks the coordinator for the state of every group, again and again, as an administrator's tool would."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from concurrent.futures import Future

from group_coordinator.clients import admin_messages
from group_coordinator.clients.client_errors import ClientError
from group_coordinator.clients.member import Channel
from group_coordinator.clients.requests import Body

_INTERVAL_S = 3.0


class Survey:
    """One round of questions at a time; `states` are the answers of the last one."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._asked: dict[str, Future[Body]] = {}
        self._due_s = 0.0
        self.states: Counter[str] = Counter()
        self.member_count = 0

    def tick(self, now_s: float, group_ids: Collection[str]) -> None:
        """Take the answers when all are there, then ask again when it is time."""
        if self._asked and all(reply.done() for reply in self._asked.values()):
            self._take()
        if not self._asked and now_s >= self._due_s:
            self._due_s = now_s + _INTERVAL_S
            self._asked = {
                group_id: self._channel.send(admin_messages.describe_group(group_id))
                for group_id in group_ids
            }

    def _take(self) -> None:
        asked, self._asked = self._asked, {}
        try:
            groups = [
                admin_messages.description(group_id, reply.result())
                for group_id, reply in asked.items()
            ]
        except ClientError:
            return
        self.states = Counter(group.state for group in groups)
        self.member_count = sum(len(group.members) for group in groups)
