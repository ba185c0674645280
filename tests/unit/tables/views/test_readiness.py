"""Groups on their way to the new protocol: the view's verdict, and what the coordinator then does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from deltalake import DeltaTable

from group_coordinator.core.embedded_protocol import encode_assignment
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.requests import Topic
from tests.support.group_history import GroupHistory, asked, tables_of
from tests.unit.core.mixed_groups import join, sync

ORDERS = Topic("orders", "AAAAAAAAAAAAAAAAAAAAAQ", 3)
VERDICT = "SELECT verdict, blocker FROM readiness WHERE group_id = 'g'"
FIRST, SECOND = encode_assignment({"orders": [0, 1]}), encode_assignment({"orders": [2]})
OF_A_CUSTOM_ASSIGNOR = encode_assignment({"orders": [2]}, user_data=b"mine")


def history(group_id: str = "g") -> GroupHistory:
    group = GroupHistory(group_id, group_initial_rebalance_delay_ms=0)
    group.learn_topics(ORDERS)
    return group


def two_members(
    first: bytes, second: bytes, assignor: str = "range", group_id: str = "g"
) -> GroupHistory:
    """A Stable classic group whose leader gave out these assignments."""
    group = history(group_id)
    about = {"names": (assignor,), "group_id": group_id, "version": 3}
    leader = join(group, **about).response.member_id
    joining = join(group, **about)
    rejoined = join(group, leader, **about)
    other = group.response_to(joining).member_id
    generation = rejoined.response.generation
    for member_id, given in ((leader, ((leader, first), (other, second))), (other, ())):
        fields: Mapping[str, object] = {"group_id": group_id, "protocol": assignor}
        sync(group, member_id, generation, assignments=given, **fields)
    return group


@pytest.mark.parametrize(
    ("assignor", "second", "found", "error"),
    [
        ("sticky", SECOND, ("ready", None), ErrorCode.NONE),
        ("range", b"", ("ready", None), ErrorCode.NONE),
        ("own", SECOND, ("ready", None), ErrorCode.NONE),
        ("own", OF_A_CUSTOM_ASSIGNOR, ("blocked", "user-data"), ErrorCode.GROUP_ID_NOT_FOUND),
        ("sticky", OF_A_CUSTOM_ASSIGNOR, ("blocked", "user-data"), ErrorCode.GROUP_ID_NOT_FOUND),
        ("range", SECOND[:-5], ("blocked", "malformed"), ErrorCode.GROUP_ID_NOT_FOUND),
        ("own", FIRST, ("blocked", "shared-partition"), ErrorCode.UNKNOWN_SERVER_ERROR),
    ],
    ids=["usual", "no assignment", "custom", "user data", "Sarama's", "unreadable", "shared"],
)
def test_a_verdict_is_what_the_next_consumer_finds(
    assignor: str, second: bytes, found: tuple[str, str | None], error: ErrorCode, tmp_path: Path
) -> None:
    group = two_members(FIRST, second, assignor)
    root = tables_of(tmp_path, group)

    assert asked(root, VERDICT) == [found]
    assert group.consumers.join("new", ["orders"]).response.error is error


def test_an_unreadable_subscription_blocks(tmp_path: Path) -> None:
    group = history()
    leader = join(group, metadata=b"\0\0\0", version=3).response
    sync(group, leader.member_id, leader.generation, assignments=((leader.member_id, FIRST),))

    assert asked(tables_of(tmp_path, group), VERDICT) == [("blocked", "malformed")]
    assert group.consumers.join("new", ["orders"]).response.error is ErrorCode.GROUP_ID_NOT_FOUND


def connect() -> GroupHistory:
    group = history("connect")
    joining = join(group, group_id="connect", protocol_type="connect", version=3)
    sync(
        group,
        joining.response.member_id,
        joining.response.generation,
        group_id="connect",
        protocol_type="connect",
    )
    return group


def test_groups_on_their_way(tmp_path: Path) -> None:
    ready = two_members(FIRST, SECOND, "cooperative-sticky", "ready")
    mixed = two_members(FIRST, SECOND, group_id="mixed")
    mixed.client_id, mixed.client_host = "mixed-2", "/10.0.0.2"
    mixed.consumers.join("new", ["orders"], server_assignor="uniform")
    done = history("done")
    done.consumers.join("new", ["orders"])
    empty = history("empty")
    empty.leave(*empty.form())
    simple = history("simple")
    simple.commit({"orders": {0: 1}})
    blocked = two_members(FIRST, OF_A_CUSTOM_ASSIGNOR, "stream", "blocked")
    root = tables_of(tmp_path, ready, mixed, done, empty, simple, blocked, connect())

    # In the order of the view.
    columns = "group_id, assignor, has_user_data, client_names, verdict, blocker, group_type, member_count, classic_members, client_hosts"
    assert asked(root, f"SELECT {columns} FROM readiness ORDER BY group_id") == [  # noqa: S608 - our own names
        ("blocked", "stream", True, ["client"], "blocked", "user-data", "classic", 2, 2, ["/127.0.0.1"]),
        ("connect", "range", None, ["client"], "not-a-consumer", None, "classic", 1, 1, ["/127.0.0.1"]),
        ("done", None, None, ["client"], "done", None, "consumer", 1, 0, ["/127.0.0.1"]),
        ("empty", None, None, None, "empty", None, "classic", 0, 0, None),
        ("mixed", "uniform", None, ["client", "mixed-2"], "mixed", None, "consumer", 3, 2, ["/10.0.0.2", "/127.0.0.1"]),
        ("ready", "cooperative-sticky", False, ["client"], "ready", None, "classic", 2, 2, ["/127.0.0.1"]),
        ("simple", None, None, None, "simple", None, "classic", 0, 0, None),
    ]  # fmt: skip


def test_rows_of_an_earlier_version_leave_the_verdict_open(tmp_path: Path) -> None:
    root = tables_of(tmp_path, two_members(FIRST, SECOND))
    DeltaTable(root / "members").update({"has_user_data": "null"})

    assert asked(root, VERDICT) == [("unknown", None)]
