"""Errors of the clients: requests without a response, tables, and Kafka's errors in responses, by name and number.

The classes of Kafka's errors are named as in kafka-python; each docstring is Kafka's own message.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from group_coordinator.core.model.errors import ErrorCode


class ClientError(Exception):
    """Base of all errors of the clients."""

    @property
    def kafka_text(self) -> str:
        """Text of the error as Kafka's tools print it, with the Java class if it exists."""
        return str(self)


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
            f"topic {topic} does not exist, or this user may not see it: run `group-coordinator init`, or give the "
            "user DESCRIBE on the topic; a gateway hides the topic: connect to the brokers themselves"
        )


class ChannelClosedError(ChannelError):
    """The channel was closed, or broke, before the response arrived."""


class RequestTimedOutError(ChannelError):
    """The response did not arrive in time."""


class TablesUnavailableError(ClientError):
    """The Delta tables do not exist, or cannot be read from here."""


class QueryError(ClientError):
    """The SQL is wrong, or names a table or column that does not exist."""


class NothingToShiftError(ClientError):
    """A partition without a committed offset cannot be shifted."""


class NotRestorableError(ClientError):
    """Offsets cannot be restored: the cluster is unknown, or a group has members."""


class NotAConsumerGroupError(ClientError):
    """The group belongs to another kind of client, such as Kafka Connect."""


class CoordinatorResponseError(ClientError):
    """The coordinator refused the request, or one entry of it, with one of Kafka's errors."""

    code: int
    exception_name: ClassVar[str]
    """Java class name of the same error."""
    by_code: ClassVar[dict[int, type[CoordinatorResponseError]]] = {}

    def __init_subclass__(cls, code: int | None = None, java: str | None = None) -> None:
        # Most names are Kafka's own: NotCoordinatorError is NOT_COORDINATOR, and NotCoordinatorException in Java.
        name = cls.__name__.removesuffix("Error")
        kafka_name = re.sub("(?<=.)(?=[A-Z])", "_", name).upper()
        cls.code = ErrorCode[kafka_name] if code is None else code
        java = java or name.removesuffix("Failed") + "Exception"
        cls.exception_name = f"org.apache.kafka.common.errors.{java}"
        # Each class registers itself, so the table needs no second list.
        cls.by_code[cls.code] = cls

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or self.__doc__ or ErrorCode(self.code).name)

    @property
    def kafka_text(self) -> str:
        """Text with Java class and message."""
        return f"{self.exception_name}: {self}"

    @property
    def code_name(self) -> str:
        """Name of the error code in Kafka's table."""
        return ErrorCode(self.code).name if self.code in self.by_code else f"error {self.code}"


class UnknownError(
    CoordinatorResponseError, code=ErrorCode.UNKNOWN_SERVER_ERROR, java="UnknownServerException"
):
    """The server experienced an unexpected error when processing the request."""


def error_for(code: int, message: str | None = None) -> CoordinatorResponseError:
    """Error of a code; an unknown code gives an UnknownError with that code."""
    known = CoordinatorResponseError.by_code.get(code)
    if known is not None:
        return known(message)
    unknown = UnknownError(
        message or f"The server answered with an error that this client does not know: {code}."
    )
    unknown.code = code
    return unknown


def error_in(body: Mapping[str, Any]) -> CoordinatorResponseError | None:
    """Error of a whole response; the response to an unreadable event has no other field."""
    code = body.get("errorCode", 0)
    return error_for(code, body.get("errorMessage")) if code else None


class UnknownTopicOrPartitionError(CoordinatorResponseError):
    """This server does not host this topic-partition."""


class MessageSizeTooLargeError(
    CoordinatorResponseError, code=ErrorCode.MESSAGE_TOO_LARGE, java="RecordTooLargeException"
):
    """The request included a message larger than the max message size the server will accept."""


class OffsetMetadataTooLargeError(CoordinatorResponseError, java="OffsetMetadataTooLarge"):
    """The metadata field of the offset request was too large."""


class CoordinatorLoadInProgressError(CoordinatorResponseError):
    """The coordinator is loading and hence can't process requests."""


class CoordinatorNotAvailableError(CoordinatorResponseError):
    """The coordinator is not available."""


