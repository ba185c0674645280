"""Background task that reads the tables while the mirror writes them, and adds their news to the story."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from group_coordinator.clients import sql_tables
from group_coordinator.demo.board import Board
from group_coordinator.demo.mirror.answers import of_the_demo
from group_coordinator.demo.mirror.figures import MirrorFigures

# Looks with the same status before it is shown: a continuous reader that commits every second may look slow for a
# moment.
_LOOKS_TO_BELIEVE = 4

_LOG = """
SELECT count(*) AS records, max(event_time) AS newest_at,
       (SELECT count(*) FROM offsets WHERE {mine}) AS offsets,
       (SELECT max(commit_timestamp) FROM offsets WHERE {mine}) AS compacted_up_to,
       (SELECT max(sampled_at) FROM topic_positions) AS sampled_at
FROM coordinator_log WHERE {mine}
"""
_STATUSES = """
SELECT group_id, status, total_lag FROM group_status
WHERE status IS NOT NULL AND {mine} ORDER BY group_id
"""
_LOSSES = """
SELECT group_id, topic, reason, count(*) AS offsets, lost_at
FROM lost_offsets WHERE {mine}
GROUP BY group_id, topic, reason, lost_at ORDER BY lost_at, group_id, topic
"""
_RESETS = """
SELECT group_id, topic, sum(`before` - `after`) AS records, at
FROM audit WHERE change = 'reset' AND {mine}
GROUP BY group_id, topic, at ORDER BY at, group_id, topic
"""

_TROUBLES = {
    "WARN": "The tables say WARN of {}: its lag grows.",
    "STALL": "The tables say STALL of {}: it commits the same offsets again and again.",
    "STOP": "The tables say STOP of {}: there is more to read, and it commits no more.",
    "REWIND": "The tables say REWIND of {}: it went back.",
    "AHEAD": "The tables have status AHEAD for {}: the log ends before the committed offset.",
}
_LOSS = "The tables say: {group_id} lost its offsets of {topic} ({offsets}): {reason}."
_RESET = "The tables say: somebody set {group_id} back by {records} records of {topic}."


class TablesWatch:
    """Reader of the tables without Spark; `looking` repeats it.

    Args:
        tables_root: the folder of the tables.
        prefix: of the demo's groups.
        board: receives figures and news.
    """

    def __init__(self, tables_root: str, prefix: str, board: Board[MirrorFigures]) -> None:
        self._tables_root = tables_root
        self._mine = of_the_demo(prefix)
        self._board = board
        self._told: set[tuple[Any, ...]] = set()
        self._in_a_row: Counter[tuple[str, str]] = Counter()
        """Consecutive looks that found a group in a status, up to the last look."""
        self._complete_up_to: datetime | None = None

    def have(self, moment: datetime) -> bool:
        """Return True if the tables and the samples are complete up to that time, as commits come continuously."""
        return self._complete_up_to is not None and self._complete_up_to > moment

    def look(self, now: datetime) -> None:
        [log] = self._rows(_LOG)
        if log["records"]:
            self._take_log(log, now)
            self._take_statuses(self._rows(_STATUSES))
            self._take_losses(self._rows(_LOSSES))
            for reset in self._rows(_RESETS):
                self._tell_once(
                    (reset["group_id"], reset["topic"], reset["at"]), _RESET.format(**reset)
                )

    def _take_log(self, log: Mapping[str, Any], now: datetime) -> None:
        ends = [log["compacted_up_to"], log["sampled_at"]]
        if None not in ends:
            self._complete_up_to = min(ends)
        self._board.show(
            record_count=log["records"],
            behind_s=max(0.0, (now - log["newest_at"]).total_seconds()),
            offset_count=log["offsets"],
        )

    def _take_statuses(self, groups: list[dict[str, Any]]) -> None:
        self._board.show(
            statuses=Counter(group["status"] for group in groups),
            total_lag=sum(group["total_lag"] or 0 for group in groups),
        )
        now = [(group["group_id"], group["status"]) for group in groups]
        self._in_a_row = Counter({state: self._in_a_row[state] + 1 for state in now})
        for group_id, status in now:
            trouble = _TROUBLES.get(status)
            if trouble is not None and self._in_a_row[group_id, status] >= _LOOKS_TO_BELIEVE:
                self._tell_once((group_id, status), trouble.format(group_id))

    def _take_losses(self, losses: list[dict[str, Any]]) -> None:
        self._board.show(lost_count=sum(loss["offsets"] for loss in losses))
        for loss in losses:
            key = tuple(loss[name] for name in ("group_id", "topic", "reason", "lost_at"))
            self._tell_once(key, _LOSS.format(**loss))

    def _tell_once(self, key: tuple[Any, ...], sentence: str) -> None:
        if key not in self._told:
            self._told.add(key)
            self._board.tell(sentence)

    def _rows(self, sql: str) -> list[dict[str, Any]]:
        return sql_tables.rows(self._tables_root, sql.format(mine=self._mine))
