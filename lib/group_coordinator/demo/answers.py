"""Queries on the views, for questions that a broker cannot answer."""

from __future__ import annotations

from group_coordinator.demo.question import Question

LOST = Question(
    "Who lost which offsets, when, why, and by whom?",
    """
SELECT lost_at, group_id, topic, count(*) AS partitions, reason, principal
FROM lost_offsets
GROUP BY ALL ORDER BY lost_at, group_id, topic
""",
)

NEXT = Question(
    "What expires next, if nobody commits or rejoins?",
    """
SELECT expires_at, group_id, topic, count(*) AS partitions
FROM expiring_soon WHERE expires_at IS NOT NULL
GROUP BY ALL ORDER BY expires_at, group_id, topic LIMIT 10
""",
)

LIFE = Question(
    "What was the life of the group returns-desk?",
    """
SELECT at, what, members, generation_or_epoch, detail
FROM group_timeline WHERE group_id = 'returns-desk'
ORDER BY batch_id, seq
""",
)

DELETED = Question(
    "Who deleted what?",
    """
SELECT at, principal, change, group_id, topic, count(*) AS partitions
FROM audit WHERE change IN ('deleted', 'group-deleted')
GROUP BY ALL ORDER BY at, group_id, topic
""",
)

UPGRADED = Question(
    "How was checkout moved to the new protocol, and was it ever without members?",
    """
SELECT at, what, classic_members, members - classic_members AS new_members
FROM group_timeline WHERE group_id = 'checkout' AND what IN ('converted', 'joined', 'left')
ORDER BY batch_id, seq
""",
)

QUESTIONS = (LOST, NEXT, LIFE, DELETED, UPGRADED)
