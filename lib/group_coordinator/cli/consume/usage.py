"""Which options of `consume` go together; the rules and words of kafka-console-consumer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from secrets import randbelow

import click

from group_coordinator.cli.whole_numbers import LAST_INT64, whole_number

_GENERATED = 100_000


@dataclass(frozen=True, slots=True)
class Options:
    """The options that say what to read."""

    topic: str | None
    include: str | None
    partition: int | None
    offset: str | None
    group: str | None
    from_beginning: bool

    def check(self) -> None:
        """Refuse what does not go together.

        Raises:
            click.UsageError: it does not.
        """
        if (self.topic is None) == (self.include is None):
            raise click.UsageError(
                "Exactly one of the following arguments is required: [topic], [include]"
            )
        if self.partition is not None and self.topic is None:
            raise click.UsageError("The topic is required when partition is specified.")
        if self.offset is not None and self.partition is None:
            raise click.UsageError("The partition is required when offset is specified.")
        if self.offset is not None and self.from_beginning:
            raise click.UsageError(
                "Options from-beginning and offset cannot be specified together."
            )

    def pattern(self) -> re.Pattern[str] | None:
        """The topics of --include."""
        if self.include is None:
            return None
        try:
            return re.compile(self.include)
        except (re.error, OverflowError, RecursionError) as error:
            raise click.UsageError(
                f"--include {self.include!r} is no regular expression: {error}"
            ) from error

    def first_offset(self) -> str | int:
        """Where a partition is read from: a number, earliest or latest."""
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
        """Where a partition begins that the group has no offset of."""
        if self.from_beginning and auto_offset_reset not in {None, "earliest"}:
            raise click.UsageError(
                f"Can't simultaneously specify --from-beginning and 'auto.offset.reset={auto_offset_reset}', "
                "please remove one option"
            )
        return auto_offset_reset or ("earliest" if self.from_beginning else "latest")

    def named_group(self, *others: str | None) -> str | None:
        """The group that the option and these properties name; None: none of them does."""
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
    """A name as kafka-console-consumer makes it: nobody is likely to use it again."""
    return f"console-consumer-{randbelow(_GENERATED)}"
