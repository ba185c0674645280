"""Resets by `groups --reset-offsets` and its files: all groups are planned before offsets change, and only with --execute."""

from __future__ import annotations

import csv
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

import click
from kafka import TopicPartition

from group_coordinator.cli.groups.output import (
    FAILED,
    ActionContext,
    TextColumn,
    print_error,
    print_failure_of_group,
)
from group_coordinator.cli.shared_options import LAST_INT32, LAST_INT64, whole_number
from group_coordinator.clients.admin.descriptions import GroupDescription
from group_coordinator.clients.errors import ClientError, GroupIdNotFoundError, NothingToShiftError
from group_coordinator.clients.reset_plan import ResetPlan, Scenario, ToOffsets
from group_coordinator.clients.reset_planner import ResetPlanner
from group_coordinator.core.kafka_order import java_trimmed

Offsets = Mapping[TopicPartition, int]

_OF_ONE_GROUP = ("TOPIC", "PARTITION", "OFFSET")
_OF_SEVERAL = ("GROUP", *_OF_ONE_GROUP)
_LONGEST_UNCHECKED = 24
_FIRST_PLAIN = "-"


def read_plans(path: Path, groups: Sequence[str]) -> dict[str, dict[TopicPartition, int]]:
    """New offsets of each group in a file; lines without a group belong to the group of the command line."""
    try:
        # Spreadsheets write a byte order mark before the text.
        lines = csv.reader(StringIO(path.read_bytes().decode("utf-8-sig"), newline=""))
        rows = [(lines.line_num, row) for row in lines if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise click.UsageError(f"{path}: {error}: give a CSV file in UTF-8") from error
    # As in Kafka's tool, the first line decides the form of the file.
    has_group = len(groups) != 1 or (bool(rows) and len(rows[0][1]) == len(_OF_SEVERAL))
    plans: dict[str, dict[TopicPartition, int]] = {}
    columns = _OF_SEVERAL if has_group else _OF_ONE_GROUP
    for number, row in rows:
        if len(row) != len(columns):
            raise click.UsageError(
                f"{path}:{number}: not {','.join(columns)}: {','.join(row)!r} has {len(row)} fields: correct the line; a "
                "file without groups needs one --group"
            )
        *group, topic, partition, offset = row
        place = f"{path}:{number}"
        key = TopicPartition(topic, _number(place, "PARTITION", partition, LAST_INT32))
        of_group = plans.setdefault(group[0] if group else groups[0], {})
        of_group[key] = _number(place, "OFFSET", offset, LAST_INT64)
    return plans


def _number(place: str, column: str, text: str, most: int) -> int:
    number = whole_number(java_trimmed(text), most)
    if number is None:
        raise click.UsageError(
            f"{place}: {column} = {text!r} is not a whole number from 0 to {most}: correct it; the file must not "
            "have a header line"
        )
    return number


def export(plans: Mapping[str, Offsets], *, with_groups: bool) -> str:
    return "".join(
        f"{','.join(_field(text) for text in row)}\n"
        for group, offsets in plans.items()
        for row in _rows((group,) if with_groups else (), offsets)
    )


def _rows(group: tuple[str, ...], offsets: Offsets) -> Iterable[tuple[str, ...]]:
    for partition, offset in offsets.items():
        yield (*group, partition.topic, str(partition.partition), str(offset))


def _field(text: str) -> str:
    # Kafka's tool quotes by the characters of short texts only.
    is_plain = len(text) <= _LONGEST_UNCHECKED and all(each >= _FIRST_PLAIN for each in text)
    if is_plain:
        return text
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


Topics = Mapping[str, Collection[int] | None]
"""Partitions by topic; None: all of a topic."""

DRY_RUN = (
    "WARN: No action will be performed as the --execute option is missing. In version 5.0, this command will require "
    "either --dry-run or --execute to be specified. You should add the --dry-run option explicitly if you are scripting "
    "this command and want to keep the current default behavior without prompting."
)
"""Kafka's warning; this command keeps its default."""
_RESETTABLE = frozenset({"Empty", "Dead"})


class NoPlanError(ClientError):
    """No plan has offsets for the group."""


class ResetTarget(NamedTuple):
    """Partitions and scenario of a group's reset."""

    partitions: Collection[TopicPartition]
    scenario: Scenario


Aiming = Callable[[ResetPlanner, str], ResetTarget]
Showing = Callable[[ActionContext, Mapping[str, Offsets]], None]


@dataclass(frozen=True, slots=True)
class ResetRequest:
    """Reset with the options of a command line."""

    aim: Aiming
    is_executed: bool
    show: Showing


def at_topics(scenario: Scenario, topics: Topics) -> Aiming:
    return lambda planner, _: ResetTarget(planner.partitions_of(topics), scenario)


def at_all_topics(scenario: Scenario) -> Aiming:
    return lambda planner, group: ResetTarget(planner.committed(group).keys(), scenario)


def at_file(plans: Mapping[str, Offsets]) -> Aiming:
    def aim(_: ResetPlanner, group: str) -> ResetTarget:
        if group not in plans:
            raise NoPlanError(f"No reset plan for group {group} found")
        return ResetTarget(plans[group].keys(), ToOffsets(plans[group]))

    return aim


def at_group(other: str, topics: Topics) -> Aiming:
    """Reset to another group's offsets; without topics to all of them."""

    def aim(planner: ResetPlanner, _: str) -> ResetTarget:
        offsets = {
            partition: offset
            for partition, offset in planner.committed(other).items()
            if offset is not None and (not topics or _is_among(partition, topics))
        }
        if not offsets:
            raise NoPlanError(f"Group {other} has no committed offsets of these topics.")
        return ResetTarget(offsets.keys(), ToOffsets(offsets))

    return aim


def _is_among(partition: TopicPartition, topics: Topics) -> bool:
    numbers = topics.get(partition.topic, ())
    return numbers is None or partition.partition in numbers


def reset_offsets(session: ActionContext, groups: Collection[str], request: ResetRequest) -> bool:
    try:
        plans = _plans(session, groups, request)
    # Kafka's tool prints this error without its usual prefix.
    except NothingToShiftError as error:
        print_error(str(error))
        return False
    except ClientError as error:
        print_error(f"{FAILED}{error}")
        return False
    # With --execute an error of a group does not stop the other groups.
    done = {
        group: plan.offsets
        for group, plan in plans.items()
        if plan is not None and (not request.is_executed or _execute(session, group, plan))
    }
    request.show(session, {group: done.get(group, {}) for group in plans})
    return len(done) == len(plans)


def _plans(
    session: ActionContext, groups: Collection[str], request: ResetRequest
) -> dict[str, ResetPlan | None]:
    """Plan of each group, None: the group cannot be reset, and the error is printed."""
    # All groups are described at once, before the first plan.
    planner = ResetPlanner(session.admin, session.cluster)
    descriptions = session.admin.describe_consumer_groups(groups)
    return {group: _plan(planner, descriptions[group], request) for group in sorted(descriptions)}


def _plan(
    planner: ResetPlanner, group: GroupDescription, request: ResetRequest
) -> ResetPlan | None:
    if group.error is not None and not isinstance(group.error, GroupIdNotFoundError):
        print_failure_of_group(group.group_id, group.error)
        return None
    # Members would commit over the new offsets.
    if group.state not in _RESETTABLE:
        print_error(
            f"Assignments can only be reset if the group '{group.group_id}' is inactive, but the current state is "
            f"{group.state}."
        )
        return None
    try:
        aim = request.aim(planner, group.group_id)
    except NoPlanError as error:
        print_error(str(error))
        return None
    plan = planner.plan(group.group_id, *aim)
    _print_warnings(plan)
    return plan


def _print_warnings(plan: ResetPlan) -> None:
    for (topic, number), asked, nearest in plan.out_of_log:
        beyond = "higher than latest" if asked > nearest else "lower than earliest"
        click.echo(
            f"WARN New offset ({asked}) is {beyond} offset for topic partition {topic}-{number}. "
            f"Value will be set to {nearest}",
            err=True,
        )
    for topic, number in plan.without_later_record:
        click.echo(
            f"\nWarn: Partition {number} from topic {topic} is empty. Falling back to latest known offset.",
            err=True,
        )


def _execute(session: ActionContext, group: str, plan: ResetPlan) -> bool:
    if not plan.offsets:
        return True
    try:
        session.admin.commit_reset(group, plan.offsets).all()
    except ClientError as error:
        print_failure_of_group(group, error)
        return False
    return True


class _NewOffset(NamedTuple):
    """New offset of a partition in a reset."""

    group_id: str
    partition: TopicPartition
    offset: int


_GROUP = TextColumn("GROUP", attrgetter("group_id"), margin=0)


def _new_offset_columns(groups: Collection[str]) -> list[TextColumn]:
    """Columns of --reset-offsets, wide enough for groups without rows too."""
    wide_enough = max([_GROUP.width, *map(len, groups)])
    return [
        _GROUP._replace(width=wide_enough),
        TextColumn("TOPIC", attrgetter("partition.topic"), margin=0),
        TextColumn("PARTITION", attrgetter("partition.partition"), 10),
        TextColumn("NEW-OFFSET", attrgetter("offset"), 0),
    ]


def show_offsets(session: ActionContext, offsets: Mapping[str, Offsets]) -> None:
    rows = [
        _NewOffset(group, partition, offset)
        for group, of_group in offsets.items()
        for partition, offset in of_group.items()
    ]
    if offsets:
        session.show_table(_new_offset_columns(offsets), rows)
    else:
        session.output.say("")


def export_of_one(session: ActionContext, offsets: Mapping[str, Offsets]) -> None:
    session.output.say(export(offsets, with_groups=False))


def export_of_several(session: ActionContext, offsets: Mapping[str, Offsets]) -> None:
    session.output.say(export(offsets, with_groups=True))
