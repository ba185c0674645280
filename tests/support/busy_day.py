"""A day of a shop's consumer groups, as tables: what reports and notebooks are tried on.

    python -m tests.support.busy_day FOLDER

Orders are written all day, most of them at noon. Each group that reads has its own kind of day, and one has a name that
a page must not take for a part of itself.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
from deltalake import write_deltalake

from group_coordinator.tables.position import Position
from group_coordinator.tables.samples import TOPIC_POSITIONS, position_rows
from tests.support.group_history import GroupHistory, tables_of

DAY = datetime(2025, 6, 2, tzinfo=UTC)
END = DAY + timedelta(days=1)
CLUSTER = "shop"
HOSTILE = "<script>alert(1)</script>"
STEP_MS = 300_000
STEPS = 288
_HOUR_MS = 3_600_000
_DAY_MS = round(DAY.timestamp() * 1000)
_WRITTEN = (9, 6, 4, 3, 3, 5, 11, 20, 31, 42, 50, 58, 60, 55, 48, 44, 41, 43, 47, 45, 36, 27, 19, 13)  # fmt: skip
"""How many orders come to a partition in each five minutes of an hour."""
_Ends = Mapping[str, list[int]]


class Shop:
    """Topics whose ends move on, and groups that read them."""

    def __init__(self) -> None:
        self.ends = {
            "orders": [1_000] * 3,
            "clicks": [50_000] * 2,
            "newsletter": [700],
            "returns": [40],
        }
        self.samples: list[tuple[int, list[Position]]] = []
        self.billing = Reader("billing", "orders", members=2)
        self.shipping = Reader("shipping", "orders")
        self.search = Reader("search-index", "orders")
        self.analytics = Reader("analytics", "clicks", most=170, partitions=2)
        self.refunds = Reader("refunds", "orders")
        self.imports = Reader("imports", "orders", offsets_retention_ms=12 * _HOUR_MS)
        self.newsletter = Reader(
            "newsletter-2019", "newsletter", partitions=1, offsets_retention_ms=6 * _HOUR_MS
        )
        self.archive = Reader("archive", "returns", partitions=1, start_ms=_DAY_MS - 48 * _HOUR_MS)
        self.archive.read(self.ends)
        self.archive.leave()
        self.hostile = Reader(HOSTILE, "orders", most=1)
        self.readers = (
            *(self.billing, self.shipping, self.search, self.analytics, self.refunds),
            *(self.imports, self.newsletter, self.archive, self.hostile),
        )

    def live(self) -> None:
        """The day from its begin to its end."""
        events = self._events()
        for step in range(STEPS):
            self._write(step)
            for reader in self.readers:
                reader.until(_DAY_MS + step * STEP_MS)
            events.get(step, lambda: None)()
            for reader in self.readers:
                reader.read(self.ends)
            self._sample(step)

    def _events(self) -> dict[int, Callable[[], None]]:
        def at(hour: int, minute: int = 0) -> int:
            return hour * 12 + minute // 5

        return {
            at(0, 15): self.newsletter.leave,
            at(10, 30): self.search.leave,
            at(10, 35): lambda: self.search.reset(1_200, "User:anna"),
            at(10, 45): lambda: self.search.join(most=95),
            at(14, 5): self.shipping.leave,
            at(16): self.imports.leave,
            at(17): self.refunds.leave,
            at(18): lambda: self.refunds.forget([0, 2], "User:ops"),
        }

    def _write(self, step: int) -> None:
        written = _WRITTEN[step // 12]
        self.ends["orders"] = [
            end + written + number for number, end in enumerate(self.ends["orders"])
        ]
        self.ends["returns"] = [end + written // 9 for end in self.ends["returns"]]
        self.ends["clicks"] = [end + written * 5 for end in self.ends["clicks"]]

    def _sample(self, step: int) -> None:
        positions = [
            Position(topic, partition, 0, end, end)
            for topic, ends in self.ends.items()
            for partition, end in enumerate(ends)
        ]
        self.samples.append((_DAY_MS + step * STEP_MS + 1_000, positions))


class Reader:
    """A group that commits what it has read, every five minutes; at most `most` records a partition."""

    def __init__(
        self,
        name: str,
        topic: str,
        *,
        partitions: int = 3,
        members: int = 1,
        most: int | None = None,
        start_ms: int = _DAY_MS - 10_000,
        **settings: int,
    ) -> None:
        self.history = GroupHistory(name, cluster_id=CLUSTER, start_ms=start_ms, **settings)
        self.history.client_id = name
        self.topic = topic
        self._partitions = partitions
        self._read: dict[int, int] = {}
        self._member_ids: list[str] = []
        self.join(members=members, most=most)

    def join(self, *, members: int = 1, most: int | None = None) -> None:
        self._most = most
        joins = [
            self.history.join(topics=[self.topic], session_timeout_ms=1_800_000, version=3)
            for _ in range(members)
        ]
        while any(join.correlation_id not in self.history.responses for join in joins):
            self.history.at(self.history.next_deadline_ms or self.history.now_ms)
        self._member_ids = [self.history.response_to(join).member_id for join in joins]
        assignments = {
            member: {self.topic: list(range(number, self._partitions, members))}
            for number, member in enumerate(self._member_ids)
        }
        for member in self._member_ids:
            self.history.sync(member, self._generation, assignments)

    def until(self, now_ms: int) -> None:
        self.history.at(max(now_ms, self.history.now_ms))

    def read(self, ends: _Ends) -> None:
        if not self._member_ids:
            return
        for partition, end in enumerate(ends[self.topic]):
            begun = self._read.get(partition, end)
            self._read[partition] = end if self._most is None else min(end, begun + self._most)
        self.history.principal = f"User:{self.history.group.group_id}"
        for member in self._member_ids:
            self.history.heartbeat(member, self._generation)
        self.history.commit({self.topic: self._read}, self._member_ids[0], self._generation)

    def leave(self) -> None:
        self.history.principal = None
        self.history.leave(*self._member_ids)
        self._member_ids = []

    def reset(self, offset: int, principal: str) -> None:
        self._read = dict.fromkeys(self._read, offset)
        self.history.principal = principal
        self.history.commit({self.topic: self._read})

    def forget(self, partitions: list[int], principal: str) -> None:
        self.history.principal = principal
        self.history.delete_offsets({self.topic: partitions})

    @property
    def _generation(self) -> int:
        membership = self.history.group.membership
        return membership.generation  # type: ignore[union-attr]


def busy_day(root: Path) -> Path:
    """The day's tables under a folder."""
    shop = Shop()
    shop.live()
    tables_of(root, *(reader.history for reader in shop.readers))
    samples = [position_rows(CLUSTER, positions, at_ms) for at_ms, positions in shop.samples]
    write_deltalake(root / TOPIC_POSITIONS.name, pa.concat_tables(samples), mode="append")
    return root


if __name__ == "__main__":
    busy_day(Path(sys.argv[1]))
