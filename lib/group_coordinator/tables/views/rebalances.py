"""The view rebalances: each new generation or epoch of a group, from its begin to its end."""

from __future__ import annotations

from group_coordinator.tables.views.definition import (
    BATCH_ID,
    CLUSTER_ID,
    GROUP_ID,
    SEQ,
    ViewDefinition,
    described,
    number_in,
    required,
)
from group_coordinator.tables.views.group_records import EPOCHS, MEMBER_COUNT, MEMBERS, SO_FAR
from group_coordinator.tables.views.position_steps import micros

_CURRENT = "(8, 14, 22)"
_WITHOUT_CAUSE = "('mirrored', 'observed', 'sync')"
_PATTERNS_AND_TOPOLOGIES = "(16, 23)"

_OF_LINE = "(PARTITION BY cluster_id, group_id, kind, member_id ORDER BY batch_id, seq)"
_OF_REBALANCE = (
    "(PARTITION BY cluster_id, group_id, place ORDER BY batch_id, seq "
    "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
)
_OF_PART = "(PARTITION BY cluster_id, group_id, kind, member_id, name ORDER BY line_place)"
_OF_MEMBER = "(PARTITION BY cluster_id, group_id, is_of_member, member_id ORDER BY batch_id, seq)"
_OF_PLACES = "(PARTITION BY cluster_id, group_id ORDER BY place)"


def _behind(text: str, begin: str) -> str:
    return f"split_part({text}, '{begin}', 2)"


# Only active tasks of a streams group are owned. Standby and warmup tasks follow them in the record.
_PARTS = f"""CASE
    WHEN record_type = 2 THEN concat('[', {_behind("value", '"members":[')})
    WHEN record_type = 22 THEN split_part({_behind("value", '"activeTasks":')}, ',"standbyTasks"', 1)
    WHEN record_type = 8 THEN split_part({_behind("value", '"assignedPartitions":')}, ',"partitionsPendingRevocation"', 1)
  END"""
_JOINED, _LEFT, _SUBSCRIPTION = 3, 2, 1
"""Changes of members. Of several in one request the greatest explains the epoch."""
_MARK = "chr(1)"
"""A character that JSON escapes: it marks the begin of a member, a topic or a subtopology."""
_BEGINS_OF_PARTS = ('{"memberId":', '{"topicId":', '{"subtopologyId":')


def _marked(text: str) -> str:
    for begin in _BEGINS_OF_PARTS:
        text = f"replace({text}, '{begin}', {_MARK})"
    return text


_MEMBER_EPOCH = number_in("value", "memberEpoch")
_IS_STABLE = f"""{number_in("value", "state")} = CASE WHEN record_type = 22 THEN 1 ELSE 0 END"""
# A generation without members is negative: the first epoch of a consumer group may by chance repeat its number. A member's
# number is the epoch that it has reached: its current assignment has that epoch and is stable, so that it waits for no
# partitions that others still have. When all members have reached the newest epoch, Kafka calls the group Stable. 0: the
# member has replaced another static member. Polls of a cluster show no generations of classic groups.
_PARSED = f"""
SELECT cluster_id, group_id, member_id, record_type, reason, event_time, batch_id, seq, value IS NOT NULL AS has_value,
  CASE
    WHEN record_type = 2 OR record_type IN {EPOCHS} THEN 'epoch'
    WHEN record_type IN {MEMBERS} THEN 'member'
    WHEN record_type IN {_CURRENT} THEN 'current'
    ELSE 'subscription'
  END AS kind,
  CASE
    WHEN record_type = 2 THEN greatest({number_in("value", "generation")}, 0) * CASE WHEN {MEMBER_COUNT} = 0 THEN -1 ELSE 1 END
    WHEN record_type IN {EPOCHS} THEN greatest({number_in("value", "epoch")}, 0)
    WHEN record_type IN {_CURRENT} AND ({_IS_STABLE} OR {_MEMBER_EPOCH} = 0) THEN {_MEMBER_EPOCH}
  END AS number,
  CASE WHEN record_type IN {EPOCHS} THEN coalesce({number_in("value", "metadataHash")}, 0) END AS topics_hash,
  CASE WHEN record_type = 2 THEN {number_in("value", "currentStateTimestamp")} END AS state_ms,
  CASE WHEN record_type = 2 THEN {number_in("value", "rebalanceTimeout")} END AS timeout_ms,
  CASE WHEN record_type = 2 THEN {MEMBER_COUNT} END AS classic_members,
  {_marked(_PARTS)} AS parts
FROM $coordinator_log
WHERE record_type IN {MEMBERS} OR record_type IN {_CURRENT} OR record_type IN {_PATTERNS_AND_TOPOLOGIES}
  OR (value IS NOT NULL AND (record_type IN {EPOCHS} OR (record_type = 2 AND reason <> 'observed')))
"""  # noqa: S608 - texts of our own

