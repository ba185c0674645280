"""Requests of a client: forwarded as the bytes arrive, or read where the gateway or the job may answer."""

from __future__ import annotations

import logging
from struct import Struct
from time import thread_time
from typing import Protocol

from group_coordinator.codecs.wire import WireError
from group_coordinator.core.model.config import HIGHEST_EVENT_MAX_BYTES
from group_coordinator.gateway.api_versions import (
    API_VERSIONS,
    PENDING_APIS,
    ClientRequest,
    ForwardedRequest,
    LocalResponse,
    Rewriting,
    Route,
    ServedApi,
)
from group_coordinator.gateway.connections.pipeline import Pipeline, PipelineEntry
from group_coordinator.gateway.connections.produce_request import (
    ClosedTopics,
    ProducedTopics,
    TopicSearch,
    only_topic,
    read_beginning,
)
from group_coordinator.gateway.counters import Counters
from group_coordinator.gateway.frames import SIZE, FrameError, FrameFollower, FrameRoute
from group_coordinator.gateway.login import Caller
from group_coordinator.gateway.rights.checked_groups import RightsHolder

_log = logging.getLogger(__name__)

_HEAD = Struct(">ihhi")
_SIZES = range(8, 100 * 1024 * 1024 + 1)
"""Kafka's default of socket.request.max.bytes."""
READ_MAX_BYTES = HIGHEST_EVENT_MAX_BYTES
"""Limit of a collected request. A longer request would make an event that the job does not accept."""
_READ_HERE = frozenset({Route.GROUPS, Route.READ})
_ABOUT_TOPICS = frozenset({Route.TOPICS, Route.SHOWN})
_TOPICS_MAX_BYTES = 16 * 1024 * 1024
"""Limit of a request about topics, which is searched for the coordinator's own; a client may name all topics of a large cluster."""
_MOST_BYTES = {"ApiVersions": 8192, "SaslHandshake": 8192, "SaslAuthenticate": 512 * 1024}
"""Limits of requests before the login. The last is Kafka's default of sasl.server.max.receive.size."""


class LoginOfClient(Protocol):
    principal: str
    is_open: bool
    is_accepted: bool

    @property
    def is_halfway(self) -> bool: ...
    def trouble(self) -> str | None: ...
    def plan(self, request: ClientRequest) -> ForwardedRequest: ...


class Client(RightsHolder, Protocol):
    node_id: int | None

    @property
    def login(self) -> LoginOfClient: ...

    def caller(self, client_id: str | None) -> Caller: ...
    def is_login_delayed(self) -> bool: ...


class Router(Protocol):
    """Router of collected requests, and of brokers' responses."""

    def plan(self, request: ClientRequest, client: Client) -> LocalResponse | ForwardedRequest: ...
    def too_large(self, api: ServedApi, version: int, correlation_id: int) -> bytes | None: ...
    @property
    def own_topics(self) -> ClosedTopics: ...
    @property
    def counters(self) -> Counters: ...
    def rewriting(self, api: str, version: int) -> Rewriting | None: ...


