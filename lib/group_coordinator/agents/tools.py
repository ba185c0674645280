"""Tools for agents: typed arguments, queries of the views, and the schemas of both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from group_coordinator.clients.as_of_time import AsOfTime
from group_coordinator.clients.sql_tables import Session
from group_coordinator.tables.views.at_risk import AT_RISK
from group_coordinator.tables.views.audit import AUDIT
from group_coordinator.tables.views.definition import (
    ViewColumn,
    ViewDefinition,
    described,
    in_datafusion,
)
from group_coordinator.tables.views.expiring_soon import EXPIRING_SOON
from group_coordinator.tables.views.group_status import FROM_BAD_TO_GOOD, GROUP_STATUS, RANK
from group_coordinator.tables.views.group_timeline import GROUP_TIMELINE
from group_coordinator.tables.views.lag import LAG_NOW
from group_coordinator.tables.views.lost_offsets import LOST_OFFSETS
from group_coordinator.tables.views.partition_status import PARTITION_STATUS
from group_coordinator.tables.views.readiness import READINESS
from group_coordinator.tables.views.rebalances import REBALANCES

MOST_ROWS = 500
_FILTERS = ("cluster_id", "group_id", "owner", "status")
_AS_OF = "Time of the response, such as 2024-01-02T03:04:05Z, without a zone in UTC. Default: now"
_LIMIT = "Most rows, of each part if there are several; total_rows is the number of all rows"
_STATUS = f"Only groups of this status: {', '.join(FROM_BAD_TO_GOOD)}. Default: all"
_Status = Annotated[str, Meta(pattern=f"^({'|'.join(FROM_BAD_TO_GOOD)})$")]


class ToolArguments(Struct, kw_only=True, forbid_unknown_fields=True):
    cluster_id: Annotated[str | None, Meta(description="Only this cluster. Default: all")] = None
    group_id: Annotated[str | None, Meta(description="Only this group. Default: all")] = None
    as_of: Annotated[str | None, Meta(description=_AS_OF)] = None
    limit: Annotated[int, Meta(ge=1, le=MOST_ROWS, description=_LIMIT)] = 50

    def condition(self, as_of_time: AsOfTime | None) -> str:  # noqa: ARG002 - expirations need it
        """Return the condition of the rows in DataFusion's SQL."""
        values = {column: getattr(self, column, None) for column in _FILTERS}
        given = (
            f"{name} = {in_datafusion(value)}"
            for name, value in values.items()
            if value is not None
        )
        return " AND ".join(given) or "true"


class OfGroup(ToolArguments):
    group_id: Annotated[str, Meta(description="The group")]


class OfGroups(ToolArguments):
    owner: Annotated[str | None, Meta(description="Only this owner's groups. Default: all")] = None
    status: Annotated[_Status | None, Meta(description=_STATUS)] = None


class Expiring(ToolArguments):
    within_hours: Annotated[int, Meta(ge=1, le=8_784, description="Hours after as_of")] = 24

    def condition(self, as_of_time: AsOfTime | None) -> str:
        # Microseconds: a time after 2262 has no nanoseconds of 64 bits.
        now = _in_utc("now()" if as_of_time is None else str(as_of_time.in_ms * 1_000))
        until = f"expires_at <= {now} + INTERVAL '{self.within_hours}' HOUR"
        return f"{super().condition(as_of_time)} AND {until}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsTool:
    """Rows of one query: `about` is a view, or a subquery with these columns. Schemas are JSON schemas of responses."""

    name: str
    meaning: str
    arguments: type[ToolArguments]
    columns: tuple[ViewColumn, ...]
    about: str
    order: str

    def response(
        self, tables: Session, arguments: ToolArguments, as_of_time: AsOfTime | None
    ) -> dict[str, Any]:
        """Return the rows, and the number of all. Raises QueryError: a table is missing, or cannot be read."""
        names = ", ".join(f'"{column.name}"' for column in self.columns)
        rows = tables.sql(
            f"SELECT {names}, count(*) OVER () AS total_rows FROM {self.about} "  # noqa: S608 - escaped values
            f"WHERE {arguments.condition(as_of_time)} ORDER BY {self.order} LIMIT {arguments.limit}"
        ).to_pylist()
        # Times become texts of ISO 8601.
        plain = [msgspec.to_builtins(row) for row in rows]
        return {
            "total_rows": max((row.pop("total_rows") for row in plain), default=0),
            "rows": plain,
        }

    def schema(self) -> dict[str, Any]:
        row = _object({column.name: _schema_of(column) for column in self.columns})
        return _object({"total_rows": {"type": "integer"}, "rows": {"type": "array", "items": row}})


@dataclass(frozen=True, slots=True, kw_only=True)
class PartsTool:
    """A response of several tools about the same group."""

    name: str
    meaning: str
    parts: Mapping[str, RowsTool]
    arguments: type[ToolArguments] = OfGroup

    @property
    def about(self) -> str:
        return " ".join(part.about for part in self.parts.values())

    def response(
        self, tables: Session, arguments: ToolArguments, as_of_time: AsOfTime | None
    ) -> dict[str, Any]:
        given = msgspec.structs.asdict(arguments)
        return {
            name: part.response(tables, part.arguments(**given), as_of_time)
            for name, part in self.parts.items()
        }

    def schema(self) -> dict[str, Any]:
        return _object({name: part.schema() for name, part in self.parts.items()})


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


_JSON_TYPES = {"int": "integer", "bigint": "integer", "double": "number", "boolean": "boolean"}


