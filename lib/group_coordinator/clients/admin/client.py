"""The administrator's client: list, describe and delete groups; list, alter and delete their offsets."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

from kafka import OffsetAndMetadata, TopicPartition

from group_coordinator import settings
from group_coordinator.clients import offset_messages, sql_tables
from group_coordinator.clients.admin import messages
from group_coordinator.clients.admin.consumer_descriptions import (
    consumer_description,
    describe_consumer_group,
)
from group_coordinator.clients.admin.descriptions import GroupDescription, GroupListing
from group_coordinator.clients.channel.channel import RequestChannel
from group_coordinator.clients.channel.request import Body, Request
from group_coordinator.clients.channel_errors import ChannelError
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.errors import ClientError
from group_coordinator.clients.member_identity import MemberIdentity
from group_coordinator.clients.results import GroupResults, PartitionResults

CLIENT_ID = "group-coordinator-admin"


class AdminClient:
    """Asks the running job over Kafka; lists of groups come from the Delta tables.

    Arguments that are not given have the values of conf/coordinator.toml; `client_options` are kafka-python's own, for security.
    Without `cluster_id` the groups of all clusters in the tables are listed.
    It connects with the first request.
    """

    def __init__(  # noqa: PLR0913 - one a setting
        self,
        *,
        bootstrap_servers: str | Sequence[str] | None = None,
        events_topic: str | None = None,
        responses_topic: str | None = None,
        tables_root: str | None = None,
        cluster_id: str | None = None,
        request_timeout_ms: int | None = None,
        client_options: Mapping[str, Any] | None = None,
    ) -> None:
        if bootstrap_servers is not None and not isinstance(bootstrap_servers, str):
            bootstrap_servers = ",".join(bootstrap_servers)
        given: dict[str, Any] = {
            "bootstrap_servers": bootstrap_servers,
            "events_topic": events_topic,
            "responses_topic": responses_topic,
            "tables_root": tables_root,
            "request_timeout_ms": request_timeout_ms,
        }
        self._job = replace(
            settings.load().job,
            **{name: value for name, value in given.items() if value is not None},
        )
        self._cluster_id = cluster_id
        self._connection = Connection(self._job.bootstrap_servers, client_options or {})

    @property
    def events_topic(self) -> str:
        """The topic of the requests."""
        return self._job.events_topic

    def list_consumer_groups(
        self, states: Collection[str] | None = None, types: Collection[str] | None = None
    ) -> list[GroupListing]:
        """The groups in the tables, sorted by name; as of the last compaction.

        Args:
            states: only groups in these states, in any case; none or empty: all.
            types: only groups of these types (classic, consumer), in any case; none or empty: all.
        """
        listings = [
            GroupListing(
                row["group_id"], row["group_type"], row["state"], row["protocol_type"] or ""
            )
            for row in sql_tables.rows(
                self._job.tables_root,
                "SELECT cluster_id, group_id, group_type, state, protocol_type FROM groups ORDER BY group_id",
            )
            if self._cluster_id in {None, row["cluster_id"]}
        ]
        return [
            listing
            for listing in listings
            if listing.protocol_type in messages.CONSUMER_PROTOCOL_TYPES
            and _is_among(listing.state, states)
            and _is_among(listing.group_type, types)
        ]

    def describe_consumer_groups(self, group_ids: Collection[str]) -> dict[str, GroupDescription]:
        """State and members of each group; a group that does not exist has an `error`.

        Every group is described as a consumer group first; groups of another type are described as classic groups.

        Raises:
            ChannelError: there is no answer for a group.
        """
        asked = dict.fromkeys(group_ids)
        found = {
            group: consumer_description(group, body)
            for group, body in self._answers(describe_consumer_group, asked).items()
        }
        others = [group for group, description in found.items() if description is None]
        classic = {
            group: messages.description(group, body)
            for group, body in self._answers(messages.describe_group, others).items()
        }
        return {group: description or classic[group] for group, description in found.items()}

    def delete_consumer_groups(self, group_ids: Collection[str]) -> GroupResults:
        """Delete Empty groups with their offsets (KIP-229): one result a group."""
        sent = {
            group: self._channel.send(messages.delete_group(group))
            for group in dict.fromkeys(group_ids)
        }
        return GroupResults({group: _deletion_error(reply) for group, reply in sent.items()})

    def list_consumer_group_offsets(
        self, group_id: str, partitions: Collection[TopicPartition] | None = None
    ) -> dict[TopicPartition, OffsetAndMetadata]:
        """The committed offsets of the given partitions, or of all; a partition without one is left out."""
        request = offset_messages.fetch_offsets(group_id, partitions)
        return offset_messages.fetched_offsets(self._channel.send(request).result())

    def list_offsets_of_groups(
        self, group_ids: Collection[str]
    ) -> dict[str, dict[TopicPartition, OffsetAndMetadata]]:
        """All committed offsets of several groups, asked for at once."""
        sent = {
            group: self._channel.send(offset_messages.fetch_offsets(group, None))
            for group in dict.fromkeys(group_ids)
        }
        return {
            group: offset_messages.fetched_offsets(reply.result()) for group, reply in sent.items()
        }

    def alter_consumer_group_offsets(
        self, group_id: str, offsets: offset_messages.Offsets
    ) -> PartitionResults:
        """Commit offsets for a group that is Empty or does not exist yet: one result a partition."""
        request = offset_messages.commit_offsets(MemberIdentity(group_id), offsets)
        return offset_messages.partition_results(self._channel.send(request).result(), offsets)

    def delete_consumer_group_offsets(
        self, group_id: str, partitions: Collection[TopicPartition]
    ) -> PartitionResults:
        """Delete committed offsets of topics that the group does not read (KIP-496): one result a partition."""
        wanted = list(dict.fromkeys(partitions))
        request = offset_messages.delete_offsets(group_id, wanted)
        return offset_messages.partition_results(self._channel.send(request).result(), wanted)

    def _answers(
        self, request: Callable[[str], Request], group_ids: Iterable[str]
    ) -> dict[str, Body]:
        """Ask about all groups at once."""
        sent = {group: self._channel.send(request(group)) for group in group_ids}
        return {group: reply.result() for group, reply in sent.items()}

    def close(self) -> None:
        """Disconnect; no error if it is not connected."""
        if "_channel" in self.__dict__:
            self._channel.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @cached_property
    def _channel(self) -> RequestChannel:
        return RequestChannel(
            self._connection,
            events_topic=self._job.events_topic,
            responses_topic=self._job.responses_topic,
            request_timeout_ms=self._job.request_timeout_ms,
            client_id=CLIENT_ID,
        )


def _is_among(value: str, wanted: Collection[str] | None) -> bool:
    return not wanted or value.casefold() in {one.strip().casefold() for one in wanted}


def _deletion_error(reply: Future[Body]) -> ClientError | None:
    """A group without an answer must not hide the results of the others."""
    try:
        return messages.deletion_error(reply.result())
    except ChannelError as error:
        return error
