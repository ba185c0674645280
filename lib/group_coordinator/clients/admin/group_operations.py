"""Operations of administrators on groups: list, describe, delete, remove members, and the groups' configurations."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from kafka.admin import AlterConfigOp, ConfigResourceType, ConfigSourceType, ConfigType

from group_coordinator.clients import sql_tables
from group_coordinator.clients.admin import descriptions
from group_coordinator.clients.admin.descriptions import (
    GroupDescription,
    GroupListing,
    consumer_description,
    describe_consumer_group,
)
from group_coordinator.clients.admin.operation import AdminBase, ClientMethod
from group_coordinator.clients.channel import Body, Request
from group_coordinator.clients.errors import CoordinatorResponseError, error_in
from group_coordinator.clients.offset_messages import distinct_names
from group_coordinator.clients.results import (
    GroupResponses,
    GroupResults,
    MemberResults,
    MemberToRemove,
)
from group_coordinator.tables.roots import is_folder


@dataclass(frozen=True, slots=True)
class ConfigSynonym:
    """Another source of a setting's value."""

    name: str
    value: str | None
    source: ConfigSourceType


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    """Setting of a group with its current value."""

    name: str
    value: str | None
    source: ConfigSourceType
    """DYNAMIC_GROUP_CONFIG: the group's own."""
    synonyms: tuple[ConfigSynonym, ...]
    """Possible sources of the value; the first is in force."""
    type: ConfigType
    documentation: str | None = None
    """None: the request did not include it."""
    is_read_only: bool = False
    is_sensitive: bool = False

    @property
    def is_default(self) -> bool:
        """The setting has its default, for the group and for the coordinator."""
        return bool(self.source is ConfigSourceType.DEFAULT_CONFIG)


Configs: TypeAlias = dict[str, ConfigEntry]
"""Settings of a group by name."""


def describe_configs(
    group_id: str, names: Collection[str] | None, *, include_documentation: bool
) -> Request:
    """Request the settings of a group; None for `names`: all settings."""
    keys = None if names is None else list(distinct_names(names))
    resource = {**_resource(group_id), "configurationKeys": keys}
    body = {
        "resources": [resource],
        # The entries show which value is in force, and which would be without it.
        "includeSynonyms": True,
        "includeDocumentation": include_documentation,
    }
    return Request("DescribeConfigs", 4, group_id, body)


def described_configs(body: Body) -> Configs | CoordinatorResponseError:
    """Settings in a DescribeConfigs response, or its error."""
    # An unreadable event has an error of the whole response, and no results.
    error = error_in(body)
    if error is not None:
        return error
    [result] = body["results"]
    return error_in(result) or {config["name"]: _entry(config) for config in result["configs"]}


def alter_configs(
    group_id: str, values: Mapping[str, str | None], *, validate_only: bool
) -> Request:
    """Request an alteration of a group; a value of None removes the group's own value."""
    changes = [
        {
            "name": name,
            "configOperation": int(AlterConfigOp.DELETE if value is None else AlterConfigOp.SET),
            "value": value,
        }
        for name, value in values.items()
    ]
    resource = {**_resource(group_id), "configs": changes}
    body = {"resources": [resource], "validateOnly": validate_only}
    return Request("IncrementalAlterConfigs", 1, group_id, body)


def alteration_error(body: Body) -> CoordinatorResponseError | None:
    """Error of an IncrementalAlterConfigs response; None: the settings were altered."""
    error = error_in(body)
    if error is not None:
        return error
    [result] = body["responses"]
    return error_in(result)


def _resource(group_id: str) -> Body:
    return {"resourceType": int(ConfigResourceType.GROUP), "resourceName": group_id}


def _entry(config: Body) -> ConfigEntry:
    return ConfigEntry(
        name=config["name"],
        value=config["value"],
        source=ConfigSourceType(config["configSource"]),
        synonyms=tuple(
            ConfigSynonym(one["name"], one["value"], ConfigSourceType(one["source"]))
            for one in config["synonyms"]
        ),
        type=ConfigType(config["configType"]),
        documentation=config["documentation"],
        is_read_only=config["readOnly"],
        is_sensitive=config["isSensitive"],
    )


