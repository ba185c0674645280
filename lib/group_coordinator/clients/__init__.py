"""Clients of the coordinator over Kafka: AdminClient, GroupMember, and their common channel.

Queries of the tables without a JVM are here too: `sql_tables.py`, for notebooks `table_folder.py`, for an earlier time
`time_travel.py`, under another retention `what_if.py`. `past_offsets.py` reads offsets of an earlier time,
`restore.py` puts them back.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from group_coordinator.clients import errors as errors

if TYPE_CHECKING:
    from group_coordinator.clients.admin.client import AdminClient, AsyncAdminClient
    from group_coordinator.clients.channel import RequestChannel
    from group_coordinator.clients.cluster.cluster import Cluster
    from group_coordinator.clients.cluster.connection import Connection
    from group_coordinator.clients.member.member import GroupMember
    from group_coordinator.clients.member.membership import (
        MemberOptions,
        MemberState,
        SubscriptionPattern,
    )
    from group_coordinator.clients.reset_plan import ShiftBy
    from group_coordinator.clients.results import MemberToRemove

__all__ = [
    "AdminClient",
    "AsyncAdminClient",
    "Cluster",
    "Connection",
    "GroupMember",
    "MemberOptions",
    "MemberState",
    "MemberToRemove",
    "RequestChannel",
    "ShiftBy",
    "SubscriptionPattern",
]

_MODULES = {
    "AdminClient": "admin.client",
    "AsyncAdminClient": "admin.client",
    "Cluster": "cluster.cluster",
    "Connection": "cluster.connection",
    "GroupMember": "member.member",
    "MemberOptions": "member.membership",
    "MemberState": "member.membership",
    "MemberToRemove": "results",
    "RequestChannel": "channel",
    "ShiftBy": "reset_plan",
    "SubscriptionPattern": "member.membership",
}


if not TYPE_CHECKING:
    # Imported at the first use: queries of the tables need no Kafka client, which takes a quarter of a second to import.
    def __getattr__(name: str) -> object:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
