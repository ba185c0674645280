"""Background task that reads the tables while they are written, and adds their news to the story."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from group_coordinator.clients import sql_tables
from group_coordinator.demo.board import Board
from group_coordinator.demo.cast import LEADING_ROLES

_NEWS = """
SELECT group_id, reason, count(topic) AS offsets, max(batch_id) AS batch_id,
       last_value(regexp_count(value, 'memberId') ORDER BY batch_id, seq) AS members
FROM coordinator_log
WHERE batch_id > {batch_id} AND reason <> 'offset-commit'
GROUP BY group_id, reason ORDER BY 4, group_id, reason DESC
"""
_OFFSETS = "SELECT count(*) AS offsets, max(updated_at) AS updated_at FROM offsets"
_FRESH = timedelta(seconds=15)

_SENTENCES = {
    "offset-expired": "{group_id}: {offsets} offsets expired.",
    "group-expired": "{group_id}: nothing was left of the group, its name is free again.",
    "upgrade": "{group_id}: from now on a consumer group (KIP-848), with the members that it had.",
    "sync": "{group_id}: the partitions are shared out anew, members now: {members}.",
}
_WATCHED = frozenset(application.group_id for application in LEADING_ROLES)
_EXPIRED = frozenset({"offset-expired"})
_DELETED = frozenset({"offset-deleted", "group-deleted"})


class TablesWatch:
    """Reader of the log from its last position, without Spark; `looking` repeats it.

    Args:
        tables_root: the folder of the tables.
        board: receives news, and figures: offset_count, expired_count, deleted_count.
        watched: the groups whose rebalances are news.
    """

    def __init__(
        self, tables_root: str, board: Board[Any], watched: Collection[str] = _WATCHED
    ) -> None:
        self._tables_root = tables_root
        self._watched = watched
        self._board = board
        self._batch_id = -1
        self._offsets_by_reason: Counter[str] = Counter()
        self._losers: set[str] = set()
        self.members: dict[str, int] = {}
        """Members of each group by its last rebalance."""
        self._compacted_up_to: datetime | None = None

    def are_fresh(self, now: datetime) -> bool:
        """Return True if compaction follows the log closely, which grows continuously."""
        return self._compacted_up_to is not None and now - self._compacted_up_to < _FRESH

    def look(self) -> None:
        for news in self._rows(_NEWS.format(batch_id=self._batch_id)):
            self._take(news)
        [offsets] = self._rows(_OFFSETS)
        self._compacted_up_to = offsets["updated_at"]
        by_reason = self._offsets_by_reason
        self._board.show(
            offset_count=offsets["offsets"],
            expired_count=sum(by_reason[reason] for reason in _EXPIRED),
            deleted_count=sum(by_reason[reason] for reason in _DELETED),
        )

    def _take(self, news: dict[str, Any]) -> None:
        # The next look begins after this batch.
        self._batch_id = max(self._batch_id, news["batch_id"])
        self._offsets_by_reason[news["reason"]] += news["offsets"]
        sentence = _SENTENCES.get(news["reason"])
        if sentence is not None and self._is_notable(news):
            self._board.tell(sentence.format(**news))

    def _is_notable(self, news: dict[str, Any]) -> bool:
        group_id, reason = news["group_id"], news["reason"]
        if reason == "offset-expired":
            self._losers.add(group_id)
        elif reason == "group-expired":
            # A sweep may remove a group before its first member has joined: it soon exists again.
            return group_id in self._losers
        elif reason == "sync":
            before, self.members[group_id] = self.members.get(group_id), news["members"]
            return group_id in self._watched and before not in (None, news["members"])
        return True

    def _rows(self, sql: str) -> list[dict[str, Any]]:
        return sql_tables.rows(self._tables_root, sql)
