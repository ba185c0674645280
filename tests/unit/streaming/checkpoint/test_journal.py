"""A map that is kept as what changes: nothing is lost wherever the process is killed, and nothing grows with the map."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import pytest

from group_coordinator.streaming.checkpoint.journal import FEW_FILES, Journal, taken_over
from tests.support.files import FilesInMemory

FOLDER = "things"


class KilledError(Exception):
    pass


class MortalFiles(FilesInMemory):
    """The process is killed at one of its writes and removals: just before it or just after it."""

    def __init__(self) -> None:
        super().__init__()
        self.steps_to_live: float = float("inf")

    def write(self, name: str, text: str) -> None:
        self._step()
        super().write(name, text)
        self._step()

    def remove(self, name: str) -> None:
        self._step()
        super().remove(name)
        self._step()

    def _step(self) -> None:
        self.steps_to_live -= 1
        if self.steps_to_live < 0:
            raise KilledError


class Run:
    """A process with a map and its journal."""

    def __init__(self, files: FilesInMemory) -> None:
        self.journal = Journal(files, FOLDER, int)
        self.values = self.journal.read()

    def change(self, **changes: int | None) -> None:
        for key, value in changes.items():
            if value is None:
                self.values.pop(key, None)
            else:
                self.values[key] = value
        self.journal.keep(changes.keys(), self.values)


def contents(files: FilesInMemory) -> dict[str, dict[str, int | None]]:
    return {path: json.loads(text) for path, text in files.texts.items()}


def test_each_change_is_a_file_of_its_own() -> None:
    files = FilesInMemory()
    assert Journal(files, FOLDER, int).read() == {}
    run = Run(files)

    run.change(a=1, b=2)
    run.change(b=3)
    run.change(a=None)

    assert contents(files) == {
        "things/0": {"a": 1, "b": 2},
        "things/1": {"b": 3},
        "things/2": {"a": None},
    }
    assert Run(files).values == {"b": 3}


def test_the_next_run_goes_on() -> None:
    files = FilesInMemory()
    Run(files).change(a=1)
    Run(files).change(b=2)
    Run(files).change(a=None, b=None)

    assert Run(files).values == {}
    assert Journal(files, FOLDER, int).read() == {}
    assert sorted(files.texts) == ["things/0", "things/1", "things/2"]


def test_the_file_after_a_few_takes_over_the_small_ones() -> None:
    files = FilesInMemory()
    run = Run(files)
    run.change(**{f"key-{number}": number for number in range(100)})
    for value in range(FEW_FILES):
        run.change(a=value, **{f"key-{value}": None})

    last = FEW_FILES - 1
    assert sorted(contents(files)) == ["things/0", f"things/{FEW_FILES}"]
    merged = contents(files)[f"things/{FEW_FILES}"]
    assert merged == {"a": last, **dict.fromkeys((f"key-{n}" for n in range(FEW_FILES)), None)}


def test_what_is_taken_over_altogether_forgets_what_has_nothing() -> None:
    files = FilesInMemory()
    run = Run(files)
    for number in range(FEW_FILES):
        run.change(**{f"key-{number}": number})
    run.change(**{"key-0": None, "key-1": 5})

    [merged] = contents(files).values()
    assert merged == run.values
    assert "key-0" not in merged


def story() -> Iterator[dict[str, int | None]]:
    """Keys come and go while files are taken over, some of them and all of them."""
    yield {f"old-{number}": number for number in range(30)}
    for number in range(70):
        yield {f"key-{number % 7}": number if number % 3 else None}
        if number % 20 == 0:
            yield {f"old-{number // 2}": None}


STORY = list(story())


def after(changes: Sequence[dict[str, int | None]]) -> dict[str, int]:
    values: dict[str, int] = {}
    for change in changes:
        values |= {key: value for key, value in change.items() if value is not None}
        values = {key: value for key, value in values.items() if change.get(key, value) is not None}
    return values


@pytest.mark.parametrize("is_one_process", [False, True], ids=["killed", "failed"])
def test_whoever_is_killed_leaves_what_was_or_what_is(*, is_one_process: bool) -> None:
    """At every step of the story; a step that only fails, as storage may, is done again by the same process."""
    for steps_to_live in range(10_000):
        files = MortalFiles()
        files.steps_to_live = steps_to_live
        run = Run(files)
        number = 0
        try:
            for number, change in enumerate(STORY):  # noqa: B007 - used where it was killed
                run.change(**change)
        except KilledError:
            files.steps_to_live = float("inf")
        else:
            break
        assert Run(files).values in (after(STORY[:number]), after(STORY[: number + 1]))
        run = run if is_one_process else Run(files)
        for change in STORY[number:]:
            run.change(**change)
        assert Run(files).values == after(STORY)
    assert steps_to_live > 2 * len(STORY)


@pytest.mark.parametrize("size", [100, 20_000])
def test_a_change_costs_the_same_however_large_the_map(size: int) -> None:
    files = FilesInMemory()
    run = Run(files)
    run.change(**{f"key-{number}": number for number in range(size)})
    written = 0
    for number in range(200):
        run.change(**{f"key-{number % 50}": 0})
        written += len(max(contents(files).items(), key=lambda file: int(file[0][7:]))[1])

    assert written < 4 * 200
    assert len(files.texts) <= FEW_FILES


def test_files_stay_few_and_entries_are_seldom_written_again() -> None:
    files = FilesInMemory()
    run = Run(files)
    most_files = written = 0
    for number in range(5_000):
        run.change(**{f"key-{number}": number})
        most_files = max(most_files, len(files.texts))
        newest = max(files.texts, key=lambda path: int(path[7:]))
        written += files.texts[newest].count(":")

    assert most_files == FEW_FILES
    assert written / 5_000 < 10
    assert Run(files).values == run.values


def test_each_file_that_is_left_is_larger_than_all_that_follow_it() -> None:
    assert taken_over(1, []) == 0
    assert taken_over(1, [2, 6, 18]) == 3
    assert taken_over(1, [3, 1, 1]) == 0
    assert taken_over(1, [2, 7, 1]) == 1
