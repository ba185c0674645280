"""Which record types of __consumer_offsets are of which kind of group, and whose tombstones have a reason."""

from __future__ import annotations

from group_coordinator.codecs.records import record_types
from group_coordinator.tables.compaction.classic_rows import CLASSIC
from group_coordinator.tables.compaction.consumer_rows import CONSUMER
from group_coordinator.tables.compaction.foreign_kinds import FOREIGN_KINDS

OFFSETS = (record_types.LEGACY_OFFSET_COMMIT, record_types.OFFSET_COMMIT)
"""Offsets are of no kind: every group may have them, but for share groups."""
GROUPS = (
    record_types.GROUP_METADATA,
    record_types.GROUP_EPOCH,
    record_types.SHARE_GROUP_EPOCH,
    record_types.STREAMS_GROUP_EPOCH,
)
"""The records whose tombstone ends a group, one a kind."""
EXPLAINED = (*OFFSETS, *GROUPS)
"""The records whose tombstone has a reason that may be inferred."""

KINDS: dict[int, str] = {
    record_types.GROUP_METADATA: CLASSIC,
    **dict.fromkeys(record_types.OF_CONSUMER_GROUPS.values(), CONSUMER),
    **{record_type: kind.group_type for record_type, kind in FOREIGN_KINDS.items()},
}
"""The kind of group, as the tables call it, by record type."""
