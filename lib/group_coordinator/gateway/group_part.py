"""What the moving of bytes asks of the part that answers for groups."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import NamedTuple, Protocol

from group_coordinator.clients.channel.channel import Body
from group_coordinator.gateway.health_port import Check
from group_coordinator.gateway.login.caller import Caller


class GroupPart(Protocol):
    """Answers the group APIs of gateway/served.py, and those about configs for groups' resources alone."""

    def answer(self, api: str, version: int, body: Body, caller: Caller) -> Awaitable[Body]:
        """The answer's body; what the request asks for is on its way before this returns, so order is that of calls.

        Topics by id have their names in addition; those without one do not exist.
        """

    async def groups_with_settings(self) -> Sequence[str]:
        """The groups that have settings of their own."""


class GroupService(NamedTuple):
    """The part for groups at work."""

    part: GroupPart
    checks: Sequence[Check]
    """Whether the job's answers come."""
