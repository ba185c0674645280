"""What stories of mixed groups begin with: classic members in their own words, in classic and in consumer groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from group_coordinator.core.embedded_protocol import (
    encode_assignment,
    encode_subscription,
    read_assignment,
)
from group_coordinator.core.model.classic_member import Protocol
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.requests import JoinGroup, SyncGroup
from group_coordinator.testing import GroupDriver, Outcome
from tests.unit.core.consumer_groups import cluster

Partitions = Mapping[str, Sequence[int]]


def owning(owned: Partitions, *topics: str) -> bytes:
    """The metadata of a consumer that has partitions; it subscribes to orders unless told otherwise."""
    empty = encode_subscription(topics or ("orders",), version=1)
    return empty[:-4] + encode_assignment(owned)[2:-4]


def join(
    driver: GroupDriver,
    member_id: str = "",
    owned: Partitions | None = None,
    *,
    topics: tuple[str, ...] = ("orders",),
    names: tuple[str, ...] = ("range",),
    metadata: bytes | None = None,
    version: int = 5,
    **fields: Any,
) -> Outcome[Any]:
    """Join as a classic member that says what it has."""
    told = owning(owned or {}, *topics) if metadata is None else metadata
    protocols = tuple(Protocol(name, told) for name in names)
    request = JoinGroup(
        group_id="g",
        session_timeout_ms=10_000,
        rebalance_timeout_ms=60_000,
        member_id=member_id,
        group_instance_id=None,
        protocol_type="consumer",
        protocols=protocols,
    )
    return driver.send(request.replace(**fields), version)


def add(driver: GroupDriver, **fields: Any) -> str:
    """Add a classic member to a consumer group; its id."""
    member_id: str = join(driver, version=3, **fields).response.member_id
    return member_id


def sync(driver: GroupDriver, member_id: str, generation: int, **fields: Any) -> Outcome[Any]:
    request = SyncGroup(
        group_id="g",
        generation=generation,
        member_id=member_id,
        group_instance_id=None,
        protocol_type="consumer",
        protocol="range",
        assignments=(),
    )
    return driver.send(request.replace(**fields), 5)


def given(answer: Any) -> dict[str, tuple[int, ...]]:
    """The partitions in an answer to SyncGroup."""
    return dict(read_assignment(answer.assignment).assigned)


def classic_group(assignment: bytes | None = None, **settings: Any) -> tuple[GroupDriver, str]:
    """A Stable classic group of generation 1, whose one member has orders 0-2; the time is 4,000 ms."""
    driver = cluster(**settings)
    member_id = join(driver).response.member_id
    parked = join(driver, member_id)
    driver.sleep(3_000)
    assert driver.response_to(parked).generation == 1
    everything = encode_assignment({"orders": (0, 1, 2)})
    sync(
        driver,
        member_id,
        1,
        assignments=((member_id, everything if assignment is None else assignment),),
    )
    return driver, member_id


def mixed_group(**settings: Any) -> tuple[GroupDriver, str]:
    """The consumer m1 and a classic member, who both have what they shall have at epoch 3; the time is 2,000 ms."""
    driver = cluster(**settings)
    driver.consumers.join("m1", ["orders"])
    driver.sleep(1_000)
    member_id = add(driver)
    kept = driver.consumers.beat("m1", {}).response.assignment
    driver.consumers.beat("m1", kept)
    epoch = join(driver, member_id).response.generation
    sync(driver, member_id, epoch)
    return driver, member_id


def stay_alive(
    driver: GroupDriver, until_ms: int, member_id: str, generation: int, consumer_id: str
) -> set[ErrorCode]:
    """Let time pass, nearly until then, while both members send heartbeats; what the classic one was told."""
    errors = set()
    while True:
        driver.consumers.beat(consumer_id)
        errors.add(driver.heartbeat(member_id, generation).response.error)
        if driver.now_ms + 6_000 >= until_ms:
            return errors
        driver.sleep(6_000)
