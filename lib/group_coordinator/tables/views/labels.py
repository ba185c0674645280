"""Labels of groups by the patterns of the table group_labels, and the view group_owners. Imports no module of Spark."""

from __future__ import annotations

from group_coordinator.tables.views.definition import (
    CLUSTER_ID,
    GROUP_ID,
    ViewDefinition,
    described,
    number_of,
    required,
)

LABELS = "group_labels"
"""The name of the table."""

NO_LABELS = """(
SELECT CAST(NULL AS STRING) AS cluster_id, CAST(NULL AS STRING) AS pattern, CAST(NULL AS STRING) AS owner,
  CAST(NULL AS STRING) AS tier, CAST(NULL AS INT) AS objective_seconds
WHERE false
)"""

MOST_STARS = 2
"""Stars of a pattern: so many need only comparisons of texts, and more need a regular expression. DataFusion compiles the
expression for each group and pattern, which takes minutes for a thousand groups and a thousand patterns.
"""

LABEL_COLUMNS = tuple(
    described(
        """
        owner? string The owner of the group, by the most specific matching pattern of group_labels; null: no pattern matches, or the pattern has none
        tier? string The tier of the group, by the same pattern; null: as owner
        objective_seconds? int The longest lag in time that the owner wants, by the same pattern; null: as owner
        """
    )
)

# A row with more stars, which another program may have written, matches no group.
_PARTS = f"""
SELECT patterns.*, length(replace(pattern, '*', '')) AS literals, split_part(pattern, '*', 1) AS prefix,
  CASE WHEN stars = 2 THEN split_part(pattern, '*', 2) ELSE '' END AS middle,
  CASE WHEN stars = 0 THEN '' ELSE split_part(pattern, '*', -1) END AS suffix
FROM (SELECT given.*, {number_of("pattern", "'*'")} AS stars FROM ${LABELS} given) patterns
WHERE stars <= {MOST_STARS}
"""  # noqa: S608 - texts of our own

# A negative length would be an error, also of a row that another condition excludes.
_BETWEEN = (
    "substr(own.group_id, CAST(length(prefix) AS INT) + 1, "
    "CAST(greatest(length(own.group_id) - length(prefix) - length(suffix), 0) AS INT))"
)


def labelled(groups: str) -> str:
    """Return SQL for groups, a row each, with `pattern` and its labels: null if no pattern matches.

    `groups` is a SELECT with cluster_id and group_id. Of several matching patterns the one with the most characters other than
    stars counts, then the one with fewer stars, then the first in the order of texts: a group's own name before all patterns,
    and the order of rows has no meaning.
    """
    return f"""
SELECT *
FROM (
  SELECT own.*, pattern, owner, tier, objective_seconds,
    row_number() OVER (
      PARTITION BY own.cluster_id, own.group_id ORDER BY literals DESC, stars, pattern
    ) AS label_place
  FROM ({groups}) own
  LEFT JOIN ({_PARTS}) labels
    ON labels.cluster_id = own.cluster_id
    AND left(own.group_id, CAST(length(prefix) AS INT)) = prefix
    AND right(own.group_id, CAST(length(suffix) AS INT)) = suffix
    AND length(own.group_id) >= literals
    AND (stars > 0 OR own.group_id = pattern)
    AND contains({_BETWEEN}, middle)
) matched
WHERE label_place = 1
"""  # noqa: S608 - texts of our own


GROUP_OWNERS = ViewDefinition(
    name="group_owners",
    meaning="A row for each group that exists and that a pattern of group_labels matches, with the labels of the most specific pattern",
    columns=(
        *(CLUSTER_ID, GROUP_ID),
        *LABEL_COLUMNS,
        required("pattern", "string", "The most specific matching pattern"),
    ),
    text=f"""
SELECT cluster_id, group_id, owner, tier, objective_seconds, pattern
FROM ({labelled("SELECT cluster_id, group_id FROM $groups")}) labelled
WHERE pattern IS NOT NULL
""",  # noqa: S608 - texts of our own
    answers="Whose is a group, and by which pattern?",
    example="SELECT group_id, owner, tier, pattern FROM group_owners WHERE owner = 'payments' ORDER BY group_id",
)
