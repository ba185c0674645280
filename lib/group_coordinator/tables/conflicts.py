"""What a commit raises where another process came first and changed what it has read, or replaces."""

from __future__ import annotations

from typing import Final

from delta import exceptions
from deltalake.exceptions import CommitFailedError

CONFLICTS: Final[tuple[type[Exception], ...]] = (
    CommitFailedError,
    # In Python none of these is a subclass of the first one, as they are in Java.
    exceptions.DeltaConcurrentModificationException,
    exceptions.ConcurrentAppendException,
    exceptions.ConcurrentDeleteDeleteException,
    exceptions.ConcurrentDeleteReadException,
    exceptions.ConcurrentTransactionException,
    exceptions.ConcurrentWriteException,
    exceptions.MetadataChangedException,
    exceptions.ProtocolChangedException,
)
"""Of the deltalake package, and of Spark."""
