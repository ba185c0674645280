"""What groups wait for, from one run to the next."""

from __future__ import annotations

from msgspec import json

from group_coordinator.driver.tasks.transaction_markers import AwaitedMarkers
from group_coordinator.runtime.outputs import AwaitedMarkersLine
from tests.support.files import FilesInMemory


def line(group_id: str, since: dict[int, int]) -> str:
    return json.encode(AwaitedMarkersLine(group_id, since)).decode()


def test_what_groups_say_is_heard_once() -> None:
    awaited = AwaitedMarkers(FilesInMemory())
    assert not awaited.are_there

    awaited.note([line("g", {17: 5}), line("h", {18: 1}), line("g", {17: 7})])

    assert awaited.are_there
    assert awaited.take_changed() == {"g": {17: 7}, "h": {18: 1}}
    awaited.note([line("g", {17: 7}), line("h", {})])
    assert awaited.take_changed() == {"h": {}}


def test_the_next_run_knows_who_waits() -> None:
    files = FilesInMemory()
    before = AwaitedMarkers(files)
    before.note([line("g", {17: 5, 18: 6}), line("h", {18: 1})])
    before.note([line("h", {})])

    assert AwaitedMarkers(files).take_changed() == {"g": {17: 5, 18: 6}}


def test_what_is_said_again_is_not_written_again() -> None:
    files = FilesInMemory()
    awaited = AwaitedMarkers(files)
    awaited.note([line("g", {17: 5})])
    written = files.names_in("transactions/awaited")

    awaited.note([line("g", {17: 5})])
    awaited.note([line("h", {})])

    assert files.names_in("transactions/awaited") == written
