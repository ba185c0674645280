"""The outcome of a request to GroupDriver: records, responses and denials."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

from group_coordinator.core.acls.rights import Denial
from group_coordinator.core.model import responses
from group_coordinator.core.model.records import Record

R_co = TypeVar("R_co", bound=responses.Response, covariant=True)


class NotAnsweredError(LookupError):
    """The request is pending: its response needs other members, or time."""


@dataclass(frozen=True)
class Outcome(Generic[R_co]):
    """The effects of a request, or of time that passed.

    `responses` has the responses by correlation id, also those to earlier pending requests.
    """

    correlation_id: str
    records: tuple[Record, ...]
    responses: Mapping[str, responses.Response]
    denials: tuple[Denial, ...] = ()
    """The missing rights of the sender."""

    @property
    def response(self) -> R_co:
        """The response to the request itself.

        Raises:
            NotAnsweredError: the request is pending. GroupDriver.response_to has its response later.
        """
        if self.correlation_id not in self.responses:
            raise NotAnsweredError(self.correlation_id)
        return cast("R_co", self.responses[self.correlation_id])

    @property
    def is_parked(self) -> bool:
        """True if the request has no response yet."""
        return self.correlation_id not in self.responses
