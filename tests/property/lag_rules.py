"""The rules of time_lag and partition_status once more, row by row in plain Python: the witness of the SQL."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple


class Sample(NamedTuple):
    at_s: float
    start: int
    end: int


class Commit(NamedTuple):
    at_s: float
    offset: int | None
    """None: the offset was lost."""


def reached(samples: Sequence[Sample]) -> list[Sample]:
    """The samples with the largest offsets of their moment so far: of less than a second."""
    return [
        Sample(
            now.at_s,
            max(each.start for each in samples if now.at_s - 1 < each.at_s <= now.at_s),
            max(each.end for each in samples if now.at_s - 1 < each.at_s <= now.at_s),
        )
        for now in samples
    ]


def newest_log(samples: Sequence[Sample]) -> list[Sample]:
    """The samples since the topic was made last."""
    log: list[Sample] = []
    for sample in reached(samples):
        if log and (sample.end < log[-1].end or sample.start < log[-1].start):
            log = []
        log.append(sample)
    return log


def is_ahead(samples: Sequence[Sample], commit: Commit) -> bool:
    """Whether the log ends before an offset that was committed more than ten seconds before the last sample."""
    now = reached(samples)[-1]
    return (commit.offset or 0) > now.end and commit.at_s < now.at_s - 10


def first_left(samples: Sequence[Sample], commit: Commit) -> int:
    """The first offset left to read: those before the log's start were removed."""
    return max(commit.offset or 0, reached(samples)[-1].start)


def time_lag(samples: Sequence[Sample], commit: Commit) -> tuple[float | None, str]:
    """(seconds, how) at the last of the samples."""
    log = newest_log(samples)
    now, offset = log[-1], first_left(samples, commit)
    if is_ahead(samples, commit):
        return None, "ahead"
    if offset >= now.end:
        return 0.0, "exact"
    if offset < log[0].end:
        return now.at_s - log[0].at_s, "at-least"
    last = max(place for place, sample in enumerate(log) if sample.end <= offset)
    before, after = log[last], log[last + 1]
    share = (offset - before.end) / (after.end - before.end)
    at_s = before.at_s + share * (after.at_s - before.at_s)
    return now.at_s - at_s, "exact" if before.end == offset else "interpolated"


def certainly_behind_s(samples: Sequence[Sample], commit: Commit) -> float | None:
    """Seconds at the last of the samples since the first one with a later end."""
    if is_ahead(samples, commit):
        return None
    offset = first_left(samples, commit)
    log = newest_log(samples)
    return log[-1].at_s - next((sample.at_s for sample in log if sample.end > offset), log[-1].at_s)


def committed_at(commits: Sequence[Commit], at_s: float) -> Commit | None:
    """The last commit by then; None: there is none, or its offset was lost."""
    last = None
    for commit in commits:
        if commit.at_s <= at_s:
            last = commit if commit.offset is not None else None
    return last


def end_at(samples: Sequence[Sample], at_s: float) -> float | None:
    """The end of the log at a time between two samples of it, of the last hour."""
    recent = reached([sample for sample in samples if sample.at_s >= samples[-1].at_s - 3_600])
    for before, after in pairwise(recent):
        if before.at_s < at_s <= after.at_s and newest_log([before, after]) == [before, after]:
            share = (at_s - before.at_s) / (after.at_s - before.at_s)
            return before.end + (after.end - before.end) * share
    return None


def status(samples: Sequence[Sample], commits: Sequence[Commit]) -> str | None:
    offset = commits[-1].offset if commits else None
    if offset is None:
        return None
    now_s, behind_s = samples[-1].at_s, certainly_behind_s(samples, commits[-1]) or 0
    end = reached(samples)[-1].end
    window: list[Commit] = []
    for commit in commits:
        if commit.at_s <= now_s:
            window = [] if commit.offset is None else [*window, commit][-10:]
    if is_ahead(samples, commits[-1]) or _goes_on_ahead(window, end, offset, now_s):
        return "AHEAD"
    is_loss = offset < reached(samples)[-1].start
    if is_loss or offset >= end or not window:
        return "LOSS" if is_loss else "OK"
    if min(now_s - window[-1].at_s, behind_s) > _tolerated(window):
        return "STOP"
    return _while_it_commits(samples, window, behind_s)


def _goes_on_ahead(window: Sequence[Commit], end: int, offset: int, now_s: float) -> bool:
    """Whether all of the last commits are beyond the end, the first of them for more than ten seconds."""
    beyond = [commit for commit in window if (commit.offset or 0) > end]
    return offset > end and bool(window) and beyond == window and window[0].at_s < now_s - 10


def _tolerated(window: Sequence[Commit]) -> float:
    if len(window) == 1:
        return 600
    return max(60, 9 * (window[-1].at_s - window[0].at_s) / (len(window) - 1))


def _while_it_commits(samples: Sequence[Sample], window: Sequence[Commit], behind_s: float) -> str:
    offsets = [commit.offset or 0 for commit in window]
    if max(offsets) > offsets[-1]:
        return "REWIND"
    if len(window) < 10:
        return "OK"
    if len(set(offsets)) == 1:
        return "STALL" if behind_s >= samples[-1].at_s - window[0].at_s else "OK"
    ends = [end_at(samples, commit.at_s) for commit in window]
    lags = [end - offset for end, offset in zip(ends, offsets, strict=True) if end is not None]
    is_known = len(lags) == 10 and min(lags) > 0
    if is_known and any(
        end is not None and end <= offset for end, offset in zip(ends, offsets[1:], strict=False)
    ):
        return "OK"
    is_nearer = any(later < lag for lag, later in pairwise(lags))
    return "WARN" if is_known and not is_nearer else "OK"
