from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from group_coordinator.runtime import group_call
from group_coordinator.runtime.group_call import SortedEvents
from group_coordinator.runtime.outputs import EVENT, HEADER, pack_seed, seed_of


def packed(partition: int, offset: int) -> bytes:
    return HEADER.pack(partition, offset, 5, EVENT, 1) + b"v"


ORDERED = [packed(0, 2), packed(0, 255), packed(0, 256), packed(1, 0), packed(1, 1)]


def test_events_come_in_the_order_of_partition_and_offset() -> None:
    events = SortedEvents([ORDERED[4], ORDERED[2]])
    events.add([ORDERED[1], ORDERED[0], ORDERED[3]])

    assert list(events) == ORDERED


@pytest.mark.parametrize("most_bytes", [0, 26, 52, 78])
def test_where_events_wait_does_not_matter(
    monkeypatch: pytest.MonkeyPatch, most_bytes: int
) -> None:
    monkeypatch.setattr(group_call, "_MOST_BYTES_HELD", most_bytes)
    events = SortedEvents()
    for event in (ORDERED[4], ORDERED[2], ORDERED[1], ORDERED[0], ORDERED[3]):
        events.add([event])

    assert list(events) == ORDERED


@pytest.mark.parametrize("most_bytes", [0, 26, 52, 1_000])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_seed_comes_first_wherever_it_waits(
    monkeypatch: pytest.MonkeyPatch, most_bytes: int, place: int
) -> None:
    monkeypatch.setattr(group_call, "_MOST_BYTES_HELD", most_bytes)
    seed, first = pack_seed(b"snapshot"), HEADER.pack(0, 0, 0, EVENT, 0)
    arriving = [ORDERED[0], first]
    arriving.insert(place, seed)
    events = SortedEvents()
    for record in arriving:
        events.add([record])

    assert seed_of(events) == b"snapshot"
    assert list(events) == [seed, first, ORDERED[0]]


def test_events_wait_in_the_folder_that_the_worker_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Python's own folder may be one that takes no files."""
    monkeypatch.setattr(group_call, "_MOST_BYTES_HELD", 0)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "read-only"))

    events = SortedEvents(ORDERED, scratch=lambda: str(tmp_path))

    assert list(events) == ORDERED
    with pytest.raises(FileNotFoundError):
        SortedEvents(ORDERED)


def test_a_call_may_have_no_events() -> None:
    assert list(SortedEvents()) == []