# Records of a line follow each other: those of the group, of a member, or of a member's assignments. A member is known by
# either of its records, as a log may begin later than the group. A record with the number of the record before is no rebalance:
# a static member was replaced, or the group was converted. Generation 0 has had no members yet.
_IN_LINES = f"""
SELECT in_lines.*,
  coalesce(
    kind = 'epoch' AND number <> 0
      AND (number_before IS NULL OR abs(number) <> abs(number_before) OR (record_type <> 2 AND number <> number_before)),
    false
  ) AS begins,
  CASE
    WHEN is_of_member AND has_value AND NOT was_there THEN 1
    WHEN kind = 'member' AND NOT has_value AND was_there THEN -1
    ELSE 0
  END AS added_members,
  CASE
    WHEN kind = 'member' AND has_value AND NOT was_there THEN {_JOINED}
    WHEN kind = 'member' AND NOT has_value THEN {_LEFT}
    WHEN kind = 'member' OR kind = 'subscription' THEN {_SUBSCRIPTION}
  END AS change
FROM (
  SELECT parsed.*,
    row_number() OVER {_OF_LINE} AS line_place,
    lag(number) OVER {_OF_LINE} AS number_before,
    lag(topics_hash) OVER {_OF_LINE} AS hash_before,
    coalesce(lag(has_value) OVER {_OF_MEMBER}, false) AS was_there
  FROM (
    SELECT parsed.*, kind = 'member' OR (kind = 'current' AND has_value) AS is_of_member FROM ({_PARSED}) parsed
  ) parsed
) in_lines
"""  # noqa: S608 - texts of our own

# All records of a request have one time, so the last change explains an epoch of the same time. A window function takes a
# microsecond for each row, therefore the last change and its time are one number.
_CHANGE_AND_TIME = f"{micros('event_time')} * 4"
_PLACED = f"""
SELECT placed.*,
  CASE
    WHEN reason IN ('session-timeout', 'rebalance-timeout') THEN 'timed-out'
    WHEN reason = 'leave' THEN 'left'
    WHEN reason = 'topics-resolved' THEN 'subscription'
    WHEN record_type = 2 THEN NULL
    WHEN last_change = {_CHANGE_AND_TIME} + {_JOINED} THEN 'joined'
    WHEN last_change = {_CHANGE_AND_TIME} + {_LEFT} THEN 'left'
    WHEN last_change = {_CHANGE_AND_TIME} + {_SUBSCRIPTION} THEN 'subscription'
    WHEN topics_hash <> hash_before THEN 'topics'
  END AS cause
FROM (
  SELECT in_lines.*,
    sum(CASE WHEN begins THEN 1 ELSE 0 END) OVER {SO_FAR} AS place,
    sum(CASE WHEN change = {_JOINED} THEN 1 ELSE 0 END) OVER {SO_FAR} AS joined_so_far,
    sum(CASE WHEN change = {_LEFT} THEN 1 ELSE 0 END) OVER {SO_FAR} AS left_so_far,
    sum(added_members) OVER {SO_FAR} AS member_count,
    max({_CHANGE_AND_TIME} + change) OVER {SO_FAR} AS last_change
  FROM ({_IN_LINES}) in_lines
) placed
"""  # noqa: S608 - texts of our own

_REACHED = f"""
SELECT of_epoch.*,
  member_count <= sum(
    CASE WHEN kind <> 'current' THEN 0 ELSE
      CASE WHEN number = epoch THEN 1 ELSE 0 END - CASE WHEN number_before = epoch THEN 1 ELSE 0 END
    END
  ) OVER {_OF_REBALANCE} AS is_reached
FROM (
  SELECT placed.*, max(CASE WHEN begins THEN number END) OVER {_OF_REBALANCE} AS epoch
  FROM ({_PLACED}) placed
) of_epoch
"""  # noqa: S608 - texts of our own

