"""A client's requests on one connection: sent on as they come, or read where more than one party may answer them."""

from __future__ import annotations

from collections.abc import Awaitable
from struct import Struct
from time import thread_time
from typing import NamedTuple, Protocol

from group_coordinator.codecs.wire import WireError
from group_coordinator.core.model.config import HIGHEST_EVENT_MAX_BYTES
from group_coordinator.gateway.connections.frames import SIZE, Course, FrameError, FrameFollower
from group_coordinator.gateway.connections.pipeline import Exchange
from group_coordinator.gateway.connections.produce_request import (
    ProducedTopics,
    only_topic,
    read_beginning,
)
from group_coordinator.gateway.connections.slots import Rewriting, Slot
from group_coordinator.gateway.connections.topic_search import OwnTopics, TopicSearch
from group_coordinator.gateway.login.caller import Caller
from group_coordinator.gateway.rights.checked_groups import RightsHolder
from group_coordinator.gateway.served import API_VERSIONS, PARKED_APIS, Api, Way

_HEAD = Struct(">ihhi")
_SIZES = range(8, 100 * 1024 * 1024 + 1)
"""socket.request.max.bytes of Kafka, by default."""
READ_MAX_BYTES = HIGHEST_EVENT_MAX_BYTES
"""A request that is read is kept whole. A longer one would make an event that the job does not take."""
_ABOUT_TOPICS = frozenset({Way.TOPICS, Way.SHOWN})
_TOPICS_MAX_BYTES = 16 * 1024 * 1024
"""Of such a request, which is searched for the coordinator's own. Clients that ask about all topics of a large cluster name each."""
_MOST_BYTES = {"ApiVersions": 8192, "SaslHandshake": 8192, "SaslAuthenticate": 512 * 1024}
"""Of what may come before a login; the last one is sasl.server.max.receive.size of Kafka, by default."""


class Request(NamedTuple):
    """A request that is read; the frame begins with its size."""

    api: Api
    version: int
    correlation_id: int
    frame: bytearray


class MadeHere(NamedTuple):
    """The answer, with its size, does not come from the broker."""

    answer: bytes | Awaitable[bytes]


class SentOn(NamedTuple):
    """The broker is asked this, its size first; its answer is rewritten, or passed on."""

    request: bytes | bytearray
    rewriting: Rewriting | None


class LoginOfClient(Protocol):
    """What a client says to its broker about itself."""

    principal: str
    is_open: bool
    """Whether the broker has still to answer to a part of it."""
    is_accepted: bool
    """Whether the broker may take anything but parts of it."""

    def trouble(self) -> str | None:
        """Why nothing may be asked about groups now; None: it may."""

    def plan(self, request: Request) -> SentOn:
        """Read a part of it along.

        Raises:
            WireError: the request does not parse.
        """


class Client(RightsHolder, Protocol):
    """Whose requests these are."""

    node_id: int | None

    @property
    def login(self) -> LoginOfClient:
        """Who it is."""

    def caller(self, client_id: str | None) -> Caller:
        """Who asks."""

    def is_login_delayed(self) -> bool:
        """Whether its login must wait; `take_requests` is called at the end of that."""


class Desk(Protocol):
    """Knows what to do with a request that is read, and with a broker's answer."""

    def plan(self, request: Request, client: Client) -> MadeHere | SentOn:
        """Who answers.

        Raises:
            WireError: the request does not parse.
        """

    def too_large(self, api: Api, version: int, correlation_id: int) -> bytes | None:
        """The answer to a request that nobody reads; None: it cannot be given without reading it."""

    @property
    def own_topics(self) -> OwnTopics:
        """Those of the coordinator."""

    def rewriting(self, api: str, version: int) -> Rewriting | None:
        """What becomes of the broker's answers to requests that are not read."""

    def count(self, api: Api, version: int, node_id: int | None) -> None:
        """A request was taken."""

    def count_refused(self, api: Api | None, version: int) -> None:
        """A request was not taken, because the API or its version is not served."""


