"""Options of `consume` and Kafka's consumer properties: valid combinations, with the rules and words of kafka-console-consumer.

Properties come from a file and from KEY=VALUE options.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from secrets import randbelow
from typing import Any

import click

from group_coordinator.cli.client_properties.options import (
    given_properties,
    python_options,
    secrets_in,
)
from group_coordinator.cli.shared_options import LAST_INT32, LAST_INT64, whole_number
from group_coordinator.clients.member.membership import MemberOptions
from group_coordinator.core.kafka_order import java_trimmed


def key_values(given: Iterable[str]) -> dict[str, str]:
    """Convert KEY=VALUE texts to a dict. Raises click.UsageError: a text has no = or no key."""
    found = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise click.UsageError(f"{text!r} is not KEY=VALUE")
        found[key] = value
    return found


class Properties:
    """Properties of `consume`. Properties that its methods do not return are options of kafka-python, or have no effect."""

    def __init__(self, file: Path | None, given: Iterable[str]) -> None:
        """Read the file and the KEY=VALUE options, which take precedence. Raises click.UsageError: they cannot be read, or an option has a secret."""
        self.origin = "--command-property" if file is None else str(file)
        # Secrets are checked first, so that the error does not depend on other options.
        options = key_values(given)
        for key in secrets_in(options):
            name = "sasl.jaas.config" if key == "sasl.password" else key
            raise click.UsageError(
                f"--command-property {key}: other users can read a command line: set {name} in a --command-config file "
                "that only you can read"
            )
        self._left = given_properties(file) | options

    def text(self, name: str) -> str | None:
        """Return and remove a property; None: it has no value."""
        return self._left.pop(name, None)

    def choice(self, name: str, choices: tuple[str, ...]) -> str | None:
        """Return and remove a property with one of these words, in any case."""
        given = self.text(name)
        value = given and java_trimmed(given)
        if value is not None and value.casefold() not in choices:
            raise click.UsageError(
                f"{self.origin}: {name} = {value} is not valid: give one of {', '.join(choices)}"
            )
        return value and value.casefold()

    def number(self, name: str, default: int, most: int = LAST_INT32) -> int:
        """Return and remove a number from 0 up; most of Kafka's have 32 bits."""
        value = self.text(name)
        if value is None:
            return default
        number = whole_number(java_trimmed(value), most)
        if number is None:
            raise click.UsageError(
                f"{self.origin}: {name} = {value} is not valid: give a whole number from 0 to {most}"
            )
        return number

    def is_true(self, name: str) -> bool | None:
        """Return and remove a property with true or false."""
        value = self.choice(name, ("true", "false"))
        return None if value is None else value == "true"

    def rest(self) -> dict[str, Any]:
        """Convert the remaining properties to options of kafka-python."""
        return python_options(self._left, self.origin, reported=self._left)


_GENERATED = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """Options for the topics and offsets to read."""

    topic: str | None
    include: str | None
    partition: int | None
    offset: str | None
    group: str | None
    from_beginning: bool

    def check(self) -> None:
        """Check the combination of the options. Raises click.UsageError: they contradict each other, or an option is missing."""
        if (self.topic is None) == (self.include is None):
            raise click.UsageError(
                "Exactly one of the following arguments is required: [topic], [include]"
            )
        # The order of the checks is that of Kafka's tool, for the same first error.
        if self.partition is not None and self.topic is None:
            raise click.UsageError("The topic is required when partition is specified.")
        if self.offset is not None and self.partition is None:
            raise click.UsageError("The partition is required when offset is specified.")
        if self.offset is not None and self.from_beginning:
            raise click.UsageError(
                "Options from-beginning and offset cannot be specified together."
            )

    def pattern(self) -> re.Pattern[str] | None:
        if self.include is None:
            return None
        try:
            return re.compile(self.include)
        except (re.error, OverflowError, RecursionError) as error:
            raise click.UsageError(
                f"--include {self.include!r} is not a regular expression: {error}"
            ) from error

    def first_offset(self) -> str | int:
        """First offset of a partition: a number, earliest or latest."""
        if self.offset is None:
            return "earliest" if self.from_beginning else "latest"
        number = whole_number(self.offset, LAST_INT64)
        if number is not None:
            return number
        if self.offset.casefold() not in {"earliest", "latest"}:
            raise click.UsageError(
                f"The provided offset value '{self.offset}' is incorrect. Valid values are 'earliest', 'latest', "
                "or a non-negative long."
            )
        return self.offset.casefold()

    def reset(self, auto_offset_reset: str | None) -> str:
        """Offset reset for partitions without a committed offset."""
        if self.from_beginning and auto_offset_reset not in {None, "earliest"}:
            raise click.UsageError(
                f"Can't simultaneously specify --from-beginning and 'auto.offset.reset={auto_offset_reset}', "
                "please remove one option"
            )
        return auto_offset_reset or ("earliest" if self.from_beginning else "latest")

    def named_group(self, *others: str | None) -> str | None:
        """Group of the option and the properties; None without a group."""
        groups = list(dict.fromkeys(name for name in (self.group, *others) if name is not None))
        if len(groups) > 1:
            raise click.UsageError(
                "The group ids provided in different places (directly using '--group', via '--consumer-property', or "
                "via '--consumer.config') do not match. Detected group ids: "
                + ", ".join(f"'{group}'" for group in groups)
            )
        if groups and self.partition is not None:
            raise click.UsageError("Options group and partition cannot be specified together.")
        return groups[0] if groups else None


