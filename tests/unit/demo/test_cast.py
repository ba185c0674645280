from __future__ import annotations

import pytest

from group_coordinator.demo import cast


def test_extras_share_out_what_the_leading_roles_leave() -> None:
    extras = cast.extras(50, 150)

    assert len(extras) == 38
    assert sum(one.member_count for one in extras) == 119
    assert {one.member_count for one in extras} == {3, 4}
    assert {topic for one in extras for topic in one.topics} == cast.PARTITION_COUNTS.keys()


def test_names_do_not_run_out() -> None:
    extras = cast.extras(200, 1_000)

    names = {one.group_id for one in (*cast.LEADING_ROLES, *cast.SIMPLE_COMMITTERS, *extras)}

    assert len(names) == 200


@pytest.mark.parametrize(("groups", "members"), [(12, 150), (50, 40)])
def test_a_group_without_a_member_is_refused(groups: int, members: int) -> None:
    with pytest.raises(cast.CastError, match="at least 13 groups"):
        cast.extras(groups, members)


def test_half_of_the_extras_speak_each_protocol() -> None:
    protocols = [one.group_protocol for one in cast.extras(50, 150)]

    assert (protocols.count("classic"), protocols.count("consumer")) == (19, 19)


def test_the_smallest_cast() -> None:
    [extra] = cast.extras(13, 32)

    assert extra.member_count == 1
