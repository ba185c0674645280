"""Thousands of hostile events between good ones, without Spark; `python -m tests.hostile` sends them through the job."""

from __future__ import annotations

import json
from base64 import b64decode
from collections import defaultdict
from random import Random

import pytest

from group_coordinator import settings
from group_coordinator.codecs.fields import LONGEST_TEXT
from group_coordinator.runtime.outputs import KEY_FAULTS, EventRow
from group_coordinator.runtime.update_group import UpdateContext
from tests.hostile.events import hostile_events
from tests.hostile.sent import Sent
from tests.hostile.verdict import Coordinates, Letter, expected, faults
from tests.support.group_updates import lines_of, updated

EVENTS = 24_000
CONFIG = settings.load().coordinator
CONTEXT = UpdateContext(CONFIG, "group-events", timer_slack_ms=1_000, timers_suspended=False)


def key_of(sent: Sent) -> tuple[str, str | None]:
    """Group id and fault, as source.py has them."""
    absent, not_utf8, too_long = KEY_FAULTS.values()
    if sent.key is None:
        return "", absent
    if len(sent.key) > LONGEST_TEXT:
        return sent.key.decode()[:255], too_long
    try:
        return sent.key.decode(), None
    except UnicodeDecodeError:
        return sent.key.decode(errors="replace"), not_utf8


def row_of(sent: Sent, offset: int) -> EventRow:
    value = sent.value
    is_long = value is not None and len(value) > CONFIG.event_max_bytes
    kept = value[: CONFIG.event_max_bytes] if value is not None else None
    cut_from = len(value or b"") if is_long else None
    return EventRow(offset, 0, offset, key_of(sent)[1], kept, cut_from)


@pytest.mark.parametrize("seed", [1, 2])
def test_every_event_has_its_one_outcome(seed: int) -> None:
    events, answers, letters = {}, defaultdict(list), []
    batches = Random(seed)  # noqa: S311 - the same batches every time
    groups: dict[str, list[EventRow]] = defaultdict(list)
    states: dict[str, bytes | None] = {}
    joined = set()
    for offset, sent in enumerate(hostile_events(seed, EVENTS // 2)):
        if sent.kind == "join":
            joined.add(key_of(sent)[0])
        events[0, offset] = expected(sent, CONFIG.event_max_bytes)
        groups[key_of(sent)[0]].append(row_of(sent, offset))
        if batches.random() < 0.001 or offset == EVENTS // 2 - 1:
            for group, rows in groups.items():
                update = updated(group, states.get(group), rows, offset, CONTEXT)
                states[group] = update.state
                read(lines_of(update), answers, letters)
            groups.clear()

    assert faults(events, answers, letters) == []
    kept = {group for group, state in states.items() if state and group not in joined}
    assert kept == {f"good-{n}" for n in range(50)}


def read(lines: list[str], answers: dict[Coordinates, list[object]], letters: list[Letter]) -> None:
    for line in lines:
        content = json.loads(line[1:])
        if line[0] == "R":
            _, _, partition, offset = content["id"].split("-")
            answers[int(partition), int(offset)].append(content["body"])
        elif line[0] == "D":
            value = content["value"]
            at = (content["source_partition"], content["source_offset"])
            letters.append(
                Letter(at, content["reason"], None if value is None else b64decode(value))
            )
