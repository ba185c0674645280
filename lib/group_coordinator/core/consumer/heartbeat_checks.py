"""The checks of a ConsumerGroupHeartbeat that do not depend on its group.

Source: throwIfConsumerGroupHeartbeatRequestIsInvalid in Kafka 4.4's GroupCoordinatorService.

Told in: stories/consumer/validating.py.
"""

from __future__ import annotations

from group_coordinator.core.java_text import java_trimmed
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.consumer_member import JOIN_EPOCH, LEFT_EPOCH, STATIC_LEFT_EPOCH
from group_coordinator.core.model.errors import CoordinatorError, ErrorCode
from group_coordinator.core.model.requests import ConsumerGroupHeartbeat

_CLIENTS_MAKE_IDS_SINCE = 1


def check_heartbeat(
    request: ConsumerGroupHeartbeat, version: int, config: CoordinatorConfig
) -> None:
    """Refuse a request that is invalid for every group; the first fault counts.

    Raises:
        CoordinatorError: INVALID_REQUEST, UNSUPPORTED_ASSIGNOR.
    """
    epoch = request.member_epoch
    needs_id = version >= _CLIENTS_MAKE_IDS_SINCE or epoch > 0 or epoch == LEFT_EPOCH
    _check_text("MemberId", request.member_id if needs_id else None)
    _check_text("GroupId", request.group_id)
    _check_text("InstanceId", request.group_instance_id)
    _check_text("RackId", request.rack_id)
    if epoch == JOIN_EPOCH:
        _check_join(request)
    elif epoch == STATIC_LEFT_EPOCH and request.group_instance_id is None:
        raise _invalid("InstanceId can't be null.")
    elif epoch < STATIC_LEFT_EPOCH:
        raise _invalid("MemberEpoch is invalid.")
    assignor = request.server_assignor
    if assignor is not None and assignor not in config.assignors:
        supported = ", ".join(config.assignors)
        raise CoordinatorError(
            ErrorCode.UNSUPPORTED_ASSIGNOR,
            f"ServerAssignor {assignor} is not supported. Supported assignors: {supported}.",
        )


def _check_join(request: ConsumerGroupHeartbeat) -> None:
    if request.rebalance_timeout_ms is None:
        raise _invalid("RebalanceTimeoutMs must be provided in first request.")
    if request.owned is None or request.owned:
        raise _invalid("TopicPartitions must be empty when (re-)joining.")
    if request.topic_names is None and request.topic_regex is None:
        raise _invalid(
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining."
        )


def _check_text(name: str, text: str | None) -> None:
    if text is not None and not java_trimmed(text):
        raise _invalid(f"{name} can't be empty.")


def _invalid(message: str) -> CoordinatorError:
    return CoordinatorError(ErrorCode.INVALID_REQUEST, message)
