"""Definition of a view: name, columns and SQL; and SQL for texts, records and valid offsets. Imports no module of Spark."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from string import Template
from typing import NamedTuple


class ViewColumn(NamedTuple):
    """A column; its type in Spark's SQL."""

    name: str
    type: str
    meaning: str
    nullable: bool


# All other SQL of the views is valid in both engines, and a test runs each view in both.
class Dialect(NamedTuple):
    """The functions that the two engines call by different names."""

    explode: str
    """From an array to a row per element; none for an array that is empty or null."""
    split: str
    """From a text to an array of its parts between a character, which has no meaning in a regular expression."""
    micros: str
    """From a timestamp to microseconds since 1970, inside `CAST(... AS BIGINT)`; empty: the cast alone does it."""
    instant: str
    """From microseconds since the epoch to a timestamp."""


SPARK = Dialect(explode="explode", split="split", micros="unix_micros", instant="timestamp_micros")
DATAFUSION = Dialect(
    explode="unnest", split="string_to_array", micros="", instant="to_timestamp_micros"
)


def required(name: str, kind: str, meaning: str) -> ViewColumn:
    return ViewColumn(name, kind, meaning, nullable=False)


def optional(name: str, kind: str, meaning: str) -> ViewColumn:
    return ViewColumn(name, kind, meaning, nullable=True)


def described(text: str) -> list[ViewColumn]:
    """Return columns, one a line: name, type, meaning; a ? behind the name: it may be null."""
    lines = (line.split(maxsplit=2) for line in text.strip().splitlines())
    return [
        ViewColumn(name.removesuffix("?"), kind, meaning, nullable=name.endswith("?"))
        for name, kind, meaning in lines
    ]


CLUSTER_ID = required("cluster_id", "string", "The Kafka cluster, setting cluster.id")
GROUP_ID = required("group_id", "string", "The group")
TOPIC = required("topic", "string", "The topic")
PARTITION = required("partition", "int", "The partition")
PARTITION_KEY = (CLUSTER_ID, GROUP_ID, TOPIC, PARTITION)
PRINCIPAL = optional(
    "principal", "string", "The sender, as the event names it; null: not named, or a deadline"
)
INFERRED = required(
    "inferred",
    "boolean",
    "True: the mirror concluded the reason, or with the reason mirrored the removal itself, in a gap. False: the log's record has the reason, or it is not known",
)
BATCH_ID = required("batch_id", "bigint", "The batch of the log's record")
SEQ = required("seq", "int", "Its place among the group's records of the batch")


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewDefinition:
    """A named query.

    text: a SELECT for both engines. `$name` is a table, or a view before this view; `$explode`, `$split`, `$micros` and
        `$instant` are functions of the dialect; `$$` is a dollar.
    example: a query that shows its use, and `answers`, its question in words.
    """

    name: str
    meaning: str
    columns: tuple[ViewColumn, ...]
    text: str
    answers: str
    example: str

    def sql(self, dialect: Dialect, sources: Mapping[str, str]) -> str:
        """Return the SELECT for an engine; `sources` has the SQL name of each table and view there."""
        return Template(self.text).substitute(sources, **dialect._asdict()).strip()

    @property
    def sources(self) -> frozenset[str]:
        return frozenset(Template(self.text).get_identifiers()) - set(Dialect._fields)


def floor_of(number: str, step: int) -> str:
    """Return SQL for the greatest multiple of `step` up to a bigint."""
    # The remainder of a negative number is negative in SQL.
    return f"{number} - ({number} % {step} + {step}) % {step}"


_LAST_BIGINT = 2**63 - 1


def total_of(number: str, over: str = "") -> str:
    """Return SQL for a sum, or one over a window, as a bigint: null if all numbers are null, on overflow the nearest bigint."""
    # Both engines ignore a null argument of `least`.
    exact = f"sum(CAST({number} AS DECIMAL(20, 0))) {over}"
    nearest = f"greatest(least({exact}, {_LAST_BIGINT}), -{_LAST_BIGINT})"
    return f"CASE WHEN count({number}) {over} > 0 THEN CAST({nearest} AS BIGINT) END"


_QUOTE = '"'
# As a function, because the engines treat a backslash between quotes differently.
_BACKSLASH = "chr(92)"
_ESCAPED_QUOTE = f"concat({_BACKSLASH}, '{_QUOTE}')"
_ESCAPED_BACKSLASH = f"concat({_BACKSLASH}, {_BACKSLASH})"
_LETTERS = {"b": 8, "t": 9, "n": 10, "f": 12, "r": 13}
"""JSON's escapes of control characters."""


