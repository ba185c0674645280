"""Kafka's meters of the group coordinator (KIP-496, KIP-848), counted from the rows of the log.

Source: the sensors of GroupCoordinatorMetrics in Kafka 4.4, and their callers in OffsetMetadataManager and GroupMetadataManager.

Here each written record counts once. Kafka differs in two cases. For every group of a sweep it counts all records that the sweep
has written so far as expired, including tombstones of groups. It also counts the epoch of a heartbeat whose assignment then fails
(UNKNOWN_SERVER_ERROR), although nothing of that heartbeat is written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from group_coordinator.codecs.records.record_types import GROUP_EPOCH, GROUP_METADATA, OFFSET_COMMIT
from group_coordinator.core.model.records import Reason
from group_coordinator.runtime.outputs import LogRow


class Meter(NamedTuple):
    """One of Kafka's meters: the beginning of its name, and the rows of the log that it counts."""

    name: str
    meaning: str
    record_type: int
    reasons: tuple[Reason, ...]
    tombstones: bool = False


METERS = (
    # To Kafka a reset is a commit. Transactional offsets count when they are sent.
    Meter(
        "offset-commit",
        "offsets committed",
        OFFSET_COMMIT,
        (Reason.OFFSET_COMMIT, Reason.OFFSET_RESET, Reason.OFFSET_RESTORED),
    ),
    Meter(
        "offset-expiration",
        "offsets that expired",
        OFFSET_COMMIT,
        (Reason.OFFSET_EXPIRED,),
        tombstones=True,
    ),
    # Offsets that are removed with their group or topic do not count.
    Meter(
        "offset-deletion",
        "offsets deleted by OffsetDelete",
        OFFSET_COMMIT,
        (Reason.OFFSET_DELETED,),
        tombstones=True,
    ),
    Meter(
        "group-completed-rebalance",
        "rebalances of classic groups that their leader's SyncGroup completed",
        GROUP_METADATA,
        (Reason.SYNC,),
    ),
    # A member that leaves or is removed bumps the epoch too, but Kafka does not count that.
    Meter(
        "consumer-group-rebalance",
        "epochs of consumer groups begun by a member that joins or changes, or by changed topics",
        GROUP_EPOCH,
        (Reason.JOIN, Reason.HEARTBEAT, Reason.TOPICS_RESOLVED),
    ),
)

_NAMES = {
    (meter.record_type, reason.value, meter.tombstones): meter.name
    for meter in METERS
    for reason in meter.reasons
}


def meter_of(record_type: int, reason: str, *, is_tombstone: bool) -> str | None:
    """Return the name of the meter that counts such a row of the log; None: no meter does."""
    return _NAMES.get((record_type, reason, is_tombstone))


def counted(rows: Iterable[LogRow]) -> Counter[str]:
    """Count the rows by name of their meter."""
    found: Counter[str] = Counter()
    for row in rows:
        # Not by meter_of: a row of the log has microseconds, not calls.
        name = _NAMES.get((row.record_type, row.reason, row.value is None))
        if name is not None:
            found[name] += 1
    return found
