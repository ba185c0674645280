"""A client's login at its broker: its messages are forwarded unchanged, and give the principal and the sender's identity.

After a failed login the next login from the same address waits, so that passwords cannot be guessed quickly. Sources:
PlainSaslServer, ScramMessages, ScramSaslServer, OAuthBearerClientInitialResponse and ClaimValidationUtils of Kafka 4.4.
"""

from __future__ import annotations

import re
from base64 import b64decode, urlsafe_b64decode
from binascii import Error
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from ipaddress import IPv6Address
from struct import Struct
from time import monotonic
from typing import NamedTuple, TypeAlias

from msgspec import DecodeError, json

from group_coordinator.clients.channel import Body
from group_coordinator.codecs import wire
from group_coordinator.core.acls import ANONYMOUS
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.gateway.api_versions import ClientRequest, ForwardedRequest
from group_coordinator.gateway.frames import FrameError

LONGEST_FIRST_BYTES = 64 * 1024
"""Limit of a first message that is read: names have at most 32,767 bytes."""
# Repeats are possessive (++): without backtracking the matcher keeps no positions, which would take 130 times the text.
_SASL_NAME = rb"(?:[\x01-\x2b\x2d-\x3c\x3e-\x7f]++|=2C|=3D)++"
_SCRAM_FIRST = re.compile(
    rb"n,(?:a=%b)?,n=(?P<name>%b),r=[\x21-\x2b\x2d-\x7e]++(?P<extensions>(?:,.*)?)"
    % (_SASL_NAME, _SASL_NAME),
    re.DOTALL,
)
_TOKEN = re.compile(rb"n,(?:a=%b)?,\x01(?P<pairs>(?:[A-Za-z]++=[^\x01]*+\x01)++)\x01" % _SASL_NAME)
_BEARER = re.compile(rb"auth=bearer +(?P<token>[-_~+/.A-Za-z0-9]+=*)", re.IGNORECASE)
_PLAIN_FIELDS = 3
_JWT_PARTS = 3
_SCRAM = frozenset({"SCRAM-SHA-256", "SCRAM-SHA-512"})
READ_MECHANISMS = _SCRAM | {"PLAIN", "OAUTHBEARER"}
"""Mechanisms whose messages show the user and the end of the login."""

Claims: TypeAlias = dict[str, object]


def first_name(mechanism: str, first: bytes, subject_claim: str) -> str | None:
    """Name in a client's first message; None: there is none, the message is too long, or the mechanism is not read."""
    if len(first) > LONGEST_FIRST_BYTES:
        return None
    if mechanism == "PLAIN":
        fields = first.split(b"\0")
        return _text(fields[1]) if len(fields) == _PLAIN_FIELDS else None
    if mechanism in _SCRAM:
        return _scram(first)
    return _bearer(first, subject_claim) if mechanism == "OAUTHBEARER" else None


def is_last(mechanism: str, response: bytes) -> bool:
    """Return True if a broker's response without an error ends the login; a challenge and a token's error have none either."""
    return response.startswith(b"v=") if mechanism in _SCRAM else not response


def _scram(first: bytes) -> str | None:
    found = _SCRAM_FIRST.fullmatch(first)
    # The name of a delegation token is not its owner's, and the owner is the principal.
    if found is None or b"tokenauth" in found["extensions"].lower():
        return None
    return _text(found["name"].replace(b"=2C", b",").replace(b"=3D", b"="))


def _bearer(first: bytes, subject_claim: str) -> str | None:
    found = _TOKEN.fullmatch(first)
    if found is None:
        return None
    bearers = [pair for pair in found["pairs"].split(b"\x01") if pair.lower().startswith(b"auth=")]
    token = _BEARER.fullmatch(bearers[0]) if len(bearers) == 1 else None
    return None if token is None else _subject(token["token"], subject_claim)


def _subject(token: bytes, subject_claim: str) -> str | None:
    # The signature is not verified here: the name counts only after the broker has accepted the token.
    parts = token.split(b".")
    if len(parts) != _JWT_PARTS:
        return None
    try:
        claims = json.decode(urlsafe_b64decode(parts[1] + b"=" * (-len(parts[1]) % 4)), type=Claims)
    except (Error, DecodeError, UnicodeDecodeError, RecursionError):  # the last: nested too deep
        return None
    subject = claims.get(subject_claim)
    return subject.strip() or None if isinstance(subject, str) else None


def _text(name: bytes) -> str | None:
    try:
        return name.decode() or None
    except UnicodeDecodeError:
        return None


_SAYS_LIFETIME = 1
"""First version of SaslAuthenticate whose response has the lifetime of the session; the request has the same bytes."""
_VERSION_AT = slice(6, 8)
"""Position of the version in a request, behind its size and its key."""


