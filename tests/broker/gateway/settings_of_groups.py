"""The part of the conversation that is about settings of groups: all of them, good and bad values."""

from __future__ import annotations

from collections.abc import Iterator

from tests.broker.gateway.ask import Ask, Body


def described(version: int, *groups: str, keys: list[str] | None = None) -> Ask:
    resources = [
        {"resourceType": 32, "resourceName": group, "configurationKeys": keys} for group in groups
    ]
    body: Body = {"resources": resources, "includeSynonyms": version > 1}
    if version >= 3:
        body["includeDocumentation"] = True
    return Ask("DescribeConfigs", version, body)


def altered(version: int, *groups: str, validate: bool = False, **values: str | None) -> Ask:
    configs = [
        {"name": name, "configOperation": 0 if value is not None else 1, "value": value}
        for name, value in values.items()
    ]
    resources = [
        {"resourceType": 32, "resourceName": group, "configs": configs} for group in groups
    ]
    return Ask(
        "IncrementalAlterConfigs", version, {"resources": resources, "validateOnly": validate}
    )


def configs() -> Iterator[Ask]:
    """Settings of groups."""
    session = "consumer.session.timeout.ms"
    for version in (0, 1):
        yield altered(version, "set", **{session: "50000"})
        yield altered(version, "set", "other", validate=True, **{session: "46000"})
        yield altered(version, "set", **{session: "1"})
        yield altered(version, "set", nonsense="1")
        yield altered(version, "", **{session: "50000"})
        yield altered(version, "set", "set", **{session: "51000"})
        yield altered(version, "set")
        yield altered(version)
    for version in (1, 2, 3, 4):
        yield described(version, "set", keys=[session, "consumer.heartbeat.interval.ms"])
        yield described(version, "set", "other", "set", keys=[session])
        yield described(version, "", keys=[session])
        yield described(version)
    yield altered(1, "set", **{session: None})
    yield described(4, "set", keys=[session])
    yield from configs_of_every_kind()


def configs_of_every_kind() -> Iterator[Ask]:
    """All settings, with their synonyms and documentation, and refused ones."""
    given = {
        "share.auto.offset.reset": "by_duration:PT1H",
        "share.delivery.count.limit": "7",
        "share.renew.acknowledge.enable": "FALSE",
        "streams.acceptable.recovery.lag": "9223372036854775807",
        "streams.assignor.offload.enable": "false",
        "streams.rack.aware.assignment.tags": "rack, zone",
        "errors.deadletterqueue.topic.name": "dead",
    }
    for version in (1, 2, 3, 4):
        yield described(version, "never")
    yield altered(1, "every", "kind", **given)
    yield described(4, "every", "kind")
    for name, value in given.items():
        yield altered(1, "every", "kind", **{name: f"__{value},,"})
    yield altered(1, "every", **dict.fromkeys(given, None))
    yield described(4, "every")