# A part is a member of a generation, or a topic with the partitions that a member has; without a name it is the record itself.
_IN_PARTS = f"""
SELECT reached.*, CASE WHEN substr(part, 1, 1) = '"' THEN split_part(substr(part, 2), '","', 1) END AS name,
  split_part({_behind("part", '"partitions":[')}, ']', 1) AS `partitions`
FROM (
  SELECT reached.*, $explode($split(coalesce(parts, '-'), {_MARK})) AS part FROM ({_REACHED}) reached
) reached
"""  # noqa: S608 - texts of our own

# An assignment of epoch 0 is that of a static member which has replaced another one: it has the other one's partitions.
_COUNTED = f"""
SELECT followed.*,
  CASE WHEN begins AND name IS NOT NULL AND NOT was_before THEN 1 ELSE 0 END AS new_members,
  CASE
    WHEN kind <> 'current' OR name IS NULL OR number = 0 OR `partitions` = '' THEN 0
    WHEN was_before THEN cardinality(array_except($split(`partitions`, ','), $split(partitions_before, ',')))
    ELSE cardinality($split(`partitions`, ','))
  END AS new_partitions
FROM (
  SELECT in_parts.*,
    coalesce(lag(line_place) OVER {_OF_PART} = line_place - 1, false) AS was_before,
    lag(`partitions`) OVER {_OF_PART} AS partitions_before
  FROM ({_IN_PARTS}) in_parts
) followed
"""  # noqa: S608 - texts of our own

_OF_ITS_RECORD = (
    *("record_type", "number", "event_time", "batch_id", "seq", "reason", "cause"),
    *("number_before", "state_ms", "member_count", "joined_so_far", "left_so_far"),
    *("classic_members", "timeout_ms"),
)
"""Columns of the record that begins an epoch, or ends the rebalance of a classic group."""

_SUMMED = f"""
SELECT cluster_id, group_id, place,
  {", ".join(f"max(CASE WHEN begins THEN {column} END) AS {column}" for column in _OF_ITS_RECORD)},
  min(CASE WHEN is_reached THEN event_time END) AS reached_at,
  CAST(sum(new_members) AS BIGINT) AS new_members, CAST(sum(new_partitions) AS BIGINT) AS new_partitions
FROM ({_COUNTED}) counted
WHERE place > 0
GROUP BY cluster_id, group_id, place
"""  # noqa: S608 - texts of our own

# Only the difference of the members is known where the group was converted: an upgrade writes records of members that do not
# join, and a downgrade removes the records of all.
_COMPARED = f"""
SELECT counted.*,
  CASE WHEN record_type = 2 THEN event_time ELSE coalesce(reached_at, lead(event_time) OVER {_OF_PLACES}) END AS ended_at,
  record_type <> 2 AND reached_at IS NULL AND lead(event_time) OVER {_OF_PLACES} IS NOT NULL AS is_superseded,
  number_before IS NULL AND abs(number) > CASE WHEN record_type = 2 THEN 1 ELSE 2 END AS is_first_known,
  CASE
    WHEN record_type = 2 THEN new_members
    WHEN lag(record_type) OVER {_OF_PLACES} = 2
      THEN members - lag(members) OVER {_OF_PLACES} + left_so_far - lag(left_so_far) OVER {_OF_PLACES}
    ELSE joined_so_far - coalesce(lag(joined_so_far) OVER {_OF_PLACES}, 0)
  END AS joined,
  CASE
    WHEN record_type = 2 THEN coalesce(lag(members) OVER {_OF_PLACES}, 0) - members + new_members
    ELSE left_so_far - coalesce(lag(left_so_far) OVER {_OF_PLACES}, 0)
  END AS removed
FROM (SELECT summed.*, coalesce(classic_members, member_count) AS members FROM ({_SUMMED}) summed) counted
"""  # noqa: S608 - texts of our own

# Of a classic group the record has the time at which its join phase ended. Where the log begins with it, its members and topology
# seem to be new.
_EXPLAINED = f"""
SELECT compared.*,
  CASE
    WHEN record_type <> 2 THEN event_time
    WHEN state_ms >= 0 AND state_ms < {micros("event_time")} / 1000 THEN $instant(state_ms * 1000)
    WHEN state_ms >= 0 THEN event_time
  END AS started_at,
  CASE
    WHEN is_first_known AND reason IN {_WITHOUT_CAUSE} THEN NULL
    WHEN cause IS NOT NULL OR record_type <> 2 OR is_first_known THEN cause
    WHEN joined > 0 AND removed = 0 THEN 'joined'
    WHEN joined = 0 AND removed > 0 THEN 'left'
  END AS known_cause
FROM ({_COMPARED}) compared
"""  # noqa: S608 - texts of our own

