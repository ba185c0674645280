"""What a run of the events leaves behind, as facts that two runs must share.

Left out is what may differ: when something was written, how events were cut into batches, and repeats of responses.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from typing import NamedTuple

from pyspark.sql import SparkSession

from group_coordinator.streaming.coordinator_query import QUERY_NAME
from tests.end_to_end.installation import Installation, Row

_TABLES = ("groups", "members", "offsets", "dead_letters", "denials")
_OF_THE_BATCH = ("batch_id", "ingested_at", "seq", "updated_at")
"""What depends on the cut into batches; `updated_at` is the last record of the compaction that changed the row."""

Fact = str
Groups = dict[str, list[Fact]]


class Outcome(NamedTuple):
    """`facts` by where they were found; `log` has each group's records in order as well."""

    facts: dict[str, Counter[Fact]]
    log: Groups


class Difference(NamedTuple):
    """What is missing, what is there that should not be, and the groups whose records are in another order."""

    lost: dict[str, list[Fact]]
    doubled: dict[str, list[Fact]]
    reordered: list[str]

    @property
    def lost_count(self) -> int:
        return sum(map(len, self.lost.values()))

    @property
    def doubled_count(self) -> int:
        return sum(map(len, self.doubled.values()))

    def problems(self) -> list[str]:
        """One sentence each, with an example."""
        sides = (("lost", self.lost), ("doubled or changed", self.doubled))
        found = [
            f"{place}: {len(facts)} {what}, such as {facts[0]}"
            for what, side in sides
            for place, facts in side.items()
        ]
        order = [f"coordinator_log: other order in {', '.join(self.reordered)}"]
        return found + order if self.reordered else found


def outcome_of(installation: Installation, spark: SparkSession) -> Outcome:
    """Look at state, tables and responses."""
    log = _log(installation)
    facts = {
        "coordinator_log": Counter(fact for of_group in log.values() for fact in of_group),
        "responses": Counter(
            value.decode() for sent in installation.answers().values() for value in set(sent)
        ),
        "state": _state(installation, spark),
    }
    for table in _TABLES:
        facts[table] = Counter(map(_fact, installation.rows(f"SELECT * FROM {table}")))  # noqa: S608 - our own name
    return Outcome(facts, log)


def difference(expected: Outcome, found: Outcome) -> Difference:
    return Difference(
        _without(expected.facts, found.facts),
        _without(found.facts, expected.facts),
        _reordered(expected.log, found.log),
    )


def _without(
    these: dict[str, Counter[Fact]], those: dict[str, Counter[Fact]]
) -> dict[str, list[Fact]]:
    left = {place: list((facts - those[place]).elements()) for place, facts in these.items()}
    return {place: facts for place, facts in left.items() if facts}


def _reordered(expected: Groups, found: Groups) -> list[str]:
    return [
        group
        for group, facts in expected.items()
        if facts != found.get(group, []) and sorted(facts) == sorted(found.get(group, []))
    ]


def _log(installation: Installation) -> Groups:
    log: Groups = defaultdict(list)
    for row in installation.rows("SELECT * FROM coordinator_log ORDER BY group_id, batch_id, seq"):
        log[row["group_id"]].append(_fact(row))
    return log


def _fact(row: Row) -> Fact:
    kept = {name: value for name, value in row.items() if name not in _OF_THE_BATCH}
    return json.dumps(kept, default=str)


def _state(installation: Installation, spark: SparkSession) -> Counter[Fact]:
    """Each group's snapshot, byte for byte: it holds the group's own clock only, never the batch's."""
    # Since Spark 4.2 a state store is read where the coordinator of state stores is, which a session without queries lacks.
    assert spark.streams is not None
    rows = (
        spark.read.format("statestore")
        .load(f"{installation.checkpoint}/{QUERY_NAME}")
        .selectExpr("key.*", "hex(value.groupState.snapshot) AS snapshot")
        .collect()
    )
    return Counter(f"{row['group_id']}: {row['snapshot']}" for row in rows)
