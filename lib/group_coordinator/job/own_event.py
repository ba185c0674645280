"""What the job itself writes to the events topic, for groups."""

from __future__ import annotations

from msgspec import Struct, json

from group_coordinator.core.acls.rule import THE_JOB


def own_event(api: str, body: Struct) -> bytes:
    """An event of the job's own, which nobody waits for an answer to."""
    envelope = {"api": api, "version": 0, "correlationId": None, "principal": THE_JOB, "body": body}
    return json.encode(envelope)
