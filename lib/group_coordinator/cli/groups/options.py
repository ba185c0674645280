"""Options of `groups`: the options of Kafka's kafka-consumer-groups with Java's forms of times, and some options of other tools.

Those of a reset become its partitions, its scenario and its output.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click

from group_coordinator import __version__
from group_coordinator.cli.groups import reset, usage
from group_coordinator.cli.groups.output import FORMATS
from group_coordinator.cli.shared_options import (
    INT64,
    LAST_INT32,
    Function,
    NumberRange,
    bootstrap_server_option,
    with_options,
)
from group_coordinator.clients.reset_plan import (
    Scenario,
    ShiftBy,
    ToCurrent,
    ToEarliest,
    ToLatest,
    ToOffset,
    ToTime,
)

_DURATION = re.compile(
    r"(?P<sign>[-+]?)P(?:(?P<days>[-+]?\d+)D)?"
    r"(?:T(?=[-+\d])(?:(?P<hours>[-+]?\d+)H)?(?:(?P<minutes>[-+]?\d+)M)?(?:(?P<seconds>[-+]?\d+(?:[.,]\d{0,9})?)S)?)?",
    re.IGNORECASE | re.ASCII,
)
_UNITS_MS = {"days": 86_400_000, "hours": 3_600_000, "minutes": 60_000, "seconds": 1_000}
_LONGEST_MS = 2**62
"""Limit of 146 million years: all times within it fit Kafka's protocol."""


def duration_ms(text: str) -> int:
    """Convert a duration of ISO 8601 (PnDTnHnMnS) to milliseconds; it may be negative."""
    found = _DURATION.fullmatch(text)
    parts = {name: found[name] for name in _UNITS_MS} if found else {}
    if found is None or not any(parts.values()):
        raise click.BadParameter("Text cannot be parsed to a Duration")
    total = sum(
        float(part.replace(",", ".")) * _UNITS_MS[name] for name, part in parts.items() if part
    )
    if not abs(total) <= _LONGEST_MS:  # infinite numbers, and what is left of two of them
        raise click.BadParameter("Text cannot be parsed to a Duration: overflow")
    return round(-total if found["sign"] == "-" else total)


def timestamp_ms(text: str) -> int:
    """Convert a date and time of ISO 8601, with a T between them, to milliseconds since 1970; without a zone it is UTC."""
    if "T" not in text:
        raise click.BadParameter(
            "Error parsing timestamp. It does not contain a 'T' according to ISO8601 format"
        )
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise click.BadParameter(f'Unparseable date: "{text}"') from error
    time = found if found.tzinfo else found.replace(tzinfo=UTC)
    return (time - datetime.fromtimestamp(0, UTC)) // timedelta(milliseconds=1)