def _schema_of(column: ViewColumn) -> dict[str, Any]:
    kind = _JSON_TYPES.get(column.type, "array" if column.type.startswith("array") else "string")
    return {"type": [kind, "null"], "description": column.meaning}


def _in_utc(time: str) -> str:
    return f"""arrow_cast({time}, 'Timestamp(Microsecond, Some("UTC"))')"""


def _since(seconds: str) -> str:
    at = f"CAST(own.sampled_at AS BIGINT) - CAST(own.{seconds} * 1000000 AS BIGINT)"
    return f"CASE WHEN own.{seconds} > 0 THEN {_in_utc(at)} END"


def _of_view(
    name: str, view: ViewDefinition, arguments: type[ToolArguments], order: str
) -> RowsTool:
    return RowsTool(
        name=name,
        meaning=view.meaning,
        arguments=arguments,
        columns=view.columns,
        about=view.name,
        order=order,
    )


_KNOWN = described(
    """
    group_type string classic or consumer; in a mirrored cluster also share or streams
    state string The group's state in Kafka's words
    member_count int Number of members
    """
)
_OWN = GROUP_STATUS.columns[2:]
_GROUPS = RowsTool(
    name="groups",
    meaning="Groups with state, status, lag and owner, the worst first. LOSS: records were removed before the group read them; STOP: it "
    "has stopped to commit; STALL: it commits and does not move; AHEAD: the log ends before its offset; REWIND: its offset went back; "
    "WARN: it falls behind; HELD: it waits for an open transaction; UNSUBSCRIBED: it has left the topics",
    arguments=OfGroups,
    columns=(*GROUP_STATUS.columns[:2], *_KNOWN, *_OWN),
    about="(SELECT known.cluster_id, known.group_id, known.group_type, known.state, known.member_count, "  # noqa: S608 - texts of our own
    f"{', '.join(f'own.{column.name}' for column in _OWN)} FROM groups known "
    "LEFT JOIN group_status own ON own.cluster_id = known.cluster_id AND own.group_id = known.group_id) found",
    order=f"{RANK} NULLS LAST, total_lag DESC NULLS LAST, cluster_id, group_id",
)
_SINCE = described(
    """
    behind_since? timestamp sampled_at minus lag_seconds; null: there is nothing to read, or that is not known
    silent_since? timestamp sampled_at minus silent_seconds; null: as behind_since
    """
)
_PLACE = [
    column
    for column in LAG_NOW.columns
    if column.name not in {each.name for each in PARTITION_STATUS.columns}
]
_LAG = RowsTool(
    name="lag",
    meaning="Partitions of a group, the worst first: status, offsets, lag in records and in seconds, and the member that should read them",
    arguments=OfGroup,
    columns=(*PARTITION_STATUS.columns, *_SINCE, *_PLACE),
    about=f"(SELECT own.*, {_since('lag_seconds')} AS behind_since, {_since('silent_seconds')} AS silent_since, "  # noqa: S608 - texts of our own
    f"{', '.join(f'places.{column.name}' for column in _PLACE)} FROM partition_status own JOIN lag places "
    "ON places.cluster_id = own.cluster_id AND places.group_id = own.group_id AND places.topic = own.topic "
    "AND places.partition = own.partition) found",
    order=f"{RANK} NULLS LAST, lag_seconds DESC NULLS LAST, lag DESC NULLS LAST, cluster_id, topic, partition",
)
_PARTITIONS = "cluster_id, group_id, topic, partition"
_RISKS_FIRST = "lost DESC NULLS LAST, seconds_to_loss NULLS LAST, used_up DESC"
_NEWEST = "batch_id DESC, seq DESC"
_TIMELINE = _of_view("timeline", GROUP_TIMELINE, OfGroup, f"at DESC, {_NEWEST}")
_LOST = _of_view("lost", LOST_OFFSETS, ToolArguments, f"lost_at DESC, {_PARTITIONS}")
_EXPIRING = _of_view("expiring", EXPIRING_SOON, Expiring, f"expires_at, {_PARTITIONS}")
_RISKS = _of_view("at_risk", AT_RISK, ToolArguments, f"{_RISKS_FIRST}, {_PARTITIONS}")
_REBALANCES = _of_view(
    "rebalances", REBALANCES, OfGroup, f"coalesce(started_at, ended_at) DESC, {_NEWEST}"
)
_EXPLAIN = PartsTool(
    name="explain",
    meaning="Facts from which to see why a group is behind, each with its time: its status; partitions with the times since which they are "
    "behind and without a commit, and with their members; the newest changes of the group, rebalances, and resets and deletions of "
    "offsets; lost offsets; records at risk; expirations within a day; readiness for the protocol of KIP-848. Not a conclusion",
    parts={
        "status": _GROUPS,
        "partitions": _LAG,
        "timeline": _TIMELINE,
        "rebalances": _REBALANCES,
        "offset_changes": _of_view("audit", AUDIT, OfGroup, f"at DESC, {_PARTITIONS}"),
        "lost": _LOST,
        "at_risk": _RISKS,
        "expiring": _EXPIRING,
        "readiness": _of_view("readiness", READINESS, OfGroup, "cluster_id"),
    },
)
Tool = RowsTool | PartsTool
_ALL: tuple[Tool, ...] = (_GROUPS, _LAG, _TIMELINE, _LOST, _EXPIRING, _RISKS, _EXPLAIN)
TOOLS = {tool.name: tool for tool in _ALL}
