"""Background task that reads the tables while the job writes them, for the story; and the questions of the closing page."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from group_coordinator.background import Background, repeat
from group_coordinator.clients import sql_tables
from group_coordinator.clients.errors import ClientError, TablesUnavailableError

_INTERVAL_S = 2.0
_log = logging.getLogger(__name__)

_FIGURES = """
SELECT count(*) AS record_count, max(event_time) AS newest_at,
       (SELECT count(*) FROM offsets WHERE {mine}) AS offset_count,
       (SELECT count(*) FROM lost_offsets WHERE {mine}) AS lost_count,
       (SELECT count(*) FROM lost_offsets WHERE reason = 'offset-expired' AND {mine}) AS expired_count,
       (SELECT max(commit_timestamp) FROM offsets WHERE {mine}) AS compacted_up_to,
       (SELECT max(sampled_at) FROM topic_positions) AS sampled_up_to
FROM coordinator_log WHERE {mine}
"""


class TableCounts(NamedTuple):
    """Counts and times from the tables; None: not known yet."""

    record_count: int | None = None
    """Rows of coordinator_log."""
    newest_at: datetime | None = None
    offset_count: int | None = None
    lost_count: int | None = None
    expired_count: int | None = None
    compacted_up_to: datetime | None = None
    sampled_up_to: datetime | None = None

    @property
    def deleted_count(self) -> int | None:
        if self.lost_count is None or self.expired_count is None:
            return None
        return self.lost_count - self.expired_count


NO_COUNTS = TableCounts()


class StoryQuery(NamedTuple):
    """A sentence for each row of a query; `{mine}` selects the demo's groups. A row is news if a column but `number` is new."""

    sentence: str
    sql: str


LOSSES = StoryQuery(
    "The tables say: {group_id} lost its offsets of {topic} ({number}): {reason}.",
    "SELECT group_id, topic, reason, lost_at, count(*) AS number FROM lost_offsets WHERE {mine} "
    "GROUP BY group_id, topic, reason, lost_at ORDER BY lost_at, group_id, topic",
)
RESETS = StoryQuery(
    "The tables say: an administrator set {group_id} back by {number} records of {topic}.",
    "SELECT group_id, topic, at, sum(`before` - `after`) AS number FROM audit "
    "WHERE change = 'reset' AND `after` < `before` AND {mine} GROUP BY group_id, topic, at ORDER BY at, group_id, topic",
)
ENDS = StoryQuery(
    "The tables say: the group {group_id} expired, its name is free again.",
    # An expiration may remove a group before its first member has joined: it soon exists again.
    "SELECT group_id, at FROM group_timeline WHERE what = 'expired' AND group_id IN "
    "(SELECT group_id FROM lost_offsets) AND {mine} ORDER BY at, group_id",
)
UPGRADES = StoryQuery(
    "The tables say: {group_id} is a consumer group (KIP-848) from now on; members: {number}.",
    "SELECT group_id, at, members AS number FROM group_timeline WHERE what = 'converted' AND {mine} ORDER BY at",
)


class TablesReader:
    """Reader of the tables without Spark; `running` repeats `look`. It sees groups whose names begin with the prefix."""

    def __init__(
        self,
        tables_root: str,
        add: Callable[[str], None],
        news: Iterable[StoryQuery],
        prefix: str = "",
    ) -> None:
        self._tables_root = tables_root
        self._mine = f"starts_with(group_id, '{prefix}')" if prefix else "true"
        self._add = add
        self._news = tuple(news)
        self._known: set[tuple[Any, ...]] = set()
        self.counts = TableCounts()

    def have(self, at: datetime) -> bool:
        """Return True if compaction and samples have reached that time, as commits come continuously."""
        compacted, sampled = self.counts.compacted_up_to, self.counts.sampled_up_to
        return compacted is not None and compacted > at and sampled is not None and sampled > at

    def look(self) -> None:
        [found] = self.rows(_FIGURES)
        if found["record_count"]:
            self.counts = TableCounts(**found)
            for news in self._news:
                for row in self.rows(news.sql):
                    key = tuple(value for name, value in row.items() if name != "number")
                    self.add_once((news.sentence, *key), news.sentence.format(**row))

    def add_once(self, key: tuple[Any, ...], sentence: str) -> None:
        """Add a sentence to the story, unless its key is known."""
        if key not in self._known:
            self._known.add(key)
            self._add(sentence)

    def rows(self, sql: str) -> list[dict[str, Any]]:
        return sql_tables.rows(self._tables_root, sql.format(mine=self._mine))


