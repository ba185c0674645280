"""Queries on the views, for questions that a broker cannot answer."""

from __future__ import annotations

from group_coordinator.demo.question import Question

LOST = Question(
    "Who lost which offsets, when, why, and by whom?",
    """
SELECT to_char(lost_at, '%H:%M:%S') AS at, group_id, topic, count(*) AS partitions,
       concat(min(last_offset), '..', max(last_offset)) AS stood_at, reason, principal
FROM lost_offsets GROUP BY lost_at, group_id, topic, reason, principal
ORDER BY lost_at, group_id, topic
""",
)

NEXT = Question(
    "What expires next, if nobody commits or rejoins?",
    """
SELECT to_char(expires_at, '%H:%M:%S') AS expires_at, group_id, topic, count(*) AS partitions
FROM expiring_soon WHERE expires_at IS NOT NULL
GROUP BY expires_at, group_id, topic ORDER BY expires_at, group_id, topic LIMIT 10
""",
)

LIFE = Question(
    "What was the life of the group returns-desk?",
    """
SELECT to_char(at, '%H:%M:%S') AS at, what, members, generation_or_epoch, detail
FROM group_timeline WHERE group_id = 'returns-desk'
ORDER BY batch_id, seq
""",
)

DELETED = Question(
    "Who deleted what?",
    """
SELECT to_char(at, '%H:%M:%S') AS at, principal, change, group_id, topic, count(*) AS partitions
FROM audit WHERE change IN ('deleted', 'group-deleted')
GROUP BY at, principal, change, group_id, topic ORDER BY at, group_id, topic
""",
)

UPGRADED = Question(
    "How was checkout moved to the new protocol, and was it ever without members?",
    """
SELECT to_char(at, '%H:%M:%S') AS at, what, classic_members, members - classic_members AS new_members
FROM group_timeline
WHERE group_id = 'checkout' AND what IN ('converted', 'joined', 'left')
ORDER BY batch_id, seq
""",
)

QUESTIONS = (LOST, NEXT, LIFE, DELETED, UPGRADED)
