"""ListGroups at a node's port: the groups that clients look for there, as FindCoordinator tells them."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence

from group_coordinator.clients.channel.channel import Body
from group_coordinator.gateway.cluster.find_coordinator import Coordinators
from group_coordinator.gateway.group_part import GroupPart
from group_coordinator.gateway.login.caller import Caller


class NodeShares:
    """The part for groups, which lists each node's share alone: clients put the lists of all nodes together."""

    def __init__(self, groups: GroupPart, coordinators: Coordinators) -> None:
        self._groups = groups
        self._coordinators = coordinators

    def answer(self, api: str, version: int, body: Body, caller: Caller) -> Awaitable[Body]:
        """As GroupPart."""
        answer = self._groups.answer(api, version, body, caller)
        if api != "ListGroups" or caller.node_id is None:
            return answer
        return self._share(answer, caller.node_id)

    async def groups_with_settings(self) -> Sequence[str]:
        """As GroupPart."""
        return await self._groups.groups_with_settings()

    async def _share(self, answer: Awaitable[Body], node_id: int) -> Body:
        found = await answer
        share = self._coordinators.share_of(node_id, (each["groupId"] for each in found["groups"]))
        return {**found, "groups": [each for each in found["groups"] if each["groupId"] in share]}
