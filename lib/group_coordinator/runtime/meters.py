"""What Kafka's group coordinator counts (KIP-496, KIP-848), told from the rows of the log: so the counts follow from it.

Source: the sensors of GroupCoordinatorMetrics in Kafka 4.4, and who records them in OffsetMetadataManager and
GroupMetadataManager. What is written counts, and counts once, where Kafka differs: at every group of a sweep it counts as expired
all that the sweep has written so far, tombstones of groups included; and it counts the epoch of a heartbeat whose assignment
then fails (UNKNOWN_SERVER_ERROR), though nothing of it is written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from group_coordinator.codecs.records.record_types import GROUP_EPOCH, GROUP_METADATA, OFFSET_COMMIT
from group_coordinator.core.model.records import Reason
from group_coordinator.runtime.outputs import LogRow


class Meter(NamedTuple):
    """One of Kafka's meters, by the beginning of its name, and the rows of the log that it counts."""

    name: str
    meaning: str
    record_type: int
    reasons: tuple[Reason, ...]
    tombstones: bool = False


METERS = (
    # A reset is a commit to Kafka. What a transaction commits counts when it is sent, whatever becomes of it.
    Meter(
        "offset-commit",
        "offsets committed",
        OFFSET_COMMIT,
        (Reason.OFFSET_COMMIT, Reason.OFFSET_RESET),
    ),
    Meter(
        "offset-expiration",
        "offsets that expired",
        OFFSET_COMMIT,
        (Reason.OFFSET_EXPIRED,),
        tombstones=True,
    ),
    # Those that go with their group or topic do not count.
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
    # A member that goes, or is sent away, bumps the epoch too, and Kafka does not count that.
    Meter(
        "consumer-group-rebalance",
        "epochs of consumer groups begun by a member that joins, changes or hears of changed topics",
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
    """The name of the meter that counts such a row of the log; None: there is none."""
    return _NAMES.get((record_type, reason, is_tombstone))


def counted(rows: Iterable[LogRow]) -> Counter[str]:
    """What these rows add to the meters, by name."""
    found: Counter[str] = Counter()
    for row in rows:
        # Not by meter_of: a row of the log has microseconds, not calls.
        name = _NAMES.get((row.record_type, row.reason, row.value is None))
        if name is not None:
            found[name] += 1
    return found
