"""Groups, partitions and scenario that the options of `groups` choose."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from typing import Any

import click

from group_coordinator.cli.groups import reset, usage
from group_coordinator.clients.admin.client import AdminClient
from group_coordinator.clients.reset_plan import (
    Scenario,
    ShiftBy,
    ToCurrent,
    ToEarliest,
    ToLatest,
    ToOffset,
    ToTime,
)
from group_coordinator.core.topics.patterns import (
    InvalidPatternError,
    check_pattern,
    matching_names,
)

Options = Mapping[str, Any]


def is_chosen(options: Options) -> Callable[[str], bool]:
    """Return a filter for groups by --regex; without the option it accepts all groups.

    Raises:
        click.UsageError: the text is no regular expression.
    """
    regex = options["regex"]
    if regex is None:
        return lambda _: True
    try:
        check_pattern(regex)
    except InvalidPatternError as error:
        raise click.UsageError(
            f"The regular expression `{regex}` is invalid: {error.description}."
        ) from error
    return lambda group: bool(matching_names(regex, [group]))


def chosen(admin: AdminClient, options: Options) -> Collection[str]:
    """Groups of the command; the tables have the groups for all groups or a pattern."""
    if options["all-groups"] or options["regex"] is not None:
        is_wanted = is_chosen(options)
        listed = [listing.group_id for listing in admin.list_consumer_groups()]
        return [group for group in listed if is_wanted(group)]
    # A repeated option counts once.
    groups: Collection[str] = dict.fromkeys(options["group"])
    return groups


def aim_of(options: Options) -> reset.Aiming:
    """Partitions and scenario of a reset."""
    choices = [usage.topic_choice(text) for text in options["topic"]]
    if options["from-file"] is not None:
        return reset.at_file(reset.read_plans(options["from-file"], options["group"]))
    if options["to-group"] is not None:
        return reset.at_group(options["to-group"], _topics(choices))
    scenario = _scenario(options)
    if options["all-topics"]:
        return reset.at_all_topics(scenario)
    return reset.at_topics(scenario, _topics(choices))


def _topics(choices: Collection[usage.TopicChoice]) -> reset.Topics:
    topics: dict[str, set[int] | None] = {}
    for topic, partitions in choices:
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
