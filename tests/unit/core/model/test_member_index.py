from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.classic_member import ClassicMember, Protocol
from group_coordinator.core.model.consumer_member import MemberIndex
from tests.unit.codecs import strategies

NOBODY = ClassicMember(
    member_id="m",
    group_instance_id=None,
    client_id="c",
    client_host="/h",
    rebalance_timeout_ms=1,
    session_timeout_ms=1,
    protocols=(),
)
CHANGES = st.lists(
    st.tuples(
        st.sampled_from("abcd"),
        st.none() | st.tuples(st.sampled_from([None, "i"]), strategies.members),
    ),
    max_size=12,
)


def scanned(group: ClassicGroup) -> tuple[object, ...]:
    """What the index says, found by a look at all members."""
    members = list(group.members.values())
    listed = Counter(protocol.name for member in members for protocol in member.protocols)
    statics = [m.member_id for m in members if m.group_instance_id == "i"]
    return (
        all(member.awaiting_join for member in members),
        {name for name, number in listed.items() if number == len(members)},
        statics[0] if statics else None,
    )


def asked(group: ClassicGroup) -> tuple[object, ...]:
    return (
        group.has_all_members_joined,
        group.common_protocols(),
        group.static_member_id("i"),
    )


@given(changes=CHANGES)
def test_the_index_says_what_a_look_at_all_members_says(
    changes: list[tuple[str, tuple[str | None, ClassicMember] | None]],
) -> None:
    group = ClassicGroup()
    for member_id, change in changes:
        before = group.copy()
        said = asked(before)
        if change is None:
            group.remove(member_id)
        else:
            instance_id, member = change
            known = group.members.get(member_id)
            # An instance id is for life.
            instance_id = instance_id if known is None else known.group_instance_id
            group.put(member.replace(member_id=member_id, group_instance_id=instance_id))
        assert asked(group) == scanned(group)
        assert asked(group.copy()) == scanned(group)
        assert asked(before) == said


def test_a_protocol_that_a_member_lists_twice_counts_twice() -> None:
    index = MemberIndex()
    protocol = Protocol("range", b"")

    index.add(NOBODY.replace(protocols=(protocol, protocol)))

    assert index.supporters == {"range": 2}


def test_of_many_members_each_protocol_counts_as_often_as_it_is_listed() -> None:
    a, b, c = (Protocol(name, b"") for name in ("a", "b", "c"))
    lists = {"m1": (a, b), "m2": (a,), "m3": (b, a), "m4": (), "m5": (c, c), "m6": (a, b)}
    index = MemberIndex.of(NOBODY.replace(member_id=i, protocols=p) for i, p in lists.items())

    assert index.supporters == {"a": 4, "b": 3, "c": 2}
