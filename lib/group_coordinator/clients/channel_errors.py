"""Errors of requests without a response: no broker, no access, no topic, or no time."""

from __future__ import annotations

from group_coordinator.clients.errors import ClientError


class ChannelError(ClientError):
    """The response is missing, so the effect of the request is unknown."""


class BrokerUnreachableError(ChannelError):
    """No Kafka broker answers at the given address."""


class LoginRefusedError(ChannelError):
    """The Kafka cluster rejects the login of this user."""


class AccessDeniedError(ChannelError):
    """The Kafka cluster denies this user the operation: an ACL is missing."""


class TopicMissingError(ChannelError):
    """The events or the responses topic does not exist, or this user may not see it."""

    def __init__(self, topic: str) -> None:
        super().__init__(
            f"topic {topic} does not exist, or this user may not see it: run `group-coordinator init`, or give the user DESCRIBE on the topic; "
            "gateways hide it: give the brokers' own addresses"
        )


class ChannelClosedError(ChannelError):
    """The channel was closed, or broke, before the response arrived."""


class RequestTimedOutError(ChannelError):
    """The response did not arrive in time."""
