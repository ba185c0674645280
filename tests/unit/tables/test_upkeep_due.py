from __future__ import annotations

import pytest

from group_coordinator.tables.maintenance_work import (
    TableFiles,
    Upkeep,
    UpkeepNote,
    UpkeepRule,
    due,
    noted,
)

HOUR = 3_600_000
RULE = UpkeepRule(interval_ms=3 * HOUR, new_files=500)
NOON = UpkeepNote(files=10, version=70, at_ms=12 * HOUR)


@pytest.mark.parametrize(
    ("files", "version", "now_ms", "need"),
    [
        (509, 569, 15 * HOUR - 1, Upkeep.NONE),
        (510, 570, 12 * HOUR, Upkeep.GATHER),
        (11, 71, 15 * HOUR, Upkeep.ALL),
        (510, 570, 15 * HOUR, Upkeep.ALL),
        (10, 70, 15 * HOUR, Upkeep.REMOVE),
        (10, 71, 12 * HOUR - 1, Upkeep.ALL),
    ],
    ids=["not yet", "many files", "time", "both", "nothing new", "the clock was set back"],
)
def test_what_a_table_needs(files: int, version: int, now_ms: int, need: Upkeep) -> None:
    assert due(NOON, TableFiles(files, version), RULE, now_ms) is need


def test_a_table_of_which_nothing_is_remembered_has_its_upkeep() -> None:
    assert due(UpkeepNote(), TableFiles(0, 0), RULE, 12 * HOUR) is Upkeep.ALL


def test_files_that_somebody_else_put_together_are_new_no_more() -> None:
    note = noted(NOON, TableFiles(files=2, version=80))

    assert note == UpkeepNote(files=2, version=70, at_ms=12 * HOUR)
    assert noted(note, TableFiles(files=501, version=579)) == note
    assert due(note, TableFiles(502, 580), RULE, 12 * HOUR) is Upkeep.GATHER
