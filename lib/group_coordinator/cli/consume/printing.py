"""Loop that prints records until a limit, a timeout without records, or a signal."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event
from typing import IO, NamedTuple

import click

from group_coordinator.cli.consume.formatter import Formatter
from group_coordinator.cli.consume.sources import RecordSource


@contextmanager
def standard_out() -> Iterator[IO[bytes]]:
    """Yield the bytes of standard output; a closed pipe ends the block, as it ends Kafka's tool."""
    out = sys.stdout.buffer
    try:
        yield out
    except BrokenPipeError:
        click.echo("Unable to write to standard out, closing consumer.", err=True)
        # Python writes the rest of the buffer at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class PrintingLimits(NamedTuple):
    """Limits of the output; None: no limit."""

    max_messages: int | None
    timeout_s: float | None
    skips_errors: bool


class Printing:
    """Prints and counts the records of a source."""

    def __init__(
        self,
        source: RecordSource,
        formatter: Formatter,
        limits: PrintingLimits,
        out: IO[bytes],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._source = source
        self._formatter = formatter
        self._limits = limits
        self._out = out
        self._clock = clock
        self.count = 0

    def run(self, stop: Event, most: int) -> None:
        """Print until `stop` or a limit, `most` records of one poll; then print their number. Raises ValueError: a record cannot be printed."""
        try:
            self._run(stop, most)
        finally:
            click.echo(f"Processed a total of {self.count} messages", err=True)

    def _run(self, stop: Event, most: int) -> None:
        heard_s = self._clock()
        while not stop.is_set() and (left := self._left(most)):
            records = self._source.poll(left)
            if records:
                heard_s = self._clock()
            elif self._is_silent_since(heard_s):
                return
            for record in records:
                self._print(record)
            # Flushed after each poll, so that a pipe sees the records at once.
            self._out.flush()

    def _is_silent_since(self, heard_s: float) -> bool:
        timeout_s = self._limits.timeout_s
        return timeout_s is not None and self._clock() - heard_s > timeout_s

    def _left(self, most: int) -> int:
        wanted = self._limits.max_messages
        return most if wanted is None else min(most, wanted - self.count)

    def _print(self, record: object) -> None:
        # As in Kafka's tool, skipped records count too.
        self.count += 1
        try:
            line = self._formatter.line(record)
        except ValueError as error:
            if not self._limits.skips_errors:
                raise
            click.echo(f"Error processing message, skipping this message: {error}", err=True)
        else:
            self._out.write(line)
        self._source.printed(record)
