from __future__ import annotations

from collections.abc import Iterable
from io import BytesIO
from threading import Event

import pytest

from group_coordinator.cli.consume.printing import Formatter, Printing, PrintingLimits
from group_coordinator.cli.consume.sources import Record
from tests.unit.cli.consume.records import record

FOR_EVER = PrintingLimits(None, None, skips_errors=False)


class Source:
    """Each poll takes a tenth of a second and gives one part of the records; then a signal comes, or silence."""

    def __init__(self, *parts: Iterable[Record], stop: Event | None = None) -> None:
        self._parts = list(parts)
        self._stop = stop
        self.now_s = 0.0
        self.asked: list[int] = []
        self.done: list[int] = []

    def clock(self) -> float:
        return self.now_s

    def poll(self, most: int) -> list[Record]:
        self.asked.append(most)
        self.now_s += 0.1
        if self._parts:
            return [*self._parts.pop(0)][:most]
        if self._stop is not None:
            self._stop.set()
        return []

    def printed(self, record: Record) -> None:
        self.done.append(record.offset)

    def close(self) -> None:
        pass


def printed(
    source: Source, limits: PrintingLimits, stop: Event | None = None, **properties: str
) -> tuple[int, bytes]:
    out = BytesIO()
    given = {name.replace("_", "."): value for name, value in properties.items()}
    printing = Printing(source, Formatter(given), limits, out, source.clock)
    printing.run(stop or Event(), most=500)
    return printing.count, out.getvalue()


def records(*offsets: int) -> list[Record]:
    return [record(offset, b"%d" % offset) for offset in offsets]


def test_until_a_signal(capsys: pytest.CaptureFixture[str]) -> None:
    stop = Event()
    source = Source(records(0, 1), [], records(2), stop=stop)

    assert printed(source, FOR_EVER, stop) == (3, b"0\n1\n2\n")
    assert source.done == [0, 1, 2]
    assert capsys.readouterr().err == "Processed a total of 3 messages\n"


def test_no_more_than_wanted_are_taken() -> None:
    source = Source(records(0, 1), records(2, 3, 4))

    assert printed(source, FOR_EVER._replace(max_messages=3)) == (3, b"0\n1\n2\n")
    assert source.asked == [3, 1]
    assert printed(Source(), FOR_EVER._replace(max_messages=0)) == (0, b"")


def test_silence_ends_it_and_a_record_breaks_the_silence() -> None:
    source = Source([], [], records(0), [], [], records(1))

    assert printed(source, FOR_EVER._replace(timeout_s=0.25)) == (2, b"0\n1\n")
    assert len(source.asked) == 6 + 3


def test_a_record_without_a_text_ends_it_or_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    bad = [record(0, b"\0\1"), record(1, b"?"), record(2, b"\0\2")]
    kind = {"value_deserializer": "org.apache.kafka.common.serialization.ShortDeserializer"}

    limits = FOR_EVER._replace(timeout_s=0.0)
    assert printed(Source(bad), limits._replace(skips_errors=True), **kind) == (3, b"1\n2\n")
    assert capsys.readouterr().err.startswith("Error processing message, skipping this message: 1")

    source = Source(bad)
    with pytest.raises(ValueError, match="1 bytes are not a number of 2"):
        printed(source, limits, **kind)
    assert source.done == [0]
    assert capsys.readouterr().err == "Processed a total of 2 messages\n"
