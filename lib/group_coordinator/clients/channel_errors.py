"""Why a request got no answer: no broker, no access, no topic, or no time."""

from __future__ import annotations

from group_coordinator.clients.errors import ClientError


class ChannelError(ClientError):
    """There is no answer, so whether the request was carried out is not known."""


class BrokerUnreachableError(ChannelError):
    """No Kafka broker answers at the given address."""


class LoginRefusedError(ChannelError):
    """The Kafka cluster does not let this user in."""


class AccessDeniedError(ChannelError):
    """The Kafka cluster does not let this user do it: an ACL is missing."""


class TopicMissingError(ChannelError):
    """The events or the responses topic does not exist, or this user may not see it."""

    def __init__(self, topic: str) -> None:
        super().__init__(
            f"topic {topic} does not exist, or this user may not see it: run `group-coordinator init`, or give the user DESCRIBE on the topic; "
            "gateways hide it: give the brokers' own addresses"
        )


class ChannelClosedError(ChannelError):
    """The channel was closed, or broke, before the answer came."""


class RequestTimedOutError(ChannelError):
    """No answer came in time."""