# No regular expressions: a year has millions of records, and splitting takes a tenth of their time.
def number_in(json: str, field: str) -> str:
    """Return SQL for a number in a record, null if it has none; of several fields of that name, the last."""
    # No text inside a record can look like the field: there a quote has a backslash before it.
    found = f"""trim(split_part(split_part({_behind(json, field)}, ',', 1), '}}', 1))"""
    return f"""CASE WHEN {_has(json, field)} THEN CAST({found} AS BIGINT) END"""


def text_in(json: str, field: str) -> str:
    """Return SQL for a text in a record without quotes and backslashes, null if there is none."""
    return f"""CASE WHEN {_has(json, field)} THEN {_to_quote(_behind(json, field))} END"""


def any_text_in(json: str, field: str) -> str:
    """Return SQL for any text in a record, null if there is none; control characters without a letter stay escaped."""
    return _with_escapes(json, field, f"'{_QUOTE}'", _BACKSLASH, _LETTERS)


def escaped_text_in(json: str, field: str) -> str:
    """Return SQL for a text in a record as JSON has it between two quotes."""
    return _with_escapes(json, field, _ESCAPED_QUOTE, _ESCAPED_BACKSLASH, {})


def number_of(text: str, part: str) -> str:
    """Return SQL for the number of times that a text has a part; both are SQL, and the part is not empty."""
    return (
        f"CAST((length({text}) - length(replace({text}, {part}, ''))) / length({part}) AS BIGINT)"
    )


def _with_escapes(
    json: str, field: str, quote: str, backslash: str, letters: Mapping[str, int]
) -> str:
    # Texts with escapes are few, and take ten times as long. Meanwhile their backslashes and quotes are control characters, of which
    # JSON has none: first pairs of backslashes, as afterwards a backslash before a quote belongs to the quote.
    behind = _behind(json, field)
    hidden = _replaced(_replaced(behind, _ESCAPED_BACKSLASH, "chr(1)"), _ESCAPED_QUOTE, "chr(2)")
    text = _to_quote(hidden)
    for letter, code in letters.items():
        text = _replaced(text, f"concat({_BACKSLASH}, '{letter}')", f"chr({code})")
    text = _replaced(_replaced(text, "chr(2)", quote), "chr(1)", backslash)
    # The usual case without escapes.
    plain = _to_quote(behind)
    return (
        f"CASE WHEN {_has(json, field)} THEN "
        f"CASE WHEN contains({plain}, {_BACKSLASH}) THEN {text} ELSE {plain} END END"
    )


def _replaced(text: str, part: str, by: str) -> str:
    return f"replace({text}, {part}, {by})"


def _to_quote(json: str) -> str:
    return f"""split_part({json}, '"', 2)"""


def _has(json: str, field: str) -> str:
    return f"""{json} LIKE '%"{field}":%'"""


def _behind(json: str, field: str) -> str:
    return f"""split_part({json}, '"{field}":', -1)"""


COMMITTED_AT = "least(commit_timestamp, updated_at)"
"""SQL for the time of a commit of the table offsets: the client may have given a later time."""

SURELY_LATER_SECONDS = 10
"""The least time from a commit to a sample that is certainly later: brokers stamp commits, samplers their own rounds."""


def is_offset(number: str) -> str:
    # kafkajs commits -1 and -2 in resets. A client that fetches such a number ignores it and uses auto.offset.reset.
    return f"{number} >= 0"


def offset_or_null(number: str) -> str:
    return f"CASE WHEN {is_offset(number)} THEN {number} END"


def is_ahead(offset: str, committed_at: str, end: str, sampled_at: str) -> str:
    """Return SQL for the condition that a log ends before a committed offset: it was cut, or its topic was created again."""
    # A sample that is not later than the commit proves nothing: the log may have grown since.
    return f"({offset} > {end} AND {committed_at} < {sampled_at} - INTERVAL '{SURELY_LATER_SECONDS}' SECOND)"


def in_datafusion(text: str) -> str:
    # Unlike in Spark's SQL, a backslash stands for itself.
    return "'" + text.replace("'", "''") + "'"


_LONGEST_LIST = 1_000


def is_one_of(column: str, texts: Collection[str]) -> str:
    """Return the condition that a column has one of these texts, in DataFusion's SQL. At least one text is needed.

    DataFusion needs stack for each text of a list: 30,000 end the process. Only lists and ranges are compared with the
    statistics of files.
    """
    if len(texts) <= _LONGEST_LIST:
        return f"{column} IN ({', '.join(map(in_datafusion, texts))})"
    first, last = in_datafusion(min(texts)), in_datafusion(max(texts))
    values = ", ".join(f"({in_datafusion(text)})" for text in texts)
    return f"{column} BETWEEN {first} AND {last} AND {column} IN (VALUES {values})"