class Login:
    """Login of a connection. Only the name is kept, and it counts once the broker accepts the login."""

    def __init__(self, failed: Callable[[], None], *, is_wanted: bool, subject_claim: str) -> None:
        """Take the callback `failed` for a rejected login, and the claim of an OAUTHBEARER token that has the name."""
        self._failed = failed
        self._is_wanted = is_wanted
        self._subject_claim = subject_claim
        self._mechanism: str | None = None
        self._name: str | None = None
        self._has_spoken = False
        self._is_done = False
        self._ends_at_s: float | None = None
        self.principal = ANONYMOUS
        self.is_open = False
        """The broker has still to answer a step of the login; brokers accept no other request meanwhile."""
        self.is_accepted = not is_wanted
        """The broker accepted a login once, for any user, or needs no login."""
        self.has_begun = False
        """The login began at the broker, so the client cannot change to another connection."""

    def trouble(self) -> str | None:
        """Reason why group requests are not allowed now; None: they are."""
        if not self._is_wanted:
            return None
        if not self._is_done:
            return "before a login with a readable name"
        return "after the end of its session" if self.has_ended else None

    @property
    def is_halfway(self) -> bool:
        """The broker accepted the mechanism, and its last response is still to come."""
        return self._mechanism in READ_MECHANISMS

    @property
    def has_ended(self) -> bool:
        """The session is over: the broker accepts only another login."""
        return self._ends_at_s is not None and monotonic() > self._ends_at_s

    def plan(self, request: ClientRequest) -> ForwardedRequest:
        """Forward a step of the login, and read it. Raises WireError: the request does not parse."""
        if not self._is_wanted:
            return ForwardedRequest(request.frame, None)
        version = request.version
        if request.api.name == "SaslHandshake":
            mechanism = _body(request)["mechanism"]
            self.has_begun = self.is_open = True
            return ForwardedRequest(request.frame, partial(self._shaken, version, mechanism))
        if self._mechanism is not None and not self._has_spoken:
            self._has_spoken = True
            self._name = self._named(self._mechanism, request)
        self.has_begun = self.is_open = True
        if version >= _SAYS_LIFETIME:
            return ForwardedRequest(request.frame, partial(self._answered, version))
        # The broker's response in the later version contains the end of the session, which the gateway needs too.
        request.frame[_VERSION_AT] = _SAYS_LIFETIME.to_bytes(2)
        return ForwardedRequest(request.frame, partial(self._answered_older, version))

    def _named(self, mechanism: str, request: ClientRequest) -> str | None:
        # A message that is too long is not even decoded.
        if len(request.frame) > LONGEST_FIRST_BYTES:
            return None
        return first_name(mechanism, b64decode(_body(request)["authBytes"]), self._subject_claim)

    def _shaken(self, version: int, mechanism: str, frame: memoryview) -> bytes:
        self.is_open = False
        _, response = wire.response_body("SaslHandshake", version, frame)
        if response["errorCode"] == ErrorCode.NONE:
            self._mechanism, self._name = mechanism, None
            self._has_spoken = self._is_done = False
        return _unchanged(frame)

    def _answered(self, version: int, frame: memoryview) -> bytes:
        self.is_open = False
        _, response = wire.response_body("SaslAuthenticate", version, frame)
        if response["errorCode"] != ErrorCode.NONE:
            self._mechanism = None
            self._failed()
        elif self._mechanism is not None:
            if is_last(self._mechanism, b64decode(response["authBytes"])):
                self._mechanism, self.is_accepted = None, True
                self._count(response)
            elif self._mechanism not in READ_MECHANISMS:
                # The end cannot be seen, but brokers accept no data before it.
                self.is_accepted = True
        return _unchanged(frame)

    def _answered_older(self, version: int, frame: memoryview) -> bytes:
        # The session of a client with an older version ends too. Its response is encoded again without the lifetime.
        self._answered(_SAYS_LIFETIME, frame)
        correlation_id, response = wire.response_body("SaslAuthenticate", _SAYS_LIFETIME, frame)
        return wire.response("SaslAuthenticate", version, correlation_id, response)

    def _count(self, response: Body) -> None:
        if self._name is None:
            return
        principal = f"User:{self._name}"
        # As in Kafka, a renewed login must be of the same user.
        if self.principal not in (ANONYMOUS, principal):
            raise FrameError("another user on a connection with a login")
        lifetime_ms = response["sessionLifetimeMs"]
        self._ends_at_s = monotonic() + lifetime_ms / 1000 if lifetime_ms else None
        self.principal = principal
        self._is_done = True


def _body(request: ClientRequest) -> Body:
    return wire.request_body(memoryview(request.frame)[4:])


def _unchanged(frame: memoryview) -> bytes:
    return len(frame).to_bytes(4) + bytes(frame)


MOST_WAIT_S = 10.0
"""Longest wait. Clients give up a login after 30 s; other clients of the same address must still get in."""
_REMEMBERED = 10_000
"""Limit of remembered addresses; the address with the oldest failure is forgotten."""


class FailedLogins:
    """Waiting times by address. Each failure adds to the wait, and time reduces it."""

    def __init__(self, delay_ms: int) -> None:
        self._delay_s = delay_ms / 1000
        self._until_s: OrderedDict[str, float] = OrderedDict()

    def note(self, host: str, now_s: float) -> None:
        begin_s = max(self._until_s.pop(host, now_s), now_s)
        self._until_s[host] = min(begin_s + self._delay_s, now_s + MOST_WAIT_S)
        if len(self._until_s) > _REMEMBERED:
            self._until_s.popitem(last=False)

    def wait_s(self, host: str, now_s: float) -> float:
        return max(self._until_s.get(host, now_s) - now_s, 0.0)


_GROUPS = Struct(">8H")


class Caller(NamedTuple):
    """Sender of a request. `client_host` has Kafka's form, with a slash before the address."""

    client_id: str
    """Empty for a request without a client id, as in Kafka."""
    client_host: str
    principal: str
    node_id: int | None
    """Node whose port the client uses; None: the bootstrap port."""

    @property
    def payer(self) -> str:
        """Owner of the limits that a request counts for: the user, or without a login the address."""
        return self.client_host if self.principal == ANONYMOUS else self.principal


def client_host(address: str) -> str:
    """Host of a peer in Java's form: IPv6 with all its eight numbers, "/0:0:0:0:0:0:0:1"."""
    if ":" not in address:
        return f"/{address}"
    return "/" + ":".join(f"{number:x}" for number in _GROUPS.unpack(IPv6Address(address).packed))
