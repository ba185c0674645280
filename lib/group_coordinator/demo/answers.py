"""Questions that a broker cannot answer, and the tables can."""

from __future__ import annotations

from group_coordinator.demo.question import Question

LOST = Question(
    "Who lost which offsets, when, and why?",
    """
SELECT to_char(event_time, '%H:%M:%S') AS at, group_id, topic, count(*) AS partitions,
       concat(min(last_offset), '..', max(last_offset)) AS stood_at, reason
FROM (SELECT *, lag(l.offset) OVER (PARTITION BY group_id, topic, partition
                                    ORDER BY batch_id, seq) AS last_offset
      FROM coordinator_log l WHERE topic IS NOT NULL)
WHERE value IS NULL
GROUP BY event_time, group_id, topic, reason
ORDER BY event_time, group_id, topic
""",
)

NEXT = Question(
    "What expires next, if nobody commits or rejoins?",
    """
SELECT to_char(expires_at, '%H:%M:%S') AS expires_at, group_id, state, topic, count(*) AS offsets
FROM offsets JOIN groups USING (cluster_id, group_id)
WHERE expires_at IS NOT NULL
GROUP BY expires_at, group_id, state, topic
ORDER BY expires_at, group_id, topic LIMIT 10
""",
)

LIFE = Question(
    "What was the life of the group returns-desk?",
    """
SELECT to_char(min(event_time), '%H:%M:%S') AS from, to_char(max(event_time), '%H:%M:%S') AS until,
       reason, count(*) AS records,
       max(regexp_count(value, 'memberId')) FILTER (WHERE record_type = 2) AS members
FROM (SELECT *, row_number() OVER (ORDER BY batch_id, seq)
                - row_number() OVER (PARTITION BY reason ORDER BY batch_id, seq) AS stretch
      FROM coordinator_log WHERE group_id = 'returns-desk')
GROUP BY reason, record_type, stretch
ORDER BY min(batch_id), min(seq)
""",
)

DELETED = Question(
    "Who deleted what?",
    """
SELECT to_char(event_time, '%H:%M:%S') AS at, principal, reason, group_id,
       string_agg(DISTINCT topic, ' ') AS topics, count(partition) AS offsets
FROM coordinator_log
WHERE reason IN ('group-deleted', 'offset-deleted')
GROUP BY event_time, principal, reason, group_id
ORDER BY event_time, group_id
""",
)

UPGRADED = Question(
    "How was checkout moved to the new protocol, and was it ever without members?",
    """
SELECT to_char(event_time, '%H:%M:%S') AS at, reason,
       sum(sum(old)) OVER (ORDER BY min(batch_id), min(seq)) AS old_members,
       sum(sum(new)) OVER (ORDER BY min(batch_id), min(seq)) AS new_members
FROM (SELECT *, CAST(kind = 'old' AS INT) - CAST(lag(kind, 1, 'gone') OVER life = 'old' AS INT) AS old,
             CAST(kind = 'new' AS INT) - CAST(lag(kind, 1, 'gone') OVER life = 'new' AS INT) AS new
      FROM (SELECT *, CASE WHEN value IS NULL THEN 'gone'
                           WHEN value LIKE '%sessionTimeoutMs%' THEN 'old' ELSE 'new' END AS kind
            FROM coordinator_log WHERE group_id = 'checkout' AND record_type = 5)
      WINDOW life AS (PARTITION BY member_id ORDER BY batch_id, seq))
GROUP BY event_time, reason
ORDER BY min(batch_id), min(seq)
""",
)

QUESTIONS = (LOST, NEXT, LIFE, DELETED, UPGRADED)
