"""Results of a request with several entries: each entry has its own error (KIP-229, KIP-496)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

from kafka import TopicPartition

from group_coordinator.clients.errors import ClientError

Entry = TypeVar("Entry")


class Results(Generic[Entry]):
    """One result an entry, in the order of the request; an entry that succeeded has no error."""

    def __init__(self, errors: Mapping[Entry, ClientError | None]) -> None:
        self.errors = dict(errors)

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


class GroupResults(Results[str]):
    """One result a group."""


class PartitionResults(Results[TopicPartition]):
    """One result a partition; an error of the whole group is the error of every partition."""

    def __init__(
        self,
        errors: Mapping[TopicPartition, ClientError | None],
        group_error: ClientError | None = None,
    ) -> None:
        super().__init__(dict.fromkeys(errors, group_error) if group_error else errors)
        self.group_error = group_error

    def partition_result(self, partition: TopicPartition) -> None:
        """Raise the partition's own error, if it has one."""
        self[partition]

    def all(self) -> None:
        """Raise the group's error or the first partition's; return if all succeeded."""
        if self.group_error is not None:
            raise self.group_error
        super().all()
