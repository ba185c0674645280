"""Results of a request with several entries: each entry has its own error (KIP-229), or the whole response has an error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from kafka import TopicPartition

from group_coordinator.clients.errors import ClientError

Entry = TypeVar("Entry")
Answer = TypeVar("Answer")


@dataclass(frozen=True, eq=False)
class Results(Generic[Entry]):
    """Result of each entry, in the order of the request; a successful entry has no error."""

    errors: Mapping[Entry, ClientError | None]

    def __getitem__(self, entry: Entry) -> None:
        """Raise the entry's own error, if there is an error; KeyError for an entry that was not in the request."""
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
    """Result of each group in a request."""


@dataclass(frozen=True, eq=False)
class ResultsInGroup(Results[Entry]):
    """Results of parts of a group; an error of the whole group is the error of every part."""

    group_error: ClientError | None = None

    def __post_init__(self) -> None:
        if self.group_error is not None:
            # The dataclass is frozen.
            object.__setattr__(self, "errors", dict.fromkeys(self.errors, self.group_error))

    def all(self) -> None:
        """Raise the group's error or the first part's; return if all succeeded."""
        if self.group_error is not None:
            raise self.group_error
        super().all()


@dataclass(frozen=True, eq=False)
class PartitionResults(ResultsInGroup[TopicPartition]):
    """Result of each partition in a request."""

    def partition_result(self, partition: TopicPartition) -> None:
        """Raise the partition's own error, if there is an error."""
        self[partition]


@dataclass(frozen=True, eq=False)
class OffsetResets(PartitionResults):
    """Result of each partition, and its planned offset."""

    offsets: Mapping[TopicPartition, int] = field(default_factory=dict)


@dataclass(frozen=True)
class MemberToRemove:
    """Member by its member id, or a static member by its instance id alone; the two names are Kafka's."""

    member_id: str = ""
    group_instance_id: str | None = None


@dataclass(frozen=True, eq=False)
class MemberResults(ResultsInGroup[MemberToRemove]):
    """Result of each member in a request."""

    def member_result(self, member: MemberToRemove) -> None:
        """Raise the member's own error, if there is an error."""
        self[member]


@dataclass(frozen=True, eq=False)
class GroupResponses(Generic[Answer]):
    """Response or error of each group, in the order of the request."""

    answers: Mapping[str, Answer | ClientError]

    def __getitem__(self, group_id: str) -> Answer:
        """Return the group's response, or raise its error; KeyError for a group that was not in the request."""
        response = self.answers[group_id]
        if isinstance(response, ClientError):
            raise response
        return response

    def __iter__(self) -> Iterator[str]:
        return iter(self.answers)

    def __len__(self) -> int:
        return len(self.answers)

    def all(self) -> dict[str, Answer]:
        """Return every group's response, or raise the first error."""
        return {group_id: self[group_id] for group_id in self}
