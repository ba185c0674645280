"""The loop that prints records until enough are printed, none has come for a while, or a signal arrives."""

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
from group_coordinator.cli.consume.sources import Source


@contextmanager
def standard_out() -> Iterator[IO[bytes]]:
    """Give the bytes of standard output; that the reader is gone ends the block, as it ends Kafka's tool."""
    out = sys.stdout.buffer
    try:
        yield out
    except BrokenPipeError:
        click.echo("Unable to write to standard out, closing consumer.", err=True)
        # What is left in the buffer is written when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class Limits(NamedTuple):
    """When to end without being told; None: never."""

    max_messages: int | None
    timeout_s: float | None
    """Without a record."""
    skips_errors: bool
    """Whether a record that cannot be printed is left out."""


class Printing:
    """Prints what a source gives, and counts."""

    def __init__(
        self,
        source: Source,
        formatter: Formatter,
        limits: Limits,
        out: IO[bytes],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._source = source
        self._formatter = formatter
        self._limits = limits
        self._out = out
        self._clock = clock
        self.count = 0
        """Of the records that were printed."""

    def run(self, stop: Event, most: int) -> None:
        """Print until it is over, and say how many.

        Args:
            stop: ends it.
            most: how many records are taken at once.

        Raises:
            ValueError: a record cannot be printed.
        """
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
            self._out.flush()

    def _is_silent_since(self, heard_s: float) -> bool:
        timeout_s = self._limits.timeout_s
        return timeout_s is not None and self._clock() - heard_s > timeout_s

    def _left(self, most: int) -> int:
        wanted = self._limits.max_messages
        return most if wanted is None else min(most, wanted - self.count)

    def _print(self, record: object) -> None:
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
