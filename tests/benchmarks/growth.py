"""One event in a group that grows: one call of the operator, from stored snapshot to stored snapshot and packed outputs.

    python -m tests.benchmarks.growth [--largest 100000]

What a call costs beside its event is a cost of the group's size: `load` reads the snapshot, `next deadline` looks for the
soonest of the group's deadlines, `dump` writes the snapshot; the rest, the event itself and its outputs, is the
`decision`. A call is *cold* in a process that has not seen the group as it is now, *warm* in the one that made it so. What each further event of a call costs is measured too, as a busy group has many in a call.
Processor time in milliseconds, the median of several calls.
"""

from __future__ import annotations

import argparse
import gc
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from time import process_time
from typing import Any, TypeAlias

from rich.console import Console
from rich.table import Table

from group_coordinator.codecs import snapshots
from group_coordinator.core import coordinator
from group_coordinator.runtime.group_call import (
    STATE_VERSION,
    GroupCache,
    OperatorInput,
    OperatorResult,
    SortedEvents,
    StoredState,
    call_group,
)
from group_coordinator.runtime.outputs import EVENT, HEADER
from group_coordinator.streaming.operator.output_rows import DEAD_LETTER, DEFECT, OutputRows
from group_coordinator.streaming.operator.worker_process import cheaper_while_there
from tests.benchmarks import grown_groups
from tests.benchmarks.growing import GROUP_ID, NOW_MS, GrownGroup, Sent
from tests.support.group_updates import update_context

