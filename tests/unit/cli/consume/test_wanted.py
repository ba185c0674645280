from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest

from group_coordinator.cli.consume.wanted import Properties, ReadOptions, Wanted, wanted


def asked(*properties: str, **options: Any) -> Wanted:
    given = {"topic": "orders", **dict.fromkeys(("include", "partition", "offset", "group"))}
    return wanted(
        ReadOptions(**{**given, "from_beginning": False, **options}),
        Properties(None, properties),
        "read_uncommitted",
    )


def test_a_group_that_names_itself_commits_nothing() -> None:
    generated = asked()

    prefix, number = generated.group_id.rsplit("-", 1)
    assert prefix == "console-consumer"
    assert 0 <= int(number) < 100_000
    assert generated.commit_interval_s is None


def test_it_commits_if_asked_to() -> None:
    assert asked("enable.auto.commit= true ").commit_interval_s == 5.0
    assert asked("ssl.check.hostname= FALSE ").connecting == {"ssl_check_hostname": False}
    assert asked("enable.auto.commit=TRUE", "auto.commit.interval.ms=250").commit_interval_s == 0.25


@pytest.mark.parametrize("named", [{"group": "billing"}, {}])
def test_a_group_that_has_a_name_commits_unless_told_not_to(named: dict[str, str]) -> None:
    names = [] if named else ["group.id=billing"]

    found = asked(*names, **named)
    assert (found.group_id, found.commit_interval_s) == ("billing", 5.0)
    assert asked(*names, "enable.auto.commit=false", **named).commit_interval_s is None


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"include": "o.*"}, "Exactly one of the following arguments is required"),
        ({"topic": None}, "Exactly one of the following arguments is required"),
        (
            {"topic": None, "include": "x", "partition": 0},
            "The topic is required when partition is specified.",
        ),
        ({"offset": "3"}, "The partition is required when offset is specified."),
        ({"partition": 0, "offset": "-4"}, "The provided offset value '-4' is incorrect."),
        (
            {"partition": 0, "offset": "latest", "from_beginning": True},
            "Options from-beginning and offset cannot be specified together.",
        ),
        (
            {"group": "a", "partition": 0},
            "Options group and partition cannot be specified together.",
        ),
        ({"topic": None, "include": "("}, "is not a regular expression"),
        ({"topic": None, "include": "a{99999999999}"}, "is not a regular expression"),
        ({"partition": 0, "offset": "9" * 5_000}, "The provided offset value '9999"),
        ({"partition": 0, "offset": "1_0"}, "The provided offset value '1_0' is incorrect."),
        ({"partition": 0, "offset": " 1"}, "The provided offset value ' 1' is incorrect."),
        ({"partition": 0, "offset": str(2**63)}, "The provided offset value '9223372036854775808'"),
    ],
)
def test_options_that_do_not_go_together(options: dict[str, Any], told: str) -> None:
    with pytest.raises(click.UsageError, match=told):
        asked(**options)


@pytest.mark.parametrize(
    ("property_", "options", "told"),
    [
        ("group.id=b", {"group": "a"}, "do not match. Detected group ids: 'a', 'b'"),
        (
            "auto.offset.reset=latest",
            {"from_beginning": True},
            "Can't simultaneously specify --from-beginning and 'auto.offset.reset=latest'",
        ),
        ("enable.auto.commit=true", {"partition": 0}, "--partition reads without a group"),
        (
            "enable.auto.commit=yes",
            {},
            "enable.auto.commit = yes is not valid: give one of true, false",
        ),
        (
            "session.timeout.ms=long",
            {},
            "session.timeout.ms = long is not valid: give a whole number from 0 to 2147483647",
        ),
        ("max.poll.records=1_0", {}, "max.poll.records = 1_0 is not valid: give a whole number"),
        ("max.poll.records=2147483648", {}, "max.poll.records = 2147483648 is not valid: give a"),
        (
            f"fetch.max.wait.ms={'9' * 5_000}",
            {},
            "is not valid: give a whole number from 0 to 2147483647",
        ),
        (
            f"metadata.max.age.ms={'9' * 400}",
            {},
            "is not valid: give a whole number from 0 to 9223372036854775807",
        ),
        (
            "group.protocol=streams",
            {},
            "group.protocol = streams is not valid: give one of classic, consumer",
        ),
        ("auto.offset.reset=newest", {}, "auto.offset.reset = newest is not valid: give one of"),
        (
            "request.timeout.ms=soon",
            {},
            "--command-property: request.timeout.ms = soon is not a number",
        ),
        ("novalue", {}, "'novalue' is not KEY=VALUE"),
    ],
)
def test_properties_that_cannot_be_used(property_: str, options: dict[str, Any], told: str) -> None:
    with pytest.raises(click.UsageError, match=told):
        asked(property_, **options)


def test_where_reading_begins() -> None:
    assert asked().fetching["auto_offset_reset"] == "latest"
    assert asked(from_beginning=True).fetching["auto_offset_reset"] == "earliest"
    assert asked("auto.offset.reset=earliest").fetching["auto_offset_reset"] == "earliest"
    assert asked(partition=0).first_offset == "latest"
    assert asked(partition=0, from_beginning=True).first_offset == "earliest"
    assert asked(partition=0, offset="42").first_offset == 42
    assert asked(partition=0, offset="+42").first_offset == 42


def test_properties_of_the_member_of_fetching_and_of_the_connection() -> None:
    found = asked(
        "group.protocol=consumer",
        "group.instance.id=till-1",
        "client.id=till",
        "fetch.max.wait.ms=100",
        "max.poll.records= +7 ",
        "security.protocol=SASL_SSL",
        "isolation.level=read_committed",
    )

    assert found.member.group_protocol == "consumer"
    assert (found.member.group_instance_id, found.member.client_id) == ("till-1", "till")
    assert (found.most, found.fetching["fetch_max_wait_ms"]) == (7, 100)
    assert found.connecting == {"security_protocol": "SASL_SSL"}
    assert found.fetching["isolation_level"] == "read_uncommitted"


def test_a_static_member_of_the_classic_protocol_stays_as_kafkas_does() -> None:
    assert asked("group.instance.id=till-1").stays_member
    assert not asked().stays_member
    assert not asked("group.instance.id=till-1", "group.protocol=consumer").stays_member


def test_options_take_precedence_over_a_file(tmp_path: Path) -> None:
    file = tmp_path / "consumer.properties"
    file.write_text("group.id=billing\nfetch.min.bytes=5\n")

    found = Properties(file, ["fetch.min.bytes=6"])

    assert (found.text("group.id"), found.number("fetch.min.bytes", 1)) == ("billing", 6)
    with pytest.raises(click.UsageError, match="missing: No such file"):
        Properties(tmp_path / "missing", [])


def test_a_property_of_a_file_is_named_with_the_file(tmp_path: Path) -> None:
    file = tmp_path / "consumer.properties"
    file.write_text("session.timeout.ms=long\n")

    with pytest.raises(click.UsageError) as refused:
        Properties(file, []).number("session.timeout.ms", 45_000)

    assert str(refused.value) == (
        f"{file}: session.timeout.ms = long is not valid: give a whole number from 0 to 2147483647"
    )


def test_properties_without_effect_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert asked("acks=all", "fetch.min.byte=1").connecting == {}
    assert capsys.readouterr().err == (
        "--command-property: fetch.min.byte is not a property of Kafka's clients; did you mean fetch.min.bytes?\n"
        "--command-property: acks has no effect here\n"
    )
