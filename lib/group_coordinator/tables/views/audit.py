"""The view audit: changes of offsets that are no ordinary commits, with the principal."""

from __future__ import annotations

from group_coordinator.tables.views.definition import (
    INFERRED,
    PARTITION_KEY,
    PRINCIPAL,
    ViewDefinition,
    described,
    is_offset,
    offset_or_null,
    optional,
)

AUDIT = ViewDefinition(
    name="audit",
    meaning="A row for each change of an offset that was no ordinary commit: set by a sender that is no member, set back, or lost",
    columns=(
        *PARTITION_KEY,
        *described(
            """
            before? bigint The offset before the change; null: none, or a number below 0, which clients ignore
            after? bigint The offset after the change; null: it was lost, or a number below 0
            change string reset: a commit with isReset or isRestore, or a commit to a group that had members and has none now, forward or back; rewind: any other commit of a smaller offset; expired, deleted, group-deleted, group-expired, topic-deleted: lost; mirrored, or observed by polls: lost, the reason is not known
            at timestamp Event time, by the group's clock
            """
        ),
        PRINCIPAL,
        optional(
            "client_id",
            "string",
            "For a rewind by a member: the client id, if all members have the same. Null: not known",
        ),
        INFERRED,
    ),
    text=f"""
SELECT cluster_id, group_id, topic, `partition`, {offset_or_null("`before`")} AS `before`, {offset_or_null("`after`")} AS `after`,
  change, at, principal, client_id, inferred
FROM (
  SELECT changes.*,
    CASE
      WHEN `after` IS NULL AND reason IN ('offset-expired', 'offset-deleted') THEN substr(reason, 8)
      WHEN `after` IS NULL THEN reason
      WHEN NOT by_member OR reason IN ('offset-reset', 'offset-restored') THEN 'reset'
      WHEN `after` < `before` AND {is_offset("`after`")} THEN 'rewind'
    END AS change
  FROM $offset_changes changes
) named
WHERE change IS NOT NULL
""",  # noqa: S608 - texts of our own
    answers="Which principal moved or deleted offsets of a group, and which offsets were there before?",
    example="SELECT at, topic, `partition`, `before`, `after`, change, principal FROM audit "
    "WHERE group_id = 'billing' ORDER BY at DESC",
)
