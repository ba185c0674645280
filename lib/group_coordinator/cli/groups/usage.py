"""Which options of `groups` go together; the rules and words of Kafka's kafka-consumer-groups."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import click

ACTIONS = ("list", "describe", "delete", "delete-offsets")
VIEWS = ("members", "offsets", "state")
STATES = (
    "PreparingRebalance",
    "CompletingRebalance",
    "Stable",
    "Dead",
    "Empty",
    "Assigning",
    "Reconciling",
)
TYPES = ("Classic", "Consumer")

_NEEDS = {
    "members": ("describe",),
    "offsets": ("describe",),
    "verbose": ("describe",),
    "state": ("describe", "list"),
    "type": ("list",),
}
"""Options that only some actions take."""
_EXCLUDES = (
    ("group", "all-groups"),
    ("group", "list"),
    ("topic", "list"),
    ("topic", "describe"),
)


class TopicChoice(NamedTuple):
    """What a `--topic` asks for; partitions None: all of them."""

    topic: str
    partitions: tuple[int, ...] | None


def check(options: Mapping[str, Any]) -> str:
    """The action that the options ask for.

    Raises:
        click.UsageError: the options do not go together.
    """
    given = [name for name, value in options.items() if value not in (None, False, ())]
    actions = [name for name in ACTIONS if name in given]
    if len(actions) != 1:
        names = ", ".join(f"--{name}" for name in ACTIONS)
        raise click.UsageError(f"Command must include exactly one action: {names}")
    for option, owners in _NEEDS.items():
        if option in given and actions[0] not in owners:
            raise click.UsageError(
                f"Option(s) [{option}] are unavailable given other options on the command line"
            )
    _CHECKS[actions[0]](given, options)
    for option, other in _EXCLUDES:
        if option in given and other in given:
            raise click.UsageError(f'Option "[{option}]" can\'t be used with option "[{other}]"')
    return actions[0]


def _check_list(given: Collection[str], options: Mapping[str, Any]) -> None:
    """Anything goes."""


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


def _check_scope(action: str, given: Collection[str]) -> None:
    if "group" not in given and "all-groups" not in given:
        raise click.UsageError(
            f"Option [{action}] takes one of these options: [group], [all-groups]"
        )


_CHECKS = {
    "list": _check_list,
    "describe": _check_describe,
    "delete": _check_delete,
    "delete-offsets": _check_delete_offsets,
}


def states(text: str | None) -> list[str] | None:
    """The states in the option's value; None: the option is not given, empty: all states."""
    return _parsed(text, STATES, "Invalid state list '{}'. Valid states are: {}")


def types(text: str | None) -> list[str] | None:
    """The group types in the option's value; None: the option is not given, empty: all types."""
    return _parsed(text, TYPES, "Invalid types list '{}'. Valid types are: {}")


def _parsed(text: str | None, valid: Sequence[str], complaint: str) -> list[str] | None:
    if not text:
        return None if text is None else []
    wanted = [one.strip().casefold() for one in text.split(",")]
    if not {one.casefold() for one in valid}.issuperset(wanted):
        raise click.UsageError(complaint.format(text, ", ".join(valid)))
    return wanted


def topic_choice(text: str) -> TopicChoice:
    """A `--topic`: the name, and after a colon partitions with commas between them."""
    topic, *rest = text.split(":")
    if not rest:
        return TopicChoice(topic, None)
    if len(rest) > 1 or not rest[0]:
        raise click.UsageError(f"Invalid topic arg '{text}', expected topic name and partitions")
    numbers = rest[0].split(",")
    for number in numbers:
        if not number.isdecimal():
            # The second quote at the end is Kafka's.
            raise click.UsageError(f"Invalid partition '{number}' specified in topic arg '{text}''")
    return TopicChoice(topic, tuple(map(int, numbers)))
