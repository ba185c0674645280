"""Which node is shown as the coordinator of a group: any node's port serves any group, but clients want one."""

from __future__ import annotations

from collections.abc import Collection
from zlib import crc32


def coordinator_of(group_id: str, node_ids: Collection[int]) -> int:
    """One of the nodes, of which there must be at least one; every gateway before a cluster names the same."""
    ordered = sorted(node_ids)
    return ordered[crc32(group_id.encode()) % len(ordered)]