def running(look: Callable[[], None], every_s: float = _INTERVAL_S) -> Background:
    """Return a task that looks every few seconds; a failed look is logged, and the next look retries."""
    return Background(partial(repeat, look, interval_s=every_s, failed=_failed), "tables")


def _failed(failure: Exception, _count: int) -> None:
    if not isinstance(failure, ClientError):
        raise failure
    # The tables are not created yet.
    if not isinstance(failure, TablesUnavailableError):
        _log.warning("a look into the tables failed", exc_info=True)


class ViewQuestion(NamedTuple):
    """A question and the parts of its query, without characters that are special within double quotes in a shell."""

    text: str
    columns: str
    view: str
    where: str
    end: str

    def sql(self, prefix: str = "") -> str:
        """Return the query in three lines, about the groups whose names begin with the prefix."""
        conditions = [self.where.format(prefix=prefix)] if self.where else []
        if prefix:
            conditions.append(f"starts_with(group_id, '{prefix}')")
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        return f"SELECT {self.columns}\nFROM {self.view}{where}\n{self.end}"


LOST = ViewQuestion(
    "Which groups lost which offsets, when, why, and by whom?",
    "lost_at, group_id, topic, count(*) AS partitions, reason, inferred, principal",
    "lost_offsets",
    "",
    "GROUP BY ALL ORDER BY lost_at, group_id, topic",
)

DELETED = ViewQuestion(
    "Who deleted what?",
    "at, principal, change, group_id, topic, count(*) AS partitions",
    "audit",
    "change IN ('deleted', 'group-deleted')",
    "GROUP BY ALL ORDER BY at, group_id, topic",
)

RESET = ViewQuestion(
    "Which groups went back, when, and from where? (A reset is an administrator's, a rewind a member's own.)",
    "at, group_id, topic, change, count(*) AS partitions, max(before) AS before, min(after) AS after",
    "audit",
    "change IN ('reset', 'rewind')",
    "GROUP BY ALL ORDER BY at, group_id, topic",
)

LIFE = ViewQuestion(
    "What was the life of the group returns-desk?",
    "at, what, members, generation_or_epoch, detail",
    "group_timeline",
    "group_id = '{prefix}returns-desk'",
    "ORDER BY batch_id, seq",
)

UPGRADED = ViewQuestion(
    "How was checkout moved to the new protocol, and was it ever without members?",
    "at, what, classic_members, members - classic_members AS new_members",
    "group_timeline",
    "group_id = '{prefix}checkout' AND what IN ('converted', 'joined', 'left')",
    "ORDER BY batch_id, seq",
)

NEXT = ViewQuestion(
    "What expires next, if no member commits or joins?",
    "expires_at, group_id, topic, count(*) AS partitions",
    "expiring_soon",
    "expires_at IS NOT NULL",
    "GROUP BY ALL ORDER BY expires_at, group_id, topic LIMIT 10",
)

STATUS = ViewQuestion(
    "Which groups do not keep up, and how?",
    "group_id, status, total_lag, max_lag, max_lag_topic",
    "group_status",
    "",
    "ORDER BY status = 'OK', total_lag DESC, group_id",
)

TIME_LAG = ViewQuestion(
    "How many records, and how many seconds, are they behind? (The mirror's own seconds count.)",
    "group_id, topic, sum(lag) AS records, round(max(lag_seconds)) AS seconds",
    "partition_status",
    "lag > 0",
    "GROUP BY ALL ORDER BY seconds DESC, records DESC LIMIT 8",
)

READERS = ViewQuestion(
    "Which groups read payments?",
    "group_id, state, subscribed_members, assigned_partitions, committed_partitions, last_commit_at",
    "topic_groups",
    "topic = '{prefix}payments'",
    "ORDER BY group_id",
)

GROUPS = ViewQuestion(
    "Which groups were there, of which the broker knows nothing?",
    "group_id, group_type, state, generation_or_epoch, offset_count, updated_at",
    "groups",
    "",
    "ORDER BY group_id",
)
