"""Queries on the views, for questions that Kafka's tools cannot answer."""

from __future__ import annotations

from group_coordinator.demo.answers import LOST, NEXT
from group_coordinator.demo.question import Question

WHO = Question(
    "Which groups were there, of which the broker knows nothing?",
    """
SELECT group_id, group_type, state, generation_or_epoch, offset_count, updated_at
FROM groups
ORDER BY group_id
""",
)

RESET = Question(
    "Who went back, when, and where had they been? (A reset is an administrator's, a rewind a member's own.)",
    """
SELECT at, group_id, topic, change, count(*) AS partitions, max(before) AS before, min(after) AS after
FROM audit WHERE change IN ('reset', 'rewind')
GROUP BY ALL ORDER BY at, group_id, topic
""",
)

QUESTIONS = (WHO, LOST, RESET, NEXT)
