"""Lag in time and the status of partitions, of random logs and groups: the SQL says what the rules say, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, chain
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from tests.property.lag_rules import (
    Commit,
    Sample,
    certainly_behind_s,
    committed_at,
    reached,
    status,
    time_lag,
)
from tests.support.view_rows import answers

PAUSES_S = st.sampled_from([1, 5, 30, 30, 30, 3_600, 100_000])
GROWTH = st.sampled_from([[0, 1, 10], [100], [10, 100], [0], [10, 100, -5]])
LATECOMERS = st.sampled_from([[None], [None, 0, 0.5, 1], [0.9]])
STARTS = st.sampled_from([[0], [0], [0, 1], [95], [99, 100, 101]])
COMMIT_PAUSES_S = st.sampled_from([[5], [5, 6, 7], [0], [60], [66, 67], [0, 1, 600, 601]])
STEPS = st.sampled_from([[0], [0], [1], [0, 1, 10], [10, -1], [1, None]])
SILENCES_S = st.sampled_from([-5, 0, 1, 30, 59, 60, 61, 599, 600, 601])
BESIDE = st.sampled_from([-1, 0, 0, 1])
Cluster = Sequence[tuple[list[Sample], list[Commit]]]


def some(draw: st.DrawFn, choices: st.SearchStrategy[list[Any]], count: int) -> list[Any]:
    """As many of one list of choices."""
    return draw(st.lists(st.sampled_from(draw(choices)), min_size=count, max_size=count))


@st.composite
def logs(draw: st.DrawFn) -> list[Sample]:
    """Ends that grow, rest, and go back; now and then only the start goes back; now and then there is a second sampler."""
    pauses = draw(st.lists(PAUSES_S, min_size=1, max_size=12))
    growth = some(draw, GROWTH, len(pauses))
    ends = accumulate(growth[1:], lambda end, more: max(1, end + more), initial=100)
    starts = some(draw, STARTS, len(pauses))
    log = [*map(Sample, accumulate(pauses), starts, ends)]
    log = [sample._replace(start=min(sample.start, sample.end)) for sample in log]
    return [
        *chain.from_iterable(map(_sampled, log[:1] + log, log, some(draw, LATECOMERS, len(log))))
    ]


def _sampled(before: Sample, now: Sample, latecomer: float | None) -> list[Sample]:
    """A sample, and maybe one by somebody else half a second later, whose end is from between the sample before and this one."""
    if latecomer is None:
        return [now]
    has_grown = now.end > before.end and now.start >= before.start
    end = before.end + round(latecomer * (now.end - before.end)) if has_grown else now.end
    return [now, Sample(now.at_s + 0.5, now.start, end)]


@st.composite
def committed(draw: st.DrawFn, log: Sequence[Sample]) -> list[Commit]:
    """Commits of offsets about the end of a sample, and losses (a step of None); the last ones may be newer than all samples."""
    count = draw(st.sampled_from([0, 1, 2, 9, 10, 10, 10, 11, 14]))
    pauses, steps = some(draw, COMMIT_PAUSES_S, count), some(draw, STEPS, count)
    at_s = log[-1].at_s - draw(SILENCES_S) - sum(pauses)
    offset = draw(st.sampled_from(log)).end + draw(BESIDE)
    commits = []
    for pause_s, step in zip(pauses, steps, strict=True):
        at_s, offset = at_s + pause_s, max(0, offset + (step or 0))
        commits.append(Commit(at_s, None if step is None else offset))
    return commits


@st.composite
def clusters(draw: st.DrawFn) -> list[tuple[list[Sample], list[Commit]]]:
    """A log and a group's commits for each partition."""
    all_logs = draw(st.lists(logs(), min_size=8, max_size=8))
    return [(log, draw(committed(log))) for log in all_logs]


def rows_of(cluster: Cluster) -> dict[str, list[dict[str, Any]]]:
    """Each log is in a cluster of its own: what is now differs from one to the other."""
    groups, positions, offsets, changes, records = [], [], [], [], []
    for number, (log, commits) in enumerate(cluster):
        key = {"cluster_id": f"c{number}", "group_id": "g", "topic": "orders", "partition": 0}
        groups.append(key | {"group_type": "classic"})
        positions += [
            key | {"log_start_offset": start, "log_end_offset": end, "sampled_at": at_s}
            for at_s, start, end in log
        ]
        changes += [
            key | {"after": offset, "at": at_s, "batch_id": place, "seq": 0}
            for place, (at_s, offset) in enumerate(commits)
        ]
        records += [
            key
            | {"record_type": 1, "offset": offset, "event_time": at_s, "batch_id": place, "seq": 0}
            for place, (at_s, offset) in enumerate(commits)
        ]
        if commits and commits[-1].offset is not None:
            at_s, offset = commits[-1]
            offsets.append(key | {"committed_offset": offset, "commit_timestamp": at_s})
    return {
        "groups": groups,
        "topic_positions": positions,
        "offsets": offsets,
        "offset_changes": changes,
        "coordinator_log": records,
    }


@settings(max_examples=settings.default.max_examples // 4)
@given(clusters())
def test_time_lag_is_that_of_the_rules(cluster: Cluster) -> None:
    [found] = answers(rows_of(cluster), "time_lag")

    by_cluster = {
        row["cluster_id"]: tuple(row[name] for name in ("lag_seconds", "how", "certain_seconds"))
        for row in found
    }
    wanted = {}
    for number, (log, commits) in enumerate(cluster):
        if commits and commits[-1].offset is not None:
            seconds, how = time_lag(log, commits[-1])
            wanted[f"c{number}"] = (
                seconds if seconds is None else pytest.approx(seconds, abs=1e-5),
                how,
                certainly_behind_s(log, commits[-1]),
            )
            event(how)
    assert by_cluster == wanted


@settings(max_examples=settings.default.max_examples // 4)
@given(clusters())
def test_the_history_has_at_each_sample_what_time_lag_would_have_said(cluster: Cluster) -> None:
    [found] = answers(rows_of(cluster), "lag_history")

    wanted = []
    for number, (log, commits) in enumerate(cluster):
        for place, sample in enumerate(log):
            commit = committed_at(commits, sample.at_s)
            if commit is not None and commit.offset is not None:
                seconds, how = time_lag(log[: place + 1], commit)
                now = reached(log[: place + 1])[-1]
                lag = max(0, now.end - max(now.start, commit.offset))
                known = (None, None) if seconds is None else (lag, round(seconds, 4))
                lost = max(0, now.start - commit.offset)
                wanted.append((f"c{number}", sample.at_s, commit.offset, *known, how, lost))
                event(how)
    assert sorted(
        (
            row["cluster_id"],
            row["sampled_at"].timestamp(),
            row["committed_offset"],
            row["lag"],
            row["lag_seconds"] and round(row["lag_seconds"], 4),
            row["how"],
            row["lost"],
        )
        for row in found
    ) == sorted(wanted)


@settings(max_examples=settings.default.max_examples // 4)
@given(clusters())
def test_the_status_is_that_of_the_rules(cluster: Cluster) -> None:
    [found, of_groups] = answers(rows_of(cluster), "partition_status", "group_status")

    by_cluster = {row["cluster_id"]: row["status"] for row in found}
    wanted = {}
    for number, (log, commits) in enumerate(cluster):
        if commits and commits[-1].offset is not None:
            wanted[f"c{number}"] = status(log, commits)
            event(str(wanted[f"c{number}"]))
    assert by_cluster == wanted
    assert {row["cluster_id"]: row["status"] for row in of_groups} == wanted
