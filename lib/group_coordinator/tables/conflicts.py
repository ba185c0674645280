"""Errors of a commit after another process has changed files that it read or replaces."""

from __future__ import annotations

from typing import Final

from delta import exceptions
from deltalake.exceptions import CommitFailedError

CONFLICTS: Final[tuple[type[Exception], ...]] = (
    CommitFailedError,
    # In Python these are no subclasses of the first, as they are in Java.
    exceptions.DeltaConcurrentModificationException,
    exceptions.ConcurrentAppendException,
    exceptions.ConcurrentDeleteDeleteException,
    exceptions.ConcurrentDeleteReadException,
    exceptions.ConcurrentTransactionException,
    exceptions.ConcurrentWriteException,
    exceptions.MetadataChangedException,
    exceptions.ProtocolChangedException,
)
"""Errors of the deltalake package, and of Spark."""
