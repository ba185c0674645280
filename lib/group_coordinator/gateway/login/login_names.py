"""Who logs in, as the messages of a mechanism say it. Anything that Kafka would read otherwise gives no name.

Sources: PlainSaslServer, ScramMessages, ScramSaslServer, OAuthBearerClientInitialResponse and ClaimValidationUtils of Kafka 4.4.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode
from binascii import Error
from typing import TypeAlias

from msgspec import DecodeError, json

LONGEST_FIRST_BYTES = 64 * 1024
"""A longer first message is not read, whatever is in it: names have at most 32,767 bytes."""
# Repeats are possessive (++): the matcher keeps nothing to go back to, which would be 130 times what it reads.
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
"""Those whose messages say who logs in, and when that has ended."""

Claims: TypeAlias = dict[str, object]


def first_name(mechanism: str, first: bytes, subject_claim: str) -> str | None:
    """The name in a client's first message; None: it says none, is too long, or the mechanism is not read."""
    if len(first) > LONGEST_FIRST_BYTES:
        return None
    if mechanism == "PLAIN":
        return _plain(first)
    if mechanism in _SCRAM:
        return _scram(first)
    return _bearer(first, subject_claim) if mechanism == "OAUTHBEARER" else None


def is_last(mechanism: str, answer: bytes) -> bool:
    """Whether a broker's answer without an error ends the login: a challenge, or a token's fault, has none either."""
    return answer.startswith(b"v=") if mechanism in _SCRAM else not answer


def _plain(first: bytes) -> str | None:
    fields = first.split(b"\0")
    return _text(fields[1]) if len(fields) == _PLAIN_FIELDS else None


def _scram(first: bytes) -> str | None:
    found = _SCRAM_FIRST.fullmatch(first)
    # The name of a delegation token is not that of its owner, who is the principal.
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
    """The broker has judged the token when this counts."""
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
