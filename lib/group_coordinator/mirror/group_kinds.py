"""Which record types of __consumer_offsets are of which kind of group."""

from __future__ import annotations

from typing import Literal

from group_coordinator.codecs.records import record_types

GroupKind = Literal["classic", "consumer", "share", "streams"]

OFFSETS = (record_types.LEGACY_OFFSET_COMMIT, record_types.OFFSET_COMMIT)
"""Offsets are of no kind: every group may have them, but for share groups."""
SHARE_MEMBER, SHARE_GROUP = 10, 11
STREAMS_GROUP, STREAMS_MEMBER, STREAMS_TOPOLOGY = 17, 19, 23

KINDS: dict[int, GroupKind] = {
    record_types.GROUP_METADATA: "classic",
    **dict.fromkeys(record_types.OF_CONSUMER_GROUPS.values(), "consumer"),
    **dict.fromkeys(range(SHARE_MEMBER, 16), "share"),
    STREAMS_GROUP: "streams",
    **dict.fromkeys(range(STREAMS_MEMBER, STREAMS_TOPOLOGY + 1), "streams"),
}
"""By record type."""

GROUPS: dict[GroupKind, int] = {
    "classic": record_types.GROUP_METADATA,
    "consumer": record_types.GROUP_EPOCH,
    "share": SHARE_GROUP,
    "streams": STREAMS_GROUP,
}
"""The record whose tombstone ends a group, by kind."""

EXPLAINED = (*OFFSETS, *GROUPS.values())
"""The record types whose tombstones have a reason that may be inferred."""
