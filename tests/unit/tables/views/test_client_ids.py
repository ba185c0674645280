"""Client ids are what users make them: the views take them out of JSON without a parser."""

from __future__ import annotations

from pathlib import Path

from group_coordinator.core.model.requests import Topic
from tests.support.group_history import GroupHistory, asked, tables_of

ORDERS = Topic("orders", "AAAAAAAAAAAAAAAAAAAAAQ", 3)
CLIENT_IDS = [
    "plain",
    'say "hi"',
    '"',
    "a\\b",
    "at the end\\",
    'both\\"',
    "\\\\",
    "\\n is no line",
    "\\u0001 is no character",
    "café\t料金\r\n\b\f",
    '","clientId":"another',
    "$name",
]


def clients(root: Path) -> list[str | None]:
    """The client ids of rewinds, in the order of the groups' numbers."""
    rewinds = (
        "SELECT client_id FROM audit WHERE change = 'rewind' ORDER BY length(group_id), group_id"
    )
    return [client_id for (client_id,) in asked(root, rewinds)]


def rewind(group: GroupHistory, member_id: str, generation: int, version: int) -> None:
    for offset in (40, 30):
        group.commit({"orders": {0: offset}}, member_id, generation, version=version)


def generation_of(group: GroupHistory) -> int:
    return group.group.membership.generation  # type: ignore[union-attr]


def test_members_of_classic_groups(tmp_path: Path) -> None:
    groups = [GroupHistory(f"billing-{number}") for number in range(len(CLIENT_IDS))]
    for group, group.client_id in zip(groups, CLIENT_IDS, strict=True):
        [member, _] = group.form(2)
        rewind(group, member, generation_of(group), 8)

    assert clients(tables_of(tmp_path, *groups)) == CLIENT_IDS


def test_members_of_consumer_groups(tmp_path: Path) -> None:
    groups = [GroupHistory(f"billing-{number}") for number in range(len(CLIENT_IDS))]
    for group, group.client_id in zip(groups, CLIENT_IDS, strict=True):
        group.learn_topics(ORDERS)
        group.consumers.join("a", ["orders"])
        group.consumers.join("b", ["orders"])
        rewind(group, "b", group.consumers.epochs["b"], 9)

    assert clients(tables_of(tmp_path, *groups)) == CLIENT_IDS


def test_members_that_differ_behind_a_quote(tmp_path: Path) -> None:
    group = GroupHistory("billing", group_initial_rebalance_delay_ms=0)
    group.client_id = 'say "hi"'
    [first] = group.form()
    group.client_id = 'say "ho"'
    second = group.join().response.member_id
    group.join(second)
    group.client_id = 'say "hi"'
    group.join(first)
    group.sync(first, generation_of(group))
    rewind(group, first, generation_of(group), 8)

    assert clients(tables_of(tmp_path, group)) == [None]


def test_a_control_character_stays_an_escape(tmp_path: Path) -> None:
    group = GroupHistory("billing")
    group.client_id = '\x01"\x02\x1f'
    [member] = group.form()
    rewind(group, member, generation_of(group), 8)

    assert clients(tables_of(tmp_path, group)) == ['\\u0001"\\u0002\\u001f']
