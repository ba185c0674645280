"""Home partition of a group in __consumer_offsets, and the meaning of records in other partitions.

A broker writes a group's records to the partition given by the hash of its id and the topic's number of partitions at
the broker's start. If the topic has got more partitions since then, this continues until the broker's restart. From
then on the group starts from nothing in its new partition: its records in the old partition no longer count, though
tombstones are still written there as the offsets expire.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from group_coordinator.codecs.offsets_topic.partitions import hash_of

MOVED = "the brokers use another number of partitions: "
"""Prefix of the reason of a record that shows this change."""


@dataclass(frozen=True, slots=True)
class HomePartitions:
    """Number of partitions that the brokers use now, and the number after their restart."""

    count: int
    next_count: int | None = None

    def strays(
        self, group_ids: pa.StringArray, partitions: npt.NDArray[np.int32]
    ) -> dict[int, str]:
        """Return the rows outside their group's partition, with the reason why they do not count.

        Rows without group are never among them.
        """
        encoded = group_ids.dictionary_encode()
        hashes = np.array([hash_of(group_id) for group_id in encoded.dictionary.to_pylist()])
        places = encoded.indices.fill_null(-1).to_numpy()
        # Rows without a group have index -1, which is the appended 0.
        hashes = np.append(hashes, 0)[places].astype(np.int64)
        away = np.flatnonzero((hashes % self.count != partitions) & (places >= 0))
        return {
            int(row): self._reason(group_ids[row].as_py(), int(hashes[row]), int(partitions[row]))
            for row in away
        }

    def _reason(self, group_id: str, number: int, partition: int) -> str:
        why = f"group {group_id} belongs to partition {number % self.count} of {self.count}, not to {partition}"
        if self.next_count is not None and number % self.next_count == partition:
            return f"{MOVED}{why}"
        return why