RUNS = 9
_PARTS = ("load", "next deadline", "dump")
_CONTEXT = update_context()
_TICK = b'{"api":"Tick","version":0,"correlationId":null,"body":{"groupId":"g"}}'


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one event, in milliseconds; `answer_grows`: its answers or its records have something of every member."""

    group: str
    size: int
    event: str
    way: str
    answer_grows: bool
    call_ms: float
    load_ms: float
    decision_ms: float
    deadline_ms: float
    dump_ms: float


Further: TypeAlias = tuple[str, int, str, float]
"""Kind and size of a group, an event, and milliseconds."""


def measure(largest: int, runs: int = RUNS) -> Iterator[Cost]:
    """The cost of each event in each group that is not larger than this."""
    for group in grown_groups.groups(largest):
        snapshot = snapshots.dump(group.group)
        for sent in group.events:
            for way, timed in (("cold", _cold), ("warm", _warm)):
                seen = [timed(snapshot, sent) for _ in range(runs)]
                yield _cost(group, sent, way, seen)


def _cost(group: GrownGroup, sent: Sent, way: str, seen: Sequence[dict[str, float]]) -> Cost:
    call, load, deadline, dump = (
        round(1_000 * median(each[part] for each in seen), 2) for part in ("call", *_PARTS)
    )
    decision = round(call - load - deadline - dump, 2)
    return Cost(
        group.kind,
        group.size,
        sent.name,
        way,
        sent.answer_grows,
        call,
        load,
        decision,
        deadline,
        dump,
    )


def _cold(snapshot: bytes, sent: Sent) -> dict[str, float]:
    return _timed(snapshot, sent, in_process=lambda _: GroupCache())


def _warm(snapshot: bytes, sent: Sent) -> dict[str, float]:
    return _timed(snapshot, sent, in_process=lambda known: known)


def _timed(
    snapshot: bytes, sent: Sent, in_process: Callable[[GroupCache], GroupCache]
) -> dict[str, float]:
    stored, known = StoredState(STATE_VERSION, snapshot), GroupCache()
    for event in (_TICK, *sent.events[:-1]):
        stored = _called(stored, event, known).state or stored
    known = in_process(known)
    gc.collect()  # what the calls before left is not this one's
    with _stopwatch() as spent:
        start = process_time()
        result = _called(stored, sent.events[-1], known)
        rows = OutputRows()
        for piece in result.pieces:
            rows.add(GROUP_ID, piece)
        taken = rows.take()
        spent["call"] = process_time() - start
    assert not {row[0] for row in taken} & {DEAD_LETTER, DEFECT}
    return spent


def one_more(group: GrownGroup, sent: Sent) -> float:
    """What an event costs beside others of the same call, in milliseconds."""
    snapshot = snapshots.dump(group.group)
    first, all_ = (
        median(_seconds_of_call(snapshot, events) for _ in range(RUNS))
        for events in (sent.events[:1], sent.events)
    )
    return round(1_000 * (all_ - first) / (len(sent.events) - 1), 3)


def _seconds_of_call(snapshot: bytes, events: Sequence[bytes]) -> float:
    stored, known = StoredState(STATE_VERSION, snapshot), GroupCache()
    stored = _called(stored, _TICK, known).state or stored
    gc.collect()
    start = process_time()
    _called_with(stored, events, known)
    return process_time() - start


def _called(stored: StoredState, event: bytes, known: GroupCache) -> OperatorResult:
    return _called_with(stored, [event], known)


def _called_with(stored: StoredState, events: Sequence[bytes], known: GroupCache) -> OperatorResult:
    packed = [
        HEADER.pack(0, number, NOW_MS, EVENT, len(event)) + event
        for number, event in enumerate(events)
    ]
    given = OperatorInput(GROUP_ID, stored, SortedEvents(packed), NOW_MS + 100, has_timed_out=False)
    return call_group(given, _CONTEXT, known)


@contextmanager
def _stopwatch() -> Iterator[dict[str, float]]:
    """The time that is spent in the parts of a call meanwhile, in seconds."""
    spent = dict.fromkeys(_PARTS, 0.0)
    places: list[tuple[Any, str, str]] = [
        (snapshots, "load", "load"),
        (coordinator, "next_deadline", "next deadline"),
        (snapshots, "dump", "dump"),
    ]
    functions = [getattr(module, name) for module, name, _ in places]
    for (module, name, part), function in zip(places, functions, strict=True):
        setattr(module, name, _watched(function, part, spent))
    try:
        yield spent
    finally:
        for (module, name, _), function in zip(places, functions, strict=True):
            setattr(module, name, function)


def _watched(
    function: Callable[..., Any], part: str, spent: dict[str, float]
) -> Callable[..., Any]:
    def watched(*arguments: Any) -> Any:
        start = process_time()
        try:
            return function(*arguments)
        finally:
            spent[part] += process_time() - start

    return watched


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=100_000, help="Leave larger groups out.")
    largest = parser.parse_args().largest
    cheaper_while_there(main)  # as Spark's workers have it
    costs = list(measure(largest))
    further = [
        (group.kind, group.size, sent.name, one_more(group, sent))
        for group in grown_groups.groups(largest)
        for sent in group.many
    ]
    console = Console(width=140)
    console.print(_table_of_calls(costs))
    print("* its answers or its records grow with the group")
    console.print(_table_of_further(further))
    print(json.dumps(_summary(costs, further)))


def _table_of_calls(costs: Sequence[Cost]) -> Table:
    table = Table(title="One event in a group that grows, ms")
    for name in ("group", "size", "event", "way", "call", "load", "decision", "deadline", "dump"):
        table.add_column(name, justify="left" if name in ("group", "event", "way") else "right")
    for cost in costs:
        figures = (cost.call_ms, cost.load_ms, cost.decision_ms, cost.deadline_ms, cost.dump_ms)
        grows = " *" if cost.answer_grows else ""
        row = (cost.group, f"{cost.size:,}", cost.event + grows, cost.way)
        table.add_row(*row, *(f"{figure:.2f}" for figure in figures))
    return table


def _table_of_further(further: Sequence[Further]) -> Table:
    table = Table("group", "size", "event", "ms", title="Each further event of a call, ms")
    for group, size, event, spent_ms in further:
        table.add_row(group, f"{size:,}", event, f"{spent_ms:.3f}")
    return table


def _summary(costs: Sequence[Cost], further: Sequence[Further]) -> dict[str, object]:
    found: dict[str, object] = {}
    for way in ("cold", "warm"):
        of_way = [cost for cost in costs if cost.way == way and not cost.answer_grows]
        longest = max(of_way, key=lambda cost: cost.call_ms)
        found[f"{way}_ms"] = longest.call_ms
        found[f"{way}_what"] = f"{longest.event}, {longest.group}, {longest.size:,}"
    group, size, event, found["further_ms"] = max(further, key=lambda each: each[-1])
    return found | {"further_what": f"{event}, {group}, {size:,}"}


if __name__ == "__main__":
    main()