class NotCoordinatorError(CoordinatorResponseError):
    """This is not the correct coordinator."""


class IllegalGenerationError(CoordinatorResponseError):
    """Specified group generation id is not valid."""


class InconsistentGroupProtocolError(CoordinatorResponseError):
    """The group member's supported protocols are incompatible with those of existing members or first group member tried to join with empty protocol type or empty protocol list."""


class InvalidGroupIdError(CoordinatorResponseError):
    """The group id is invalid."""


class UnknownMemberIdError(CoordinatorResponseError):
    """The coordinator is not aware of this member."""


class InvalidSessionTimeoutError(CoordinatorResponseError):
    """The session timeout is not within the range allowed by the broker (as configured by group.min.session.timeout.ms and group.max.session.timeout.ms)."""


class RebalanceInProgressError(CoordinatorResponseError):
    """The group is rebalancing, so a rejoin is needed."""


class InvalidCommitOffsetSizeError(CoordinatorResponseError):
    """The committing offset data size is not valid."""


class TopicAuthorizationFailedError(CoordinatorResponseError):
    """Topic authorization failed."""


class GroupAuthorizationFailedError(CoordinatorResponseError):
    """Group authorization failed."""


class ClusterAuthorizationFailedError(CoordinatorResponseError):
    """Cluster authorization failed."""


class UnsupportedVersionError(CoordinatorResponseError):
    """The version of API is not supported."""


class InvalidConfigurationError(CoordinatorResponseError, code=ErrorCode.INVALID_CONFIG):
    """Configuration is invalid."""


class InvalidRequestError(CoordinatorResponseError):
    """This most likely occurs because of a request being malformed by the client library or the message was sent to an incompatible broker. See the broker logs for more details."""


class InvalidProducerEpochError(CoordinatorResponseError):
    """Producer attempted to produce with an old epoch."""


class InvalidTxnStateError(CoordinatorResponseError):
    """The producer attempted a transactional operation in an invalid state."""


class InvalidProducerIdMappingError(CoordinatorResponseError, java="InvalidPidMappingException"):
    """The producer attempted to use a producer id which is not currently assigned to its transactional id."""


class TransactionalIdAuthorizationFailedError(CoordinatorResponseError):
    """Transactional Id authorization failed."""


class NonEmptyGroupError(CoordinatorResponseError, java="GroupNotEmptyException"):
    """The group is not empty."""


class GroupIdNotFoundError(CoordinatorResponseError):
    """The group id does not exist."""


class MemberIdRequiredError(CoordinatorResponseError):
    """The group member needs to have a valid member id before actually entering a consumer group."""


class GroupMaxSizeReachedError(CoordinatorResponseError):
    """The group has reached its maximum size."""


class FencedInstanceIdError(CoordinatorResponseError):
    """The broker rejected this static consumer since another consumer with the same group.instance.id has registered with a different member.id."""


class GroupSubscribedToTopicError(CoordinatorResponseError):
    """Deleting offsets of a topic is forbidden while the consumer group is actively subscribed to it."""


class UnstableOffsetCommitError(CoordinatorResponseError):
    """There are unstable offsets that need to be cleared."""


class UnknownTopicIdError(CoordinatorResponseError):
    """This server does not host this topic ID."""


class FencedMemberEpochError(CoordinatorResponseError):
    """The member epoch is fenced by the group coordinator. The member must abandon all its partitions and rejoin."""


class UnreleasedInstanceIdError(CoordinatorResponseError):
    """The instance ID is still used by another member in the consumer group. That member must leave first."""


class UnsupportedAssignorError(CoordinatorResponseError):
    """The assignor or its version range is not supported by the consumer group."""


class StaleMemberEpochError(CoordinatorResponseError):
    """The member epoch is stale. The member must retry after receiving its updated member epoch via the ConsumerGroupHeartbeat API."""


class TransactionAbortableError(CoordinatorResponseError):
    """The server encountered an error with the transaction. The client can abort the transaction to continue using this transactional ID."""


class InvalidRegularExpressionError(CoordinatorResponseError, java="InvalidRegularExpression"):
    """The regular expression is not valid."""
