"""In which partition of __consumer_offsets a group has its records, and what to think of records elsewhere.

A broker puts a group's records into the partition that the hash of its id names among as many as the topic had when the broker
started. Where the topic has got more since then, it goes on so until it is started again. From then on the group begins anew in
its new partition: what the old one has of it counts no more, though tombstones still come there as the offsets expire.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from group_coordinator.core.kafka_order.java_tables import string_hash

OFFSETS_TOPIC = "__consumer_offsets"
"""Kafka's own name; a copy may have its messages in other partitions."""
MOVED = "the brokers count the partitions anew: "
"""What the reason of a stray begins with that shows it."""
_HIGHEST = 0x7FFFFFFF
_LOWEST = 0x80000000


@dataclass(frozen=True, slots=True)
class HomePartitions:
    """How many partitions the brokers share the groups out over, and how many it will be once they have started again."""

    count: int
    next_count: int | None = None

    def strays(
        self, group_ids: pa.StringArray, partitions: npt.NDArray[np.int32]
    ) -> dict[int, str]:
        """The rows that are not in the partition of their group, and why they do not count; rows without group are not."""
        encoded = group_ids.dictionary_encode()
        hashes = np.array([_hash(group_id) for group_id in encoded.dictionary.to_pylist()])
        places = encoded.indices.fill_null(-1).to_numpy()
        hashes = np.append(hashes, 0)[places].astype(np.int64)
        away = np.flatnonzero((hashes % self.count != partitions) & (places >= 0))
        return {
            int(row): self._reason(group_ids[row].as_py(), int(hashes[row]), int(partitions[row]))
            for row in away
        }

    def _reason(self, group_id: str, number: int, partition: int) -> str:
        why = f"group {group_id} is of partition {number % self.count} of {self.count}, not of {partition}"
        if self.next_count is not None and number % self.next_count == partition:
            return f"{MOVED}{why}"
        return why


def _hash(group_id: str) -> int:
    """Utils.abs(groupId.hashCode()) in Kafka (GroupCoordinatorService.partitionFor)."""
    found = string_hash(group_id)
    if found <= _HIGHEST:
        return found
    return 0 if found == _LOWEST else (1 << 32) - found
