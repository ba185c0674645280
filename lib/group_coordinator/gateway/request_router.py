"""Router of collected requests: local responses, forwarded requests, and responses that combine both."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from functools import partial
from time import monotonic
from typing import TypeAlias

from group_coordinator.clients.channel import Body
from group_coordinator.codecs import wire
from group_coordinator.core.acls import Operation, ResourceType, Right
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.gateway import api_versions
from group_coordinator.gateway.api_versions import (
    ClientRequest,
    ForwardedRequest,
    LocalResponse,
    Rewriting,
    Route,
    ServedApi,
)
from group_coordinator.gateway.cluster.addresses import (
    OF_GROUPS,
    Addresses,
    Coordinators,
    keys_of,
)
from group_coordinator.gateway.connections.requests import Client
from group_coordinator.gateway.counters import Counters
from group_coordinator.gateway.group_part import GroupPart
from group_coordinator.gateway.groups.config_requests import (
    error_response_of_groups,
    merged,
    shows_groups,
    split,
    unknown_operation,
    unknown_type,
    with_groups,
)
from group_coordinator.gateway.groups.error_responses import at_once, error_response_unread
from group_coordinator.gateway.groups.group_listing import NodeShares
from group_coordinator.gateway.groups.offset_topics import TopicCache
from group_coordinator.gateway.rights.checked_groups import CheckedGroups
from group_coordinator.gateway.rights.own_topics import OwnTopics

_MOST_EXPECTED = 10

Plan: TypeAlias = LocalResponse | ForwardedRequest


class RequestRouter:
    """Router of all connections. Its interface is Router of gateway/connections/requests.py."""

    def __init__(
        self,
        groups: GroupPart,
        addresses: Addresses,
        coordinators: Coordinators,
        counters: Counters,
        topics: TopicCache,
        own_topics: OwnTopics,
    ) -> None:
        self._groups = groups
        self._checked = CheckedGroups(NodeShares(groups, coordinators).answer, topics)
        self._addresses = addresses
        self._coordinators = coordinators
        self.counters = counters
        self.own_topics = own_topics
        self._plans: dict[str, Callable[[ClientRequest, Body, Client], Plan]] = {
            "FindCoordinator": self._find_coordinator,
            "DescribeConfigs": self._configs,
            "AlterConfigs": self._configs,
            "IncrementalAlterConfigs": self._configs,
            "ListConfigResources": self._config_resources,
        }

    def plan(self, request: ClientRequest, client: Client) -> Plan:
        """Choose between forwarding and a local response. Raises WireError: the request does not parse."""
        if request.api.name == "ApiVersions":
            return _api_versions(request)
        if request.api.route is Route.LOGIN:
            return client.login.plan(request)
        if request.api.route in (Route.TOPICS, Route.SHOWN):
            return self._about_topics(request, client)
        body = wire.request_body(memoryview(request.frame)[4:])
        if request.api.route is Route.GROUPS:
            asked = self._asked(request, body, client)
            # The frame is dropped, as a JoinGroup may wait for minutes.
            return LocalResponse(_when_encoded(request._replace(frame=bytearray()), asked))
        return self._plans[request.api.name](request, body, client)

    def too_large(self, api: ServedApi, version: int, correlation_id: int) -> bytes | None:
        """Error response of the job to an event that is too large; None: it would have to repeat the request's fields."""
        body = error_response_unread(api.name, version, ErrorCode.INVALID_REQUEST)
        return None if body is None else wire.response(api.name, version, correlation_id, body)

    def rewriting(self, api: str, version: int) -> Rewriting | None:
        """Function that rewrites the broker's responses; None: they are forwarded unchanged."""
        return self._addresses.rewriting(api, version)

    def _about_topics(self, request: ClientRequest, client: Client) -> Plan:
        principal, api = client.login.principal, request.api.name
        if not self.own_topics.traces(principal):
            return ForwardedRequest(request.frame, self._addresses.rewriting(api, request.version))
        named = self.own_topics.named_in(request, principal)
        if request.api.route is Route.SHOWN:
            return ForwardedRequest(request.frame, partial(self._without_own, request, named))
        if named:
            return LocalResponse(self.own_topics.error_response(request, named))
        return ForwardedRequest(request.frame, None)

    def _without_own(
        self, request: ClientRequest, named: Collection[str], frame: memoryview
    ) -> bytes | Awaitable[bytes]:
        response = self.own_topics.hide(request, named, len(frame).to_bytes(4) + frame)
        rewriting = self._addresses.rewriting(request.api.name, request.version)
        return response if rewriting is None else rewriting(memoryview(response)[4:])

    def _find_coordinator(self, request: ClientRequest, body: Body, client: Client) -> Plan:
        # The broker also has the error of an unknown type, and the right that share groups need.
        if body.get("keyType", OF_GROUPS) != OF_GROUPS:
            rewriting = self._addresses.rewriting("FindCoordinator", request.version)
            return ForwardedRequest(request.frame, rewriting)
        keys = keys_of(body)
        wanted = [_to_describe(key) for key in keys]
        if client.rights.are_known(wanted):
            self._expect(request, keys, client)
            return LocalResponse(
                _encoded(request, self._coordinators.answer(request.version, body))
            )
        # Later requests wait, so that responses and requests keep their order.
        client.hold_requests()

        async def found() -> bytes:
            try:
                denied = {right.name for right in await client.rights.denied(wanted)}
            finally:
                client.take_requests()
            return _encoded(request, self._coordinators.answer(request.version, body, denied))

        return LocalResponse(found())

    def _expect(self, request: ClientRequest, keys: Sequence[str], client: Client) -> None:
        # An administrator's tool that looks for many groups has a single request to each.
        if len(keys) > _MOST_EXPECTED:
            return
        caller = client.caller(wire.request_header(memoryview(request.frame)[4:]).client_id)
        for key in keys:
            self._groups.expect(key, caller)

    def _configs(self, request: ClientRequest, body: Body, client: Client) -> Plan:
        named = self.own_topics.named_in(request, client.login.principal)
        if named:
            return LocalResponse(self.own_topics.error_response(request, named))
        of_groups, others = split(body["resources"])
        if not of_groups:
            return ForwardedRequest(request.frame, None)
        error = unknown_type(request.api.name, request.version, body)
        # With an authorizer an operation counts only for permitted resources: the parts then have their own errors.
        if error is None and not client.rights.is_checked:
            error = unknown_operation(request.api.name, request.version, body)
        if error is not None:
            return LocalResponse(_encoded(request, error))
        # The job's request is sent now, next to the broker's.
        if request.api.name == "AlterConfigs":
            ours: asyncio.Future[Body] = asyncio.ensure_future(
                at_once(error_response_of_groups(of_groups))
            )
        else:
            ours = self._asked(request, {**body, "resources": of_groups}, client)
        if not others:
            return LocalResponse(_when_encoded(request, ours))

        async def together(frame: memoryview) -> bytes:
            _, theirs = wire.response_body(request.api.name, request.version, frame)
            found = merged(request.api.name, body["resources"], await ours, theirs)
            return _encoded(request, found)

        name, rest = request.api.name, {**body, "resources": others}
        client_id = wire.request_header(memoryview(request.frame)[4:]).client_id
        theirs = wire.request(name, request.version, request.correlation_id, client_id, rest)
        return ForwardedRequest(theirs, together)

    def _config_resources(self, request: ClientRequest, body: Body, _client: Client) -> Plan:
        asked_types = body.get("resourceTypes")
        if asked_types is None:
            return ForwardedRequest(request.frame, None)  # version 0 has only client metrics

        async def with_ours(frame: memoryview) -> bytes:
            _, theirs = wire.response_body(request.api.name, request.version, frame)
            has_groups = shows_groups(asked_types, theirs)
            groups = await self._groups.groups_with_settings() if has_groups else ()
            return _encoded(request, with_groups(groups, theirs))

        return ForwardedRequest(request.frame, with_ours)

    def _asked(self, request: ClientRequest, body: Body, client: Client) -> asyncio.Future[Body]:
        # The job's request is sent before this returns, so a group's requests keep the order of their arrival.
        asked_at_s = monotonic()
        client_id = wire.request_header(memoryview(request.frame)[4:]).client_id
        api = request.api.name
        response = self._checked.answer(
            api, request.version, body, client.caller(client_id), client
        )

        async def timed() -> Body:
            found = await response
            self.counters.count_answer(api, monotonic() - asked_at_s)
            return found

        # A client may leave before its broker answers the rest. The future then ends without a reader.
        return asyncio.ensure_future(timed())


def _api_versions(request: ClientRequest) -> Plan:
    if request.version not in request.api.versions:
        return LocalResponse(api_versions.too_new(request.correlation_id))
    return ForwardedRequest(request.frame, partial(api_versions.rewritten, request.version))


async def _when_encoded(request: ClientRequest, body: Awaitable[Body]) -> bytes:
    return _encoded(request, await body)


def _encoded(request: ClientRequest, body: Body) -> bytes:
    return wire.response(request.api.name, request.version, request.correlation_id, body)


def _to_describe(group_id: str) -> Right:
    return Right(Operation.DESCRIBE, ResourceType.GROUP, group_id)
