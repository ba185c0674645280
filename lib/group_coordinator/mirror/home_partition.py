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

from group_coordinator.codecs.offsets_topic.partitions import hash_of

MOVED = "the brokers count the partitions anew: "
"""What the reason of a stray begins with that shows it."""


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
        hashes = np.array([hash_of(group_id) for group_id in encoded.dictionary.to_pylist()])
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
