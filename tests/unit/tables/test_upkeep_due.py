from __future__ import annotations

import pytest

from group_coordinator.tables.maintenance_work import (
    DueMaintenance,
    MaintenanceNote,
    MaintenanceRule,
    TableFiles,
    due,
    noted,
)

HOUR = 3_600_000
RULE = MaintenanceRule(interval_ms=3 * HOUR, new_files=500)
NOON = MaintenanceNote(files=10, version=70, at_ms=12 * HOUR)


@pytest.mark.parametrize(
    ("files", "version", "now_ms", "need"),
    [
        (509, 569, 15 * HOUR - 1, DueMaintenance.NONE),
        (510, 570, 12 * HOUR, DueMaintenance.GATHER),
        (11, 71, 15 * HOUR, DueMaintenance.ALL),
        (510, 570, 15 * HOUR, DueMaintenance.ALL),
        (10, 70, 15 * HOUR, DueMaintenance.REMOVE),
        (10, 71, 12 * HOUR - 1, DueMaintenance.ALL),
    ],
    ids=["not yet", "many files", "time", "both", "nothing new", "the clock was set back"],
)
def test_what_a_table_needs(files: int, version: int, now_ms: int, need: DueMaintenance) -> None:
    assert due(NOON, TableFiles(files, version), RULE, now_ms) is need


def test_a_table_of_which_nothing_is_remembered_has_its_upkeep() -> None:
    assert due(MaintenanceNote(), TableFiles(0, 0), RULE, 12 * HOUR) is DueMaintenance.ALL


def test_files_that_somebody_else_put_together_are_new_no_more() -> None:
    note = noted(NOON, TableFiles(files=2, version=80))

    assert note == MaintenanceNote(files=2, version=70, at_ms=12 * HOUR)
    assert noted(note, TableFiles(files=501, version=579)) == note
    assert due(note, TableFiles(502, 580), RULE, 12 * HOUR) is DueMaintenance.GATHER
