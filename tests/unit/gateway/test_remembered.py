from __future__ import annotations

from group_coordinator.gateway.job.delivery import RecentEntries


def kept(cache: RecentEntries[str, int]) -> list[int]:
    return [value for _, value in cache.items()]


def test_names_of_any_length_take_as_many_bytes_as_there_may_be() -> None:
    short, long = RecentEntries[str, int](1_000_000), RecentEntries[str, int](1_000_000)
    for number in range(20_000):
        short[f"{number:06}"] = number
        long[f"{number:06}".ljust(32_000)] = number

    assert kept(short) == list(range(20_000 - 4_854, 20_000))
    assert kept(long) == list(range(20_000 - 31, 20_000))


def test_one_that_is_set_anew_counts_once_and_is_the_newest() -> None:
    cache = RecentEntries[str, int](3 * 201)
    for number, name in enumerate("abcab"):
        cache[name] = number
    cache["d"] = 5

    assert kept(cache) == [3, 4, 5]
    assert (cache.get("c"), cache.pop("a"), cache.pop("a"), len(cache)) == (None, 3, None, 2)


def test_one_that_is_larger_than_all_that_may_be_is_kept_alone() -> None:
    cache = RecentEntries[str, int](1_000)
    cache["a"], cache["x" * 5_000] = 1, 2

    assert kept(cache) == [2]


def test_what_is_not_ascii_is_weighed_as_what_python_may_take_for_it() -> None:
    cache = RecentEntries[tuple[str, str], int](2_000)
    cache["group", "\U0001f600" * 200] = 1
    cache["group", "\U0001f601" * 200] = 2

    assert [value for _, value in cache.items()] == [2]
