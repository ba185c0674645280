"""Valid combinations of the options of `groups`, with the rules and words of Kafka's kafka-consumer-groups."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import click

from group_coordinator.cli.shared_options import LAST_INT32
from group_coordinator.core.kafka_order import java_number

ACTIONS = ("list", "describe", "delete", "reset-offsets", "delete-offsets", "validate-regex")
VIEWS = ("members", "offsets", "state")
SCENARIOS = (
    *("to-offset", "to-datetime", "by-duration", "to-earliest", "to-latest"),
    *("to-current", "shift-by", "from-file", "to-group"),
)
"""Scenarios in the order in which Kafka's tool finds two of them; to-group is our own."""
STATES = (
    *("PreparingRebalance", "CompletingRebalance", "Stable", "Dead", "Empty"),
    *("Assigning", "Reconciling"),
)
TYPES = ("Classic", "Consumer")

_NEEDS = {
    "members": ("describe",),
    "offsets": ("describe",),
    "verbose": ("describe",),
    "only-with-lag": ("describe",),
    "state": ("describe", "list"),
    "type": ("list",),
    "regex": ("list", "describe", "delete", "reset-offsets"),
    **dict.fromkeys((*SCENARIOS, "all-topics", "dry-run", "execute", "export"), ("reset-offsets",)),
}
"""Options that need certain actions. Kafka's tool ignores options of --reset-offsets elsewhere: `--delete --dry-run` deletes."""
_EXCLUDES = (
    ("group", "all-groups"),
    ("group", "list"),
    ("topic", "list"),
    ("topic", "describe"),
    ("regex", "group"),
    ("regex", "all-groups"),
    ("only-with-lag", "members"),
    ("only-with-lag", "state"),
    ("export", "output"),
    ("to-group", "all-topics"),
)
_OWN_SCOPE = frozenset({"from-file", "to-group"})
"""Scenarios that choose their partitions themselves."""


class TopicChoice(NamedTuple):
    """Topic and partitions of a `--topic`; partitions None: all of them."""

    topic: str
    partitions: tuple[int, ...] | None


def check(options: Mapping[str, Any]) -> str:
    """Return the action of the options. Raises click.UsageError: of several errors the first that Kafka's tool finds."""
    given = [name for name, value in options.items() if _is_given(name, value)]
    actions = [name for name in ACTIONS if name in given]
    # The order of the checks is that of Kafka's tool, for the same first error.
    _check_available(given, actions)
    for action in actions:
        _CHECKS[action](given, options)
    for option, other in _EXCLUDES:
        if option in given and other in given:
            raise click.UsageError(f'Option "[{option}]" can\'t be used with option "[{other}]"')
    if len(actions) != 1:
        names = ", ".join(f"--{name}" for name in ACTIONS)
        raise click.UsageError(f"Command must include exactly one action: {names}")
    if actions == ["reset-offsets"]:
        _check_scenario(given)
    return actions[0]


def _is_given(name: str, value: Any) -> bool:
    if name == "output":
        return bool(value != "table")
    return value is not None and value is not False and value != ()


def _check_available(given: Collection[str], actions: Collection[str]) -> None:
    for option, owners in _NEEDS.items():
        if option in given and not set(owners).intersection(actions):
            raise click.UsageError(
                f"Option(s) [{option}] are unavailable given other options on the command line"
            )


def _check_nothing(given: Collection[str], options: Mapping[str, Any]) -> None:
    """Accept all other options together."""


def _check_describe(given: Collection[str], options: Mapping[str, Any]) -> None:
    _check_scope("describe", given)
    if len([view for view in VIEWS if view in given]) > 1:
        raise click.UsageError(
            "Option [describe] takes at most one of these options: [members], [offsets], [state]"
        )
    if options["state"]:
        raise click.UsageError("Option [describe] does not take a value for [state]")


def _check_delete(given: Collection[str], _: Mapping[str, Any]) -> None:
    _check_scope("delete", given)
    if "topic" in given:
        raise click.UsageError(
            "The consumer does not support topic-specific offset deletion from a consumer group."
        )


def _check_delete_offsets(given: Collection[str], options: Mapping[str, Any]) -> None:
    if "group" not in given or "topic" not in given:
        raise click.UsageError(
            "Option [delete-offsets] takes the following options: [topic], [group]"
        )
    if len(options["group"]) > 1:
        raise click.UsageError(
            "Found multiple arguments for option group, but you asked for only one"
        )


def _check_reset(given: Collection[str], _: Mapping[str, Any]) -> None:
    if "dry-run" in given and "execute" in given:
        raise click.UsageError("Option [reset-offsets] only accepts one of [execute] and [dry-run]")
    _check_scope("reset-offsets", given)
    scenarios = [name for name in SCENARIOS if name in given]
    if len(scenarios) > 1:
        first, second, *_rest = scenarios
        raise click.UsageError(f'Option "[{first}]" can\'t be used with option "[{second}]"')


def _check_scenario(given: Collection[str]) -> None:
    scenarios = [name for name in SCENARIOS if name in given]
    if not {"topic", "all-topics", *_OWN_SCOPE}.intersection(given):
        raise click.UsageError("One of the reset scopes should be defined: --all-topics, --topic.")
    if not scenarios:
        names = ", ".join(f"[{name}]" for name in SCENARIOS)
        raise click.UsageError(
            f"Option '[reset-offsets]' requires one of the following scenarios: [{names}]"
        )


def _check_scope(action: str, given: Collection[str]) -> None:
    if not {"group", "all-groups", "regex"}.intersection(given):
        raise click.UsageError(
            f"Option [{action}] takes one of these options: [group], [all-groups]"
        )


_CHECKS = {
    "list": _check_nothing,
    "describe": _check_describe,
    "delete": _check_delete,
    "reset-offsets": _check_reset,
    "delete-offsets": _check_delete_offsets,
    "validate-regex": _check_nothing,
}


def states(text: str | None) -> list[str] | None:
    """States in the option's value; None: without the option, empty: all states."""
    return _parsed(text, STATES, "Invalid state list '{}'. Valid states are: {}")


def types(text: str | None) -> list[str] | None:
    """Group types in the option's value; None: without the option, empty: all types."""
    return _parsed(text, TYPES, "Invalid types list '{}'. Valid types are: {}")


def _parsed(text: str | None, valid: Sequence[str], complaint: str) -> list[str] | None:
    if not text:
        return None if text is None else []
    wanted = [one.strip().casefold() for one in text.split(",")]
    if not {one.casefold() for one in valid}.issuperset(wanted):
        raise click.UsageError(complaint.format(text, ", ".join(valid)))
    return wanted


def topic_choice(text: str) -> TopicChoice:
    """Parse a `--topic`: the name, then optionally a colon and partitions with commas between them.

    As in Kafka's tool, empty parts at the end are ignored: `t:0,` is `t:0`, and `t:,` names no partition.
    """
    if ":" not in text:
        return TopicChoice(text, None)
    topic, *rest = text.rstrip(":").split(":")
    if len(rest) != 1:
        raise click.UsageError(f"Invalid topic arg '{text}', expected topic name and partitions")
    named = rest[0].rstrip(",")
    numbers = named.split(",") if named else []
    return TopicChoice(topic, tuple(_partition(number, text) for number in numbers))


def _partition(text: str, argument: str) -> int:
    number = java_number(text)
    if number is None or not -LAST_INT32 - 1 <= number <= LAST_INT32:
        # The second quote at the end is Kafka's.
        raise click.UsageError(f"Invalid partition '{text}' specified in topic arg '{argument}''")
    return number