class RequestReader:
    """Decides about each request by the table of APIs."""

    def __init__(self, pipeline: Pipeline, router: Router, client: Client) -> None:
        self._pipeline = pipeline
        self._router = router
        self._counters = router.counters
        self._own_topics = router.own_topics
        self._search = TopicSearch(router.own_topics, client.login)
        self._client = client
        self.has_read = False
        self.is_collecting = False
        self._read = PipelineEntry(API_VERSIONS, 0, 0)
        """Entry of the request that is being collected or discarded."""
        self._answer_unread = b""
        self._produced: ProducedTopics | None = None
        """Parser of the request that is being forwarded."""

    def follower(self) -> FrameFollower:
        return FrameFollower(self, _HEAD.size, _SIZES, self._look)

    def begin(self, data: memoryview, at: int) -> FrameRoute:
        if not self._pipeline.takes_requests or self._client.login.is_open:
            return FrameRoute.WAIT
        size, key, version, correlation_id = _HEAD.unpack_from(data, at)
        api = self._served(key, version)
        # The broker returns ILLEGAL_SASL_STATE (34) in the API's own form, and hangs up: nothing more is read.
        interrupts = self._client.login.is_open = self._interrupts_login(api, size)
        # The size is checked before the bytes are collected.
        is_delayed = api.name in _MOST_BYTES and self._is_delayed(api, size)
        needs_broker = interrupts or self._needs_broker(api)
        if is_delayed or (needs_broker and not self._pipeline.has_upstream()):
            return FrameRoute.WAIT
        # A forwarded request is added to the queue here, a collected request at its end.
        pending = PipelineEntry(api, version, correlation_id)
        if api.route is Route.PRODUCED:
            return self._begin_produce(pending, data, at, size)
        if (
            interrupts
            or api.route is Route.PASSED
            or (api.route is Route.TOPICS and self._search.is_clear(data, at, size))
        ):
            self._pass(pending, wants_answer=True)
            return FrameRoute.PASS
        return self._begin_read(pending, size)

    def _interrupts_login(self, api: ServedApi, size: int) -> bool:
        is_small = size <= _MOST_BYTES["SaslAuthenticate"]
        is_read_here = api.route in _READ_HERE and api is not API_VERSIONS
        return is_small and is_read_here and self._client.login.is_halfway

    def _is_delayed(self, api: ServedApi, size: int) -> bool:
        if size > _MOST_BYTES[api.name]:
            raise FrameError(f"{api.name} with {size} bytes, more than {_MOST_BYTES[api.name]}")
        return api.name == "SaslAuthenticate" and self._client.is_login_delayed()

    def _begin_read(self, pending: PipelineEntry, size: int) -> FrameRoute:
        api = pending.api
        most_bytes = _TOPICS_MAX_BYTES if api.route in _ABOUT_TOPICS else READ_MAX_BYTES
        pays = size <= most_bytes and _counts_for_client(api)
        if pays and self._pipeline.share.must_wait():
            return FrameRoute.WAIT
        if size > most_bytes:
            response = self._router.too_large(api, pending.version, pending.correlation_id)
            if response is None:
                raise FrameError(f"{api.name} with {size} bytes, more than {most_bytes}")
            # A client whose connection is closed repeats its request for ever, so it gets an error response where the
            # API has one for the whole request.
            self._answer_unread = response
        self._read = pending
        if pays:
            pending.size = size
            self._pipeline.share.take(size)
        self._counters.count_request(api, pending.version, self._client.node_id)
        self.is_collecting = size <= most_bytes
        return FrameRoute.COLLECT if self.is_collecting else FrameRoute.DROP

    def _begin_produce(
        self, pending: PipelineEntry, data: memoryview, at: int, size: int
    ) -> FrameRoute:
        head = data[at : at + SIZE.size + size]
        beginning = read_beginning(pending.version, head)
        if beginning is None:
            return FrameRoute.MORE
        self._pass(pending, wants_answer=beginning.wants_answer)
        closed = self._own_topics.encoded
        only = only_topic(pending.version, head, beginning.topics_at)
        if only is not None and only not in closed:
            # Most requests have one topic, which needs no further parsing.
            return FrameRoute.PASS
        if not self._own_topics.traces(self._client.login.principal):
            return FrameRoute.PASS
        self._produced = ProducedTopics(pending.version, beginning.topics_at, closed)
        return FrameRoute.LOOK

    def _look(self, piece: memoryview) -> None:
        if self._produced is not None:
            self._produced.follow(piece)

    def _pass(self, pending: PipelineEntry, *, wants_answer: bool) -> None:
        _log.debug(
            "api=%s correlation_id=%d route=broker", pending.api.name, pending.correlation_id
        )
        self._counters.count_request(pending.api, pending.version, self._client.node_id)
        if wants_answer:
            pending.rewriting = self._router.rewriting(pending.api.name, pending.version)
            self._pipeline.expect(pending)

    def _needs_broker(self, api: ServedApi) -> bool:
        # The broker itself decides which requests need a login. Local responses go only to clients with a login.
        if api is API_VERSIONS or api.route is Route.LOGIN:
            return True
        login = self._client.login
        if not login.is_accepted:
            raise FrameError(f"{api.name} before a login")
        if api.route not in _READ_HERE:
            return True
        trouble = login.trouble()
        if trouble is not None:
            raise FrameError(f"{api.name} {trouble}")
        return api.route is Route.READ or self._client.rights.is_checked

    def pass_on(self, piece: memoryview) -> None:
        self._pipeline.send_on(piece)

    def passed(self) -> None:
        self.has_read = True

    def collected(self, frame: bytearray) -> None:
        self.has_read, self.is_collecting = True, False
        pending = self._read
        begun_s = thread_time()
        try:
            plan = self._router.plan(
                ClientRequest(pending.api, pending.version, pending.correlation_id, frame),
                self._client,
            )
        except WireError as error:
            raise FrameError(str(error)) from error
        finally:
            # The thread's CPU time is the time that other clients waited.
            self._pipeline.share.note_taken(thread_time() - begun_s)
        _log.debug(
            "api=%s version=%d correlation_id=%d principal=%r route=%s",
            *(pending.api.name, pending.version, pending.correlation_id),
            self._client.login.principal,
            "broker" if isinstance(plan, ForwardedRequest) else "gateway",
        )
        if isinstance(plan, ForwardedRequest):
            pending.rewriting = plan.rewriting
            self._pipeline.expect(pending)
            self._pipeline.send_on(plan.request)
        elif isinstance(plan.answer, bytes):
            self._pipeline.answer(pending, plan.answer)
        else:
            self._pipeline.promise(pending, plan.answer)

    def dropped(self) -> None:
        # Java's clients expect the response behind the last byte of their request.
        self.has_read = True
        self._pipeline.answer(self._read, self._answer_unread)

    def _served(self, key: int, version: int) -> ServedApi:
        # As in Kafka, an unknown API closes the connection, and ApiVersions always gets a response.
        api = self._own_topics.apis.get(key)
        if api is API_VERSIONS:
            return api
        if api is None or version not in api.versions:
            self._counters.count_refused(api, version)
            name = f"API {key}" if api is None else api.name
            raise FrameError(f"{name} in version {version} is not served")
        return api


def _counts_for_client(api: ServedApi) -> bool:
    # Members of a group wait for each other, so a throttled member would delay all. Before the login the payer is unknown.
    is_before_login = api is API_VERSIONS or api.route is Route.LOGIN
    return not is_before_login and api.name not in PENDING_APIS
