"""The outcome of a request to GroupDriver, and requests of the consumer protocol (KIP-848) with the epochs that a client keeps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar, cast

from group_coordinator.core.acls import Denial
from group_coordinator.core.model import requests, responses
from group_coordinator.core.model.records import Record

R_co = TypeVar("R_co", bound=responses.Response, covariant=True)


class NotAnsweredError(LookupError):
    """The request is pending: its response needs other members, or time."""


@dataclass(frozen=True)
class Outcome(Generic[R_co]):
    """The effects of a request, or of time; `responses` has also those to earlier pending requests, by correlation id."""

    correlation_id: str
    records: tuple[Record, ...]
    responses: Mapping[str, responses.Response]
    denials: tuple[Denial, ...] = ()
    """The missing rights of the sender."""

    @property
    def response(self) -> R_co:
        """The response to the request itself. Raises NotAnsweredError if it is pending: see GroupDriver.response_to."""
        if self.correlation_id not in self.responses:
            raise NotAnsweredError(self.correlation_id)
        return cast("R_co", self.responses[self.correlation_id])

    @property
    def is_parked(self) -> bool:
        """True if the request has no response yet."""
        return self.correlation_id not in self.responses


class SendsRequests(Protocol):
    """The receiver of the requests: GroupDriver."""

    def send(self, request: requests.Request, version: int) -> Any:
        """Send a request and return its outcome."""


class ConsumerVerbs:
    """Members by id. Each member sends its requests with the epoch of its last response."""

    def __init__(self, driver: SendsRequests, group_id: str) -> None:
        self._driver = driver
        self._group_id = group_id
        self.epochs: dict[str, int] = {}
        """The member epoch of each member's last response, by member id."""
        self._instance_ids: dict[str, str | None] = {}

    def join(
        self,
        member_id: str,
        topics: Iterable[str] | None = None,
        /,
        *,
        instance_id: str | None = None,
        version: int = 1,
        **fields: Any,
    ) -> Any:
        """Join, or join again. `fields` override fields of the request, such as topic_regex."""
        self._instance_ids[member_id] = instance_id
        names = None if topics is None else tuple(topics)
        usual = {"topic_names": names, "rebalance_timeout_ms": 60_000, "owned": ()}
        return self._send(member_id, 0, version, **usual | fields)

    def beat(
        self,
        member_id: str,
        owned: Mapping[str, Sequence[int]] | None = None,
        *,
        epoch: int | None = None,
        **fields: Any,
    ) -> Any:
        """Send a heartbeat with the member's epoch, or with another epoch. `owned` has the partitions that the member reports."""
        if owned is not None:
            fields["owned"] = _by_id(owned)
        return self._send(member_id, self.epochs[member_id] if epoch is None else epoch, **fields)

    def leave(self, member_id: str, *, for_a_while: bool = False) -> Any:
        """Leave for good. A static member may leave temporarily instead."""
        return self._send(member_id, -2 if for_a_while else -1)

    def describe(self, version: int = 1) -> Any:
        """Describe the group by ConsumerGroupDescribe."""
        return self._driver.send(requests.ConsumerGroupDescribe(self._group_id), version)

    def _send(self, member_id: str, epoch: int, version: int = 1, /, **fields: Any) -> Any:
        # Absent fields are None: a heartbeat has only the fields that changed.
        instance_id = self._instance_ids.get(member_id)
        request = requests.ConsumerGroupHeartbeat(
            group_id=self._group_id,
            member_id=member_id,
            member_epoch=epoch,
            group_instance_id=instance_id,
            rack_id=None,
            rebalance_timeout_ms=None,
            topic_names=None,
            topic_regex=None,
            server_assignor=None,
            owned=None,
        )
        outcome = self._driver.send(request.replace(**fields), version)
        response = outcome.response
        # An error response has no epoch to remember.
        if not response.error and response.member_id is not None:
            self.epochs[response.member_id] = response.member_epoch
        return outcome


def _by_id(owned: Mapping[str, Sequence[int]]) -> tuple[requests.TopicPartitions, ...]:
    return tuple(
        requests.TopicPartitions(None, topic_id, tuple(partitions))
        for topic_id, partitions in owned.items()
    )
