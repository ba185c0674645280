"""Group states: a group as bytes in the state store."""

from __future__ import annotations

from group_coordinator.codecs.snapshots.consumer import SnapshotError, SnapshotVersionError
from group_coordinator.codecs.snapshots.snapshot import SCHEMA_VERSION, UPCASTERS, dump, load

__all__ = ["SCHEMA_VERSION", "UPCASTERS", "SnapshotError", "SnapshotVersionError", "dump", "load"]