_LISTING = (
    "SELECT cluster_id, group_id, group_type, state, protocol_type FROM groups ORDER BY group_id"
)


class GroupOperations(AdminBase):
    """Operations on groups for both admin clients."""

    @ClientMethod
    async def list_consumer_groups(
        self, states: Collection[str] | None = None, types: Collection[str] | None = None
    ) -> list[GroupListing]:
        """Groups in the tables, sorted by name; as of the last compaction.

        >>> [(group.group_id, group.state, group.type) for group in admin.list_consumer_groups()]
        [('billing', 'Stable', 'consumer'), ('reports', 'Empty', 'classic')]
        >>> [group.group_id for group in admin.list_consumer_groups(states={"empty"})]
        ['reports']

        Only groups in these `states` and of these `types` (classic, consumer), in any case; none or empty: all.

        Raises:
            TablesUnavailableError: there are no tables, or they are in a catalog and this program has no Spark.
        """
        return [
            listing
            for listing in await self._aside(self._listings)
            if _is_among(listing.state, states) and _is_among(listing.group_type, types)
        ]

    @ClientMethod
    async def describe_consumer_groups(
        self, group_ids: Collection[str], *, include_authorized_operations: bool = False
    ) -> dict[str, GroupDescription]:
        """State and members of each group; a group that does not exist has an `error`.

        >>> described = admin.describe_consumer_groups(["billing", "unknown"])
        >>> described["billing"].state, described["billing"].members[0].group_instance_id
        ('Stable', 'till-1')
        >>> described["unknown"].error
        GroupIdNotFoundError('Group unknown not found.')
        >>> asked = admin.describe_consumer_groups(["reports"], include_authorized_operations=True)
        >>> sorted(operation.name for operation in asked["reports"].authorized_operations)
        ['ALTER_CONFIGS', 'DELETE', 'DESCRIBE', 'DESCRIBE_CONFIGS', 'READ']

        Every group is described as a consumer group first; groups of another type are described as classic groups.

        `include_authorized_operations` adds the operations that the client's user may do on each group.

        Raises:
            ChannelError: there is no response for a group.
        """
        return await self._descriptions(
            group_ids, include_authorized_operations=include_authorized_operations
        )

    @ClientMethod
    async def delete_consumer_groups(self, group_ids: Collection[str]) -> GroupResults:
        """Delete Empty groups with their offsets (KIP-229), with a result for each group.

        >>> results = admin.delete_consumer_groups(["reports", "billing"])
        >>> results["reports"]
        >>> results["billing"]
        Traceback (most recent call last):
        group_coordinator.clients.errors.NonEmptyGroupError: The group is not empty.
        >>> results.all()
        Traceback (most recent call last):
        group_coordinator.clients.errors.NonEmptyGroupError: The group is not empty.
        """
        # The job has an event for each group, so each group needs its own request.
        asked = {group: descriptions.delete_group(group) for group in distinct_names(group_ids)}
        return GroupResults(await self._outcomes(asked, descriptions.deletion_error))

    @ClientMethod
    async def remove_members_from_consumer_group(
        self, group_id: str, members: Iterable[MemberToRemove] | None = None, reason: str = ""
    ) -> MemberResults:
        """Remove members (KIP-345), static members too, with a result for each member. Living members join again.

        >>> from group_coordinator.clients import MemberToRemove
        >>> till = MemberToRemove(group_instance_id="till-1")
        >>> admin.remove_members_from_consumer_group("billing", [till], "the till is broken").all()
        >>> admin.describe_consumer_groups(["billing"])["billing"].members
        ()
        >>> admin.remove_members_from_consumer_group("billing", [till]).member_result(till)
        Traceback (most recent call last):
        group_coordinator.clients.errors.UnknownMemberIdError: The coordinator is not aware of this member.

        Members are named by member id or by instance id; None: all current members, a static member by its instance id. The
        reason is for the coordinator's logs, cut after 255 characters as by Kafka's clients.

        Raises:
            ChannelError: there is no response.
        """
        group_error = None
        if members is None:
            described = (await self._descriptions([group_id]))[group_id]
            members, group_error = descriptions.members_of(described), described.error
        leaving = list(dict.fromkeys(members))
        # Without members there is no request to send.
        if not leaving:
            return MemberResults({}, group_error)
        request = descriptions.remove_members(group_id, leaving, reason)
        return descriptions.removal_results(await self._answer(request), leaving)

    @ClientMethod
    async def describe_group_configs(
        self,
        group_ids: Collection[str],
        names: Collection[str] | None = None,
        *,
        include_documentation: bool = False,
    ) -> GroupResponses[Configs]:
        """Current settings of each group by name; a group need not exist.

        >>> settings = admin.describe_group_configs(["billing"])["billing"]
        >>> settings["consumer.session.timeout.ms"].value
        '45000'
        >>> settings["consumer.session.timeout.ms"].is_default
        True

        Only settings of these `names`; none or empty: all that Kafka lists, and the group's own.
        """
        asked = {
            group: describe_configs(group, names, include_documentation=include_documentation)
            for group in distinct_names(group_ids)
        }
        return GroupResponses(await self._outcomes(asked, described_configs))

    @ClientMethod
    async def alter_group_configs(
        self, values: Mapping[str, Mapping[str, str | None]], *, validate_only: bool = False
    ) -> GroupResults:
        """Set or remove settings of groups, with a result for each group: all settings of a group are altered, or none.

        >>> admin.alter_group_configs({"billing": {"consumer.session.timeout.ms": "50000"}}).all()
        >>> name = "consumer.session.timeout.ms"
        >>> entry = admin.describe_group_configs(["billing"], [name])["billing"][name]
        >>> entry.value, entry.source.name
        ('50000', 'DYNAMIC_GROUP_CONFIG')
        >>> admin.alter_group_configs({"billing": {name: None}}).all()
        >>> admin.alter_group_configs({"billing": {"no.such.setting": "1"}})["billing"]
        Traceback (most recent call last):
        group_coordinator.clients.errors.InvalidConfigurationError: Unknown group config name: no.such.setting

        `values` has a group's values by name; a value of None removes its own. `validate_only` only returns the result, and changes nothing.
        """
        asked = {
            group: alter_configs(group, changes, validate_only=validate_only)
            for group, changes in values.items()
        }
        return GroupResults(await self._outcomes(asked, alteration_error))

    async def _descriptions(
        self, group_ids: Collection[str], *, include_authorized_operations: bool = False
    ) -> dict[str, GroupDescription]:
        # A group's type is unknown before: the consumer protocol is tried first.
        as_consumer, as_classic = (
            partial(ask, include_authorized_operations=include_authorized_operations)
            for ask in (describe_consumer_group, descriptions.describe_group)
        )
        answers = await self._answers({one: as_consumer(one) for one in distinct_names(group_ids)})
        found = {group: consumer_description(group, body) for group, body in answers.items()}
        others = [group for group, description in found.items() if description is None]
        answers = await self._answers({group: as_classic(group) for group in others})
        classic = {group: descriptions.description(group, body) for group, body in answers.items()}
        return {group: description or classic[group] for group, description in found.items()}

    def _listings(self) -> list[GroupListing]:
        return [
            GroupListing(
                row["group_id"], row["group_type"], row["state"], row["protocol_type"] or ""
            )
            for row in _listed_in(self._job.tables_root)
            if self._cluster_id in {None, row["cluster_id"]}
            and (row["protocol_type"] or "") in descriptions.CONSUMER_PROTOCOL_TYPES
        ]


def _listed_in(root: str) -> list[dict[str, Any]]:
    if is_folder(root):
        # A folder needs no Spark.
        return sql_tables.rows(root, _LISTING)
    from group_coordinator.clients import spark_tables  # noqa: PLC0415 - PySpark's import takes long

    return spark_tables.rows(root, "groups", _LISTING)


def _is_among(value: str, wanted: Collection[str] | None) -> bool:
    return not wanted or value.casefold() in {one.strip().casefold() for one in wanted}
