"""Requests of kafka-python's protocol classes to any broker, for requests that its clients lack."""

from __future__ import annotations

from typing import Any

from kafka import KafkaAdminClient


def answer_of(admin: KafkaAdminClient, request: Any) -> Any:
    """Send the request; return the response, even with error codes.

    Raises:
        KafkaError: no broker responds, or no broker supports the version.
    """
    manager = admin._manager  # noqa: SLF001 - there is no public way to send a request
    return manager.run(manager.send, request)