# The first record that the log has of a classic group may be that of a static member which was replaced, long after the join phase.
_TEXT = f"""
SELECT cluster_id, group_id,
  CASE record_type WHEN 2 THEN 'classic' WHEN 11 THEN 'share' WHEN 17 THEN 'streams' ELSE 'consumer' END AS group_type,
  CAST(abs(number) AS INT) AS generation_or_epoch, started_at, ended_at,
  CAST({micros("ended_at")} - {micros("started_at")} AS DOUBLE) / 1000000 AS seconds,
  CASE WHEN record_type = 2 OR is_first_known THEN 'at-least' ELSE 'exact' END AS how,
  is_superseded, known_cause AS cause,
  CAST(CASE WHEN NOT is_first_known THEN members - joined + removed END AS INT) AS members_before,
  CAST(CASE WHEN record_type = 2 OR NOT is_first_known THEN members END AS INT) AS members_after,
  CAST(CASE WHEN NOT is_first_known THEN joined END AS INT) AS members_joined,
  CAST(CASE WHEN NOT is_first_known THEN removed END AS INT) AS members_left,
  CAST(CASE WHEN record_type NOT IN (2, 11) AND NOT is_first_known THEN new_partitions END AS INT) AS partitions_moved,
  known_cause IS NOT NULL AND reason IN {_WITHOUT_CAUSE} AS inferred, batch_id, seq
FROM ({_EXPLAINED}) explained
WHERE NOT coalesce(number_before IS NULL AND state_ms >= 0 AND state_ms < {micros("event_time")} / 1000 - timeout_ms, false)
"""  # noqa: S608 - texts of our own

REBALANCES = ViewDefinition(
    name="rebalances",
    meaning="A row for each rebalance: each new epoch of a consumer, share or streams group, and each new generation of a classic group, also the last one, without members",
    columns=(
        *(CLUSTER_ID, GROUP_ID),
        *described(
            """
            group_type string classic or consumer; in a mirrored cluster also share or streams
            generation_or_epoch int The generation or epoch that the rebalance led to
            started_at? timestamp The time of the new group epoch. Of a classic group, whose log has no begin, the end of its join phase; null: an old broker has not written that time
            ended_at? timestamp The first time at which every member had its target assignment of this epoch, or the time of the next epoch. Of a classic group the time of the leader's assignment, or of the last member's removal. Null: it is still going on; of a classic group only ended rebalances have a row
            seconds? double From started_at to ended_at; null: one of them is null
            how string exact: seconds is the whole duration; at-least: it took longer, because the log lacks the begin (a classic group), or the members before (the group's first row, if the log begins later than the group)
            is_superseded boolean True: the next epoch began before every member had reached this one, and members go on to the next; always false for a classic group
            cause? string joined: a member joined; left: a member left, in a mirrored log and in a classic group also by a timeout; timed-out: a session or rebalance timeout; subscription: a member subscribed to other topics or changed otherwise, or a pattern or topology did; topics: topics were created, deleted or got partitions. Null: the log does not show it
            members_before? int Members before it began; null: the log does not have the epoch before
            members_after? int Members after it began, of a classic group after it ended; null: the log does not have the members before
            members_joined? int Members that were added since the epoch before; null: the log does not have the epoch before
            members_left? int Members that were removed since the epoch before; null: the log does not have the epoch before
            partitions_moved? int Partitions, or active tasks, that another member got, or a member for the first time, while this was the newest epoch; null: a classic group, whose assignments the log has as bytes of the clients, a share group, whose members share partitions, or the log does not have the epoch before
            """
        ),
        required(
            "inferred",
            "boolean",
            "True: the cause is concluded from the records of members and topics, as the reason of the record does not name it",
        ),
        *(BATCH_ID, SEQ),
    ),
    text=_TEXT,
    answers="How often does a group rebalance, for how long, and why?",
    example="SELECT generation_or_epoch, started_at, seconds, cause, members_before, members_after, partitions_moved FROM rebalances "
    "WHERE group_id = 'billing' ORDER BY started_at DESC LIMIT 10",
)
