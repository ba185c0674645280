"""Headers of requests and responses."""

from __future__ import annotations

from group_coordinator.binary.notation import Message, int16, int32, string

HEADERS = (
    Message(
        "RequestHeader",
        range(1, 3),
        2,
        (
            int16("requestApiKey"),
            int16("requestApiVersion"),
            int32("correlationId"),
            string("clientId", nullable=True, compact=False),
        ),
    ),
    Message("ResponseHeader", range(2), 1, (int32("correlationId"),)),
)
