"""Formatter of records, like the DefaultMessageFormatter of kafka-console-consumer, and the topics of a subscription."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import click

from group_coordinator.clients.cluster.cluster import Cluster

_TEXTS = {
    "key.separator": "\t",
    "line.separator": "\n",
    "headers.separator": ",",
    "null.literal": "null",
}
_FIELDS = ("timestamp", "partition", "offset", "delivery", "epoch", "headers", "key", "value")
"""Fields in the order of the output."""
_DESERIALIZED = ("key.deserializer", "value.deserializer", "headers.deserializer")
_KNOWN = (*(f"print.{field}" for field in _FIELDS), *_TEXTS, *_DESERIALIZED)
_JAVA_PACKAGE = "org.apache.kafka.common.serialization."
_NUMBERS = {"ShortDeserializer": ">h", "IntegerDeserializer": ">i", "LongDeserializer": ">q"}
_TIMESTAMP_TYPES = {0: b"CreateTime:%d", 1: b"LogAppendTime:%d"}

Deserializer = Callable[[bytes], bytes]
Record = Any
"""Record class of kafka-python."""


class Formatter:
    """Formats records by the properties print.key, key.separator and so on. Raises click.UsageError: a property is unknown."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        for name in properties.keys() - set(_KNOWN):
            raise click.UsageError(
                f"{name} is not a property of the formatter: give one of {', '.join(_KNOWN)}"
            )
        given = {**_TEXTS, "print.value": "true", **properties}
        self._between, self._end, self._between_headers, self._null = (
            given[name].encode() for name in _TEXTS
        )
        self._key, self._value, self._header = (
            _deserializer(given.get(name, "")) for name in _DESERIALIZED
        )
        printers: Mapping[str, Callable[[Record], bytes]] = {
            "timestamp": _timestamp,
            "partition": lambda record: b"Partition:%d" % record.partition,
            "offset": lambda record: b"Offset:%d" % record.offset,
            # kafka-console-consumer passes its formatter a copy of the record without these two fields.
            "delivery": lambda _: b"Delivery:NOT_PRESENT",
            "epoch": lambda _: b"Epoch:NOT_PRESENT",
            "headers": self._headers,
            "key": lambda record: self._content(record.key, self._key),
            "value": lambda record: self._content(record.value, self._value),
        }
        self._printers = [
            printers[field]
            for field in _FIELDS
            # As Java's Boolean.parseBoolean: all other words are false.
            if given.get(f"print.{field}", "").strip().casefold() == "true"
        ]

    def line(self, record: Record) -> bytes:
        """Line of the record, with a separator between its fields and at its end; empty without fields.

        ValueError: the deserializer cannot read the bytes.
        """
        fields = [print_field(record) for print_field in self._printers]
        return self._between.join(fields) + self._end if fields else b""

    def _headers(self, record: Record) -> bytes:
        headers = [
            name.encode() + b":" + self._content(value, self._header)
            for name, value in record.headers
        ]
        return self._between_headers.join(headers) or b"NO_HEADERS"

    def _content(self, content: bytes | None, deserializer: Deserializer) -> bytes:
        return self._null if content is None else deserializer(content)


def _timestamp(record: Record) -> bytes:
    text = _TIMESTAMP_TYPES.get(record.timestamp_type)
    return b"NO_TIMESTAMP" if text is None else text % record.timestamp


def _deserializer(java_class: str) -> Deserializer:
    name = java_class.strip().removeprefix(_JAVA_PACKAGE)
    if name in {"", "ByteArrayDeserializer"}:
        return bytes
    if name == "StringDeserializer":
        # Java replaces invalid UTF-8 too.
        return lambda content: content.decode(errors="replace").encode()
    if name in _NUMBERS:
        number = struct.Struct(_NUMBERS[name])
        return lambda content: _number(number, content)
    known = ", ".join(["ByteArrayDeserializer", "StringDeserializer", *_NUMBERS])
    raise click.UsageError(f"{java_class} is not a known deserializer: give one of {known}")


def _number(number: struct.Struct, content: bytes) -> bytes:
    if len(content) != number.size:
        raise ValueError(f"{len(content)} bytes are not a number of {number.size} bytes")
    [value] = number.unpack(content)
    return b"%d" % value


INTERNAL = frozenset({"__consumer_offsets", "__share_group_state", "__transaction_state"})
"""Kafka's internal topics, which no pattern matches (exclude.internal.topics)."""
_SOON_S = 1.0
"""Interval of requests for a topic that does not exist yet."""


class Topics:
    """Topics of the cluster, read at intervals: the topic, or all topics whose whole name matches the pattern.

    A missing topic is awaited, and never created.
    """

    def __init__(
        self,
        cluster: Cluster,
        topic: str | None,
        include: re.Pattern[str] | None,
        max_age_s: float,
        clock: Callable[[], float],
    ) -> None:
        self._cluster = cluster
        self._topic = topic
        self._include = include
        self._max_age_s = max_age_s
        self._clock = clock
        self._due_s = clock()
        self.ids: dict[str, str] = {}
        """Topic ids by name; entries are only added, as members of the consumer protocol need them."""
        self.names: frozenset[str] = frozenset()

    def look(self) -> bool:
        """Ask again after the interval; return True if the topics have changed. ChannelErrors are those of the cluster."""
        if self._clock() < self._due_s:
            return False
        found = self._cluster.topic_ids(None if self._topic is None else [self._topic])
        names = frozenset(filter(self._is_wanted, found))
        # The member holds the same dict.
        self.ids |= {name: found[name] for name in names}
        self._due_s = self._clock() + (self._max_age_s if names else min(_SOON_S, self._max_age_s))
        before, self.names = self.names, names
        return names != before

    def _is_wanted(self, name: str) -> bool:
        if self._include is None:
            return name == self._topic
        return name not in INTERNAL and self._include.fullmatch(name) is not None


class PartitionCounts(Mapping[str, int]):
    """Partition counts for the leader of a classic group, read at each use: other members may read other topics."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def __getitem__(self, topic: str) -> int:
        return self._cluster.partition_counts([topic])[topic]

    def __iter__(self) -> Iterator[str]:
        return iter(self._cluster.topic_ids())

    def __len__(self) -> int:
        return len(self._cluster.topic_ids())
