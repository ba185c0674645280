"""Results of a request with several entries: each entry has its own error (KIP-229), or the response has an error of the whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from kafka import TopicPartition

from group_coordinator.clients.channel.channel import Body
from group_coordinator.clients.errors import ClientError, CoordinatorResponseError, error_for


def refusal(body: Body) -> CoordinatorResponseError | None:
    """The error of a whole answer; the answer to an unreadable event has no other field."""
    code = body.get("errorCode", 0)
    return error_for(code, body.get("errorMessage")) if code else None


def raise_refusal(body: Body) -> None:
    """Raise the error of a whole answer, if it has one."""
    error = refusal(body)
    if error is not None:
        raise error


Entry = TypeVar("Entry")
Answer = TypeVar("Answer")


@dataclass(frozen=True, eq=False)
class Results(Generic[Entry]):
    """One result an entry, in the order of the request; an entry that succeeded has no error."""

    errors: Mapping[Entry, ClientError | None]

    def __getitem__(self, entry: Entry) -> None:
        """Raise the entry's own error, if it has one; KeyError for an entry that was not in the request."""
        error = self.errors[entry]
        if error is not None:
            raise error

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.errors)

    def __len__(self) -> int:
        return len(self.errors)

    def all(self) -> None:
        """Raise the first error; return if every entry succeeded."""
        for error in self.errors.values():
            if error is not None:
                raise error


@dataclass(frozen=True, eq=False)
class GroupResults(Results[str]):
    """One result a group."""


@dataclass(frozen=True, eq=False)
class ResultsInGroup(Results[Entry]):
    """Results of parts of one group; an error of the whole group is the error of every part."""

    group_error: ClientError | None = None

    def __post_init__(self) -> None:
        if self.group_error is not None:
            object.__setattr__(self, "errors", dict.fromkeys(self.errors, self.group_error))

    def all(self) -> None:
        """Raise the group's error or the first part's; return if all succeeded."""
        if self.group_error is not None:
            raise self.group_error
        super().all()


@dataclass(frozen=True, eq=False)
class PartitionResults(ResultsInGroup[TopicPartition]):
    """One result a partition."""

    def partition_result(self, partition: TopicPartition) -> None:
        """Raise the partition's own error, if it has one."""
        self[partition]


@dataclass(frozen=True, eq=False)
class OffsetResets(PartitionResults):
    """One result a partition, and the offset that it was to have."""

    offsets: Mapping[TopicPartition, int] = field(default_factory=dict)


@dataclass(frozen=True)
class MemberToRemove:
    """A member by its member id, or a static one by its instance id alone; the two names are Kafka's."""

    member_id: str = ""
    group_instance_id: str | None = None


@dataclass(frozen=True, eq=False)
class MemberResults(ResultsInGroup[MemberToRemove]):
    """One result a member."""

    def member_result(self, member: MemberToRemove) -> None:
        """Raise the member's own error, if it has one."""
        self[member]


@dataclass(frozen=True, eq=False)
class GroupAnswers(Generic[Answer]):
    """One answer a group, or its error, in the order of the request."""

    answers: Mapping[str, Answer | ClientError]

    def __getitem__(self, group_id: str) -> Answer:
        """The group's answer, or raise its own error; KeyError for a group that was not in the request."""
        answer = self.answers[group_id]
        if isinstance(answer, ClientError):
            raise answer
        return answer

    def __iter__(self) -> Iterator[str]:
        return iter(self.answers)

    def __len__(self) -> int:
        return len(self.answers)

    def all(self) -> dict[str, Answer]:
        """Every group's answer, or raise the first error."""
        return {group_id: self[group_id] for group_id in self}
