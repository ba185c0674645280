"""Interface between the connections and the part of the gateway that answers group APIs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import NamedTuple, Protocol, TypeAlias

from group_coordinator.clients.channel import Body
from group_coordinator.gateway.cluster.cluster_view import ClusterView
from group_coordinator.gateway.health_port import Check
from group_coordinator.gateway.login import Caller


class GroupPart(Protocol):
    """Answers the group APIs of gateway/api_versions.py, and the configs APIs for group resources."""

    def answer(self, api: str, version: int, body: Body, caller: Caller) -> Awaitable[Body]:
        """Send the request to the job before this returns, so that calls keep their order. The result is the response body.

        Topics by id have their names in addition; topics without a name do not exist.
        """

    def expect(self, group_id: str, caller: Caller) -> None:
        """Prepare for requests to a group, whose coordinator a client asks for."""

    async def groups_with_settings(self) -> Sequence[str]: ...


AnswerGroups: TypeAlias = Callable[[str, int, Body, Caller], Awaitable[Body]]
"""Function with the arguments and the result of `GroupPart.answer`."""


class GroupService(NamedTuple):
    part: GroupPart
    checks: Sequence[Check]
    figures: Callable[[], Mapping[str, int]] = dict
    """More samples of the metrics page, by name."""


OpenGroups: TypeAlias = Callable[[ClusterView], AbstractAsyncContextManager[GroupService]]
"""Opens the channel to the job for a cluster view."""
