"""Changes of offsets are those that the state machine makes, whatever transactions overlap."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from pathlib import Path
from random import Random

import pytest

from group_coordinator.clients.sql_tables import query
from tests.support.group_history import GroupHistory, tables_of

LIVES, STEPS = 60, 40
Change = tuple[str, int, int | None, int | None]
Offsets = dict[tuple[str, int], int]


def offsets_of(group: GroupHistory) -> Offsets:
    return {
        (topic, partition): offset.offset
        for topic, partitions in group.group.offsets.items()
        for partition, offset in partitions.items()
    }


def step(group: GroupHistory, random: Random, offset: int) -> None:
    partition, producer_id = random.randrange(2), random.choice([17, 18])
    match random.randrange(8):
        case 0:
            group.commit({"orders": {partition: offset}})
        case 1 | 2 | 3:
            group.commit_in_transaction(producer_id, "orders", partition, offset)
        case 4 | 5:
            group.end_transaction(producer_id, is_commit=random.random() < 0.8)
        case 6:
            group.delete_offsets({"orders": [partition]})
        case _:
            group.sleep(random.choice([1, 30_000]))


class BrokersLog:
    """Where producers' markers are; the group hears of them late, in any order, now and then by somebody who does not know."""

    def __init__(self) -> None:
        self.end = 0
        self.untold: list[tuple[int, int, int, bool]] = []
        self.first = {17: 0, 18: 0}

    def step(self, group: GroupHistory, random: Random, offset: int) -> None:
        producer_id = random.choice([17, 18])
        match random.randrange(10):
            case 0 | 1 | 2 | 3:
                partition = random.randrange(2)
                group.commit_in_transaction(
                    producer_id, "orders", partition, offset, since=self.end
                )
            case 4 | 5:
                since = self.first[producer_id]
                self.untold.append((producer_id, since, self.end, random.random() < 0.8))
                self.first[producer_id] = self.end + 1
                self.end += 1 + random.randrange(2)
            case 6 | 7 if self.untold:
                told, since, at, is_commit = self.untold.pop(random.choice([0, 0, -1]))
                group.end_transaction(told, is_commit=is_commit, at=at, since=since)
            case 8 if not self.untold:
                group.end_transaction(producer_id, is_commit=True)
            case _:
                group.commit({"orders": {random.randrange(2): offset}})


Step = Callable[[GroupHistory, Random, int], None]


def life(group: GroupHistory, random: Random, step: Step) -> list[Change]:
    """Live on, each time with another offset; the changes in their order."""
    changes = []
    for offset in range(STEPS):
        before = offsets_of(group)
        step(group, random, offset)
        after = offsets_of(group)
        changes += [
            (*partition, before.get(partition), after.get(partition))
            for partition in sorted(before.keys() | after.keys())
            if before.get(partition) != after.get(partition)
        ]
    return changes


@pytest.mark.parametrize(
    "steps", [lambda: step, lambda: BrokersLog().step], ids=["plain", "placed"]
)
def test_changes_are_those_of_the_state_machine(tmp_path: Path, steps: Callable[[], Step]) -> None:
    groups = [
        GroupHistory(f"g-{number:02}", offsets_retention_ms=60_000) for number in range(LIVES)
    ]
    expected = {
        group.group.group_id: life(group, Random(number), steps())  # noqa: S311 - the same lives every time
        for number, group in enumerate(groups)
    }
    first, *others = groups
    first.rows = list(chain(first.rows, *(group.rows for group in others)))

    answer = query(
        str(tables_of(tmp_path, first)),
        "SELECT group_id, topic, `partition`, `before`, `after` FROM offset_changes "
        "ORDER BY group_id, batch_id, seq, topic, `partition`",
    ).to_pylist()

    found: dict[str, list[Change]] = {group.group.group_id: [] for group in groups}
    for row in answer:
        group_id, *change = row.values()
        found[group_id].append(tuple(change))
    assert found == expected
    assert sum(map(len, expected.values())) > LIVES * 5
