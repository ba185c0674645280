"""Questions of the closing page: short queries on the views, for facts that Kafka's tools do not have."""

from __future__ import annotations

from typing import NamedTuple


class ViewQuestion(NamedTuple):
    """A question and the parts of its query; `where` may name `{prefix}`, with which the demo's names begin.

    The SQL has no character that is special within double quotes in a shell.
    """

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