def generated_group() -> str:
    """Random name in the form of kafka-console-consumer, which is hardly ever used again."""
    return f"console-consumer-{randbelow(_GENERATED)}"


_CLIENT_ID = "console-consumer"
_RESETS = ("earliest", "latest", "none")
_FETCHING = {
    "fetch.min.bytes": 1,
    "fetch.max.bytes": 52_428_800,
    "fetch.max.wait.ms": 500,
    "max.partition.fetch.bytes": 1_048_576,
}
"""Properties of fetching that kafka-python has too, with Kafka's defaults."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Topics, group and clients of a command line."""

    topic: str | None
    include: re.Pattern[str] | None
    partition: int | None
    first_offset: str | int
    """First offset of the partition."""
    group_id: str
    commit_interval_s: float | None
    """None: no offsets are committed."""
    metadata_max_age_s: float
    member: MemberOptions
    most: int
    """Records of one poll."""
    fetching: Mapping[str, Any]
    """Options of kafka-python's consumer."""
    connecting: Mapping[str, Any]
    """Options of all clients of kafka-python."""

    @property
    def stays_member(self) -> bool:
        """The member stays in its group at the end: a static member comes back, without a rebalance.

        The consumer protocol has a heartbeat for that (epoch -2), the classic protocol has none.
        """
        return self.member.group_protocol == "classic" and bool(self.member.group_instance_id)


def wanted(options: ReadOptions, properties: Properties, isolation_level: str) -> Wanted:
    """Read and check the properties. Raises click.UsageError: a property contradicts the options, or is unknown."""
    options.check()
    named = options.named_group(properties.text("group.id"))
    # The option takes precedence, as in Kafka.
    properties.text("isolation.level")
    return Wanted(
        topic=options.topic,
        include=options.pattern(),
        partition=options.partition,
        first_offset=options.first_offset(),
        group_id=named or generated_group(),
        commit_interval_s=_commit_interval_s(options, properties, is_named=named is not None),
        metadata_max_age_s=properties.number("metadata.max.age.ms", 300_000, LAST_INT64) / 1000,
        member=_member(properties),
        most=properties.number("max.poll.records", 500),
        fetching={**_fetching(options, properties), "isolation_level": isolation_level},
        # The last field, as all other properties must be taken before.
        connecting=properties.rest(),
    )


def _commit_interval_s(
    options: ReadOptions, properties: Properties, *, is_named: bool
) -> float | None:
    interval_s = properties.number("auto.commit.interval.ms", 5_000) / 1000
    commits = properties.is_true("enable.auto.commit")
    if options.partition is not None and commits:
        raise click.UsageError(
            "--partition reads without a group, and enable.auto.commit=true needs one: remove one of them."
        )
    # A generated group is hardly used again, so its offsets would only be in the way (KIP-211).
    is_wanted = is_named if commits is None else commits
    return interval_s if is_wanted else None


def _member(properties: Properties) -> MemberOptions:
    defaults = MemberOptions()
    protocol = properties.choice("group.protocol", ("classic", "consumer"))
    return MemberOptions(
        client_id=properties.text("client.id") or _CLIENT_ID,
        group_instance_id=properties.text("group.instance.id"),
        group_protocol="consumer" if protocol == "consumer" else "classic",
        session_timeout_ms=properties.number("session.timeout.ms", defaults.session_timeout_ms),
        # Kafka's clients send max.poll.interval.ms as their rebalance timeout.
        rebalance_timeout_ms=properties.number(
            "max.poll.interval.ms", defaults.rebalance_timeout_ms
        ),
        heartbeat_interval_ms=properties.number(
            "heartbeat.interval.ms", defaults.heartbeat_interval_ms
        ),
        group_remote_assignor=properties.text("group.remote.assignor"),
        client_rack=properties.text("client.rack"),
    )


def _fetching(options: ReadOptions, properties: Properties) -> dict[str, Any]:
    found: dict[str, Any] = {
        name.replace(".", "_"): properties.number(name, default)
        for name, default in _FETCHING.items()
    }
    reset = properties.choice("auto.offset.reset", _RESETS)
    return {**found, "auto_offset_reset": options.reset(reset)}
