"""The view readiness: the groups that can change to the protocol of KIP-848, and those that have.

Source of the rules: validateOnlineUpgrade and convertToConsumerGroup in Kafka 4.4's GroupMetadataManager; the core has them in
core/migration/upgrade.py.
"""

from __future__ import annotations

from group_coordinator.tables.views.definition import (
    CLUSTER_ID,
    GROUP_ID,
    ViewDefinition,
    described,
)


def _names(column: str) -> str:
    # Of nulls alone one engine makes an empty array, the other null.
    return f"CASE WHEN count({column}) > 0 THEN array_sort(array_agg(DISTINCT {column}) FILTER (WHERE {column} IS NOT NULL)) END"


# A member of a classic group has no type. Rows of an empty assignment have no list of partitions either, but they have the flag.
_MEMBERS = f"""
SELECT cluster_id, group_id, count(CASE WHEN coalesce(member_type, 'classic') = 'classic' THEN 1 END) AS classic_members,
  max(CAST(has_user_data AS INT)) AS some_user_data, count(CASE WHEN has_user_data IS NULL THEN 1 END) AS unread,
  count(CASE WHEN subscribed_topics IS NULL OR (assigned_partitions IS NULL AND has_user_data IS NULL) THEN 1 END) AS malformed,
  {_names("client_id")} AS client_names, {_names("client_host")} AS client_hosts
FROM $members
GROUP BY cluster_id, group_id
"""  # noqa: S608 - texts of our own

# Only the assignments of other assignors are compared: Kafka's own give each partition to one member.
_SHARING = """
SELECT DISTINCT cluster_id, group_id
FROM (
  SELECT cluster_id, group_id, held['topic'] AS topic, held['partition'] AS `partition`
  FROM (
    SELECT own.cluster_id, own.group_id, own.member_id, $explode(own.assigned_partitions) AS held
    FROM $members own
    JOIN $groups known ON known.cluster_id = own.cluster_id AND known.group_id = own.group_id
    WHERE known.group_type = 'classic' AND known.protocol NOT IN ('range', 'roundrobin', 'sticky', 'cooperative-sticky')
  ) assignments
  GROUP BY cluster_id, group_id, held['topic'], held['partition']
  HAVING min(member_id) <> max(member_id)
) shared
"""

_TEXT = f"""
WITH present AS ({_MEMBERS}),
sharing AS ({_SHARING}),
known AS (
  SELECT own.cluster_id, own.group_id, own.group_type, own.state, own.protocol_type, own.protocol, own.member_count,
    CAST(coalesce(present.classic_members, 0) AS INT) AS classic_members, present.client_names, present.client_hosts,
    own.group_type = 'classic' AND own.protocol_type = 'consumer' AND own.member_count > 0 AS has_consumers,
    CASE WHEN present.some_user_data = 1 THEN true WHEN present.unread = 0 THEN false END AS has_user_data,
    CASE
      WHEN present.some_user_data = 1 THEN 'user-data'
      WHEN present.malformed > 0 THEN 'malformed'
      WHEN sharing.group_id IS NOT NULL THEN 'shared-partition'
    END AS blocker
  FROM $groups own
  LEFT JOIN present ON present.cluster_id = own.cluster_id AND present.group_id = own.group_id
  LEFT JOIN sharing ON sharing.cluster_id = own.cluster_id AND sharing.group_id = own.group_id
  WHERE own.group_type <> 'share'
)
SELECT cluster_id, group_id, protocol AS assignor, CASE WHEN has_consumers THEN has_user_data END AS has_user_data, client_names,
  CASE
    WHEN group_type <> 'classic' AND classic_members > 0 THEN 'mixed'
    WHEN group_type <> 'classic' THEN 'done'
    WHEN coalesce(protocol_type, '') = '' THEN 'simple'
    WHEN protocol_type <> 'consumer' THEN 'not-a-consumer'
    WHEN member_count = 0 THEN 'empty'
    WHEN blocker IS NOT NULL THEN 'blocked'
    WHEN has_user_data IS NULL THEN 'unknown'
    ELSE 'ready'
  END AS verdict,
  CASE WHEN has_consumers THEN blocker END AS blocker,
  group_type, state, protocol_type, member_count, classic_members, client_hosts
FROM known
"""  # noqa: S608 - texts of our own

READINESS = ViewDefinition(
    name="readiness",
    meaning="A row for each group that is not a share group: whether it can change from the classic protocol to that of KIP-848 "
    "while its members run (online), by the rules of Kafka 4.4's coordinator. Its settings are not known here: "
    "group.consumer.migration.policy must allow upgrades, and group.consumer.max.size must allow the members",
    columns=(
        *(CLUSTER_ID, GROUP_ID),
        *described(
            """
            assignor? string The assignor that the members of a classic group agreed on, the only one in Kafka's records; of a consumer group the one that most members ask for; null: none
            has_user_data? boolean True: the assignment of a member has user data, as custom assignors, Kafka Streams and Sarama's sticky assignor write it; null: not known, or no classic group of consumers with members
            client_names? array<string> The client ids of the members, sorted; null: none is known, or no members
            verdict string ready: a member of the new protocol may join; blocked: its join fails, and blocker has the reason; unknown: the members' rows are of a version before 0.4, until the next rebalance; empty: no members, so that the next member decides; mixed: converted, with classic members left; done: no classic members, also of streams groups; simple: only offsets, no members to move; not-a-consumer: another protocol type, such as connect
            blocker? string user-data: see has_user_data; malformed: the coordinator cannot read a subscription or an assignment; shared-partition: two members have the same partition. While all members are stopped, none of them blocks; null: not blocked
            group_type string classic, consumer or streams
            state string The group's state
            protocol_type? string consumer, or the type of other clients; null, or empty in a mirrored cluster: a simple group
            member_count int Number of members
            classic_members int How many of them use the classic protocol
            client_hosts? array<string> The addresses of the clients, sorted; null: as client_names
            """
        ),
    ),
    text=_TEXT,
    answers="Which groups can change to the new protocol, which cannot, and which have?",
    example="SELECT group_id, verdict, blocker, assignor, client_names FROM readiness "
    "WHERE verdict IN ('blocked', 'unknown', 'mixed') ORDER BY group_id",
)
