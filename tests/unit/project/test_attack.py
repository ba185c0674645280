"""What tests/attack counts and prints, without a broker."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from group_coordinator.codecs import wire
from tests.attack.__main__ import attacks, main
from tests.attack.before_login import BEFORE_BYTES, SASL_BYTES, api_versions, authenticate
from tests.attack.outcome import Attack, Outcome, table
from tests.attack.requests_relay import RequestsRelay


@pytest.mark.parametrize(
    ("frame", "size"),
    [(authenticate(SASL_BYTES), SASL_BYTES), (api_versions(BEFORE_BYTES), BEFORE_BYTES)],
)
def test_frames_are_as_long_as_their_limit_and_can_be_read(frame: bytes, size: int) -> None:
    assert (int.from_bytes(frame[:4]), len(frame)) == (size, size + 4)
    assert wire.request_body(memoryview(frame)[4:])


def test_the_relay_counts_requests_however_they_are_cut() -> None:
    relay, pending = RequestsRelay(0), bytearray()
    sent = wire.request("Metadata", 9, 1, "a", {"topics": []}) * 2
    sent += wire.request(
        "Heartbeat", 4, 2, None, {"groupId": "g", "generationId": 1, "memberId": "m"}
    )

    for at in range(0, len(sent), 5):
        pending += sent[at : at + 5]
        relay.count(pending)

    assert relay.counts == {("Metadata", "a"): 2, ("Heartbeat", ""): 1}
    assert pending == b""
    relay.close()


def test_the_table_says_what_got_through() -> None:
    attack = Attack("name", "a login", lambda _: Outcome("", "", []))
    lines = table(
        [
            (attack, Outcome("a|b", "nothing", [])),
            (attack, Outcome("c", "d", ["it is taken", "twice"])),
        ]
    )

    assert [*lines][2:] == [
        "| name | a login | a\\|b | nothing | refused |",
        "| name | a login | c | d | GOT THROUGH: it is taken; twice |",
    ]


def test_an_attack_that_is_not_there_is_refused() -> None:
    names = CliRunner().invoke(main, ["--list"]).output.split()
    unknown = CliRunner().invoke(main, ["no-such"])

    assert names == [attack.name for attack in attacks(2_000)]
    assert (unknown.exit_code, "no-such: there is no such attack" in unknown.output) == (2, True)