class RequestReader:
    """Decides about each request by the table of APIs."""

    def __init__(self, exchange: Exchange, desk: Desk, client: Client) -> None:
        self._exchange = exchange
        self._desk = desk
        self._own_topics = desk.own_topics
        self._search = TopicSearch(desk.own_topics, client.login)
        self._client = client
        self.has_read = False
        """Whether one request has come to its end."""
        self.is_collecting = False
        """Whether one is kept until it is whole."""
        self._read = Slot(API_VERSIONS, 0, 0)
        """Of the request that is being collected, or dropped."""
        self._answer_unread = b""
        self._produced: ProducedTopics | None = None
        """Of the request that is being passed on."""

    def follower(self) -> FrameFollower:
        """For the line to the client."""
        return FrameFollower(self, _HEAD.size, _SIZES, self._look)

    def begin(self, data: memoryview, at: int) -> Course:
        """A request that nobody reads takes its place among the open ones here."""
        if not self._exchange.takes_requests or self._client.login.is_open:
            return Course.WAIT
        size, key, version, correlation_id = _HEAD.unpack_from(data, at)
        api = self._served(key, version)
        is_delayed = api.name in _MOST_BYTES and self._is_delayed(api, size)
        if is_delayed or (self._needs_broker(api) and not self._exchange.has_upstream()):
            return Course.WAIT
        slot = Slot(api, version, correlation_id)
        if api.way is Way.PRODUCED:
            return self._begin_produce(slot, data, at, size)
        if api.way is Way.PASSED or (
            api.way is Way.TOPICS and self._search.is_clear(data, at, size)
        ):
            self._pass(slot, wants_answer=True)
            return Course.PASS
        return self._begin_read(slot, size)

    def _is_delayed(self, api: Api, size: int) -> bool:
        if size > _MOST_BYTES[api.name]:
            raise FrameError(f"{api.name} with {size} bytes, allowed are {_MOST_BYTES[api.name]}")
        return api.name == "SaslAuthenticate" and self._client.is_login_delayed()

    def _begin_read(self, slot: Slot, size: int) -> Course:
        api = slot.api
        most_bytes = _TOPICS_MAX_BYTES if api.way in _ABOUT_TOPICS else READ_MAX_BYTES
        pays = size <= most_bytes and _counts_for_client(api)
        if pays and self._exchange.share.must_wait():
            return Course.WAIT
        if size > most_bytes:
            answer = self._desk.too_large(api, slot.version, slot.correlation_id)
            if answer is None:
                raise FrameError(f"{api.name} with {size} bytes, allowed are {most_bytes}")
            # A client that is hung up on repeats its request for ever: where the API has one error for all, it gets that.
            self._answer_unread = answer
        self._read = slot
        if pays:
            slot.size = size
            self._exchange.share.take(size)
        self._desk.count(api, slot.version, self._client.node_id)
        self.is_collecting = size <= most_bytes
        return Course.COLLECT if self.is_collecting else Course.DROP

    def _begin_produce(self, slot: Slot, data: memoryview, at: int, size: int) -> Course:
        head = data[at : at + SIZE.size + size]
        beginning = read_beginning(slot.version, head)
        if beginning is None:
            return Course.MORE
        self._pass(slot, wants_answer=beginning.wants_answer)
        closed = self._own_topics.encoded
        only = only_topic(slot.version, head, beginning.topics_at)
        if only is not None and only not in closed:
            return Course.PASS
        if not self._own_topics.traces(self._client.login.principal):
            return Course.PASS
        self._produced = ProducedTopics(slot.version, beginning.topics_at, closed)
        return Course.LOOK

    def _look(self, piece: memoryview) -> None:
        if self._produced is not None:
            self._produced.follow(piece)

    def _pass(self, slot: Slot, *, wants_answer: bool) -> None:
        self._desk.count(slot.api, slot.version, self._client.node_id)
        if wants_answer:
            slot.rewriting = self._desk.rewriting(slot.api.name, slot.version)
            self._exchange.expect(slot)

    def _needs_broker(self, api: Api) -> bool:
        """The broker itself knows whom it answers what; what is answered here is answered to who has logged in."""
        if api is API_VERSIONS or api.way is Way.LOGIN:
            return True
        login = self._client.login
        if not login.is_accepted:
            raise FrameError(f"{api.name} before a login")
        if api.way is not Way.GROUPS and api.way is not Way.READ:
            return True
        trouble = login.trouble()
        if trouble is not None:
            raise FrameError(f"{api.name} {trouble}")
        return api.way is Way.READ or self._client.rights.is_checked

    def pass_on(self, piece: memoryview) -> None:
        """To the broker."""
        self._exchange.send_on(piece)

    def passed(self) -> None:
        """Its slot is there already."""
        self.has_read = True

    def collected(self, frame: bytearray) -> None:
        """The request says who answers it."""
        self.has_read, self.is_collecting = True, False
        slot = self._read
        begun_s = thread_time()
        try:
            plan = self._desk.plan(
                Request(slot.api, slot.version, slot.correlation_id, frame), self._client
            )
        except WireError as error:
            raise FrameError(str(error)) from error
        finally:
            self._exchange.share.note_taken(thread_time() - begun_s)
        if isinstance(plan, SentOn):
            slot.rewriting = plan.rewriting
            self._exchange.expect(slot)
            self._exchange.send_on(plan.request)
        elif isinstance(plan.answer, bytes):
            self._exchange.answer(slot, plan.answer)
        else:
            self._exchange.promise(slot, plan.answer)

    def dropped(self) -> None:
        """Only now it is answered: Java's clients count on an answer behind the last byte that they have sent."""
        self.has_read = True
        self._exchange.answer(self._read, self._answer_unread)

    def _served(self, key: int, version: int) -> Api:
        """What Kafka does too: a connection that asks for what is not there is closed; ApiVersions is answered always."""
        api = self._own_topics.apis.get(key)
        if api is API_VERSIONS:
            return api
        if api is None or version not in api.versions:
            self._desk.count_refused(api, version)
            name = f"API {key}" if api is None else api.name
            raise FrameError(f"{name} in version {version} is not served")
        return api


def _counts_for_client(api: Api) -> bool:
    """Members of a group wait for each other, so one that is held back would hold up all; before a login nobody knows who pays."""
    is_before_login = api is API_VERSIONS or api.way is Way.LOGIN
    return not is_before_login and api.name not in PARKED_APIS
