"""Queries on the views, for questions that Kafka's tools cannot answer; `about` names their groups."""

from __future__ import annotations

from string import Template

from group_coordinator.demo.mirror.cast import RETURNS_DESK
from group_coordinator.demo.question import Question

LOST = Question(
    "Who lost which offsets, when, and why?",
    """
SELECT lost_at, group_id, topic, count(*) AS partitions, reason, inferred
FROM lost_offsets WHERE $mine
GROUP BY ALL ORDER BY lost_at, group_id, topic
""",
)

RESET = Question(
    "Who was set back, when, and where had they been?",
    """
SELECT at, group_id, topic, partition, before, after, change
FROM audit WHERE change IN ('reset', 'rewind') AND $mine
ORDER BY at, group_id, topic, partition
""",
)

STATUS = Question(
    "Who does not keep up, and how?",
    """
SELECT group_id, status, total_lag, max_lag, max_lag_topic
FROM group_status WHERE $mine
ORDER BY status = 'OK', total_lag DESC, group_id
""",
)

TIME_LAG = Question(
    "How many records, and how many seconds, are they behind? (The mirror's own seconds count.)",
    """
SELECT group_id, topic, sum(lag) AS records, round(max(lag_seconds)) AS seconds
FROM partition_status WHERE lag > 0 AND $mine
GROUP BY ALL ORDER BY seconds DESC, records DESC LIMIT 8
""",
)

NEXT = Question(
    "What expires next, if nobody commits or joins?",
    """
SELECT expires_at, group_id, topic, count(*) AS partitions
FROM expiring_soon WHERE expires_at IS NOT NULL AND $mine
GROUP BY ALL ORDER BY expires_at, group_id, topic LIMIT 10
""",
)

LIFE = Question(
    f"What was the life of {RETURNS_DESK.group_id}?",
    """
SELECT at, what, members, generation_or_epoch
FROM group_timeline WHERE group_id = '$returns_desk' AND $mine
ORDER BY batch_id, seq
""",
)

READERS = Question(
    "Who reads payments?",
    """
SELECT group_id, state, subscribed_members, assigned_partitions, committed_partitions, last_commit_at
FROM topic_groups WHERE topic = '$payments' AND $mine
ORDER BY group_id
""",
)

_FIRST_RESET = Template(
    "SELECT min(at) AS at FROM audit WHERE change = 'reset' AND group_id = '$group'"
)
_OFFSETS = Template(
    "SELECT group_id, topic, partition, committed_offset, commit_timestamp FROM offsets "
    "WHERE group_id = '$group' ORDER BY topic, partition"
)

QUESTIONS = (LOST, RESET, STATUS, TIME_LAG, NEXT, LIFE, READERS)


def about(question: Question, prefix: str) -> Question:
    """Return the question about the groups whose names begin with the prefix."""
    names = {
        "mine": of_the_demo(prefix),
        "returns_desk": prefix + RETURNS_DESK.group_id,
        "payments": prefix + "payments",
    }
    return question._replace(sql=Template(question.sql).substitute(names))


def of_the_demo(prefix: str) -> str:
    """Return SQL for the condition that a row is about a group of the demo."""
    return f"starts_with(group_id, '{prefix}')" if prefix else "cluster_id = 'shop'"


def first_reset(group_id: str) -> str:
    """Return SQL for the first reset of a group's offsets."""
    return _FIRST_RESET.substitute(group=group_id)


def offsets_of(group_id: str) -> str:
    """Return SQL for the offsets of a group."""
    return _OFFSETS.substitute(group=group_id)
