"""Two groups at a coordinator, tables that list them, and the brokers of their topic: where examples run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from deltalake import write_deltalake
from kafka import TopicPartition
from pyarrow import table

from group_coordinator.clients import AsyncAdminClient
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.offset_messages import MemberIdentity, commit_offsets
from tests.unit.clients.billing import coordinator_of_billing, live, new_member
from tests.unit.clients.coordinator_in_process import CoordinatorInProcess

ORDERS = [TopicPartition("orders", number) for number in range(2)]
FIRST, END = 10, 100
NOON_MS = 1_700_000_000_000
AT_NOON = 60


def coordinator_with_groups() -> CoordinatorInProcess:
    """billing has a static member, reports only has offsets."""
    coordinator = coordinator_of_billing()
    live(coordinator, new_member(coordinator, "till", group_instance_id="till-1"))
    offsets = {ORDERS[0]: 42, ORDERS[1]: 17}
    coordinator.send(commit_offsets(MemberIdentity("reports"), offsets)).result()
    return coordinator


def write_tables(root: Path) -> None:
    """The table of groups as compaction leaves it, but for columns that no list needs."""
    groups = {
        "cluster_id": ["ours", "ours", "ours", "another"],
        "group_id": ["billing", "reports", "connect-sink", "billing"],
        "group_type": ["consumer", "classic", "classic", "classic"],
        "state": ["Stable", "Empty", "Stable", "Empty"],
        "protocol_type": ["consumer", None, "connect", "consumer"],
    }
    write_deltalake(str(root / "groups"), table(groups))


class Brokers:
    """A Cluster whose topic orders has two partitions, with the offsets 10 to 99; a record a second, the 60th at noon."""

    def __init__(self, _: Connection) -> None:
        self.is_closed = False

    def start_offsets(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        return {one: FIRST for one in partitions if one in ORDERS}

    def end_offsets(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        return {one: END for one in partitions if one in ORDERS}

    def offsets_since(
        self, partitions: Collection[TopicPartition], timestamp_ms: int
    ) -> dict[TopicPartition, int]:
        # Rounded up: the first record at or after the time.
        offset = max(FIRST, AT_NOON - (NOON_MS - timestamp_ms) // 1_000)
        return dict.fromkeys(partitions, offset) if offset < END else {}

    def close(self) -> None:
        self.is_closed = True


class Awaited:
    """An AsyncAdminClient for a program that does not await: each call runs an event loop until it is done."""

    def __init__(self, client: AsyncAdminClient, runner: asyncio.Runner) -> None:
        self._client = client
        self._runner = runner

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._client, name)
        return lambda *arguments, **named: self._runner.run(method(*arguments, **named))
