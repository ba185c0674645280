"""A request to any broker as kafka-python's protocol classes have it, where its clients have no method that fits."""

from __future__ import annotations

from typing import Any

from kafka import KafkaAdminClient


def answer_of(admin: KafkaAdminClient, request: Any) -> Any:
    """The response, whatever errors are in it.

    Raises:
        KafkaError: no broker answers, or none has the version.
    """
    manager = admin._manager  # noqa: SLF001 - there is no public way to send a request
    return manager.run(manager.send, request)
