"""The expected bytes are those that kafka-console-consumer 4.3.1 prints for the same records."""

from __future__ import annotations

import click
import pytest

from group_coordinator.cli.consume.printing import Formatter
from tests.unit.cli.consume.records import record

RECORDS = [
    record(0, b"v1", b"k1", [("a", b"1"), ("b", b"2")]),
    record(1, b"v2"),
    record(2, None, b"k3", [("c", b"x")]),
    record(3, b"\xfe\n1", b"\xff\x00"),
]
JAVA = "org.apache.kafka.common.serialization."


def printed(*properties: str) -> bytes:
    given = dict(text.split("=", 1) for text in properties)
    formatter = Formatter(given)
    return b"".join(formatter.line(each) for each in RECORDS)


def test_values_alone_as_they_are() -> None:
    assert printed() == b"v1\nv2\nnull\n\xfe\n1\n"


def test_all_fields() -> None:
    names = ("timestamp", "key", "offset", "partition", "headers")

    assert printed(*(f"print.{name}=true" for name in names)) == (
        b"CreateTime:1700000000000\tPartition:0\tOffset:0\ta:1,b:2\tk1\tv1\n"
        b"CreateTime:1700000000000\tPartition:0\tOffset:1\tNO_HEADERS\tnull\tv2\n"
        b"CreateTime:1700000000000\tPartition:0\tOffset:2\tc:x\tk3\tnull\n"
        b"CreateTime:1700000000000\tPartition:0\tOffset:3\tNO_HEADERS\t\xff\x00\t\xfe\n1\n"
    )


def test_the_last_field_ends_the_line_whichever_it_is() -> None:
    assert printed("print.key=true", "print.value=false", "print.offset=true") == (
        b"Offset:0\tk1\nOffset:1\tnull\nOffset:2\tk3\nOffset:3\t\xff\x00\n"
    )
    assert printed("print.value=false") == b""


def test_separators_and_what_stands_for_nothing() -> None:
    assert printed(
        "print.headers=true",
        "print.key=true",
        "key.separator=|",
        "line.separator=;",
        "headers.separator=/",
        "null.literal=NIL",
    ) == (b"a:1/b:2|k1|v1;NO_HEADERS|NIL|v2;c:x|k3|NIL;NO_HEADERS|\xff\x00|\xfe\n1;")


def test_texts() -> None:
    deserializers = [f"{part}.deserializer={JAVA}StringDeserializer" for part in ("key", "value")]

    assert printed(*deserializers, "print.key=true", "print.value=TRUE") == (
        b"k1\tv1\nnull\tv2\nk3\tnull\n\xef\xbf\xbd\x00\t\xef\xbf\xbd\n1\n"
    )


@pytest.mark.parametrize(
    ("kind", "content", "text"),
    [
        ("Short", b"\x01\x00", b"256"),
        ("Integer", b"\xff\xff\xff\xff", b"-1"),
        ("Long", b"\x00\x00\x00\x01\x00\x00\x00\x00", b"4294967296"),
        ("ByteArray", b"\x01", b"\x01"),
    ],
)
def test_numbers(kind: str, content: bytes, text: bytes) -> None:
    formatter = Formatter({"value.deserializer": f"{JAVA}{kind}Deserializer"})

    assert formatter.line(record(0, content)) == text + b"\n"


def test_bytes_that_are_no_number() -> None:
    formatter = Formatter({"value.deserializer": f"{JAVA}IntegerDeserializer"})

    with pytest.raises(ValueError, match="3 bytes are not a number of 4"):
        formatter.line(record(0, b"abc"))


def test_times_that_are_not_there() -> None:
    formatter = Formatter({"print.timestamp": "true"})

    assert formatter.line(record(0, timestamp_type=1)) == b"LogAppendTime:1700000000000\tv\n"
    assert formatter.line(record(0, timestamp=-1, timestamp_type=None)) == b"NO_TIMESTAMP\tv\n"


@pytest.mark.parametrize("epoch", [-1, 0, 7])
def test_epochs_and_deliveries_are_never_there(epoch: int) -> None:
    formatter = Formatter(
        dict.fromkeys(("print.epoch", "print.delivery", "print.offset", "print.headers"), "true")
    )

    assert formatter.line(record(3, leader_epoch=epoch)) == (
        b"Offset:3\tDelivery:NOT_PRESENT\tEpoch:NOT_PRESENT\tNO_HEADERS\tv\n"
    )


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("print.keys", "true", "print.keys is not a property of the formatter"),
        ("key.deserializer", "my.Deserializer", "is not a known deserializer"),
    ],
)
def test_what_is_not_known(name: str, value: str, told: str) -> None:
    with pytest.raises(click.UsageError, match=told):
        Formatter({name: value})
