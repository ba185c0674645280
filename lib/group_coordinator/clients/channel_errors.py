"""What goes wrong between a client and the coordinator, or with what a client was asked to do."""

from __future__ import annotations


class ClientError(Exception):
    """Everything that the clients raise."""

    @property
    def kafka_text(self) -> str:
        """The error as Kafka's tools print it, with the Java class where Kafka has one."""
        return str(self)


class ChannelError(ClientError):
    """The request got no answer, so what became of it is not known."""


class BrokerUnreachableError(ChannelError):
    """No Kafka broker answers at the given address."""


class LoginRefusedError(ChannelError):
    """The Kafka cluster does not let this user in."""


class AccessDeniedError(ChannelError):
    """The Kafka cluster does not let this user do it: an ACL is missing."""


class TopicMissingError(ChannelError):
    """The events or the responses topic does not exist."""


class ChannelClosedError(ChannelError):
    """The channel was closed, or broke, before the answer came."""


class RequestTimedOutError(ChannelError):
    """No answer came in time."""


class TablesUnavailableError(ClientError):
    """The Delta tables are not there, or cannot be read from here."""


class NotAConsumerGroupError(ClientError):
    """The group belongs to another kind of client, such as Kafka Connect."""
