"""While a rate-limited backlog is read, timers hold: the heartbeat that keeps a member alive may still be unread.

Whether a batch holds its timers depends on the batch's time alone, so a batch that is done again decides the same.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec import json

RETRY_MS = 5_000
"""A timer that is due while timers hold fires again after this time, not in every batch."""

_WINDOWS_KEPT = 10
"""Only the last batch of an earlier run can be done again; older windows are of no use."""


class HoldWindow(NamedTuple):
    """Batches from `from_ms` on, and before `to_ms`, hold their timers; `to_ms` None: the backlog is being read."""

    from_ms: int
    to_ms: int | None


Windows = tuple[HoldWindow, ...]


def timers_hold(windows: Windows, batch_time_ms: int) -> bool:
    """Whether a batch of this time holds its timers."""
    return any(
        window.from_ms <= batch_time_ms and (window.to_ms is None or batch_time_ms < window.to_ms)
        for window in windows
    )


def has_open(windows: Windows) -> bool:
    """Whether an earlier run ended before it had read its backlog."""
    return any(window.to_ms is None for window in windows)


def retries_end_ms(windows: Windows) -> int:
    """A batch after this time has fired every timer that was put off; 0 if no window was ever closed."""
    return max((window.to_ms + RETRY_MS for window in windows if window.to_ms), default=0)


def opened(windows: Windows, now_ms: int) -> Windows:
    """With an open window; an open window of an earlier run stays open."""
    if has_open(windows):
        return windows
    return (*windows[-_WINDOWS_KEPT:], HoldWindow(now_ms, None))


def closed(windows: Windows, now_ms: int) -> Windows:
    """Without an open window: batches from now on do not hold their timers."""
    return tuple(window._replace(to_ms=window.to_ms or now_ms) for window in windows)


def dump(windows: Windows) -> str:
    """The windows as JSON."""
    return json.encode([window._asdict() for window in windows]).decode()


def load(text: str) -> Windows:
    """The windows that `dump` wrote."""
    return tuple(HoldWindow(**window) for window in json.decode(text))
