"""Standard output as bytes, which whoever reads it may close."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import click


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
