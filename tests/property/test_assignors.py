from __future__ import annotations

from collections import Counter
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from group_coordinator.core.assignors import ASSIGNORS
from group_coordinator.core.assignors.spec import Assignment, MemberSpec, TopicSpec

TOPIC_IDS = [f"topic-{number}AAAAAAAAAAAAAAA" for number in range(4)]
SIZES = {
    topic_id: TopicSpec(size, None)
    for topic_id, size in zip(TOPIC_IDS, (1, 5, 12, 20), strict=True)
}
WISHES = st.lists(st.frozensets(st.sampled_from(TOPIC_IDS)), min_size=1, max_size=6)
SAME_WISH = st.tuples(st.integers(1, 7), st.frozensets(st.sampled_from(TOPIC_IDS), min_size=1)).map(
    lambda drawn: [drawn[1]] * drawn[0]
)
NAMES = st.sampled_from(sorted(ASSIGNORS))


def assigned(
    name: str, wishes: list[frozenset[str]], before: dict[str, Assignment] | None = None
) -> dict[str, Assignment]:
    held = before or {}
    members = {
        f"m{number}": MemberSpec(None, None, wish, held.get(f"m{number}", {}))
        for number, wish in enumerate(wishes)
    }
    return ASSIGNORS[name](members, SIZES)


@given(NAMES, WISHES, WISHES)
def test_each_wanted_partition_has_one_owner_that_wants_it(
    name: str, wishes: list[frozenset[str]], earlier: list[frozenset[str]]
) -> None:
    found = assigned(name, wishes, assigned(name, earlier))

    wanted = frozenset[str]().union(*wishes)
    owners = Counter(
        (topic_id, partition)
        for target in found.values()
        for topic_id, partitions in target.items()
        for partition in partitions
    )
    assert owners == Counter(
        (topic_id, partition)
        for topic_id in wanted
        for partition in range(SIZES[topic_id].num_partitions)
    )
    for wish, target in zip(wishes, found.values(), strict=True):
        assert target.keys() <= wish
        assert all(list(partitions) == sorted(partitions) != [] for partitions in target.values())


@given(SAME_WISH, WISHES)
def test_uniform_gives_equal_numbers_to_equal_wishes(
    wishes: list[frozenset[str]], earlier: list[frozenset[str]]
) -> None:
    found = assigned("uniform", wishes, assigned("uniform", earlier))

    counts = [sum(map(len, target.values())) for target in found.values()]
    assert max(counts) - min(counts) <= 1


@given(NAMES, SAME_WISH)
def test_an_assignment_of_equal_wishes_stays_as_it_is(
    name: str, wishes: list[frozenset[str]]
) -> None:
    found = assigned(name, wishes)

    assert assigned(name, wishes, found) == found


@given(SAME_WISH)
def test_uniform_takes_nothing_from_members_that_have_too_little(
    wishes: list[frozenset[str]],
) -> None:
    before = assigned("uniform", wishes)
    after = assigned("uniform", [*wishes, wishes[0]], before)

    for member_id, target in before.items():
        for topic_id in after[member_id]:
            assert set(after[member_id][topic_id]) <= set(target[topic_id])


@given(WISHES)
def test_range_gives_every_subscriber_its_part_of_every_topic(
    wishes: list[frozenset[str]],
) -> None:
    found = assigned("range", wishes)

    for topic_id in TOPIC_IDS:
        members = [f"m{number}" for number, wish in enumerate(wishes) if topic_id in wish]
        counts = [len(found[member_id].get(topic_id, ())) for member_id in members]
        assert all(one - another in (0, 1) for one, another in combinations(counts, 2))
