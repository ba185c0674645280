from __future__ import annotations

import json
import tracemalloc
from base64 import urlsafe_b64encode

import pytest

from group_coordinator.gateway.login import LONGEST_FIRST_BYTES, first_name, is_last


def token(**claims: object) -> bytes:
    parts = ({"alg": "none"}, claims)
    encoded = (urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in parts)
    return b".".join([*encoded, b"signature"])


@pytest.mark.parametrize(
    ("first", "name"),
    [
        (b"\0billing\0secret", "billing"),
        (b"billing\0billing\0secret", "billing"),
        ("\0büro\0secret".encode(), "büro"),
        (b"\0\0secret", None),
        (b"\0billing", None),
        (b"\0billing\0sec\0ret", None),
        (b"\0\xff\0secret", None),
        (b"", None),
    ],
)
def test_plain(first: bytes, name: str | None) -> None:
    assert first_name("PLAIN", first, "sub") == name


@pytest.mark.parametrize(
    ("first", "name"),
    [
        (b"n,,n=billing,r=fyko+d2lbbFgONRv9qkxdawL", "billing"),
        (b"n,a=billing,n=billing,r=x", "billing"),
        (b"n,,n=a=2Cb=3Dc,r=x", "a,b=c"),
        (b"n,,n=a=3D2Cb,r=x", "a=2Cb"),
        (b"n,,n=tBx8,r=x,tokenauth=true", None),  # a delegation token's, not its owner's
        (b"n,,n=a,b,r=x", None),
        (b"n,,n=a=b,r=x", None),
        (b"y,,n=billing,r=x", None),
        (b"n,,n=,r=x", None),
        (b"n,,r=x,n=billing", None),
    ],
)
def test_scram(first: bytes, name: str | None) -> None:
    assert first_name("SCRAM-SHA-256", first, "sub") == name
    assert first_name("SCRAM-SHA-512", first, "sub") == name


@pytest.mark.parametrize(
    ("first", "name"),
    [
        (b"n,,\x01auth=Bearer %b\x01\x01", "billing"),
        (b"n,a=billing,\x01auth=Bearer %b\x01\x01", "billing"),
        (b"n,,\x01auth=Bearer %b\x01traceId=7\x01\x01", "billing"),
        (b"n,,\x01auth=Bearer %b\x01auth=Bearer x.y.z\x01\x01", None),
        (b"n,,\x01auth=Basic %b\x01\x01", None),
        (b"n,,\x01auth=Bearer %b\x01", None),
    ],
)
def test_bearer(first: bytes, name: str | None) -> None:
    assert first_name("OAUTHBEARER", first % token(sub=" billing "), "sub") == name


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (token(sub="billing", azp="gateway"), "gateway"),
        (token(sub="billing"), None),
        (token(azp=7), None),
        (token(azp=" "), None),
        (b"e30.!!!!.x", None),
        (b"e30.W10.x", None),
        (b"e30.e30", None),
    ],
)
def test_another_claim_of_a_token(content: bytes, name: str | None) -> None:
    first = b"n,,\x01auth=Bearer %b\x01\x01" % content

    assert first_name("OAUTHBEARER", first, "azp") == name


@pytest.mark.parametrize("rest", [b"[" * 100_000, b'"\xff"}', b'"'])
def test_a_token_that_cannot_be_read_names_nobody(rest: bytes) -> None:
    claims = urlsafe_b64encode(b'{"sub":"billing","more":' + rest)
    first = b"n,,\x01auth=Bearer e30." + claims.rstrip(b"=") + b".signature\x01\x01"

    assert first_name("OAUTHBEARER", first, "sub") is None


@pytest.mark.parametrize(
    ("mechanism", "first", "name"),
    [
        ("SCRAM-SHA-512", b"n,,n=" + b"a" * 60_000 + b",r=x", "a" * 60_000),
        ("SCRAM-SHA-512", b"n,a=" + b"=2C" * 20_000 + b",n=billing,r=x", "billing"),
        ("SCRAM-SHA-512", b"n,,n=" + b"a" * 60_000, None),
        ("OAUTHBEARER", b"n,,\x01" + b"a=\x01" * 20_000 + b"\x01", None),
        ("OAUTHBEARER", b"n,,\x01" + b"a" * 60_000 + b"=\x01\x01", None),
    ],
)
def test_reading_a_name_takes_little_memory(mechanism: str, first: bytes, name: str | None) -> None:
    first_name(mechanism, b"", "sub")
    tracemalloc.start()
    found = first_name(mechanism, first, "sub")
    _, most_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert found == name
    assert most_bytes < 20 * 65_536


@pytest.mark.parametrize(
    ("mechanism", "first"),
    [
        ("PLAIN", b"\0billing\0%b"),
        ("SCRAM-SHA-512", b"n,,n=billing,r=%b"),
        ("OAUTHBEARER", b"n,,\x01auth=Bearer " + token(sub="billing") + b"\x01more=%b\x01\x01"),
    ],
)
def test_a_first_message_that_is_too_long_is_not_read(mechanism: str, first: bytes) -> None:
    most = LONGEST_FIRST_BYTES - len(first) + len(b"%b")

    assert first_name(mechanism, first % (b"x" * most), "sub") == "billing"
    assert first_name(mechanism, first % (b"x" * (most + 1)), "sub") is None


def test_other_mechanisms_are_not_read() -> None:
    assert first_name("GSSAPI", b"\0billing\0secret", "sub") is None


@pytest.mark.parametrize(
    ("mechanism", "answer", "last"),
    [
        ("PLAIN", b"", True),
        ("SCRAM-SHA-512", b"r=x,s=eA==,i=4096", False),
        ("SCRAM-SHA-512", b"v=eA==", True),
        ("OAUTHBEARER", b"", True),
        ("OAUTHBEARER", b'{"status":"invalid_token"}', False),
    ],
)
def test_an_answer_may_not_be_the_last(mechanism: str, answer: bytes, *, last: bool) -> None:
    assert is_last(mechanism, answer) is last