_ACTIONS = (
    click.option("--list", is_flag=True, help="List the groups, as of the last compaction."),
    click.option("--describe", is_flag=True, help="Describe groups as the running job has them."),
    click.option(
        "--delete", is_flag=True, help="Delete groups without members, with their offsets."
    ),
    click.option(
        "--reset-offsets",
        is_flag=True,
        help="Show the new offsets of groups without members; set them with --execute.",
    ),
    click.option(
        "--delete-offsets",
        is_flag=True,
        help="Delete a group's offsets of topics that it does not read.",
    ),
    click.option(
        "--validate-regex",
        metavar="REGEX",
        help="Check that consumers can subscribe by this regular expression (RE2).",
    ),
)
_SCOPE = (
    click.option(
        "--group", multiple=True, help="A group to describe, delete or reset. Repeatable."
    ),
    click.option(
        "--all-groups", is_flag=True, help="Instead of --group: all groups of the tables."
    ),
    click.option(
        "--regex",
        metavar="REGEX",
        help="Instead of --group: the groups of the tables whose whole name matches (RE2). With --list: only "
        "these.",
    ),
    click.option(
        "--topic",
        multiple=True,
        metavar="TOPIC[:P,P]",
        help="With --delete-offsets and --reset-offsets: a topic, or some partitions of it. Repeatable.",
    ),
    click.option(
        "--all-topics",
        is_flag=True,
        help="With --reset-offsets: all topics with committed offsets of the group.",
    ),
)
_VIEWS = (
    click.option("--offsets", is_flag=True, help="With --describe: offsets and lag (the default)."),
    click.option("--members", is_flag=True, help="With --describe: the members."),
    click.option(
        "--state",
        is_flag=False,
        flag_value="",
        metavar="[STATES]",
        help="With --describe: the state. With --list: show states, or only groups in these states.",
    ),
    click.option(
        "--type",
        is_flag=False,
        flag_value="",
        metavar="[TYPES]",
        help="With --list: show types, or only groups of these types (classic, consumer).",
    ),
    click.option("--verbose", is_flag=True, help="With --describe: more columns."),
    click.option(
        "--only-with-lag", is_flag=True, help="With --describe: only partitions with lag."
    ),
)
_RESETS = (
    click.option("--to-earliest", is_flag=True, help="Reset to the beginning of the log."),
    click.option("--to-latest", is_flag=True, help="Reset to the end of the log."),
    click.option(
        "--to-current",
        is_flag=True,
        help="Reset to the committed offset, or without one to the end of the log.",
    ),
    click.option("--to-offset", type=INT64, metavar="OFFSET", help="Reset to one offset."),
    click.option(
        "--shift-by",
        type=INT64,
        metavar="N",
        help="Reset by N offsets: forward, or back if N is negative.",
    ),
    click.option(
        "--by-duration",
        type=duration_ms,
        metavar="PnDTnHnMnS",
        help="Reset to the first record that is at most so old.",
    ),
    click.option(
        "--to-datetime",
        type=timestamp_ms,
        metavar="YYYY-MM-DDThh:mm:ss.sss",
        help="Reset to the first record since this time; without a zone it is UTC.",
    ),
    click.option(
        "--from-file",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="Reset to the offsets of this file, in the format of --export.",
    ),
    click.option(
        "--to-group",
        metavar="GROUP",
        help="Reset to the offsets of this other group; --topic selects some of them.",
    ),
    click.option("--dry-run", is_flag=True, help="Only show the new offsets (the default)."),
    click.option("--execute", is_flag=True, help="Reset."),
    click.option("--export", is_flag=True, help="Print the new offsets as CSV, for --from-file."),
)
_OTHERS = (
    click.option(
        "-o",
        "--output",
        type=click.Choice(list(FORMATS)),
        default="table",
        show_default=True,
        help="The format of the output.",
    ),
    bootstrap_server_option("The Kafka cluster. [bootstrap.servers]"),
    click.option(
        "--timeout",
        type=NumberRange(1, LAST_INT32),
        metavar="MS",
        help="The timeout of a request. [request.timeout.ms]",
    ),
    click.version_option(__version__, prog_name="group-coordinator"),
)


def groups_options(function: Function) -> Function:
    """Add all options of `groups` in the order of the help."""
    every = (*_ACTIONS, *_SCOPE, *_VIEWS, *_RESETS, *_OTHERS)
    return with_options(function, every)


Options = Mapping[str, Any]


def aim_of(options: Options) -> reset.Aiming:
    """Partitions and scenario of a reset."""
    topics = topics_of(options["topic"])
    if options["from-file"] is not None:
        return reset.at_file(reset.read_plans(options["from-file"], options["group"]))
    if options["to-group"] is not None:
        return reset.at_group(options["to-group"], topics)
    scenario = _scenario(options)
    if options["all-topics"]:
        return reset.at_all_topics(scenario)
    return reset.at_topics(scenario, topics)


def topics_of(texts: Collection[str]) -> reset.Topics:
    """Parse the values of `--topic`."""
    topics: dict[str, set[int] | None] = {}
    for topic, partitions in map(usage.topic_choice, texts):
        known = topics.get(topic, set())
        # A topic with and without partitions counts as the whole topic.
        topics[topic] = None if partitions is None or known is None else known.union(partitions)
    return topics


def _scenario(options: Options) -> Scenario:
    if options["to-offset"] is not None:
        return ToOffset(options["to-offset"])
    if options["shift-by"] is not None:
        return ShiftBy(options["shift-by"])
    if options["to-datetime"] is not None:
        # Numbers below 0 are Kafka's special values, -1 the end of the log.
        return ToTime(max(0, options["to-datetime"]))
    if options["by-duration"] is not None:
        return ToTime(max(0, time.time_ns() // 1_000_000 - options["by-duration"]))
    return next(scenario for name, scenario in _PLAIN.items() if options[name])


_PLAIN: Mapping[str, Scenario] = {
    "to-earliest": ToEarliest(),
    "to-latest": ToLatest(),
    "to-current": ToCurrent(),
}


def shown_by(options: Options) -> reset.Showing:
    """Output of the new offsets. The file for a single group, named by --group, has no group column."""
    if not options["export"]:
        return reset.show_offsets
    return reset.export_of_one if len(options["group"]) == 1 else reset.export_of_several
