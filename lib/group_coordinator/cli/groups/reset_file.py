"""Files of `--from-file` and `--export`: CSV without headings, `topic,partition,offset`, with the group first for several groups."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from pathlib import Path

import click
from kafka import TopicPartition

from group_coordinator.cli.whole_numbers import LAST_INT32, LAST_INT64, whole_number
from group_coordinator.core.java_text import java_trimmed

Offsets = Mapping[TopicPartition, int]

_OF_ONE_GROUP = ("TOPIC", "PARTITION", "OFFSET")
_OF_SEVERAL = ("GROUP", *_OF_ONE_GROUP)
_LONGEST_UNCHECKED = 24
_FIRST_PLAIN = "-"


def read_plans(path: Path, groups: Sequence[str]) -> dict[str, dict[TopicPartition, int]]:
    """The new offsets that the file has for each group.

    Lines without a group are about the one group of the command line.

    Raises:
        click.UsageError: the file cannot be read, or a line is not as it should be.
    """
    try:
        # Spreadsheets put a mark before the text.
        lines = csv.reader(StringIO(path.read_bytes().decode("utf-8-sig"), newline=""))
        rows = [(lines.line_num, row) for row in lines if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise click.UsageError(f"{path}: {error}") from error
    has_group = len(groups) != 1 or (bool(rows) and len(rows[0][1]) == len(_OF_SEVERAL))
    plans: dict[str, dict[TopicPartition, int]] = {}
    columns = _OF_SEVERAL if has_group else _OF_ONE_GROUP
    for number, row in rows:
        if len(row) != len(columns):
            raise click.UsageError(f"{path}:{number}: not {','.join(columns)}")
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
            f"{place}: {column} = {text!r} is not a whole number from 0 to {most}: correct it; the file has no header line"
        )
    return number


def export(plans: Mapping[str, Offsets], *, with_groups: bool) -> str:
    """The plans as a file, which `read_plans` reads."""
    return "".join(
        f"{','.join(_field(text) for text in row)}\n"
        for group, offsets in plans.items()
        for row in _rows((group,) if with_groups else (), offsets)
    )


def _rows(group: tuple[str, ...], offsets: Offsets) -> Iterable[tuple[str, ...]]:
    for partition, offset in offsets.items():
        yield (*group, partition.topic, str(partition.partition), str(offset))


def _field(text: str) -> str:
    """Quoted where Kafka's tool quotes: it looks at the characters of short texts only."""
    is_plain = len(text) <= _LONGEST_UNCHECKED and all(each >= _FIRST_PLAIN for each in text)
    if is_plain:
        return text
    doubled = text.replace('"', '""')
    return f'"{doubled}"'
