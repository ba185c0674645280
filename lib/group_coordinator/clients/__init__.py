"""Clients of the coordinator over Kafka: AdminClient, GroupMember, and the channel that they share."""

from __future__ import annotations

from group_coordinator.clients.admin.client import AdminClient
from group_coordinator.clients.channel.channel import RequestChannel
from group_coordinator.clients.cluster.cluster import Cluster
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.member.member import GroupMember
from group_coordinator.clients.member.options import MemberOptions, MemberState, SubscriptionPattern

__all__ = [
    "AdminClient",
    "Cluster",
    "Connection",
    "GroupMember",
    "MemberOptions",
    "MemberState",
    "RequestChannel",
    "SubscriptionPattern",
]
