"""Why a group cannot be read from its snapshot."""

from __future__ import annotations


class SnapshotError(ValueError):
    """The bytes are no snapshot, or one of a version that is not known here."""


class SnapshotVersionError(SnapshotError):
    """A later version of this program wrote the bytes."""
